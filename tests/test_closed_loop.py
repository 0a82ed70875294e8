"""The simulated closed loop: the equations of motion, solved well enough to stand in for a robot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest
from scipy.integrate import solve_ivp

import robots
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, ModelError, StudyError
from steelyard.estimate.closed_loop import Controller, loop_gains, simulate
from steelyard.model import Model
from steelyard.robot.dynamics import RigidDynamics
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.viscous import Viscous


@pytest.mark.parametrize("name", ["planar_offset", "rail", "branching", "knuckles"])
def test_mass_bias_and_gravity_are_pinocchios(tmp_path, name):
    path = robots.write(tmp_path, name)
    robot = robots.load(tmp_path, name)
    if name == "knuckles":  # Pinocchio takes mimicking joints for free ones: the model's own torque is the oracle
        motion = robots.states(robot.joint_names, 5)
        dynamics, model = RigidDynamics(robot, robot.parameters), Model(robot, (RigidBody(),))
        torque = model.torque(robot.parameters, motion)
        for k in range(5):
            state = dynamics.at(motion.q[k], motion.dq[k])
            np.testing.assert_allclose(state.mass @ motion.ddq[k] + state.bias, torque[k], rtol=1e-10, atol=1e-11)
        return
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    where = [model.joints[model.getJointId(n)].idx_v for n in robot.joint_names]
    motion = robots.states(robot.joint_names, 5)
    dynamics = RigidDynamics(robot, robot.parameters)
    for k in range(5):
        q, v = np.zeros(model.nv), np.zeros(model.nv)
        q[where], v[where] = motion.q[k], motion.dq[k]
        q = pin.integrate(model, pin.neutral(model), q)
        M = pin.crba(model, data, q)
        M = (np.triu(M) + np.triu(M, 1).T)[np.ix_(where, where)]
        state = dynamics.at(motion.q[k], motion.dq[k])
        np.testing.assert_allclose(state.mass, M, rtol=0, atol=1e-11)
        np.testing.assert_allclose(state.bias, pin.nle(model, data, q, v)[where], rtol=0, atol=1e-10)
        np.testing.assert_allclose(state.gravity, pin.computeGeneralizedGravity(model, data, q)[where], atol=1e-10)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    robot = robots.load(tmp_path_factory.mktemp("planar"), "planar_offset")
    return Model(robot, (RigidBody(), RotorInertia(), Viscous(), Coulomb(), Offset()))


def parameters(model, *, dry=0.0):
    values = {"viscous_friction": 0.4, "coulomb_friction": dry, "bias": 0.2, "rotor_inertia": 0.05}
    return np.array([values.get(n.rsplit("/", 1)[-1], v) for n, v in zip(model.names, model.nominal, strict=True)])


def path(model, *, rate=500.0, duration=2.0):
    t = np.arange(round(duration * rate) + 1) / rate
    w = np.array([2.0, 3.1])
    angle = np.multiply.outer(t, w)
    size = np.array([0.5, 0.7])
    columns = (size * np.sin(angle), size * w * np.cos(angle), -size * w**2 * np.sin(angle))
    return Trajectory(t, model.robot.joint_names, *columns, name="reference")


GAINS = Controller(np.array([400.0, 150.0]), np.array([40.0, 12.0]))


def precise(model, theta, reference, controller):
    """The same loop by an adaptive integrator, without dry friction."""
    rigid = theta[: 10 * len(model.robot.joints)]
    dynamics = RigidDynamics(model.robot, rigid)
    rotor, viscous, bias = (
        np.array([theta[model.names.index(f"actuator/{j}/{k}")] for j in reference.joint_names])
        for k in ("rotor_inertia", "viscous_friction", "bias")
    )
    w, size = np.array([2.0, 3.1]), np.array([0.5, 0.7])

    def rate(t, x):
        q, v = x[:2], x[2:]
        state = dynamics.at(q, v)
        goal, speed, push = size * np.sin(w * t), size * w * np.cos(w * t), -size * w**2 * np.sin(w * t)
        mass = state.mass + np.diag(rotor)
        tau = controller.stiffness * (goal - q) + controller.damping * (speed - v)
        tau = tau + state.gravity * controller.gravity + mass @ push * controller.acceleration
        return np.concatenate([v, np.linalg.solve(mass, tau - state.bias - viscous * v - bias)])

    start = np.concatenate([reference.q[0], reference.dq[0]])
    span = (reference.time[0], reference.time[-1])
    return solve_ivp(rate, span, start, t_eval=reference.time, rtol=1e-8, atol=1e-10).y.T


@pytest.mark.parametrize("acceleration", [False, True])
def test_the_motion_is_that_of_a_precise_integrator(model, acceleration):
    """Second order in the step: 4 ms leave 5e-5 rad, 2 ms a quarter of it."""
    controller = replace(GAINS, acceleration=acceleration)
    theta = parameters(model)
    errors = []
    for rate in (250.0, 500.0):
        reference = path(model, rate=rate, duration=1.2)
        found = simulate(model, theta, reference, controller)
        expected = precise(model, theta, reference, controller)
        errors.append(np.abs(found.q - expected[:, :2]).max())
    assert errors[0] < 8e-5
    assert errors[1] < 0.4 * errors[0]


def test_torque_and_motion_fit_together(model):
    """The controller's torque is the inverse dynamics of the simulated motion, but for reversals of dry friction."""
    theta = parameters(model, dry=0.5)
    found = simulate(model, theta, path(model), GAINS)
    expected = model.torque(theta, found)
    inner = np.all(np.abs(found.dq) > 0.1, axis=1)
    inner[:5] = inner[-5:] = False
    error = np.abs(found.tau - expected)[inner]
    assert error.max() < 0.02 * np.abs(expected).max()


