"""`steelyard payload` from files: the three ways, what it writes, and what it refuses.

A part of 1.27 kg on a six-joint arm; motions of ten seconds at 200 Hz with 0.1 N m of noise, poses with 0.02 N m.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from steelyard.cli.main import main
from steelyard.data.trajectory import Trajectory
from steelyard.formats.csv import read_csv
from steelyard.formats.csv_write import write_csv
from steelyard.model import Model
from steelyard.robot.inertia import parameters_about_origin
from steelyard.robot.robot import Robot
from steelyard.robot.tool import with_tool
from steelyard.session.payload_files import PAYLOAD, TOOL
from steelyard.simulate.robots import robot_file
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.viscous import Viscous

ROOT = Path(__file__).parents[1]
MASS, CENTRE = 1.27, np.array([0.01, -0.02, 0.06])
PART = parameters_about_origin(MASS, CENTRE, np.diag([2e-3, 2.5e-3, 1.5e-3]))
TERMS = (RigidBody(), RotorInertia(), Viscous(), Coulomb(), Offset())
STICTION = np.array([1.5, 1.5, 1.2, 0.8, 0.6, 0.4])  # [N m]
GAIN = np.array([1.1, 0.9, 1.05, 0.95, 1.08, 0.92])  # true torque over recorded torque
FAST = ("--term", "rigid_body", "rotor_inertia", "viscous", "coulomb", "offset", "--quiet")


def motion(robot, *, seed):
    rng, t = np.random.default_rng(seed), 0.005 * np.arange(2000)
    w = 2.0 * np.pi * 0.2 * np.arange(1, 6)
    sine, cosine = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    a, b = rng.normal(size=(2, 5, 6)) / np.arange(1, 6)[:, None]
    q = sine @ a + cosine @ b
    scale = 0.35 * (robot.upper - robot.lower) / np.abs(q).max(axis=0)
    middle = 0.5 * (robot.upper + robot.lower)
    return Trajectory(
        time=t, joint_names=robot.joint_names, q=middle + scale * q,
        dq=scale * (cosine @ (a * w[:, None]) - sine @ (b * w[:, None])),
        ddq=-scale * (sine @ (a * w[:, None] ** 2) + cosine @ (b * w[:, None] ** 2)),
    )  # fmt: skip


def recorded(model, path, *, seed, gain=1.0):
    """A motion as it is recorded, q and tau with noise."""
    rng, moved = np.random.default_rng(seed + 50), motion(model.robot, seed=seed)
    tau = model.torque(model.nominal, moved) + 0.1 * rng.normal(size=moved.q.shape)
    q = moved.q + 1e-5 * rng.normal(size=moved.q.shape)
    write_csv(path, replace(moved, q=q, dq=None, ddq=None, tau=tau / gain, source=""))


def held(robot, path, *, count=10, seed=3, noise=0.02, stiction=1.0, noise_seed=0, sides=True):
    """A table of poses, each from both sides."""
    rng = np.random.default_rng(seed)
    q = np.repeat(rng.uniform(0.6 * robot.lower, 0.6 * robot.upper, (count, 6)), 2, axis=0)
    side = np.tile([[1.0] * 6, [-1.0] * 6], (count, 1))
    still = Trajectory(time=np.arange(len(q)), joint_names=robot.joint_names, q=q, dq=0.0 * q, ddq=0.0 * q)
    model = Model(robot, (RigidBody(),))
    tau = model.torque(model.nominal, still) + stiction * side * STICTION
    tau += noise * np.random.default_rng((seed, noise_seed)).normal(size=q.shape)
    write_csv(path, replace(still, dq=side if sides else None, ddq=None, tau=tau, source=""))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("payload")
    (place / "arm.urdf").write_text(robot_file("arm6.urdf").read_text())
    robot = Robot.from_urdf(place / "arm.urdf")
    carrying = with_tool(robot, "part", PART, link="flange")
    for name, arm, seed, gain in (
        ("bare", robot, 1, 1.0), ("loaded", carrying, 2, 1.0), ("unseen", robot, 3, 1.0),
        ("bare_i", robot, 1, GAIN), ("loaded_i", carrying, 2, GAIN),
    ):  # fmt: skip
        recorded(Model(arm, TERMS), place / f"{name}.csv", seed=seed, gain=gain)
    held(carrying, place / "poses.csv")
    held(robot, place / "poses_bare.csv", noise_seed=1)
    held(carrying, place / "one.csv", count=1, stiction=0.0)
    held(carrying, place / "two.csv", count=2, stiction=0.0)
    constants = ", ".join(f"{joint} = 1.0" for joint in robot.joint_names)
    (place / "amps.toml").write_text(f'[recording]\nunit = {{tau = "A"}}\n[drive]\ntorque_constant = {{{constants}}}\n')
    main_status("identify", "--robot", place / "arm.urdf", "--train", place / "bare.csv", "--output", place / "session",
                *FAST)  # fmt: skip
    return place


def main_status(*words):
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return left.value.code


def weighed(capsys, *words):
    """The JSON object of a weighing that does its work."""
    capsys.readouterr()
    status = main_status("payload", *words, "--json", "--quiet")
    told = capsys.readouterr()
    assert status == 0, told.err
    return json.loads(told.out)


def refused(capsys, *words):
    """The message of a weighing that does not."""
    capsys.readouterr()
    status = main_status("payload", *words, "--quiet")
    told = capsys.readouterr()
    assert status == 3, told.out
    assert told.out == ""
    assert "Traceback" not in told.err
    return told.err


def holds(found, *, kilograms, metres):
    low, high = found["mass_interval_kg"]
    assert low <= MASS <= high
    assert abs(found["mass_kg"] - MASS) <= kilograms
    assert np.abs(np.array(found["center_of_mass_m"]) - CENTRE).max() <= metres


# --- the three ways


def test_loaded_less_unloaded(capsys, folder):
    """Within four deviations of 1.4 g and 1 mm, as `benchmarks/payload.py` has them for twice the noise."""
    files = ("--robot", folder / "arm.urdf", "--unloaded", folder / "bare.csv", "--loaded", folder / "loaded.csv")
    found = weighed(capsys, *files)
    holds(found, kilograms=0.006, metres=2e-3)
    assert found["frame"] == "flange"
    assert found["method"] == "dynamic"
    assert found["unobservable"] == []
    assert np.shape(found["inertia_kg_m2"]) == (3, 3)
    assert np.shape(found["inertia_interval_kg_m2"]) == (3, 3, 2)
    low, high = np.moveaxis(np.array(found["inertia_interval_kg_m2"]), -1, 0)
    assert (low < high).all()
    wide = weighed(capsys, *files, *FAST[:-1], "--gain-uncertainty", "0.1")
    assert np.ptp(wide["mass_interval_kg"]) > 2 * 0.1 * MASS  # the uncertainty of the scale is in the interval


def test_against_an_identified_robot(capsys, folder):
    found = weighed(capsys, "--result", folder / "session", "--loaded", folder / "loaded.csv")
    holds(found, kilograms=0.008, metres=3e-3)
    against = weighed(capsys, "--robot", folder / "arm.urdf", "--result", folder / "session", "--poses",
                      folder / "poses.csv")  # fmt: skip
    holds(against, kilograms=0.02, metres=4e-3)
    assert against["unobservable"] == ["inertia"]


def test_poses_held_still(capsys, folder):
    poses = ("--robot", folder / "arm.urdf", "--poses", folder / "poses.csv")
    alone = weighed(capsys, *poses)
    holds(alone, kilograms=0.005, metres=2e-3)
    assert "payload.body_from_file" in {f["code"] for f in alone["findings"]}
    between = weighed(capsys, *poses, "--unloaded", folder / "poses_bare.csv")
    holds(between, kilograms=0.005, metres=2e-3)
    assert between["findings"] == []


@pytest.mark.parametrize(("name", "lost"), [("one", 2), ("two", 1)])
def test_too_few_poses_are_named(capsys, folder, name, lost):
    found = weighed(capsys, "--robot", folder / "arm.urdf", "--poses", folder / f"{name}.csv")
    assert len(found["unobservable"]) == lost  # of rank 3: a first moment and the inertia; of rank 4: the inertia
    assert found["unobservable"][-1] == "inertia"
    assert found["inertia_kg_m2"] is None
    assert (None in found["center_of_mass_m"]) == (name == "one")


def test_another_frame_and_gravity(capsys, folder, tmp_path):
    """In the frame of the last link, which the flange is 26 mm from and turned to; and on a wall."""
    found = weighed(capsys, "--robot", folder / "arm.urdf", "--poses", folder / "poses.csv", "--frame", "tool")
    x, y, z = found["center_of_mass_m"]
    assert (x, y, z) == pytest.approx((0.026 + CENTRE[2], CENTRE[1], -CENTRE[0]), abs=3e-3)
    wall = Robot.from_urdf(folder / "arm.urdf", gravity=(9.81, 0.0, 0.0))
    held(with_tool(wall, "part", PART, link="flange"), tmp_path / "wall.csv")
    words = ("--robot", folder / "arm.urdf", "--poses", tmp_path / "wall.csv")
    holds(weighed(capsys, *words, "--gravity", 9.81, 0, 0), kilograms=0.006, metres=3e-3)
    (tmp_path / "wall.toml").write_text("[robot]\ngravity = [9.81, 0.0, 0.0]\n")
    holds(weighed(capsys, *words, "--config", tmp_path / "wall.toml"), kilograms=0.006, metres=3e-3)


# --- torque from currents


def test_currents_are_asked_how_sure_they_are(capsys, folder):
    words = ("--robot", folder / "arm.urdf", "--unloaded", folder / "bare_i.csv", "--loaded", folder / "loaded_i.csv",
             "--config", folder / "amps.toml", *FAST[:-1])  # fmt: skip
    assert "--gain-uncertainty" in refused(capsys, *words)
    found = weighed(capsys, *words, "--gain-uncertainty", "0.1")
    low, high = found["mass_interval_kg"]
    assert low <= MASS <= high
    assert high - low > 0.2
    assert "fraction" in refused(capsys, *words, "--gain-uncertainty", "10")


def test_a_known_part_tells_the_gains(capsys, folder, tmp_path):
    """Off by up to a tenth, found to 3 % where the part shows."""
    words = ("--robot", folder / "arm.urdf", "--unloaded", folder / "bare_i.csv", "--loaded", folder / "loaded_i.csv",
             "--config", folder / "amps.toml", "--known-center", *CENTRE,
             "--known-inertia", 2e-3, 2.5e-3, 1.5e-3, 0, 0, 0, *FAST[:-1])  # fmt: skip
    found = weighed(capsys, *words, "--known-mass", MASS)
    gains = np.array(list(found["drive_gain"].values()))
    np.testing.assert_allclose(gains[:5], GAIN[:5], rtol=0.03)
    boxes = np.array(list(found["drive_gain_interval"].values()))
    assert np.sum((boxes[:, 0] <= GAIN) & (boxes[:, 1] >= GAIN)) >= 5
    assert main_status("payload", *words, "--known-mass", MASS) == 0
    assert "torque constant" in capsys.readouterr().out
    assert "known part has" in refused(capsys, *words, "--known-mass", -1.0)
    assert "finite numbers" in refused(capsys, *words, "--known-mass", "nan")
    exchanged = [{"--unloaded": "--loaded", "--loaded": "--unloaded"}.get(word, word) for word in words]
    assert "the wrong way" in refused(capsys, *exchanged, "--known-mass", MASS)
    thin = [0.0 if word in (2.5e-3, 1.5e-3) else word for word in words]
    assert "no body has this inertia" in refused(capsys, *thin, "--known-mass", MASS)
    assert "needs --known-mass" in refused(capsys, *words)
    assert "no --gain-uncertainty" in refused(capsys, *words, "--known-mass", MASS, "--gain-uncertainty", 0.1)
    assert "by hand" in refused(capsys, *words, "--known-mass", MASS, "--output", tmp_path / "out")


# --- what is written


def test_the_tool_profile_stays_apart_from_the_links(capsys, folder, tmp_path):
    words = ("--robot", folder / "arm.urdf", "--poses", folder / "poses.csv", "--tool-id", "camera", "--output")
    model = (folder / "arm.urdf").read_bytes()
    assert main_status("payload", *words, tmp_path / "out") == 0
    assert "stays apart from the robot's links" in capsys.readouterr().out
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [PAYLOAD, TOOL]
    assert (folder / "arm.urdf").read_bytes() == model
    document = json.loads((tmp_path / "out" / PAYLOAD).read_text())
    assert document["status"] == "candidate"
    assert document["inputs"] == [{"path": "poses.csv", "sha256": read_csv(folder / "poses.csv").source}]
    text = (tmp_path / "out" / TOOL).read_text()
    assert "tool_dynamics:\n  tool_id: camera\n  frame: flange\n" in text
    assert float(re.search(r"mass_kg: (\S+)", text)[1]) == document["mass_kg"]
    assert "inertia" not in text.partition("tool_dynamics:")[2]  # poses do not show it
    assert main_status("payload", *words, tmp_path / "out") == 3
    assert "--force" in capsys.readouterr().err
    assert main_status("payload", *words, tmp_path / "out", "--force") == 0
    (tmp_path / "out" / "notes.txt").write_text("mine")
    assert main_status("payload", *words, tmp_path / "out", "--force") == 3
    assert (tmp_path / "out" / "notes.txt").exists()


def test_the_summary_says_how_sure_the_torque_scale_is(capsys, folder):
    words = ("payload", "--robot", folder / "arm.urdf", "--poses", folder / "poses.csv", "--quiet")
    assert main_status(*words) == 0
    assert "torque scale taken as exact" in capsys.readouterr().out
    assert main_status(*words, "--gain-uncertainty", "0.1") == 0
    assert "torque scale sure to 10 %" in capsys.readouterr().out


def test_a_recording_given_twice_is_named(capsys, folder):
    words = ("--robot", folder / "arm.urdf", "--unloaded", folder / "bare.csv", "--loaded", folder / "bare.csv")
    said = refused(capsys, *words, *FAST[:-1])
    assert "bare.csv: a recording is given twice" in said


def test_without_a_centre_there_is_no_tool(folder, tmp_path):
    words = ("--robot", folder / "arm.urdf", "--poses", folder / "one.csv", "--output", tmp_path / "out")
    assert main_status("payload", *words, "--quiet") == 0
    assert [p.name for p in (tmp_path / "out").iterdir()] == [PAYLOAD]


# --- what is refused


def test_files_the_wrong_way_round(capsys, folder, tmp_path):
    swapped = ("--robot", folder / "arm.urdf", "--unloaded", folder / "loaded.csv", "--loaded", folder / "bare.csv")
    text = refused(capsys, *swapped, *FAST[:-1], "--output", tmp_path / "out")
    assert "kg less than the bare one" in text
    assert "exchange the loaded and the unloaded recording" in text
    assert not (tmp_path / "out").exists()
    text = refused(capsys, "--robot", folder / "arm.urdf", "--poses", folder / "poses_bare.csv", "--unloaded",
                   folder / "poses.csv")  # fmt: skip
    assert "exchange" in text


def test_the_same_recording_twice(capsys, folder, tmp_path):
    twin = tmp_path / "twin.csv"
    twin.write_bytes((folder / "loaded.csv").read_bytes())
    words = ("--unloaded", folder / "loaded.csv", "--loaded", twin, *FAST[:-1])
    text = refused(capsys, "--robot", folder / "arm.urdf", *words)
    assert "same" in text
    text = refused(capsys, "--robot", folder / "arm.urdf", "--poses", folder / "poses.csv", "--unloaded",
                   folder / "poses.csv")  # fmt: skip
    assert "same samples" in text
    text = refused(capsys, "--result", folder / "session", "--loaded", folder / "bare.csv")
    assert "identified from this very recording" in text


def test_ways_that_exclude_each_other(capsys, folder):
    loaded, poses = ("--loaded", folder / "loaded.csv"), ("--poses", folder / "poses.csv")
    bare, session = ("--unloaded", folder / "bare.csv"), ("--result", folder / "session")
    for words in ((), loaded, bare, session, (*loaded, *poses), (*loaded, *bare, *session), (*poses, *bare, *session)):
        assert "one of three ways" in refused(capsys, "--robot", folder / "arm.urdf", *words)
    assert "--robot" in refused(capsys, *poses)
    assert "--term" in refused(capsys, "--robot", folder / "arm.urdf", *poses, "--term", "viscous")
    assert "--gravity" in refused(capsys, *session, *loaded, "--gravity", 0, 0, -9.81)


def test_a_robot_or_frame_that_is_another(capsys, folder, tmp_path):
    other = tmp_path / "arm7.urdf"
    other.write_text(robot_file("arm7.urdf").read_text())
    poses = ("--poses", folder / "poses.csv")
    assert "joint that the robot has not" in refused(capsys, "--robot", other, *poses)
    changed = tmp_path / "arm6.urdf"
    changed.write_text((folder / "arm.urdf").read_text() + "\n")
    words = ("--robot", changed, "--result", folder / "session", "--loaded", folder / "loaded.csv")
    assert "another model file" in refused(capsys, *words)
    text = refused(capsys, "--robot", folder / "arm.urdf", *poses, "--frame", "gripper")
    assert "not a moving link" in text
    assert "flange" in text
    text = refused(capsys, "--robot", folder / "arm.urdf", *poses, "--frame", "base")
    assert "not a moving link" in text
    assert "not a session" in refused(capsys, "--result", tmp_path, "--loaded", folder / "loaded.csv")


def changed(path, target, change):
    """The recording with its trajectory changed."""
    write_csv(target, change(read_csv(path)))
    return target


def test_recordings_that_are_no_poses_of_this_robot(capsys, folder, tmp_path):
    robot = ("--robot", folder / "arm.urdf")
    degrees = changed(folder / "poses.csv", tmp_path / "deg.csv", lambda t: replace(t, q=np.degrees(t.q)))
    text = refused(capsys, *robot, "--poses", degrees)
    assert "degrees" in text
    assert "[recording.unit]" in text
    degrees = changed(folder / "loaded.csv", tmp_path / "deg2.csv", lambda t: replace(t, q=np.degrees(t.q)))
    assert "degrees" in refused(capsys, *robot, "--unloaded", folder / "bare.csv", "--loaded", degrees, *FAST[:-1])
    silent = changed(folder / "poses.csv", tmp_path / "silent.csv", lambda t: replace(t, tau=None))
    assert "no tau" in refused(capsys, *robot, "--poses", silent)
    empty = tmp_path / "empty.csv"
    empty.write_text((folder / "poses.csv").read_text().splitlines()[0] + "\n")
    assert "not one sample" in refused(capsys, *robot, "--poses", empty)
    assert "no such file" in refused(capsys, *robot, "--poses", tmp_path / "none.csv")
    assert "holds no pose still" in refused(capsys, *robot, "--poses", folder / "loaded.csv")
    still = changed(folder / "loaded.csv", tmp_path / "still.csv", lambda t: replace(t, q=0.0 * t.q + 0.3))
    text = refused(capsys, *robot, "--unloaded", folder / "bare.csv", "--loaded", still, *FAST[:-1])
    assert "still.csv" in text
    elsewhere = tmp_path / "elsewhere.csv"
    held(Robot.from_urdf(folder / "arm.urdf"), elsewhere, seed=8)
    words = ("--poses", folder / "poses.csv", "--unloaded", elsewhere)
    assert "not visited without payload" in refused(capsys, *robot, *words)


def test_one_pose_many_times(capsys, folder, tmp_path):
    """Still rank 3: visits of one pose do not show more of it."""

    def again(t):
        rows = np.zeros(8, dtype=int)
        return replace(t, time=np.arange(8.0), q=t.q[rows], dq=None, tau=t.tau[rows], source="")  # fmt: skip

    same = changed(folder / "one.csv", tmp_path / "same.csv", again)
    found = weighed(capsys, "--robot", folder / "arm.urdf", "--poses", same)
    assert len(found["unobservable"]) == 2


def test_a_joint_that_was_not_recorded_is_held(capsys, folder, tmp_path):
    """Without tool_roll, which is then said to be held at neutral, the poses are those of another robot."""
    robot = Robot.from_urdf(folder / "arm.urdf").locked(["tool_roll"])
    names = robot.joint_names
    carrying = Model(with_tool(robot, "part", PART, link="flange"), (RigidBody(),))
    t = read_csv(folder / "poses.csv").ordered(names)
    still = replace(t, dq=0.0 * t.q, ddq=0.0 * t.q)
    tau = carrying.torque(carrying.nominal, still)
    write_csv(tmp_path / "five.csv", replace(still, dq=t.dq, ddq=None, tau=tau, source=""))
    found = weighed(capsys, "--robot", folder / "arm.urdf", "--poses", tmp_path / "five.csv")
    assert found["mass_kg"] == pytest.approx(MASS, abs=1e-6)
    assert "tool_roll" not in found["rms_per_joint"]


# --- the page


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """The folder in which the example of the page has run."""
    place = tmp_path_factory.mktemp("page")
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "weigh_a_payload.py")], cwd=place, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return place


def page_commands():
    text = (ROOT / "docs" / "payload.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, flags=re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.startswith("steelyard ")]


def test_the_page_has_commands():
    assert len(page_commands()) >= 5


def test_the_commands_of_the_page_run_as_they_are_printed(shown, monkeypatch, capsys):
    monkeypatch.chdir(shown)
    for line in page_commands():
        status = main_status(*shlex.split(line)[1:])
        assert status == 0, f"{line}\n{capsys.readouterr().err}"
