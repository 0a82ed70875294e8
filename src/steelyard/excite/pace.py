"""As fast as the limits allow: one path, its speed set by the tightest of velocity, acceleration and jerk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from steelyard.errors import StudyError
from steelyard.excite.certificate import LEAST, Certificate
from steelyard.excite.limits import MotionLimits
from steelyard.excite.motion import Motion

SLOW_FIRST = (0.25, 0.5, 1.0)
AnyMotion = TypeVar("AnyMotion", bound=Motion)
Certify = Callable[[Motion], Certificate]


def paced(motion: AnyMotion, limits: MotionLimits, *, step: float | None = None) -> AnyMotion:
    """The same path at the largest speed inside the limits of velocity, acceleration and jerk, at every instant.

    At a fraction r of the speed velocities are r, accelerations r^2, jerks r^3 times what they were.

    Args:
        motion: at any speed.
        limits: to be kept.
        step: of the controller [s]; the duration becomes a multiple of it. None to leave it as it comes.

    Raises:
        StudyError: other joints, a path that leaves the range of a joint at whatever speed, nothing that moves.
    """
    if motion.joint_names != limits.joint_names:
        raise StudyError("the limits are for other joints", value=limits.joint_names, choices=motion.joint_names)
    cells = motion.cells(motion.duration / LEAST)
    low, high = cells.low.q.min(axis=0), cells.high.q.max(axis=0)
    outside = np.flatnonzero((low < limits.lower) | (high > limits.upper))
    if outside.size:
        j = int(outside[0])
        raise StudyError(
            "the path leaves the range of a joint", where=f"{motion.name}, joint {limits.joint_names[j]}",
            value=f"{low[j]:.4g} to {high[j]:.4g}",
            cure=f"keep poses and amplitudes well within {limits.lower[j]:g} to {limits.upper[j]:g}",
        )  # fmt: skip
    use = [
        float((bound / limit).max()) ** (1.0 / order)
        for order, (bound, limit) in enumerate(
            zip(cells.most[1:], (limits.velocity, limits.acceleration, limits.jerk), strict=True), start=1
        )
    ]
    if not max(use) > 0.0:
        raise StudyError("nothing moves", where=motion.name)
    duration = motion.duration * max(use)
    if step is not None:
        duration = float(np.ceil(duration / step - 1e-9)) * step
    return motion.slowed(motion.duration / duration)


@dataclass(frozen=True)
class Version:
    """A motion at one speed.

    Attributes:
        speed: as a share of the design's.
        motion: to be run.
        certificate: of this very version.
    """

    speed: float
    motion: Motion
    certificate: Certificate


def slow_first(motion: Motion, certify: Certify, *, speeds: tuple[float, ...] = SLOW_FIRST) -> tuple[Version, ...]:
    """The order in which a motion is tried: slowly, faster, at full speed, each with a certificate of its own.

    A slower motion is not always the safer one: its torque is not smaller where gravity rules, so each is checked.

    Args:
        motion: at full speed.
        certify: `certify` with model, limits and options filled in.
        speeds: as shares of full speed, rising.

    Raises:
        StudyError: speeds that are not rising between 0 and 1.
    """
    if not speeds or list(speeds) != sorted(set(speeds)) or not (speeds[0] > 0.0 and speeds[-1] <= 1.0):
        raise StudyError("the speeds of the slow-first protocol rise from above 0 to 1", value=speeds)
    versions = [(speed, motion.slowed(speed)) for speed in speeds]
    return tuple(Version(speed, slower, certify(slower)) for speed, slower in versions)
