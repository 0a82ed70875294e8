"""Constant speeds, one joint after another, up and down over the same way: the experiment for friction.

At constant speed inertia is silent, and over the same way in both directions gravity cancels between the two, so that
half the difference of the torques is friction at that speed. Reversals, where friction is neither sign, are no part of
a plateau.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.excite.limits import MotionLimits
from steelyard.excite.polynomial import Piece, PolynomialMotion, assembled
from steelyard.excite.straight import ACCELERATION, JERK, STEP, poses_inside, straight, stroke
from steelyard.excite.windows import Window

Array = NDArray[np.float64]
SHARES = (0.05, 0.15, 0.4, 0.7, 1.0)  # of the fastest plateau: friction bends at the slow end
LONGEST = 4.0  # [s] of a plateau: slow ones do not need the whole way
SETTLE = 0.1  # share of a plateau left out at its start, where the controller still settles


@dataclass(frozen=True)
class Plateaus:
    """A friction sweep.

    Attributes:
        motion: from the pose and back to it.
        speeds: (P,) of each plateau, with its sign [rad/s or m/s].
        windows: where the plateaus are, one each, of the joint that moves.
    """

    motion: PolynomialMotion
    speeds: Array
    windows: tuple[Window, ...]


def plateaus(
    limits: MotionLimits,
    *,
    joints: Sequence[str] | None = None,
    pose: Sequence[float] | Array | None = None,
    shares: Sequence[float] = SHARES,
    reach: float = 1.0,
    longest: float = LONGEST,
    step: float = STEP,
    name: str = "plateaus",
) -> Plateaus:
    """Each joint in turn goes up and down at several constant speeds while the others rest.

    Args:
        limits: to be kept, e.g. `limits.share(0.95)`.
        joints: which, in this order; all where not given.
        pose: (n,) that the others rest at [rad or m]; the middle of the ranges where not given.
        shares: speeds, of the fastest at which half the way of a joint is plateau (or its speed limit).
        reach: share of the way from the pose to the nearer limit that a joint may use.
        longest: time of a plateau [s].
        step: of the controller [s].

    Raises:
        StudyError: unknown joints, a pose outside the limits, shares that are not between 0 and 1.
    """
    names = limits.joint_names
    chosen = names if joints is None else tuple(joints)
    unknown = [joint for joint in chosen if joint not in names]
    if unknown or not chosen:
        raise StudyError("not a joint of the limits", value=unknown[:1], choices=names)
    if not shares or not all(0.0 < share <= 1.0 for share in (*shares, reach)) or not longest > 0.0:
        raise StudyError("speeds and reach are shares between 0 and 1", value=[*shares, reach])
    home = poses_inside(limits, np.atleast_2d(limits.center if pose is None else np.asarray(pose)))[0]
    pieces: list[Piece] = []
    speeds: list[float] = []
    windows: list[Window] = []
    for joint in chosen:
        for leg in _legs(home, names.index(joint), limits, shares, reach=reach, longest=longest):
            start, way = sum(piece.duration for piece in pieces), leg.goal - leg.start
            paced = limits if leg.joint is None else _paced(limits, leg.joint, leg.speed)
            times = stroke(way, paced, step=step)
            if leg.joint is not None:
                first = start + times.ramp
                windows.append(Window(first + SETTLE * times.cruise, first + times.cruise, (leg.joint,)))
                speeds.append(float(way[leg.joint]) / (times.ramp + times.cruise))
            pieces += straight(leg.start, leg.goal, paced, step=step)
    return Plateaus(assembled(names, pieces, name), np.array(speeds), tuple(windows))


class _Leg(NamedTuple):
    """One move; of a plateau its joint and speed."""

    start: Array
    goal: Array
    joint: int | None = None
    speed: float = 0.0


def _legs(
    home: Array, j: int, limits: MotionLimits, shares: Sequence[float], *, reach: float, longest: float
) -> list[_Leg]:
    """For each speed to the lower end of a way about the pose, up it and down it; in the end back to the pose."""
    room = reach * float(min(home[j] - limits.lower[j], limits.upper[j] - home[j]))
    if not room > 0.0:
        raise StudyError(
            "the joint rests at a limit and has no way to go", where=limits.joint_names[j], value=float(home[j])
        )
    top = _fastest(limits, j, 2.0 * room)
    legs, at = [], home
    for speed in sorted(share * top for share in shares):
        ramp = max(ACCELERATION * speed / limits.acceleration[j], np.sqrt(JERK * speed / limits.jerk[j]))
        along = np.where(np.arange(len(home)) == j, min(room, 0.5 * speed * (longest + ramp)), 0.0)
        low, high = home - along, home + along
        legs += [_Leg(at, low), _Leg(low, high, j, speed), _Leg(high, low, j, speed)]
        at = low
    return [*legs, _Leg(at, home)]


def _paced(limits: MotionLimits, j: int, speed: float) -> MotionLimits:
    """The limits with a lower speed of one joint."""
    return replace(limits, velocity=np.where(np.arange(len(limits.velocity)) == j, speed, limits.velocity))


def _fastest(limits: MotionLimits, j: int, way: float) -> float:
    """The speed limit, or the speed whose two ramps take half the way [rad/s or m/s]."""
    half = 0.5 * way
    by_acceleration = np.sqrt(limits.acceleration[j] * half / ACCELERATION)
    return float(min(limits.velocity[j], by_acceleration, np.cbrt(limits.jerk[j] / JERK * half**2)))
