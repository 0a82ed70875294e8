"""Stribeck friction without a shape to search for: a sum of falling curves on fixed speeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.data.trajectory import Trajectory
from steelyard.robot.robot import Robot
from steelyard.terms.term import Array, Column, joint_columns, selected

SPEEDS = (0.025, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class GradedStribeck:
    """`tau_j = sum_k fe_jk sign(dq_j) exp(-(dq_j / v_k)^2)`: what breaking away costs above sliding.

    Stribeck speeds between those of the grid are mixed from their neighbours, so that the model stays linear and every
    joint has a speed of its own; `Stribeck` takes the speed as known, `estimate.shape` finds it. With fe >= 0 the
    excess only falls with speed and is gone beyond the data. Put `Coulomb` and `Viscous` beside it.

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
            for column in joint_columns(robot, self.joints, f"friction_below_{speed:g}", ("N m", "N"), nonnegative=True)
        )

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        """(T, k) signed falling curves of the joint velocities."""
        speed = trajectory.channel("dq")[:, selected(robot, self.joints)]
        return np.concatenate([np.sign(speed) * np.exp(-((speed / v) ** 2)) for v in self.speeds], axis=1)
