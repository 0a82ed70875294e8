"""Whether a motion repeats itself: a later period tells nothing new, and must not serve as proof."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding

Array = NDArray[np.float64]
RATE = 50.0  # [Hz] at which positions are compared; motions are slower
MOST_SAMPLES = 200_000
SAME = 0.1  # root mean square difference, in deviations of the positions, under which two stretches are one motion
DIFFERENT = 0.3  # and above which they are not: a lag must pass through such to be a period
SHORTEST, LEAST = 1.0, 0.1  # [s] and share of the recording that must be repeated


@dataclass(frozen=True)
class Repetition:
    """A motion that starts again.

    Attributes:
        period: [s].
        repeated: how long the part is that was there a period before [s].
        difference: root mean square, in deviations of the positions.
    """

    period: float
    repeated: float
    difference: float


def repetition(trajectory: Trajectory) -> Repetition | None:
    """The shortest lag after which the positions are the same again, for as long as the recording lasts.

    `D(L)^2 = mean_t |q(t + L) - q(t)|^2 / |deviation|^2`, for all lags at once by the fast Fourier transform.
    """
    from scipy.signal import fftconvolve

    time = trajectory.time
    duration = float(time[-1] - time[0])
    count = int(min(duration * RATE, MOST_SAMPLES)) + 1
    if count < 4 * SHORTEST * RATE or np.any(np.diff(time) <= 0.0):
        return None
    grid = np.linspace(time[0], time[-1], count)
    step = duration / (count - 1)
    q = np.column_stack([np.interp(grid, time, column) for column in trajectory.channel("q").T])
    deviation = q.std(axis=0)
    moving = deviation > 0.01 * deviation.max(initial=0.0)
    if not moving.any() or deviation.max() == 0.0:
        return None
    q = (q - q.mean(axis=0))[:, moving] / deviation[moving]
    n = q.shape[1]
    product = np.sum([fftconvolve(column, column[::-1])[count - 1 :] for column in q.T], axis=0)
    energy = np.cumsum(np.sum(q**2, axis=1))
    lags = np.arange(count)
    overlap = count - lags
    head = energy[overlap - 1]
    tail = energy[-1] - np.concatenate([[0.0], energy[:-1]])
    squared = np.maximum(head + tail - 2.0 * product, 0.0) / (overlap * n)
    return _first_period(np.sqrt(squared), step, duration)


def repetition_findings(found: Repetition | None, trajectory: Trajectory) -> list[Finding]:
    """A motion that starts again within the recording."""
    if found is None:
        return []
    duration = float(trajectory.time[-1] - trajectory.time[0])
    start = float(trajectory.time[0])
    return [
        Finding(
            "data.repeats",
            "info",
            f"the motion repeats after {found.period:.2f} s: the last {found.repeated:.2f} s of {duration:.2f} s "
            f"({100 * found.repeated / duration:.0f} %) were there before",
            trajectory.name,
            found.period,
            f"train and validate within the first period (to {start + found.period:.2f} s), or validate on another "
            "motion; periods may be averaged",
        )
    ]


def _first_period(difference: Array, step: float, duration: float) -> Repetition | None:
    """The first dip under SAME after the difference has been large."""
    left = duration - step * np.arange(difference.size)
    seen = np.maximum.accumulate(difference) > DIFFERENT
    dips = np.flatnonzero(seen & (difference < SAME) & (left >= max(SHORTEST, LEAST * duration)))
    if dips.size == 0:
        return None
    first = dips[0]
    stretch = dips[: np.searchsorted(dips - np.arange(dips.size), first, side="right")]
    best = int(stretch[np.argmin(difference[stretch])])
    return Repetition(best * step, float(left[best]), float(difference[best]))
