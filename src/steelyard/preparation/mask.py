"""Rows that must not be fitted: near standstill, where friction has no direction; contact and whatever a user names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError


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


def mask_intervals(
    trajectory: Trajectory, intervals: Sequence[tuple[float, float]], *, margin: float = 0.0
) -> Trajectory:
    """Leave out the rows of all joints inside intervals: external contact, or anything else the model has no term for.

    Args:
        trajectory: any.
        intervals: (first, last) [s] of recording time.
        margin: [s] by which each is widened, since a low-pass carries torque over its ends: about a period of the
            cut-off.

    Raises:
        StudyError: an interval that runs backwards.
    """
    if not intervals:
        return trajectory
    inside = np.zeros(len(trajectory), dtype=bool)
    for first, last in intervals:
        if not first < last:
            raise StudyError(
                "an interval to leave out is two times [s], the earlier one first", value=(float(first), float(last))
            )
        inside |= (trajectory.time >= first - margin) & (trajectory.time <= last + margin)
    valid = np.repeat(~inside[:, None], len(trajectory.joint_names), axis=1)
    valid = valid if trajectory.valid is None else valid & trajectory.valid
    note = f"{int(inside.sum())} samples in {len(intervals)} interval(s) left out, as asked"
    return replace(trajectory, valid=valid, steps=(*trajectory.steps, note))
