"""Distances against formulas, bounds that hold, pairs that may touch with their reasons, and nothing passed over."""

from __future__ import annotations

import numpy as np
import pytest

import shaped
from steelyard.errors import ModelError, StudyError
from steelyard.robot.collision_build import collision_model
from steelyard.robot.collision_shape import Obstacle, box_of_inertia
from steelyard.robot.inertia import parameters_about_origin
from steelyard.robot.robot import Robot

SOLVER = 1e-5  # [m] what coal and our allowance for it leave


def poses(count, n=2, reach=2.9, seed=0):
    return np.random.default_rng(seed).uniform(-reach, reach, (count, n))


def model(path, **options):
    return collision_model(shaped.loaded(path), path, **options)


def test_the_distance_of_two_balls(tmp_path):
    """Only base and lower link are held apart: the others are joined."""
    found = model(shaped.arm(tmp_path))
    q = poses(200)
    assert found.distance(q) == pytest.approx(shaped.arm_distance(q), abs=SOLVER)
    assert np.all(found.distance(q) <= shaped.arm_distance(q))
    assert found.nearest(q[0]) == "base - lower"
    assert found.distance(q, far=0.3) == pytest.approx(np.minimum(0.3, shaped.arm_distance(q)), abs=SOLVER)


def test_obstacles(tmp_path):
    """A table below, a post of radius 0.1 m at (0, 0.7), a ball and a box: distances of the ball by hand."""
    obstacles = [
        Obstacle("table", "plane", position=(0.0, 0.0, -0.3)),
        Obstacle("post", "cylinder", (0.1, 3.0), (0.0, 0.7, 0.0)),
        Obstacle("lamp", "sphere", (0.1,), (0.6, 0.0, 0.2)),
        Obstacle("crate", "box", (0.2, 0.2, 0.2), (-0.8, 0.0, 0.0)),
    ]
    allowed = [("upper", o.name) for o in obstacles] + [("base", "lower")]
    found = model(shaped.arm(tmp_path), obstacles=obstacles, allowed=allowed)
    assert len(found.pairs) == 4  # base and obstacles both stand still
    q = poses(300)
    a, b = q[:, 0], q.sum(axis=1)
    ball = np.column_stack([0.5 * np.cos(a) + 0.4 * np.cos(b), 0.5 * np.sin(a) + 0.4 * np.sin(b), 0.0 * a])
    over = np.maximum(np.abs(ball - [-0.8, 0.0, 0.0]) - 0.1, 0.0)
    by_hand = np.minimum.reduce([
        0.3 + 0.0 * a,
        np.linalg.norm(ball[:, :2] - [0.0, 0.7], axis=1) - 0.1,
        np.linalg.norm(ball - [0.6, 0.0, 0.2], axis=1) - 0.1,
        np.linalg.norm(over, axis=1),
    ]) - shaped.BALL  # fmt: skip
    clear = by_hand > 0.0  # inside a box the formula is another one
    assert clear.sum() > 200
    assert found.distance(q)[clear] == pytest.approx(by_hand[clear], abs=SOLVER)
    assert {pair.reason for pair in found.allowed} == {"joined", "stated"}


@pytest.mark.parametrize("reach", [1e-3, 0.05, 0.5])
def test_bounds_hold_for_all_positions_around(tmp_path, reach):
    """At twenty random positions within the travel, of robots with turns, slides and branches."""
    path = shaped.write(
        tmp_path,
        shaped.link("base", shaped.shape('<box size="0.2 0.3 0.1"/>')),
        shaped.link("turn", shaped.shape('<cylinder radius="0.05" length="0.2"/>', "0.1 0 0.1", "0.4 0 0")),
        shaped.link("slide", shaped.shape('<capsule radius="0.04" length="0.3"/>', "0 0 0.3", "0 1 0")),
        shaped.link("tip", shaped.shape('<box size="0.1 0.05 0.02"/>', "0.1 0.1 0")),
        shaped.link("branch", shaped.shape('<sphere radius="0.08"/>', "0 0.2 0")),
        shaped.joint("one", "base", "turn", "0.1 0 0.1", "0 0.6 0.8"),
        shaped.joint("two", "turn", "slide", "0.2 0 0.1", "0.8 0 0.6", kind="prismatic"),
        shaped.joint("three", "slide", "tip", "0 0 0.3", "0 1 0"),
        shaped.joint("four", "turn", "branch", "0 0.1 0.1", "1 0 0"),
    )
    found = model(path, obstacles=[Obstacle("wall", "plane", position=(0.9, 0, 0), rpy=(0.0, -1.5, 0.0))])
    assert len(found.pairs) > 4
    rng = np.random.default_rng(2)
    q = poses(40, 4)
    travel = rng.uniform(0.0, reach, q.shape)
    bound = found.distance(q, travel)
    for _ in range(20):
        inside = q + travel * rng.uniform(-1.0, 1.0, q.shape)
        assert np.all(found.distance(inside) >= bound - SOLVER)
    assert np.all(bound <= found.distance(q) + SOLVER)


