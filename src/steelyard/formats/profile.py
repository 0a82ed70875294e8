"""The profile: what a controller needs of tool and joints and no model file holds, in YAML with units in the keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import ModelError
from steelyard.formats.export_values import ExportValues, JointDynamics, JointQuantity
from steelyard.formats.yaml_text import Value, yaml_text
from steelyard.robot.inertia import tensor
from steelyard.robot.robot import Robot

Array = NDArray[np.float64]
SCHEMA_VERSION = 1
_COMMENT = (
    "Dynamics identified by Steelyard. The unit of a value is the end of its key; torques are at the joint side.",
    "tau = ... + viscous_friction dq + coulomb_friction sign(dq) + torque_bias + rotor_inertia ddq",
)
_OTHERS = {  # beginning of a quantity's name: its torque
    "friction_above_": "friction_above_<v>: + f tanh(dq / v), v [rad/s or m/s]",
    "coulomb_friction_positive": "coulomb_friction_positive, _negative: + f while dq > 0, - f while dq < 0",
    "stribeck_friction": "stribeck_friction: + f sign(dq) exp(-(dq / v)^2), v = 0.05 rad/s or m/s",
    "quadratic_friction": "quadratic_friction: + f dq |dq|",
    "load_friction": "load_friction: + f |torque of the bodies| sign(dq)",
    "stiffness": "stiffness: + k q",
}
_TOOL_COMMENT = (
    "A tool weighed by Steelyard. The unit of a value is the end of its key; centre of mass and inertia are along the",
    "axes of the frame, the inertia is about the centre of mass. Keep it apart from the links of the robot's model.",
)
# JointDynamics field: key for joints that turn, key for joints that slide
_KEYS = {
    "damping": ("viscous_friction_nm_s_per_rad", "viscous_friction_n_s_per_m"),
    "friction": ("coulomb_friction_nm", "coulomb_friction_n"),
    "bias": ("torque_bias_nm", "force_bias_n"),
    "rotor_inertia": ("rotor_inertia_kg_m2", "rotor_inertia_kg"),
}


@dataclass(frozen=True)
class Tool:
    """A tool or load, apart from the link that carries it.

    Attributes:
        tool_id: the name that the controller knows it by.
        frame: link or frame that the numbers are given in.
        mass: [kg].
        center_of_mass: (3,) in the frame [m].
        inertia: (3, 3) about the centre of mass, along the axes of the frame [kg m2]; None where it was not found.
    """

    tool_id: str
    frame: str
    mass: float
    center_of_mass: tuple[float, float, float]
    inertia: Array | None = None


def tool_of_parameters(tool_id: str, frame: str, parameters: Array) -> Tool:
    """A tool from its (10,) parameters about the origin of a frame.

    Args:
        tool_id: the name that the controller knows it by.
        frame: link or frame that the parameters are about.
        parameters: m, m c, I about the frame's origin.

    Raises:
        ModelError: no mass, or not ten finite numbers.
    """
    values = np.asarray(parameters, dtype=np.float64)
    if values.shape != (10,) or not np.isfinite(values).all() or values[0] <= 0.0:
        raise ModelError("a tool has ten finite parameters and a mass above zero", where=tool_id, value=values.tolist())
    mass, centre = float(values[0]), values[1:4] / values[0]
    own = tensor(values[4:]) - mass * ((centre @ centre) * np.eye(3) - np.outer(centre, centre))
    x, y, z = (float(value) for value in centre)
    return Tool(tool_id, frame, mass, (x, y, z), own)


def profile_text(
    values: ExportValues,
    *,
    status: str = "candidate",
    provenance: Mapping[str, str] | None = None,
    tool: Tool | None = None,
) -> str:
    """The profile as YAML; the same values give the same text.

    Args:
        values: what was identified. A joint or quantity that was not identified is left out, not written as 0.
        status: of the result: an export of a candidate says so.
        provenance: digests, versions and conditions (temperature, load) that bind it to its result.
        tool: what the flange carries, None without a ``tool_dynamics`` part.
    """
    document = _head("robot_dynamics_profile", values.robot, status, provenance)
    if tool is not None:
        document["tool_dynamics"] = _tool(tool)
    document["joint_dynamics"] = joint_dynamics_table(values)
    if values.others:
        document["other_dynamics"] = {_key(other): float(other.value) for other in values.others}
    others = {other.name for joint in values.joints.values() for other in joint.others}
    return yaml_text(document, comment=(*_COMMENT, *(words for name, words in _OTHERS.items() if _held(name, others))))


def tool_profile_text(
    tool: Tool, robot: Robot, *, status: str = "candidate", provenance: Mapping[str, str] | None = None
) -> str:
    """A profile of a tool alone, which stays apart from the links of the robot.

    Args:
        tool: what the flange carries.
        robot: that carried it when it was weighed, without it.
        status: a candidate says so.
        provenance: digests and versions that bind it to its recordings.
    """
    document = _head("tool_dynamics_profile", robot, status, provenance)
    document["tool_dynamics"] = _tool(tool)
    return yaml_text(document, comment=_TOOL_COMMENT)


def _head(kind: str, robot: Robot, status: str, provenance: Mapping[str, str] | None) -> dict[str, Value]:
    document: dict[str, Value] = {
        "schema_version": SCHEMA_VERSION,
        "kind": kind,
        "status": status,
        "robot": robot.name,
        "model_sha256": robot.digest,
    }
    if provenance:
        document["provenance"] = dict(provenance)
    return document


def joint_dynamics_table(values: ExportValues) -> dict[str, Value]:
    """``joint -> {quantity_unit: value}`` in model order, only what was identified."""
    slides = dict(zip(values.robot.joint_names, values.robot.prismatic, strict=True))
    return {name: _joint(joint, prismatic=slides[name]) for name, joint in values.joints.items() if _any(joint)}


def unit_suffix(unit: str) -> str:
    """A unit as the end of a key: ``N m s2/rad2`` becomes ``nm_s2_per_rad2``."""
    text = unit.strip().replace("N m", "nm").replace("/", " per ").lower()
    return re.sub(r"[^a-z0-9]+", "_", text).strip("_")


def _held(beginning: str, names: set[str]) -> bool:
    return any(name.startswith(beginning) for name in names)


def _any(joint: JointDynamics) -> bool:
    return bool(joint.others) or any(getattr(joint, quantity) is not None for quantity in _KEYS)


def _joint(joint: JointDynamics, *, prismatic: bool) -> dict[str, Value]:
    table: dict[str, Value] = {}
    for quantity, keys in _KEYS.items():
        value = getattr(joint, quantity)
        if value is not None:
            table[keys[prismatic]] = float(value)
    for other in joint.others:
        table[_key(other)] = float(other.value)
    return table


def _key(quantity: JointQuantity) -> str:
    suffix = unit_suffix(quantity.unit)
    return f"{quantity.name}_{suffix}" if suffix else quantity.name


def _tool(tool: Tool) -> dict[str, Value]:
    table: dict[str, Value] = {
        "tool_id": tool.tool_id,
        "frame": tool.frame,
        "mass_kg": float(tool.mass),
        "center_of_mass_m": [float(value) for value in tool.center_of_mass],
    }
    if tool.inertia is not None:
        # rows of the tensor, along the axes of the frame
        table["inertia_about_center_of_mass_kg_m2"] = [
            [float(value) for value in row] for row in np.asarray(tool.inertia)
        ]
    return table
