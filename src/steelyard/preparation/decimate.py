"""Fewer samples: of filtered signals neighbouring samples say the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from steelyard.data.base_motion import BaseMotion
from steelyard.data.trajectory import CHANNELS, Trajectory
from steelyard.errors import StudyError


def decimate(trajectory: Trajectory, every: int) -> Trajectory:
    """Keep the first of every so many samples in each segment; low-pass below half the new rate before.

    Args:
        trajectory: any clock.
        every: 1 keeps all.

    Raises:
        StudyError: not a whole number of at least 1.
    """
    if every != int(every) or every < 1:
        raise StudyError("one of how many samples to keep must be a whole number above zero", value=every)
    if every == 1:
        return trajectory
    kept = [np.arange(segment.start, segment.stop, int(every)) for segment in trajectory.segments]
    lengths = np.cumsum([len(k) for k in kept])
    rows = np.concatenate(kept)
    changed: dict[str, Any] = {
        name: values[rows]
        for name in ("time", *CHANNELS, "valid", "weight")
        if (values := getattr(trajectory, name)) is not None
    }
    base = trajectory.base
    if base is not None:
        wrench = None if base.wrench is None else base.wrench[rows]
        base = BaseMotion(base.orientation[rows], base.twist[rows], base.acceleration[rows], wrench)
    note = f"one of {every} samples kept"
    return replace(trajectory, breaks=tuple(lengths[:-1]), base=base, steps=(*trajectory.steps, note), **changed)
