"""Stribeck friction: the share of dry friction that is gone once lubrication builds up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.robot.robot import Robot
from steelyard.terms.term import Array, Column, joint_columns, selected


@dataclass(frozen=True)
class Stribeck:
    """`tau_j = fe_j sign(dq_j) exp(-(|dq_j| / v_j)^d)`, what breaking away costs above sliding, `fe = fs - fc`.

    With `Coulomb` and `Viscous` beside it, `sign(dq) (fc + (fs - fc) exp(-(|dq| / v)^d)) + fv dq` (Armstrong-Helouvry
    1991). The speed v is a shape parameter, the same in all columns of a joint: `estimate.shape` finds it.

    Attributes:
        speed: v [rad/s or m/s], one number for all joints, or one for each of `joints`.
        exponent: d; 2 (Gaussian) or 1 (Tustin).
        joints: names of the joints that have it; None for all.

    Raises:
        StudyError: a speed or exponent that is not positive.
    """

    speed: float | tuple[float, ...] = 0.05
    exponent: float = 2.0
    joints: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        values = np.atleast_1d(np.asarray(self.speed, dtype=np.float64))
        if values.ndim != 1 or not (np.isfinite(values).all() and (values > 0.0).all()):
            raise StudyError("Stribeck speeds must be positive [rad/s or m/s]", value=self.speed)
        if not self.exponent > 0.0:
            raise StudyError("the Stribeck exponent must be positive", value=self.exponent)

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        """One column a joint [N m], [N] for a prismatic joint."""
        return joint_columns(robot, self.joints, "stribeck_friction", ("N m", "N"), nonnegative=True)

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        """(T, k) signed exponentials.

        Raises:
            StudyError: neither one speed nor one for each joint.
        """
        joints = selected(robot, self.joints)
        speeds = np.atleast_1d(np.asarray(self.speed, dtype=np.float64))
        if speeds.size not in (1, len(joints)):
            raise StudyError(f"one Stribeck speed, or one for each of {len(joints)} joints", value=self.speed)
        dq = trajectory.channel("dq")[:, joints]
        return np.sign(dq) * np.exp(-((np.abs(dq) / speeds) ** self.exponent))
