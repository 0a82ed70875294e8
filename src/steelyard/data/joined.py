"""Consecutive stretches of one recording as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from steelyard.data.contract import segment_breaks
from steelyard.data.trajectory import CHANNELS, Trajectory
from steelyard.errors import DataError


def joined(parts: Sequence[Trajectory], *, breaks: Sequence[int] | None = None) -> Trajectory:
    """The samples of all parts, as they were read: with time and channels, the others are dropped.

    Args:
        parts: at least one, in order, each after the one before.
        breaks: first samples of further segments; None to find them from the stamps.

    Raises:
        DataError: parts of different joints, or out of order.
    """
    first = parts[0]
    for before, after in pairwise(parts):
        if before.joint_names != after.joint_names or after.time[0] <= before.time[-1]:
            raise DataError(
                "chunks must follow one another, with the same joints", where=after.name, value=float(after.time[0])
            )
    time = np.concatenate([part.time for part in parts])
    channels: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in CHANNELS
        if all(getattr(part, name) is not None for part in parts)
    }
    edges = segment_breaks(time) if breaks is None else breaks
    return replace(first, time=time, breaks=tuple(edges), valid=None, weight=None, **channels)
