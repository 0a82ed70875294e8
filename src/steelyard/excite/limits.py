"""Limits that a motion has to keep, by joint, and the share of them that a design uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import ModelError, StudyError
from steelyard.robot.robot import Robot

Array = NDArray[np.float64]
TURN = np.pi  # [rad] farther from zero no experiment needs to turn a joint, whatever its cables would allow


@dataclass(frozen=True)
class JointLimit:
    """What a limits file says of one joint; None where it says nothing, infinite where it says "no limit".

    Attributes:
        lower, upper: [rad or m].
        velocity, acceleration, jerk: [rad/s or m/s] and their derivatives.
        effort: [N m or N].
        torque_rate: how fast it may change [N m/s or N/s].
    """

    lower: float | None = None
    upper: float | None = None
    velocity: float | None = None
    acceleration: float | None = None
    jerk: float | None = None
    effort: float | None = None
    torque_rate: float | None = None


@dataclass(frozen=True)
class MotionLimits:
    """Limits of n joints.

    Attributes:
        joint_names: in model order.
        lower, upper: (n,) [rad or m], finite.
        velocity, acceleration, jerk: (n,) [rad/s or m/s] and their derivatives; only the jerk may be infinite.
        effort: (n,) [N m or N], infinite where there is none.
        torque_rate: (n,) [N m/s or N/s], infinite where there is none; empty for no limit at all.
    """

    joint_names: tuple[str, ...]
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    jerk: Array
    effort: Array
    torque_rate: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if not np.size(self.torque_rate):
            object.__setattr__(self, "torque_rate", np.full(len(self.joint_names), np.inf))
        for name in [f.name for f in fields(self)[1:]]:
            values = np.array(getattr(self, name), dtype=np.float64)
            values.setflags(write=False)
            object.__setattr__(self, name, values)
            if values.shape != (len(self.joint_names),):
                raise StudyError(f"{name} must be one number a joint", value=values.shape)
            self._check(name, values)
        for j, name in enumerate(self.joint_names):
            if not self.lower[j] < self.upper[j]:
                raise StudyError(
                    "the joint has no room to move", where=f"joint {name}",
                    value=f"{self.lower[j]:g} to {self.upper[j]:g}", cure="give a lower limit below the upper one",
                )  # fmt: skip

    def _check(self, name: str, values: Array) -> None:
        for j, value in enumerate(values):
            endless = np.isinf(value) and name in ("jerk", "effort", "torque_rate")
            if (
                np.isnan(value)
                or (np.isinf(value) and not endless)
                or (name not in ("lower", "upper") and value <= 0.0)
            ):
                raise StudyError(
                    f"not a usable {name} limit", where=f"joint {self.joint_names[j]}", value=float(value),
                    cure="a limit is a positive number in rad (or m), s and N m; zero is not 'no limit'",
                )  # fmt: skip

    @property
    def center(self) -> Array:
        """(n,) middle of the positions [rad or m]."""
        return 0.5 * (self.lower + self.upper)

    @property
    def reach(self) -> Array:
        """(n,) half the range of the positions [rad or m]."""
        return 0.5 * (self.upper - self.lower)

    def share(self, fraction: float) -> MotionLimits:
        """A fraction of every limit, of positions about the middle of their range.

        Raises:
            StudyError: a fraction that is not between 0 and 1.
        """
        if not 0.0 < fraction <= 1.0:
            raise StudyError("the share of the limits must lie between 0 and 1", value=fraction)
        return replace(
            self,
            lower=self.center - fraction * self.reach,
            upper=self.center + fraction * self.reach,
            velocity=fraction * self.velocity,
            acceleration=fraction * self.acceleration,
            jerk=fraction * self.jerk,
            effort=fraction * self.effort,
            torque_rate=fraction * self.torque_rate,
        )


def motion_limits(
    robot: Robot, table: Mapping[str, JointLimit] | None = None, *, turn: float = TURN, where: str = "joint_limits.yaml"
) -> MotionLimits:
    """The limits of the model file and of a limits file together; where both have one, the tighter counts.

    Args:
        robot: positions, velocities and efforts.
        table: by joint name: accelerations and jerks, which model files do not hold, and anything tighter.
        turn: positions of revolute joints are kept within plus and minus this [rad].
        where: name of the limits file for messages.

    Raises:
        StudyError: a joint without position, velocity, acceleration or jerk limit; a limit of zero; a joint of the
            table that the robot has not. Each names the joint and the cure: no limit is ever made up.
    """
    table = table or {}
    for name in table:
        if name not in robot.joint_names and name not in dict(robot.locked_at):
            raise StudyError("not a joint of the robot", where=where, value=name, choices=robot.joint_names)
    given = [table.get(name, JointLimit()) for name in robot.joint_names]
    bound = np.where(robot.prismatic, np.inf, turn)
    lower = np.array([_of(limit.lower, -np.inf) for limit in given])
    upper = np.array([_of(limit.upper, np.inf) for limit in given])
    limits = {
        "lower": np.maximum.reduce([robot.lower, lower, -bound]),
        "upper": np.minimum.reduce([robot.upper, upper, bound]),
        "velocity": _tighter(robot.velocity_limit, given, lambda limit: limit.velocity),
        "acceleration": _tighter(None, given, lambda limit: limit.acceleration),
        "jerk": _tighter(None, given, lambda limit: limit.jerk),
        "effort": _tighter(robot.effort_limit, given, lambda limit: limit.effort),
        "torque_rate": _tighter(None, given, lambda limit: limit.torque_rate),
    }
    for j, name in enumerate(robot.joint_names):
        if not np.isfinite(limits["lower"][j] + limits["upper"][j]):
            raise _missing("position", name, where, "has_position_limits: true, min_position, max_position")
        for quantity in ("velocity", "acceleration"):
            if not np.isfinite(limits[quantity][j]):
                raise _missing(quantity, name, where, f"has_{quantity}_limits: true, max_{quantity}")
        if given[j].jerk is None:
            raise _missing(
                "jerk", name, where, "has_jerk_limits: true, max_jerk, or has_jerk_limits: false if there is none"
            )
    return MotionLimits(robot.joint_names, **limits)


def _of(value: float | None, absent: float) -> float:
    return absent if value is None else value


def _tighter(model: Array | None, given: list[JointLimit], pick: Callable[[JointLimit], float | None]) -> Array:
    stated = np.array([_of(pick(limit), np.inf) for limit in given])
    return stated if model is None else np.minimum(model, stated)


def _missing(quantity: str, joint: str, where: str, keys: str) -> ModelError | StudyError:
    return StudyError(
        f"no {quantity} limit is known", where=f"joint {joint}", cure=f"state it in {where} (--limits): {joint}: {keys}"
    )
