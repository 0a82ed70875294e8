"""Reading joint_limits.yaml: what it says, and what is wrong with it, with the line."""

from __future__ import annotations

import math

import pytest

from steelyard.errors import StudyError
from steelyard.excite.limits import JointLimit
from steelyard.formats.joint_limits import parse_joint_limits, read_joint_limits

MOVEIT = """\
# limits of an arm
default_velocity_scaling_factor: 0.1
joint_limits:
  shoulder:
    has_velocity_limits: true
    max_velocity: 2.175
    has_acceleration_limits: true
    max_acceleration: 3.75
    has_deceleration_limits: true
    max_deceleration: 3.5
    has_jerk_limits: false
  elbow:
    {has_position_limits: true, min_position: !degrees -90, max_position: 1e0, has_effort_limits: true, max_effort: 12,
     has_torque_rate_limits: true, max_torque_rate: 1000}
  wrist: {has_acceleration_limits: false, max_acceleration: 0, has_position_limits: false}
"""


def test_a_file_of_moveit(tmp_path):
    path = tmp_path / "joint_limits.yaml"
    path.write_text("\ufeff" + MOVEIT, encoding="utf-8")
    assert read_joint_limits(path) == {
        "shoulder": JointLimit(velocity=2.175, acceleration=3.5, jerk=math.inf),
        "elbow": JointLimit(lower=-math.pi / 2, upper=1.0, effort=12.0, torque_rate=1000.0),
        "wrist": JointLimit(lower=-math.inf, upper=math.inf, acceleration=math.inf),
    }


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("joint_limits:\n  a: {has_jerk_limits: true}", 2, "there is no max_jerk"),
        ("joint_limits:\n  a: {max_jerk: 3}", 2, "without has_jerk_limits"),
        ("joint_limits:\n  a:\n    has_jerk_limit: true", 3, "unknown key"),
        ("joint_limits:\n  a: {has_jerk_limits: true, max_jerk: '3'}", 2, "a number in SI"),
        ("joint_limits:\n  a: {has_jerk_limits: true, max_jerk: 3,5}", 2, "unknown key"),
        ("joint_limits:\n  a: {has_jerk_limits: true, max_jerk: 1_000}", 2, "a number in SI"),
        ("joint_limits:\n  a: {has_jerk_limits: true, max_jerk: .inf}", 2, "a number in SI"),
        ("joint_limits:\n  a: {has_jerk_limits: true, max_jerk: .nan}", 2, "a number in SI"),
        ("joint_limits:\n  a: {has_jerk_limits: true, max_jerk: 0x10}", 2, "a number in SI"),
        ("joint_limits:\n  a: {has_jerk_limits: true, max_jerk: !feet 3}", 2, "a number in SI"),
        ("joint_limits:\n  a: {has_jerk_limits: true, max_jerk: [3]}", 2, "a number in SI"),
        ("joint_limits:\n  a: {has_jerk_limits: yes, max_jerk: 3}", 2, "true or false"),
        ("joint_limits:\n  a: {has_jerk_limits: 1, max_jerk: 3}", 2, "true or false"),
        ("joint_limits:\n  a: {}\n  a: {}", 3, "given twice"),
        ("joint_limits:\n  a: {has_jerk_limits: false, has_jerk_limits: false}", 2, "given twice"),
        ("joint_limits:\n  a: 3", 2, "a table"),
        ("joint_limits: [1]", 1, "a table"),
        ("joint_limits:\n  ? [1]\n  : {}", 2, "a name"),
        ("limits: {}", 1, "unknown key"),
        ("joint_limits: {\n", 2, "cannot be read"),
        ("---\njoint_limits: {}\n---\njoint_limits: {}", 3, "cannot be read"),
    ],
)
def test_what_is_wrong_has_a_line(text, line, words):
    with pytest.raises(StudyError, match=words) as caught:
        parse_joint_limits(text, where="my.yaml")
    assert f"my.yaml, line {line}" in caught.value.where


@pytest.mark.parametrize("text", ["", "# nothing", "\x01", "[" * 1_500, "default_velocity_scaling_factor: 1"])
def test_what_is_no_limits_file(text):
    with pytest.raises(StudyError, match=r"my\.yaml"):
        parse_joint_limits(text, where="my.yaml")


def test_a_mistyped_key_is_guessed():
    with pytest.raises(StudyError, match="has_acceleration_limits") as caught:
        parse_joint_limits("joint_limits: {a: {has_accelaration_limits: true}}")
    assert caught.value.cure == 'did you mean "has_acceleration_limits"?'


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(StudyError, match="no such file"):
        read_joint_limits(tmp_path / "absent.yaml")
    with pytest.raises(StudyError, match=r"cannot be read|not a limits file"):
        read_joint_limits(tmp_path)
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"joint_limits:\n  gelenk_\xfc: {}\n")
    with pytest.raises(StudyError, match="not UTF-8") as caught:
        read_joint_limits(latin)
    assert caught.value.where.endswith("line 2")
    large = tmp_path / "large.yaml"
    large.write_bytes(b"# " * 2**20)
    with pytest.raises(StudyError, match="at most 1 MB"):
        read_joint_limits(large)
    with pytest.raises(StudyError, match="cannot be read"):
        read_joint_limits("nul\0byte")
