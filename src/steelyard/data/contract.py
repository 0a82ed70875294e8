"""What a recording must satisfy, whatever file it came from: column names, usable numbers, an advancing clock, gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import CHANNELS
from steelyard.errors import DataError
from steelyard.suggest import did_you_mean

Array = NDArray[np.float64]

TIME = "time_s"
CONTRACT = (TIME, *(f"{channel}/<joint>" for channel in CHANNELS))
"""The columns a recording may have, for messages."""

SMALLEST = 1e-300
"""A non-zero magnitude below this is memory that was never written (denormals near 1e-310 are seen in logs)."""
LARGEST = 1e9
"""No joint signal in any unit of the table reaches this; uninitialised efforts near 1e237 are seen in logs."""
LATEST = 1e10
"""Stamps in seconds, even since 1970, stay below this; larger ones are milliseconds or nanoseconds undeclared."""
GAP_STEPS = 10.0
"""A step longer than this many reference steps starts a new segment."""
REFERENCE_STEPS = 100_000
"""The reference is the median of this many first steps, so that a file read in chunks has the same gaps."""


@dataclass(frozen=True)
class Layout:
    """Which column of a table holds what.

    Attributes:
        time: index of the time column.
        joint_names: n names in the order of the q columns.
        channels: for each channel present (q always), the n column indices in the order of `joint_names`.
    """

    time: int
    joint_names: tuple[str, ...]
    channels: Mapping[str, tuple[int, ...]]


@dataclass(frozen=True)
class Unusable:
    """The first number in a table that no sensor can have meant."""

    row: int
    column: int
    value: float
    reason: str


def split_name(name: str) -> tuple[str, str] | None:
    """A column name as (channel, joint), or None when it is not of the form <channel>/<joint>."""
    channel, slash, joint = name.partition("/")
    return (channel, joint) if slash and joint and channel in CHANNELS else None


def layout(names: Sequence[str], *, where: str) -> Layout:
    """Find time and every channel's joints by name, in any column order.

    Args:
        names: column names, all of the contract.
        where: the place of the header, for messages.

    Raises:
        DataError: a name twice, no time_s, no q, a group that lacks a joint another group has, a foreign name.
    """
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise DataError("the column stands twice", where=where, value=twice, cure="keep the one that is right")
    groups: dict[str, dict[str, int]] = {channel: {} for channel in CHANNELS}
    for index, name in enumerate(names):
        parts = split_name(name)
        if parts is not None:
            groups[parts[0]][parts[1]] = index
        elif name != TIME:
            raise DataError("the column is not part of the contract", where=where, value=name, choices=CONTRACT)
    if TIME not in names:
        raise DataError(
            f"the column {TIME} is missing", where=where, choices=CONTRACT, cure="every sample needs a stamp"
        )
    if not groups["q"]:
        raise DataError("there are no position columns q/<joint>", where=where, value=tuple(names), choices=CONTRACT)
    present = {channel: group for channel, group in groups.items() if group}
    _check_complete(present, where)
    joints = tuple(groups["q"])
    channels = {channel: tuple(group[joint] for joint in joints) for channel, group in present.items()}
    return Layout(names.index(TIME), joints, channels)


def _check_complete(groups: Mapping[str, Mapping[str, int]], where: str) -> None:
    everyone = dict.fromkeys(joint for group in groups.values() for joint in group)
    for channel, group in groups.items():
        missing = [joint for joint in everyone if joint not in group]
        if missing:
            other = next(c for c, g in groups.items() if missing[0] in g)
            raise DataError(
                f"the group {channel} lacks joint {missing[0]}, which stands in {other}",
                where=where,
                value=f"{other}/{missing[0]} without {channel}/{missing[0]}",
                choices=[f"{channel}/{joint}" for joint in everyone],
                cure=f"add {channel}/{missing[0]}, or leave out every other column of the joint or of the group",
            )


def check_joint_names(found: Sequence[str], expected: Sequence[str], *, where: str) -> None:
    """Every joint found is one that is expected (the robot's); expected ones may be absent.

    Raises:
        DataError: names the first joint that is unknown, the valid names and the closest one.
    """
    for joint in found:
        if joint not in expected:
            raise DataError(
                "the robot has no joint of this name",
                where=where,
                value=joint,
                choices=tuple(expected),
                cure=did_you_mean(joint, expected, otherwise="rename the columns, or map them in the study file"),
            )


def first_unusable(values: Array, *, largest: float = LARGEST) -> Unusable | None:
    """The first number of a (T, k) table that is not finite, denormal or absurdly large, in reading order."""
    size = np.abs(values)
    good = (size < largest) & ((size >= SMALLEST) | (size == 0.0))
    if good.all():
        return None
    row, column = (int(k) for k in np.argwhere(~good)[0])
    value = float(values[row, column])
    if not np.isfinite(value):
        reason = "the value is not finite"
    elif abs(value) < SMALLEST:
        reason = "the value is too small to be a measurement: memory that was never written looks like this"
    else:
        reason = f"the value is too large to be a measurement (limit {largest:g})"
    return Unusable(row, column, value, reason)


def first_stall(time: Array, *, before: float | None = None) -> int | None:
    """The first sample whose stamp is not later than the one before it, or None.

    Args:
        time: (T,) [s].
        before: the stamp of the sample that precedes time[0], if there is one [s].
    """
    steps = np.diff(time) if before is None else np.diff(time, prepend=before)
    bad = np.flatnonzero(~(steps > 0))
    return None if bad.size == 0 else int(bad[0]) + (before is None)


def reference_step(time: Array) -> float:
    """Median of the first `REFERENCE_STEPS` sampling steps of (T,) `time` [s]; nan for a single sample."""
    steps = np.diff(time[: REFERENCE_STEPS + 1])
    return float(np.median(steps)) if steps.size else float("nan")


def segment_breaks(time: Array, *, step: float | None = None) -> tuple[int, ...]:
    """First sample of every segment after the first: where the step exceeds `GAP_STEPS` times the reference step.

    Nothing is interpolated over a gap; whoever filters or differentiates does so inside a segment.

    Args:
        time: (T,), increasing [s].
        step: reference step [s]; by default `reference_step(time)`.
    """
    limit = GAP_STEPS * (reference_step(time) if step is None else step)
    return tuple(int(k) + 1 for k in np.flatnonzero(np.diff(time) > limit))