def test_computed_torque_follows_without_error(model):
    """Gravity and acceleration fed forward, no friction: only the centrifugal torque is left to the gains."""
    theta = parameters(model) * 0.0
    theta[:20] = model.nominal[:20]
    reference = path(model)
    plain = simulate(model, theta, reference, GAINS)
    forward = simulate(model, theta, reference, replace(GAINS, acceleration=True))
    lag, left = (np.abs(m.q - reference.q).max() for m in (plain, forward))
    assert left < 0.3 * lag


def test_gains_by_bandwidth(model):
    """Ten times the bandwidth follows a hundred times closer (the error goes with 1 / Kp)."""
    theta = parameters(model)
    reference = path(model)
    errors = []
    for bandwidth in (3.0, 30.0):
        controller = loop_gains(model, theta, reference, bandwidth=bandwidth)
        np.testing.assert_allclose(controller.damping**2, 4 * controller.stiffness**2 / (2 * np.pi * bandwidth) ** 2)
        errors.append(np.abs(simulate(model, theta, reference, controller).q - reference.q).max())
    assert errors[1] < 0.15 * errors[0]


def test_stiff_friction_needs_no_tiny_steps(model):
    """20 N m that turn over 0.01 rad/s would need steps of 10 us; 4 ms do."""
    theta = parameters(model, dry=20.0)
    found = simulate(model, theta, path(model, rate=250.0), GAINS)
    assert np.abs(found.dq).max() < 5.0


def test_segments_start_anew(model):
    reference = replace(path(model), breaks=(300,))
    whole, alone = (simulate(model, parameters(model), r, GAINS) for r in (reference, reference.samples(300, 1001)))
    np.testing.assert_array_equal(whole.q[300:], alone.q)
    assert whole.breaks == (300,)


def test_what_cannot_be_simulated(model):
    theta = parameters(model)
    reference = path(model, duration=0.5)
    with pytest.raises(DataError, match="not positive"):
        simulate(model, -theta, reference, GAINS)
    with pytest.raises(StudyError, match="each joint"):
        simulate(model, theta, reference, Controller(np.ones(3), np.ones(3)))
    with pytest.raises(StudyError, match="stiffness"):
        Controller(-np.ones(2), np.ones(2))
    uneven = replace(reference, time=reference.time**1.2)
    with pytest.raises(DataError, match="uniform"):
        simulate(model, theta, uneven, GAINS)
    wrong = replace(reference, q=1e6 * reference.q)
    with pytest.raises(DataError, match="ran away"):
        simulate(model, theta, wrong, GAINS)


def test_a_floating_base_is_refused(tmp_path):
    robot = type(robots.load(tmp_path, "planar")).from_urdf(robots.write(tmp_path, "planar"), floating=True)
    with pytest.raises(ModelError, match="fixed bases"):
        RigidDynamics(robot, robot.parameters)
