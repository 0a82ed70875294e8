"""Recordings too long to hold: thinned while they are read, with nothing lost below the band that a fit uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.data.joined import joined
from steelyard.data.lowpass import SETTLE
from steelyard.data.trajectory import CHANNELS, Trajectory
from steelyard.errors import DataError
from steelyard.preparation.align import is_uniform, resample
from steelyard.preparation.smooth import smooth

Array = NDArray[np.float64]
RATE = 100.0  # [Hz] kept at least: eight times the highest cut-off of the default pipeline
BAND = 0.3  # cut-off of the low-pass before, as a share of the new rate


def condense(chunks: Iterable[Trajectory], *, rate: float = RATE) -> Trajectory:
    """One recording of few samples from consecutive chunks of a long one.

    Every chunk is put on a uniform clock and low-passed at BAND times the new rate, together with the ends of its
    neighbours, long enough for the filter to settle; then it is read off at the stamps of one clock for all chunks.
    What is sampled at less than twice `rate` stays as it is.

    Args:
        chunks: in order, e.g. of `iterate_csv`.
        rate: [Hz] that is kept at least.

    Raises:
        DataError: no chunk, or chunks that do not follow one another.
    """
    parts: list[Trajectory] = []
    clock: _Clock | None = None
    for before, chunk, after in _with_neighbours(chunks):
        if clock is None:
            every = max(1, int(1.0 / (chunk.step * rate) * (1.0 + 1e-9)))
            clock = _Clock(float(chunk.time[0]), chunk.step, every)
        parts += [chunk] if clock.every == 1 else _thinned(before, chunk, after, clock)
    if clock is None or not parts:
        raise DataError("there is no sample to read", cure="record longer")
    if clock.every == 1:
        return joined(parts)
    time = np.concatenate([part.time for part in parts])
    return joined(parts, breaks=(np.flatnonzero(np.diff(time) > 1.5 * clock.new_step) + 1).tolist())


class _Clock(NamedTuple):
    """First stamp [s], step of the recording [s], and how many of its steps make one of the new ones."""

    first: float
    step: float
    every: int

    @property
    def new_step(self) -> float:
        return self.every * self.step

    def stamps(self, start: float, stop: float) -> Array:
        """Those from start to stop, rounding allowed for."""
        k = np.ceil((start - self.first) / self.new_step - 1e-6), np.floor((stop - self.first) / self.new_step + 1e-6)
        return self.first + self.new_step * np.arange(k[0], k[1] + 1.0)


def _thinned(before: Trajectory | None, chunk: Trajectory, after: Trajectory | None, clock: _Clock) -> list[Trajectory]:
    """The stretches of one chunk at the new stamps."""
    cutoff = BAND / clock.new_step
    margin = SETTLE / cutoff
    window = [] if before is None else [before.interval(before.time[-1] - margin, before.time[-1])]
    window.append(chunk)
    if after is not None:
        window.append(after.interval(after.time[0], after.time[0] + margin))
    whole = joined(window)
    grid = whole if is_uniform(whole) else resample(whole, step=clock.step)
    dense = smooth(grid, cutoff, channels=CHANNELS)
    until = np.inf if after is None else float(after.time[0]) - 1e-6 * clock.new_step
    note = f"low-passed at {cutoff:.4g} Hz and one of {clock.every} samples kept while it was read"
    kept = []
    for segment in dense.segments:
        time = dense.time[segment]
        stamps = clock.stamps(max(time[0], chunk.time[0]), min(time[-1], until))
        stamps = stamps[stamps < until]
        if stamps.size:
            channels: dict[str, Any] = {
                name: np.column_stack([np.interp(stamps, time, column) for column in values[segment].T])
                for name in CHANNELS
                if (values := getattr(dense, name)) is not None
            }
            kept.append(replace(chunk, time=stamps, breaks=(), steps=(*chunk.steps, note), **channels))
    return kept


def _with_neighbours(
    chunks: Iterable[Trajectory],
) -> Iterator[tuple[Trajectory | None, Trajectory, Trajectory | None]]:
    """Each chunk between the one before and the one after."""
    before: Trajectory | None = None
    chunk: Trajectory | None = None
    for after in chunks:
        if chunk is not None:
            yield before, chunk, after
            before = chunk
        chunk = after
    if chunk is not None:
        yield before, chunk, None
