"""Tables for simulators that are set up in Python: the numbers under the names of their arguments."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from steelyard.formats.export_values import ExportValues, JointDynamics
from steelyard.formats.profile import joint_dynamics_table
from steelyard.formats.yaml_text import Value, yaml_text

Array = NDArray[np.float64]
_DRAKE = (
    "Identified dynamics for Drake, in SI units, named as its arguments.",
    "bodies: RigidBody.SetSpatialInertiaInBodyFrame(context, SpatialInertia(mass, p_PScm_E, UnitInertia(*G_SP_E)))",
    "  p_PScm_E [m] in the body frame; G_SP_E = Ixx Iyy Izz Ixy Ixz Iyz about the body origin, per kilogram [m2].",
    "joints: set_default_damping [N m s/rad or N s/m]; on the actuator set_default_rotor_inertia [kg m2 or kg] and",
    "  set_default_gear_ratio: the rotor inertia is reflected already, so the ratio is 1.",
    "not_held: what Drake's joints have no field for; apply it as an actuator torque.",
)
_ISAAC_LAB = (
    "Identified dynamics for Isaac Lab with Isaac Sim 5.0 or later: arguments of an actuator configuration.",
    "joint_names_expr and the keys are regular expressions that match one joint each.",
    "armature [kg m2 or kg], reflected; friction, dynamic_friction [N m or N]; viscous_friction [N m s/rad or N s/m].",
    "`damping` of an actuator is its derivative gain, not friction. Before Isaac Sim 5.0 friction was a coefficient",
    "without unit: do not use these values there. Masses and inertias come with the exported URDF or MJCF.",
    "not_held: add to the commanded effort, or write an explicit actuator model.",
)


def drake_table(values: ExportValues) -> str:
    """What Drake's setters take, as YAML; what it cannot hold stands apart, with its units.

    Args:
        values: what was identified.
    """
    bodies: dict[str, Value] = {
        name: _spatial_inertia(parameters) for name, parameters in values.links.items() if parameters[0] > 0.0
    }
    joints: dict[str, Value] = {}
    for name, joint in values.joints.items():
        entry: dict[str, Value] = {}
        if joint.damping is not None:
            entry["damping"] = float(joint.damping)
        if joint.rotor_inertia is not None:
            entry["rotor_inertia"] = float(joint.rotor_inertia)
            entry["gear_ratio"] = 1.0
        if entry:
            joints[name] = entry
    rest = _rest(values, held=("damping", "rotor_inertia"))
    return yaml_text({"bodies": bodies, "joints": joints, "not_held": rest}, comment=_DRAKE)


def isaac_lab_table(values: ExportValues) -> str:
    """Arguments of an Isaac Lab actuator configuration, as YAML; what it cannot hold stands apart, with its units.

    Args:
        values: what was identified.
    """
    actuator: dict[str, Value] = {"joint_names_expr": [re.escape(name) for name in values.joints]}
    for argument, quantity in (
        ("armature", "rotor_inertia"),
        ("friction", "friction"),
        ("dynamic_friction", "friction"),
        ("viscous_friction", "damping"),
    ):
        known = {re.escape(name): getattr(joint, quantity) for name, joint in values.joints.items()}
        actuator[argument] = {name: float(value) for name, value in known.items() if value is not None}
    rest = _rest(values, held=("damping", "friction", "rotor_inertia"))
    return yaml_text({"actuator": actuator, "not_held": rest}, comment=_ISAAC_LAB)


def _spatial_inertia(parameters: Array) -> dict[str, Value]:
    mass = float(parameters[0])
    xx, xy, yy, xz, yz, zz = (float(value) / mass for value in parameters[4:])
    return {
        "mass": mass,
        "p_PScm_E": [float(value) / mass for value in parameters[1:4]],
        "G_SP_E": [xx, yy, zz, xy, xz, yz],
    }


def _rest(values: ExportValues, *, held: tuple[str, ...]) -> dict[str, Value]:
    """The joint table of the profile without what the simulator holds."""
    joints = {}
    for name, joint in values.joints.items():
        left = {quantity: None if quantity in held else getattr(joint, quantity)
                for quantity in ("damping", "friction", "rotor_inertia", "bias")}  # fmt: skip
        joints[name] = JointDynamics(**left, others=joint.others)
    return joint_dynamics_table(ExportValues(values.robot, {}, joints, ()))
