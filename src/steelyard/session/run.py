"""The main job over files: read, identify, validate; nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from steelyard.assess.extrapolation import extrapolation, extrapolation_findings
from steelyard.assess.judgement import judge, judgement_findings
from steelyard.assess.leakage import leakage, leakage_findings
from steelyard.assess.mass_matrix import least_eigenvalue
from steelyard.assess.plausible import plausibility, signal_findings
from steelyard.data.excerpt import excerpt
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.estimate.identify import Identification, identify
from steelyard.estimate.predict import predict
from steelyard.estimate.training import DEAD_BAND, Recording
from steelyard.estimate.validate import Validation, baselines, validate_recording, verdict
from steelyard.finding import Finding
from steelyard.formats.csv import iterate_csv, read_csv
from steelyard.formats.study import read_study
from steelyard.formats.study_schema import Study
from steelyard.preparation.condense import condense
from steelyard.preparation.mask import mask_intervals
from steelyard.robot.robot import Robot
from steelyard.session.delays import delay_to_take_out, without_delay
from steelyard.terms.names import names_of, terms_named

Interval = tuple[float, float]
POSES = 200  # training positions at which the mass matrix is looked at
LONG = 512 * 2**20  # bytes of a recording: two million rows of seven joints


@dataclass(frozen=True)
class Request:
    """What to identify, from which files, and how; None leaves the choice to the study file or the default.

    Attributes:
        model: URDF file.
        train, validate: recordings (CSV).
        train_interval, validate_interval: of every such file [s].
        score_cutoff: [Hz] of the torque that validation is scored against; None for the identified cut-off.
        study: study file (TOML).
        terms: names of the terms.
        estimator: one of ESTIMATORS.
        consistent: whether the parameters must be those of a robot that can exist.
        names: what messages call a file that was renamed when it went into a session.
    """

    model: Path
    train: tuple[Path, ...]
    validate: tuple[Path, ...] = ()
    train_interval: Interval | None = None
    validate_interval: Interval | None = None
    score_cutoff: float | None = None
    study: Path | None = None
    terms: tuple[str, ...] = ()
    estimator: str | None = None
    consistent: bool = False
    names: Mapping[Path, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """What came of a request.

    Attributes:
        request: as asked.
        terms: names of the terms used.
        study: as read.
        robot: with the joints that the recordings lack locked.
        recordings, unseen: the trajectories as recorded, with their intervals.
        identification, validations: the results.
        mass_matrix_positive: whether M(q) > 0 at the training positions.
        feed_forward, gravity_compensation, sentence: the verdict.
        findings: all of them, in order of the stages.
        delay: that was taken out of the torque of every run [s].
    """

    request: Request
    terms: tuple[str, ...]
    study: Study
    robot: Robot
    recordings: tuple[Recording, ...]
    unseen: tuple[Recording, ...]
    identification: Identification
    validations: tuple[Validation, ...]
    mass_matrix_positive: bool
    feed_forward: bool | None
    gravity_compensation: bool | None
    sentence: str
    findings: tuple[Finding, ...]
    delay: float = 0.0


def run(request: Request, *, say: Callable[[str], None] = lambda message: None) -> Run:
    """Read the files, identify, validate.

    Args:
        request: files and choices.
        say: called with a line before each stage.

    Raises:
        SteelyardError: an input that cannot be used.
    """
    study = Study() if request.study is None else read_study(request.study)
    say(f"reading {request.model} and {len(request.train) + len(request.validate)} recording(s)")
    train = _called(request, read_recordings(request.train, study, to_fit=True), request.train)
    unseen = _called(request, read_recordings(request.validate, study), request.validate)
    robot = robot_for(request.model, study, [*train, *unseen])
    noted = plausible([*train, *unseen], robot)
    noted += _heard(train, unseen, robot, request, study)
    delay, told = delay_to_take_out(study.prepare.delay_s, train, robot)
    train, unseen = without_delay(train, delay), without_delay(unseen, delay)
    names = request.terms or study.terms.names
    recordings = tuple(Recording(t, request.train_interval) for t in train)
    say(f"fitting {sum(map(len, train))} samples of {len(robot.joint_names)} joints")
    identification = free = identified(robot, recordings, study, names, _estimator(request, study))
    if request.consistent or study.estimate.consistent:
        from steelyard.estimate.consistent_identification import consistent_identification  # its solvers load slowly

        say("looking for the nearest parameters that a robot could have")
        identification = consistent_identification(free)
    model = identification.model
    say(f"validating on {len(unseen)} recording(s)")
    validations = _validated(identification, free, unseen, request, train)
    poses = identification.prepared[0].trajectory.channel("q")
    full = identification.estimate.full(model.names)
    positive = least_eigenvalue(model, full, poses[:: max(1, len(poses) // POSES)]) > 0.0
    forward, gravity, sentence = verdict(validations)
    return Run(
        request=request,
        terms=names_of(model.terms) if not names else tuple(names),
        study=study,
        robot=robot,
        recordings=recordings,
        unseen=tuple(Recording(t, request.validate_interval) for t in unseen),
        identification=identification,
        validations=validations,
        mass_matrix_positive=positive,
        feed_forward=forward,
        gravity_compensation=gravity,
        sentence=sentence,
        findings=(
            *robot.findings,
            *noted,
            *told,
            *identification.estimate.findings,
            *(finding for validation in validations for finding in validation.findings),
            *_judged(identification, recordings, unseen, validations),
        ),
        delay=delay,
    )


def _called(request: Request, recordings: Sequence[Trajectory], paths: Sequence[Path]) -> tuple[Trajectory, ...]:
    """The recordings under the names that their owner knows."""
    return tuple(replace(t, name=request.names.get(path, t.name)) for t, path in zip(recordings, paths, strict=True))


def plausible(recordings: Sequence[Trajectory], robot: Robot) -> list[Finding]:
    """What the quick check says of every recording; an error is a reason not to fit at all.

    Raises:
        DataError: positions in another unit, torque that is zero, turned or of another joint.
    """
    noted: dict[Finding, None] = {}
    for trajectory in {t.source: t for t in recordings}.values():
        trajectory.ordered(robot.joint_names).channel("tau")
        for finding in plausibility(trajectory, robot):
            if finding.level == "error":
                raise DataError(
                    finding.message,
                    where=f"{trajectory.name}, {finding.where}"
                    if finding.where != trajectory.name
                    else trajectory.name,
                    value=finding.value,
                    cure=finding.cure,
                )
            noted[finding] = None
    return list(noted)


def _heard(
    train: Sequence[Trajectory], unseen: Sequence[Trajectory], robot: Robot, request: Request, study: Study
) -> list[Finding]:
    """What clock and positions say of the parts that are used."""
    noted: dict[Finding, None] = {}
    for trajectory in train:
        used = mask_intervals(cut_to(trajectory, request.train_interval), study.prepare.exclude)
        noted |= dict.fromkeys(signal_findings(used, robot))
    for trajectory in unseen:
        noted |= dict.fromkeys(signal_findings(cut_to(trajectory, request.validate_interval), robot))
    return list(noted)


def _estimator(request: Request, study: Study) -> str:
    """The flag, else the study's name, else what the study says of a prior; the prior by default.

    Raises:
        StudyError: one is named beside stages.
    """
    named = request.estimator or study.estimate.name
    if study.stages and (named or study.estimate.prior is not None or study.estimate.bootstrap is not None):
        raise StudyError("stages have an estimator of their own", where="[stages]", value=named or "[estimate]",
                         cure="leave out the estimator, prior and bootstrap")  # fmt: skip
    return named or ("weighted" if study.estimate.prior is False else "prior")


def identified(
    robot: Robot, recordings: Sequence[Recording], study: Study, names: Sequence[str] | None, estimator: str
) -> Identification:
    """Identification with what the study file says of preparation and stages."""
    if study.stages:
        from steelyard.session.campaign import campaign

        return campaign(robot, recordings, study, names)
    asked = study.prepare
    return identify(
        robot,
        recordings,
        terms=None if not names else terms_named(names),
        estimator=estimator,
        cutoff=None if asked.cutoff_hz == "auto" else asked.cutoff_hz,
        use_recorded_dq=None if asked.use_recorded_dq == "auto" else asked.use_recorded_dq,
        decimate_by=None if asked.decimate == "auto" else asked.decimate,
        dead_band=DEAD_BAND if asked.dead_band == "auto" else asked.dead_band,
        exclude=asked.exclude,
        draws=study.estimate.bootstrap or 0,
    )


def _validated(
    identification: Identification,
    free: Identification,
    unseen: Sequence[Trajectory],
    request: Request,
    train: Sequence[Trajectory],
) -> tuple[Validation, ...]:
    """Every unseen recording, beside what other models reach, and how much of it was seen after all."""
    model = identification.model
    old = baselines(model, identification.basis, identification.estimate.information)
    cutoff = identification.cutoff if request.score_cutoff is None else request.score_cutoff
    fitted = [cut_to(t, request.train_interval) for t in train]
    done = []
    for t in unseen:
        recording = Recording(t, request.validate_interval)
        others = old if identification is free else replace(old, unconstrained=free.theta_for(t))
        found = validate_recording(model, identification.theta_for(t), recording, cutoff=cutoff, baseline=others)
        done.append(replace(found, findings=(*found.findings, *seen_before(fitted, recording))))
    return tuple(done)


def seen_before(fitted: Sequence[Trajectory], unseen: Recording) -> tuple[Finding, ...]:
    """How much of a validation motion was fitted after all, and where it leaves what was."""
    part = cut_to(unseen.trajectory, unseen.interval)
    return (
        *leakage_findings(leakage(fitted, part), part.name),
        *extrapolation_findings(extrapolation(fitted, part), part.name),
    )


def cut_to(trajectory: Trajectory, interval: Interval | None) -> Trajectory:
    """The part of a recording inside an interval [s]; all of it for None."""
    return trajectory if interval is None else trajectory.interval(*interval)


def _judged(
    identification: Identification,
    recordings: Sequence[Recording],
    unseen: Sequence[Trajectory],
    validations: Sequence[Validation],
) -> tuple[Finding, ...]:
    """What the residuals of the unseen motions say; where there is none, those of the motions that were fitted."""
    model = identification.model
    theta = identification.estimate.full(model.names)
    judgements = [
        judge(model, identification.theta_for(t), t, v.prediction, interval=v.score.interval)
        for t, v in zip((t.ordered(model.robot.joint_names) for t in unseen), validations, strict=True)
    ]
    for r in () if validations else recordings:
        part = excerpt(cut_to(r.trajectory, r.interval))
        own = predict(model, theta, part, cutoff=identification.cutoff)
        judgements.append(judge(model, theta, part, own))
    return judgement_findings(judgements, model, theta, known=identification.estimate.findings)


def read_recordings(paths: Sequence[Path], study: Study, *, to_fit: bool = False) -> tuple[Trajectory, ...]:
    """Recordings with torque, in the order given.

    Args:
        paths: the files.
        study: what their columns mean.
        to_fit: thin files of LONG bytes and more while they are read, since a fit has no use for all of their samples.

    Raises:
        DataError: a file that breaks the contract, or that has no torque.
    """
    read = tuple(
        condense(iterate_csv(path, study=study)) if to_fit and _size(path) >= LONG else read_csv(path, study=study)
        for path in paths
    )
    for trajectory in read:
        trajectory.channel("tau")
    return read


def _size(path: Path) -> int:
    """Bytes of a file; 0 where there is none, which its reader will say."""
    return path.stat().st_size if path.is_file() else 0


def robot_for(path: Path, study: Study, recordings: Sequence[Trajectory]) -> Robot:
    """The robot of a model file under a study's gravity, with the joints that the recordings lack held at neutral.

    Raises:
        ModelError, DataError: joints of file and recordings that do not fit.
    """
    robot = Robot.from_file(path, gravity=study.robot.gravity_in_base(), mimic=study.robot.mimic)
    robot = robot.locked(study.robot.locked)
    for trajectory in recordings:
        if set(trajectory.joint_names) != set(recordings[0].joint_names):
            odd = sorted(set(trajectory.joint_names) ^ set(recordings[0].joint_names))
            raise DataError(
                "the recordings have different joints", where=f"{recordings[0].name}, {trajectory.name}", value=odd,
                cure="record the same joints in every run",
            )  # fmt: skip
    return robot.for_joints(recordings[0].joint_names, where=recordings[0].name) if recordings else robot
