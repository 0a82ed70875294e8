"""From the XML tree of an MJCF to links and joints as a URDF has them: nested bodies become links side by side.

A link stands in the frame of the joint that moves it, as in a URDF; a body with several joints gets a link without
mass between each two of them, and a body without joints is fixed to the one around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from lxml import etree

from steelyard.robot.finding_log import FindingLog, Place
from steelyard.robot.inertia import rpy_of
from steelyard.robot.mjcf_attributes import check_element
from steelyard.robot.mjcf_compiler import Compiler
from steelyard.robot.mjcf_defaults import Defaults, Resolved
from steelyard.robot.mjcf_frame import IDENTITY, Frame, read_frame
from steelyard.robot.mjcf_inertial import Array, Placed, add_up, balls, read_inertial
from steelyard.robot.mjcf_joint import MjcfJoint, read_joint
from steelyard.robot.strict_number import shown
from steelyard.robot.urdf_description import UrdfInertial, UrdfJoint, UrdfLink, Vector3
from steelyard.robot.urdf_elements import Owner, children, name_of
from steelyard.robot.xml_reader import local_name

WORLD = "world"


class _Parent(NamedTuple):
    """What a body hangs on: link, origin of that body's frame in the link frame, class for its children, whether it
    moves."""

    link: str
    offset: Array
    childclass: str | None
    moves: bool


class _Part(NamedTuple):
    """A child element of a body, in the frame and with the class of the ``<frame>`` elements around it."""

    element: etree._Element
    place: Frame
    childclass: str | None


@dataclass
class MjcfTree:
    """Links, joints and the geoms of each body, gathered while the bodies are walked."""

    compiler: Compiler
    defaults: Defaults
    log: FindingLog
    links: list[UrdfLink] = field(default_factory=list)
    joints: list[UrdfJoint] = field(default_factory=list)
    geoms: dict[str, list[Placed]] = field(default_factory=dict)
    bodies: int = 0

    def read(self, root: etree._Element) -> None:
        """All bodies below the ``<worldbody>`` sections."""
        sections = children(root, "worldbody")
        self.links.append(UrdfLink(WORLD, sections[0].sourceline or 0 if sections else 0, None))
        for section in sections:
            check_element(section, Owner("<worldbody>", self.log))
            parts = list(_parts(section, None, IDENTITY, self))
            self.geoms[WORLD] = self.geoms.get(WORLD, []) + self._geoms(parts, WORLD)
            for part in parts:
                tag = local_name(part.element)
                if tag == "body":
                    self._body(part, _Parent(WORLD, np.zeros(3), part.childclass, False))
                elif tag in ("joint", "freejoint", "inertial"):
                    at = Place(part.element.sourceline or 0, f"<{tag}>")
                    message = f"a <{tag}> stands in the world, which has none: it would be ignored"
                    self.log.add("error", "model.unsupported", message, at, cure="put it into the body that is meant")

    def _body(self, part: _Part, parent: _Parent) -> None:
        element = part.element
        self.bodies += 1
        name = self._name(element)
        owner = Owner(f"body {shown(name)}", self.log)
        check_element(element, owner)
        _check_gravity_compensation(element, owner)
        frame = part.place.then(read_frame(Resolved((element,), owner), self.compiler))
        childclass = element.get("childclass") or part.childclass
        parts = list(_parts(element, childclass, IDENTITY, self))
        joints = [joint for p in parts if (joint := self._joint(p)) is not None]
        if len(joints) > 1 and any(joint.kind == "floating" for joint in joints):
            message = f"{owner.subject} is free, and has other joints besides"
            cure = "put the other joints into bodies of their own"
            self.log.add("error", "model.joint_type", message, owner.at(element), value=len(joints), cure=cure)
        moves = parent.moves or bool(joints)
        offset = -joints[-1].anchor if joints else np.zeros(3)
        place = Frame(frame.rotation, parent.offset + frame.translation)
        self._hang(name, element, joints, parent.link, place)
        geoms = self.geoms[name] = self._geoms(parts, name)
        inertial = self._stated(parts, owner) or self._added_up(element, parts, geoms, moves)
        self.links.append(
            UrdfLink(
                name,
                element.sourceline or 0,
                None if inertial is None else _shifted(inertial, offset),
                balls(
                    [geom._replace(place=Frame(np.eye(3), offset).then(geom.place)) for geom in geoms], self.compiler
                ),
                _triple(offset),
            )
        )
        for child in parts:
            if local_name(child.element) == "body":
                self._body(child, _Parent(name, offset, child.childclass, moves))

    def _hang(self, body: str, element: etree._Element, joints: Sequence[MjcfJoint], parent: str, place: Frame) -> None:
        """The chain of joints from the parent's link to that of the body, the first joint outermost."""
        line = element.sourceline or 0
        if not joints:
            self._join(MjcfJoint(f"weld of {body}", line, "fixed", np.zeros(3), np.zeros(3)), parent, body, place)
        for k, joint in enumerate(joints):
            last = joint is joints[-1]
            child = body if last else f"{body}:{joint.name}"
            if k == 0:
                at = Frame(place.rotation, place.translation + place.rotation @ joint.anchor)
            else:
                at = Frame(np.eye(3), joint.anchor - joints[k - 1].anchor)
            self._join(joint, parent, child, at)
            if not last:
                self.links.append(UrdfLink(child, joint.line, None, stand_in=True))
            parent = child

    def _join(self, joint: MjcfJoint, parent: str, child: str, at: Frame) -> None:
        self.joints.append(
            UrdfJoint(
                name=joint.name,
                line=joint.line,
                kind=joint.kind,
                parent=parent,
                child=child,
                origin_xyz=_triple(at.translation),
                origin_rpy=_triple(rpy_of(at.rotation)),
                axis=_triple(joint.axis),
                lower=joint.lower,
                upper=joint.upper,
                velocity=None,
                effort=joint.effort,
                damping=joint.damping,
                friction=joint.friction,
                mimic=None,
                armature=joint.armature,
                reference=joint.reference,
            )
        )

    def _joint(self, part: _Part) -> MjcfJoint | None:
        element, tag = part.element, local_name(part.element)
        if tag not in ("joint", "freejoint"):
            return None
        free = tag == "freejoint" or element.get("type") == "free"
        name = element.get("name") or f"free joint on line {element.sourceline}" if free else name_of(element, self.log)
        if name is None:
            return None
        owner = Owner(f"joint {shown(str(name))}", self.log)
        check_element(element, owner)
        resolved = self.defaults.behind(element, tag, part.childclass, owner)
        return read_joint(Placed(resolved, part.place), str(name), self.compiler)

    def _stated(self, parts: Sequence[_Part], owner: Owner) -> UrdfInertial | None:
        """The inertial that the body states; None where there is none, or the file wants those of the geoms."""
        stated = [part for part in parts if local_name(part.element) == "inertial"]
        for part in stated:
            check_element(part.element, owner)
        if len(stated) > 1:
            message = f"{owner.subject} has {len(stated)} <inertial> elements"
            cure = "keep the right one and delete the others"
            self.log.add("error", "model.duplicate", message, owner.at(stated[1].element), value=len(stated), cure=cure)
        if not stated or self.compiler.inertiafromgeom == "true":
            return None
        return read_inertial(Placed(Resolved((stated[0].element,), owner), stated[0].place), self.compiler)

    def _added_up(
        self, element: etree._Element, parts: Sequence[_Part], geoms: Sequence[Placed], moves: bool
    ) -> UrdfInertial | None:
        """The inertial of the geoms, where the body moves and has no other."""
        stated = any(local_name(part.element) == "inertial" for part in parts)
        use = self.compiler.inertiafromgeom
        if not moves or use == "false" or (stated and use == "auto"):
            return None
        return add_up(geoms, self.compiler, element.sourceline or 0)

    def _geoms(self, parts: Sequence[_Part], body: str) -> list[Placed]:
        geoms = []
        for part in parts:
            if local_name(part.element) != "geom":
                continue
            name = part.element.get("name")
            owner = Owner(f"geom {shown(str(name))}" if name else f"a geom of body {shown(body)}", self.log)
            geoms.append(Placed(self.defaults.behind(part.element, "geom", part.childclass, owner), part.place))
        return geoms

    def _name(self, element: etree._Element) -> str:
        """The name; a body without one is called by its number, as MuJoCo counts them."""
        if element.get("name"):
            return name_of(element, self.log) or ""
        name = f"body_{self.bodies}"
        message = f"a body has no name, and is called {name!r} here"
        cure = 'write <body name="...">: columns of results are named after it'
        self.log.add("warning", "model.name_missing", message, Place(element.sourceline or 0, "body"), cure=cure)
        return name


