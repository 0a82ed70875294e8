"""Parts on a robot: put on, taken off and moved exactly, against Pinocchio on a URDF with the part written into it."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import robots
from steelyard.errors import ModelError
from steelyard.model import Model
from steelyard.robot.inertia import parameters_about_origin, rotation_rpy, tensor
from steelyard.robot.tool import combined, frame, with_tool, with_tool_moved, without_tool
from steelyard.terms.rigid_body import RigidBody

BOX = np.array([0.1, 0.2, 0.3])
MASS, CENTRE, RPY, AT = 0.8, np.array([0.03, -0.02, 0.1]), np.array([0.4, -0.3, 1.2]), np.array([0.05, 0.02, 0.07])
INERTIA = MASS / 12.0 * np.diag([BOX[1] ** 2 + BOX[2] ** 2, BOX[0] ** 2 + BOX[2] ** 2, BOX[0] ** 2 + BOX[1] ** 2])
PART = parameters_about_origin(MASS, CENTRE, INERTIA)


def words(values):
    return " ".join(repr(float(v)) for v in values)


def with_part(rpy=RPY, at=AT, link="flange"):
    """The tooled robot as text, with the part fixed to a link."""
    return (
        *robots.TEXTS["tooled"],
        robots.body("part", MASS, words(CENTRE), words(BOX)),
        robots.joint("grip", f"{link} part", kind="fixed", at=words(at), rpy=words(rpy)),
    )


@pytest.fixture
def bare(tmp_path):
    return robots.load(tmp_path, "tooled")


def agrees(robot, path):
    """Largest relative difference of inverse dynamics from Pinocchio's of a file."""
    motion = robots.states(robot.joint_names, 40)
    model = Model(robot, (RigidBody(),))
    return robots.relative(
        model.torque(model.nominal, motion), robots.pinocchio_torque(pin.buildModelFromUrdf(str(path)), motion)
    )


@pytest.mark.parametrize("link", ["flange", "tool", "upper"])
def test_a_part_put_on_is_the_part_in_the_file(tmp_path, bare, link):
    path = robots.write(tmp_path, "with_part", with_part(link=link))
    robot = with_tool(bare, "part", PART, link=link, rotation=rotation_rpy(RPY), translation=AT)
    assert agrees(robot, path) < 1e-12
    assert agrees(bare, path) > 1e-3


def test_a_part_taken_off_is_the_file_without_it(tmp_path, bare):
    path = robots.write(tmp_path, "tooled")
    loaded = robots.load(tmp_path, "with_part", with_part())
    assert agrees(without_tool(loaded, "part"), path) < 1e-12
    on = with_tool(bare, "part", PART, link="flange", rotation=rotation_rpy(RPY), translation=AT)
    np.testing.assert_array_equal(without_tool(on, "part").parameters, bare.parameters)


def test_a_part_moved_is_the_file_with_it_elsewhere(tmp_path, bare):
    on = with_tool(bare, "part", PART, link="flange")
    moved = with_tool_moved(on, "part", rotation=rotation_rpy(RPY), translation=AT)
    assert agrees(moved, robots.write(tmp_path, "with_part", with_part())) < 1e-12
    turned = rotation_rpy(RPY).T
    back = with_tool_moved(moved, "part", rotation=turned, translation=-turned @ AT)
    np.testing.assert_allclose(back.parameters, on.parameters, rtol=1e-12, atol=1e-14)


def test_a_tool_of_the_file_can_be_taken_off_too(tmp_path, bare):
    lighter = without_tool(bare, "camera")
    parts = tuple(p for p in robots.TEXTS["tooled"] if "camera" not in p)
    assert agrees(lighter, robots.write(tmp_path, "lighter", parts)) < 1e-12
    assert bare.moving_mass - lighter.moving_mass == pytest.approx(0.2)


def test_several_parts_are_one():
    R, p = rotation_rpy(RPY), AT
    one = combined((PART, R, p), (PART, np.eye(3), np.zeros(3)))
    assert one[0] == pytest.approx(2 * MASS)
    centre = one[1:4] / one[0]
    np.testing.assert_allclose(centre, 0.5 * (R @ CENTRE + p + CENTRE), rtol=1e-12)
    about = sum(
        turn @ INERTIA @ turn.T + MASS * ((c @ c) * np.eye(3) - np.outer(c, c))
        for turn, c in ((R, R @ CENTRE + p), (np.eye(3), CENTRE))
    )
    np.testing.assert_allclose(tensor(one[4:]), about, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(combined(), np.zeros(10))


def test_the_flange_is_found(bare, example_robots):
    from steelyard.robot.robot import Robot

    assert frame(bare).name == "flange"
    assert frame(bare, "tool").name == "tool"
    panda = Robot.from_urdf(example_robots / "panda_description" / "urdf" / "panda.urdf")
    assert frame(panda.locked(["panda_finger_joint1"])).name == "panda_link8"
    ur10 = Robot.from_urdf(example_robots / "ur_description" / "urdf" / "ur10_robot.urdf")
    assert frame(ur10).name == "tool0"
    assert frame(robots_without_frames(bare)).name == "lower"


def robots_without_frames(robot):
    from dataclasses import replace

    return replace(robot, links=tuple(link for link in robot.links if link.name in ("base", "upper", "lower")))


def test_requests_that_make_no_sense_are_refused(bare):
    for options, what in (
        ({"link": "nose"}, "not a moving link"),
        ({"link": "stand"}, "not a moving link"),  # bolted to the floor
        ({"link": "flange", "rotation": 2.0 * np.eye(3)}, "rotation matrix"),
        ({"link": "flange", "rotation": -np.eye(3)}, "rotation matrix"),
        ({"link": "flange", "translation": [0.0, np.nan, 0.0]}, "rotation matrix"),
    ):
        with pytest.raises(ModelError, match=what):
            with_tool(bare, "part", PART, **options)
    with pytest.raises(ModelError, match="there already"):
        with_tool(bare, "tool", PART, link="flange")
    with pytest.raises(ModelError, match="ten finite parameters"):
        with_tool(bare, "part", PART[:4], link="flange")
    with pytest.raises(ModelError, match="no part of this name"):
        without_tool(bare, "part")
    with pytest.raises(ModelError, match="no part of this name"):
        without_tool(bare, "flange")
    with pytest.raises(ModelError, match="not a moving link"):
        with_tool_moved(bare, "part")
