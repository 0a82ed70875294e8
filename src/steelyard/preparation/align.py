"""One uniform clock: recorders sample irregularly, filters and spectra need equal steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from steelyard.data.trajectory import CHANNELS, Array, Trajectory
from steelyard.errors import DataError

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

    Raises:
        DataError: a step that is not positive.
    """
    if step is None:
        step = trajectory.step
    elif not step > 0.0:
        raise DataError("a grid needs a positive step [s]", where=trajectory.name, value=step)
    grids = [_grid(trajectory.time[segment], step) for segment in trajectory.segments]
    pieces = list(zip(trajectory.segments, grids, strict=True))
    channels: dict[str, Any] = {
        name: np.concatenate([_between(trajectory.time[seg], values[seg], grid) for seg, grid in pieces])
        for name in CHANNELS
        if (values := getattr(trajectory, name)) is not None
    }
    if trajectory.valid is not None:
        usable = trajectory.valid.astype(np.float64)
        mixed = np.concatenate([_between(trajectory.time[seg], usable[seg], grid) for seg, grid in pieces])
        channels["valid"] = mixed > 1.0 - 1e-9  # a point between two samples is valid when both are
    if (weight := trajectory.weight) is not None:
        channels["weight"] = np.concatenate([_between(trajectory.time[seg], weight[seg], grid) for seg, grid in pieces])
    return replace(
        trajectory,
        time=np.concatenate(grids),
        breaks=tuple(int(b) for b in np.cumsum([len(grid) for grid in grids])[:-1]),
        steps=(*trajectory.steps, f"resampled to a uniform step of {step:.6g} s"),
        **channels,
    )


def _grid(time: Array, step: float) -> Array:
    """From the first stamp to the last, a step apart; a lone sample stays where it is."""
    if len(time) < 2:
        return time
    return time[0] + step * np.arange(int(np.floor((time[-1] - time[0]) / step * (1 + 1e-12))) + 1)


def _between(time: Array, values: Array, grid: Array) -> Array:
    return np.column_stack([np.interp(grid, time, column) for column in values.T])
