"""A payload from files: read, check, weigh; nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.units import unit_findings
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.estimate.held_poses import HeldPoses, held_poses
from steelyard.estimate.identify import identify
from steelyard.estimate.payload import Payload
from steelyard.estimate.payload_of_runs import Preparing, payload_of_runs
from steelyard.estimate.static_payload import static_payload
from steelyard.estimate.training import DEAD_BAND, Recording
from steelyard.finding import Finding
from steelyard.formats.study import read_study
from steelyard.formats.study_schema import Study
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.robot.tool import frame
from steelyard.session.bare_robot import BareRobot, bare_robot
from steelyard.session.delays import delay_to_take_out, without_delay
from steelyard.session.run import plausible, read_recordings, robot_for
from steelyard.terms.names import terms_named

Array = NDArray[np.float64]
Say = Callable[[str], None]
# whether loaded and unloaded runs, a result, and poses are given
WAYS = (
    (True, True, False, False),
    (True, False, True, False),
    (False, False, False, True),
    (False, True, False, True),
    (False, False, True, True),
)


@dataclass(frozen=True)
class Weighing:
    """What to weigh, from which files; None leaves the choice to the study file or the default.

    Attributes:
        robot: model file; None for that of the result.
        loaded, unloaded: recordings of motion with and without the payload; unloaded also of poses.
        poses: recording or list of poses held still with the payload.
        result: directory of an identified bare robot.
        study: study file (TOML); None for that of the result, where there is one.
        link: in whose frame the payload is expressed; None for the flange.
        gravity: in the base frame [m/s2], instead of the study's.
        terms: names of the terms.
        gain_uncertainty: of the torque scale, a fraction; None where it was not stated.
    """

    robot: Path | None = None
    loaded: tuple[Path, ...] = ()
    unloaded: tuple[Path, ...] = ()
    poses: Path | None = None
    result: Path | None = None
    study: Path | None = None
    link: str | None = None
    gravity: tuple[float, float, float] | None = None
    terms: tuple[str, ...] = ()
    gain_uncertainty: float | None = None


@dataclass(frozen=True)
class Weighed:
    """What came of it.

    Attributes:
        payload: with the findings of model and recordings.
        robot: without the payload, joints that the recordings lack locked.
        inputs: the recordings, with their digests.
        against: what the payload is the difference to, in words.
    """

    payload: Payload
    robot: Robot
    inputs: tuple[Trajectory, ...]
    against: str


def weigh(request: Weighing, *, say: Say = lambda message: None) -> Weighed:
    """Read the files and find the payload.

    Args:
        request: files and choices.
        say: called with a line before each stage.

    Raises:
        SteelyardError: an input that cannot be used, files that contradict each other, a payload of negative mass.
    """
    _check(request)
    bare = None if request.result is None else bare_robot(request.result, terms=request.terms)
    study = study_of(request, bare)
    uncertainty = _uncertainty(request, study)
    paths = (*request.loaded, *request.unloaded, *((request.poses,) if request.poses else ()))
    say(f"reading {len(paths)} recording(s)")
    recordings = read_recordings(paths, study)
    require_distinct(recordings)
    robot = robot_for(_model_file(request, bare), study, recordings)
    frame(robot, request.link)
    if bare is not None:
        bare.check(robot, request.robot, recordings)
    if request.poses is not None:
        payload, noted, against = _static(request, robot, recordings, bare, uncertainty)
    else:
        noted = plausible(recordings, robot)
        delay, told = delay_asked(study, recordings, robot) if bare is None else (bare.delay, [])
        noted += told
        say(f"weighing with {sum(map(len, recordings))} samples of {len(robot.joint_names)} joints")
        timed = without_delay(recordings, delay)
        payload, against = _dynamic(request, study, robot, timed, bare, uncertainty)
    for finding in payload.findings:
        if finding.level == "error":
            raise DataError(finding.message, where=finding.where, value=finding.value, cure=finding.cure)
    findings = (*robot.findings, *noted, *payload.findings)
    return Weighed(replace(payload, findings=findings), robot, recordings, against)


def _check(request: Weighing) -> None:
    """Refuse what no way of weighing is made of."""
    given = (bool(request.loaded), bool(request.unloaded), bool(request.result), bool(request.poses))
    if given not in WAYS:
        raise StudyError(
            "a payload is weighed in one of three ways",
            cure="--unloaded A.csv --loaded B.csv; or --result DIR --loaded B.csv; or --poses P.csv, alone against the "
            "model file, with --unloaded Q.csv against the same poses without payload, with --result DIR against that",
        )
    if request.robot is None and request.result is None:
        raise StudyError("payload needs --robot, or --result", cure="steelyard payload --help")
    if request.terms and request.poses is not None and request.result is None:
        raise StudyError("--term is without effect on poses: friction at rest is fitted as stiction",
                         value=request.terms[0], cure="leave it out")  # fmt: skip
    if request.gravity is not None and request.result is not None:
        raise StudyError("--gravity and --result exclude each other: the result has its own")


def study_of(request: Weighing, bare: BareRobot | None = None) -> Study:
    """The study file asked for, else that of the result; with the gravity that was asked for."""
    path = request.study or (None if bare is None else bare.session.study)
    study = Study() if path is None else read_study(path)
    if request.gravity is None:
        return study
    return study.model_copy(
        update={"robot": study.robot.model_copy(update={"gravity": request.gravity, "mount": None})}
    )


def require_distinct(recordings: Sequence[Trajectory]) -> None:
    """Raise DataError for a recording that is given twice, as loaded and unloaded or under two names."""
    names: dict[str, str] = {}
    for trajectory in recordings:
        if trajectory.source in names:
            raise DataError(
                "a recording is given twice, and the same samples would be counted twice", where=trajectory.name,
                value=names[trajectory.source], cure="name each recording once; loaded and unloaded are two recordings",
            )  # fmt: skip
        names[trajectory.source] = trajectory.name


def _uncertainty(request: Weighing, study: Study) -> float:
    if request.gain_uncertainty is None and study.drive.torque_constant:
        raise StudyError(
            "the torques are currents times constants, and such a scale is easily a tenth off: how sure is it?",
            where="[drive.torque_constant]",
            cure="--gain-uncertainty 0.1 for constants of a catalogue, less for constants found with a known part "
            "(--known-mass)",
        )
    return request.gain_uncertainty or 0.0


def _model_file(request: Weighing, bare: BareRobot | None) -> Path:
    return request.robot or (bare.session.model if bare is not None else Path())


def _dynamic(
    request: Weighing,
    study: Study,
    robot: Robot,
    recordings: Sequence[Trajectory],
    bare: BareRobot | None,
    uncertainty: float,
) -> tuple[Payload, str]:
    runs = [Recording(trajectory) for trajectory in recordings]
    loaded, unloaded = runs[: len(request.loaded)], runs[len(request.loaded) :]
    if bare is not None:
        model = Model(robot, bare.terms)
        payload = payload_of_runs(
            model, loaded, theta=bare.theta(model), doubt=bare.doubt(robot)[1], link=request.link,
            how=preparing(study), gain_uncertainty=uncertainty,
        )  # fmt: skip
        return payload, f"the robot identified in {request.result}"
    model = model_for(request, study, robot, unloaded)
    payload = payload_of_runs(
        model, loaded, unloaded=unloaded, link=request.link, how=preparing(study), gain_uncertainty=uncertainty
    )
    return payload, f"the unloaded run {', '.join(run.trajectory.name for run in unloaded)}"


def preparing(study: Study) -> Preparing:
    """What a study file says of preparation; raises StudyError for what is said of one recording only."""
    asked = study.prepare
    if asked.exclude:
        raise StudyError("intervals to leave out belong to one recording, and here are several",
                         where="[prepare] exclude", cure="cut them out of the recordings")  # fmt: skip
    return Preparing(
        cutoff=None if asked.cutoff_hz == "auto" else asked.cutoff_hz,
        use_recorded_dq=None if asked.use_recorded_dq == "auto" else asked.use_recorded_dq,
        decimate_by=None if asked.decimate == "auto" else asked.decimate,
        dead_band=DEAD_BAND if asked.dead_band == "auto" else asked.dead_band,
    )


def delay_asked(study: Study, recordings: Sequence[Trajectory], robot: Robot) -> tuple[float, list[Finding]]:
    """The delay [s] of the torque that the study file speaks of, and what to say of it."""
    return delay_to_take_out(study.prepare.delay_s, recordings, robot)


def model_for(request: Weighing, study: Study, robot: Robot, unloaded: Sequence[Recording]) -> Model:
    """Robot and terms: those asked for, else the friction that the unloaded runs prefer."""
    names = request.terms or study.terms.names
    return Model(robot, terms_named(names)) if names else identify(robot, unloaded).model


def _static(
    request: Weighing,
    robot: Robot,
    recordings: Sequence[Trajectory],
    bare: BareRobot | None,
    uncertainty: float,
) -> tuple[Payload, list[Finding], str]:
    noted = [finding for t in recordings for finding in _usable(t, robot)]
    *unloaded, poses = [held_poses(t) for t in recordings]
    noted += [finding for held in (poses, *unloaded) for finding in held.findings]
    terms = terms_named(("rigid_body", "offset")) if bare is None else bare.terms
    model = Model(robot, terms)
    payload = static_payload(
        model,
        poses.trajectory,
        theta=None if bare is None else bare.theta(model),
        doubt=None if bare is None else _spread(model.names, *bare.doubt(robot)),
        unloaded=_joined(unloaded) if unloaded else None,
        link=request.link,
        gain_uncertainty=uncertainty,
        same_scale=bare is not None,
    )
    if unloaded:
        return payload, noted, f"the same poses without payload, {recordings[0].name}"
    if bare is not None:
        return payload, noted, f"the robot identified in {request.result}"
    noted.append(
        Finding(
            "payload.body_from_file",
            "warning",
            "the weight of the arm itself is that of the model file, and what is wrong there counts as payload",
            where=robot.name,
            cure="give the same poses without payload (--unloaded), or an identified robot (--result)",
        )
    )
    return payload, noted, "the model file"


def _spread(columns: Sequence[str], names: Sequence[str], covariance: Array) -> Array:
    """(p, p) covariance of all columns from that of some of them."""
    wide = np.zeros((len(columns), len(columns)))
    at = [columns.index(name) for name in names]
    wide[np.ix_(at, at)] = covariance
    return wide


def _usable(trajectory: Trajectory, robot: Robot) -> list[Finding]:
    """What the numbers of poses say of their units; an error is a reason not to weigh at all."""
    found = unit_findings(trajectory, robot)
    for finding in found:
        if finding.level == "error":
            where = dict.fromkeys((trajectory.name, finding.where))
            raise DataError(finding.message, where=", ".join(where), value=finding.value, cure=finding.cure)
    return found


def _joined(visits: Sequence[HeldPoses]) -> Trajectory:
    if len(visits) > 1:
        raise StudyError("one file of poses without payload", value=len(visits), cure="put the poses into one file")
    return visits[0].trajectory
