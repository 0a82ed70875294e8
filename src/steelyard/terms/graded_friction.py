"""Dry friction that builds up over several speeds: a sum of saturating functions, monotone when all are positive."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.data.trajectory import Trajectory
from steelyard.robot.robot import Robot
from steelyard.terms.term import Array, Column, joint_columns, selected

SPEEDS = (0.01, 0.03, 0.1, 0.3, 1.0)


@dataclass(frozen=True)
class GradedFriction:
    """`tau_j = sum_k f_jk tanh(dq_j / v_k)`.

    Joints differ in the speed at which their dry friction is fully there (grease, the drive's own filter), and speeds
    on a fixed grid keep the model linear: no shape parameter is searched for. With f >= 0 the friction never falls
    with speed and saturates beyond the data, so that it extrapolates safely. Put a `Viscous` beside it.

    Attributes:
        speeds: v_k [rad/s or m/s].
        joints: names of the joints that have it; None for all.
    """

    speeds: tuple[float, ...] = SPEEDS
    joints: tuple[str, ...] | None = None

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        """One column a joint and speed [N m], [N] for a prismatic joint; all joints of the first speed first."""
        return tuple(
            column
            for speed in self.speeds
            for column in joint_columns(robot, self.joints, f"friction_above_{speed:g}", ("N m", "N"), nonnegative=True)
        )

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        """(T, k) saturating functions of the joint velocities."""
        speed = trajectory.channel("dq")[:, selected(robot, self.joints)]
        return np.concatenate([np.tanh(speed / v) for v in self.speeds], axis=1)
