"""Numbers of base parameters against the published ones, and the regrouping against motion it was not made from."""

from __future__ import annotations

import numpy as np
import pytest

import robots
from steelyard.basis import TOLERANCE, base_parameters, random_states
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.viscous import Viscous

RIGID, ROTOR = (RigidBody(),), (RigidBody(), RotorInertia())
FULL = (*ROTOR, Viscous(), Coulomb(), Offset())

# Serial arms by the placement of their axes (rpy in quarter turns). Counts: Mayeda, Yoshida, Osuka 1990; Khalil &
# Dombre, Modeling, Identification and Control of Robots, ch. 9: rigid bodies, and with one rotor inertia a joint.
PUMA = (
    "revolute 0,0,1 0,0,0.6 0,0,0",
    "revolute 0,0,1 0,0,0 -1,0,0",
    "revolute 0,0,1 0.43,0,0.15 0,0,0",
    "revolute 0,0,1 0.02,0.43,0 -1,0,0",
    "revolute 0,0,1 0,0,0 1,0,0",
    "revolute 0,0,1 0,0,0 -1,0,0",
)
ARMS = {
    "puma560": (PUMA, 36, 40),
    "rx90": (
        ("revolute 0,0,1 0,0,0 0,0,0", "revolute 0,0,1 0,0,0 1,0,0", "revolute 0,0,1 0.45,0,0 0,0,0",
         "revolute 0,0,1 0,-0.45,0 -1,0,0", "revolute 0,0,1 0,0,0 1,0,0", "revolute 0,0,1 0,0,0 -1,0,0"),
        36, 40,
    ),
    "stanford": (
        ("revolute 0,0,1 0,0,0.4 0,0,0", "revolute 0,0,1 0,0.15,0 -1,0,0", "prismatic 0,0,1 0,-0.3,0 1,0,0",
         "revolute 0,0,1 0,0,0 0,0,0", "revolute 0,0,1 0,0,0 -1,0,0", "revolute 0,0,1 0,0,0 1,0,0"),
        33, 37,
    ),
    "lwr": (
        ("revolute 0,0,1 0,0,0.3 0,0,0", "revolute 0,0,1 0,0,0 1,0,0", "revolute 0,0,1 0,0.4,0 -1,0,0",
         "revolute 0,0,1 0,0,0 -1,0,0", "revolute 0,0,1 0,-0.39,0 1,0,0", "revolute 0,0,1 0,0,0 1,0,0",
         "revolute 0,0,1 0,0,0 -1,0,0"),
        43, 48,
    ),
    "wam": (
        ("revolute 0,0,1 0,0,0.3 0,0,0", "revolute 0,0,1 0,0,0 -1,0,0", "revolute 0,0,1 0,-0.55,0 1,0,0",
         "revolute 0,0,1 0.045,0,0 -1,0,0", "revolute 0,0,1 -0.045,0.3,0 1,0,0", "revolute 0,0,1 0,0,0 -1,0,0",
         "revolute 0,0,1 0,0,0 1,0,0"),
        43, 48,
    ),
    "scara": (
        ("revolute 0,0,1 0,0,0.4 0,0,0", "revolute 0,0,1 0.4,0,0 0,0,0", "prismatic 0,0,-1 0.3,0,0 0,0,0",
         "revolute 0,0,1 0,0,0 0,0,0"),
        8, 11,
    ),
    "planar_horizontal": (("revolute 0,0,1 0,0,0.4 0,0,0", "revolute 0,0,1 0.4,0,0 0,0,0"), 4, 5),
    "slide_upright": (("prismatic 0,0,1 0,0,0.4 0,0,0",), 1, 2),  # its weight tells mass from rotor inertia
    "slide_level": (("prismatic 1,0,0 0,0,0.4 0,0,0",), 1, 1),
    "turn_slide": (("revolute 0,0,1 0,0,0.4 0,0,0", "prismatic 1,0,0 0.4,0,0 0,0,0"), 4, 5),
}  # fmt: skip
FILES = {
    "ur3": ("ur_description/urdf/ur3_robot.urdf", (), 36, 40),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", (), 36, 40),
    "ur10": ("ur_description/urdf/ur10_robot.urdf", (), 36, 40),
    "z1": ("z1_description/urdf/z1.urdf", ("jointGripper",), 36, 40),
    "panda": ("panda_description/urdf/panda.urdf", ("panda_finger_joint1",), 43, 48),
}


def count(robot, terms) -> int:
    return base_parameters(Model(robot, terms)).count


def theirs(folder, name, **options) -> Robot:
    place, locked, *_ = FILES[name]
    return Robot.from_urdf(folder / place, **options).locked(locked)


@pytest.mark.parametrize("name", ARMS)
def test_arms_by_their_axes(tmp_path, name):
    links, rigid, rotor = ARMS[name]
    robot = robots.load(tmp_path, name, robots.chain(links))
    assert (count(robot, RIGID), count(robot, ROTOR)) == (rigid, rotor)
    # a second opinion: the numerical rank of the dense regressor, far from any threshold
    model = Model(robot, RIGID)
    values = np.linalg.svd(
        model.regressor(random_states(model, 200, seed=9)).reshape(-1, len(model.names)), compute_uv=False
    )
    assert np.sum(values > 1e-8 * values[0]) == rigid


