"""Writing identified values into an MJCF in place: every comment, class, blank and line end stays as it was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import ModelError
from steelyard.formats.export_values import JointDynamics
from steelyard.formats.link_values import check_writable, compare_links, differs, link_parameters
from steelyard.formats.mjcf_inertial import inertial_edits, new_inertial
from steelyard.formats.model_text import description_of
from steelyard.formats.xml_edits import Edit, apply_edits, set_numbers
from steelyard.formats.xml_outline import Element, Outline, outline
from steelyard.robot.urdf_description import UrdfDescription, UrdfInertial
from steelyard.suggest import did_you_mean

Array = NDArray[np.float64]


class _Parts(NamedTuple):
    bodies: dict[str, Element]
    joints: dict[str, Element]


def patch_mjcf(
    source: bytes, bodies: Mapping[str, Array], joints: Mapping[str, JointDynamics], *, name: str = "robot.xml"
) -> bytes:
    """An MJCF with other inertial and joint values, and no other byte changed.

    ``<inertial>`` gets ``mass``, ``pos`` and ``fullinertia``, or ``diaginertia`` with a ``quat``, whichever it has;
    ``<joint>`` gets ``damping`` (viscous), ``frictionloss`` (Coulomb) and ``armature`` (reflected rotor inertia), which
    beat the values of its class. A body that took its inertia from its geoms gets an ``<inertial>``. A number that
    agrees with the one wanted but for rounding keeps its spelling. The result is read again by the linter and
    compared.

    Args:
        source: the file as it is.
        bodies: (10,) parameters about the body's own origin, in body axes, by body name.
        joints: by joint name; None leaves an attribute as it is. Bias and others have no place in an MJCF and are
            passed over.
        name: of the file, for messages.

    Returns:
        The new file.

    Raises:
        ModelError: the linter refuses the source, a name is not in it, a compiler setting or a ``<frame>`` keeps the
            inertials from being used as they stand, a body is asked to have moments without a mass, or the new file
            would say something else than was asked for.
    """
    before = description_of(source, name, "mjcf")
    outlined = outline(source, name)
    parts = _parts(outlined)
    _check_names(bodies, parts.bodies, "body", outlined)
    _check_names(joints, parts.joints, "joint", outlined)
    if bodies:
        _check_compiler(outlined)
    edits: list[Edit] = []
    present, parameters = _own_frames(before), link_parameters(before)
    for body, element in parts.bodies.items():
        if body in bodies:
            wanted = check_writable(bodies[body], f"{outlined.where(element)}, body {body}")
            edits += _body_edits(outlined, element, wanted, present.get(body), parameters.get(body))
    for joint, element in parts.joints.items():
        if joint in joints:
            edits += _joint_edits(outlined, element, joints[joint])
    patched = apply_edits(source, edits)
    after = description_of(patched, name, "mjcf")
    compare_links(after, before, bodies, name)
    _compare_joints(after, before, joints, name)
    return patched


def _own_frames(description: UrdfDescription) -> dict[str, UrdfInertial]:
    """Inertials in the bodies' own frames; the description has them in the frames of the joints."""
    found = {}
    for link in description.links:
        if link.inertial is not None and not link.stand_in:
            x, y, z = (float(a) for a in np.array(link.inertial.origin_xyz) - np.array(link.offset))
            found[link.name] = replace(link.inertial, origin_xyz=(x, y, z))
    return found


def _parts(outlined: Outline) -> _Parts:
    """Named bodies and joints of the world; those of defaults and assets are others."""
    bodies: dict[str, Element] = {}
    joints: dict[str, Element] = {}
    waiting = list(reversed(outlined.root.all("worldbody")))
    while waiting:
        element = waiting.pop()
        waiting.extend(child for child in reversed(element.children) if child.name in ("body", "frame"))
        for child in element.children:
            name = outlined.text(child, "name")
            if name and child.name == "body":
                bodies[name] = child
            elif name and child.name == "joint":
                joints[name] = child
    return _Parts(bodies, joints)


def _check_names(wanted: Mapping[str, object], known: Mapping[str, Element], what: str, outlined: Outline) -> None:
    for name in wanted:
        if name not in known:
            raise ModelError(
                f"the file has no {what} of this name",
                where=outlined.file,
                value=name,
                choices=tuple(known)[:60],
                cure=did_you_mean(name, known, otherwise="use the names of this file"),
            )


def _check_compiler(outlined: Outline) -> None:
    said = [text for x in outlined.root.all("compiler") if (text := outlined.text(x, "inertiafromgeom")) is not None]
    if said and said[-1] == "true":
        raise ModelError(
            "<compiler inertiafromgeom='true'> makes MuJoCo ignore every <inertial>",
            where=outlined.file,
            cure="write inertiafromgeom='auto', or delete it",
        )


def _body_edits(
    outlined: Outline, element: Element, wanted: Array, present: UrdfInertial | None, parameters: Array | None
) -> list[Edit]:
    inertial = element.first("inertial")
    if inertial is not None and present is not None:
        return inertial_edits(outlined, inertial, wanted, present)
    if any(_holds_inertial(frame) for frame in element.all("frame")):
        raise ModelError(
            "the <inertial> stands in a <frame>, where it is not changed",
            where=outlined.where(element),
            cure="write it directly into the body",
        )
    if np.array_equal(wanted, np.zeros(10) if parameters is None else parameters):
        return []
    return new_inertial(outlined, element, wanted)


def _holds_inertial(frame: Element) -> bool:
    return frame.first("inertial") is not None or any(_holds_inertial(inner) for inner in frame.all("frame"))


def _joint_edits(outlined: Outline, element: Element, wanted: JointDynamics) -> list[Edit]:
    edits: list[Edit] = []
    for key, value in _attributes(wanted):
        # damping may go on with coefficients of higher powers of the speed; they are not part of what was identified
        more = len((outlined.text(element, key) or "").split()) - 1
        edits += set_numbers(outlined, element, key, [value, *([0.0] * max(0, more))])
    return edits


def _attributes(wanted: JointDynamics) -> list[tuple[str, float]]:
    given = (("damping", wanted.damping), ("frictionloss", wanted.friction), ("armature", wanted.rotor_inertia))
    return [(key, value) for key, value in given if value is not None]


def _compare_joints(
    after: UrdfDescription, before: UrdfDescription, wanted: Mapping[str, JointDynamics], file: str
) -> None:
    for old, new in zip(before.joints, after.joints, strict=True):
        asked = wanted.get(old.name, JointDynamics())
        expected = (
            old.damping if asked.damping is None else asked.damping,
            old.friction if asked.friction is None else asked.friction,
            old.armature if asked.rotor_inertia is None else asked.rotor_inertia,
        )
        if (new.damping, new.friction, new.armature) != expected:
            raise differs(f"joint {old.name}", file)
