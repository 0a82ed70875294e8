"""Constant torque: sensor bias, or a friction that differs between directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.data.trajectory import Trajectory
from steelyard.robot.robot import Robot
from steelyard.terms.term import Array, Column, joint_columns, selected


@dataclass(frozen=True)
class Offset:
    """`tau_j = b_j`.

    Attributes:
        joints: names of the joints that have it; None for all.
    """

    joints: tuple[str, ...] | None = None

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        """One column a joint [N m], [N] for a prismatic joint."""
        return joint_columns(robot, self.joints, "bias", ("N m", "N"))

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        """(T, k) ones."""
        return np.ones((len(trajectory), len(selected(robot, self.joints))))
