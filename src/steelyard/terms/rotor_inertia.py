"""Rotor inertia, as felt at the joint."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.data.trajectory import Trajectory
from steelyard.robot.robot import Robot
from steelyard.terms.term import Array, Column, joint_columns, selected


@dataclass(frozen=True)
class RotorInertia:
    """`tau_j = Ia_j ddq_j`, with the reflected inertia `Ia = N^2 I_m` of motor and gear.

    Attributes:
        joints: names of the joints that have one; None for all.
    """

    joints: tuple[str, ...] | None = None

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        """One column a joint [kg m2], [kg] for a prismatic joint."""
        return joint_columns(robot, self.joints, "rotor_inertia", ("kg m2", "kg"), nonnegative=True)

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        """(T, k) joint accelerations."""
        return trajectory.channel("ddq")[:, selected(robot, self.joints)]
