"""The linter that stands before every use of an MJCF: what cannot be read or modelled is named, never guessed."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path

from lxml import etree

from steelyard.errors import ModelError
from steelyard.robot.finding_log import FindingLog, Place
from steelyard.robot.lint_report import LintReport, judged
from steelyard.robot.mjcf_compiler import read_compiler
from steelyard.robot.mjcf_defaults import read_defaults
from steelyard.robot.mjcf_equality import with_couplings
from steelyard.robot.mjcf_reader import WORLD, MjcfTree
from steelyard.robot.strict_number import read_numbers, shown
from steelyard.robot.urdf_description import UrdfDescription, UrdfJoint
from steelyard.robot.urdf_elements import Owner, children, numbers
from steelyard.robot.urdf_reader import UrdfParts
from steelyard.robot.urdf_structure import check_structure, first_of_each
from steelyard.robot.xml_reader import local_name, parse_model_xml

_SPEEDS = "velocity_limit"


def lint_mjcf(path: str | PathLike[str]) -> LintReport:
    """Everything that stands out in an MJCF. Meshes and included files are never opened, and nothing is repaired.

    Args:
        path: the file.

    Raises:
        ModelError: the file is not an MJCF at all (`steelyard.robot.xml_reader.parse_model_xml` says why).
    """
    model = parse_model_xml(path)
    if model.kind != "mjcf":
        raise ModelError(
            "an MJCF is expected, this is a URDF",
            where=f"{path}:{model.root.sourceline}",
            value="<robot>",
            choices=("<mujoco>",),
            cure="load it as a URDF: Robot.from_urdf, or Robot.from_file for either",
        )
    log = FindingLog(Path(path).name)
    _refuse_includes(model.root, log)
    compiler, defaults = read_compiler(model.root, log), read_defaults(model.root, log)
    tree = MjcfTree(compiler, defaults, log)
    tree.read(model.root)
    joints = with_couplings(model.root, tree.joints, defaults, log)
    joints = _with_speeds(model.root, joints, log)
    _note_passive(model.root, log)
    if not tree.bodies:
        cure = "give the file that describes the robot, not the scene around it"
        log.add("error", "model.no_links", "the model has no bodies", Place(1, "<worldbody>"), cure=cure)
    name = str(model.root.get("model") or "MuJoCo Model")
    parts = UrdfParts(name, tuple(tree.links), joints)
    links, named = first_of_each(parts.links, "body", log), first_of_each(parts.joints, "joint", log)
    if (len(links), len(named)) == (len(parts.links), len(parts.joints)):  # else names would seem to close loops
        check_structure(parts, log)
    digest = hashlib.sha256(model.data).hexdigest()
    return judged(UrdfDescription(name, parts.links, joints, WORLD, digest, compiler.gravity, "mjcf"), log)


def _refuse_includes(root: etree._Element, log: FindingLog) -> None:
    for element in root.iter():
        if local_name(element) == "include":
            message = (
                f"an <include> is not followed: what {shown(str(element.get('file') or ''))} holds is missing here"
            )
            cure = "put the contents of that file in its place, without its root element"
            at = Place(element.sourceline or 0, "<include>")
            log.add("error", "model.include", message, at, value=str(element.get("file"))[:60], cure=cure)


def _with_speeds(root: etree._Element, joints: Sequence[UrdfJoint], log: FindingLog) -> tuple[UrdfJoint, ...]:
    """Velocity limits from ``<numeric name="velocity_limit">``, one for each joint in file order [rad/s or m/s]."""
    moving = [joint for joint in joints if joint.moves]
    stated = [n for c in children(root, "custom") for n in children(c, "numeric") if n.get("name") == _SPEEDS]
    if stated:
        owner = Owner(f"numeric {_SPEEDS!r}", log)
        values = read_numbers(str(stated[0].get("data") or ""), len(moving)) if moving else ()
        if values is None:
            message = f"{owner.subject} does not hold one number for each of the {len(moving)} joints"
            cure = "write one velocity limit a joint, in the order of the file [rad/s or m/s]"
            log.add("error", "model.number_unreadable", message, owner.at(stated[0]), cure=cure)
            return tuple(joints)
        limits = dict(zip((joint.name for joint in moving), values, strict=True))
        return tuple(replace(joint, velocity=limits.get(joint.name)) for joint in joints)
    if moving:
        message = "an MJCF has no field for velocity limits: the joints can be identified, but no motion designed"
        cure = f'give joint_limits.yaml, or write <custom><numeric name="{_SPEEDS}" data="..."/></custom>'
        log.add("warning", "model.no_limits", message, Place(moving[0].line, "joints"), value=len(moving), cure=cure)
    return tuple(joints)


def _note_passive(root: etree._Element, log: FindingLog) -> None:
    """Forces of the simulation that rigid bodies do not show."""
    for section in children(root, "tendon"):
        if len(section):
            message = "tendons, with their springs, friction and inertia, are not part of the model"
            cure = "write a term of your own for what they do to the joints, if the real robot has them"
            log.add("warning", "model.not_modelled", message, Place(section.sourceline or 0, "<tendon>"), cure=cure)
    for section in children(root, "deformable"):
        message = "deformable bodies are not modelled"
        at = Place(section.sourceline or 0, "<deformable>")
        log.add("error", "model.unsupported", message, at, cure="leave them out of the robot's file")
    for actuator in (a for section in children(root, "actuator") for a in section):
        _note_actuator(actuator, Owner(f"actuator {shown(str(actuator.get('name') or ''))}", log))


def _note_actuator(element: etree._Element, owner: Owner) -> None:
    for attribute in ("armature", "damping"):
        values = numbers(element, attribute, owner, count=1) if element.get(attribute) is not None else None
        if values and values[0] != 0.0:
            message = f"{attribute} of {owner.subject} is {values[0]:g}, and is not read"
            cure = f"write it as {attribute} of the joint, times the gear ratio squared"
            owner.log.add("warning", "model.not_modelled", message, owner.at(element), value=values[0], cure=cure)