@pytest.mark.parametrize("name", FILES)
def test_robots_of_others(example_robots, name):
    robot = theirs(example_robots, name)
    assert (count(robot, RIGID), count(robot, ROTOR)) == FILES[name][2:]


@pytest.mark.parametrize(
    ("place", "locked", "rigid", "rotor"),
    [
        ("panda_gaz/panda.urdf", ("panda_finger_joint1",), 43, 48),
        ("ur10_unisa/ur10.urdf", (), 36, 40),
        ("tx40/tx40.urdf", (), 36, 40),
    ],
)
def test_robots_of_the_recordings(real_data, place, locked, rigid, rotor):
    robot = Robot.from_urdf(real_data / place).locked(locked)
    assert (count(robot, RIGID), count(robot, ROTOR)) == (rigid, rotor)


@pytest.mark.parametrize(("name", "rigid"), [("panda", 45), ("ur10", 38)])
def test_a_leaning_mount_shows_two_more(example_robots, name, rigid):
    """Gravity is no longer along the first axis: the first link's moments across it show."""
    assert count(theirs(example_robots, name, gravity=robots.TILTED), RIGID) == rigid


def test_friction_and_rotor_columns_add_up(example_robots):
    panda, ur10 = (theirs(example_robots, name) for name in ("panda", "ur10"))
    assert count(panda, (*RIGID, Viscous(), Coulomb())) == 43 + 14
    assert count(panda, (*RIGID, Viscous(), Coulomb(), Offset())) == 43 + 21
    assert count(panda, FULL) == 48 + 21
    assert count(ur10, (*RIGID, Viscous(), Coulomb())) == 36 + 12
    assert count(ur10, FULL) == 40 + 18


def test_planar_arm_in_a_vertical_plane(tmp_path):
    """6 in general; 4 when all centres of mass are known to lie on the link line."""
    model = Model(robots.load(tmp_path, "planar"), RIGID)
    assert base_parameters(model).count == 6
    on_line = [
        f"link/{body}/{what}" for body in ("upper", "lower") for what in ("mass", "first_moment_x", "inertia_yy")
    ]
    R = model.absorb([random_states(model, 200, seed=1)]).select(on_line).stacked()[:, :-1]
    values = np.linalg.svd(R, compute_uv=False)
    assert np.sum(values > 1e-10 * values[0]) == 4


def test_five_digit_angles_make_a_parameter_that_the_gap_gives_away(example_robots):
    """xArm7's file says 1.5708 for a right angle: 4e-6 of a column becomes a 49th parameter, at any finer tolerance."""
    model = Model(Robot.from_urdf(example_robots / "xarm_description" / "urdf" / "xarm7.urdf"), ROTOR)
    basis = base_parameters(model)
    assert basis.count == 49
    assert basis.gap[0] == pytest.approx(4.1e-6, rel=0.05)
    coarse = base_parameters(model, tolerance=1e-5)
    assert coarse.count == 48
    assert coarse.gap[0] > 0.1
    assert coarse.gap[1] == pytest.approx(4.1e-6, rel=0.05)


@pytest.mark.parametrize("digits", [9, 10])
def test_rounded_angles_between_links_make_no_parameter(tmp_path, digits):
    """Right angles written with nine digits: the columns they split are dropped, and `gap` says how close they came."""
    basis = base_parameters(Model(robots.load(tmp_path, "puma", robots.chain(PUMA, digits=digits)), ROTOR))
    assert basis.count == 40
    assert basis.gap[0] > 0.1
    assert 1e-13 < basis.gap[1] < 1e-9 < TOLERANCE
    fine = base_parameters(
        Model(robots.load(tmp_path, "puma", robots.chain(PUMA, digits=digits)), ROTOR), tolerance=1e-13
    )
    assert fine.count > 40


ON_ITS_SIDE = ("revolute 0,0,1 0,0,0.6 -1,0,0", *PUMA[1:])


@pytest.mark.parametrize("digits", [9, 10])
def test_a_rounded_angle_under_the_first_axis_makes_no_parameter(tmp_path, digits):
    """The first axis is a nano-radian off gravity: link 1's moments get columns of 1e-9, independent of all others."""
    robot = robots.load(tmp_path, "puma", robots.chain(ON_ITS_SIDE, digits=digits), gravity=(0, -9.81, 0))
    assert count(robot, RIGID) == 36


def test_kinova(example_robots):
    assert count(Robot.from_urdf(example_robots / "kinova_description" / "robots" / "kinova.urdf"), RIGID) == 36


@pytest.mark.parametrize("name", [*robots.TEXTS, "puma560", "stanford"])
def test_base_parameters_give_the_torque_of_all(tmp_path, name):
    """`Y theta = Y_b (B theta)` for any motion, to rounding of the regrouping."""
    parts = robots.chain(ARMS[name][0]) if name in ARMS else None
    robot = robots.load(tmp_path, name, parts, gravity=robots.TILTED)
    model = Model(robot, FULL)
    basis = base_parameters(model)
    motion = robots.states(robot.joint_names, 50, seed=77)
    theta = np.random.default_rng(3).normal(size=len(model.names))
    Y = model.regressor(motion)
    kept = [model.names.index(n) for n in basis.names]
    assert robots.relative(Y[:, :, kept] @ basis.regroup(theta), Y @ theta) < 1e-12
    np.testing.assert_array_equal(basis.matrix[:, kept], np.eye(basis.count))
    assert base_parameters(model, seed=1).names == basis.names
