"""What a report shows, put together from the files of a session; nothing is fitted again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.credibility import Credibility, credibility
from steelyard.assess.judgement import Judgement, judge
from steelyard.assess.quality import Quality, quality
from steelyard.basis import ParameterBasis
from steelyard.data.excerpt import excerpt
from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import Trajectory
from steelyard.errors import SessionError
from steelyard.estimate.identify import carried_offsets
from steelyard.estimate.predict import predict
from steelyard.estimate.result import Estimate
from steelyard.estimate.training import DEAD_BAND, TRIM, worth_fitting
from steelyard.formats.csv import read_csv
from steelyard.formats.study import read_study
from steelyard.formats.study_schema import Study
from steelyard.model import Model
from steelyard.preparation.align import is_uniform, resample
from steelyard.session.delays import delay_of, without_delay
from steelyard.session.layout import processed_path
from steelyard.session.opening import Session
from steelyard.session.result_file import estimate_from_result
from steelyard.session.run import cut_to, read_recordings, robot_for
from steelyard.session.schema import PreparationEntry, RecordingEntry, ResultFile, ValidationEntry
from steelyard.session.workflow import own_terms
from steelyard.terms.names import terms_named

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Training:
    """One training recording.

    Attributes:
        entry: what session.json says of it.
        recorded: q and tau on a uniform clock, not filtered.
        processed: q, dq, ddq, tau as fitted; None where the session has no processed file.
        interval: part that was fitted [s].
    """

    entry: RecordingEntry
    recorded: Trajectory
    processed: Trajectory | None
    interval: tuple[float, float]

    @property
    def preparation(self) -> PreparationEntry | None:
        """How it was filtered and differentiated."""
        return self.entry.preparation


@dataclass(frozen=True)
class Gathered:
    """A result, and what belongs beside it.

    Attributes:
        session, result: as opened.
        model: robot and terms of the result.
        theta: (p,) values of the model's columns.
        training: the recordings that were fitted.
        judgement: of the worst unseen motion, or of the first training motion where nothing was unseen.
        validation: its errors in the result; None where nothing was unseen.
        quality: classes by joint, of that motion.
        old_torque: (T, n) torque that the model file alone predicts for it [N m or N].
        estimate: the base parameters with the information of the training data; None without processed files.
        credibility: new model against the model file.
        reproduced: whether the errors of this page are those of the result.
    """

    session: Session
    result: ResultFile
    model: Model
    theta: Array
    training: tuple[Training, ...]
    judgement: Judgement
    validation: ValidationEntry | None
    quality: Quality
    old_torque: Array
    estimate: Estimate | None
    credibility: Credibility
    reproduced: bool

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of each joint's torque."""
        return tuple("N" if prismatic else "N m" for prismatic in self.model.robot.prismatic)

    @property
    def identified(self) -> str:
        """When the result was found, as the ledger has it (UTC)."""
        times = [event.time for event in self.session.events if event.event == "identified"]
        return times[-1] if times else self.session.manifest.created


REPRODUCED = 0.05  # relative difference between an error in the result and the one found again


def gather(session: Session, *, terms: Sequence[str] = ()) -> Gathered:
    """Read a session's files again and judge its result.

    Args:
        session: with a result.
        terms: names of the result's terms, to be given when one of them is code of one's own.

    Raises:
        SessionError: no result; a term that is foreign code and was not named; files that do not fit the result.
    """
    result = session.result
    if result is None:
        raise SessionError(
            "the session has no result yet",
            where=str(session.directory),
            cure=f"steelyard identify {session.directory}",
        )
    study = Study() if session.study is None else read_study(session.study)
    worst = max(result.validation, key=lambda v: np.inf if v.relative_error is None else v.relative_error, default=None)
    delay = delay_of(result)
    training = _read(session, "train", study, delay)
    unseen = {entry.name: t for entry, t in _read(session, "validation", study, delay)}
    robot = robot_for(session.model, study, [*(t for _, t in training), *unseen.values()])
    model = Model(robot, terms_named(own_terms(result.terms, given=terms)))
    theta = estimate_from_result(result).full(model.names)
    inputs = {entry.path: entry.interval_s for entry in result.inputs}
    trained = tuple(
        Training(entry, _uniform(t, model), _processed(session, entry, model), inputs[entry.path])
        for entry, t in training
        if entry.path in inputs
    )
    interval = worst.interval_s if worst is not None else trained[0].interval
    subject = unseen[worst.file] if worst is not None else excerpt(cut_to(training[0][1], interval))
    cutoff = worst.cutoff_hz if worst is not None else session.manifest.cutoff_hz
    if cutoff is None:
        raise SessionError("the session does not say its cut-off", where=str(session.directory))
    fitted = {entry.sha256 for entry in result.inputs}
    carried = carried_offsets(model.names, theta, None if subject.source in fitted else len(fitted))
    subject = subject.ordered(robot.joint_names)
    judgement = judge(model, carried, subject, predict(model, carried, subject, cutoff=cutoff), interval=interval)
    estimate = _estimate(model, result, trained, study)
    return Gathered(
        session=session,
        result=result,
        model=model,
        theta=carried,
        training=trained,
        judgement=judgement,
        validation=worst,
        quality=_quality(judgement, worst),
        old_torque=_beside(judgement, model, subject, cutoff),
        estimate=estimate,
        credibility=credibility(model, theta, model.nominal),
        reproduced=_reproduced(judgement, worst),
    )


