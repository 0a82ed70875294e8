"""What goes into a session, as values: the recordings and what is known of them, the model, and what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import SessionError
from steelyard.session.layout import MODEL, STUDY, recording_path
from steelyard.session.schema import PreparationEntry, ResultFile, Role, SessionFile, Side
from steelyard.session.strict_json import validated

if TYPE_CHECKING:
    from steelyard.preparation.pipeline import Prepared  # the kernels behind it take their time to load

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RecordingFile:
    """A recording to be copied into a session.

    Attributes:
        path: the file.
        role: ``train`` or ``validation``.
        sha256: of the file as it was read.
        samples, start, stop, step: number of samples, first and last stamp, median step [s] (nan for one sample).
        gaps: last stamp before and first one after each gap [s].
        rejected: number of samples left out of the fit.
        name: of the file in messages; that of `path` when empty.
    """

    path: Path
    role: Role
    sha256: str
    samples: int
    start: float
    stop: float
    step: float
    gaps: tuple[tuple[float, float], ...] = ()
    rejected: int = 0
    name: str = ""

    @classmethod
    def of(cls, path: str | Path, recorded: Trajectory, role: Role, *, rejected: int = 0) -> RecordingFile:
        """From the trajectory that was read from the file, before any preparation."""
        time = recorded.time
        return cls(
            path=Path(path),
            role=role,
            sha256=recorded.source,
            samples=len(recorded),
            start=float(time[0]),
            stop=float(time[-1]),
            step=recorded.step,
            gaps=tuple((float(time[b - 1]), float(time[b])) for b in recorded.breaks if 0 < b < len(recorded)),
            rejected=rejected,
        )


@dataclass(frozen=True)
class SessionContents:
    """All that a session is made of before anything was identified.

    Attributes:
        recordings: training and validation files, in the order given.
        model_path, model_sha256: the robot description and its digest when it was read (`Robot.digest`).
        joint_names: joints that moved, in the order of the model.
        gravity: (3,) in the base frame [m/s2].
        created: UTC, e.g. 2026-09-03T08:15:00Z.
        software_version: of this package.
        torque_source, torque_side: what the torque is, and where it was taken.
        mount, tool: notes, or None.
        locked: joints held still and where [rad or m].
        mimic: whether joints that follow another were held still, or moved with it.
        study_path, study_sha256: the study file and its digest, or None.
    """

    recordings: Sequence[RecordingFile]
    model_path: Path
    model_sha256: str
    joint_names: Sequence[str]
    gravity: Sequence[float]
    created: str
    software_version: str
    torque_source: str = "joint torque"
    torque_side: Side = "joint"
    mount: str | None = None
    tool: str | None = None
    locked: Mapping[str, float] = field(default_factory=dict)
    mimic: Literal["lock", "project"] = "lock"
    study_path: Path | None = None
    study_sha256: str | None = None


@dataclass(frozen=True)
class TorquePrediction:
    """Predicted torque over a validated interval: time (T,) [s], torque (T, n) [N m or N]."""

    time: Array
    joint_names: tuple[str, ...]
    torque: Array


@dataclass(frozen=True)
class Results:
    """What identification adds to a session; tables go by the `name` of the recording in session.json.

    Attributes:
        result: result.json.
        processed: of each training recording, as it was fitted.
        preparations: how each was made from the raw file.
        predictions: of each validation recording.
    """

    result: ResultFile
    processed: Mapping[str, Trajectory] = field(default_factory=dict)
    preparations: Mapping[str, PreparationEntry] = field(default_factory=dict)
    predictions: Mapping[str, TorquePrediction] = field(default_factory=dict)


def preparation(prepared: Prepared) -> PreparationEntry:
    """The choices of a preparation, for session.json."""
    fields = {
        "cutoff_hz": float(prepared.lowpass.cutoff),
        "cutoff_reason": prepared.cutoff.reason,
        "keep_every": int(prepared.lowpass.keep_every),
        "velocity": "recorded" if prepared.velocity.recorded else "position",
        "velocity_reason": prepared.velocity.reason,
        "steps": tuple(prepared.trajectory.steps),
    }
    return validated(PreparationEntry, fields, where=prepared.trajectory.name)


def session_file(contents: SessionContents) -> SessionFile:
    """session.json of `contents`: each recording with its name, its place and its sampling.

    The one training file is raw.csv and the one validation file validation.csv; several go into raw/ and validation/
    under their own names. Of files with one name the second gets -2, the third -3.

    Raises:
        SessionError: no training recording, a name or number that cannot stand there.
    """
    named = _named(contents.recordings)
    fields = {
        "created": contents.created,
        "software_version": contents.software_version,
        "joint_names": tuple(contents.joint_names),
        "torque_source": contents.torque_source,
        "torque_side": contents.torque_side,
        "gravity": tuple(float(g) for g in contents.gravity),
        "mount": contents.mount,
        "tool": contents.tool,
        "locked": {joint: float(position) for joint, position in contents.locked.items()},
        "mimic": contents.mimic,
        "model": {"path": f"{MODEL}/{_model_name(contents.model_path)}", "sha256": contents.model_sha256},
        "study": None if contents.study_path is None else {"path": STUDY, "sha256": contents.study_sha256},
        "recordings": tuple(_entry(r, name, _alone(contents, r.role)) for r, name in named),
    }
    return validated(SessionFile, fields, where="session.json")


def _alone(contents: SessionContents, role: Role) -> bool:
    return sum(r.role == role for r in contents.recordings) == 1


def _entry(recording: RecordingFile, name: str, alone: bool) -> dict[str, object]:
    return {
        "path": recording_path(recording.role, name, alone=alone),
        "name": name,
        "role": recording.role,
        "sha256": recording.sha256,
        "samples": recording.samples,
        "rejected_count": recording.rejected,
        "start_s": recording.start,
        "stop_s": recording.stop,
        "duration_s": recording.stop - recording.start,
        "median_step_s": recording.step if np.isfinite(recording.step) else None,
        "gaps": recording.gaps,
    }


def _named(recordings: Sequence[RecordingFile]) -> list[tuple[RecordingFile, str]]:
    """A name for each recording, its own among those of its role whatever the capital letters."""
    taken: set[tuple[str, str]] = set()
    named = []
    for recording in recordings:
        path = Path(recording.name) if recording.name else recording.path
        if not path.name.isprintable() or not path.stem or path.name.startswith("."):
            raise SessionError(
                "the file's name cannot stand in a session",
                where=str(recording.path),
                value=path.name,
                cure="rename the file: letters that can be printed, no dot in front",
            )
        stem, k = path.stem, 2
        while (recording.role, stem.casefold()) in taken:
            stem, k = f"{path.stem}-{k}", k + 1
        taken.add((recording.role, stem.casefold()))
        named.append((recording, f"{stem}.csv"))
    return named


def _model_name(path: Path) -> str:
    """A suffix keeps it apart from model/digest."""
    return path.name if path.suffix else f"{path.name}.urdf"
