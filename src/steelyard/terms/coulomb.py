"""Coulomb (dry) friction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.robot.robot import Robot
from steelyard.terms.term import Array, Column, joint_columns, selected


@dataclass(frozen=True)
class Coulomb:
    """`tau_j = fc_j sign(dq_j)`; with a `smoothing` speed v, `fc_j tanh(dq_j / v)`.

    The sign is undefined at rest (sign(0) = 0): fit with the stiction band masked (`preparation.mask`), predict
    everywhere. The tanh trades part of the friction into the viscous column when the motion is not much faster than
    `smoothing`: on a motion of peak speed 0.3 rad/s, 1/50 rad/s halves the viscous friction found.

    Attributes:
        joints: names of the joints that have it; None for all.
        smoothing: speed [rad/s or m/s] over which the sign turns; 0 for the sharp sign.
    """

    joints: tuple[str, ...] | None = None
    smoothing: float = 0.0

    def __post_init__(self) -> None:
        if not self.smoothing >= 0.0:
            raise StudyError("a smoothing speed cannot be negative [rad/s or m/s]", value=self.smoothing)

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        """One column a joint [N m], [N] for a prismatic joint."""
        return joint_columns(robot, self.joints, "coulomb_friction", ("N m", "N"), nonnegative=True)

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        """(T, k) direction of motion."""
        speed = trajectory.channel("dq")[:, selected(robot, self.joints)]
        return np.sign(speed) if self.smoothing == 0.0 else np.tanh(speed / self.smoothing)
