"""Moves along a straight line in joint space: a ramp up to a constant speed, the speed kept, a ramp down.

The trapezoid of the textbooks with its corners rounded: over a ramp of time T the speed rises as
`v (10 s^3 - 15 s^4 + 6 s^5)`, s = t / T, so that velocity, acceleration and jerk are zero where a move begins and ends,
and nothing jumps in between. Its acceleration peaks at 15/8 v / T and its jerk at 10/sqrt(3) v / T^2.
Source: Biagiotti & Melchiorri, Trajectory Planning for Automatic Machines and Robots, 2008, ch. 2-3.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.excite.limits import MotionLimits
from steelyard.excite.polynomial import Piece, PolynomialMotion, assembled

Array = NDArray[np.float64]
STEP = 1e-3  # [s] of the controller; all times are multiples of it
ACCELERATION, JERK = 15.0 / 8.0, 10.0 / np.sqrt(3.0)  # peaks of a ramp, of v / T and v / T^2
RISE = np.array([0.0, 0.0, 0.0, 0.0, 2.5, -3.0, 1.0])  # way gone in a ramp up, of v T, by powers of s
STILL = 1e-12  # [rad or m] ways shorter than that are none


class Stroke(NamedTuple):
    """Times of a move: each of its two ramps and the constant speed between them [s]."""

    ramp: float
    cruise: float

    @property
    def duration(self) -> float:
        """[s]."""
        return 2.0 * self.ramp + self.cruise


def stroke(way: Array, limits: MotionLimits, *, step: float = STEP) -> Stroke:
    """The fastest move over `way` (n,) [rad or m] inside the limits, its times rounded up to multiples of `step` [s].

    All joints begin and end together; the tightest one sets the pace.
    """
    length = np.maximum(np.abs(way), STILL)
    v, a, j = (float((limit / length).min()) for limit in (limits.velocity, limits.acceleration, limits.jerk))
    v = min(v, np.sqrt(a / ACCELERATION), np.cbrt(j / JERK))  # without constant speed a move is two ramps, v T = 1
    ramp = _up(max(ACCELERATION * v / a, np.sqrt(JERK * v / j)), step)
    return Stroke(ramp, max(_up(1.0 / v, step) - ramp, 0.0))


def straight(start: Array, goal: Array, limits: MotionLimits, *, step: float = STEP) -> list[Piece]:
    """A move from rest to rest; no piece at all where nothing has to move."""
    way = np.asarray(goal, dtype=np.float64) - start
    if np.abs(way).max() <= STILL:
        return []
    ramp, cruise = stroke(way, limits, step=step)
    speed = way / (ramp + cruise)
    up = RISE[:, None] * speed * ramp
    up[0] = start
    down = -RISE[:, None] * speed * ramp
    down[0], down[1] = goal - 0.5 * speed * ramp, speed * ramp
    level = np.stack([start + 0.5 * speed * ramp, speed * cruise])
    middle = [Piece(cruise, level)] if cruise > 0.0 else []
    return [Piece(ramp, up), *middle, Piece(ramp, down)]


def hold(pose: Array, seconds: float, *, step: float = STEP) -> list[Piece]:
    """A pose kept for some time [s], rounded up to a multiple of `step`; no piece for no time."""
    return [Piece(_up(seconds, step), np.asarray(pose, dtype=np.float64)[None, :])] if seconds > 0.0 else []


def point_to_point(
    limits: MotionLimits,
    poses: Sequence[Sequence[float]] | Array,
    *,
    wait: float = 0.0,
    step: float = STEP,
    name: str = "point to point",
) -> PolynomialMotion:
    """Straight moves from pose to pose, at rest at each of them.

    Args:
        limits: to be kept, e.g. `limits.share(0.95)`.
        poses: (P, n) in model order [rad or m], the start first.
        wait: time at rest at each pose [s].
        step: of the controller [s]; every move lasts a multiple of it.

    Raises:
        StudyError: poses outside the limits, or none that differ.
    """
    poses = poses_inside(limits, poses, least=2)
    pieces = hold(poses[0], wait, step=step)
    for start, goal in pairwise(poses):
        pieces += [*straight(start, goal, limits, step=step), *hold(goal, wait, step=step)]
    return assembled(limits.joint_names, pieces, name)


def poses_inside(limits: MotionLimits, poses: Sequence[Sequence[float]] | Array, *, least: int = 1) -> Array:
    """(P, n) the poses as an array.

    Raises:
        StudyError: fewer than `least` poses, another number of joints, or a position outside its limits.
    """
    values = np.asarray(poses, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(limits.joint_names) or len(values) < least:
        raise StudyError(
            f"at least {least} poses are needed, one position a joint", value=values.shape, choices=limits.joint_names
        )
    outside = ~((values >= limits.lower) & (values <= limits.upper))
    if outside.any():
        k, j = np.argwhere(outside)[0]
        raise StudyError(
            "a pose lies outside the limits", where=f"pose {k}, joint {limits.joint_names[j]}",
            value=float(values[k, j]), cure=f"between {limits.lower[j]:g} and {limits.upper[j]:g}",
        )  # fmt: skip
    return values


def _up(seconds: float, step: float) -> float:
    """Rounded up to a multiple of the controller's step; raises StudyError for one that is not positive."""
    if not step > 0.0:
        raise StudyError("the step of the controller must be a positive time [s]", value=step)
    return float(np.ceil(seconds / step - 1e-9) * step)
