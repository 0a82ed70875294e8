"""`steelyard excite` end to end: what it writes can be trusted, what cannot be trusted is not written."""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from ruamel.yaml import YAML

from steelyard.cli.main import main
from steelyard.excite.pace import SLOW_FIRST
from steelyard.excite.search import Progress
from steelyard.formats.csv import read_csv
from steelyard.formats.excitation_file import parse_excitation
from steelyard.formats.ur_script import poses_of
from steelyard.report.preview import preview_page
from steelyard.session.excitation import Excitation, Wish, excite
from steelyard.session.excitation_store import RefusedMotion, write_excitation
from steelyard.session.excite_subject import read_subject
from steelyard.session.motion_forms import forms_of

LIMITS = Path(__file__).parent.parent / "examples" / "robots" / "arm6_joint_limits.yaml"
ARM = LIMITS.with_name("arm6.urdf")


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return ended.value.code


@pytest.fixture(scope="module")
def bare(tmp_path_factory) -> Path:
    """The arm without shapes that could collide."""
    path = tmp_path_factory.mktemp("robot") / "arm.urdf"
    path.write_text(re.sub(r"<collision>.*?</collision>", "", ARM.read_text(), flags=re.DOTALL))
    return path


@pytest.fixture(scope="module")
def made(bare) -> Excitation:
    wish = Wish(period=4.0, harmonics=4, budget=0.5, rate=250, forms=forms_of((), 6, rest="jerk"))
    found = excite(read_subject(bare, LIMITS), wish)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def written(made, tmp_path_factory) -> Path:
    return write_excitation(made, tmp_path_factory.mktemp("out") / "motion", pages={"preview.html": preview_page(made)})


def test_everything_written_is_certified_and_hashed(written, made):
    table = YAML(typ="safe", pure=True).load((written / "excitation.yaml").read_text())
    assert list(table["files"]) == ["speed_025", "speed_050", "speed_100"]
    for folder, files in table["files"].items():
        assert sorted(files) == sorted(os.listdir(written / folder))
        for name, said in files.items():
            assert said["passed"]
            assert said["sha256"] == hashlib.sha256((written / folder / name).read_bytes()).hexdigest()
        certificate = table["certificates"][folder]
        assert certificate["passed"]
        assert certificate["not_checked"]
        assert len(certificate["checks"]) == 6 * 6  # two ends of the positions, velocity, acceleration, jerk, torque
    assert table["model_sha256"] == made.subject.model.robot.digest
    assert list(table["expected"]["deviations"]) == list(made.forecast.basis.names)


def test_the_motion_is_rebuilt_from_its_file_and_is_the_one_in_the_tables(written):
    motion = parse_excitation((written / "excitation.yaml").read_text(), where="file").motion
    for speed in SLOW_FIRST:
        table = read_csv(written / f"speed_{round(100 * speed):03d}" / "motion.csv")
        assert table.time[-1] == pytest.approx(motion.period / speed, abs=1e-12)
        slow = motion.slowed(speed).at(table.time)
        for channel, values in zip(("q", "dq", "ddq"), slow, strict=False):
            # doubles go through text unchanged; the slow series is multiplied out in the same order
            np.testing.assert_allclose(table.channel(channel), values, rtol=0.0, atol=1e-13)


def test_samples_keep_the_limits_and_rest_at_both_ends(written, made):
    limits = made.subject.limits
    table = read_csv(written / "speed_100" / "motion.csv")
    q, dq, ddq = (table.channel(channel) for channel in ("q", "dq", "ddq"))
    assert np.all((q >= limits.lower) & (q <= limits.upper))
    assert np.all(np.abs(dq) <= limits.velocity)
    assert np.all(np.abs(ddq) <= limits.acceleration)
    assert np.all(np.abs(np.diff(ddq, axis=0) * 250.0) <= limits.jerk)
    for ends in (dq[[0, -1]], ddq[[0, -1]], q[0] - q[-1]):
        assert np.abs(ends).max() <= 1e-9
    # from zero jerk it grows by the snap; one step of 4 ms leaves a third of what the snap does in it
    assert np.abs(ddq[1] * 250.0).max() <= 0.02 * np.abs(np.diff(ddq, axis=0) * 250.0).max()


def test_the_script_holds_every_pose(written, made):
    for speed in SLOW_FIRST:
        script = (written / f"speed_{round(100 * speed):03d}" / "servoj.script").read_text()
        poses = poses_of(script, name="script")
        assert len(poses) == round(made.wish.period / speed * 125) + 1
        exact = made.design.motion.slowed(speed).at(poses.time).q
        assert np.abs(poses.channel("q") - exact).max() <= 1e-12


