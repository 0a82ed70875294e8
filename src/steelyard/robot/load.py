"""From a linted URDF to a Robot, cross-checked against Pinocchio's reading of the same file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import ModelError
from steelyard.robot.inertia import parameters_about_origin, rotation_rpy
from steelyard.robot.robot import Axis, Link, Robot
from steelyard.robot.tree import PRISMATIC, REVOLUTE, TreeJoint
from steelyard.robot.urdf_description import UrdfDescription, UrdfInertial, UrdfJoint
from steelyard.robot.urdf_lint import lint_urdf, load_urdf_description

Array = NDArray[np.float64]
MASS_TOLERANCE = 1e-9  # relative: both readers parse the same decimal text


def load_urdf(path: Path, *, gravity: tuple[float, ...], mimic: Literal["lock", "project"]) -> Robot:
    """The Robot of a URDF file.

    Raises:
        ModelError: the linter found an error, gravity is not three numbers, or Pinocchio reads other masses.
    """
    if len(gravity) != 3 or not np.isfinite(gravity).all():
        raise ModelError("gravity must be three finite numbers [m/s2]", value=gravity, cure="--gravity 0 0 -9.81")
    description = load_urdf_description(path)
    robot = build_robot(description, np.asarray(gravity, dtype=np.float64), mimic=mimic)
    _check_against_pinocchio(path, description)
    findings = tuple(f for f in lint_urdf(path).findings if f.level != "info")
    return replace(robot, findings=findings)


def build_robot(description: UrdfDescription, gravity: Array, *, mimic: Literal["lock", "project"]) -> Robot:
    """Walk the tree from the root, depth first in file order; fixed joints join links to one body.

    Mimic joints become coordinates of their own and are then locked where their equation puts them while the joint
    they follow is at neutral; or, projected, they share its coordinate: position = multiplier * coordinate + offset.
    """
    followers = {joint.name: joint for joint in description.joints if joint.moves and joint.mimic is not None}
    free = [joint for joint in _walk(description) if joint.moves and (mimic == "lock" or joint.name not in followers)]
    axes = tuple(_axis(joint) for joint in free)
    dof = {joint.name: k for k, joint in enumerate(free)}
    joints: list[TreeJoint] = []
    bodies: list[str] = []
    frames: dict[str, tuple[int, Array, Array]] = {description.root: (-1, np.eye(3), np.zeros(3))}
    for joint in _walk(description):
        body, rotation, translation = frames[joint.parent]
        R = rotation @ rotation_rpy(np.array(joint.origin_rpy))
        p = translation + rotation @ np.array(joint.origin_xyz)
        if not joint.moves:
            frames[joint.child] = (body, R, p)
            continue
        leader, ratio, offset = (joint.name, 1.0, 0.0) if joint.name in dof else _leader(joint.name, followers)
        kind = PRISMATIC if joint.kind == "prismatic" else REVOLUTE
        joints.append(TreeJoint(body, kind, np.array(joint.axis), R, p, dof[leader], ratio, offset))
        bodies.append(joint.child)
        frames[joint.child] = (len(joints) - 1, np.eye(3), np.zeros(3))
    robot = Robot(
        name=description.name,
        axes=axes,
        joints=tuple(joints),
        body_names=tuple(bodies),
        links=tuple(Link(link.name, *frames[link.name], _parameters(link.inertial)) for link in description.links),
        gravity=gravity,
        digest=description.digest,
    )
    neutral = {axis.name: axis.neutral for axis in axes}
    at = {name: ratio * neutral[leader] + offset for name in followers if name in dof
          for leader, ratio, offset in [_leader(name, followers)]}  # fmt: skip
    return robot.locked(at)


def _walk(description: UrdfDescription) -> list[UrdfJoint]:
    """Joints with parents before children, depth first in file order."""
    ahead: dict[str, list[UrdfJoint]] = {}
    for joint in description.joints:
        ahead.setdefault(joint.parent, []).append(joint)
    order: list[UrdfJoint] = []
    waiting = list(reversed(ahead.get(description.root, [])))
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting.extend(reversed(ahead.get(joint.child, [])))
    return order


def _leader(name: str, followers: Mapping[str, UrdfJoint]) -> tuple[str, float, float]:
    """The joint at the end of a mimic chain, and position = ratio * its position + offset."""
    ratio, offset = 1.0, 0.0
    while name in followers:
        mimic = followers[name].mimic
        if mimic is None:
            break
        ratio, offset, name = ratio * mimic.multiplier, ratio * mimic.offset + offset, mimic.joint
    return name, ratio, offset


def _parameters(inertial: UrdfInertial | None) -> Array | None:
    """(10,) about the link origin: the tensor turned by the inertial's rpy, then moved to the origin."""
    if inertial is None:
        return None
    R = rotation_rpy(np.array(inertial.origin_rpy))
    return parameters_about_origin(inertial.mass, np.array(inertial.origin_xyz), R @ np.array(inertial.inertia) @ R.T)


def _axis(joint: UrdfJoint) -> Axis:
    endless = joint.kind == "continuous"
    return Axis(
        name=joint.name,
        lower=-np.inf if endless or joint.lower is None else joint.lower,
        upper=np.inf if endless or joint.upper is None else joint.upper,
        velocity=np.inf if joint.velocity is None else joint.velocity,
        effort=np.inf if joint.effort is None else joint.effort,
        damping=joint.damping or 0.0,
        friction=joint.friction or 0.0,
        prismatic=joint.kind == "prismatic",
        continuous=endless,
    )


def _check_against_pinocchio(path: Path, description: UrdfDescription) -> None:
    """Refuse a file that the field's reference reader understands otherwise: the masses must agree."""
    import pinocchio

    try:
        model = pinocchio.buildModelFromXML(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RuntimeError, UnicodeDecodeError):
        return  # it refuses files that we accept, e.g. a revolute joint without limits
    theirs = sum(inertia.mass for inertia in model.inertias[1:])
    robot = build_robot(description, np.zeros(3), mimic="project")
    ours = robot.moving_mass
    if abs(theirs - ours) > MASS_TOLERANCE * max(1.0, ours):
        raise ModelError(
            "two readers of this file disagree about the mass of the moving bodies",
            where=str(path),
            value=f"{ours!r} kg here, {theirs!r} kg by Pinocchio",
            cure="look for numbers written twice or in an odd notation, and report the file",
        )
