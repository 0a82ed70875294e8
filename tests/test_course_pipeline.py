"""A guide's complete experiment in one script: load, exclude, prepare, absorb, solve, save a candidate, prove it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import robots
from steelyard.assess.mass_matrix import least_eigenvalue
from steelyard.assess.recording import check_recording
from steelyard.basis import base_parameters
from steelyard.cli.main import main
from steelyard.data.trajectory import Trajectory
from steelyard.estimate.robust import huber
from steelyard.estimate.validate import validate
from steelyard.formats.csv import read_csv
from steelyard.formats.csv_write import write_csv
from steelyard.model import Model
from steelyard.preparation.pipeline import prepare_recording
from steelyard.session.contents import RecordingFile, Results, SessionContents, preparation, session_file
from steelyard.session.opening import open_session
from steelyard.session.result_file import build_result, inputs_of
from steelyard.session.schema import VerdictEntry
from steelyard.session.store import create
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous

TERMS = (RigidBody(), Viscous(), Coulomb(), Offset())
CONTACT = (8.0, 8.6)  # [s] a hand leans on the elbow
STAMP = "2026-09-03T08:15:00Z"


def written(model: Model, path: Path, *, seed: int, push: float = 0.0) -> Path:
    """20 s at 200 Hz of four sines a joint, 0.05 N m of noise; `push` [N m] on the second joint during the contact."""
    rng, t = np.random.default_rng(seed), 0.005 * np.arange(4000)
    rate, phase = 2 * np.pi * rng.uniform(0.2, 1.0, (2, 4)), rng.uniform(0.0, 6.0, (2, 4))
    angle = t[:, None, None] * rate + phase
    q, dq, ddq = (0.4 * part.sum(axis=2) for part in (np.sin(angle), rate * np.cos(angle), -(rate**2) * np.sin(angle)))
    motion = Trajectory(t, model.robot.joint_names, q=q, dq=dq, ddq=ddq)
    tau = model.torque(true(model), motion) + 0.05 * rng.normal(size=q.shape)
    tau[(t >= CONTACT[0]) & (t <= CONTACT[1]), 1] += push
    write_csv(path, Trajectory(t, model.robot.joint_names, q=q, tau=tau))
    return path


def true(model: Model) -> np.ndarray:
    theta = model.nominal.copy()
    theta[-6:] = [0.8, 0.4, 0.5, 0.3, 0.2, -0.1]
    return theta


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return Model(robots.load(tmp_path_factory.mktemp("planar"), "planar_offset"), TERMS)


@pytest.mark.parametrize("excluded", [True, False])
def test_g70_from_raw_file_to_candidate(model, tmp_path, excluded):
    """With the contact excluded or left to Huber's weights: candidate, digests, rank, and an unseen motion to 1 %."""
    raw = written(model, tmp_path / "raw.csv", seed=1, push=20.0)
    unseen = read_csv(written(model, tmp_path / "unseen.csv", seed=2))
    before = raw.read_bytes()
    recorded = read_csv(raw)
    contact = (recorded.time >= CONTACT[0] - 0.2) & (recorded.time <= CONTACT[1] + 0.2)
    kept = (recorded.time > 0.5) & (recorded.time < 19.5) & ~(contact & excluded)  # at the ends filters have to settle
    valid = np.repeat(kept[:, None], 2, axis=1)
    ready = prepare_recording(replace(recorded, valid=valid), model.robot, thin=True)

    basis = base_parameters(model)
    estimate = huber(model, [ready.trajectory], basis=basis, delta=1.5, lowpass=ready.lowpass)
    assert estimate.rank == basis.count == len(estimate.names)
    outliers = [f for f in estimate.findings if f.code == "fit.outliers"]
    assert [f.where for f in outliers] == ([] if excluded else ["elbow"])
    assert np.abs((estimate.theta - basis.regroup(true(model))) / estimate.deviation).max() < 5.0
    full = estimate.full(model.names)
    assert least_eigenvalue(model, full, ready.trajectory.channel("q")[::50]) > 0.0
    (proof,) = validate(model, estimate, [unseen])
    assert proof.score.relative_error < 0.01

    given = SessionContents(
        [RecordingFile.of(raw, recorded, "train", rejected=int((~valid).any(axis=1).sum()))],
        model_path=tmp_path / "arm.urdf", model_sha256=model.robot.digest, joint_names=model.robot.joint_names,
        gravity=model.robot.gravity.tolist(), created=STAMP, software_version="test", torque_source="simulated",
    )  # fmt: skip
    (tmp_path / "arm.urdf").write_bytes(robots.write(tmp_path, "planar_offset").read_bytes())
    result = build_result(
        estimate, basis, model.columns, model_digest=model.robot.digest, inputs=inputs_of(session_file(given)),
        terms=("rigid_body", "viscous", "coulomb", "offset"), mass_matrix_positive=True, software_version="test",
        verdict=VerdictEntry(feed_forward=None, gravity_compensation=None, sentence="not judged"),
    )  # fmt: skip
    found = Results(result, {"raw.csv": ready.trajectory}, {"raw.csv": preparation(ready)})
    create(tmp_path / "session", given, results=found)
    session = open_session(tmp_path / "session")
    assert session.result.status == "candidate"
    assert session.result.estimator == "huber"
    assert session.result.inputs[0].sha256 == hashlib.sha256(before).hexdigest()
    assert session.manifest.recordings[0].rejected_count == np.sum(~kept)
    assert raw.read_bytes() == (tmp_path / "session" / "raw.csv").read_bytes() == before


