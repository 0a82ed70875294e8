"""What is known beside the data: total mass, ranges of masses, boxes for centres."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import robots
from steelyard.basis import base_parameters
from steelyard.errors import StudyError
from steelyard.estimate.body_limits import BodyLimits, Ellipsoid
from steelyard.estimate.consistent import SOLVERS, consistent
from steelyard.estimate.least_squares import weighted
from steelyard.estimate.link_hulls import enclosing_ellipsoid, hull_points
from steelyard.estimate.symmetry import Symmetry
from steelyard.model import Model
from steelyard.robot.collision_shape import Shape
from steelyard.robot.inertia import pseudo_inertia
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return Model(robots.load(tmp_path_factory.mktemp("tooled"), "tooled"), (RigidBody(), Viscous()))


@pytest.fixture(scope="module")
def estimate(model):
    motion = robots.states(model.robot.joint_names, 400, seed=5)
    tau = model.torque(model.nominal, motion) + 0.1 * np.random.default_rng(5).normal(size=motion.q.shape)
    basis = base_parameters(model)
    return weighted(model.absorb([robots.with_torque(motion, tau)], names=basis.names), basis=basis)


@pytest.mark.parametrize("solver", SOLVERS)
def test_limits_are_kept_and_named_where_they_hold(model, estimate, solver):
    free = consistent(model, estimate)
    limits = BodyLimits(
        total_mass=(9.0, 10.0),
        mass={"tool": (0.5, 0.8), "camera": (0.1, 0.3)},
        centre={"upper": (np.array([-0.05, -0.05, 0.0]), np.array([0.05, 0.05, 0.1]))},
    )
    fit = consistent(model, estimate, limits=limits, solver=solver)
    tolerance = 1e-6
    assert 9.0 - tolerance <= fit.total_mass <= 10.0 + tolerance
    assert 0.5 - tolerance <= fit.link_parameters["tool"][0] <= 0.8 + tolerance
    mass, *moment = fit.link_parameters["upper"][:4]
    centre = np.array(moment) / mass
    assert np.all(centre >= np.array([-0.05, -0.05, 0.0]) - tolerance)
    assert np.all(centre <= np.array([0.05, 0.05, 0.1]) + tolerance)
    for parameters in fit.link_parameters.values():
        assert np.linalg.eigvalsh(pseudo_inertia(parameters))[0] > 0.0
    assert fit.ratio == pytest.approx(free.ratio, abs=0.02)  # all of it is in directions that torque hardly shows
    reached = {
        "least total mass": fit.total_mass - 9.0,
        "greatest total mass": 10.0 - fit.total_mass,
        "least mass of link camera": fit.link_parameters["camera"][0] - 0.1,
        "greatest mass of link tool": 0.8 - fit.link_parameters["tool"][0],
    }
    assert {name for name in reached if name in fit.active} == {n for n, far in reached.items() if far < 3e-4}
    assert solver == "semidefinite" or any(name in fit.active for name in reached)
    assert fit.kkt < 1e-7
    assert [f.code for f in fit.findings if f.code == "fit.prior_moved"] == ["fit.prior_moved"]


def test_a_limit_that_the_data_press_against_is_active(model, estimate):
    """The tool and what it hangs with weigh 2.7 kg; torque sees the sum of first moments, so that 2 kg costs."""
    limits = BodyLimits(mass={"lower": (0.05, 0.5), "tool": (0.05, 0.3), "camera": (0.05, 0.1)})
    fit = consistent(model, estimate, limits=limits)
    assert any(name.startswith("greatest mass") for name in fit.active)
    assert fit.ratio > consistent(model, estimate).ratio


def test_limits_that_do_not_touch_change_nothing(model, estimate):
    wide = BodyLimits(total_mass=(0.1, 1000.0), mass={"tool": (1e-3, np.inf)})
    free, fit = consistent(model, estimate), consistent(model, estimate, limits=wide)
    np.testing.assert_allclose(fit.theta, free.theta, rtol=1e-3, atol=1e-3)
    assert fit.active == free.active  # friction that is truly zero


def test_a_known_total_moves_what_torque_cannot_tell(model, estimate):
    for total in (6.0, 12.0):
        fit = consistent(model, estimate, limits=BodyLimits(total_mass=(total - 0.1, total + 0.1)))
        assert fit.total_mass == pytest.approx(total, abs=0.1)
        assert fit.ratio < 1.01


@pytest.mark.parametrize(
    ("limits", "what"),
    [
        (BodyLimits(mass={"nose": (0.1, 1.0)}), "not a moving link"),
        (BodyLimits(mass={"flange": (0.1, 1.0)}), "not a moving link"),
        (BodyLimits(mass={"tool": (1.0, 1.0)}), "empty"),
        (BodyLimits(total_mass=(5.0, 4.0)), "empty"),
        (BodyLimits(centre={"tool": (np.zeros(3), np.array([0.1, 0.0, 0.1]))}), "empty"),
        (BodyLimits(total_mass=(1.0, 2.0), mass={"lower": (3.0, 4.0)}), "contradict"),
        (BodyLimits(mass={"lower": (4.5, 5.0)}, value={"link/lower/mass": (0.1, 1.0)}), "contradict"),
        (BodyLimits(value={"link/flange/mass": (0.1, 1.0)}), "not a parameter"),
        (BodyLimits(hull={"tool": np.zeros((5, 3))}), "plane"),
        (BodyLimits(hull={"tool": np.full((5, 3), np.nan)}), "plane"),
        (BodyLimits(ellipsoid={"tool": Ellipsoid(np.zeros(3), np.diag([0.1, 0.1, 0.0]))}), "half axes"),
        (BodyLimits(symmetry=Symmetry(links=(("tool", "tool"),))), "named once"),
        (BodyLimits(symmetry=Symmetry(links=(("tool", "camera"), ("upper", "lower")))), "not mirrored"),
        (BodyLimits(symmetry=Symmetry(joints=(("yaw", "nose"),))), "no columns in common"),
        (BodyLimits(total_mass=(50.0, 60.0), mass=dict.fromkeys(("upper", "lower", "tool", "camera"), (0.1, 4.0))),
         "contradict"),
    ],
)  # fmt: skip
def test_limits_that_make_no_sense_are_refused(model, estimate, limits, what):
    with pytest.raises(StudyError, match=what):
        consistent(model, estimate, limits=limits)


def centre_of(parameters):
    return parameters[1:4] / parameters[0]


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_centre_stays_in_the_hull(model, estimate, solver):
    """A tetrahedron that the prior's centre lies outside of, and the data's as well."""
    corners = np.array([[0.0, 0.0, 0.0], [0.08, 0.0, 0.0], [0.0, 0.08, 0.0], [0.0, 0.0, 0.08]])
    inward = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, -1.0, -1.0]])
    depth = np.array([0.0, 0.0, 0.0, -0.08])
    prior = {link.name: link for link in model.robot.links}["lower"].parameters
    assert (inward @ centre_of(prior) - depth).min() < -0.01
    fit = consistent(model, estimate, limits=BodyLimits(hull={"lower": corners}), solver=solver)
    assert (inward @ centre_of(fit.link_parameters["lower"]) - depth).min() > -1e-7
    assert fit.kkt < 1e-7
    assert fit.least_eigenvalue > 0.0


@pytest.mark.parametrize("solver", SOLVERS)
def test_mass_stays_in_the_ellipsoid(model, estimate, solver):
    """Then the centre does, and the radii of gyration are no longer than the half axes."""
    ball = Ellipsoid(np.array([0.0, 0.0, 0.05]), np.diag([0.06, 0.05, 0.04]))
    fit = consistent(model, estimate, limits=BodyLimits(ellipsoid={"tool": ball}), solver=solver)
    J = pseudo_inertia(fit.link_parameters["tool"])
    to_ball = np.linalg.inv(np.block([[ball.axes, ball.centre[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]]))
    own = to_ball @ J @ to_ball.T / J[3, 3]
    assert np.trace(own[:3, :3]) <= 1.0 + 1e-6
    assert np.linalg.norm(own[:3, 3]) < 1.0
    assert [f.where for f in fit.findings if f.code == "fit.prior_moved"] == ["link tool"]


@pytest.mark.parametrize("solver", SOLVERS)
def test_any_parameter_can_be_bounded(model, estimate, solver):
    """Friction is zero in truth: at least 0.2 N m s/rad is held there, and costs."""
    given = {"actuator/yaw/viscous_friction": (0.2, 1.0), "link/tool/inertia_xx": (0.0, 0.003)}
    fit = consistent(model, estimate, limits=BodyLimits(value=given), solver=solver)
    assert fit.scalars["actuator/yaw/viscous_friction"] == pytest.approx(0.2, abs=1e-4)
    assert 0.0 < fit.value("link/tool/inertia_xx") <= 0.003 + 1e-9
    assert "least actuator/yaw/viscous_friction" in fit.active
    assert fit.ratio > 1.05
    at = fit.full_names.index("actuator/yaw/viscous_friction")
    assert fit.deviation[at] == 0.0  # as if known


ARMS = (
    robots.body("base"),
    *(
        text
        for side, y, turn in (("left", 0.2, "0.3 0.4 0"), ("right", -0.2, "-0.3 0.4 0"))
        for text in (
            robots.body(f"{side}_arm", 2.0, f"0.05 {0.3 * y} 0.1", "0.1 0.2 0.3", turn),
            robots.body(f"{side}_hand", 0.5, f"0.02 {0.1 * y} 0.03", "0.04 0.06 0.1"),
            robots.joint(f"{side}_shoulder", f"base {side}_arm", axis="0 1 0", at=f"0 {y} 0.5", rpy=turn),
            robots.joint(f"{side}_elbow", f"{side}_arm {side}_hand", axis="1 0 0", at="0 0 0.3"),
        )
    ),
)


def in_base(robot: Robot, fit, name):
    """Mass, centre and second moments of a link in the base frame, all joints at zero, of body and frame tree alone."""
    from steelyard.robot.body_poses import body_poses

    poses = body_poses(robot, np.zeros((1, len(robot.joint_names))))
    link = next(link for link in robot.links if link.name == name)
    T = np.eye(4)
    T[:3, :3] = poses.rotation[0, link.body + 1] @ link.rotation
    T[:3, 3] = poses.origin[0, link.body + 1] + poses.rotation[0, link.body + 1] @ link.translation
    return T @ pseudo_inertia(fit.link_parameters[name]) @ T.T


@pytest.mark.parametrize("solver", SOLVERS)
def test_left_and_right_are_mirror_images(tmp_path, solver):
    """Only the left arm moves: the right one follows, in every parameter, and with half the data each is as good."""
    robot = robots.load(tmp_path, "arms", ARMS)
    model = Model(robot, (RigidBody(), Viscous(), Coulomb()))
    truth = model.nominal
    truth[[n.endswith("viscous_friction") for n in model.names]] = 0.4
    truth[[n.endswith("coulomb_friction") for n in model.names]] = 0.7
    motion = robots.states(robot.joint_names, 300, seed=3)
    moves = np.array([name.startswith("left") for name in robot.joint_names])
    motion = replace(motion, q=motion.q * moves, dq=motion.dq * moves, ddq=motion.ddq * moves)
    tau = model.torque(truth, motion) + 0.05 * np.random.default_rng(1).normal(size=motion.q.shape)
    basis = base_parameters(model)
    estimate = weighted(model.absorb([robots.with_torque(motion, tau)], names=basis.names), basis=basis)
    light = replace(
        robot,
        links=tuple(
            replace(link, parameters=1.4 * link.parameters) if link.name == "right_arm" else link
            for link in robot.links
        ),
    )
    pairs = Symmetry((("left_arm", "right_arm"), ("left_hand", "right_hand")),
                     (("left_shoulder", "right_shoulder"), ("left_elbow", "right_elbow")))  # fmt: skip
    fit = consistent(Model(light, model.terms), estimate, limits=BodyLimits(symmetry=pairs), solver=solver)
    mirror = np.diag([1.0, -1.0, 1.0, 1.0])
    for part in ("arm", "hand"):
        left, right = (in_base(robot, fit, f"{side}_{part}") for side in ("left", "right"))
        np.testing.assert_allclose(right, mirror @ left @ mirror, rtol=1e-9, atol=1e-12)
    for joint in ("shoulder", "elbow"):
        for kind, value in (("viscous", 0.4), ("coulomb", 0.7)):
            left, right = (fit.scalars[f"actuator/{side}_{joint}/{kind}_friction"] for side in ("left", "right"))
            assert left == right == pytest.approx(value, abs=0.03)
    assert fit.kkt < 1e-7
    deviation = dict(zip(fit.full_names, fit.deviation, strict=True))
    assert deviation["actuator/right_elbow/coulomb_friction"] == pytest.approx(
        deviation["actuator/left_elbow/coulomb_friction"], rel=1e-9
    )
    assert fit.standing["actuator/right_elbow/coulomb_friction"] == "identified"
    assert "made symmetric" in " ".join(f.message for f in fit.findings)


def test_hulls_of_shapes_and_the_ellipsoid_around_them():
    """The ellipsoid around a cube has half axes of half its diagonal, sqrt(3)/2 sides; that around a ball's box too."""
    box = Shape("arm", "box", (0.2, 0.2, 0.2), np.eye(3), np.array([0.0, 0.0, 0.1]))
    ball = Shape("hand", "sphere", (0.1,), np.eye(3), np.zeros(3))
    mesh = Shape("hand", "mesh", (), np.eye(3), np.array([0.5, 0.0, 0.0]), np.eye(3))
    points = hull_points([box, ball, mesh, Shape("floor", "plane", (), np.eye(3), np.zeros(3))])
    assert {name: len(found) for name, found in points.items()} == {"arm": 8, "hand": 11}
    np.testing.assert_allclose(points["arm"].max(axis=0), [0.1, 0.1, 0.2], atol=1e-15)
    np.testing.assert_allclose(points["hand"][-3:], np.eye(3) + np.array([0.5, 0.0, 0.0]))
    found = enclosing_ellipsoid(points["arm"])
    np.testing.assert_allclose(found.centre, [0.0, 0.0, 0.1], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(found.axes, axis=0), 0.1 * np.sqrt(3.0), rtol=1e-3)
    with pytest.raises(StudyError, match="plane"):
        enclosing_ellipsoid(points["arm"][:4] * [1.0, 1.0, 0.0])
