"""One uniform clock: recorders sample irregularly, filters and spectra need equal steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from steelyard.data.trajectory import CHANNELS, Array, Trajectory

REGULAR = 1e-3  # relative deviation of the step under which a clock counts as uniform


def is_uniform(trajectory: Trajectory) -> bool:
    """Whether every step inside the segments equals the median one to a part in a thousand."""
    step = trajectory.step
    return all(
        bool(np.all(np.abs(np.diff(trajectory.time[segment]) - step) <= REGULAR * step))
        for segment in trajectory.segments
    )


def resample(trajectory: Trajectory, *, step: float | None = None) -> Trajectory:
    """Every segment on a uniform grid, by linear interpolation; nothing is made up across a gap.

    Args:
        trajectory: any clock.
        step: of the grid [s]; None for the median step of the recording.
    """
    step = trajectory.step if step is None else step
    times: list[Array] = []
    pieces: list[tuple[slice, Array, Array]] = []
    breaks: list[int] = []
    for segment in trajectory.segments:
        t = trajectory.time[segment]
        grid = t[0] + step * np.arange(int(np.floor((t[-1] - t[0]) / step * (1 + 1e-12))) + 1)
        if times:
            breaks.append(sum(len(t) for t in times))
        times.append(grid)
        pieces.append((segment, t, grid))
    channels: dict[str, Any] = {
        name: np.concatenate(
            [np.column_stack([np.interp(grid, t, column) for column in values[seg].T]) for seg, t, grid in pieces]
        )
        for name in CHANNELS
        if (values := getattr(trajectory, name)) is not None
    }
    valid = trajectory.valid
    if valid is not None:
        valid = np.concatenate([valid[seg][np.abs(t[:, None] - grid).argmin(axis=0)] if len(t) < 2 else
                                valid[seg][np.clip(np.searchsorted(t, grid), 0, len(t) - 1)]
                                for seg, t, grid in pieces])  # fmt: skip
    return replace(
        trajectory,
        time=np.concatenate(times),
        breaks=tuple(breaks),
        valid=valid,
        steps=(*trajectory.steps, f"resampled to a uniform step of {step:.6g} s"),
        **channels,
    )
