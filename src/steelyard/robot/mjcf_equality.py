"""Constraints of an MJCF: a joint that follows another is a mimic, whatever closes a loop is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lxml import etree

from steelyard.robot.finding_log import FindingLog
from steelyard.robot.mjcf_defaults import Defaults, Resolved
from steelyard.robot.strict_number import read_number, shown
from steelyard.robot.urdf_description import UrdfJoint, UrdfMimic
from steelyard.robot.urdf_elements import LARGEST, Owner, children
from steelyard.robot.xml_reader import local_name

_LINE = (0.0, 1.0, 0.0, 0.0, 0.0)
_LOOPS = ("connect", "weld")


def with_couplings(
    root: etree._Element, joints: Sequence[UrdfJoint], defaults: Defaults, log: FindingLog
) -> tuple[UrdfJoint, ...]:
    """The joints, with a mimic where an active ``<equality>`` makes one follow another.

    MuJoCo's `q1 - r1 = a0 + a1 (q2 - r2)`, readings r at the pose of the file, is `q1 = a1 q2 + (r1 + a0 - a1 r2)`.
    """
    known = {joint.name: joint for joint in joints}
    mimics: dict[str, UrdfMimic] = {}
    for section in children(root, "equality"):
        for element in section:
            owner = Owner(f"<{local_name(element)[:20]}> in <equality>", log)
            resolved = defaults.behind(element, "equality", None, owner)
            if resolved.choice("active", ("true", "false")) == "false":
                continue
            if local_name(element) != "joint":
                _refuse(element, owner)
                continue
            name = _joint(element, "joint1", known, owner)
            mimic = None if name is None else _mimic(resolved, known[name], known)
            if name is not None and name in mimics:
                message = f"joint {shown(name)} follows two joints"
                cure = "keep one of the couplings"
                log.add("error", "model.duplicate", message, owner.at(element), value=name[:60], cure=cure)
            elif name is not None and mimic is not None:
                mimics[name] = mimic
    return tuple(replace(joint, mimic=mimics[joint.name]) if joint.name in mimics else joint for joint in joints)


def _mimic(element: Resolved, follower: UrdfJoint, known: Mapping[str, UrdfJoint]) -> UrdfMimic | None:
    owner = element.owner
    if element.own.get("joint2") is None:
        message = f"{owner.subject} holds joint {shown(follower.name)} at one place"
        cure = "delete the joint if it does not move, or lock it with robot.locked({name: position})"
        owner.log.add("error", "model.unsupported", message, owner.at(element.own), value=follower.name[:60], cure=cure)
        return None
    leader = _joint(element.own, "joint2", known, owner)
    coefficients = _coefficients(element)
    if leader is None or coefficients is None:
        return None
    constant, slope, *curved = coefficients
    if any(curved):
        message = f"joint {shown(follower.name)} follows {shown(leader)} along a curve, of which only lines are read"
        cure = "write the line that is nearest to it, or lock one of the joints"
        value = str(element.own.get("polycoef"))[:60]
        owner.log.add("error", "model.unsupported", message, owner.at(element.own), value=value, cure=cure)
        return None
    return UrdfMimic(leader, slope, follower.reference + constant - slope * known[leader].reference)


def _coefficients(element: Resolved) -> tuple[float, ...] | None:
    """Five coefficients; MuJoCo's 0 1 0 0 0 for those that are not there; None, and an error, if unreadable."""
    text = element.own.get("polycoef")
    if text is None:
        return _LINE
    words = text.split()
    values = [value for word in words if (value := read_number(word)) is not None]
    if len(values) == len(words) and 1 <= len(values) <= len(_LINE) and max(map(abs, values)) <= LARGEST:
        return (*values, *_LINE[len(values) :])
    message = f"polycoef of {element.owner.subject} is {shown(text)}, not one to five plain numbers"
    cure = "write offset and slope, as in polycoef='0 1'"
    at = element.owner.at(element.own)
    element.owner.log.add("error", "model.number_unreadable", message, at, value=text[:60], cure=cure)
    return None


def _joint(element: etree._Element, attribute: str, known: Mapping[str, UrdfJoint], owner: Owner) -> str | None:
    name = str(element.get(attribute) or "")
    if name in known and known[name].moves:
        return name
    message = f"{attribute} of {owner.subject} is {shown(name)}, and no joint that moves has that name"
    cure = owner.log.suggest(name, known, otherwise="name a hinge or slide")
    owner.log.add("error", "model.mimic_unknown", message, owner.at(element), value=name[:60], cure=cure)
    return None


def _refuse(element: etree._Element, owner: Owner) -> None:
    loop = local_name(element) in _LOOPS
    owner.log.add(
        "error",
        "model.loop" if loop else "model.unsupported",
        f"{owner.subject} {'closes a loop' if loop else 'couples bodies'}: only trees, and joints in step, are read",
        owner.at(element),
        value=str(element.get("name") or local_name(element))[:60],
        cure="delete it (active='false' will do) and state the closure elsewhere, as a coupling in the study file",
    )
