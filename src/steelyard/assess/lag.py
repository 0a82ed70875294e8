"""How one signal follows another: gain, delay and what is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
STEPS = 40  # delays tried on either side


@dataclass(frozen=True)
class Follow:
    """`late(t) ~ gain early(t - delay)`.

    Attributes:
        gain: [unit of late per unit of early].
        delay: [s], positive when `late` is late.
        remainder: relative size of what gain and delay do not explain.
        difference: relative size of `late - early`.
    """

    gain: float
    delay: float
    remainder: float
    difference: float


def follow(early: Array, late: Array, step: float, *, most: float) -> Follow | None:
    """Gain and delay by least squares over a scan of delays, the best refined by a parabola.

    Args:
        early, late: (T,) on a clock of `step` [s].
        most: largest delay tried [s].

    Returns:
        None when a signal is zero or too short for the delays asked.
    """
    from scipy.interpolate import CubicSpline

    edge = int(np.ceil(most / step)) + 1
    if early.size <= 2 * edge + 4:
        return None
    inner = slice(edge, early.size - edge)
    size, target = float(np.linalg.norm(early[inner])), late[inner]
    if not size > 0.0 or not float(np.linalg.norm(target)) > 0.0:
        return None
    time = step * np.arange(early.size)
    spline = CubicSpline(time, early)
    delays = np.linspace(-most, most, 2 * STEPS + 1)
    misfit = np.array([_fit(spline(time[inner] - delay), target)[1] for delay in delays])
    delay = lowest(delays, misfit)
    gain, left = _fit(spline(time[inner] - delay), target)
    difference = float(np.linalg.norm(target - early[inner])) / size
    return Follow(gain, delay, float(np.sqrt(left)) / size, difference)


def lowest(at: Array, values: Array) -> float:
    """The minimum of the parabola through the smallest of equally spaced values and its neighbours."""
    k = int(np.clip(np.argmin(values), 1, values.size - 2))
    before, here, after = values[k - 1 : k + 2]
    curvature = before - 2.0 * here + after
    if not curvature > 0.0:
        return float(at[int(np.argmin(values))])
    shift = np.clip(0.5 * (before - after) / curvature, -1.0, 1.0)
    return float(at[k] + shift * (at[1] - at[0]))


def _fit(signal: Array, target: Array) -> tuple[float, float]:
    """Gain and sum of squares left."""
    energy = float(signal @ signal)
    gain = float(signal @ target) / energy if energy > 0.0 else 0.0
    return gain, float(np.sum((target - gain * signal) ** 2))