@pytest.fixture(scope="module")
def identified(model, tmp_path_factory):
    """What the command line makes of two files."""
    folder = tmp_path_factory.mktemp("cli")
    robots.write(folder, "planar_offset")
    written(model, folder / "run1.csv", seed=1)
    written(model, folder / "run2.csv", seed=2)
    return folder


def command(capsys, *words: object) -> tuple[int, str]:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return int(left.value.code), capsys.readouterr().out


def test_g04_g32_the_shortest_way(identified, capsys):
    """Freeze the model, two motions, processed samples, rank and condition, candidate, proof (no review or rollback).

    Every number that a person needs for a decision is in the JSON: parameters with deviations, rank, condition, errors
    of each joint on the other motion, the mass matrix.
    """
    folder = identified
    model, train, unseen = folder / "planar_offset.urdf", folder / "run1.csv", folder / "run2.csv"
    assert command(capsys, "lint", model)[0] == 0
    status, _ = command(
        capsys, "init", folder / "session", "--robot", model, "--train", train, "--validate", unseen, "--quiet"
    )
    assert status == 0
    status, text = command(capsys, "identify", folder / "session", "--estimator", "weighted", "--json", "--quiet")
    assert status == 0
    result = json.loads(text)
    assert result["status"] == "candidate"
    assert result["diagnostics"]["rank"] == result["base"]["count"] == len(result["parameters"])
    assert result["diagnostics"]["condition_scaled"] < 100
    assert result["diagnostics"]["mass_matrix_positive"] is True
    assert set(result["diagnostics"]["noise_per_joint"]) == {"shoulder", "elbow"}
    (proof,) = result["validation"]
    assert proof["relative_error"] < 0.01
    assert set(proof["rmse_per_joint"]) == set(proof["peak_per_joint"]) == {"shoulder", "elbow"}
    assert all(p["deviation"] > 0 and p["interval_95"] for p in result["parameters"])
    held = {path.name for path in (folder / "session").rglob("*") if path.is_file()}
    assert held >= {"raw.csv", "validation.csv", "processed.csv", "session.json", "result.json", "planar_offset.urdf"}


def test_g14_the_same_files_give_the_same_processed_bytes(identified, capsys, tmp_path):
    """Two sessions from the same recordings: processed samples, result and prediction, byte for byte."""
    folder = identified
    files = ("--train", folder / "run1.csv", "--validate", folder / "run2.csv", "--estimator", "weighted", "--quiet")
    for name in ("one", "two"):
        words = ("identify", "--robot", folder / "planar_offset.urdf", *files, "--output", tmp_path / name)
        assert command(capsys, *words)[0] == 0
    for name in ("processed.csv", "result.json", "prediction/run2.csv", "raw.csv"):
        one, two = (tmp_path / session / name for session in ("one", "two"))
        assert one.read_bytes() == two.read_bytes(), name


def test_a14_g56_a_result_beside_its_model_file(identified, capsys, tmp_path):
    """Parameters in deviations, gravity torque and mass matrix pose by pose; the file is the truth but for friction."""
    folder = identified
    model = folder / "planar_offset.urdf"
    words = ("identify", "--robot", model, "--train", folder / "run1.csv", "--estimator", "weighted", "--quiet")
    assert command(capsys, *words, "--output", tmp_path / "result")[0] == 0
    status, text = command(capsys, "compare", tmp_path / "result", model, "--grid", "--json")
    assert status == 0
    found = json.loads(text)
    rows = {row["name"]: row for row in found["parameters"]}
    assert abs(rows["actuator/shoulder/viscous_friction"]["deviations"]) > 10.0  # 0.8; the file has none
    assert all(row["deviations"] < 6.0 for name, row in rows.items() if name.startswith("link/"))
    assert found["grid"]["mass_matrix"] < 0.02
    assert min(found["grid"]["least_eigenvalues"]) > 0.0
    assert max(found["grid"]["gravity_rms"]) < 0.05  # [N m] of some 10


