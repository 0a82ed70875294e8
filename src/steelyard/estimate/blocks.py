"""Consecutive stretches of recordings, each with its own information: what residual correlation can be read from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.information import SquareRootInformation
from steelyard.model import Model

BLOCKS = 10


def absorb_blocks(
    model: Model,
    trajectories: Sequence[Trajectory],
    *,
    count: int = BLOCKS,
    names: Iterable[str] | None = None,
    lowpass: LowPass | None = None,
) -> tuple[SquareRootInformation, ...]:
    """Square-root information of consecutive stretches of about as many valid samples; merged they are the whole.

    No stretch crosses a gap, so that there may be more of them than `count`. Filters run on across the edges.

    Args:
        model: robot and terms.
        trajectories: prepared recordings, as for `Model.absorb`.
        count: number of stretches wanted over all recordings together.
        names: the columns wanted; None for all.
        lowpass: as for `Model.absorb`.

    Raises:
        DataError: no stretch, or fewer valid samples than stretches.
    """
    names = None if names is None else tuple(names)
    used = [_used(trajectory) for trajectory in trajectories]
    total = sum(int(u.sum()) for u in used)
    if count < 1 or total < count:
        raise DataError("every stretch needs a valid sample", value=f"{count} stretches of {total} samples")
    blocks = []
    for trajectory, valid in zip(trajectories, used, strict=True):
        for segment in trajectory.segments:
            own = int(valid[segment].sum())
            parts = max(1, round(own * count / total)) if own else 0
            for start, stop in _edges(segment, valid, parts, 1 if lowpass is None else lowpass.keep_every):
                stretch = _stretch(trajectory, segment, start, stop, lowpass)
                info = model.absorb([stretch], names=names, lowpass=lowpass)
                if any(info.rows):
                    blocks.append(info)
    return tuple(blocks)


def _used(trajectory: Trajectory) -> NDArray[np.bool_]:
    """(T,) samples with a valid row."""
    every = np.ones(len(trajectory), dtype=bool)
    return every if trajectory.valid is None else every & trajectory.valid.any(axis=1)


def _edges(segment: slice, valid: NDArray[np.bool_], parts: int, multiple: int) -> list[tuple[int, int]]:
    """First and last sample (excluded) of the stretches, on the samples that decimation keeps."""
    if parts == 0:
        return []
    at = np.flatnonzero(valid[segment])
    inner = [int(at[len(at) * k // parts]) // multiple * multiple for k in range(1, parts)]
    cuts = [segment.start, *(segment.start + k for k in inner)]
    return [(a, b) for a, b in zip(cuts, [*cuts[1:], segment.stop], strict=True) if b > a]


def _stretch(trajectory: Trajectory, segment: slice, start: int, stop: int, lowpass: LowPass | None) -> Trajectory:
    """Samples start..stop-1; those before and after that a filter needs to settle are there, but not valid."""
    if lowpass is None:
        return trajectory.samples(start, stop)
    settling = -(-lowpass.settling(trajectory.step) // lowpass.keep_every) * lowpass.keep_every
    low, high = max(segment.start, start - settling), min(segment.stop, stop + settling)
    wide = trajectory.samples(low, high)
    valid = np.zeros((high - low, len(trajectory.joint_names)), dtype=bool)
    valid[start - low : stop - low] = True
    return replace(wide, valid=valid if wide.valid is None else valid & wide.valid)
