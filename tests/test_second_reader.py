"""Pinocchio's second opinion on the masses of a URDF, and what couplings may say at all."""

from __future__ import annotations

import pytest

import robots
from steelyard.errors import ModelError
from steelyard.robot import second_reader
from steelyard.robot.robot import Robot
from steelyard.robot.urdf_lint import lint_urdf
from urdf_text import LIMIT, arm, inertial, joint, link, write

BLANKS = ['"2 "', '" 2"', '"\n2\n"', '"\t2"', '"&#9;2"']


@pytest.mark.parametrize("mass", BLANKS)
def test_blanks_around_a_number_are_no_other_number(tmp_path, capfd, mass):
    """urdfdom takes them for no number, and the link for massless."""
    content = inertial().replace('value="2"', f"value={mass}").replace('ixy="0"', 'ixy=" 0 "')
    robot = Robot.from_urdf(write(tmp_path, *arm(content)))
    assert robot.parameters[0] == 2.0
    assert capfd.readouterr() == ("", "")


def test_joints_without_limits_are_accepted_without_a_word(tmp_path, capfd):
    robot = Robot.from_urdf(write(tmp_path, *arm(limit="")))
    assert robot.joint_names == ("j1", "j2")
    assert capfd.readouterr() == ("", "")


def test_a_link_that_the_other_reader_weighs_otherwise_is_named(tmp_path, monkeypatch):
    path = write(tmp_path, *arm())
    description = lint_urdf(path).usable()
    path.write_text(path.read_text(encoding="utf-8").replace('value="2"', 'value="2.00001"', 1), encoding="utf-8")
    with pytest.raises(ModelError, match="mass of link 'arm'") as caught:
        second_reader.check_masses(path, description)
    assert caught.value.where == f"{path}:3"


def test_a_chain_of_a_thousand_joints_is_read(tmp_path):
    names = ["base", *(f"l{k}" for k in range(1000))]
    joints = [joint(f"j{k}", names[k], names[k + 1], kind="fixed" if k % 10 else "revolute") for k in range(1000)]
    robot = Robot.from_urdf(write(tmp_path, *map(link, names), *joints))
    assert robot.moving_mass == pytest.approx(2000.0, rel=1e-12)


def test_mimics_of_mimics_may_not_multiply_beyond_all_bounds(tmp_path):
    parts = [link("base", "")]
    for k in range(6):
        follows = f'<mimic joint="j{k - 1}" multiplier="1000"/>' if k else ""
        parts += [link(f"l{k}"), joint(f"j{k}", "base", f"l{k}", LIMIT + follows)]
    with pytest.raises(ModelError, match="joint 'j4' follows 'j0'") as caught:
        Robot.from_urdf(write(tmp_path, *parts))
    assert caught.value.where == "line 12"


def test_a_joint_that_leads_keeps_the_limits_of_its_followers(tmp_path):
    """The third joint stands at -0.98 q - 0.18 within +-3 rad, so q below 2.82 / 0.98; exclusive limits are refused."""
    robot = Robot.from_urdf(robots.write(tmp_path, "knuckles"), mimic="project")
    assert (robot.lower[0], robot.upper[0]) == pytest.approx((-3.0, 2.82 / 0.98))
    assert robot.velocity_limit[0] == 5.0
    fast = [part.replace('multiplier="0.7"', 'multiplier="7.0"') for part in robots.TEXTS["knuckles"]]
    robot = Robot.from_urdf(robots.write(tmp_path, "fast", fast), mimic="project")
    assert robot.velocity_limit[0] == pytest.approx(5.0 / 9.8)
    away = [part.replace('offset="0.2"', 'offset="40.0"') for part in robots.TEXTS["knuckles"]]
    with pytest.raises(ModelError, match="keeps its own limits and those of its follower"):
        Robot.from_urdf(robots.write(tmp_path, "away", away), mimic="project")
