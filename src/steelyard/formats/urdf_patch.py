"""Writing identified values into a URDF in place: every comment, foreign tag, blank and line end stays as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import ModelError
from steelyard.formats.export_values import JointDynamics
from steelyard.formats.link_values import check_writable, compare_links, differs
from steelyard.formats.model_text import description_of
from steelyard.formats.xml_edits import Edit, Line, add_child, apply_edits, number, set_numbers
from steelyard.formats.xml_outline import Element, Outline, outline
from steelyard.robot.inertia import rotation_rpy, tensor, tensor_elements
from steelyard.robot.urdf_description import UrdfDescription, UrdfInertial
from steelyard.suggest import did_you_mean

Array = NDArray[np.float64]
_SLACK = 8 * np.finfo(np.float64).eps  # relative: what going to the link's origin and back may cost
_MOMENTS = ("ixx", "ixy", "iyy", "ixz", "iyz", "izz")  # in the order of the ten parameters


def patch_urdf(
    source: bytes, links: Mapping[str, Array], joints: Mapping[str, JointDynamics], *, name: str = "robot.urdf"
) -> bytes:
    """A URDF with other inertial and friction values, and no other byte changed.

    ``<inertial>`` gets mass, centre of mass and the inertia about it, in the rotated frame of its own ``rpy``; a
    joint's ``<dynamics>`` gets ``damping`` and ``friction``. What is missing is added as the last child, indented as
    its neighbours. A number that agrees with the one wanted but for rounding keeps its spelling. The result is read
    again by the linter and compared.

    Args:
        source: the file as it is.
        links: (10,) parameters m, m c, I about the link's own origin, in link axes, by link name.
        joints: by joint name; None leaves an attribute as it is. Rotor inertia, bias and others have no place in a
            URDF and are passed over.
        name: of the file, for messages.

    Returns:
        The new file.

    Raises:
        ModelError: the linter refuses the source, a name is not in it, a joint cannot move, a link is asked to have
            moments without a mass, or the new file would say something else than was asked for.
    """
    before = description_of(source, name, "urdf")
    outlined = outline(source, name)
    edits: list[Edit] = []
    inertials = {link.name: link.inertial for link in before.links}
    for link, element in _named(outlined, "link", links, tuple(inertials)):
        wanted = check_writable(links[link], f"{outlined.where(element)}, link {link}")
        edits += _inertial_edits(outlined, element, wanted, inertials[link])
    moving = tuple(joint.name for joint in before.joints if joint.moves)
    for joint, element in _named(outlined, "joint", joints, moving):
        edits += _dynamics_edits(outlined, element, joints[joint])
    patched = apply_edits(source, edits)
    after = description_of(patched, name, "urdf")
    compare_links(after, before, links, name)
    _compare_joints(after, before, joints, name)
    return patched


def _named(
    outlined: Outline, tag: str, wanted: Mapping[str, object], valid: Sequence[str]
) -> list[tuple[str, Element]]:
    """The elements called `tag` that `wanted` names, in file order."""
    for name in wanted:
        if name not in valid:
            what = "link" if tag == "link" else "joint that can move"
            raise ModelError(
                f"the file has no {what} of this name",
                where=outlined.file,
                value=name,
                choices=tuple(valid)[:60],
                cure=did_you_mean(name, valid, otherwise="use the names of this file"),
            )
    found = [(outlined.text(element, "name") or "", element) for element in outlined.root.all(tag)]
    return [(name, element) for name, element in found if name in wanted]


def _inertial_edits(outlined: Outline, element: Element, parameters: Array, present: UrdfInertial | None) -> list[Edit]:
    mass, inertia = float(parameters[0]), tensor(parameters[4:])
    centre = parameters[1:4] / mass if mass else np.array(present.origin_xyz if present else (0.0, 0.0, 0.0))
    own = inertia - mass * ((centre @ centre) * np.eye(3) - np.outer(centre, centre))
    inertial = element.first("inertial")
    if inertial is None or present is None:
        return add_child(outlined, element, _inertial(mass, centre, own)) if parameters.any() else []
    R = rotation_rpy(np.array(present.origin_rpy))
    moments = tensor_elements(R.T @ own @ R)
    edits = _origin_edits(outlined, inertial, centre)
    edits += set_numbers(outlined, _part(outlined, inertial, "mass"), "value", [mass])
    slack = _SLACK * float(np.abs(inertia).max())
    for moment, value in zip(_MOMENTS, moments, strict=True):
        edits += set_numbers(outlined, _part(outlined, inertial, "inertia"), moment, [value], slack=slack)
    return edits


def _origin_edits(outlined: Outline, inertial: Element, centre: Array) -> list[Edit]:
    slack = _SLACK * float(np.abs(centre).max())
    origin = inertial.first("origin")
    if origin is None:
        return add_child(outlined, inertial, [Line(0, _origin(centre))]) if centre.any() else []
    if origin.attribute("xyz") is None and not centre.any():
        return []
    return set_numbers(outlined, origin, "xyz", centre, slack=slack)


def _dynamics_edits(outlined: Outline, element: Element, wanted: JointDynamics) -> list[Edit]:
    values = [(key, value) for key, value in (("damping", wanted.damping), ("friction", wanted.friction))
              if value is not None]  # fmt: skip
    dynamics = element.first("dynamics")
    if dynamics is not None:
        return [edit for key, value in values for edit in set_numbers(outlined, dynamics, key, [value])]
    if not values:
        return []
    text = " ".join(f'{key}="{number(value)}"' for key, value in values)
    return add_child(outlined, element, [Line(0, f"<dynamics {text}/>")])


def _inertial(mass: float, centre: Array, own: Array) -> list[Line]:
    moments = dict(zip(_MOMENTS, tensor_elements(own), strict=True))
    written = " ".join(f'{key}="{number(moments[key])}"' for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    return [
        Line(0, "<inertial>"),
        Line(1, _origin(centre)),
        Line(1, f'<mass value="{number(mass)}"/>'),
        Line(1, f"<inertia {written}/>"),
        Line(0, "</inertial>"),
    ]


def _origin(centre: Array) -> str:
    return f'<origin xyz="{" ".join(number(value) for value in centre)}" rpy="0 0 0"/>'


def _part(outlined: Outline, inertial: Element, tag: str) -> Element:
    """The linter has seen exactly one."""
    part = inertial.first(tag)
    if part is None:
        raise ModelError(f"<inertial> without <{tag}>", where=outlined.where(inertial))
    return part


def _compare_joints(
    after: UrdfDescription, before: UrdfDescription, wanted: Mapping[str, JointDynamics], file: str
) -> None:
    for old, new in zip(before.joints, after.joints, strict=True):
        asked = wanted.get(old.name, JointDynamics())
        damping = old.damping if asked.damping is None else asked.damping
        friction = old.friction if asked.friction is None else asked.friction
        if (new.damping, new.friction) != (damping, friction):
            raise differs(f"joint {old.name}", file)
