"""Recordings larger than memory: prepare and absorb chunk after chunk, in memory for a few of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from steelyard.data.joined import joined
from steelyard.data.lowpass import SETTLE
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.preparation.pipeline import prepare_recording

TRIM = 0.3  # [s] left out at both ends of the recording, as for one that is read whole


def absorb_stream(
    model: Model,
    chunks: Iterable[Trajectory],
    *,
    names: Iterable[str] | None = None,
    cutoff: float | None = None,
    use_recorded_dq: bool | None = None,
) -> SquareRootInformation:
    """Square-root information of one recording that comes in consecutive chunks, e.g. from `iterate_csv`.

    Every chunk is prepared together with the end of the one before it, long enough for the filters to settle, and each
    sample is counted once. Cut-off and velocity are chosen on the first chunk, so make it long.

    Args:
        model: robot and terms.
        chunks: of one recording, in order, with torque.
        names: columns wanted; None for all.
        cutoff: [Hz]; None to choose.
        use_recorded_dq: None to judge.

    Raises:
        DataError: no samples, chunks out of order, a channel that is missing.
    """
    wanted = None if names is None else tuple(names)
    total: SquareRootInformation | None = None
    held: Trajectory | None = None
    counted = -np.inf
    for chunk, last in _marking_the_last(chunks):
        held = chunk if held is None else joined([held, chunk])
        ready = prepare_recording(held, model.robot, cutoff=cutoff, use_recorded_dq=use_recorded_dq, thin=True)
        cutoff, use_recorded_dq = ready.cutoff.cutoff, ready.velocity.recorded
        time = ready.trajectory.time
        margin = SETTLE / cutoff + TRIM
        low = float(held.time[0]) + TRIM if total is None else counted
        high = float(held.time[-1]) - (TRIM if last else margin)
        inside = (time > low) & (time <= high)
        if inside.any():
            valid = np.repeat(inside[:, None], len(ready.trajectory.joint_names), axis=1)
            part = replace(ready.trajectory, valid=valid)
            info = model.absorb([part], names=wanted, lowpass=ready.lowpass)
            total = info if total is None else total.merge(info)
            counted = high
        held = held.interval(max(float(held.time[0]), high - margin), float(held.time[-1]))
    if total is None:
        raise DataError("there is no sample to fit", cure="record longer, or make the chunks longer")
    return total


def _marking_the_last(chunks: Iterable[Trajectory]) -> Iterator[tuple[Trajectory, bool]]:
    """Each chunk, and whether it is the last."""
    held: Trajectory | None = None
    for chunk in chunks:
        if held is not None:
            yield held, False
        held = chunk
    if held is not None:
        yield held, True