def test_the_lever_of_a_pair(tmp_path):
    """No point of the base is farther than 0.1 m from the shoulder's axis, none of the ball 0.45 m from the elbow's."""
    levers = model(shaped.arm(tmp_path)).levers
    assert levers == pytest.approx(np.array([[shaped.BASE, shaped.NEAR + shaped.BALL]]))


def test_a_slide_without_limits_has_no_lever(tmp_path):
    """How far the ball can be from the turn's axis is not known: said when a bound is asked for, and not before."""
    slide = shaped.joint("slide", "turn", "ball", "0.2 0 0", "1 0 0", kind="prismatic")
    path = shaped.write(
        tmp_path,
        shaped.link("base", shaped.shape('<box size="0.1 0.1 0.1"/>', "0 0 -0.4")),
        shaped.link("turn"),
        shaped.link("ball", shaped.shape('<sphere radius="0.1"/>')),
        shaped.joint("one", "base", "turn", "0 0 0"),
        slide.replace('lower="-3" upper="3" ', ""),
    )
    found = model(path)
    with pytest.raises(ModelError, match="slide has no position limits"):
        found.distance(np.zeros((1, 2)), np.full((1, 2), 0.1))


def fork_arm(folder, write=shaped.binary_stl):
    (folder / "fork.stl").write_bytes(write(shaped.fork()))
    return shaped.write(
        folder,
        shaped.link("base"),
        shaped.link("fork", shaped.shape('<mesh filename="fork.stl"/>')),
        shaped.joint("turn", "base", "fork", "0 0 0"),
    )


def test_a_mesh_is_measured_where_its_hull_is_too_large(tmp_path):
    """A ball of radius 0.05 m between two prongs 0.2 m apart: inside the hull, and 0.05 m from the mesh."""
    path = fork_arm(tmp_path)
    between = [Obstacle("ball", "sphere", (0.05,), (0.3, 0.0, 0.0))]
    found = model(path, obstacles=between, required=0.02)
    assert found.distance(np.zeros((1, 1)))[0] == pytest.approx(0.05, abs=SOLVER)
    turned = found.distance(np.array([[0.1]]))[0]  # the inner face of a prong has come nearer
    assert turned == pytest.approx(0.1 - 0.3 * np.sin(0.1) - 0.05, abs=SOLVER)
    assert found.distance(np.array([[0.5]]))[0] <= 0.0
    away = model(path, obstacles=[Obstacle("ball", "sphere", (0.05,), (1.0, 0.0, 0.0))])
    assert away.distance(np.zeros((1, 1)))[0] == pytest.approx(0.55, abs=SOLVER)


def test_a_mesh_that_is_its_own_hull_needs_no_second_look(tmp_path):
    (tmp_path / "fork.stl").write_bytes(shaped.binary_stl(shaped.box_triangles((-0.1,) * 3, (0.1,) * 3)))
    path = shaped.write(
        tmp_path,
        shaped.link("base"),
        shaped.link("fork", shaped.shape('<mesh filename="fork.stl" scale="2 1 1"/>', "0.5 0 0")),
        shaped.joint("turn", "base", "fork", "0 0 0"),
    )
    found = model(path, obstacles=[Obstacle("ball", "sphere", (0.1,), (1.0, 0.0, 0.0))])
    assert found.solids[0].surface is None
    assert found.distance(np.zeros((1, 1)))[0] == pytest.approx(0.2, abs=SOLVER)


