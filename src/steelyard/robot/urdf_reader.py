"""From the XML tree of a URDF to links and joints: every number and name read or reported, nothing related yet."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lxml import etree

from steelyard.robot.finding_log import FindingLog, Place
from steelyard.robot.strict_number import read_number, read_numbers, shown
from steelyard.robot.urdf_description import KINDS, Ball, UrdfInertial, UrdfJoint, UrdfLink, UrdfMimic, Vector3
from steelyard.robot.urdf_elements import (
    Owner,
    children,
    name_of,
    number,
    only,
    optional_number,
    reference,
    vector,
)
from steelyard.robot.xml_reader import expression_in, local_name

_ZERO: Vector3 = (0.0, 0.0, 0.0)
_X: Vector3 = (1.0, 0.0, 0.0)
_SMALLEST_AXIS = 1e-6  # shorter than this is no direction
_UNIT_TOLERANCE = 1e-4  # components written with four or five digits: 0.7071 0.7071 0
_LINK_PARTS = ("inertial", "visual", "collision")
_JOINT_PARTS = ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic", "calibration", "safety_controller")
_LONGEST_TAG = 20


def _variants(tag: str) -> set[str]:
    """The tag in small letters, whole and with any one letter left out: two tags that share one differ by a slip."""
    small = tag.casefold()
    return {small, *(small[:i] + small[i + 1 :] for i in range(len(small)))}


_MEANT = {variant: tag for tag in (*_LINK_PARTS, *_JOINT_PARTS) for variant in _variants(tag)}


@dataclass(frozen=True)
class UrdfParts:
    """Links and joints as they stand in the file; names may still clash and references lead nowhere."""

    name: str
    links: tuple[UrdfLink, ...]
    joints: tuple[UrdfJoint, ...]


def read_parts(root: etree._Element, log: FindingLog) -> UrdfParts:
    """All links and joints below ``<robot>``; what cannot be read goes to `log`."""
    if not root.get("name"):
        log.add(
            "warning",
            "model.name_missing",
            "the robot has no name, which most other readers refuse",
            Place(root.sourceline or 0, "robot"),
            cure='write <robot name="...">',
        )
    links = [link for element in children(root, "link") if (link := _link(element, log)) is not None]
    joints = [joint for element in children(root, "joint") if (joint := _joint(element, log)) is not None]
    for element in root:
        _leftover_expressions(element, log)
        if local_name(element) == "include":
            message = "an <include> is not followed: whatever it would add to the robot is missing here"
            at = Place(element.sourceline or 0, "robot")
            log.add("warning", "model.include", message, at, cure="give one complete URDF file")
    return UrdfParts(str(root.get("name") or ""), tuple(links), tuple(joints))


def _link(element: etree._Element, log: FindingLog) -> UrdfLink | None:
    name = name_of(element, log)
    if name is None:
        return None
    owner = Owner(f"link {shown(name)}", log)
    _known_parts(element, owner, _LINK_PARTS)
    part = only(element, "inertial", owner)
    inertial = None if part is None else _inertial(part, owner)
    return UrdfLink(name, element.sourceline or 0, inertial, _balls(element, owner))


def _inertial(element: etree._Element, owner: Owner) -> UrdfInertial | None:
    origin = _origin(element, owner)
    mass = _mass(element, owner)
    part = only(element, "inertia", owner)
    if part is None:
        owner.log.add(
            "error",
            "model.inertia_missing",
            f"{owner.subject} has an <inertial> without <inertia>",
            owner.at(element),
            cure="write the six moments ixx ixy ixz iyy iyz izz [kg m2], zeros included",
        )
        return None
    xx, xy, xz, yy, yz, zz = (number(part, "i" + ij, owner) for ij in ("xx", "xy", "xz", "yy", "yz", "zz"))
    if origin is None or mass is None:
        return None
    if xx is None or xy is None or xz is None or yy is None or yz is None or zz is None:
        return None
    inertia = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
    return UrdfInertial(mass, origin[0], origin[1], inertia, element.sourceline or 0)


def _mass(element: etree._Element, owner: Owner) -> float | None:
    part = only(element, "mass", owner)
    if part is None:
        owner.log.add(
            "error",
            "model.mass_unreadable",
            f"{owner.subject} has an <inertial> without <mass>",
            owner.at(element),
            cure='write <mass value="..."/> [kg], or delete the whole <inertial> of a mere frame',
        )
        return None
    mass = number(part, "value", owner, code="model.mass_unreadable")
    if mass is not None and mass < 0.0:
        owner.log.add(
            "error",
            "model.negative_mass",
            f"the mass of {owner.subject} is {mass:g} kg",
            owner.at(part),
            value=mass,
            cure="a mass is positive, or zero for a mere frame: look for a slipped sign or a subtracted part",
        )
        return None
    return mass


def _joint(element: etree._Element, log: FindingLog) -> UrdfJoint | None:
    name = name_of(element, log)
    if name is None:
        return None
    owner = Owner(f"joint {shown(name)}", log)
    _known_parts(element, owner, _JOINT_PARTS)
    kind = _kind(element, owner)
    origin = _origin(element, owner)
    parent, child = reference(element, "parent", "link", owner), reference(element, "child", "link", owner)
    axis = _axis(element, kind, owner)
    limit, dynamics = only(element, "limit", owner), only(element, "dynamics", owner)
    bounds = ("lower", "upper", "velocity", "effort")
    lower, upper, velocity, effort = (None if limit is None else optional_number(limit, key, owner) for key in bounds)
    damping, friction = (
        None if dynamics is None else optional_number(dynamics, key, owner) for key in ("damping", "friction")
    )
    mimic = _mimic(element, owner)
    if parent is None or child is None:
        return None
    # An unreadable origin or axis is an error already; the joint stays, so that the tree can be judged as well.
    xyz, rpy = origin or (_ZERO, _ZERO)
    return UrdfJoint(
        name=name,
        line=element.sourceline or 0,
        kind=kind,
        parent=parent,
        child=child,
        origin_xyz=xyz,
        origin_rpy=rpy,
        axis=axis or _X,
        lower=lower,
        upper=upper,
        velocity=velocity,
        effort=effort,
        damping=damping,
        friction=friction,
        mimic=mimic,
    )


def _kind(element: etree._Element, owner: Owner) -> str:
    kind = str(element.get("type") or "")
    if kind in KINDS:
        return kind
    if kind == "planar":
        message = f"{owner.subject} is planar: joints with two or more coupled coordinates are not supported"
        cure = "write it as two prismatic joints and one revolute joint, or make it fixed if it does not move here"
    else:
        message = f"{owner.subject} has the type {shown(kind)}" if kind else f"{owner.subject} has no type"
        cure = owner.log.suggest(kind, KINDS, otherwise="valid: " + ", ".join(KINDS))
    owner.log.add("error", "model.joint_type", message, owner.at(element), value=kind[:60], cure=cure)
    return "fixed"


def _axis(element: etree._Element, kind: str, owner: Owner) -> Vector3 | None:
    """The unit vector of a moving joint; other joints have no use for an axis, and often carry '0 0 0'."""
    part = only(element, "axis", owner)
    moving = kind not in ("fixed", "floating")
    if part is None:
        if moving:
            message = f"{owner.subject} has no <axis>: a URDF then means 1 0 0"
            owner.log.add(
                "info", "model.axis_default", message, owner.at(element), cure="write the axis if another is meant"
            )
        return _X
    axis = vector(part, "xyz", owner, default=None)
    if axis is None or not moving:
        return axis
    length = math.hypot(*axis)
    if length < _SMALLEST_AXIS:
        owner.log.add(
            "error",
            "model.zero_axis",
            f"the axis of {owner.subject} is {axis[0]:g} {axis[1]:g} {axis[2]:g}, which is no direction",
            owner.at(part),
            value=str(part.get("xyz"))[:60],
            cure="write the unit vector that the joint turns about or slides along, such as 0 0 1",
        )
        return None
    if abs(length - 1.0) > _UNIT_TOLERANCE:
        owner.log.add(
            "info",
            "model.axis_scaled",
            f"the axis of {owner.subject} has length {length:g} and is used with length 1",
            owner.at(part),
            value=length,
            cure="if the length was meant as a gear ratio, state the ratio in the study file",
        )
    return (axis[0] / length, axis[1] / length, axis[2] / length)


def _mimic(element: etree._Element, owner: Owner) -> UrdfMimic | None:
    part = only(element, "mimic", owner)
    if part is None:
        return None
    multiplier = number(part, "multiplier", owner, default=1.0)
    offset = number(part, "offset", owner, default=0.0)
    followed = part.get("joint")
    if not followed:
        message = f"{owner.subject} mimics a joint that is not named"
        owner.log.add("error", "model.mimic_unknown", message, owner.at(part), cure='write <mimic joint="...">')
        return None
    if multiplier is None or offset is None:
        return None
    return UrdfMimic(str(followed), multiplier, offset)


def _origin(element: etree._Element, owner: Owner) -> tuple[Vector3, Vector3] | None:
    part = only(element, "origin", owner)
    if part is None:
        return _ZERO, _ZERO
    if part.get("quat_xyzw") is not None:
        owner.log.add(
            "error",
            "model.orientation_unsupported",
            f"an <origin> of {owner.subject} gives its orientation as quat_xyzw, which is not read",
            owner.at(part),
            value=str(part.get("quat_xyzw"))[:60],
            cure="write the orientation as rpy [rad]",
        )
        return None
    xyz, rpy = vector(part, "xyz", owner, default=_ZERO), vector(part, "rpy", owner, default=_ZERO)
    return None if xyz is None or rpy is None else (xyz, rpy)


def _known_parts(element: etree._Element, owner: Owner, known: tuple[str, ...]) -> None:
    """Other tags are the business of other tools, but one that nearly is ours was probably meant to be."""
    for child in element:
        tag = local_name(child)
        if child.prefix is not None or tag in known or len(tag) > _LONGEST_TAG:
            continue
        meant = next((_MEANT[variant] for variant in _variants(tag) if variant in _MEANT), None)
        if meant in known:
            message = f"<{tag}> in {owner.subject} is not a URDF element and is ignored"
            cure = f"did you mean <{meant}>?"
            owner.log.add("warning", "model.unknown_element", message, owner.at(child), value=tag, cure=cure)


def _leftover_expressions(element: etree._Element, log: FindingLog) -> None:
    """Warn where dynamics do not look (meshes, plug-ins, sensors); elsewhere the expression is an error of its own."""
    ours = element.prefix is None and local_name(element) in ("link", "joint")
    looked_at = {*_JOINT_PARTS, "inertial"} if ours else set()
    parts = [part for child in element if local_name(child) not in looked_at for part in child.iter()]
    for part in parts if ours else (element, *parts):
        text = expression_in(part)
        if text is not None:
            message = (
                f"<{local_name(part)}> holds the unexpanded xacro expression {shown(text)}; dynamics do not need it"
            )
            at = Place(part.sourceline or 0, f"<{local_name(element)}>")
            log.add(
                "warning", "model.xacro", message, at, value=text[:60], cure="expand the file: `xacro robot.urdf.xacro`"
            )
            return


def _balls(element: etree._Element, owner: Owner) -> tuple[Ball, ...]:
    """Balls around primitives; a mesh (never opened) or an unreadable size leaves nothing to compare with."""
    parts = children(element, "collision") or children(element, "visual")
    balls = []
    for part in parts:
        origins, shapes = children(part, "origin"), [shape for g in children(part, "geometry") for shape in g]
        center = read_numbers(origins[0].get("xyz") or "0 0 0", 3) if origins else _ZERO
        radius = _radius(shapes[0]) if len(shapes) == 1 else None
        if radius is None or center is None:
            return ()
        balls.append(Ball((center[0], center[1], center[2]), radius))
    return tuple(balls)


def _radius(shape: etree._Element) -> float | None:
    kind = local_name(shape)
    if kind == "box":
        size = read_numbers(shape.get("size") or "", 3)
        return None if size is None else math.hypot(*size) / 2
    radius, length = read_number(shape.get("radius") or ""), read_number(shape.get("length") or "")
    if kind == "sphere":
        return radius
    if kind in ("cylinder", "capsule") and radius is not None and length is not None:
        return math.hypot(radius, length / 2) if kind == "cylinder" else radius + length / 2
    return None
