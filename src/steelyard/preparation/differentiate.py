"""Velocities and accelerations from positions, on any clock."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from steelyard.data.trajectory import Array, Trajectory
from steelyard.errors import DataError


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
            speed[segment] = derivative(source[segment], t)
        acceleration[segment] = derivative(speed[segment], t)
    for values in (speed, acceleration):
        values.setflags(write=False)  # a frozen array is shared, not copied
    note = "recorded dq kept, ddq from it" if recorded else "dq and ddq from q"
    return replace(
        trajectory,
        dq=speed,
        ddq=acceleration,
        steps=(*trajectory.steps, f"{note} by three-point differences"),
    )
