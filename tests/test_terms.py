"""Every term: linear in its columns, with names, units and joints that hold for revolute and prismatic joints alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import robots
from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.names import TERMS, terms_named
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.spring import Spring
from steelyard.terms.term import Column, Term
from steelyard.terms.viscous import Viscous

COMMON = ("rigid_body", "rotor_inertia", "viscous", "coulomb", "offset")


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    """slide (prismatic), spin (continuous), bend (revolute)."""
    return robots.load(tmp_path_factory.mktemp("rail"), "rail", gravity=robots.TILTED)


@pytest.fixture
def motion(robot):
    return robots.states(robot.joint_names, 30, seed=3)


JOINT_TERMS = {
    Viscous: ("viscous_friction", "N s/m", "N m s/rad", lambda t: t.dq),
    Coulomb: ("coulomb_friction", "N", "N m", lambda t: np.sign(t.dq)),
    Offset: ("bias", "N", "N m", lambda t: np.ones_like(t.q)),
    Spring: ("stiffness", "N/m", "N m/rad", lambda t: t.q),
    RotorInertia: ("rotor_inertia", "kg", "kg m2", lambda t: t.ddq),
}


@pytest.mark.parametrize("kind", JOINT_TERMS)
def test_joint_terms_are_their_equation(robot, motion, kind):
    quantity, linear, angular, equation = JOINT_TERMS[kind]
    columns = kind().columns(robot)
    assert [c.name for c in columns] == [f"actuator/{joint}/{quantity}" for joint in ("slide", "spin", "bend")]
    assert [c.unit for c in columns] == [linear, angular, angular]
    assert [c.joints for c in columns] == [(0,), (1,), (2,)]
    np.testing.assert_array_equal(kind().block(robot, motion), equation(motion))
    some = kind(joints=("bend", "slide"))
    assert [c.name.split("/")[1] for c in some.columns(robot)] == ["bend", "slide"]
    np.testing.assert_array_equal(some.block(robot, motion), equation(motion)[:, [2, 0]])


def test_friction_and_inertia_may_not_be_negative_springs_and_offsets_may(robot):
    signs = {kind: {c.nonnegative for c in kind().columns(robot)} for kind in JOINT_TERMS}
    assert signs == {Viscous: {True}, Coulomb: {True}, RotorInertia: {True}, Offset: {False}, Spring: {False}}


def test_smooth_coulomb_friction(robot, motion):
    np.testing.assert_array_equal(Coulomb(smoothing=0.2).block(robot, motion), np.tanh(motion.dq / 0.2))
    at_rest = robots.states(robot.joint_names, 1)
    at_rest = Trajectory(at_rest.time, at_rest.joint_names, q=at_rest.q, dq=np.zeros((1, 3)), ddq=np.zeros((1, 3)))
    assert np.all(Coulomb().block(robot, at_rest) == 0.0)


def test_rigid_columns_are_named_in_pinocchios_order_and_know_their_joints(robot):
    columns = RigidBody().columns(robot)
    moments = "inertia_xx inertia_xy inertia_yy inertia_xz inertia_yz inertia_zz"
    order = ["mass", "first_moment_x", "first_moment_y", "first_moment_z", *moments.split()]
    assert [c.name for c in columns] == [
        f"link/{body}/{what}" for body in ("carriage", "arm", "wrist") for what in order
    ]
    assert [c.unit for c in columns[:10]] == ["kg"] + ["kg m"] * 3 + ["kg m2"] * 6
    assert [c.joints for c in columns[::10]] == [(0,), (0, 1), (0, 1, 2)]


@pytest.mark.parametrize("name", TERMS)
def test_every_named_term_conforms(robot, motion, name):
    """Shapes, unique names, and linearity: blocks depend on the motion alone and act only where the column says."""
    (term,) = terms_named([name])
    assert isinstance(term, Term)
    columns = term.columns(robot)
    block = term.block(robot, motion)
    assert block.dtype == np.float64
    assert block.shape in ((30, len(columns)), (30, 3, len(columns)))
    assert len({c.name for c in columns}) == len(columns)
    assert all(c.unit and c.name.count("/") == 2 for c in columns)
    np.testing.assert_array_equal(block, term.block(robot, motion))
    if block.ndim == 3:
        for k, column in enumerate(columns):
            assert np.all(np.delete(block[:, :, k], column.joints, axis=1) == 0.0)
    else:
        assert all(len(c.joints) == 1 for c in columns)


@pytest.mark.parametrize("name", TERMS)
def test_the_model_treats_terms_as_their_written_out_blocks(robot, motion, name):
    """Kernel path (torque, absorb) against the dense regressor, one term at a time beside the rigid bodies."""
    terms = (RigidBody(),) if name == "rigid_body" else (RigidBody(), *terms_named([name]))
    model = Model(robot, terms)
    theta = np.random.default_rng(1).normal(size=len(model.names))
    torque = model.regressor(motion) @ theta
    assert robots.relative(model.torque(theta, motion), torque) < 1e-13
    info = model.absorb([robots.with_torque(motion, torque)])
    assert np.sqrt(info.misfit(theta).sum() / info.energy.sum()) < 2e-12


def test_linearity(robot, motion):
    model = Model(robot, terms_named(COMMON))
    one, two = np.random.default_rng(2).normal(size=(2, len(model.names)))
    together = model.torque(2.0 * one - 3.0 * two, motion)
    assert robots.relative(together, 2.0 * model.torque(one, motion) - 3.0 * model.torque(two, motion)) < 1e-13


@dataclass(frozen=True)
class Coupling:
    """One's own term over two joints: a torque on both that follows the sum of their speeds."""

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        return (Column("coupling/wrist/viscous_friction", "N m s/rad", (1, 2)),)

    def block(self, robot: Robot, trajectory: Trajectory) -> np.ndarray:
        block = np.zeros((len(trajectory), 3, 1))
        block[:, 1:, 0] = trajectory.channel("dq")[:, 1:].sum(axis=1)[:, None]
        return block


