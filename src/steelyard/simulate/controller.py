"""A position controller that makes a simulated arm follow a motion, as robots do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.simulate.arm import Arm, import_mujoco
from steelyard.simulate.reference import FourierReference

if TYPE_CHECKING:
    import mujoco

Array = NDArray[np.float64]
BANDWIDTH = 100.0
"""Natural frequency of each joint's position loop [rad/s]; the damping ratio is 1."""
HOLD_MARGIN = 0.5
"""Largest part of a speed error that the held damping torque may undo in one step; from 2 on it would oscillate."""
FASTEST = 1e3
"""Joint speed from which the simulation counts as unstable [rad/s or m/s]."""


def follow(arm: Arm, clock: Array, reference: FourierReference) -> Trajectory:
    """Integrate the controlled arm over a uniform clock and return q, dq, ddq and actuator torque at every step.

    ``tau = Kp (q_r - q) + Kd (dq_r - dq) + g(q)``, cut off at the arm's force range and held over each step.
    The friction band, the rotor inertia and the viscous friction are MuJoCo's frictionloss, armature and damping.

    Args:
        arm: the robot; its model's options are set for the run.
        clock: (T,) [s].
        reference: the motion to follow; the arm starts on it, at rest.

    Raises:
        DataError: a joint met its stop, or the simulation became unstable.
    """
    mj = import_mujoco()
    model, names = arm.model, arm.joint_names
    model.opt.timestep = clock[1] - clock[0]
    model.opt.integrator = mj.mjtIntegrator.mjINT_IMPLICITFAST
    model.opt.tolerance = 1e-12  # of the friction forces: the default leaves them 1e-8 away from balance
    # Torques enter as applied joint forces, so that whatever actuators the file describes stay out of the way.
    model.opt.disableflags |= mj.mjtDisableBit.mjDSBL_CONTACT | mj.mjtDisableBit.mjDSBL_ACTUATION
    data, still = mj.MjData(model), mj.MjData(model)
    goal, goal_velocity = reference.position(clock), reference.velocity(clock)
    stiffness, damping = _gains(model, still, goal[:: max(1, clock.size // 50)])
    q, dq, ddq, tau = np.empty((4, clock.size, len(names)))
    gravity = np.empty(len(names))
    data.qpos[:] = goal[0]
    for k in range(clock.size):
        mj.mj_step1(model, data)
        still.qpos[:] = data.qpos
        mj.mj_kinematics(model, still)
        mj.mj_comPos(model, still)
        mj.mj_rne(model, still, 0, gravity)
        torque = stiffness * (goal[k] - data.qpos) + damping * (goal_velocity[k] - data.qvel) + gravity
        tau[k] = np.clip(torque, arm.force[:, 0], arm.force[:, 1])
        q[k], dq[k] = data.qpos, data.qvel
        data.qfrc_applied[:] = tau[k]
        mj.mj_step2(model, data)
        ddq[k] = data.qacc
        slow = np.abs(data.qvel) < FASTEST
        if not slow.all():
            where = f"{arm.label}, joint {names[int(np.argmin(slow))]} at {clock[k]:.4f} s"
            cure = "look for a negative stiffness or damping in the model"
            raise DataError("the simulation became unstable", where=where, cure=cure)
    _inside_range(arm, q)
    return Trajectory(clock, names, q, dq, ddq, tau, name=arm.label)


def _gains(model: mujoco.MjModel, data: mujoco.MjData, poses: Array) -> tuple[Array, Array]:
    """Kp and Kd (n,): each loop is laid out for the mean inertia that its actuator alone would move."""
    mj = import_mujoco()
    unit, matrix = np.eye(model.nv), np.empty((len(poses), model.nv, model.nv))
    for pose, inertia in zip(poses, matrix, strict=True):
        data.qpos[:] = pose
        mj.mj_fwdPosition(model, data)
        for j in range(model.nv):
            mj.mj_mulM(model, data, inertia[j], unit[j])
    load = np.diagonal(matrix, axis1=1, axis2=2).mean(0)
    quickest = np.linalg.eigvals(np.linalg.solve(matrix, np.diag(load)[None])).real.max()
    bandwidth = min(BANDWIDTH, HOLD_MARGIN / (2 * model.opt.timestep * quickest))
    return bandwidth**2 * load, 2 * bandwidth * load


def _inside_range(arm: Arm, q: Array) -> None:
    """Refuse a run that met a stop: the torque of the stop would be taken for dynamics."""
    for j in map(int, np.flatnonzero(arm.model.jnt_limited)):
        lower, upper = arm.model.jnt_range[j]
        if q[:, j].min() < lower or q[:, j].max() > upper:
            raise DataError(
                "the robot could not follow the motion and met a stop",
                where=f"{arm.label}, joint {arm.joint_names[j]}",
                value=f"{q[:, j].min():g} .. {q[:, j].max():g} in {lower:g} .. {upper:g}",
                cure="lower the amplitude, or raise actuatorfrcrange",
            )
