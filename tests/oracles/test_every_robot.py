"""Every URDF of example-robot-data: loaded, and moving as in Pinocchio, or refused for a stated reason."""

from __future__ import annotations

import sysconfig
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import robots
from steelyard.errors import ModelError
from steelyard.model import Model
from steelyard.robot.load import lint_model
from steelyard.robot.robot import Robot
from steelyard.terms.rigid_body import RigidBody
from whole_robot import motion_of, oracle, pinocchio_torque

AGREEMENT = 1e-12  # relative; both sides carry double precision through a few dozen bodies

# The files that do not deserve to be loaded, what the linter says, and why it is right.
REFUSED = {
    # grippers were renamed with a prefix, the joints that they mimic were not: eight fingers follow nothing
    "alex_description/urdf/alex_psyonic_hands.urdf": ("model.mimic_unknown", 8),
    # two gripper joints move links without any inertial: a singular mass matrix, torque nan in other readers
    "romeo_description/urdf/romeo_laas_small.urdf": ("model.zero_inertial_moving", 2),
    # xacro left an empty <robot>: the file that holds the arm is ur3_robot.urdf
    "ur_description/urdf/ur3.urdf": ("model.no_links", 1),
}
# Robots whose grippers follow one another: locked by default, with the number of joints.
MIMICS = {
    "baxter_description/urdf/baxter.urdf": 2,
    "panda_description/urdf/panda.urdf": 1,
    "panda_description/urdf/panda_collision.urdf": 1,
    "pr2_description/urdf/pr2.urdf": 10,
    "romeo_description/urdf/romeo.urdf": 22,
    "talos_data/robots/talos_full_v2.urdf": 12,
    "talos_data/robots/talos_full_v2_box.urdf": 12,
    "tiago_pro_description/robots/tiago_pro.urdf": 10,
}
# Frames without mass, and zero tensors, that the reference robots carry and that must not stop them.
MASSLESS = {
    "panda_description/urdf/panda.urdf": "panda_link8",
    "ur_description/urdf/ur5_robot.urdf": "tool0",
    "ur_description/urdf/ur10_robot.urdf": "ee_link",
}


def folder() -> Path:
    return Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"


def places() -> list[str]:
    return sorted(path.relative_to(folder()).as_posix() for path in folder().rglob("*.urdf"))


@lru_cache(maxsize=4)
def loaded(place: str) -> Robot:
    return Robot.from_file(folder() / place)


def test_the_package_is_here():
    assert len(places()) >= 60
    assert set(REFUSED) | set(MIMICS) | set(MASSLESS) <= set(places())


@pytest.mark.parametrize("place", sorted(REFUSED))
def test_a_robot_that_does_not_deserve_it_is_refused(place):
    code, count = REFUSED[place]
    assert [finding.code for finding in lint_model(folder() / place).errors] == [code] * count
    with pytest.raises(ModelError, match=Path(place).name):
        loaded(place)


@pytest.mark.parametrize("place", [place for place in places() if place not in REFUSED])
def test_a_robot_moves_as_in_pinocchio(place):
    """Once on its base and once afloat; the drones have no joints, and only float."""
    path = folder() / place
    robot = loaded(place)
    assert len([f for f in robot.findings if f.code == "model.mimic_locked"]) == MIMICS.get(place, 0)
    assert not robot.floating
    for floating in (True, False) if robot.joint_names else (True,):
        robot = Robot.from_file(path, gravity=robots.TILTED, floating=floating)
        model = oracle(path, robots.TILTED, floating=floating)
        assert robot.moving_mass == pytest.approx(sum(i.mass for i in list(model.inertias)[1:]), rel=1e-12)
        motion = motion_of(robot, 4)
        theirs = pinocchio_torque(model, robot, motion)
        assert robots.relative(Model(robot, (RigidBody(),)).torque(robot.parameters, motion), theirs) < AGREEMENT


