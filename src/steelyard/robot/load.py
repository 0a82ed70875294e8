"""From a linted model file to a Robot; a URDF is cross-checked against Pinocchio's reading of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import ModelError
from steelyard.robot.inertia import parameters_about_origin, rotation_rpy
from steelyard.robot.lint_report import LintReport
from steelyard.robot.mjcf_lint import lint_mjcf
from steelyard.robot.robot import STANDARD_GRAVITY, Axis, Link, Robot
from steelyard.robot.second_reader import check_masses
from steelyard.robot.strict_number import shown
from steelyard.robot.tree import FLOATING, PRISMATIC, REVOLUTE, TreeJoint
from steelyard.robot.urdf_description import UrdfDescription, UrdfJoint, UrdfLink
from steelyard.robot.urdf_elements import LARGEST
from steelyard.robot.urdf_lint import lint_urdf
from steelyard.robot.xml_reader import parse_model_xml

Array = NDArray[np.float64]
Mimic = Literal["lock", "project"]


def lint_model(path: str | Path) -> LintReport:
    """What stands out in a model file, URDF or MJCF by its root element.

    Args:
        path: the file.

    Raises:
        ModelError: the file is neither.
    """
    return lint_urdf(path) if parse_model_xml(path).kind == "urdf" else lint_mjcf(path)


def load_model(path: Path, *, gravity: tuple[float, ...] | None, mimic: Mimic, floating: bool | None) -> Robot:
    """The Robot of a URDF or MJCF file, told apart by the root element.

    Raises:
        ModelError: as `load_urdf` and `load_mjcf`.
    """
    load = load_urdf if parse_model_xml(path).kind == "urdf" else load_mjcf
    return load(path, gravity=gravity, mimic=mimic, floating=floating)


def load_urdf(path: Path, *, gravity: tuple[float, ...] | None, mimic: Mimic, floating: bool | None = None) -> Robot:
    """The Robot of a URDF file.

    Raises:
        ModelError: the linter found an error, gravity is not three numbers, or Pinocchio reads other masses.
    """
    report = lint_urdf(path)
    robot = _robot(report, gravity, mimic, floating)
    check_masses(path, report.usable())
    return robot


def load_mjcf(path: Path, *, gravity: tuple[float, ...] | None, mimic: Mimic, floating: bool | None = None) -> Robot:
    """The Robot of an MJCF file; gravity is that of the file where none is given.

    Raises:
        ModelError: the linter found an error, gravity is not three numbers, or a base shall float that stands.
    """
    report = lint_mjcf(path)
    if floating and not any(joint.kind == "floating" for joint in report.usable().joints):
        raise ModelError(
            "no body of this MJCF is free: its bodies stand on the world",
            where=str(path),
            value="floating=True",
            cure="write <freejoint/> into the body that floats",
        )
    return _robot(report, gravity, mimic, floating)


def _robot(report: LintReport, gravity: tuple[float, ...] | None, mimic: Mimic, floating: bool | None) -> Robot:
    if gravity is not None and (len(gravity) != 3 or not np.isfinite(gravity).all()):
        raise ModelError("gravity must be three finite numbers [m/s2]", value=gravity, cure="--gravity 0 0 -9.81")
    if mimic not in get_args(Mimic):
        raise ModelError("not a way to treat mimic joints", value=mimic, choices=get_args(Mimic))
    description = report.usable()
    own = STANDARD_GRAVITY if description.gravity is None else description.gravity
    robot = build_robot(description, np.array(own if gravity is None else gravity), mimic=mimic, floating=floating)
    return replace(robot, findings=tuple(f for f in report.findings if f.level != "info"))


def build_robot(description: UrdfDescription, gravity: Array, *, mimic: Mimic, floating: bool | None = None) -> Robot:
    """Walk the tree from the root, depth first in file order; fixed joints join links to one body.

    Mimic joints become coordinates of their own and are then locked where their equation puts them while the joint
    they follow is at neutral; or, projected, they share its coordinate: position = multiplier * coordinate + offset.
    A base that floats is the first body: that behind the file's floating joint, else that of the root link.
    """
    followers = {joint.name: joint for joint in description.joints if joint.moves and joint.mimic is not None}
    free = [joint for joint in _walk(description) if joint.moves and (mimic == "lock" or joint.name not in followers)]
    axes = tuple(_axis(joint) for joint in free)
    if mimic == "project":
        axes = tuple(_narrowed(axis, followers) for axis in axes)
    dof = {joint.name: k for k, joint in enumerate(free)}
    base = _base_link(description, floating)
    joints: list[TreeJoint] = []
    bodies: list[str] = []
    frames: dict[str, tuple[int, Array, Array]] = {description.root: (-1, np.eye(3), np.zeros(3))}

    def begin(link: str, joint: TreeJoint) -> None:
        joints.append(joint)
        bodies.append(link)
        frames[link] = (len(joints) - 1, np.eye(3), np.zeros(3))

    if base == description.root:
        begin(base, TreeJoint(-1, FLOATING, np.zeros(3), np.eye(3), np.zeros(3), -1))
    for joint in _walk(description):
        body, rotation, translation = frames[joint.parent]
        R = rotation @ rotation_rpy(np.array(joint.origin_rpy))
        p = translation + rotation @ np.array(joint.origin_xyz)
        if joint.kind == "floating" and joint.child == base:
            begin(base, TreeJoint(-1, FLOATING, np.zeros(3), R, p, -1))
        elif not joint.moves:
            frames[joint.child] = (body, R, p)
        else:
            leader, ratio, offset = (joint.name, 1.0, 0.0) if joint.name in dof else _leader(joint.name, followers)
            kind = PRISMATIC if joint.kind == "prismatic" else REVOLUTE
            moved = TreeJoint(body, kind, np.array(joint.axis), R, p, dof[leader], ratio, offset - joint.reference)
            begin(joint.child, moved)
    robot = Robot(
        name=description.name,
        axes=axes,
        joints=tuple(joints),
        body_names=tuple(bodies),
        links=tuple(_link(link, *frames[link.name]) for link in description.links if not link.stand_in),
        gravity=gravity,
        digest=description.digest,
    )
    neutral = {axis.name: axis.neutral for axis in axes}
    at = {name: ratio * neutral[leader] + offset for name in followers if name in dof
          for leader, ratio, offset in [_leader(name, followers)]}  # fmt: skip
    return robot.locked(at)


def _base_link(description: UrdfDescription, floating: bool | None) -> str | None:
    """The link that floats; None where the base stands."""
    free = next((joint.child for joint in description.joints if joint.kind == "floating"), None)
    if floating is False or (floating is None and free is None):
        return None
    return description.root if free is None else free


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
    follower, ratio, offset = name, 1.0, 0.0
    while name in followers:
        mimic = followers[name].mimic
        if mimic is None:
            break
        ratio, offset, name = ratio * mimic.multiplier, ratio * mimic.offset + offset, mimic.joint
    if not max(abs(ratio), abs(offset)) <= LARGEST:
        raise ModelError(
            f"joint {shown(follower)} follows {shown(name)} by numbers beyond anything a robot is made of",
            where=f"line {followers[follower].line}",
            value=f"x {ratio:g} + {offset:g}",
            cure="write multiplier and offset as plain ratios and SI units",
        )
    return name, ratio, offset


def _link(link: UrdfLink, body: int, rotation: Array, translation: Array) -> Link:
    """A link in its own frame, with its parameters about that origin: the tensor turned by the inertial's rpy."""
    offset = np.array(link.offset)
    parameters = None
    if link.inertial is not None:
        R = rotation_rpy(np.array(link.inertial.origin_rpy))
        centre = np.array(link.inertial.origin_xyz) - offset
        parameters = parameters_about_origin(link.inertial.mass, centre, R @ np.array(link.inertial.inertia) @ R.T)
    return Link(link.name, body, rotation, translation + rotation @ offset, parameters)


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
        rotor_inertia=joint.armature or 0.0,
        prismatic=joint.kind == "prismatic",
        continuous=endless,
    )


def _narrowed(axis: Axis, followers: Mapping[str, UrdfJoint]) -> Axis:
    """A joint that leads others, kept within their limits of position and velocity too.

    Raises:
        ModelError: limits that exclude each other.
    """
    for name, joint in followers.items():
        leader, ratio, offset = _leader(name, followers)
        if leader != axis.name or ratio == 0.0:
            continue
        own = _axis(joint)
        low, high = sorted(((own.lower - offset) / ratio, (own.upper - offset) / ratio))
        axis = replace(
            axis,
            lower=max(axis.lower, low),
            upper=min(axis.upper, high),
            velocity=min(axis.velocity, own.velocity / abs(ratio)),
        )
        if axis.lower > axis.upper:
            raise ModelError(
                f"no position of {shown(axis.name)} keeps its own limits and those of its follower {shown(name)}",
                where=f"line {joint.line}",
                value=(axis.lower, axis.upper),
                cure="mend the limits or the mimic's multiplier and offset; or hold the follower still (mimic lock)",
            )
    return axis
