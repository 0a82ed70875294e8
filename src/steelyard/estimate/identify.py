"""From recordings to an identified model: the whole of the main job as one function over values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis, base_parameters
from steelyard.data.lowpass import zero_phase
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.estimate.least_squares import ordinary, weighted
from steelyard.estimate.result import Estimate
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.prepare.pipeline import Prepared, prepare_recording

Array = NDArray[np.float64]
TRIM = 0.3  # [s] taken off both ends of a training interval, where the filters have not settled


@dataclass(frozen=True)
class Recording:
    """A recording as it came, and the part of it to use: (start, stop) [s], None for all."""

    trajectory: Trajectory
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Prediction:
    """Predicted torque: time (P,) [s], torque (P, n) [N m or N], low-passed at cutoff [Hz]."""

    time: Array
    torque: Array
    cutoff: float


@dataclass(frozen=True)
class Identification:
    """An identified model and everything needed to use, judge and repeat it.

    Attributes:
        model: robot and terms.
        basis: its base parameters.
        estimate: their values and uncertainty.
        prepared: the training recordings as they were fitted.
    """

    model: Model
    basis: ParameterBasis
    estimate: Estimate
    prepared: tuple[Prepared, ...]

    @property
    def cutoff(self) -> float:
        """The torque cut-off of the training recordings [Hz], the lowest of them."""
        return min(p.cutoff.cutoff for p in self.prepared)


def identify(
    model: Model,
    recordings: Sequence[Recording],
    *,
    estimator: str = "weighted",
    cutoff: float | None = None,
    use_recorded_dq: bool | None = None,
) -> Identification:
    """Prepare, absorb, estimate.

    Filters run over whole recordings, then the interval is cut and TRIM taken off its ends.

    Args:
        model: robot (with the joints of the recordings) and terms.
        recordings: at least one, with torque.
        estimator: ``weighted`` or ``ordinary``.
        cutoff: [Hz]; None to choose it for each recording from its spectra.
        use_recorded_dq: None to judge.

    Raises:
        DataError: no recording, no torque, or nothing left of an interval.
    """
    if not recordings:
        raise DataError("there is no recording to fit", cure="name at least one training file")
    basis = base_parameters(model)
    prepared = tuple(
        prepare_recording(r.trajectory, model.robot, cutoff=cutoff, use_recorded_dq=use_recorded_dq) for r in recordings
    )
    info = absorb_recordings(model, basis, recordings, prepared)
    solve = {"weighted": weighted, "ordinary": ordinary}[estimator]
    return Identification(model, basis, solve(info, basis=basis), prepared)


def absorb_recordings(
    model: Model, basis: ParameterBasis, recordings: Sequence[Recording], prepared: Sequence[Prepared]
) -> SquareRootInformation:
    """Information of the base columns over the training intervals, columns and torque filtered alike."""
    parts = [
        model.absorb([_marked(p.trajectory, r.interval)], names=basis.names, lowpass=p.lowpass)
        for r, p in zip(recordings, prepared, strict=True)
    ]
    total = parts[0]
    for part in parts[1:]:
        total = total.merge(part)
    if not any(total.rows):
        raise DataError("nothing is left to fit", where=recordings[0].trajectory.name,
                        cure=f"an interval must be longer than {2 * TRIM:g} s")  # fmt: skip
    return total


def predict(model: Model, theta: Array, recording: Trajectory, *, cutoff: float) -> Prediction:
    """Torque of the model along a recorded motion, low-passed at `cutoff` as the torque it is compared with.

    Args:
        model: robot and terms.
        theta: (p,) values of the model's columns.
        recording: as recorded; torque is not used.
        cutoff: [Hz].
    """
    prepared = prepare_recording(recording, model.robot)
    motion = prepared.trajectory
    torque = model.torque(theta, motion)
    smooth = [zero_phase(torque[segment], motion.step, cutoff, axis=0) for segment in motion.segments]
    return Prediction(motion.time, np.concatenate(smooth), cutoff)


def _marked(trajectory: Trajectory, interval: tuple[float, float] | None) -> Trajectory:
    """All samples, so that filters settle, with only those of the trimmed interval valid."""
    from dataclasses import replace

    low, high = interval or (float(trajectory.time[0]), float(trajectory.time[-1]))
    inside = (trajectory.time >= low + TRIM) & (trajectory.time <= high - TRIM)
    if not inside.any():
        raise DataError(
            "the interval holds no samples", where=trajectory.name, value=f"{low:g}:{high:g} s",
            cure=f"the recording runs from {trajectory.time[0]:g} to {trajectory.time[-1]:g} s, "
            f"and {TRIM:g} s is taken off both ends",
        )  # fmt: skip
    valid = np.repeat(inside[:, None], len(trajectory.joint_names), axis=1)
    return replace(trajectory, valid=valid if trajectory.valid is None else valid & trajectory.valid)