def _read(session: Session, role: str, study: Study, delay: float) -> list[tuple[RecordingEntry, Trajectory]]:
    listed = session.recordings("train" if role == "train" else "validation")
    read = without_delay(read_recordings([path for _, path in listed], study, to_fit=role == "train"), delay)
    return [(entry, replace(recorded, name=entry.name)) for (entry, _), recorded in zip(listed, read, strict=True)]


def _uniform(recorded: Trajectory, model: Model) -> Trajectory:
    ordered = recorded.ordered(model.robot.joint_names)
    return ordered if is_uniform(ordered) else resample(ordered)


def _processed(session: Session, entry: RecordingEntry, model: Model) -> Trajectory | None:
    inside = processed_path(session.manifest, entry.name)
    if inside not in session.digests:
        return None
    return read_csv(session.path(inside)).ordered(model.robot.joint_names)


def _beside(judgement: Judgement, model: Model, recording: Trajectory, cutoff: float) -> Array:
    """(T, n) torque of the model file alone at the samples of the comparison."""
    old = predict(model, model.nominal, recording, cutoff=cutoff)
    at = judgement.comparison.motion.time
    return np.column_stack([np.interp(at, old.time, column) for column in old.torque.T])


def _quality(judgement: Judgement, worst: ValidationEntry | None) -> Quality:
    joints = judgement.comparison.motion.joint_names
    if worst is None:
        errors = judgement.comparison.relative_error
        whole = judgement.comparison
        size = float(np.linalg.norm(whole.filtered))
        return quality(
            float(np.linalg.norm(whole.residual)) / size if size > 0.0 else np.inf,
            dict(zip(joints, map(float, errors), strict=True)),
        )
    known: Mapping[str, float | None] = worst.relative_error_per_joint
    return quality(_number(worst.relative_error), {joint: _number(known[joint]) for joint in joints})


def _number(value: float | None) -> float:
    return float("inf") if value is None else value


def _reproduced(judgement: Judgement, worst: ValidationEntry | None) -> bool:
    if worst is None or worst.relative_error is None:
        return True
    found = float(np.linalg.norm(judgement.comparison.residual) / np.linalg.norm(judgement.comparison.filtered))
    return abs(found - worst.relative_error) <= REPRODUCED * worst.relative_error


def _estimate(model: Model, result: ResultFile, training: Sequence[Training], study: Study) -> Estimate | None:
    """The base parameters with the information that the training data hold of them, as they were fitted."""
    values = {entry.name: entry.value for entry in result.parameters}
    names = result.base.names
    if not training or any(name not in values for name in names):
        return None
    info = None
    for part in training:
        if part.processed is None or part.preparation is None:
            return None
        lowpass = LowPass(part.preparation.cutoff_hz, part.preparation.keep_every)
        fitted = _fitted(part.processed, part.interval, study, lowpass.cutoff)
        own = model.absorb([fitted], names=names, lowpass=lowpass)
        info = own if info is None else info.merge(own)
    if info is None or not any(info.rows):
        return None
    noise = np.array([_number(result.diagnostics.noise_per_joint[joint]) for joint in info.joints])
    noise = np.where(np.isfinite(noise) & (noise > 0.0), noise, 1.0)
    matrix = np.array(result.base.map.matrix, dtype=np.float64)
    return Estimate(
        names=names,
        theta=np.array([values[name] for name in names]),
        basis=ParameterBasis(names, result.base.map.columns, matrix, 0.0, (0.0, 0.0)),
        information=info,
        weights=1.0 / noise**2,
        noise=noise,
        correlation_time=np.ones(len(noise)),
        estimator=result.estimator,
    )


def _fitted(processed: Trajectory, interval: tuple[float, float], study: Study, cutoff: float) -> Trajectory:
    """The rows that were fitted; those around them stay, for the filter to settle."""
    low = max(interval[0], float(processed.time[0])) + TRIM
    high = min(interval[1], float(processed.time[-1])) - TRIM
    inside = (processed.time >= low) & (processed.time <= high)
    dead_band = DEAD_BAND if study.prepare.dead_band == "auto" else study.prepare.dead_band
    moving = worth_fitting(processed, dead_band, study.prepare.exclude, cutoff)
    valid = np.repeat(inside[:, None], len(processed.joint_names), axis=1)
    return replace(moving, valid=valid if moving.valid is None else valid & moving.valid)
