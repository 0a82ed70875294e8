"""Velocities and accelerations from positions, on any clock."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from steelyard.data.trajectory import Array, Trajectory
from steelyard.errors import DataError
from steelyard.preparation.align import REGULAR


def derivative(values: Array, time: Array) -> Array:
    """(T, n) time derivative by three-point differences, of second order on a non-uniform clock.

    `f'(t_k) = (h0^2 f_{k+1} - h1^2 f_{k-1} + (h1^2 - h0^2) f_k) / (h0 h1 (h0 + h1))`, one-sided at the ends.

    Raises:
        DataError: fewer than three samples.
    """
    if len(time) < 3:
        raise DataError("a derivative needs three samples in a segment", value=len(time))
    slope = np.empty(values.shape)
    for j in range(values.shape[1]):
        slope[:, j] = np.gradient(values[:, j], time, edge_order=2)
    return slope


def fine_derivative(values: Array, time: Array) -> Array:
    """(T, n) time derivative by five-point differences, of fourth order, where the clock is uniform.

    `f'(t_k) = (8 (f_{k+1} - f_{k-1}) - (f_{k+2} - f_{k-2})) / (12 h)`. At f of the sampling rate fs it loses
    (2 pi f / fs)^4 / 30 of the amplitude, where three points lose (2 pi f / fs)^2 / 6: of a motion of 1 Hz recorded at
    100 Hz a thousandth, which a fit of accelerations takes for mass. Two samples at either end, and other clocks, have
    three-point differences.

    Raises:
        DataError: fewer than three samples.
    """
    slope = derivative(values, time)
    steps = np.diff(time)
    if len(time) >= 5 and np.ptp(steps) <= REGULAR * steps.mean():
        slope[2:-2] = (8.0 * (values[3:-1] - values[1:-3]) - (values[4:] - values[:-4])) / (12.0 * steps.mean())
    return slope


def differentiate(trajectory: Trajectory, *, velocity_from: str = "position") -> Trajectory:
    """Add dq and ddq, segment by segment.

    Args:
        trajectory: smoothed positions.
        velocity_from: ``position``, or ``recorded`` to keep the recorded dq and differentiate it once.
    """
    recorded = velocity_from == "recorded"
    source = trajectory.channel("dq" if recorded else "q")
    speed = source if recorded else np.empty_like(source)
    acceleration = np.empty_like(source)
    for segment in trajectory.segments:
        t = trajectory.time[segment]
        if not recorded:
            speed[segment] = fine_derivative(source[segment], t)
        acceleration[segment] = fine_derivative(speed[segment], t)
    for values in (speed, acceleration):
        values.setflags(write=False)  # a frozen array is shared, not copied
    note = "recorded dq kept, ddq from it" if recorded else "dq and ddq from q"
    return replace(
        trajectory,
        dq=speed,
        ddq=acceleration,
        steps=(*trajectory.steps, f"{note} by differences"),
    )
