"""Motion files for controllers: read back as written, hostile ones refused with the place."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.excite.fourier import FourierFamily, FourierMotion, shared_harmonics
from steelyard.excite.motion import sampled
from steelyard.formats.excitation_file import COMMENT, motion_table, parse_excitation
from steelyard.formats.joint_trajectory import DECIMALS, joint_trajectory_json, joint_trajectory_yaml
from steelyard.formats.joint_trajectory_read import parse_joint_trajectory
from steelyard.formats.ur_script import RATE, poses_of, ur_script
from steelyard.formats.yaml_text import yaml_text
from steelyard.session.excitation import whole_period
from steelyard.session.motion_forms import forms_of, rates_of, sparse_rate

HALF = 0.5 * 10.0**-DECIMALS
NAMES = ("über", "b c", "a: #1", "d", "e", "f")


def motion(names=NAMES, seed=0) -> FourierMotion:
    family = FourierFamily(4.0, shared_harmonics(len(names), 4), "jerk")
    x = np.random.default_rng(seed).standard_normal((len(names), family.variables))
    return FourierMotion(tuple(names), family, family.coefficients(x))


@pytest.mark.parametrize("write", [joint_trajectory_json, joint_trajectory_yaml])
def test_a_joint_trajectory_reads_back_to_half_a_digit(write):
    points = sampled(motion(), 50)
    read = parse_joint_trajectory(write(points).encode(), where="file")
    assert read.joint_names == NAMES
    np.testing.assert_array_equal(read.time, points.time)
    for channel in ("q", "dq", "ddq"):
        assert np.abs(read.channel(channel) - points.channel(channel)).max() <= 1.01 * HALF


def test_a_yaml_reader_sees_the_same_numbers():
    """No exponent, so that YAML 1.1 and 1.2 take every number for one; the slow reader agrees with the fast one."""
    from ruamel.yaml import YAML

    points = sampled(motion(), 25)
    table = YAML(typ="safe", pure=True).load(joint_trajectory_yaml(points))
    fast = parse_joint_trajectory(joint_trajectory_yaml(points).encode(), where="file")
    assert table["joint_names"] == list(NAMES)
    for key, channel in (("positions", "q"), ("velocities", "dq"), ("accelerations", "ddq")):
        np.testing.assert_array_equal([point[key] for point in table["points"]], fast.channel(channel))


def test_messages_of_ros_1_and_goals_are_read():
    points = [
        {"positions": [0.1 * k], "velocities": [0.0], "time_from_start": {"secs": k, "nsecs": 500}} for k in (0, 1)
    ]
    text = json.dumps({"trajectory": {"joint_names": ["a"], "points": points}})
    read = parse_joint_trajectory(text.encode(), where="goal")
    assert read.ddq is None
    np.testing.assert_allclose(read.time, [5e-7, 1.0 + 5e-7], atol=1e-15)


# ten lines that stand for 9^9 words
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{', '.join(9 * [f'*{of}'])}]\n" for of, name in pairwise("abcdefghi")
)
NEXT = ', {"positions": %s, "velocities": [0], "time_from_start": {"sec": 1}}'
GOOD = '{"joint_names": ["a"], "points": [{"positions": [0], "velocities": [0], "time_from_start": {"sec": %s}}%s]}'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a JointTrajectory"),
        ("[1, 2]", "not a JointTrajectory"),
        ("a: [1", "neither JSON nor YAML"),
        ("{}", "no joint_names"),
        ('{"joint_names": ["a"], "points": []}', "no points"),
        ('{"joint_names": ["a"], "points": [1]}', "not a JointTrajectory"),
        (GOOD % ('"x"', ""), "no seconds"),
        (GOOD % ("true", ""), "no seconds"),
        (GOOD % ("1e400", ""), "no seconds"),
        (GOOD % ("0", ', {"positions": [1], "time_from_start": {"sec": 1}}'), "velocities must be"),
        (GOOD % ("0", NEXT % "[NaN]"), "positions must be"),
        (
            GOOD % ("0", NEXT % "[1, 2]"),
            "positions must be",
        ),
        (GOOD % ("1", NEXT % "[1]"), "does not advance"),
        ('{"joint_names": ["a", "a"], "points": [{"positions": [0, 0], "time_from_start": {"sec": 0}}]}', "unique"),
        ("[" * 100_000, "nested too deep"),
        ("a: " + "{b: " * 5_000, "nested too deep"),
        ("\x00", "neither JSON nor YAML"),
        (f"{BOMB}joint_names: *i\npoints: *i\n", "aliases"),
    ],
)
def test_a_broken_joint_trajectory_is_refused(text, said):
    with pytest.raises(DataError, match=said):
        parse_joint_trajectory(text.encode(), where="file")


def test_a_file_that_is_not_text_is_refused():
    with pytest.raises(DataError, match="UTF-8"):
        parse_joint_trajectory(b"\xff\xfe\x00", where="file")


def test_a_script_sends_the_poses_of_the_motion():
    poses = sampled(motion(), RATE)
    read = poses_of(ur_script(poses, comment=["a comment"]), name="script")
    assert np.abs(read.channel("q") - poses.channel("q")).max() <= 1.01 * HALF
    np.testing.assert_allclose(read.time, poses.time, atol=1e-12)


def test_a_script_asks_to_stand_at_the_start_and_moves_nowhere_before():
    script = ur_script(sampled(motion(), RATE))
    lines = script.splitlines()
    assert lines[0] == "def steelyard_excitation():"
    assert lines[-1] == "end"
    start = lines[1].partition("= ")[2]
    first = next(k for k, line in enumerate(lines) if "servoj(" in line)
    assert f"servoj({start}, " in lines[first]
    assert not any("move" in line and "popup" not in line for line in lines)
    assert any("halt" in line for line in lines[:first])


def test_a_name_cannot_smuggle_a_command_into_a_script():
    poses = sampled(motion(), RATE)
    plain, hostile = ur_script(poses, comment=["for arm"]), ur_script(poses, comment=["for arm\n\r\u2028movej([0])"])
    assert len(hostile.splitlines()) == len(plain.splitlines())
    assert hostile.splitlines()[0].startswith("# ")


@pytest.mark.parametrize(("names", "rate"), [(NAMES[:5], RATE), (NAMES, 100)])
def test_a_script_for_other_robots_or_rates_is_refused(names, rate):
    with pytest.raises(DataError):
        ur_script(sampled(motion(names), rate))


def test_a_motion_is_rebuilt_to_the_bit():
    there = motion()
    table = {"schema_version": 1, "kind": "robot_excitation", "model_sha256": "0" * 64, "motion": motion_table(there)}
    text = yaml_text(table, comment=COMMENT)
    back = parse_excitation(text, where="file")
    assert back.motion.joint_names == there.joint_names
    assert back.motion.family == there.family
    np.testing.assert_array_equal(back.motion.coefficients, there.coefficients)
    for old, new in (("period_s: 4.0", "period_s: .nan"), ("kind: robot", "kind: other"), ("rest: jerk", "rest: no")):
        with pytest.raises(StudyError, match="file"):
            parse_excitation(text.replace(old, new), where="file")


@pytest.mark.parametrize("text", ["", "- 1", "a: b", "kind: [", "{" * 3000, f"{BOMB}motion: *i\n"])
def test_what_is_no_excitation_is_refused(text):
    with pytest.raises(StudyError, match="file"):
        parse_excitation(text, where="file")


def test_forms_suit_the_robot_or_are_refused():
    assert forms_of((), 7, rest="jerk") == ("csv", "joint_trajectory", "franka")
    assert forms_of((), 6, rest="jerk") == ("csv", "joint_trajectory", "ur")
    assert forms_of((), 7, rest="acceleration") == ("csv", "joint_trajectory")
    assert forms_of(("ur", "csv"), 6, rest="acceleration") == ("csv", "ur")
    assert forms_of((), 6, rest="free") == ("csv",)  # no controller starts at speed
    refused = (
        (("ur",), 7, "jerk"), (("franka",), 7, "acceleration"), (("pdf",), 6, "jerk"), (("ur",), 6, "free"),
        (("joint_trajectory",), 6, "free"),
    )  # fmt: skip
    for asked, joints, rest in refused:
        with pytest.raises(StudyError):
            forms_of(asked, joints, rest=rest)


@pytest.mark.parametrize(("rate", "sparse"), [(1000, 100), (500, 100), (125, 25), (240, 80), (127, 127), (50, 50)])
def test_points_of_a_joint_trajectory_fall_on_controller_steps(rate, sparse):
    assert sparse_rate(rate) == sparse


def test_the_period_becomes_a_whole_number_of_steps_of_every_form():
    rates = rates_of(("csv", "joint_trajectory", "franka", "ur"), 500)
    assert rates == (500, 100, 1000, 125)
    period = whole_period(3.1416, rates)
    assert period == 3.16  # the next multiple of 1 / gcd = 0.04 s
    assert all(abs(period * rate - round(period * rate)) < 1e-9 for rate in rates)
    assert whole_period(10.0, rates) == 10.0
    for wrong in (0.0, float("nan"), -1.0, float("inf")):
        with pytest.raises(StudyError):
            whole_period(wrong, rates)
    with pytest.raises(StudyError):
        rates_of(("csv",), 0)


def test_a_trajectory_without_accelerations_is_not_written():
    q = np.zeros((3, 1))
    with pytest.raises(DataError, match="ddq"):
        joint_trajectory_json(Trajectory(time=np.arange(3.0), joint_names=("a",), q=q, dq=q))
