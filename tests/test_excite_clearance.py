"""Closest approaches hold at every instant, the barrier is a function with the derivatives it says, repairs repair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import shaped
from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.excite.certificate import certify, certify_trajectory
from steelyard.excite.clearance import ClearanceBound, keeps_clear, resting_place, shrunk
from steelyard.excite.closest import closest_approach
from steelyard.excite.design import design_motion
from steelyard.excite.features import States
from steelyard.excite.fourier import FourierFamily, FourierMotion, shared_harmonics
from steelyard.excite.frame_bound import FrameBound
from steelyard.excite.frame_limit import FrameLimit, point_bounds
from steelyard.excite.limits import JointLimit, motion_limits
from steelyard.model import Model
from steelyard.robot.collision_build import collision_model
from steelyard.robot.collision_shape import Obstacle
from steelyard.robot.separation import Separation
from steelyard.terms.rigid_body import RigidBody

PERIOD = 4.0
SOLVER = 1e-5  # [m] what coal and our allowance for it leave


@pytest.fixture
def path(tmp_path):
    return shaped.arm(tmp_path)


@pytest.fixture
def robot(path):
    return shaped.loaded(path)


def limits_of(robot):
    limit = JointLimit(velocity=30.0, acceleration=300.0, jerk=5e3, effort=1e4, torque_rate=1e5)
    return motion_limits(robot, dict.fromkeys(robot.joint_names, limit))


def swing(robot, size, seed=0, harmonics=4):
    """A random motion whose joints turn by up to about `size` [rad]."""
    family = FourierFamily(PERIOD, shared_harmonics(len(robot.joint_names), harmonics), "acceleration")
    x = np.random.default_rng(seed).standard_normal((family.joints, family.variables))
    motion = FourierMotion(robot.joint_names, family, family.coefficients(x))
    turned = np.abs(motion.at(np.arange(0.0, PERIOD, 1e-2)).q).max(axis=0)
    return replace(motion, coefficients=motion.coefficients * (size / turned)[:, None])


@pytest.mark.parametrize("seed", range(5))
def test_the_closest_approach_is_that_of_a_fine_grid(path, robot, seed):
    """Not more than the smallest of 40 000 samples, and less by 1 mm, for which blocks are not cut, at most."""
    model = collision_model(robot, path, required=0.01)
    motion = swing(robot, 2.5, seed)
    found = closest_approach(model, motion.cells(1e-3))
    least = shaped.arm_distance(motion.at(np.arange(0.0, PERIOD, 1e-4)).q).min()
    assert least - 1.3e-3 < found.distance <= least + SOLVER
    assert found.names == "base - lower"
    for required in (found.distance - 1e-4, least + 1e-4):
        asked = replace(model, required=required)
        assert keeps_clear(asked, motion.cells(1e-3)) == (required < least)
        assert (closest_approach(asked, motion.cells(1e-3)).distance >= required) == (required < least)


def test_the_search_looks_at_few_instants(path, robot):
    """Of 8 000 cells it asks for less than one in ten."""
    model = collision_model(robot, path)
    asked = []

    class Counted:
        required, unchecked, allowed, nearest = 0.01, (), (), staticmethod(model.nearest)

        def distance(self, q, travel=None, *, far=np.inf):
            asked.append(len(q))
            return model.distance(q, travel, far=far)

    closest_approach(Counted(), swing(robot, 2.5).cells(5e-4))
    assert sum(asked) < 800


def certified(robot, motion, limits=None, **options):
    return certify(motion, Model(robot, (RigidBody(),)), limits or limits_of(robot), **options)


def failed(certificate):
    return [check.quantity for check in certificate.checks if not check.passed]


def test_a_collision_of_one_in_a_thousand_between_the_cells_is_refused(path, robot):
    """The distance to keep is 0.1 % more than the motion keeps, which it does at one instant only."""
    motion = swing(robot, 2.0, seed=1)
    least = float(shaped.arm_distance(motion.at(np.arange(0.0, PERIOD, 1e-5)).q).min())
    near, far = (collision_model(robot, path, required=share * least) for share in (1.001, 0.99))
    refused = certified(robot, motion, clearance=near)
    assert failed(refused) == ["distance"]
    assert refused.findings[0].code == "excite.distance"
    assert refused.findings[0].where == "base - lower"
    assert certified(robot, motion, clearance=far).passed


def test_speed_and_place_of_a_point_are_bounded_everywhere(robot):
    """At ten instants of each of 100 wide cells, against differences of the place (1e-6 of 3 m/s)."""
    motion = swing(robot, 2.0)
    cells = motion.cells(PERIOD / 100)
    bounds = point_bounds(robot, cells, FrameLimit("lower", point=(0.4, 0.1, 0.2), speed=1.0))
    times = cells.middle[:, None] + cells.half[:, None] * np.linspace(-0.999, 0.999, 10)

    def place(t):
        q = motion.at(t.ravel()).q
        a, b = q[:, 0], q.sum(axis=1)
        x = 0.5 * np.cos(a) + 0.4 * np.cos(b) - 0.1 * np.sin(b)
        y = 0.5 * np.sin(a) + 0.4 * np.sin(b) + 0.1 * np.cos(b)
        return np.column_stack([x, y, 0.2 + 0.0 * a]).reshape(*t.shape, 3)

    at = place(times)
    speed = np.linalg.norm(place(times + 1e-5) - place(times - 1e-5), axis=2) / 2e-5
    assert np.all(speed.max(axis=1) <= bounds.speed + 1e-6)
    assert np.all(at >= bounds.low[:, None])
    assert np.all(at <= bounds.high[:, None])


@pytest.mark.parametrize("quantity", ["speed", "lower", "upper", "torque_rate"])
def test_a_violation_of_one_in_a_thousand_in_space_is_refused(robot, quantity):
    """The limit lies 0.1 % within the peak, which is between two cells; 1 % (for the rate 5 %) beyond it passes."""
    motion = swing(robot, 2.0, seed=3)
    times = np.arange(0.0, PERIOD, 1e-4)
    q, dq, ddq, _ = motion.at(times)
    a, b = q[:, 0], q.sum(axis=1)
    place = np.column_stack([0.5 * np.cos(a) + 0.4 * np.cos(b), 0.5 * np.sin(a) + 0.4 * np.sin(b)])
    velocity = np.gradient(place, times, axis=0)
    tau = Model(robot, (RigidBody(),)).torque(
        robot.parameters, Trajectory(time=times, joint_names=robot.joint_names, q=q, dq=dq, ddq=ddq)
    )
    peaks = {
        "speed": np.linalg.norm(velocity, axis=1).max(), "lower": place[:, 0].min(), "upper": place[:, 1].max(),
        "torque_rate": np.abs(np.gradient(tau[:, 0], times)).max(),
    }  # fmt: skip
    peak = peaks[quantity]

    def tried(share):
        if quantity == "torque_rate":
            limits = replace(limits_of(robot), torque_rate=np.array([share * peak, np.inf]))
            return certified(robot, motion, limits)
        corner = {"speed": share * peak, "lower": (share * peak, -9, -9), "upper": (9, share * peak, 9)}[quantity]
        tip = FrameLimit("lower", point=(0.4, 0.0, 0.0), **{quantity: corner})
        return certified(robot, motion, frames=[tip])

    name = {"speed": "cartesian_speed", "torque_rate": "torque_rate"}.get(quantity, "workspace")
    assert failed(tried(0.999)) == [name]
    assert tried(0.999).findings[0].code == f"excite.{name}"
    assert tried(1.05 if quantity == "torque_rate" else 1.01).passed


def test_samples_come_as_close_as_their_series(path, robot):
    """Quintic pieces through 100 samples a second are within 0.1 mm of the series, and bounds within 1.1 mm of both."""
    motion, clearance = swing(robot, 2.0, seed=1), collision_model(robot, path)
    model, limits, tip = Model(robot, (RigidBody(),)), limits_of(robot), FrameLimit("lower", speed=20.0)
    series = certified(robot, motion, clearance=clearance, frames=[tip])
    samples = certify_trajectory(motion.sampled(100.0), model, limits, clearance=clearance, frames=[tip])
    for quantity, tolerance in (("distance", 1.2e-3), ("cartesian_speed", 1e-2), ("torque_rate", 20.0)):
        one, other = ([c.bound for c in it.checks if c.quantity == quantity] for it in (series, samples))
        assert one == pytest.approx(other, abs=tolerance)


def test_samples_without_accelerations_have_no_torque_rate(robot):
    motion = swing(robot, 1.0).sampled(100.0)
    model, limits = Model(robot, (RigidBody(),)), limits_of(robot)
    assert "torque_rate" not in failed(certify_trajectory(motion, model, limits))
    assert "torque_rate" in failed(certify_trajectory(replace(motion, ddq=None), model, limits))


def test_what_is_not_checked_is_said(path, robot):
    bare = certified(robot, swing(robot, 1.0))
    assert any("collisions of the robot" in line for line in bare.not_checked)
    assert any("no frame was given" in line for line in bare.not_checked)
    assert any("cables" in line for line in bare.not_checked)
    full = certified(robot, swing(robot, 1.0), clearance=collision_model(robot, path),
                     frames=[FrameLimit("lower", speed=9.0)])  # fmt: skip
    assert not any("collisions of the robot" in line for line in full.not_checked)
    assert "collisions of base - upper: a joint joins them" in full.not_checked


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({}, "neither"),
        ({"speed": 0.0}, "positive"),
        ({"speed": float("nan")}, "positive"),
        ({"lower": (1.0, 0.0, 0.0), "upper": (0.0, 1.0, 1.0)}, "below"),
        ({"speed": 1.0, "point": (0.0, float("nan"), 0.0)}, "three numbers"),
        ({"speed": 1.0, "lower": (0.0, 0.0)}, "three numbers"),
    ],
)
def test_limits_of_a_frame_that_cannot_be(options, why):
    with pytest.raises(StudyError, match=why):
        FrameLimit("lower", **options)


def test_where_no_two_shapes_can_meet(path, robot):
    """All pairs may touch: nothing is in the way of a design or a certificate, and that is said."""
    free = collision_model(robot, path, allowed=[("base", "lower")], required=0.0)
    assert free.distance(np.zeros((3, 2))).tolist() == [np.inf] * 3
    assert keeps_clear(free, swing(robot, 1.0).cells(1e-2))
    assert resting_place(free, limits_of(robot)) == pytest.approx(0.0)
    assert Separation(free, 4, within=0.1).near(np.zeros((4, 2))).distance.size == 0
    certificate = certified(robot, swing(robot, 1.0), clearance=free)
    assert certificate.passed
    assert "collisions: no two shapes can meet but those that may touch" in certificate.not_checked


def test_a_frame_must_be_a_link(robot):
    with pytest.raises(StudyError, match="not a link"):
        certified(robot, swing(robot, 1.0), frames=[FrameLimit("nowhere", speed=1.0)])


@pytest.fixture
def walled(path, robot):
    """The arm with a post, a plane that looks at it, and a fork-shaped crowd of boxes: pairs of every kind."""
    obstacles = [
        Obstacle("post", "cylinder", (0.1, 3.0), (0.0, 0.75, 0.0)),
        Obstacle("wall", "plane", position=(-0.95, 0.0, 0.0), rpy=(0.0, np.pi / 2, 0.0)),
        Obstacle("crate", "box", (0.2, 0.3, 0.2), (0.9, -0.4, 0.1), (0.3, 0.2, 0.1)),
    ]
    return collision_model(robot, path, obstacles=obstacles)


def test_separating_distances_are_never_too_large_and_have_their_derivatives(walled):
    """Along poses that move little by little; derivatives against differences, where the nearest point stays."""
    q = np.random.default_rng(1).uniform(-2.9, 2.9, (150, 2))
    separation = Separation(walled, len(q), within=0.15)
    for step in (0.0, 1e-3, 1e-2, 0.05):
        q = q + step * np.random.default_rng(2).uniform(-1.0, 1.0, q.shape)
        near = separation.near(q)
        assert len(near.pose) > 40
        least = np.full(len(q), np.inf)
        np.minimum.at(least, near.pose, near.distance)
        true = walled.distance(q)
        seen = np.isfinite(least)
        assert np.all(least[seen] <= true[seen] + 2.0 * SOLVER)
        assert np.all(true[~seen] > 0.15 - 1e-3)
        if step == 0.0:
            assert least[seen] == pytest.approx(true[seen], abs=2e-3)  # the prism around a cylinder: 1 / cos(7.5 deg)
    found = []
    for j in range(2):
        h = np.zeros(2)
        h[j] = 1e-6
        ends = [separation.near(q + s * h) for s in (1.0, -1.0)]
        assert all(np.array_equal(end.pair, near.pair) for end in ends)
        found.append((ends[0].distance - ends[1].distance) / 2e-6)
    error = np.abs(np.column_stack(found) - near.gradient).max(axis=1)
    assert np.quantile(error, 0.8) < 1e-7  # [m/rad] at an edge that lies flat two points are nearest


def test_rooms_have_the_derivatives_they_say(path, robot):
    post = Obstacle("post", "cylinder", (0.1, 3.0), (0.0, 0.75, 0.0))
    walled = collision_model(robot, path, obstacles=[post], allowed=[("post", "upper")])
    rng = np.random.default_rng(3)
    q = np.concatenate([np.zeros((1, 2)), rng.uniform(-2.9, 2.9, (300, 2))])
    q = q[walled.distance(q) > 0.05]
    bound = ClearanceBound(Separation(walled, len(q), within=0.15))
    room = bound.room(States(q, q, q))
    assert room.size > 20
    assert room.min() > 0.0
    weights = rng.standard_normal(room.size)
    rates = np.ones((2, 3, len(q)))
    bound.pull(weights, rates)
    assert np.all(rates[:, 1:] == 1.0)
    direction = rng.standard_normal(q.shape)
    up, down = (weights @ bound.room(States(q + s * 1e-6 * direction, q, q)) for s in (1.0, -1.0))
    assert (up - down) / 2e-6 == pytest.approx(float(np.sum((rates[:, 0].T - 1.0) * direction)), rel=1e-5)
    q[0] = [0.0, 3.0]  # folded: the ball is in the base
    assert bound.room(States(q, q, q)).min() < 0.0


def test_a_place_to_rest_and_a_motion_about_it(path, robot):
    """The middle of the range where it is clear; else one near it; a motion is drawn together about it."""
    limits = limits_of(robot)
    free = collision_model(robot, path)
    assert resting_place(free, limits) == pytest.approx(limits.center)
    blocked = collision_model(robot, path, obstacles=[Obstacle("ball", "sphere", (0.2,), (0.9, 0.0, 0.0))])
    rest = resting_place(blocked, limits)
    assert blocked.distance(rest[None])[0] > 0.01
    assert np.abs(rest - limits.center).max() < 1.0
    family = FourierFamily(PERIOD, shared_harmonics(2, 4), "acceleration")
    x = np.random.default_rng(4).standard_normal((2, family.variables))

    def clear(x):
        return keeps_clear(blocked, FourierMotion(robot.joint_names, family, family.coefficients(x)).cells(4e-3))

    assert not clear(x)
    repaired = shrunk(x, rest, clear, factor=0.7)
    assert clear(repaired)
    assert np.ptp(family.coefficients(repaired)[:, 1:]) > 0.01
    assert np.abs(shrunk(x, rest, lambda x: False, factor=0.7)[:, 1:]).max() < 1e-5
    everywhere = collision_model(robot, path, obstacles=[Obstacle("ball", "sphere", (3.0,))])
    with pytest.raises(StudyError, match="nowhere clear"):
        resting_place(everywhere, limits)


@pytest.mark.parametrize("limits", [{"speed": 2.0}, {"lower": (-0.5, -9, -9), "upper": (9, 0.6, 0.4)},
                                    {"speed": 2.0, "upper": (0.9, 9, 9)}])  # fmt: skip
def test_rooms_of_a_point_have_the_derivatives_they_say(tmp_path, limits):
    """A chain with a slide and tilted axes: derivatives of all rooms by positions and velocities, by differences."""
    path = shaped.write(
        tmp_path,
        *(shaped.link(name) for name in ("base", "a", "b", "c")),
        shaped.joint("one", "base", "a", "0.1 0.2 0", "0 0.6 0.8"),
        shaped.joint("two", "a", "b", "0.2 0 0.1", "0.8 0 0.6", kind="prismatic"),
        shaped.joint("three", "b", "c", "0.1 0 0.3", "0 1 0"),
    )
    rng = np.random.default_rng(6)
    q, dq, ddq = 0.5 * rng.standard_normal((3, 5, 3))
    bound = FrameBound(shaped.loaded(path), FrameLimit("c", point=(0.1, 0.2, 0.3), **limits))
    room = bound.room(States(q, dq, ddq))
    weights, directions = rng.standard_normal(room.size), rng.standard_normal((2, 5, 3))
    rates = np.zeros((3, 3, 5))
    bound.pull(weights, rates)
    ends = [
        weights @ bound.room(States(q + s * 1e-6 * directions[0], dq + s * 1e-6 * directions[1], ddq))
        for s in (1.0, -1.0)
    ]
    slope = sum(float(np.sum(rates[:, k].T * directions[k])) for k in range(2))
    assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(slope, rel=1e-6)
    assert np.all(rates[:, 2] == 0.0)


def test_a_design_keeps_speed_and_box_of_a_point(robot):
    """Certified against the limits themselves; the same search without them breaks both."""
    model, limits = Model(robot, (RigidBody(),)), limits_of(robot)
    tip = FrameLimit("lower", point=(0.4, 0.0, 0.0), speed=1.5, lower=(0.0, -0.6, -1.0), upper=(1.0, 0.6, 1.0))
    options = {"columns": "rigid", "period": 4.0, "harmonics": 3, "samples": 120, "starts": 1, "changes": 0}
    kept, free = (design_motion(model, limits, bounds=b, **options) for b in ([FrameBound(robot, tip)], []))
    assert certified(robot, kept.motion, frames=[tip]).passed
    assert set(failed(certified(robot, free.motion, frames=[tip]))) == {"cartesian_speed", "workspace"}
    with pytest.raises(StudyError, match="not a link that moves"):
        FrameBound(robot, FrameLimit("base", speed=1.0))
