"""Poses held still, found in a recording: one sample a visit, with the side from which each joint came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.resolution import noise_floor, quantum
from steelyard.assess.standstill import standstill
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.finding import Finding

Array = NDArray[np.float64]
SAME_POSE = 0.01  # [rad or m] positions this close are one pose
SLOW_CLOCK = 0.5  # [s] between stamps from which every row is a visit of its own
IMPOSSIBLE = 20.0  # [rad/s or m/s] from row to row, from which rows on a faster clock are visits too
MOST_ROWS = 4  # rows of one pose in such a list; more of them are a recording at rest
SETTLING = 0.3  # [s] left out at the start of a rest of at least twice that, while the arm still swings
LEAST_REST = 0.3  # [s]
RESTLESS = 5.0  # times the usual deviation of the torque within a rest
MOVED = 1e-3  # [rad or m] by which a joint must have moved to have come from a side
SIDE_SPEED = 0.01  # [rad/s or m/s] of a list's dq, below which it says nothing of a side


@dataclass(frozen=True)
class HeldPoses:
    """Visits of poses.

    Attributes:
        trajectory: one sample a visit: mean q and tau; dq is the side of the approach, -1, 0 or 1, None where unknown.
        findings: rests that were left out.
    """

    trajectory: Trajectory
    findings: tuple[Finding, ...] = ()


def held_poses(recording: Trajectory) -> HeldPoses:
    """The visits in a recording, or in a list that has one row for each.

    A list has rows at least SLOW_CLOCK apart, or so far from one another that no robot moves like that; the sign of its
    dq is the side of the approach. In a recording every stretch in which no joint moves is one visit, and the side is
    that of the last motion before it.

    Raises:
        DataError: no torque, or a recording that never rests.
    """
    q = recording.channel("q")
    recording.channel("tau")
    if _is_list(recording):
        return HeldPoses(replace(recording, dq=_listed_sides(recording), ddq=None))
    noise = np.fmax(noise_floor(recording, "q"), [quantum(column) for column in q.T])
    still = ~standstill(recording, noise).moving
    rests = [part for part in _runs(still, recording) if part.stop - part.start >= LEAST_REST / recording.step]
    if not rests:
        raise DataError(
            "the recording holds no pose still", where=recording.name,
            cure=f"hold each pose for a second at least, or give a table of one row a pose, {SLOW_CLOCK:g} s apart",
        )  # fmt: skip
    rests = [_settled(part, recording.step) for part in rests]
    calm, findings = _calm(recording, rests)
    tau = recording.channel("tau")
    mean = [[values[part].mean(axis=0) for part in calm] for values in (q, tau)]
    threshold = np.maximum(MOVED, 5.0 * np.nan_to_num(noise))
    sides = np.array([_side(q, part.start, at, threshold) for part, at in zip(calm, mean[0], strict=True)])
    time = np.array([recording.time[part].mean() for part in calm])
    held = replace(
        recording, time=time, q=np.array(mean[0]), tau=np.array(mean[1]), dq=sides if np.any(sides) else None,
        ddq=None, valid=None, weight=None, breaks=(),
        steps=(*recording.steps, f"{len(calm)} rests of {sum(p.stop - p.start for p in calm)} samples averaged"),
    )  # fmt: skip
    return HeldPoses(held, findings)


def _listed_sides(visits: Trajectory) -> Array | None:
    if visits.dq is None:
        return None
    sides = np.where(np.abs(visits.dq) > SIDE_SPEED, np.sign(visits.dq), 0.0)
    return sides if np.any(sides) else None


def _is_list(recording: Trajectory) -> bool:
    """Whether every row is a visit of its own."""
    if len(recording) == 1 or recording.step >= SLOW_CLOCK:
        return True
    moves = np.abs(np.diff(recording.channel("q"), axis=0)).max(axis=1)
    jumps = moves[moves > SAME_POSE]
    fast = jumps.size > 0 and float(np.median(jumps)) > IMPOSSIBLE * recording.step
    return fast and _longest_run(recording.channel("q")) <= MOST_ROWS


def _longest_run(q: Array) -> int:
    """Most rows one after the other that do not leave the pose of the first."""
    longest = first = 0
    for k in range(1, len(q) + 1):
        if k == len(q) or np.abs(q[k] - q[first]).max(initial=0.0) > SAME_POSE:
            longest, first = max(longest, k - first), k
        if longest > MOST_ROWS:
            break
    return longest


def _runs(still: NDArray[np.bool_], recording: Trajectory) -> list[slice]:
    """Stretches of samples at rest, within segments."""
    found = []
    for segment in recording.segments:
        edges = np.flatnonzero(np.diff(np.concatenate([[False], still[segment], [False]]).astype(np.int8)))
        found += [slice(segment.start + int(a), segment.start + int(b)) for a, b in edges.reshape(-1, 2)]
    return found


def _settled(part: slice, step: float) -> slice:
    swings = round(SETTLING / step)
    return slice(part.start + swings, part.stop) if part.stop - part.start >= 2 * swings else part


def _calm(recording: Trajectory, rests: Sequence[slice]) -> tuple[list[slice], tuple[Finding, ...]]:
    """Rests whose torque is as steady as that of the others, and a finding for each that is left out."""
    spread = np.array([recording.channel("tau")[part].std(axis=0) for part in rests])
    usual = np.median(spread, axis=0)
    ratio = np.max(spread / np.where(usual > 0.0, usual, np.inf), axis=1, initial=0.0)
    findings = tuple(
        Finding(
            "payload.restless_pose",
            "warning",
            f"the torque at {recording.time[part.start]:.2f} s varies {r:.2g} times as much as elsewhere: left out",
            where=recording.name,
            value=float(r),
            cure="wait until the arm has settled, and keep people and cables off it",
        )
        for part, r in zip(rests, ratio, strict=True)
        if r > RESTLESS
    )
    return [part for part, r in zip(rests, ratio, strict=True) if r <= RESTLESS], findings


def _side(q: Array, start: int, at: Array, threshold: Array) -> Array:
    """(n,) sign of the last motion of each joint before a sample, 0 where it never moved."""
    away = at - q[:start]
    side = np.zeros(q.shape[1])
    for j, distance in enumerate(away.T):
        moved = np.flatnonzero(np.abs(distance) > threshold[j])
        if moved.size:
            side[j] = np.sign(distance[moved[-1]])
    return side
