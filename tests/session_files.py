"""A small session for tests: two joints, recordings of a few samples, an estimate made by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from steelyard.assess.validation import Score
from steelyard.basis import ParameterBasis
from steelyard.data.trajectory import Trajectory
from steelyard.estimate.least_squares import weighted
from steelyard.finding import Finding
from steelyard.formats.csv import read_csv
from steelyard.formats.csv_write import write_csv
from steelyard.information import SquareRootInformation, triangle
from steelyard.session.contents import RecordingFile, Results, SessionContents, TorquePrediction, session_file
from steelyard.session.disk import file_digest
from steelyard.session.result_file import build_result, inputs_of, validation_entry
from steelyard.session.schema import VerdictEntry
from steelyard.terms.term import Column

JOINTS = ("shoulder", "肘")
COLUMNS = (
    Column("link/arm/mass", "kg", (0,)),
    Column("link/arm/first_moment_x", "kg m", (0,)),
    Column("actuator/shoulder/bias", "N m", (0,)),
    Column("actuator/肘/bias", "N m", (1,)),
)
BASIS = ParameterBasis(
    names=("link/arm/first_moment_x", "actuator/shoulder/bias", "actuator/肘/bias"),
    columns=tuple(column.name for column in COLUMNS),
    matrix=np.array([[0.5, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]),
    tolerance=1e-7,
    gap=(0.3, 1e-12),
)
CREATED = "2026-09-03T08:15:00Z"
VERDICT = {"feed_forward": None, "gravity_compensation": None, "sentence": "Not validated."}


def motion(seed: int, samples: int = 30) -> Trajectory:
    """Random samples at 100 Hz with a gap in the middle."""
    rng = np.random.default_rng(seed)
    time = np.arange(samples) * 0.01
    time[samples // 2 :] += 1.0
    q, tau = rng.normal(size=(2, samples, len(JOINTS)))
    return Trajectory(time=time, joint_names=JOINTS, q=q, tau=tau, breaks=(samples // 2,))


def estimate(*, lost: bool = False):
    """Weighted least squares on random rows; `lost`: the last column is not in the data at all."""
    rng = np.random.default_rng(5)
    factors = [triangle(rng.normal(size=(200, k))) for k in (3, 2)]
    if lost:
        factors[1] = factors[1] * np.array([0.0, 1.0])
    info = SquareRootInformation(
        names=BASIS.names, joints=JOINTS, support=((0, 1), (2,)), factors=tuple(factors), rows=(200, 200), samples=200
    )
    return weighted(info, basis=BASIS)


def contents(folder: Path, *, train: int = 1, unseen: int = 1, study: bool = False) -> SessionContents:
    """Files in `folder`, and what goes into a session."""
    folder.mkdir(parents=True, exist_ok=True)
    model = folder / "arm.urdf"
    model.write_text('<robot name="arm"/>\n', encoding="utf-8")
    recordings = []
    for k in range(train + unseen):
        path = folder / (f"run{k}.csv" if k < train else f"unseen{k - train}.csv")
        if not path.exists():
            write_csv(path, motion(k))
        recordings.append(RecordingFile.of(path, read_csv(path), "train" if k < train else "validation"))
    plain = SessionContents(
        recordings=recordings,
        model_path=model,
        model_sha256=file_digest(model),
        joint_names=JOINTS,
        gravity=(0.0, 0.0, -9.81),
        created=CREATED,
        software_version="0.1.0",
        locked={"wrist": 0.25},
    )
    if not study:
        return plain
    path = folder / "my study.toml"
    path.write_text("[robot]\nmount = [0.0, 0.0, 0.0]\n", encoding="utf-8")
    return replace(plain, study_path=path, study_sha256=file_digest(path))


def score() -> Score:
    return Score(
        joint_names=JOINTS,
        relative_error=0.0421,
        relative_error_unfiltered=0.06,
        rmse=np.array([0.1, 0.2]),
        peak=np.array([0.4, 0.5]),
        relative_error_per_joint=np.array([0.03, np.inf]),
        samples=100,
        cutoff=5.0,
        interval=(0.0, 1.29),
    )


def results(given: SessionContents, *, lost: bool = False) -> Results:
    """A result of the recordings of a session, with all that belongs to it."""
    manifest = session_file(given)
    unseen = [entry.name for entry in manifest.role("validation")]
    result = build_result(
        estimate(lost=lost),
        BASIS,
        COLUMNS,
        model_digest=manifest.model.sha256,
        inputs=inputs_of(manifest),
        terms=("rigid_body", "offset"),
        verdict=VerdictEntry.model_validate(VERDICT),
        software_version="0.1.0",
        validation=[validation_entry(name, score(), baseline_urdf=0.5) for name in unseen],
        findings=[Finding("data.gap", "info", "a gap of 1 s", where="run0.csv", value=np.float64(1.0))],
    )
    time = np.array([0.0, 0.01])
    return Results(
        result=result,
        processed={entry.name: motion(0) for entry in manifest.role("train")},
        predictions={name: TorquePrediction(time, JOINTS, np.ones((2, 2))) for name in unseen},
    )


def tree(root: Path) -> dict[str, bytes]:
    """Every file under `root`, by its path."""
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}
