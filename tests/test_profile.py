"""The profile and the simulators' tables: units in the keys, one text for one set of values, read back exactly."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odd_urdf import PLAIN
from steelyard.errors import ModelError, StudyError
from steelyard.formats.export_values import JointDynamics, JointQuantity, export_values
from steelyard.formats.model_text import description_of
from steelyard.formats.profile import Tool, profile_text, tool_of_parameters, unit_suffix
from steelyard.formats.simulator_tables import drake_table, isaac_lab_table
from steelyard.formats.yaml_text import yaml_text
from steelyard.robot.inertia import parameters_about_origin
from steelyard.robot.load import build_robot
from steelyard.robot.robot import STANDARD_GRAVITY


@pytest.fixture(scope="module")
def values():
    robot = build_robot(description_of(PLAIN.encode(), "x"), np.array(STANDARD_GRAVITY), mimic="lock")
    joints = {
        "j2": JointDynamics(20.0, 3.0, 1.5, 0.25),
        "j1": JointDynamics(0.25, 0.41, None, -0.06, (JointQuantity("stiffness", 1e-5, "N m/rad"),)),
    }
    arm = parameters_about_origin(2.0, np.array([0.5, 0, 0]), np.diag([0.25, 0.5, 0.5]))
    return export_values(robot, links={"arm": arm}, joints=joints)


def test_the_profile_of_tool_and_joints(values):
    tool = Tool("inspection_camera_v2", "tool0", 1.27, (0.018, -0.006, 0.094))
    text = profile_text(values, tool=tool, provenance={"dataset_sha256": "0123", "result": "a b"})
    head, _, body = text.partition("schema_version")
    assert all(line.startswith("# ") for line in head.splitlines())
    assert (
        "schema_version" + body
        == f"""\
schema_version: 1
kind: robot_dynamics_profile
status: candidate
robot: odd
model_sha256: {json.dumps(values.robot.digest) if values.robot.digest[0].isdigit() else values.robot.digest}
provenance:
  dataset_sha256: "0123"
  result: "a b"
tool_dynamics:
  tool_id: inspection_camera_v2
  frame: tool0
  mass_kg: 1.27
  center_of_mass_m: [0.018, -0.006, 0.094]
joint_dynamics:
  j1:
    viscous_friction_nm_s_per_rad: 0.25
    coulomb_friction_nm: 0.41
    torque_bias_nm: -0.06
    stiffness_nm_per_rad: 1.0e-05
  j2:
    viscous_friction_n_s_per_m: 20.0
    coulomb_friction_n: 3.0
    force_bias_n: 0.25
    rotor_inertia_kg: 1.5
"""
    )
    assert profile_text(values, tool=tool, provenance={"dataset_sha256": "0123", "result": "a b"}) == text


def test_what_was_not_identified_is_left_out_not_zero(values):
    robot = values.robot
    text = profile_text(
        export_values(robot, links={}, joints={"j1": JointDynamics(friction=0.0), "j2": JointDynamics()})
    )
    assert text.partition("joint_dynamics:\n")[2] == "  j1:\n    coulomb_friction_nm: 0.0\n"
    assert "tool_dynamics" not in text
    assert profile_text(export_values(robot, links={}, joints={})).endswith("joint_dynamics: {}\n")


def test_a_tool_from_its_ten_parameters():
    about_centre = np.array([[0.003, 1e-4, 0], [1e-4, 0.004, 0], [0, 0, 0.005]])
    tool = tool_of_parameters(
        "t", "flange", parameters_about_origin(1.27, np.array([0.018, -0.006, 0.094]), about_centre)
    )
    assert tool.mass == 1.27
    np.testing.assert_allclose(tool.center_of_mass, [0.018, -0.006, 0.094], rtol=1e-15)
    # 1.27 kg at 0.1 m: moments of 0.01 kg m2 about the origin, known to 2e-18
    np.testing.assert_allclose(tool.inertia, about_centre, atol=1e-17)
    with pytest.raises(ModelError, match="mass above zero"):
        tool_of_parameters("t", "flange", np.zeros(10))


def test_the_tool_inertia_is_written_in_rows(values):
    tool = Tool("t", "flange", 1.0, (0.0, 0.0, 0.5), np.array([[0.3, 0.0, 0.1], [0.0, 0.2, 0.0], [0.1, 0.0, 0.3]]))
    rows = "    - [0.3, 0.0, 0.1]\n    - [0.0, 0.2, 0.0]\n    - [0.1, 0.0, 0.3]\n"
    assert "  inertia_about_center_of_mass_kg_m2:\n" + rows in profile_text(values, tool=tool)


@pytest.mark.parametrize(
    ("unit", "suffix"),
    [
        ("N m", "nm"),
        ("N", "n"),
        ("N m s/rad", "nm_s_per_rad"),
        ("N m s2/rad2", "nm_s2_per_rad2"),
        ("N/m", "n_per_m"),
        ("kg m2", "kg_m2"),
        ("", ""),
    ],
)
def test_units_as_ends_of_keys(unit, suffix):
    assert unit_suffix(unit) == suffix


def test_the_table_for_drake(values):
    body = drake_table(values).partition("\nbodies:")[2]
    assert (
        body
        == """
  arm:
    mass: 2.0
    p_PScm_E: [0.5, 0.0, 0.0]
    G_SP_E: [0.125, 0.5, 0.5, 0.0, 0.0, 0.0]
