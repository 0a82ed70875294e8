"""From recordings to an identified model: the whole of the main job as one function over values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis, base_parameters
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.estimate.coloured import score_correlation_time
from steelyard.estimate.friction_choice import STRUCTURES, all_terms, choose_friction, terms_of
from steelyard.estimate.least_squares import ordinary, weighted
from steelyard.estimate.prior import physical_prior
from steelyard.estimate.regularised import with_prior
from steelyard.estimate.result import Estimate
from steelyard.estimate.structure import Trial
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.preparation.mask import mask_dead_band
from steelyard.preparation.pipeline import Prepared, prepare_recording
from steelyard.robot.robot import Robot
from steelyard.terms.term import Term

Array = NDArray[np.float64]
ESTIMATORS = ("prior", "weighted", "ordinary")
DEAD_BAND = 0.01  # [rad/s or m/s] inside which joints stick
TRIM = 0.3  # [s] taken off both ends of a training interval, where the filters have not settled
LEAST_SAMPLES = 10
STRETCHES = 25  # parts of the training data, each far longer than the noise remembers
FOLDS = 5  # groups of them for cross-validation
SESSION_VARIANCE = 1.0 / 3.0  # of an offset between sessions, over its variance between robots


@dataclass(frozen=True)
class Recording:
    """A recording as it came, and the part of it to use: (start, stop) [s], None for all."""

    trajectory: Trajectory
    interval: tuple[float, float] | None = None


@dataclass(frozen=True)
class Identification:
    """An identified model and everything needed to use, judge and repeat it.

    Attributes:
        model: robot and terms.
        basis: its base parameters.
        estimate: their values and uncertainty.
        prepared: the training recordings as they were fitted.
        trials: friction structures that were compared, best first; empty when the terms were given.
        structure: name of the friction structure chosen, empty when the terms were given.
    """

    model: Model
    basis: ParameterBasis
    estimate: Estimate
    prepared: tuple[Prepared, ...]
    trials: tuple[Trial, ...] = ()
    structure: str = ""

    @property
    def cutoff(self) -> float:
        """The torque cut-off of the training recordings [Hz], the lowest of them."""
        return min(p.cutoff.cutoff for p in self.prepared)

    def theta_for(self, recording: Trajectory) -> Array:
        """(p,) values of the model's columns for predicting a recording; see `carried_offsets`."""
        sources = {p.trajectory.source for p in self.prepared}
        sessions = None if recording.source in sources else len(sources)
        return carried_offsets(self.model.names, self.estimate.full(self.model.names), sessions)


def carried_offsets(names: Sequence[str], theta: Array, sessions: int | None) -> Array:
    """Parameters for predicting a recording that was not fitted: its torque offsets are only partly those of the fit.

    An offset is part robot (asymmetric friction), part session (the zero of a torque sensor, temperature). Of the
    mean over n sessions, `n / (n + r)` is expected to recur, r the ratio of the two variances; r = 1/3 here.

    Args:
        names: p columns.
        theta: (p,) their values.
        sessions: number of recordings fitted; None for a recording that was fitted itself.
    """
    if sessions is None:
        return theta
    offset = np.array([name.startswith("actuator/") and name.endswith("/bias") for name in names])
    return np.where(offset, sessions / (sessions + SESSION_VARIANCE), 1.0) * theta


def identify(
    robot: Robot,
    recordings: Sequence[Recording],
    *,
    terms: Sequence[Term] | None = None,
    estimator: str = "prior",
    cutoff: float | None = None,
    use_recorded_dq: bool | None = None,
    dead_band: float = DEAD_BAND,
) -> Identification:
    """Prepare, absorb, choose the friction terms, estimate.

    Filters run over whole recordings, then the interval is cut and TRIM taken off its ends.

    Args:
        robot: with the joints of the recordings.
        recordings: at least one, with torque.
        terms: of the model; None to let the data choose the friction terms by blocked cross-validation.
        estimator: ``prior`` (towards the model file, friction and rotor inertia not negative), ``weighted``,
            ``ordinary``.
        cutoff: [Hz]; None to choose it for each recording from its spectra.
        use_recorded_dq: None to judge.
        dead_band: rows of a joint slower than this [rad/s or m/s] are not fitted: friction has no direction there.

    Raises:
        DataError: no recording, no torque, or nothing left of an interval.
        StudyError: an unknown estimator.
    """
    if not recordings:
        raise DataError("there is no recording to fit", cure="name at least one training file")
    if estimator not in ESTIMATORS:
        raise StudyError("not an estimator", value=estimator, choices=ESTIMATORS)
    model = Model(robot, tuple(all_terms() if terms is None else terms))
    basis = base_parameters(model)
    prepared = tuple(
        prepare_recording(r.trajectory, robot, cutoff=cutoff, use_recorded_dq=use_recorded_dq, thin=True)
        for r in recordings
    )
    moving = [replace(p, trajectory=mask_dead_band(p.trajectory, dead_band)) for p in prepared]
    blocks = absorb_blocks(model, basis, recordings, moving)
    trials: tuple[Trial, ...] = ()
    structure = ""
    if terms is None:
        trials, structure = choose_friction(
            robot, _folds(blocks), lambda part, sub, own: _fit(sub, part, estimator, own)
        )
        model = Model(robot, terms_of(structure))
        basis = base_parameters(model)
        blocks = [block.select(basis.names) for block in blocks]
    total = _merged(blocks)
    if total.samples < LEAST_SAMPLES:
        raise DataError(
            f"{total.samples} samples are left after the low-pass, {LEAST_SAMPLES} are the least",
            where=recordings[0].trajectory.name,
            cure="give a longer interval or recording",
        )
    estimate = _fit(model, total, estimator, basis)
    estimate = replace(estimate, correlation_time=score_correlation_time(blocks, estimate))
    return Identification(model, basis, _described(estimate, trials, structure), prepared, trials, structure)


