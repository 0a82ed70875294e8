"""Dry friction that differs between the two directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.data.trajectory import Trajectory
from steelyard.robot.robot import Robot
from steelyard.terms.term import Array, Column, joint_columns, selected


@dataclass(frozen=True)
class AsymmetricCoulomb:
    """`tau_j = fc+_j` while dq_j > 0, `-fc-_j` while dq_j < 0.

    With an `Offset` beside it the two are no longer separate: `fc+ = fc + d, fc- = fc - d` and an offset of d give the
    same torque, and the base parameters say so.

    Attributes:
        joints: names of the joints that have it; None for all.
    """

    joints: tuple[str, ...] | None = None

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        """Two columns a joint [N m], [N] for a prismatic joint: all positive directions, then all negative ones."""
        return tuple(
            column
            for direction in ("positive", "negative")
            for column in joint_columns(
                robot, self.joints, f"coulomb_friction_{direction}", ("N m", "N"), nonnegative=True
            )
        )

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        """(T, 2 k) direction of motion, split."""
        speed = trajectory.channel("dq")[:, selected(robot, self.joints)]
        return np.column_stack([speed > 0.0, -1.0 * (speed < 0.0)]).astype(np.float64)
