"""From recordings to an identified model: the whole of the main job as one function over values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis, base_parameters
from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.estimate.bootstrap import with_drawn_intervals
from steelyard.estimate.consistent_result import Consistent
from steelyard.estimate.doubted_links import doubt_findings
from steelyard.estimate.essential import essential
from steelyard.estimate.estimators import (
    FROM_ROWS,
    Trust,
    from_blocks,
    from_information,
    from_rows,
    known_estimator,
    trust_in,
)
from steelyard.estimate.friction_choice import SUPPLE, FrictionChoice, all_terms, choose_friction, terms_of
from steelyard.estimate.result import Estimate
from steelyard.estimate.shares import trust_finding
from steelyard.estimate.training import (
    DEAD_BAND,
    Recording,
    folds,
    merged,
    training_blocks,
    training_rows,
    worth_fitting,
)
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.preparation.pipeline import Prepared, prepare_recording
from steelyard.preparation.saturation import mask_saturated
from steelyard.robot.robot import Robot
from steelyard.terms.term import Term

Array = NDArray[np.float64]
LEAST_SAMPLES = 10
COMPARING = 4  # iterations of fit and noise for models that are only compared
SESSION_VARIANCE = 1.0 / 3.0  # of an offset between sessions, over its variance between robots


@dataclass(frozen=True)
class Identification:
    """An identified model and everything needed to use, judge and repeat it.

    Attributes:
        model: robot and terms.
        basis: its base parameters.
        estimate: their values and uncertainty.
        prepared: the training recordings as they were fitted.
        friction: the structures of friction that were compared and the one chosen; None when the terms were given.
        consistent: the full set that the estimate was made of; None for an unconstrained estimate.
    """

    model: Model
    basis: ParameterBasis
    estimate: Estimate
    prepared: tuple[Prepared, ...]
    friction: FrictionChoice | None = None
    consistent: Consistent | None = None

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
    cutoff: float | Mapping[str, float] | None = None,
    use_recorded_dq: bool | None = None,
    decimate_by: int | None = None,
    dead_band: float = DEAD_BAND,
    exclude: Sequence[tuple[float, float]] = (),
    draws: int = 0,
) -> Identification:
    """Prepare, absorb, choose the friction terms, estimate.

    Filters run over whole recordings, then the interval is cut and TRIM taken off its ends.

    Args:
        robot: with the joints of the recordings.
        recordings: at least one, with torque.
        terms: of the model; None to let the data choose the friction terms by blocked cross-validation.
        estimator: one of ESTIMATORS.
        cutoff, use_recorded_dq, decimate_by: as for `prepare_recording`.
        dead_band: rows of a joint slower than this [rad/s or m/s] are not fitted: friction has no direction there.
        exclude: (first, last) [s] of every recording that are not fitted, e.g. contact with the surroundings.
        draws: number of estimates of a block bootstrap to take deviations and intervals from; 0 for the covariance.

    Raises:
        DataError: no recording, no torque, or nothing left of an interval.
        StudyError: an unknown estimator.
    """
    if not recordings:
        raise DataError("there is no recording to fit", cure="name at least one training file")
    known_estimator(estimator)
    model = Model(robot, tuple(all_terms() if terms is None else terms))
    basis = base_parameters(model)
    prepared = tuple(
        prepare_recording(
            r.trajectory, robot, cutoff=cutoff, use_recorded_dq=use_recorded_dq, decimate_by=decimate_by, thin=True
        )
        for r in recordings
    )
    moving = [
        replace(p, trajectory=_used(p, r.trajectory, robot, dead_band, exclude))
        for p, r in zip(prepared, recordings, strict=True)
    ]
    blocks = training_blocks(model, basis, recordings, moving)
    friction = None
    if terms is not None:
        trust = trust_in(model, basis, blocks) if estimator == "prior" else None
    else:
        friction, trust = _chosen(robot, blocks, estimator, _fastest(recordings, moving))
        model = Model(robot, terms_of(friction.structure))
        basis = base_parameters(model)
        blocks = [block.select(basis.names) for block in blocks]
    samples = sum(block.samples for block in blocks)
    if samples < LEAST_SAMPLES:
        raise DataError(
            f"{samples} samples are left after the low-pass, {LEAST_SAMPLES} are the least",
            where=recordings[0].trajectory.name,
            cure="give a longer interval or recording",
        )
    if estimator in FROM_ROWS:
        rows = [training_rows(r, p) for r, p in zip(recordings, moving, strict=True)]
        estimate = from_rows(estimator, model, basis, rows, _common(prepared))
    else:
        estimate = from_blocks(estimator, model, basis, blocks, trust)
    estimate = estimate.noting(*essential(merged(blocks), basis=basis).findings[-1:])
    if draws:
        estimate = with_drawn_intervals(estimate, blocks, draws=draws)
    if trust is not None:
        estimate = estimate.noting(trust_finding(model, basis, estimate, trust.width), *doubt_findings(robot))
    if friction is not None:
        estimate = estimate.noting(friction.finding)
    return Identification(model, basis, estimate, prepared, friction)


def _chosen(
    robot: Robot, blocks: Sequence[SquareRootInformation], estimator: str, speeds: Array
) -> tuple[FrictionChoice, Trust | None]:
    """The friction that the data ask for, and what the default estimator trusts; speeds (n,) of the training."""
    supple = Model(robot, terms_of(SUPPLE))
    own = base_parameters(supple)
    trust = trust_in(supple, own, [block.select(own.names) for block in blocks])
    given = trust if estimator == "prior" else None
    friction = choose_friction(
        robot,
        folds(blocks),
        lambda part, model, basis: from_information(estimator, model, basis, part, given, iterations=COMPARING),
        time=trust.time,
        speeds=speeds,
    )
    return friction, given


def _fastest(recordings: Sequence[Recording], moving: Sequence[Prepared]) -> Array:
    """(n,) largest speed of each joint that is fitted [rad/s or m/s]; 0 where none is."""
    fastest = np.zeros(len(moving[0].trajectory.joint_names))
    for recording, ready in zip(recordings, moving, strict=True):
        rows = training_rows(recording, ready)
        speed = np.abs(rows.channel("dq"))
        fastest = np.maximum(fastest, (speed if rows.valid is None else np.where(rows.valid, speed, 0.0)).max(axis=0))
    return fastest


def _used(
    ready: Prepared, recorded: Trajectory, robot: Robot, dead_band: float, exclude: Sequence[tuple[float, float]]
) -> Trajectory:
    """The prepared recording with the rows that must not be fitted marked."""
    rows = worth_fitting(ready.trajectory, dead_band, exclude, ready.lowpass.cutoff)
    return mask_saturated(rows, recorded.ordered(robot.joint_names), robot, margin=1.0 / ready.lowpass.cutoff)


def _common(prepared: Sequence[Prepared]) -> LowPass:
    """One parallel filter for all recordings: the lowest cut-off, and no sample dropped that any of them keeps."""
    return LowPass(min(p.lowpass.cutoff for p in prepared), min(p.lowpass.keep_every for p in prepared))
