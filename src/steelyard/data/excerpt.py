"""A part of a long recording for questions that all of it would answer alike."""

from __future__ import annotations

import numpy as np

from steelyard.data.trajectory import Trajectory

ENOUGH = 60_000  # samples: a minute at 1 kHz, many times what any such question needs
STRETCHES = 4  # so that both ends and the middle are seen


def excerpt(trajectory: Trajectory, *, samples: int = ENOUGH) -> Trajectory:
    """A few stretches of a recording, evenly spread, with `samples` samples together; short recordings as they are."""
    if len(trajectory) <= samples:
        return trajectory
    length = samples // STRETCHES
    first = np.linspace(0, len(trajectory) - length, STRETCHES).astype(np.intp)
    rows = np.concatenate([np.arange(start, start + length) for start in first])
    own = np.searchsorted(rows, trajectory.breaks)  # a break outside the stretches falls on an edge between two
    breaks = {*(length * k for k in range(1, STRETCHES)), *own.tolist()} - {0, rows.size}
    return trajectory.picked(rows, sorted(breaks))
