"""How finely a signal was recorded: the step between its values, and the noise about a smooth motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory

Array = NDArray[np.float64]
LARGEST_MULTIPLE = 50.0  # of the step, up to which distances between values are compared with it
OFF_GRID = 0.1  # of a step
ON_GRID = 0.9  # share of the distances that must be multiples of the step
HALF = 4  # samples on either side of the one that is judged
DEGREE = 4
WINDOWS = 4000  # looked at; more do not change the median
TO_DEVIATION = 1.4826  # median absolute value to standard deviation of a normal variable


def quantum(values: Array) -> float:
    """The step of the grid that (T,) values lie on [their unit]; nan where there is no grid or only one value.

    The smallest distance between two values that occur, if nearly all short distances are multiples of it.
    """
    distances = np.diff(np.unique(values))
    distances = distances[distances > 1e-12 * np.abs(values).max(initial=0.0)]
    if distances.size < 2:
        return float(distances[0]) if distances.size else float("nan")
    step = float(distances.min())
    short = distances[distances < LARGEST_MULTIPLE * step] / step
    step *= float(np.sum(short * np.rint(short)) / np.sum(np.rint(short) ** 2))
    short = distances[distances < LARGEST_MULTIPLE * step] / step
    return step if np.mean(np.abs(short - np.rint(short)) < OFF_GRID) >= ON_GRID else float("nan")


def noise_floor(trajectory: Trajectory, channel: str) -> Array:
    """(n,) standard deviation of what no smooth motion explains, per joint [unit of the channel].

    Around every sample a polynomial of degree 4 in time is fitted to nine samples; the residual in the middle,
    divided by sqrt(1 - leverage), has the deviation of white noise. The median makes it robust against friction
    steps, and windows in which nothing changes are left out. nan where there are not nine samples in a row.
    """
    values, time = trajectory.channel(channel), trajectory.time
    width = 2 * HALF + 1
    starts = np.concatenate([np.arange(s.start, max(s.start, s.stop - width + 1)) for s in trajectory.segments])
    if starts.size == 0:
        return np.full(values.shape[1], np.nan)
    starts = starts[np.linspace(0, starts.size - 1, min(starts.size, WINDOWS)).astype(int)]
    index = starts[:, None] + np.arange(width)
    t = time[index] - time[starts + HALF][:, None]
    powers = (t / np.abs(t).max(axis=1, keepdims=True))[:, :, None] ** np.arange(DEGREE + 1)
    orthogonal, _ = np.linalg.qr(powers)
    picked = values[index]  # (windows, 9, n)
    fitted = np.einsum("wik,wkn->win", orthogonal, np.einsum("wik,win->wkn", orthogonal, picked))
    leverage = np.sum(orthogonal[:, HALF] ** 2, axis=1)
    residual = np.abs(picked[:, HALF] - fitted[:, HALF]) / np.sqrt(np.maximum(1.0 - leverage, 1e-3))[:, None]
    changing = np.ptp(picked, axis=1) > 0.0
    return np.array(
        [TO_DEVIATION * float(np.median(r[c])) if c.any() else 0.0 for r, c in zip(residual.T, changing.T, strict=True)]
    )
