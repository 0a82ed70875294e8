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
    return np.asarray(np.gradient(values, time, axis=0, edge_order=2))


def differentiate(trajectory: Trajectory, *, velocity_from: str = "position") -> Trajectory:
    """Add dq and ddq, segment by segment.

    Args:
        trajectory: smoothed positions.
        velocity_from: ``position``, or ``recorded`` to keep the recorded dq and differentiate it once.
    """
    recorded = velocity_from == "recorded"
    speed, acceleration = [], []
    for segment in trajectory.segments:
        t = trajectory.time[segment]
        v = trajectory.channel("dq")[segment] if recorded else derivative(trajectory.channel("q")[segment], t)
        speed.append(v)
        acceleration.append(derivative(v, t))
    note = "recorded dq kept, ddq from it" if recorded else "dq and ddq from q"
    return replace(
        trajectory,
        dq=np.concatenate(speed),
        ddq=np.concatenate(acceleration),
        steps=(*trajectory.steps, f"{note} by three-point differences"),
    )
