"""Elements and attributes that an MJCF may hold where dynamics look: a foreign one was probably meant to be another."""

from __future__ import annotations

from collections.abc import Mapping

from lxml import etree

from steelyard.robot.strict_number import shown
from steelyard.robot.urdf_elements import Owner
from steelyard.robot.xml_reader import local_name

_ORIENTATION = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
_IN_BODY = ("body", "frame", "inertial", "joint", "freejoint", "geom", "site", "camera", "light", "plugin")
_UNREAD = ("attach", "replicate", "composite", "flexcomp")
_JOINT = (
    *("name", "class", "type", "group", "pos", "axis", "springdamper", "limited", "stiffness", "range", "ref", "user"),
    *("actuatorfrclimited", "actuatorfrcrange", "actuatorgravcomp", "margin", "springref", "springyield"),
    *("armature", "damping", "frictionloss"),
)
_SOLVER = ("solimplimit", "solreflimit", "solimpfriction", "solreffriction")
_ATTRIBUTES: Mapping[str, frozenset[str]] = {
    "worldbody": frozenset(),
    "body": frozenset(
        (*_ORIENTATION, "pos", "name", "childclass", "mocap", "gravcomp", "fuse", "simple", "sleep", "user")
    ),
    "frame": frozenset((*_ORIENTATION, "pos", "name", "childclass")),
    "inertial": frozenset((*_ORIENTATION, "pos", "mass", "diaginertia", "fullinertia")),
    "freejoint": frozenset(("name", "group", "align")),
    "joint": frozenset((*_JOINT, *_SOLVER)),
}


def check_element(element: etree._Element, owner: Owner) -> None:
    """Note attributes and children that MJCF does not have, and elements that would make bodies by rule."""
    known = _ATTRIBUTES[local_name(element)]
    for attribute in map(str, element.attrib):
        if attribute in known or attribute.startswith("{"):
            continue
        message = f"{shown(attribute)} of {owner.subject} is no attribute of <{local_name(element)}>, and is ignored"
        cure = owner.log.suggest(attribute, known, otherwise="correct or delete it: MuJoCo refuses the file")
        owner.log.add("warning", "model.unknown_attribute", message, owner.at(element), value=attribute[:60], cure=cure)
    if local_name(element) in ("body", "worldbody", "frame"):
        for child in element:
            _check_child(child, owner)


def _check_child(child: etree._Element, owner: Owner) -> None:
    tag = local_name(child)
    if tag in _IN_BODY or tag == "include":
        return
    if tag in _UNREAD:
        message = f"<{tag}> in {owner.subject} would make bodies by a rule, which is not read"
        cure = "write the bodies out"
        owner.log.add("error", "model.unsupported", message, owner.at(child), value=tag, cure=cure)
        return
    message = f"<{tag[:20]}> in {owner.subject} is no element of MJCF, and is ignored"
    cure = owner.log.suggest(tag, _IN_BODY, otherwise="correct or delete it: MuJoCo refuses the file")
    owner.log.add("warning", "model.unknown_element", message, owner.at(child), value=tag[:60], cure=cure)
