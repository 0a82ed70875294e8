"""Rows that must not be fitted: near standstill, where friction has no direction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from steelyard.data.trajectory import Trajectory


def mask_dead_band(trajectory: Trajectory, speed: float) -> Trajectory:
    """Leave out the rows of a joint while it is slower than `speed` [rad/s or m/s]; nothing else changes.

    A joint that never moves faster keeps its rows: they still tell its gravity torque.
    """
    if speed <= 0.0:
        return trajectory
    moving = np.abs(trajectory.channel("dq")) >= speed
    moving |= ~moving.any(axis=0)
    valid = moving if trajectory.valid is None else moving & trajectory.valid
    share = 100.0 * (1.0 - valid.mean())
    note = f"{share:.1f} % of the rows masked: joint slower than {speed:g} rad/s (m/s)"
    return replace(trajectory, valid=valid, steps=(*trajectory.steps, note))
