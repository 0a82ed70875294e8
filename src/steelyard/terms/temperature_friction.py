"""Viscous friction that changes with temperature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.robot.robot import Robot
from steelyard.terms.term import Array, Column, joint_columns, selected


@dataclass(frozen=True, eq=False)
class TemperatureFriction:
    """`tau_j = ft_j (T_j - T_0) dq_j`: what viscous friction gains per kelvin; with a `Viscous` beside it.

    Lubricant thins as it warms, so that ft is usually negative. Source: Bittencourt, Wernholt, Sander-Tavallaey,
    Brogardh, An extended friction model to capture load and temperature effects in robot joints, IROS 2010.

    Attributes:
        time: (P,) stamps of the temperatures on the recording's clock [s], increasing.
        temperature: (P, k) of each of the joints [K or degrees Celsius], or (P,) of one sensor for all.
        reference: T_0, the temperature at which the plain viscous column holds alone, in the same unit.
        joints: names of the joints that have it; None for all.

    Raises:
        StudyError: times that do not increase, temperatures that do not fit them or are not finite.
    """

    time: Array
    temperature: Array
    reference: float = 20.0
    joints: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for name in ("time", "temperature"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        fits = self.time.ndim == 1 and self.time.size > 0 and self.temperature.shape[:1] == self.time.shape
        if not fits or self.temperature.ndim > 2:
            raise StudyError("one temperature, or one row of them, for each stamp", value=self.temperature.shape)
        if not np.all(np.diff(self.time) > 0.0) or not np.isfinite(self.temperature).all():
            raise StudyError("stamps of temperatures must increase, and temperatures be finite")

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        """One column a joint."""
        units = ("N m s/(rad K)", "N s/(m K)")
        return joint_columns(robot, self.joints, "viscous_friction_per_kelvin", units)

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        """(T, k) warmth times velocity, temperatures interpolated.

        Raises:
            StudyError: the temperatures are of another number of joints, or begin later or end earlier than the motion.
        """
        joints = selected(robot, self.joints)
        columns = self.temperature[:, None] if self.temperature.ndim == 1 else self.temperature
        if columns.shape[1] not in (1, len(joints)):
            raise StudyError(f"temperatures of one sensor or of {len(joints)} joints", value=columns.shape[1])
        slack = trajectory.step if len(trajectory) > 1 else 0.0
        if trajectory.time[0] < self.time[0] - slack or trajectory.time[-1] > self.time[-1] + slack:
            raise StudyError(
                "the temperatures do not cover the motion",
                where=trajectory.name,
                value=f"{self.time[0]:g} to {self.time[-1]:g} s",
                cure="give temperatures on the recording's clock, from its first to its last sample",
            )
        warmth = np.column_stack([np.interp(trajectory.time, self.time, c) for c in columns.T]) - self.reference
        return warmth * trajectory.channel("dq")[:, joints]
