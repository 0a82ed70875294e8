"""What the commands do between reading arguments and printing: requests, sessions, results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from steelyard.data.trajectory import Trajectory
from steelyard.errors import SessionError, StudyError
from steelyard.estimate.identify import carried_offsets
from steelyard.estimate.training import Recording
from steelyard.estimate.validate import Baselines, Validation, validate_recording
from steelyard.formats.study import read_study
from steelyard.formats.study_schema import Study
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.session.contents import (
    RecordingFile,
    Results,
    SessionContents,
    TorquePrediction,
    preparation,
    session_file,
)
from steelyard.session.delays import delay_of, without_delay
from steelyard.session.opening import Session, open_session
from steelyard.session.result_file import build_result, estimate_from_result, inputs_of, validation_entry
from steelyard.session.run import Interval, Request, Run, cut_to, plausible, read_recordings, robot_for, seen_before
from steelyard.session.schema import ResultFile, SessionFile, VerdictEntry, utc
from steelyard.session.store import add_files, add_results, create
from steelyard.terms.names import terms_named
from steelyard.version import __version__


def now() -> str:
    """The present moment as sessions write it."""
    return utc(datetime.now(UTC).replace(microsecond=0))


def request_of_session(directory: Path, changes: Request, *, force: bool = False) -> Request:
    """A request for the files of a session; all of `changes` but its files is kept.

    Raises:
        SessionError: the session is damaged, or has a result already and `force` does not say to replace it.
    """
    session = open_session(directory)
    if session.result is not None and not force:
        raise SessionError(
            "the session has a result, and a result is never changed",
            where=str(directory),
            cure="--force puts a new one in its place; or make a new session",
        )
    if session.study is not None and not changes.terms:
        own_terms(read_study(session.study).terms.names or (), given=())
    return replace(
        changes,
        model=session.model,
        train=tuple(path for _, path in session.recordings("train")),
        validate=tuple(path for _, path in session.recordings("validation")),
        study=session.study,
        names={path: entry.name for role in ("train", "validation") for entry, path in session.recordings(role)},
    )


def contents(
    request: Request, study: Study, robot: Robot, train: Sequence[Trajectory], unseen: Sequence[Trajectory]
) -> SessionContents:
    """What a session made of these files holds."""
    return SessionContents(
        recordings=[
            *(RecordingFile.of(p, t, "train") for p, t in zip(request.train, train, strict=True)),
            *(RecordingFile.of(p, t, "validation") for p, t in zip(request.validate, unseen, strict=True)),
        ],
        model_path=request.model,
        model_sha256=robot.digest,
        joint_names=robot.joint_names,
        gravity=[float(g) for g in robot.gravity],
        created=now(),
        software_version=__version__,
        torque_side=study.drive.torque_side,
        locked=dict(robot.locked_at),
        mimic=study.robot.mimic,
        study_path=request.study,
        study_sha256=None if request.study is None else sha256(request.study.read_bytes()).hexdigest(),
    )


def start(request: Request, directory: Path, *, force: bool) -> Session:
    """`steelyard init`: check the files and copy them into a new session.

    Raises:
        SteelyardError: a file that cannot be used, a directory that may not be replaced.
    """
    study = Study() if request.study is None else read_study(request.study)
    train = read_recordings(request.train, study, to_fit=True)
    unseen = read_recordings(request.validate, study)
    robot = robot_for(request.model, study, [*train, *unseen])
    return create(directory, contents(request, study, robot, train, unseen), force=force)


def manifest_of(run: Run, directory: Path | None) -> SessionFile:
    """session.json for a run: that of its session, or the one its files would make."""
    return open_session(directory).manifest if directory is not None else session_file(_contents(run))


def result_of(run: Run, manifest: SessionFile) -> ResultFile:
    """result.json of a run on the recordings of `manifest`."""
    names = [entry.name for entry in manifest.role("train")]
    interval = run.request.train_interval
    files = [entry.name for entry in manifest.role("validation")]
    own = len(run.identification.estimate.findings)
    return build_result(
        run.identification.estimate,
        run.identification.basis,
        run.identification.model.columns,
        model_digest=run.robot.digest,
        inputs=inputs_of(manifest, {} if interval is None else dict.fromkeys(names, interval)),
        terms=run.terms,
        verdict=VerdictEntry(
            feed_forward=run.feed_forward, gravity_compensation=run.gravity_compensation, sentence=run.sentence
        ),
        software_version=__version__,
        validation=[
            validation_entry(
                name,
                v.score,
                baseline_urdf=v.baseline_urdf,
                baseline_urdf_friction=v.baseline_urdf_friction,
                unconstrained=v.unconstrained,
            )
            for name, v in zip(files, run.validations, strict=True)
        ],
        findings=[f for f in run.findings if f not in run.identification.estimate.findings[:own]],
        mass_matrix_positive=run.mass_matrix_positive,
        consistent=run.identification.consistent,
    )


def save(run: Run, result: ResultFile, manifest: SessionFile, target: Path, *, added: bool, force: bool) -> Session:
    """Write what was found: into the session it came from (`added`), or as a new one.

    Raises:
        SessionError: a result that is there already, a directory that may not be replaced, a disk that refuses.
    """
    train = [entry.name for entry in manifest.role("train")]
    unseen = [entry.name for entry in manifest.role("validation")]
    prepared = run.identification.prepared
    results = Results(
        result=result,
        processed={name: p.trajectory for name, p in zip(train, prepared, strict=True)},
        preparations={name: preparation(p) for name, p in zip(train, prepared, strict=True)},
        predictions={name: prediction_of(v, run.delay) for name, v in zip(unseen, run.validations, strict=True)},
    )
    if added:
        return add_results(target, results, time=now(), software_version=__version__, force=force)
    return create(target, _contents(run), results=results, force=force)


def revalidate(
    directory: Path,
    files: Sequence[Path],
    *,
    interval: Interval | None,
    cutoff: float | None,
    terms: Sequence[str] = (),
) -> tuple[Session, list[Validation]]:
    """`steelyard validate`: score the result of a session on further recordings and keep the predictions.

    Raises:
        SteelyardError: a session without result, a recording that cannot be used.
    """
    session = open_session(directory)
    if session.result is None:
        raise SessionError(
            "the session has no result yet", where=str(directory), cure=f"steelyard identify {directory}"
        )
    study = Study() if session.study is None else read_study(session.study)
    delay = delay_of(session.result)
    recordings = without_delay(read_recordings(files, study), delay)
    robot = robot_for(session.model, study, recordings)
    if robot.joint_names != session.manifest.joint_names:
        raise SessionError(
            "the recordings have other joints than the session",
            where=files[0].name,
            value=", ".join(robot.joint_names),
            choices=session.manifest.joint_names,
        )
    model = Model(robot, terms_named(own_terms(session.result.terms, given=terms)))
    theta = estimate_from_result(session.result).full(model.names)
    used = session.manifest.cutoff_hz if cutoff is None else cutoff
    if used is None:
        raise StudyError("the session does not say its cut-off", cure="--score-cutoff")
    old = Baselines(model.nominal, None)
    fitted = [entry.sha256 for entry in session.manifest.role("train")]
    plausible(recordings, robot)
    done, parts = [], _fitted_parts(session, study)
    for r in recordings:
        carried = carried_offsets(model.names, theta, None if r.source in fitted else len(fitted))
        found = validate_recording(model, carried, Recording(r, interval), cutoff=used, baseline=old)
        done.append(replace(found, findings=(*found.findings, *seen_before(parts, Recording(r, interval)))))
    taken = {entry.name.casefold() for entry in session.manifest.recordings}
    kept: dict[str, bytes | TorquePrediction] = {}
    for v in done:
        stem, k = Path(v.name).stem, 2
        while f"{stem}.csv".casefold() in taken:
            stem, k = f"{Path(v.name).stem}-{k}", k + 1
        taken.add(f"{stem}.csv".casefold())
        kept[f"prediction/{stem}.csv"] = prediction_of(v, delay)
    add_files(
        directory,
        kept,
        event="validated",
        time=now(),
        software_version=__version__,
    )
    return session, done


def _fitted_parts(session: Session, study: Study) -> list[Trajectory]:
    """What the result of a session was fitted to, from its own copies."""
    spans = {entry.sha256: entry.interval_s for entry in (session.result.inputs if session.result else ())}
    entries = session.manifest.role("train")
    read = read_recordings([session.path(entry.path) for entry in entries], study, to_fit=True)
    return [cut_to(t, spans.get(entry.sha256)) for t, entry in zip(read, entries, strict=True)]


def own_terms(recorded: Sequence[str], *, given: Sequence[str]) -> tuple[str, ...]:
    """Names of a result's terms, which may be a stranger's file: code is imported only when the user names it again.

    Raises:
        SessionError: the result has a term of somebody's own, and it was not named.
    """
    if given:
        return tuple(given)
    foreign = [name for name in recorded if ":" in name]
    if foreign:
        raise SessionError(
            "the result uses a term that is code outside this package, which is not run on a file's say-so",
            where="result.json",
            value=foreign[0],
            cure=f"if you trust it: --term {' '.join(recorded)}",
        )
    return tuple(recorded)


def prediction_of(validation: Validation, delay: float) -> TorquePrediction:
    """The prediction over the validated interval, on the clock of the torque as recorded, `delay` [s] late."""
    low, high = validation.score.interval
    time = validation.prediction.time
    inside = (time >= low) & (time <= high)
    return TorquePrediction(time[inside] + delay, validation.score.joint_names, validation.prediction.torque[inside])


def _contents(run: Run) -> SessionContents:
    return contents(
        run.request,
        run.study,
        run.robot,
        [r.trajectory for r in run.recordings],
        [r.trajectory for r in run.unseen],
    )