def test_the_same_excitation_gives_the_same_bytes(written, made, tmp_path):
    again = write_excitation(made, tmp_path / "again", pages={"preview.html": preview_page(made)})
    names = sorted(p.relative_to(written) for p in written.rglob("*") if p.is_file())
    assert names == sorted(p.relative_to(again) for p in again.rglob("*") if p.is_file())
    assert [n for n in names if (written / n).read_bytes() != (again / n).read_bytes()] == []


@pytest.mark.parametrize(
    "name",
    [
        ".",
        "excitation.yaml",
        "speed_050/motion.csv",
        "speed_100/joint_trajectory.json",
        "speed_025/joint_trajectory.yaml",
    ],
)
def test_what_was_written_passes_the_check(written, bare, name, capsys):
    assert run("excite", "--robot", bare, "--limits", LIMITS, "--check", written / name) == 0
    out = capsys.readouterr().out
    assert "passed" in out
    assert "NOT checked" in out


def test_the_check_refuses_a_tighter_limit(written, bare, made, tmp_path, capsys):
    """A limit one part in a thousand below what the motion reaches; the certificate does not go by samples."""
    check = next(c for c in made.versions[-1].certificate.checks if c.quantity == "velocity" and c.joint == "waist")
    tight = tmp_path / "tight.yaml"
    line = f"waist: {{has_velocity_limits: true, max_velocity: {0.999 * check.bound!r}, "
    tight.write_text(LIMITS.read_text().replace("waist: {", line))
    for name in ("speed_100/motion.csv", "excitation.yaml"):
        assert run("excite", "--robot", bare, "--limits", tight, "--check", written / name, "--json") == 1
        told = json.loads(capsys.readouterr().out)
        assert not told["passed"]
        assert {(f["code"], f["where"]) for f in told["findings"]} == {("excite.velocity", "waist")}


def test_the_check_sees_collisions(tmp_path, capsys):
    """The elbow folded until the wrist is inside the column; found between two harmless ends."""
    rows = ["time_s," + ",".join(f"{c}/{j}" for c in ("q", "dq", "ddq") for j in ("shoulder", "elbow"))]
    for k in range(201):
        s = k / 200
        q, dq, ddq = 16 * (s * (1 - s)) ** 2, 32 * s * (1 - s) * (1 - 2 * s), 32 * (1 - 6 * s + 6 * s * s)
        rows.append(",".join(repr(v) for v in (20 * s, 0.0, 2.0 * q, 0.0, 0.1 * dq, 0.0, 0.005 * ddq)))
    motion = tmp_path / "fold.csv"
    motion.write_text("\n".join(rows) + "\n")
    status = run("excite", "--robot", ARM, "--limits", LIMITS, "--check", motion, "--rest", "free", "--json")
    told = json.loads(capsys.readouterr().out)
    assert status == 1
    assert [finding["code"] for finding in told["findings"]] == ["excite.distance"]


def test_obstacles_and_frames_of_the_study_are_kept(written, bare, tmp_path, capsys):
    """A ceiling through the arm, and a speed that the tool exceeds."""
    study = tmp_path / "study.toml"
    motion = tmp_path / "nod.csv"
    motion.write_text("time_s,q/waist,dq/waist,ddq/waist\n0,0,0,0\n1,0,0,0\n")
    arguments = ("excite", "--limits", LIMITS, "--config", study, "--json", "--check")
    study.write_text(
        '[excite.obstacles.ceiling]\nkind = "plane"\nposition = [0, 0, 0.3]\nrpy = [3.14159265358979, 0, 0]\n'
    )
    assert run(*arguments, motion, "--robot", ARM) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [finding["code"] for finding in found] == ["excite.distance"]
    assert "ceiling" in found[0]["where"]
    study.write_text("[excite.frames.tool]\nspeed = 0.05\nlower = [-5, -5, -5]\nupper = [5, 5, 5]\n")
    assert run(*arguments, written / "speed_100" / "motion.csv", "--robot", bare) == 1
    found = json.loads(capsys.readouterr().out)["findings"]
    assert [finding["code"] for finding in found] == ["excite.cartesian_speed"]
    study.write_text("[excite.frames.tol]\nspeed = 0.05\n")
    assert run(*arguments, motion, "--robot", bare) == 3


