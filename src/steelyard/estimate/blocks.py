"""Consecutive stretches of recordings, each with its own information: what residual correlation can be read from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

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
    """Square-root information of consecutive stretches of about equal length; merged they are that of the whole.

    No stretch crosses a gap, so that there may be more of them than `count`; stretches without a valid row are left
    out. Filters run on across the edges.

    Args:
        model: robot and terms.
        trajectories: prepared recordings, as for `Model.absorb`.
        count: number of stretches wanted over all recordings together.
        names: the columns wanted; None for all.
        lowpass: as for `Model.absorb`.

    Raises:
        DataError: fewer than two stretches, or fewer samples than stretches.
    """
    names = None if names is None else tuple(names)
    total = sum(len(trajectory) for trajectory in trajectories)
    if count < 2 or total < count:
        raise DataError("blocks need at least two stretches with a sample each", value=f"{count} of {total} samples")
    blocks = []
    for trajectory in trajectories:
        for segment in trajectory.segments:
            length = segment.stop - segment.start
            edges = _edges(segment, max(1, round(length * count / total)), 1 if lowpass is None else lowpass.keep_every)
            for start, stop in edges:
                stretch = _stretch(trajectory, segment, start, stop, lowpass)
                info = model.absorb([stretch], names=names, lowpass=lowpass)
                if any(info.rows):
                    blocks.append(info)
    return tuple(blocks)


def _edges(segment: slice, parts: int, multiple: int) -> list[tuple[int, int]]:
    """First and last sample (excluded) of the stretches, on the samples that decimation keeps."""
    length = segment.stop - segment.start
    cuts = [segment.start + length * k // parts // multiple * multiple for k in range(parts)]
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
