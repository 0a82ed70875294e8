"""A recording in SI units, by joint name: the one form in which motion and torque travel through the library."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.data.base_motion import BaseMotion
from steelyard.errors import DataError

Array = NDArray[np.float64]
CHANNELS = ("q", "dq", "ddq", "tau")


@dataclass(frozen=True)
class Trajectory:
    """Named joint signals on one clock.

    Attributes:
        time: (T,) [s], strictly increasing inside a segment.
        joint_names: n names; column j of every channel belongs to joint_names[j].
        q, dq, ddq: (T, n) positions [rad or m], velocities [rad/s or m/s], accelerations [rad/s2 or m/s2]; or None.
        tau: (T, n) joint-side torque [N m] or force [N]; or None.
        valid: (T, n) bool, rows that may be used for fitting; None means all.
        breaks: first sample of every segment after the first one (a gap or a new run lies before it).
        source: SHA-256 of the file the samples come from (of the arrays, when made in memory).
        name: file name or label for messages.
        steps: what was done to the samples since they were recorded, one line a step.
        base: how the base moves, where it is not fixed to the ground.
        weight: (T, n) >= 0, what each row counts in a fit (one over its relative variance); None means one each.

    Raises:
        DataError: shapes that disagree, duplicate names, values that are not finite, a clock that does not advance.
    """

    time: Array
    joint_names: tuple[str, ...]
    q: Array | None = None
    dq: Array | None = None
    ddq: Array | None = None
    tau: Array | None = None
    valid: NDArray[np.bool_] | None = None
    breaks: tuple[int, ...] = ()
    source: str = ""
    name: str = "trajectory"
    steps: tuple[str, ...] = ()
    base: BaseMotion | None = None
    weight: Array | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "joint_names", tuple(self.joint_names))
        put(self, "breaks", tuple(int(b) for b in self.breaks))
        put(self, "time", _frozen(self.time))
        if self.time.ndim != 1 or self.time.size == 0:
            raise DataError("time must be one column with at least one sample", where=self.name, value=self.time.shape)
        if len(set(self.joint_names)) != len(self.joint_names):
            raise DataError("joint names must be unique", where=self.name, value=self.joint_names)
        shape = (self.time.size, len(self.joint_names))
        for channel in CHANNELS:
            values = getattr(self, channel)
            if values is None:
                continue
            values = _frozen(values)
            if values.shape != shape:
                raise DataError(f"{channel} must have shape {shape}", where=self.name, value=values.shape)
            if not np.isfinite(values).all():
                row, column = np.argwhere(~np.isfinite(values))[0]
                raise DataError(
                    f"{channel} is not finite at sample {row}",
                    where=f"{self.name}, joint {self.joint_names[column]}",
                    value=float(values[row, column]),
                    cure="cut the interval out of the recording or record again; values are never filled in",
                )
            put(self, channel, values)
        if self.valid is not None:
            valid = np.array(self.valid, dtype=bool)
            valid.setflags(write=False)
            if valid.shape != shape:
                raise DataError(f"valid must have shape {shape}", where=self.name, value=valid.shape)
            put(self, "valid", valid)
        if self.weight is not None:
            weight = _frozen(self.weight)
            if weight.shape != shape or not (np.isfinite(weight).all() and (weight >= 0.0).all()):
                raise DataError(f"weight must have shape {shape}, finite and not negative", where=self.name)
            put(self, "weight", weight)
        if self.base is not None and len(self.base) != self.time.size:
            raise DataError(f"base must have {self.time.size} samples", where=self.name, value=len(self.base))
        edges = [0, *self.breaks, self.time.size]
        if any(a >= b for a, b in pairwise(edges)):
            raise DataError(
                "breaks must be sample numbers inside the recording, rising", where=self.name, value=self.breaks
            )
        self._check_clock()
        if not self.source:
            put(self, "source", self._array_digest())

    def _check_clock(self) -> None:
        if not np.isfinite(self.time).all():
            raise DataError("time is not finite", where=self.name)
        step = np.diff(self.time)
        allowed = np.zeros(step.size, dtype=bool)
        allowed[[b - 1 for b in self.breaks if 0 < b <= step.size]] = True
        bad = np.flatnonzero((step <= 0) & ~allowed)
        if bad.size:
            k = int(bad[0])
            raise DataError(
                f"the clock does not advance at sample {k + 1}",
                where=self.name,
                value=f"{self.time[k]:.6f} s then {self.time[k + 1]:.6f} s",
                cure="export the stamps of one monotonic clock, or split the recording there",
            )

    def _array_digest(self) -> str:
        digest = hashlib.sha256("\0".join(self.joint_names).encode())
        base = () if self.base is None else [getattr(self.base, field.name) for field in fields(self.base)]
        for part in (self.time, self.q, self.dq, self.ddq, self.tau, *base):
            if part is not None:
                digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()

    def __len__(self) -> int:
        return int(self.time.size)

    @cached_property
    def segments(self) -> tuple[slice, ...]:
        """The stretches without a gap, as slices into the samples."""
        edges = [0, *self.breaks, len(self)]
        return tuple(slice(a, b) for a, b in pairwise(edges) if b > a)

    @property
    def step(self) -> float:
        """Median sampling interval [s]."""
        return float(np.median(np.diff(self.time))) if len(self) > 1 else float("nan")

    def samples(self, start: int, stop: int) -> Trajectory:
        """Samples start..stop-1 as a trajectory of the same source."""
        cut = slice(start, stop)
        parts = self._each(lambda values: values[cut])
        breaks = tuple(b - start for b in self.breaks if start < b < stop)
        base = None if self.base is None else self.base.samples(cut)
        return replace(self, time=self.time[cut], breaks=breaks, base=base, **parts)

    def picked(self, rows: NDArray[np.intp], breaks: Sequence[int] = ()) -> Trajectory:
        """The samples `rows`, ascending, with the segments that begin at `breaks` (counted in the new samples)."""
        parts = self._each(lambda values: values[rows])
        base = None if self.base is None else self.base.samples(rows)
        return replace(self, time=self.time[rows], breaks=tuple(breaks), base=base, **parts)

    def interval(self, start: float, stop: float) -> Trajectory:
        """The samples with start <= time <= stop [s]; raises DataError when there are none."""
        inside = np.flatnonzero((self.time >= start) & (self.time <= stop))
        if inside.size == 0:
            raise DataError(
                "the interval holds no samples",
                where=self.name,
                value=f"{start:.13g}:{stop:.13g} s",
                cure=f"the recording runs from {self.time[0]:.13g} to {self.time[-1]:.13g} s",
            )
        if inside[-1] - inside[0] + 1 != inside.size:
            raise DataError(
                "the interval is not one stretch: the clock starts again in between",
                where=self.name,
                value=f"{start:.13g}:{stop:.13g} s",
                cure="split the recording where its clock starts again",
            )
        return self.samples(int(inside[0]), int(inside[-1]) + 1)

    def ordered(self, joint_names: Sequence[str]) -> Trajectory:
        """The same samples with the joints picked, by name, in the order given.

        Raises:
            DataError: a joint is not in the recording.
        """
        names = tuple(joint_names)
        if names == self.joint_names:
            return self
        missing = [name for name in names if name not in self.joint_names]
        if missing:
            raise DataError("the recording lacks a joint", where=self.name, value=missing[0], choices=self.joint_names)
        pick = [self.joint_names.index(name) for name in names]
        parts = self._each(lambda values: values[:, pick])
        return replace(self, joint_names=names, **parts)

    def _each(self, change: Callable[[Any], Any]) -> dict[str, Any]:
        """Every channel that is there, changed; the others None."""
        values = {name: getattr(self, name) for name in (*CHANNELS, "valid", "weight")}
        return {name: None if value is None else change(value) for name, value in values.items()}

    def channel(self, name: str) -> Array:
        """One of q, dq, ddq, tau; raises DataError when the recording lacks it."""
        values: Array | None = getattr(self, name)
        if values is None:
            raise DataError(
                f"the trajectory has no {name}",
                where=self.name,
                choices=[c for c in CHANNELS if getattr(self, c) is not None],
                cure="record it: columns tau/<joint> [N m or N]"
                if name == "tau"
                else "prepare it first: steelyard.prepare(trajectory, robot)",
            )
        return values


def _frozen(values: object) -> Array:
    if isinstance(values, np.ndarray) and values.dtype == np.float64 and not values.flags.writeable:
        return values
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array