joints:
  j1:
    damping: 0.25
  j2:
    damping: 20.0
    rotor_inertia: 1.5
    gear_ratio: 1.0
not_held:
  j1:
    coulomb_friction_nm: 0.41
    torque_bias_nm: -0.06
    stiffness_nm_per_rad: 1.0e-05
  j2:
    coulomb_friction_n: 3.0
    force_bias_n: 0.25
"""
    )


def test_the_table_for_isaac_lab(values):
    body = isaac_lab_table(values).partition("actuator:\n")[2]
    assert (
        body
        == """\
  joint_names_expr: [j1, j2]
  armature:
    j2: 1.5
  friction:
    j1: 0.41
    j2: 3.0
  dynamic_friction:
    j1: 0.41
    j2: 3.0
  viscous_friction:
    j1: 0.25
    j2: 20.0
not_held:
  j1:
    torque_bias_nm: -0.06
    stiffness_nm_per_rad: 1.0e-05
  j2:
    force_bias_n: 0.25
"""
    )


def test_joint_names_are_escaped_where_they_are_patterns():
    text = PLAIN.replace('"j1"', '"j.1"')
    robot = build_robot(description_of(text.encode(), "x"), np.array(STANDARD_GRAVITY), mimic="lock")
    table = isaac_lab_table(export_values(robot, links={}, joints={"j.1": JointDynamics(1.0)}))
    assert '  joint_names_expr: ["j\\\\.1"]\n' in table
    assert '  viscous_friction:\n    "j\\\\.1": 1.0\n' in table


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e-3, "0.001"),
        (1e-5, "1.0e-05"),  # without the point YAML 1.1 reads a word
        (1e22, "1.0e+22"),
        (1.5e-7, "1.5e-07"),
        (-0.0, "-0.0"),
        (3, "3"),
        (True, "true"),
        (None, "null"),
        ("arm", "arm"),
        ("no", '"no"'),
        ("Yes", '"Yes"'),
        ("null", '"null"'),
        ("12:30", '"12:30"'),
        ("012", '"012"'),
        ("1e3", '"1e3"'),
        ("a: b", '"a: b"'),
        ("", '""'),
        ("#x", '"#x"'),
        ("line\nbreak\x85", '"line\\nbreak\\x85"'),
        ("臂", '"臂"'),
        ([1.0, -2.0], "[1.0, -2.0]"),
        ([], "[]"),
        ({}, "{}"),
    ],
)
def test_yaml_values_cannot_be_mistaken(value, text):
    assert yaml_text({"key": value}) == f"key: {text}\n"


@pytest.mark.parametrize("value", [np.inf, np.nan, {1: 2.0}, {"a": object()}, [[1.0], 2.0]])
def test_yaml_refuses_what_it_cannot_say(value):
    with pytest.raises(StudyError):
        yaml_text({"key": value})


# What YAML 1.1 and 1.2 both take for a float, from their specifications.
FLOAT = re.compile(r"[-+]?[0-9]+\.[0-9]*(?:[eE][-+][0-9]+)?")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_reads_back_as_itself(value):
    text = yaml_text({"x": value}).removeprefix("x: ").rstrip("\n")
    assert FLOAT.fullmatch(text)
    assert float(text) == value
