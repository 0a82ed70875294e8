"""An MJCF made from a URDF: the dynamics alone, for simulators that hold what a URDF cannot (armature, friction)."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import ModelError
from steelyard.formats.export_values import ExportValues, JointDynamics
from steelyard.formats.link_values import compare_links, link_parameters
from steelyard.formats.mjcf_inertial import centred, principal_axes, quaternion_of
from steelyard.formats.model_text import description_of
from steelyard.formats.xml_edits import number
from steelyard.robot.urdf_description import UrdfDescription, UrdfJoint

Array = NDArray[np.float64]
_UNLIMITED = 1e9
_WORLD = "world"  # the name of MuJoCo's own root, and often of a URDF's


def write_mjcf(source: bytes, values: ExportValues, *, name: str = "robot.urdf") -> bytes:
    """An MJCF of the robot in a URDF with identified values: bodies, joints, limits; no meshes, contacts or actuators.

    Every link is a body of its own, in the frame it has in the URDF, so that links joined by fixed joints keep their
    own parameters; a root link called world without inertial is MuJoCo's world. Joints have ``damping``,
    ``frictionloss`` and ``armature``: identified where they were, else as in the URDF. Mimics become equality
    constraints; velocity limits, where every joint has one, a ``<numeric name="velocity_limit">``, which our reader
    knows. The result is read again by the linter and compared.

    Args:
        source: the URDF that the values were identified with.
        values: what was identified; gravity is that of its robot.
        name: of the URDF, for messages.

    Returns:
        The MJCF.

    Raises:
        ModelError: the linter refuses the URDF or what was made of it, or the base floats.
    """
    description = description_of(source, name, "urdf")
    floating = next((joint for joint in description.joints if joint.kind == "floating"), None)
    if floating is not None:
        raise ModelError(
            "a base that floats is not converted",
            where=f"{name}:{floating.line}, joint {floating.name}",
            cure="make the joint fixed, or patch an MJCF of the robot",
        )
    wanted = {**link_parameters(description), **values.links}
    lines = [
        f"<mujoco model={quoteattr(description.name)}>",
        f"  <!-- made from a URDF with SHA-256 {description.digest}: dynamics only -->",
        '  <compiler angle="radian" eulerseq="XYZ" inertiafromgeom="false" autolimits="true"/>',
        f'  <option gravity="{_numbers(values.robot.gravity)}"/>',
        "  <worldbody>",
        *_bodies(description, wanted, values),
        "  </worldbody>",
        *_mimics(description),
        *_speeds(description),
        "</mujoco>",
    ]
    written = ("\n".join(lines) + "\n").encode()
    again = description_of(written, f"MJCF of {name}", "mjcf")
    compare_links(again, description, {link: own for link, own in wanted.items() if own is not None}, name)
    return written


def _bodies(description: UrdfDescription, wanted: dict[str, Array | None], values: ExportValues) -> Iterator[str]:
    """The tree from the root, depth first in file order."""
    ahead = _ahead(description)
    waiting: list[tuple[str, UrdfJoint | None, int] | str] = [(description.root, None, 2)]
    if description.root == _WORLD and wanted[_WORLD] is None:
        waiting = [(joint.child, joint, 2) for joint in reversed(ahead.get(_WORLD, []))]
    while waiting:
        entry = waiting.pop()
        if isinstance(entry, str):
            yield entry
            continue
        link, mover, depth = entry
        indent = "  " * depth
        place = ""
        if mover is not None:
            place = f' pos="{_numbers(mover.origin_xyz)}" euler="{_numbers(mover.origin_rpy)}"'
        yield f"{indent}<body name={quoteattr(link)}{place}>"
        if mover is not None and mover.moves:
            yield f"{indent}  {_joint(mover, values.joints.get(mover.name, JointDynamics()))}"
        own = wanted[link]
        if own is not None and own.any():
            yield f"{indent}  {_inertial(own)}"
        waiting.append(f"{indent}</body>")
        waiting.extend((joint.child, joint, depth + 1) for joint in reversed(ahead.get(link, [])))


def _ahead(description: UrdfDescription) -> dict[str, list[UrdfJoint]]:
    """The joints that hang on each link."""
    ahead: dict[str, list[UrdfJoint]] = {}
    for joint in description.joints:
        ahead.setdefault(joint.parent, []).append(joint)
    return ahead


def _joint(joint: UrdfJoint, found: JointDynamics) -> str:
    parts = [
        f"name={quoteattr(joint.name)}",
        f'type="{"slide" if joint.kind == "prismatic" else "hinge"}"',
        f'axis="{_numbers(joint.axis)}"',
    ]
    if joint.kind != "continuous" and joint.lower is not None and joint.upper is not None:
        parts += _range("range", joint.lower, joint.upper)
    if joint.effort is not None:
        parts += _range("actuatorfrcrange", -joint.effort, joint.effort)
    for key, identified, stated in (
        ("damping", found.damping, joint.damping),
        ("frictionloss", found.friction, joint.friction),
        ("armature", found.rotor_inertia, None),
    ):
        value = stated if identified is None else identified
        if value is not None:
            parts.append(f'{key}="{number(value)}"')
    return f"<joint {' '.join(parts)}/>"


def _range(key: str, lower: float, upper: float) -> list[str]:
    """Limits that leave no motion, or that stand for none, are left out."""
    return [f'{key}="{_numbers((lower, upper))}"'] if -_UNLIMITED < lower < upper < _UNLIMITED else []


def _inertial(parameters: Array) -> str:
    mass, centre, own = centred(parameters, np.zeros(3))
    moments, axes = principal_axes(own)
    turn = "" if np.array_equal(axes, np.eye(3)) else f' quat="{_numbers(quaternion_of(axes))}"'
    return f'<inertial pos="{_numbers(centre)}" mass="{number(mass)}"{turn} diaginertia="{_numbers(moments)}"/>'


def _mimics(description: UrdfDescription) -> list[str]:
    followers = [joint for joint in description.joints if joint.moves and joint.mimic is not None]
    rows = [
        f"    <joint joint1={quoteattr(joint.name)} joint2={quoteattr(joint.mimic.joint)} "
        f'polycoef="{_numbers((joint.mimic.offset, joint.mimic.multiplier, 0.0, 0.0, 0.0))}"/>'
        for joint in followers
        if joint.mimic is not None
    ]
    return ["  <equality>", *rows, "  </equality>"] if rows else []


def _speeds(description: UrdfDescription) -> list[str]:
    """Velocity limits in the order in which the joints are written: depth first."""
    ahead = _ahead(description)
    waiting, limits = list(reversed(ahead.get(description.root, []))), []
    while waiting:
        joint = waiting.pop()
        limits += [joint.velocity] if joint.moves else []
        waiting += reversed(ahead.get(joint.child, []))
    known = [limit for limit in limits if limit is not None]
    if not known or len(known) < len(limits):
        return []
    return ["  <custom>", f'    <numeric name="velocity_limit" data="{_numbers(tuple(known))}"/>', "  </custom>"]


def _numbers(values: Array | tuple[float, ...]) -> str:
    return " ".join(number(value) for value in values)