def absorb_blocks(
    model: Model, basis: ParameterBasis, recordings: Sequence[Recording], prepared: Sequence[Prepared]
) -> list[SquareRootInformation]:
    """Information of the base columns over blocks of the training intervals, columns and torque filtered alike."""
    blocks = []
    count = max(1, -(-STRETCHES // len(recordings)))
    for recording, ready in zip(recordings, prepared, strict=True):
        low, high = _trimmed(ready.trajectory, recording.interval)
        edges = np.linspace(low, high, count + 1)
        for start, stop in pairwise(edges):
            part = _stretch(ready, float(start), float(stop), last=stop == edges[-1])
            info = model.absorb([part], names=basis.names, lowpass=ready.lowpass)
            if any(info.rows):
                blocks.append(info)
    if not blocks:
        raise DataError("nothing is left to fit", where=recordings[0].trajectory.name,
                        cure=f"an interval must be longer than {2 * TRIM:g} s")  # fmt: skip
    return blocks


def _folds(blocks: Sequence[SquareRootInformation]) -> list[SquareRootInformation]:
    """Neighbouring stretches merged to FOLDS groups."""
    edges = np.linspace(0, len(blocks), min(FOLDS, len(blocks)) + 1).astype(int)
    return [_merged(blocks[a:b]) for a, b in pairwise(edges.tolist())]


def _merged(blocks: Sequence[SquareRootInformation]) -> SquareRootInformation:
    total = blocks[0]
    for block in blocks[1:]:
        total = total.merge(block)
    return total


def _fit(model: Model, info: SquareRootInformation, estimator: str, basis: ParameterBasis) -> Estimate:
    if estimator == "weighted":
        return weighted(info, basis=basis)
    if estimator == "ordinary":
        return ordinary(info, basis=basis)
    bound = [column.name for column in model.columns if column.nonnegative]
    return with_prior(info, physical_prior(model, info), basis=basis, nonnegative=bound)


def _described(estimate: Estimate, trials: Sequence[Trial], structure: str) -> Estimate:
    """Say which friction was chosen, and what came second."""
    if not trials:
        return estimate
    ranked = ", ".join(f"{t.name} {100 * t.error:.2f} %" for t in trials)
    chosen = STRUCTURES[structure].words
    return estimate.noting(
        Finding("fit.friction_chosen", "info", f"friction: {chosen}; held-out error of each structure: {ranked}")
    )


def _trimmed(trajectory: Trajectory, interval: tuple[float, float] | None) -> tuple[float, float]:
    first, last = float(trajectory.time[0]), float(trajectory.time[-1])
    low, high = interval or (first, last)
    low, high = max(low, first) + TRIM, min(high, last) - TRIM
    if not ((trajectory.time >= low) & (trajectory.time <= high)).any():
        raise DataError(
            "the interval holds no samples", where=trajectory.name, value=f"{low - TRIM:g}:{high + TRIM:g} s",
            cure=f"the recording runs from {first:g} to {last:g} s, and {TRIM:g} s is taken off both ends",
        )  # fmt: skip
    return low, high


def _stretch(ready: Prepared, start: float, stop: float, *, last: bool) -> Trajectory:
    """The samples of [start, stop) (with stop, when `last`) and as many around them as the filter needs to settle."""
    trajectory = ready.trajectory
    margin = ready.lowpass.settling(trajectory.step) + ready.lowpass.keep_every
    inside = (trajectory.time >= start) & ((trajectory.time <= stop) if last else (trajectory.time < stop))
    used = np.flatnonzero(inside)
    low = max(0, int(used[0]) - margin) if used.size else 0
    # windows keep every k-th sample counted from their first: begin all blocks on the same count
    low -= low % ready.lowpass.keep_every
    high = min(len(trajectory), int(used[-1]) + 1 + margin) if used.size else 1
    valid = np.repeat(inside[:, None], len(trajectory.joint_names), axis=1)
    valid = valid if trajectory.valid is None else valid & trajectory.valid
    return replace(trajectory, valid=valid).samples(low, high)
