"""Fewer samples: of filtered signals neighbouring samples say the same."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from steelyard.data.trajectory import Trajectory
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
    thinner = trajectory.picked(rows, [int(length) for length in lengths[:-1]])
    return replace(thinner, steps=(*trajectory.steps, f"one of {every} samples kept"))
