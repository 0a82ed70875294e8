"""A simulated recording obeys the equation of motion, with the parameters that are given out as its truth."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from steelyard.simulate.mujoco import simulate_run
from steelyard.simulate.robots import robot_file

# Half the width of MuJoCo's soft friction band; beyond it the force is the full Coulomb force [rad/s].
BAND = 0.03


@pytest.fixture(scope="module", params=["arm6", "arm7"])
def arm(request):
    return request.param


@pytest.fixture(scope="module")
def run(arm):
    return simulate_run(robot_file(f"{arm}.xml"), duration=5, period=5, seed=2)


def rms(values):
    return np.sqrt(np.mean(np.square(values)))


def actuator(run, what):
    return np.array([run.truth_parameters[f"actuator/{joint}/{what}"] for joint in run.trajectory.joint_names])


def explained(run, model, q, dq, ddq):
    """(T, n) torque by Pinocchio and the true actuator parameters."""
    data = model.createData()
    rigid = np.array([pin.rnea(model, data, *state) for state in zip(q, dq, ddq, strict=True)])
    friction = actuator(run, "viscous_friction") * dq + actuator(run, "coulomb_friction") * np.sign(dq)
    return rigid + actuator(run, "rotor_inertia") * ddq + friction


def test_mujoco_inverse_dynamics_gives_the_torque_back(arm, run):
    """At MuJoCo's own acceleration, soft friction included: round-off only."""
    model = mujoco.MjModel.from_xml_path(str(robot_file(f"{arm}.xml")))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data, motion = mujoco.MjData(model), run.noise_free
    torque = np.empty_like(motion.tau)
    for k in range(len(motion)):
        data.qpos[:], data.qvel[:], data.qacc[:] = motion.q[k], motion.dq[k], motion.ddq[k]
        mujoco.mj_inverse(model, data)
        torque[k] = data.qfrc_inverse
    assert rms(torque - motion.tau) / rms(motion.tau) < 1e-12


def test_pinocchio_and_the_truth_explain_the_torque(arm, run):
    """Another program, another file: outside the friction band nothing is left to explain."""
    motion = run.noise_free
    model = pin.buildModelFromUrdf(str(robot_file(f"{arm}.urdf")))
    moving = np.abs(motion.dq) > BAND
    rest = (explained(run, model, motion.q, motion.dq, motion.ddq) - motion.tau)[moving]
    assert moving.mean() > 0.85
    assert rms(rest) / rms(motion.tau[moving]) < 1e-9


def test_differentiated_positions_explain_the_torque(arm, run):
    """What a user does: central differences at 500 Hz. Integration at 0.5 ms leaves 2e-4, times two for margin."""
    motion, h = run.noise_free, run.noise_free.step
    model = pin.buildModelFromUrdf(str(robot_file(f"{arm}.urdf")))
    inner = slice(1, -1)
    dq = (motion.q[2:] - motion.q[:-2]) / (2 * h)
    ddq = (motion.q[2:] - 2 * motion.q[inner] + motion.q[:-2]) / h**2
    moving = np.abs(motion.dq[inner]) > 0.05
    rest = (explained(run, model, motion.q[inner], dq, ddq) - motion.tau[inner])[moving]
    assert rms(rest) / rms(motion.tau[inner][moving]) < 5e-4


def test_the_true_links_are_those_of_the_urdf(arm, run):
    model = pin.buildModelFromUrdf(str(robot_file(f"{arm}.urdf")))
    ours = [value for name, value in run.truth_parameters.items() if name.startswith("link/")]
    theirs = np.concatenate([model.inertias[j].toDynamicParameters() for j in range(1, model.njoints)])
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
