"""A spring at the joint: gravity balancers, cables, or the position term of a robot without a model."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.data.trajectory import Trajectory
from steelyard.robot.robot import Robot
from steelyard.terms.term import Array, Column, joint_columns, selected


@dataclass(frozen=True)
class Spring:
    """`tau_j = k_j q_j`; with an `Offset` beside it the rest position is free.

    Attributes:
        joints: names of the joints that have it; None for all.
    """

    joints: tuple[str, ...] | None = None

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        """One column a joint [N m/rad], [N/m] for a prismatic joint."""
        return joint_columns(robot, self.joints, "stiffness", ("N m/rad", "N/m"))

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        """(T, k) joint positions."""
        return trajectory.channel("q")[:, selected(robot, self.joints)]
