"""The joints of an MJCF body, with the defaults behind them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.robot.mjcf_compiler import Compiler
from steelyard.robot.mjcf_defaults import Resolved
from steelyard.robot.mjcf_inertial import Placed

Array = NDArray[np.float64]
_KINDS = ("hinge", "slide", "ball", "free")
_SMALLEST_AXIS = 1e-6  # shorter than this is no direction


@dataclass(frozen=True)
class MjcfJoint:
    """A joint of a body.

    Attributes:
        kind: as a URDF calls it: revolute, continuous, prismatic or floating.
        axis: (3,) unit vector in the body frame.
        anchor: (3,) [m] where it acts, in the body frame.
        reference: its reading in the pose of the file [rad or m].
        lower, upper, effort, damping, friction, armature: as of `UrdfJoint`.
    """

    name: str
    line: int
    kind: str
    axis: Array
    anchor: Array
    reference: float = 0.0
    lower: float | None = None
    upper: float | None = None
    effort: float | None = None
    damping: float | None = None
    friction: float | None = None
    armature: float | None = None


def read_joint(placed: Placed, name: str, compiler: Compiler) -> MjcfJoint | None:
    """A ``<joint>`` or ``<freejoint>``; None, and an error, where it is of no use."""
    joint, line = placed.element, placed.element.own.sourceline or 0
    kind = "free" if joint.own.tag == "freejoint" else joint.choice("type", _KINDS)
    if kind == "ball":
        message = f"{joint.owner.subject} is a ball: joints with three coupled coordinates are not supported"
        _error(joint, "model.joint_type", message, kind, "write three hinges, which the data then name one by one")
        return None
    if kind == "free":
        _check_free(joint)
        return MjcfJoint(name, line, "floating", np.array([0.0, 0.0, 1.0]), np.zeros(3))
    axis = _axis(joint)
    anchor = joint.numbers("pos", 3, default=(0.0, 0.0, 0.0))
    unit = 1.0 if kind == "slide" else compiler.angle
    reference = joint.number("ref", default=0.0)
    limits = _limits(joint, unit, compiler)
    _check_spring(joint)
    # An unreadable axis is an error already; the joint stays, so that the rest can be judged as well.
    return MjcfJoint(
        name=name,
        line=line,
        kind="prismatic" if kind == "slide" else "continuous" if limits is None else "revolute",
        axis=placed.place.rotation @ axis,
        anchor=placed.place.translation + placed.place.rotation @ np.array(anchor or (0.0, 0.0, 0.0)),
        reference=(reference or 0.0) * unit,
        lower=None if limits is None else limits[0],
        upper=None if limits is None else limits[1],
        effort=_effort(joint, compiler),
        damping=joint.number("damping"),
        friction=joint.number("frictionloss"),
        armature=joint.number("armature"),
    )


def _axis(joint: Resolved) -> Array:
    values = joint.numbers("axis", 3, default=(0.0, 0.0, 1.0)) or (0.0, 0.0, 1.0)
    length = math.hypot(*values)
    if length < _SMALLEST_AXIS:
        message = f"the axis of {joint.owner.subject} is {' '.join(f'{v:g}' for v in values)}, which is no direction"
        cure = "write the unit vector that the joint turns about or slides along, such as 0 0 1"
        _error(joint, "model.zero_axis", message, str(joint.text("axis"))[:60], cure)
        return np.array([0.0, 0.0, 1.0])
    return np.array(values) / length


def _limits(joint: Resolved, unit: float, compiler: Compiler) -> tuple[float, float] | None:
    """The range [rad or m]; None where there is none, or it does not limit."""
    limited = joint.choice("limited", ("auto", "true", "false"))
    values = joint.numbers("range", 2) if joint.holder("range") is not None else None
    if limited == "false" or (values is None and limited == "auto"):
        return None
    if values is None or (limited == "auto" and not compiler.autolimits):
        what = (
            "is limited, but has no readable range" if values is None else "has a range, but not whether it is limited"
        )
        cure = "write range, with limited='true'; or limited='false' where nothing limits it"
        _error(joint, "model.limits_unclear", f"{joint.owner.subject} {what}", limited, cure)
        return None
    if limited == "auto" and values == (0.0, 0.0):
        return None  # how MuJoCo writes "no range"
    return values[0] * unit, values[1] * unit


def _effort(joint: Resolved, compiler: Compiler) -> float | None:
    """What the actuators may do in both directions [N m or N]; None where nothing limits it."""
    limited = joint.choice("actuatorfrclimited", ("auto", "true", "false"))
    values = joint.numbers("actuatorfrcrange", 2) if joint.holder("actuatorfrcrange") is not None else None
    if values is None or limited == "false" or (limited == "auto" and not compiler.autolimits):
        return None
    return min(-values[0], values[1])


def _check_free(joint: Resolved) -> None:
    for attribute in ("armature", "damping", "frictionloss"):
        value = joint.number(attribute) if joint.own.tag == "joint" else None
        if value:
            message = (
                f"the free {joint.owner.subject} has {attribute} {value:g}, which a free body has not: it is left out"
            )
            cure = "write <freejoint/>, which takes nothing from the defaults"
            joint.owner.log.add(
                "warning", "model.not_modelled", message, joint.owner.at(joint.own), value=value, cure=cure
            )


def _check_spring(joint: Resolved) -> None:
    value = joint.number("stiffness")
    if value:
        message = f"{joint.owner.subject} has a spring of stiffness {value:g}, which rigid bodies do not show"
        joint.owner.log.add(
            "warning",
            "model.not_modelled",
            message,
            joint.owner.at(joint.own),
            value=value,
            cure="add the term `spring` (with `offset`) to the model, if the real joint has one",
        )


def _error(joint: Resolved, code: str, message: str, value: str, cure: str) -> None:
    joint.owner.log.add("error", code, message, joint.owner.at(joint.own), value=value, cure=cure)