def test_a28_a23_what_a_model_file_holds(repository, capsys):
    """Joints, bodies and masses by name; 43 combinations of 70, and of each parameter whether torque can tell it."""
    file = repository / "examples" / "robots" / "arm7.urdf"
    status, text = command(capsys, "info", file, "--json")
    assert status == 0
    held = json.loads(text)
    assert (held["name"], len(held["joints"]), len(held["bodies"])) == ("arm7", 7, 7)
    assert held["moving_mass_kg"] == pytest.approx(15.47)
    status, text = command(capsys, "base", file, "--json")
    assert status == 0
    told = json.loads(text)
    assert (told["count"], len(told["map"]["columns"]), len(told["map"]["matrix"])) == (43, 70, 43)
    assert told["gap"][0] > 1e3 * told["gap"][1]
    assert set(told["classes"].values()) == {"alone", "combined", "none"}
    assert "43 base parameters of 70 standard parameters" in command(capsys, "base", file)[1]


def test_g19_the_check_after_recording(identified, capsys, tmp_path):
    """Exit 0 and the statistics of the clock for a good file, exit 1 and the lines for one with a hole."""
    good = identified / "run1.csv"
    status, text = command(capsys, "check", good, "--robot", identified / "planar_offset.urdf", "--json")
    assert status == 0
    assert [f for f in json.loads(text)["findings"] if f["level"] == "error"] == []
    lines = good.read_text().splitlines()
    lines[100] = ",".join(["0.495", "nan", *lines[100].split(",")[2:]])
    bad = tmp_path / "bad.csv"
    bad.write_text("\n".join(lines) + "\n")
    status, text = command(capsys, "check", bad, "--json")
    assert status == 1
    (finding,) = [f for f in json.loads(text)["findings"] if f["level"] == "error"]
    assert finding["code"] == "data.nan"
    assert "101" in finding["where"] + finding["message"]


def test_g66_a_changed_recording_ends_the_command(identified, capsys, tmp_path):
    """A flipped digit in the raw file, or a result of another model: exit 3, and nothing is written."""
    folder = identified
    words = ("--robot", folder / "planar_offset.urdf", "--train", folder / "run1.csv", "--quiet")
    assert command(capsys, "init", tmp_path / "session", *words)[0] == 0
    raw = tmp_path / "session" / "raw.csv"
    raw.chmod(0o644)
    text = raw.read_text()
    at = text.index("\n", 5000) - 1
    raw.write_text(text[:at] + ("1" if text[at] != "1" else "2") + text[at + 1 :])
    assert command(capsys, "identify", tmp_path / "session", "--quiet")[0] == 3
    assert not (tmp_path / "session" / "result.json").exists()


SAMPLE = """\
time_s,q/axis_a,q/axis_b,dq/axis_a,dq/axis_b,ddq/axis_a,ddq/axis_b,tau/axis_a,tau/axis_b
0.000,0.10,-0.20,0.00,0.10,0.20,0.00,1.23,-0.40
0.010,0.10,-0.199,0.02,0.10,0.19,0.01,1.25,-0.39
"""


def test_g69_the_sample_file(tmp_path):
    """It keeps the contract; two lines are too few to judge derivatives, and the checker says what it does see."""
    path = tmp_path / "sample.csv"
    path.write_text(SAMPLE)
    sample = read_csv(path)
    assert sample.joint_names == ("axis_a", "axis_b")
    np.testing.assert_array_equal(sample.channel("tau"), [[1.23, -0.40], [1.25, -0.39]])
    # the speed of axis_a rises ten times as much as its acceleration allows
    rise = sample.dq[1, 0] - sample.dq[0, 0]
    assert rise == pytest.approx(10.0 * sample.ddq[0, 0] * 0.01)
    assert "data.standstill" in {f.code for f in check_recording(sample).findings}
    # the same numbers for half a second: named
    longer = Trajectory(
        0.01 * np.arange(50), ("axis_a",), q=0.01**2 * np.arange(50.0)[:, None] ** 2,
        dq=0.02 * np.arange(50.0)[:, None], ddq=np.full((50, 1), 0.2), name="longer",
    )  # fmt: skip
    codes = [f.code for f in check_recording(longer).findings if f.code.endswith("mismatch")]
    assert codes == ["data.ddq_mismatch"]