def test_a_missing_mesh_is_said_and_stood_in_for(tmp_path):
    path = fork_arm(tmp_path)
    (tmp_path / "fork.stl").unlink()
    found = model(path, obstacles=[Obstacle("ball", "sphere", (0.05,), (1.0, 0.0, 0.0))])
    assert [(f.code, f.level) for f in found.findings] == [("excite.mesh_missing", "warning")]
    assert "'fork'" in found.findings[0].where
    assert "tried" in found.findings[0].message
    assert [text for text in found.unchecked if text.startswith("fork: its true shape (a box")]
    assert [solid.shape.kind for solid in found.solids] == ["box", "sphere"]


def test_the_box_of_an_inertia():
    """A box of 0.2 x 0.3 x 0.4 m and 2.4 kg, off the origin: its own sides again."""
    sides, centre, mass = np.array([0.2, 0.3, 0.4]), np.array([0.1, -0.2, 0.3]), 2.4
    inertia = np.diag(mass / 12.0 * (np.sum(sides**2) - sides**2))
    box = box_of_inertia("a", parameters_about_origin(mass, centre, inertia))
    assert sorted(box.size) == pytest.approx(sides)
    assert box.translation == pytest.approx(centre)
    assert box_of_inertia("a", np.zeros(10)) is None
    assert box_of_inertia("a", parameters_about_origin(1.0, centre, np.diag([1.0, 1.0, 3.0]))) is None


def crowded(folder):
    """A sleeve around two thirds of the arm: it touches the tip always, the flap only when folded, as it is at zero."""
    return shaped.write(
        folder,
        shaped.link("base"),
        shaped.link("sleeve", shaped.shape('<sphere radius="0.2"/>')),
        shaped.link("wrist"),
        shaped.link("tip", shaped.shape('<sphere radius="0.1"/>', "0.05 0 0")),
        shaped.link("flap", shaped.shape('<sphere radius="0.05"/>', "0.22 0 0")),
        shaped.joint("one", "base", "sleeve", "0 0 0"),
        shaped.joint("two", "sleeve", "wrist", "0.05 0 0"),
        shaped.joint("three", "wrist", "tip", "0.05 0 0", "0 1 0"),
        shaped.joint("four", "wrist", "flap", "-0.4 0 0", "0 1 0"),
    )


def test_pairs_that_may_touch_have_a_reason(tmp_path):
    found = model(crowded(tmp_path))
    reasons = {(pair.first, pair.second): (pair.reason, pair.touching) for pair in found.allowed}
    assert reasons == {("sleeve", "tip"): ("always", 1.0)}
    assert [(f.code, f.level) for f in found.findings] == [("excite.neutral_touches", "info")]
    assert found.findings[0].where == "flap, sleeve"
    assert str(found.allowed[0]) == "sleeve - tip: their shapes touch in every pose tried (100% of poses)"
    assert model(crowded(tmp_path), seed=5).allowed == found.allowed


def test_the_user_has_the_last_word_on_pairs(tmp_path):
    path = crowded(tmp_path)
    found = model(path, allowed=[("flap", "sleeve")], checked=[("sleeve", "tip")])
    assert [(pair.first, pair.second, pair.reason) for pair in found.allowed] == [("flap", "sleeve", "stated")]
    assert found.distance(np.zeros((1, 4)))[0] < 0.0
    assert found.findings == ()


def test_links_locked_together_are_rigid(tmp_path):
    path = shaped.arm(tmp_path)
    robot = shaped.loaded(path).locked({"elbow": 2.9})
    assert len(collision_model(robot, path).pairs) == 0


MJCF = """<mujoco><compiler angle="radian" meshdir="parts"/>
<asset><mesh name="fork" file="fork.stl" scale="1 1 1"/></asset>
<worldbody><geom type="plane" size="1 1 1" pos="0 0 -0.5"/>
<body name="base"><geom type="sphere" size="0.1" mass="1"/>
<body name="upper"><joint name="shoulder" axis="0 0 1" range="-3 3"/>
<geom type="capsule" size="0.01" fromto="0.1 0 0 0.4 0 0" mass="1"/>
<body name="lower" pos="0.5 0 0"><joint name="elbow" axis="0 0 1" range="-3 3"/>
<geom type="box" size="0.05 0.05 0.05" pos="0.4 0 0" mass="1"/>
<geom type="box" size="9 9 9" mass="0" contype="0" conaffinity="0"/>
<body name="tool" pos="0.4 0 0.2"><geom type="mesh" mesh="fork" mass="0"/>
<inertial pos="0 0 0" mass="1" diaginertia="0.01 0.02 0.015"/>
</body></body></body></body></worldbody></mujoco>"""


