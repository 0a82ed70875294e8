"""Viscous friction."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.data.trajectory import Trajectory
from steelyard.robot.robot import Robot
from steelyard.terms.term import Array, Column, joint_columns, selected


@dataclass(frozen=True)
class Viscous:
    """`tau_j = fv_j dq_j`.

    Attributes:
        joints: names of the joints that have it; None for all.
    """

    joints: tuple[str, ...] | None = None

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        """One column a joint [N m s/rad], [N s/m] for a prismatic joint."""
        return joint_columns(robot, self.joints, "viscous_friction", ("N m s/rad", "N s/m"), nonnegative=True)

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        """(T, k) joint velocities."""
        return trajectory.channel("dq")[:, selected(robot, self.joints)]