@pytest.mark.parametrize(("place", "link"), MASSLESS.items())
def test_frames_without_mass_are_nothing(place, link):
    robot = loaded(place)
    own = next(part for part in robot.links if part.name == link)
    assert own.parameters is None or not own.parameters.any()
    assert not [f for f in robot.findings if repr(link) in f.where]


@pytest.mark.parametrize(
    ("place", "kept"),
    [
        ("talos_data/robots/talos_reduced.urdf", "arm_left"),
        ("panda_description/urdf/panda.urdf", "panda_joint"),
        ("tiago_pro_description/robots/tiago_pro.urdf", "arm_left"),
    ],
)
def test_locking_loses_nothing(place, kept):
    """Mass, torque of the joints that stay, their damping and friction are what they were before."""
    whole = loaded(place)
    at = {name: 0.1 for name in whole.joint_names if kept not in name}
    robot = whole.locked(at)
    assert set(robot.joint_names) == {name for name in whole.joint_names if kept in name}
    motion = robots.states(robot.joint_names, 10)
    still = np.zeros(len(motion))
    moving = {n: (motion.q[:, j], motion.dq[:, j], motion.ddq[:, j]) for j, n in enumerate(robot.joint_names)}
    parts = [moving.get(name, (still + 0.1, still, still)) for name in whole.joint_names]
    full = type(motion)(motion.time, whole.joint_names, *(np.column_stack(p) for p in zip(*parts, strict=True)))
    rows = [whole.joint_names.index(name) for name in robot.joint_names]
    theirs = Model(whole, (RigidBody(),)).torque(whole.parameters, full)[:, rows]
    assert robots.relative(Model(robot, (RigidBody(),)).torque(robot.parameters, motion), theirs) < AGREEMENT
    for quantity in ("damping", "friction", "rotor_inertia", "lower", "upper", "velocity_limit", "effort_limit"):
        np.testing.assert_array_equal(getattr(robot, quantity), getattr(whole, quantity)[rows], quantity)
    ours, before = (sum(x.parameters[0] for x in r.links if x.parameters is not None) for r in (robot, whole))
    assert ours == before


def test_rotor_inertia_outlives_a_lock(repository):
    """Other reducers have lost it; from a file that has one."""
    whole = Robot.from_mjcf(repository / "examples" / "robots" / "arm6.xml")
    robot = whole.locked({"elbow": 0.4, "waist": -0.2})
    keep = [whole.joint_names.index(name) for name in robot.joint_names]
    assert len(keep) == 4
    np.testing.assert_array_equal(robot.rotor_inertia, whole.rotor_inertia[keep])
    assert (whole.rotor_inertia > 0.0).all()


def test_a_chain_is_the_robot_with_everything_else_locked(tmp_path):
    """A sub-chain of a branching robot: the other arm stays as mass on the torso."""
    whole = robots.load(tmp_path, "branching")
    chain = whole.chain("left_hand")
    assert chain.joint_names == ("waist", "left_shoulder", "left_slide")
    assert chain.moving_mass == pytest.approx(whole.moving_mass, rel=1e-15)
    motion = robots.states(chain.joint_names)
    other = whole.locked({"right_shoulder": 0.0, "neck": 0.0})
    torque = [Model(robot, (RigidBody(),)).torque(robot.parameters, motion) for robot in (chain, other)]
    np.testing.assert_array_equal(*torque)
    with pytest.raises(ModelError, match="not a link of the robot"):
        whole.chain("left_foot")


@pytest.mark.parametrize("kind", ["planar", "ball"])
def test_a_joint_with_coupled_coordinates_is_a_clear_error(tmp_path, kind):
    parts = (robots.body("base"), robots.body("sled", 1.0), robots.joint("slip", "base sled", kind=kind))
    with pytest.raises(ModelError, match="joint 'slip'") as error:
        robots.load(tmp_path, kind, parts)
    assert error.value.where.startswith(f"{kind}.urdf:4")
    assert error.value.cure