def test_geoms_of_an_mjcf(tmp_path):
    """Ball on the base, plane of the world; the box that only is seen is left out; half sides are not sides."""
    (tmp_path / "arm.xml").write_text(MJCF)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "fork.stl").write_bytes(shaped.binary_stl(shaped.fork()))
    robot = Robot.from_file(tmp_path / "arm.xml")
    found = collision_model(robot, tmp_path / "arm.xml")
    kinds = {(solid.name, solid.shape.kind): solid.shape.size for solid in found.solids}
    assert kinds[("base", "sphere")] == (0.1,)
    assert kinds[("lower", "box")] == pytest.approx((0.1, 0.1, 0.1))
    assert kinds[("upper", "capsule")] == pytest.approx((0.01, 0.3))
    assert {("world", "plane"), ("tool", "mesh")} <= set(kinds)
    assert found.distance(np.array([[0.3, 0.0]]))[0] == pytest.approx(0.45, abs=SOLVER)  # box over the plane
    assert {frozenset((p.first, p.second)) for p in found.allowed if p.reason == "joined"} == {
        frozenset(("base", "upper")), frozenset(("upper", "lower")),
    }  # fmt: skip
    (tmp_path / "parts" / "fork.stl").unlink()
    assert [f.code for f in collision_model(robot, tmp_path / "arm.xml").findings] == ["excite.mesh_missing"]


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (("a", "cone", (1.0, 1.0)), "kind"),
        (("a", "box", (1.0, 1.0)), "3 sizes"),
        (("a", "sphere", (0.0,)), "positive"),
        (("a", "sphere", (float("nan"),)), "positive"),
        (("a", "sphere", (1.0,), (0.0, float("inf"), 0.0)), "finite"),
        (("a", "sphere", (1.0,), (5000.0, 0.0, 0.0)), "kilometre"),
    ],
)
def test_what_is_no_obstacle(values, why):
    with pytest.raises(StudyError, match=why):
        Obstacle(*values)


def test_what_cannot_be_checked(tmp_path):
    path = shaped.arm(tmp_path)
    robot = shaped.loaded(path)
    for options in ({"required": -0.1}, {"required": float("nan")}, {"samples": 0}, {"seed": -1},
                    {"allowed": [("base", "nowhere")]}, {"checked": [("lower", "nowhere")]},
                    {"obstacles": [Obstacle("base", "sphere", (0.1,))]}):  # fmt: skip
        with pytest.raises(StudyError):
            collision_model(robot, path, **options)
    path.write_text(path.read_text().replace("0.05", "0.06"))
    with pytest.raises(ModelError, match="not the file"):
        collision_model(robot, path)
    bare = shaped.write(tmp_path, shaped.link("a"), shaped.link("b"), shaped.joint("j", "a", "b", "0 0 0"))
    with pytest.raises(ModelError, match="no collision geometry"):
        model(bare)
    floating = Robot.from_urdf(shaped.arm(tmp_path), floating=True)
    with pytest.raises(ModelError, match="base stands"):
        collision_model(floating, path)


@pytest.mark.parametrize(
    "shape", ['<box size="1 1"/>', '<box size="1 -1 1"/>', '<sphere/>', '<cone radius="1"/>', "<box/><box/>",
              '<mesh filename="fork.stl" scale="0 1 1"/>', '<cylinder radius="1" length="x"/>'],
)  # fmt: skip
def test_shapes_that_cannot_be_read_are_said(tmp_path, shape):
    (tmp_path / "fork.stl").write_bytes(shaped.binary_stl(shaped.fork()))
    path = shaped.write(
        tmp_path,
        shaped.link("base", shaped.shape('<sphere radius="0.1"/>')),
        shaped.link("odd", shaped.shape(shape)),
        shaped.joint("turn", "base", "odd", "0 0 0"),
    )
    found = model(path)
    assert [f.code for f in found.findings] == ["excite.mesh_missing"]
    assert found.unchecked[0].startswith("odd: ")
