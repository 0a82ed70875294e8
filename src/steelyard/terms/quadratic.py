"""Friction that grows with the square of the speed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.data.trajectory import Trajectory
from steelyard.robot.robot import Robot
from steelyard.terms.term import Array, Column, joint_columns, selected


@dataclass(frozen=True)
class Quadratic:
    """`tau_j = fq_j dq_j |dq_j|`: odd in speed, as friction must be. Beyond the speeds of the data it grows fast.

    Attributes:
        joints: names of the joints that have it; None for all.
    """

    joints: tuple[str, ...] | None = None

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        """One column a joint [N m s2/rad2], [N s2/m2] for a prismatic joint."""
        return joint_columns(robot, self.joints, "quadratic_friction", ("N m s2/rad2", "N s2/m2"))

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        """(T, k) signed squares of the joint velocities."""
        speed = trajectory.channel("dq")[:, selected(robot, self.joints)]
        return speed * np.abs(speed)