def test_positions_alone_are_no_motion(tmp_path, bare, capsys):
    motion = tmp_path / "q.csv"
    motion.write_text("time_s,q/waist\n0,0\n1,0.1\n")
    assert run("excite", "--robot", bare, "--limits", LIMITS, "--check", motion) == 3
    assert "dq" in capsys.readouterr().err


def test_missing_limits_are_asked_for_with_what_to_write(bare, tmp_path, capsys):
    assert run("excite", "--robot", bare, "--output", tmp_path / "out") == 3
    said = capsys.readouterr().err
    assert said.count("max_acceleration") == 6
    assert said.count("max_jerk") == 6
    partial = tmp_path / "partial.yaml"
    partial.write_text(LIMITS.read_text().replace(", has_jerk_limits: true, max_jerk: 800.0", ""))
    assert run("excite", "--robot", bare, "--limits", partial, "--output", tmp_path / "out") == 3
    said = capsys.readouterr().err
    assert "tool_roll: {has_jerk_limits: true, max_jerk: <rad/s3>}" in said
    assert "waist" not in said
    assert not (tmp_path / "out").exists()


def test_a_robot_that_floats_or_cannot_move_is_refused(bare, tmp_path, capsys):
    floats = tmp_path / "floats.urdf"
    link = '<link name="{}"/>'.format
    free = '<joint name="free" type="floating"><parent link="world"/><child link="base"/></joint>'
    text = bare.read_text()
    start = text.index("<link")
    floats.write_text(text[:start] + link("world") + free + text[start:])
    assert run("excite", "--robot", floats, "--limits", LIMITS) == 3
    assert "stands" in capsys.readouterr().err
    joints = re.findall(r"^  (\w+): ", LIMITS.read_text(), flags=re.MULTILINE)
    assert run("excite", "--robot", bare, "--limits", LIMITS, "--lock", *joints) == 3
    assert "Traceback" not in capsys.readouterr().err


def test_a_joint_that_follows_is_moved_along_or_refused(bare, tmp_path, capsys):
    """Held at neutral it would be certified at a place where it never is: the file says that it moves."""
    follows = tmp_path / "follows.urdf"
    mimic = r'\1<mimic joint="wrist_pitch" multiplier="-1"/>'
    follows.write_text(re.sub(r'(<joint name="tool_roll"[^>]*>)', mimic, bare.read_text()))
    limits, study, still = tmp_path / "limits.yaml", tmp_path / "study.toml", tmp_path / "still.csv"
    limits.write_text(re.sub(r"  tool_roll: .*\n", "", LIMITS.read_text()))
    names = re.findall(r"^  (\w+): ", limits.read_text(), flags=re.MULTILINE)
    still.write_text(
        ",".join(["time_s", *(f"{c}/{j}" for c in ("q", "dq") for j in names)]) + "\n"
        + "".join(f"{t}{',0' * 2 * len(names)}\n" for t in (0, 1))
    )  # fmt: skip
    arguments = ("excite", "--robot", follows, "--limits", limits, "--check", still)
    assert run(*arguments) == 3
    said = capsys.readouterr().err
    assert "tool_roll" in said
    assert "project" in said
    study.write_text('[robot]\nmimic = "project"\n')
    assert run(*arguments, "--config", study) == 0


def test_a_motion_that_fails_is_not_written(made, tmp_path):
    """Certificates that passed for other limits do not help: what was written is read back and certified again."""
    tight = replace(made.subject, limits=made.subject.limits.share(0.5))
    with pytest.raises(RefusedMotion) as refused:
        write_excitation(replace(made, subject=tight), tmp_path / "out", pages={})
    assert refused.value.findings
    assert os.listdir(tmp_path) == []


def test_a_file_too_coarse_for_its_motion_is_named(made, tmp_path):
    """At 4 Hz the polynomials between the samples are another motion; every form is certified as it will be run."""
    coarse = replace(made, wish=replace(made.wish, rate=4, forms=("csv",)))
    with pytest.raises(RefusedMotion) as refused:
        write_excitation(coarse, tmp_path / "out", pages={})
    first = refused.value.findings[0]
    assert re.match(r"speed_\d{3}/motion\.csv", first.where)
    assert "--rate" in first.cure
    assert os.listdir(tmp_path) == []


