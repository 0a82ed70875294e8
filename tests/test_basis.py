"""The map to base parameters: what stands alone, what only in combination, what not at all; and how it is said."""

from __future__ import annotations

import numpy as np
import pytest

import robots
from steelyard.basis import base_parameters, random_states
from steelyard.model import Model
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous


@pytest.fixture(scope="module")
def planar(tmp_path_factory):
    return Model(robots.load(tmp_path_factory.mktemp("planar"), "planar"), (RigidBody(), Viscous()))


def test_planar_arm_by_hand(planar):
    """`tau` of the vertical 2R arm, worked out by hand: l = 0.5 m carries the second link's mass to the first.

    Behind the first axis: m1 c1 + m2 l and I1 + m2 l^2 (about the joint); the second link's own m2 c2 and I2.
    """
    basis = base_parameters(planar)
    expected = {
        "link/upper/first_moment_x": {"link/upper/first_moment_x": 1.0, "link/lower/mass": 0.5},
        "link/upper/first_moment_z": {"link/upper/first_moment_z": 1.0},
        "link/upper/inertia_yy": {"link/upper/inertia_yy": 1.0, "link/lower/mass": 0.25},
        "link/lower/first_moment_x": {"link/lower/first_moment_x": 1.0},
        "link/lower/first_moment_z": {"link/lower/first_moment_z": 1.0},
        "link/lower/inertia_yy": {"link/lower/inertia_yy": 1.0},
        "actuator/shoulder/viscous_friction": {"actuator/shoulder/viscous_friction": 1.0},
        "actuator/elbow/viscous_friction": {"actuator/elbow/viscous_friction": 1.0},
    }
    assert basis.names == tuple(expected)
    for row, parts in zip(basis.matrix, expected.values(), strict=True):
        found = {basis.columns[c]: row[c] for c in np.flatnonzero(row)}
        assert found == pytest.approx(parts, abs=1e-12)  # coefficients are those of well-conditioned least squares


def test_classes_of_the_planar_arm(planar):
    classes = base_parameters(planar).classes
    assert set(classes) == set(planar.names)
    assert {name for name, kind in classes.items() if kind == "alone"} == {
        *(
            "link/upper/first_moment_z",
            "link/lower/first_moment_x",
            "link/lower/first_moment_z",
            "link/lower/inertia_yy",
        ),
        *("actuator/shoulder/viscous_friction", "actuator/elbow/viscous_friction"),
    }
    combined = {name for name, kind in classes.items() if kind == "combined"}
    assert combined == {"link/upper/first_moment_x", "link/upper/inertia_yy", "link/lower/mass"}
    assert classes["link/upper/mass"] == "none"
    assert sum(kind == "none" for kind in classes.values()) == 22 - 9


def test_an_expression_in_words(planar):
    basis = base_parameters(planar)
    assert basis.expression("link/upper/first_moment_x") == "link/upper/first_moment_x +0.5 link/lower/mass"
    assert basis.expression("link/lower/inertia_yy") == "link/lower/inertia_yy"


def test_regrouping_is_the_matrix(planar):
    basis = base_parameters(planar)
    theta = np.arange(22.0)
    np.testing.assert_array_equal(basis.regroup(theta), basis.matrix @ theta)
    assert basis.matrix.shape == (basis.count, 22)
    assert not basis.matrix.flags.writeable


def test_information_about_base_parameters_is_that_of_the_full_columns(planar):
    """`Y = Y_b B`: projecting base information with B gives the Gram of all columns."""
    basis = base_parameters(planar)
    motion = random_states(planar, 300, seed=5)
    motion = robots.with_torque(motion, np.random.default_rng(0).normal(size=motion.q.shape))
    full = planar.absorb([motion]).stacked()
    projected = planar.absorb([motion], names=basis.names).project(basis.columns, basis.matrix).stacked()
    scale = np.linalg.norm(full) ** 2
    np.testing.assert_allclose(projected.T @ projected, full.T @ full, atol=1e-13 * scale)


def test_a_lift_tells_its_weight_from_an_offset(tmp_path):
    """Standing still it could not: accelerating, the mass shows in two ways and the offset in one."""
    parts = robots.chain(["prismatic 0,0,1 0,0,0 0,0,0"])
    model = Model(robots.load(tmp_path, "lift", parts), (RigidBody(), Offset()))
    basis = base_parameters(model)
    assert basis.names == ("link/link_1/mass", "actuator/joint_1/bias")
    assert basis.gap[0] > 0.1


def test_behind_a_slide_the_tensor_goes_upstream(tmp_path):
    """A turntable with a slide on it: the slide's inertia about the upright axis is part of the turntable's."""
    parts = robots.chain(["revolute 0,0,1 0,0,0.4 0,0,0", "prismatic 1,0,0 0.4,0,0 0,0,0"])
    basis = base_parameters(Model(robots.load(tmp_path, "turn_slide", parts), (RigidBody(),)))
    assert basis.names == (
        "link/link_1/inertia_zz",
        *(f"link/link_2/{what}" for what in ("mass", "first_moment_x", "first_moment_y")),
    )
    assert basis.expression("link/link_1/inertia_zz") == "link/link_1/inertia_zz +1 link/link_2/inertia_zz"


def test_the_answer_does_not_depend_on_where_the_limits_are(tmp_path):
    """A joint that cannot come near zero, and one that hardly moves, show the same parameters as free ones."""
    parts = [
        robots.body("base"), robots.body("a", 2.0, "0.1 0.02 0.1"), robots.body("b", 1.0, "0.1 0.02 0.1"),
        robots.joint("one", "base a", axis="0 1 0"), robots.joint("two", "a b", axis="1 0 0", at="0.3 0 0"),
    ]  # fmt: skip
    free = base_parameters(Model(robots.load(tmp_path, "free", parts), (RigidBody(),)))
    for limits in ('lower="3.5" upper="6"', 'lower="0.5" upper="0.51"', 'lower="-7" upper="-6"'):
        tight = [part.replace('lower="-3" upper="3"', limits) for part in parts]
        basis = base_parameters(Model(robots.load(tmp_path, "tight", tight), (RigidBody(),)))
        assert basis.names == free.names, limits
        np.testing.assert_allclose(basis.matrix, free.matrix, atol=1e-8)


def test_a_huge_and_a_tiny_robot_have_the_same_parameters(tmp_path):
    """Lengths of metres or of tenths of millimetres: the decision is relative."""
    names = None
    for scale in (1e-3, 1.0, 1e2):
        parts = [
            robots.body("base"), robots.body("a", 2.0, "0.1 0.02 0.1"), robots.body("b", 1.0, "0.1 0.02 0.1"),
            robots.joint("one", "base a", axis="0 1 0", at="0 0 0.2"),
            robots.joint("two", "a b", axis="1 0 0", at=f"{0.3 * scale} 0 {0.1 * scale}"),
        ]  # fmt: skip
        basis = base_parameters(Model(robots.load(tmp_path, "scaled", parts), (RigidBody(),)))
        names = names or basis.names
        assert basis.names == names
        assert basis.gap[0] > 1e-3


def test_random_states_stay_inside_the_limits(repository):
    from steelyard.robot.robot import Robot

    robot = Robot.from_urdf(repository / "examples" / "robots" / "arm7.urdf")
    motion = random_states(Model(robot, (RigidBody(),)), 2000, seed=1)
    assert np.all(motion.q >= robot.lower)
    assert np.all(motion.q <= robot.upper)
    assert np.all(np.ptp(motion.q, axis=0) > 0.95 * np.minimum(robot.upper - robot.lower, 2 * np.pi) - 1e-9)
