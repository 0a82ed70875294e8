"""Where the base floats: its motion beside that of the joints, in the order in which the kernel reads both."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.data.base_motion import BaseMotion
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError

Array = NDArray[np.float64]


def with_orientation(trajectory: Trajectory, q: Array, *, floating: bool) -> Array:
    """(T, 4 + n) quaternion x y z w of the base, then joint positions q (T, n); q alone where the base is fixed.

    Raises:
        DataError: the trajectory has no base motion, or has one although the base is fixed.
    """
    base = base_motion(trajectory, floating=floating)
    if base is None and trajectory.base is not None:
        raise DataError(
            "the recording has a moving base, and the base of the robot is fixed",
            where=trajectory.name,
            cure="load the robot with floating=True, or leave the base motion out if it stood still",
        )
    return q if base is None else np.hstack([base.orientation, q])


def with_base_rates(trajectory: Trajectory, *, floating: bool) -> tuple[Array, Array]:
    """(T, 6 + n) twist and dq, and their derivatives; dq and ddq alone where the base is fixed.

    Raises:
        DataError: the trajectory has no base motion, or a channel is missing.
    """
    base = base_motion(trajectory, floating=floating)
    dq, ddq = trajectory.channel("dq"), trajectory.channel("ddq")
    return (dq, ddq) if base is None else (np.hstack([base.twist, dq]), np.hstack([base.acceleration, ddq]))


def with_wrench(trajectory: Trajectory, *, floating: bool) -> Array:
    """(T, 6 + n) wrench on the base and tau, zeros for a wrench that is not known; tau alone where the base is fixed.

    Raises:
        DataError: the trajectory has no base motion, or no tau.
    """
    base = base_motion(trajectory, floating=floating)
    tau = trajectory.channel("tau")
    if base is None:
        return tau
    wrench = np.zeros((len(trajectory), 6)) if base.wrench is None else base.wrench
    return np.hstack([wrench, tau])


def usable_rows(trajectory: Trajectory, *, floating: bool) -> NDArray[np.bool_] | None:
    """(T, 6 + n) which rows may be fitted, None for all of them.

    Base rows count where the wrench is known and at least one joint of the sample is valid.
    """
    base = base_motion(trajectory, floating=floating)
    if base is None or (trajectory.valid is None and base.wrench is not None):
        return trajectory.valid
    valid = trajectory.valid
    if valid is None:
        valid = np.ones((len(trajectory), len(trajectory.joint_names)), dtype=bool)
    counts = np.any(valid, axis=1, keepdims=True) | (valid.shape[1] == 0)  # a drone has no joints
    return np.hstack([np.repeat(counts & (base.wrench is not None), 6, axis=1), valid])


def base_motion(trajectory: Trajectory, *, floating: bool) -> BaseMotion | None:
    """The motion of a floating base; None where the base is fixed.

    Raises:
        DataError: the base floats, and the trajectory does not say how.
    """
    if floating and trajectory.base is None:
        raise DataError(
            "the base of the robot floats, and the recording does not say how it moves",
            where=trajectory.name,
            cure="give Trajectory(base=BaseMotion(...)), or load the robot with floating=False if its base stands",
        )
    return trajectory.base if floating else None