def test_a_search_that_finds_nothing_is_not_an_interrupt(bare, tmp_path, capsys):
    """Accelerations so small that nothing they allow tells anything."""
    limits = tmp_path / "tiny.yaml"
    limits.write_text(re.sub(r"max_acceleration: [0-9.]+", "max_acceleration: 1.0e-300", LIMITS.read_text()))
    arguments = ("excite", "--robot", bare, "--limits", limits, "--budget", 0.1, "--quiet")
    with np.errstate(all="ignore"):
        assert run(*arguments, "--output", tmp_path / "out") == 3
    assert "no motion was found" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_directory_of_others_is_never_replaced(made, tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "thesis.tex").write_text("two years")
    for force in (False, True):
        with pytest.raises(Exception, match=r"thesis\.tex"):
            write_excitation(made, target, pages={}, force=force)
    (target / "thesis.tex").unlink()
    write_excitation(made, target, pages={})
    with pytest.raises(Exception, match="--force"):
        write_excitation(made, target, pages={})
    write_excitation(made, target, pages={}, force=True)
    (target / "speed_025" / "notes.txt").write_text("mine")
    with pytest.raises(Exception, match=r"notes\.txt"):
        write_excitation(made, target, pages={}, force=True)


def interrupting(after: int):
    """In the place of the bar: Ctrl-C once so many searches are done."""

    @contextmanager
    def bar(budget, *, quiet):
        def show(told: Progress) -> None:
            if told.done == after:
                signal.raise_signal(signal.SIGINT)

        yield show

    return bar


def test_an_interrupt_keeps_the_best_so_far(bare, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("steelyard.cli.progress.search_bar", interrupting(2))
    target = tmp_path / "out"
    status = run("excite", "--robot", bare, "--limits", LIMITS, "--period", 4, "--format", "csv", "--output", target)
    assert status == 130
    assert "interrupted" in capsys.readouterr().out
    assert sorted(os.listdir(target)) == ["excitation.yaml", "preview.html", "speed_025", "speed_050", "speed_100"]
    assert run("excite", "--robot", bare, "--limits", LIMITS, "--check", target) == 0


@pytest.mark.parametrize("stage", ["write_forms", "certificate_digest", "yaml_text", "flush_folder"])
def test_an_interrupt_while_writing_leaves_nothing_half_written(made, tmp_path, monkeypatch, stage):
    def interrupted(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"steelyard.session.excitation_store.{stage}", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_excitation(made, tmp_path / "out", pages={})
    assert os.listdir(tmp_path) == []


def test_one_ctrl_c_while_writing_is_heeded_after_it(bare, tmp_path, monkeypatch):
    """The motion is there by then; it would be lost."""

    def page(excitation):
        signal.raise_signal(signal.SIGINT)
        return b"page"

    monkeypatch.setattr("steelyard.report.preview.preview_page", page)
    target = tmp_path / "out"
    status = run(
        "excite", "--robot", bare, "--limits", LIMITS, "--period", 4, "--budget", 0.3, "--format", "csv",
        "--output", target, "--quiet",
    )  # fmt: skip
    assert status == 130
    assert (target / "preview.html").read_bytes() == b"page"


def test_summary_and_json_without_output(bare, capsys):
    arguments = ("excite", "--robot", bare, "--limits", LIMITS, "--period", 4, "--budget", 0.3, "--noise", 0.2)
    assert run(*arguments) == 0
    out = capsys.readouterr().out
    assert "certified at 25, 50, 100 % of its speed: passed" in out
    assert run(*arguments, "--json", "--quiet") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["expected"]["torque_noise"] == dict.fromkeys(told["motion"]["joints"], 0.2)
    assert "files" not in told


@pytest.mark.parametrize(
    "extra",
    [
        ("--noise", 0.1, 0.2), ("--uncertainty", -1), ("--rate", 0), ("--periods", 0), ("--period", 0), ("--seed", -1),
        ("--share", 1.5), ("--optimiser", "magic"), ("--format", "pdf"), ("--format", "franka", "--rest", "free"),
        ("--lock", "nose"), ("--harmonics", 1), ("--budget", 0), ("--distance", -1), ("--check", "nowhere.csv"),
        ("--harmonics", 1000), ("--period", 1e12), ("--periods", 10**9), ("--rate", 99_999), ("--noise", 1e-300),
        ("--budget", "nan"), ("--format", "ur", "--rest", "free"),
    ],
)  # fmt: skip
def test_options_that_make_no_sense_are_refused(bare, extra, capsys):
    assert run("excite", "--robot", bare, "--limits", LIMITS, *extra) == 3
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("extra", [("--criterion", "g"), ("--columns", "some"), ("--rest", "never"), ("--budgett", 1)])
def test_a_mistyped_option_is_a_usage_error(bare, extra):
    assert run("excite", "--robot", bare, "--limits", LIMITS, *extra) == 2
