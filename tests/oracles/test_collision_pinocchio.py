"""Distances of robots with meshes against Pinocchio's, which reads the same files and meshes in its own way."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from steelyard.excite.certificate import certify
from steelyard.excite.design import design_motion
from steelyard.excite.limits import JointLimit, motion_limits
from steelyard.model import Model
from steelyard.robot.collision_build import collision_model
from steelyard.robot.robot import Robot
from steelyard.terms.rigid_body import RigidBody

ROBOTS = {
    "panda": "panda_description/urdf/panda.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
}


def load(folder, name, **options):
    path = folder / ROBOTS[name]
    robot = Robot.from_urdf(path)
    robot = robot.locked([joint for joint in robot.joint_names if "finger" in joint])
    return path, robot, collision_model(robot, path, search=[folder.parents[1]], **options)


@pytest.mark.parametrize("name", ROBOTS)
def test_distances_are_those_of_pinocchio(example_robots, name):
    """All pairs of links that we check, by their meshes, in 25 random poses; where the meshes overlap, both say so.

    Ours is never more than the meshes' distance (and coal's 1e-5 m), and equal to it where the links are nearer than
    is required or their meshes are their hulls.
    """
    path, robot, found = load(example_robots, name, required=0.05)
    model, folder = pin.buildModelFromUrdf(str(path)), str(example_robots.parents[1])
    geometry = pin.buildGeomFromUrdf(model, str(path), pin.GeometryType.COLLISION, package_dirs=[folder])
    checked = {frozenset(found.solids[s].name for s in pair) for pair in found.pairs}
    for a, one in enumerate(geometry.geometryObjects):
        for b, other in enumerate(geometry.geometryObjects[:a]):
            if frozenset(geo.name.rsplit("_", 1)[0] for geo in (one, other)) in checked:
                geometry.addCollisionPair(pin.CollisionPair(b, a))
    assert len(geometry.collisionPairs) == len(found.pairs)
    data, geometry_data = model.createData(), geometry.createData()
    reach = np.minimum(model.upperPositionLimit, np.pi)
    rng = np.random.default_rng(0)
    least, ours = [], []
    for _ in range(25):
        q = rng.uniform(np.maximum(model.lowerPositionLimit, -np.pi), reach)
        q[[model.joints[i].idx_q for i in range(1, model.njoints) if "finger" in model.names[i]]] = 0.0
        pin.computeDistances(model, data, geometry, geometry_data, q)
        least.append(min(result.min_distance for result in geometry_data.distanceResults))
        at = [q[model.joints[model.getJointId(joint)].idx_q] for joint in robot.joint_names]
        ours.append(float(found.distance(np.array([at]))[0]))
    least, ours = np.array(least), np.array(ours)
    assert np.all((least <= 1e-9) == (ours <= 0.0))
    apart = least > 1e-9
    assert np.all(ours[apart] <= least[apart] + 1e-5)
    same = apart if name == "panda" else apart & (ours < 0.05)
    assert same.sum() > 2
    assert ours[same] == pytest.approx(least[same], abs=2e-3 if name == "panda" else 2e-5)


def test_pairs_that_may_touch_are_few_and_shown(example_robots):
    """UR10 without any list of pairs: its six joints join six pairs, and nothing else touches by design."""
    _, robot, found = load(example_robots, "ur10")
    assert {pair.reason for pair in found.allowed} == {"joined"}
    assert len(found.allowed) == len(robot.joint_names)
    assert found.unchecked == ()
    _, _, panda = load(example_robots, "panda")
    assert {f.code for f in panda.findings} == {"excite.neutral_touches"}


def test_without_its_meshes_every_link_is_named(example_robots, tmp_path):
    copy = tmp_path / "panda.urdf"
    copy.write_bytes((example_robots / ROBOTS["panda"]).read_bytes())
    robot = Robot.from_urdf(copy)
    found = collision_model(robot, copy)
    assert len([f for f in found.findings if f.code == "excite.mesh_missing"]) == 9
    assert sum("its true shape" in text for text in found.unchecked) == 9


def test_a_design_keeps_clear_of_itself(example_robots):
    """A short search is certified without a collision; without the clearance the same search collides."""
    _, robot, found = load(example_robots, "panda")
    limit = JointLimit(acceleration=10.0, jerk=5000.0)
    limits = motion_limits(robot, dict.fromkeys(robot.joint_names, limit))
    model = Model(robot, (RigidBody(),))
    options = {"columns": "rigid", "samples": 100, "harmonics": 4, "starts": 1, "changes": 0, "budget": 20.0}
    clear, free = (design_motion(model, limits, clearance=c, **options) for c in (found, None))
    certificate = certify(clear.motion, model, limits, clearance=found)
    assert certificate.passed
    assert any(check.quantity == "distance" for check in certificate.checks)
    assert not certify(free.motion, model, limits, clearance=found).passed
    assert clear.value < free.value + 0.4  # the criterion is a logarithm: not much is lost
