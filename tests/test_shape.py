"""Friction with a shape: Stribeck speeds by variable projection, and friction that depends on load and temperature."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import arm
import robots
from steelyard.basis import base_parameters
from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.estimate.least_squares import ordinary, weighted
from steelyard.estimate.shape import fit_stribeck
from steelyard.model import Model
from steelyard.robot.rigid_torque import rigid_torque
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.load_friction import LoadFriction
from steelyard.terms.names import terms_named
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.stribeck import Stribeck
from steelyard.terms.temperature_friction import TemperatureFriction
from steelyard.terms.viscous import Viscous

VISCOUS, COULOMB, STATIC, SPEED = 0.6, 0.8, 1.3, 0.08  # what the course's example has


def swing(noise: float, *, seed: int = 0, static: float = STATIC) -> Trajectory:
    """One joint at 0.2 and 0.9 Hz for 10 s."""
    t = 0.002 * np.arange(5000)
    size, rate = np.array([0.5, 0.1]), 2 * np.pi * np.array([0.2, 0.9])
    angle = np.multiply.outer(t, rate)
    q, dq, ddq = np.sin(angle) @ size, np.cos(angle) @ (size * rate), -np.sin(angle) @ (size * rate**2)
    dry = np.sign(dq) * (COULOMB + (static - COULOMB) * np.exp(-((dq / SPEED) ** 2)))
    tau = 0.5 * ddq + VISCOUS * dq + dry + noise * np.random.default_rng(seed).normal(size=t.size)
    return Trajectory(t, ("a",), *(x[:, None] for x in (q, dq, ddq, tau)))


@pytest.fixture(scope="module")
def one_joint():
    return Model(Robot.from_joints(["a"]), (RotorInertia(), Viscous(), Coulomb()))


def friction(estimate):
    return [estimate.value(f"actuator/a/{kind}_friction") for kind in ("viscous", "coulomb", "stribeck")]


def test_without_noise_within_a_percent(one_joint):
    """Within a thousandth, in fact: the last pass tries speeds 1 % apart and a parabola finds the top between them."""
    fit = fit_stribeck(one_joint, [swing(0.0)])
    assert fit.shape[0] == pytest.approx(SPEED, rel=1e-3)
    np.testing.assert_allclose(friction(fit.estimate), [VISCOUS, COULOMB, STATIC - COULOMB], rtol=1e-3)


def test_with_noise_it_is_as_good_as_it_says(one_joint):
    """Viscous .6, Coulomb .8, static 1.3, speed .08; thirty runs with 0.05 N m know a deviation to 13 %."""
    fits = [fit_stribeck(one_joint, [swing(0.05, seed=s)]) for s in range(30)]
    values = np.array([[*friction(f.estimate), f.shape[0]] for f in fits])
    np.testing.assert_allclose(values.mean(axis=0), [0.6, 0.8, 0.5, 0.08], rtol=0.01)
    said = np.mean([f.deviation[0] for f in fits])
    assert values[:, 3].std() == pytest.approx(said, rel=0.5)
    assert said < 0.02 * SPEED


def test_without_the_term_friction_is_wrong(one_joint):
    """Viscous and Coulomb alone: the break-away goes into Coulomb, and out of viscous."""
    plain = ordinary(one_joint.absorb([swing(0.0)]))
    assert plain.value("actuator/a/viscous_friction") < 0.8 * VISCOUS
    assert plain.value("actuator/a/coulomb_friction") > 1.1 * COULOMB


def test_a_joint_that_does_not_show_it_does_not_get_it(one_joint):
    fit = fit_stribeck(one_joint, [swing(0.05, static=COULOMB)])
    assert np.isnan(fit.shape[0])
    assert fit.model is one_joint
    assert np.isinf(fit.deviation[0])
    (finding,) = [f for f in fit.estimate.findings if f.code == "fit.shape_not_shown"]
    assert "a" in finding.message


def test_negative_break_away_is_none(one_joint):
    """Friction that falls towards standstill (a smooth sign) is no Stribeck effect."""
    assert np.isnan(fit_stribeck(one_joint, [swing(0.05, static=0.4)]).shape[0])


def test_each_joint_of_an_arm_its_own_speed():
    """Seven joints with friction of their own, of which two have no Stribeck effect; the rigid bodies are free."""
    model = arm.model()
    path = arm.motion(rate=200.0)
    speeds = (0.02, 0.05, 0.1, 0.2, 0.05)
    having = tuple(f"joint_{j}" for j in (1, 2, 4, 5, 7))
    true = Model(model.robot, (*model.terms, Stribeck(speeds, joints=having)))
    theta = np.concatenate([arm.truth(), [0.8] * 5])
    noise = 0.05 * np.random.default_rng(1).normal(size=path.q.shape)
    recording = replace(path, tau=true.torque(theta, path) + noise, source="")
    fit = fit_stribeck(model, [recording])
    found = [j for j in range(7) if np.isfinite(fit.shape[j])]
    assert tuple(model.robot.joint_names[j] for j in found) == having
    z = (fit.shape[found] - speeds) / fit.deviation[found]
    assert np.abs(z).max() < 4.0
    np.testing.assert_allclose(fit.shape[found], speeds, rtol=0.15)
    basis = base_parameters(true)
    assert np.abs((fit.estimate.theta - basis.regroup(theta)) / fit.estimate.deviation).max() < 5.0


@pytest.mark.parametrize("within", [(0.0, 1.0), (1.0, 0.1), (0.1, np.inf)])
def test_a_range_that_is_none(one_joint, within):
    with pytest.raises(StudyError, match="range"):
        fit_stribeck(one_joint, [swing(0.0)], speeds=within)


@pytest.mark.parametrize("wrong", [{"speed": 0.0}, {"speed": (0.1, -1.0)}, {"exponent": 0.0}, {"speed": np.nan}])
def test_a_stribeck_term_that_cannot_be(wrong):
    with pytest.raises(StudyError, match="positive"):
        Stribeck(**wrong)


def test_one_speed_or_one_for_each_joint(tmp_path):
    robot = robots.load(tmp_path, "planar")
    motion = robots.states(robot.joint_names, 5)
    both = Stribeck(0.1).block(robot, motion)
    np.testing.assert_array_equal(both, Stribeck((0.1, 0.1)).block(robot, motion))
    expected = np.sign(motion.dq) * np.exp(-((motion.dq / 0.1) ** 2))
    np.testing.assert_allclose(both, expected, rtol=1e-14)
    with pytest.raises(StudyError, match="each of 2 joints"):
        Stribeck((0.1, 0.1, 0.1)).block(robot, motion)


def test_short_names():
    assert [type(t) for t in terms_named(("stribeck", "load_friction"))] == [Stribeck, LoadFriction]


@pytest.mark.parametrize("name", ["planar", "rail", "tooled", "knuckles"])
def test_rigid_torque_is_that_of_the_model(tmp_path, name):
    robot = robots.load(tmp_path, name)
    motion = robots.states(robot.joint_names, 30)
    model = Model(robot, (RigidBody(),))
    np.testing.assert_allclose(rigid_torque(robot, motion), model.torque(robot.parameters, motion), rtol=1e-12)
    other = robot.parameters + 0.1
    np.testing.assert_allclose(rigid_torque(robot, motion, other), model.torque(other, motion), rtol=1e-12)


def test_load_friction_is_found(tmp_path):
    """A gear that takes a tenth of its load: found with the rigid bodies free, and a sixth of the error without it."""
    robot = robots.load(tmp_path, "tooled")
    t = 0.01 * np.arange(3000)
    q = np.column_stack(
        [0.9 * np.sin(0.8 * t) + 0.3 * np.sin(2.1 * t), 1.2 * np.sin(0.5 * t + 1.0) + 0.3 * np.cos(1.7 * t)]
    )
    dq = np.gradient(q, t, axis=0)
    motion = Trajectory(t, robot.joint_names, q=q, dq=dq, ddq=np.gradient(dq, t, axis=0))
    plain = Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset()))
    loaded = Model(robot, (*plain.terms, LoadFriction()))
    theta = np.concatenate([robot.parameters, [0.5, 0.4], [0.6, 0.5], [0.1, 0.1], [0.1, 0.1]])
    noise = 0.02 * np.random.default_rng(2).normal(size=q.shape)
    recording = robots.with_torque(motion, loaded.torque(theta, motion) + noise)
    fits = []
    for model in (plain, loaded):
        basis = base_parameters(model)
        fits.append(weighted(model.absorb([recording], names=basis.names), basis=basis))
    fit = fits[1]
    load = [k for k, n in enumerate(fit.names) if n.endswith("/load_friction")]
    told = [k for k in load if fit.deviation[k] < 0.02]
    assert told
    assert np.all(np.abs(fit.theta[told] - 0.1) < 4 * fit.deviation[told])
    assert fit.noise.max() < 0.03
    assert fits[0].noise.max() > 2 * fit.noise.max()


def test_temperature_friction_is_found(one_joint):
    """An oil that thins by .005 N m s/rad a kelvin while it warms by 20 K."""
    recording = swing(0.02, static=COULOMB)
    hours = np.array([0.0, 5.0, 10.0])
    warmth = np.array([[20.0], [32.0], [40.0]])
    term = TemperatureFriction(hours, warmth, reference=20.0)
    tau = recording.tau - 0.005 * (np.interp(recording.time, hours, warmth[:, 0]) - 20.0)[:, None] * recording.dq
    model = Model(one_joint.robot, (*one_joint.terms, term))
    fit = ordinary(model.absorb([replace(recording, tau=tau, source="")]))
    name = "actuator/a/viscous_friction_per_kelvin"
    k = fit.names.index(name)
    assert abs(fit.theta[k] + 0.005) < 4 * fit.deviation[k]
    assert fit.deviation[k] < 5e-4
    assert fit.value("actuator/a/viscous_friction") == pytest.approx(VISCOUS, abs=0.01)


def test_temperatures_that_cannot_be(one_joint):
    motion = swing(0.0)
    with pytest.raises(StudyError, match="cover"):
        TemperatureFriction(np.array([0.0, 5.0]), np.array([20.0, 30.0])).block(one_joint.robot, motion)
    with pytest.raises(StudyError, match="one sensor"):
        TemperatureFriction(np.array([0.0, 10.0]), np.ones((2, 3))).block(one_joint.robot, motion)
    with pytest.raises(StudyError, match="increase"):
        TemperatureFriction(np.array([1.0, 0.0]), np.ones(2))
    with pytest.raises(StudyError, match="each stamp"):
        TemperatureFriction(np.array([0.0, 1.0]), np.ones(3))
