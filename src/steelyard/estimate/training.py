"""Training data: which rows of which recordings are fitted, and their information in consecutive stretches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from steelyard.basis import ParameterBasis
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.estimate.blocks import absorb_blocks
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.preparation.mask import mask_dead_band, mask_intervals
from steelyard.preparation.pipeline import Prepared

DEAD_BAND = 0.01  # [rad/s or m/s] inside which joints stick
TRIM = 0.3  # [s] taken off both ends of a training interval, where the filters have not settled
STRETCHES = 25  # parts of the training data, each far longer than the noise remembers
FOLDS = 5  # groups of them for cross-validation


@dataclass(frozen=True)
class Recording:
    """A recording as it came, and the part of it to use: (start, stop) [s], None for all."""

    trajectory: Trajectory
    interval: tuple[float, float] | None = None


def worth_fitting(
    trajectory: Trajectory, dead_band: float, exclude: Sequence[tuple[float, float]], cutoff: float
) -> Trajectory:
    """A prepared recording without the rows of joints that stand and without intervals a user leaves out.

    Args:
        trajectory: prepared.
        dead_band: [rad/s or m/s].
        exclude: (first, last) [s], widened by a period of the cut-off, as far as the low-pass carries their torque.
        cutoff: of that low-pass [Hz].
    """
    return mask_intervals(mask_dead_band(trajectory, dead_band), exclude, margin=1.0 / cutoff)


def training_rows(recording: Recording, ready: Prepared) -> Trajectory:
    """The samples of the interval less TRIM, and as many around them, not valid, as the filter needs to settle.

    Raises:
        DataError: nothing is left of the interval.
    """
    trajectory = ready.trajectory
    low, high = _trimmed(trajectory, recording.interval)
    inside = (trajectory.time >= low) & (trajectory.time <= high)
    used = np.flatnonzero(inside)
    margin = ready.lowpass.settling(trajectory.step) + ready.lowpass.keep_every
    start = max(0, int(used[0]) - margin)
    start -= start % ready.lowpass.keep_every  # every k-th sample is kept, counted from the first: keep the count
    valid = np.repeat(inside[:, None], len(trajectory.joint_names), axis=1)
    valid = valid if trajectory.valid is None else valid & trajectory.valid
    return replace(trajectory, valid=valid).samples(start, min(len(trajectory), int(used[-1]) + 1 + margin))


def training_blocks(
    model: Model, basis: ParameterBasis, recordings: Sequence[Recording], prepared: Sequence[Prepared]
) -> list[SquareRootInformation]:
    """Information of the base columns over STRETCHES of the training intervals, columns and torque filtered alike.

    Raises:
        DataError: nothing is left to fit.
    """
    blocks: list[SquareRootInformation] = []
    count = max(1, -(-STRETCHES // len(recordings)))
    for recording, ready in zip(recordings, prepared, strict=True):
        rows = training_rows(recording, ready)
        valid = 0 if rows.valid is None else int(rows.valid.any(axis=1).sum())
        if valid:
            own = min(count, valid)
            blocks += absorb_blocks(model, [rows], names=basis.names, lowpass=ready.lowpass, count=own)
    if not blocks:
        raise DataError("nothing is left to fit", where=recordings[0].trajectory.name,
                        cure=f"an interval must be longer than {2 * TRIM:g} s; exclude and decimate of the study file "
                             "must leave samples of it")  # fmt: skip
    return blocks


def folds(blocks: Sequence[SquareRootInformation]) -> list[SquareRootInformation]:
    """Neighbouring stretches merged to FOLDS groups."""
    edges = np.linspace(0, len(blocks), min(FOLDS, len(blocks)) + 1).astype(int)
    return [merged(blocks[a:b]) for a, b in pairwise(edges.tolist())]


def merged(blocks: Sequence[SquareRootInformation]) -> SquareRootInformation:
    """The information of all blocks together."""
    total = blocks[0]
    for block in blocks[1:]:
        total = total.merge(block)
    return total


def _trimmed(trajectory: Trajectory, interval: tuple[float, float] | None) -> tuple[float, float]:
    first, last = float(trajectory.time[0]), float(trajectory.time[-1])
    low, high = interval or (first, last)
    low, high = max(low, first) + TRIM, min(high, last) - TRIM
    if not ((trajectory.time >= low) & (trajectory.time <= high)).any():
        raise DataError(
            "the interval holds no samples", where=trajectory.name, value=f"{low - TRIM:.13g}:{high + TRIM:.13g} s",
            cure=f"the recording runs from {first:.13g} to {last:.13g} s, and {TRIM:g} s is taken off both ends",
        )  # fmt: skip
    return low, high