def test_a_term_of_ones_own_over_two_joints(robot, motion):
    model = Model(robot, (RigidBody(), Coupling(), Viscous(("slide",))))
    theta = np.random.default_rng(4).normal(size=len(model.names))
    rigid = Model(robot, (RigidBody(),)).torque(theta[:30], motion)
    expected = rigid.copy()
    expected[:, 1:] += theta[30] * motion.dq[:, 1:].sum(axis=1)[:, None]
    expected[:, 0] += theta[31] * motion.dq[:, 0]
    assert robots.relative(model.torque(theta, motion), expected) < 1e-13
    info = model.absorb([robots.with_torque(motion, expected)], names=("coupling/wrist/viscous_friction",))
    assert info.support == ((), (0,), (0,))
    torque = expected[:, 1:]
    assert info.energy[1:] == pytest.approx((torque**2).sum(axis=0), rel=1e-12)


@dataclass(frozen=True)
class Misshapen:
    def columns(self, robot: Robot) -> tuple[Column, ...]:
        return (Column("a/b/c", "N", (0,)),)

    def block(self, robot: Robot, trajectory: Trajectory) -> np.ndarray:
        return np.zeros((len(trajectory), 2))


def test_a_block_of_the_wrong_shape_is_refused(robot, motion):
    with pytest.raises(StudyError, match="Misshapen") as caught:
        Model(robot, (Misshapen(),)).torque(np.zeros(1), motion)
    assert caught.value.value == (30, 2)


def test_two_columns_of_one_name_are_refused(robot):
    with pytest.raises(StudyError, match="same name") as caught:
        Model(robot, (Viscous(), Viscous(("bend",))))
    assert caught.value.value == "actuator/bend/viscous_friction"


def test_a_joint_the_robot_lacks_is_named_with_the_valid_ones(robot):
    with pytest.raises(StudyError, match="not a joint") as caught:
        Model(robot, (Viscous(("elbow",)),))
    assert (caught.value.value, caught.value.choices) == ("elbow", ("slide", "spin", "bend"))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("viscos", "not a term"),
        ("nowhere.at_all:Term", "cannot be imported"),
        ("math:nothing", "cannot be imported"),
        ("math:pi", "no term"),
        ("steelyard.terms.term:Column", "without arguments"),
        (":x", "not a term"),
    ],
)
def test_what_is_no_term(name, message):
    with pytest.raises(StudyError, match=message) as caught:
        terms_named([name])
    assert caught.value.value == name


def test_a_term_by_its_import_path():
    assert terms_named(["steelyard.terms.spring:Spring", "offset"]) == (Spring(), Offset())


def test_nominal_values_come_from_the_file(repository):
    robot = Robot.from_urdf(repository / "examples" / "robots" / "planar2r.urdf")
    model = Model(robot, terms_named(COMMON))
    nominal = dict(zip(model.names, model.nominal, strict=True))
    assert nominal["link/link_1/mass"] == 2.4
    assert nominal["link/link_2/first_moment_x"] == pytest.approx(1.3 * 0.2, rel=1e-14)
    assert nominal["actuator/joint_1/viscous_friction"] == 0.5
    assert nominal["actuator/joint_2/coulomb_friction"] == 0.15
    assert nominal["actuator/joint_2/bias"] == 0.0