def _parts(element: etree._Element, childclass: str | None, place: Frame, tree: MjcfTree) -> Iterator[_Part]:
    """The children of a body, those inside ``<frame>`` elements included."""
    for child in element:
        if local_name(child) != "frame":
            yield _Part(child, place, childclass)
            continue
        owner = Owner("<frame>", tree.log)
        check_element(child, owner)
        inner = place.then(read_frame(Resolved((child,), owner), tree.compiler))
        yield from _parts(child, child.get("childclass") or childclass, inner, tree)


def _check_gravity_compensation(element: etree._Element, owner: Owner) -> None:
    value = Resolved((element,), owner).number("gravcomp")
    if value:
        message = f"gravity on {owner.subject} is compensated by {value:g} in simulation, which is not modelled"
        cure = "delete gravcomp, unless a balancer of the real robot does the same; then add the term `spring`"
        owner.log.add("warning", "model.not_modelled", message, owner.at(element), value=value, cure=cure)


def _shifted(inertial: UrdfInertial, offset: Array) -> UrdfInertial:
    centre = np.array(inertial.origin_xyz) + offset
    return UrdfInertial(inertial.mass, _triple(centre), inertial.origin_rpy, inertial.inertia, inertial.line)


def _triple(vector: Array) -> Vector3:
    x, y, z = (float(value) for value in vector)
    return (x, y, z)
