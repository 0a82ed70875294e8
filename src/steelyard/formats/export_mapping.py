"""Where each identified quantity goes in each target, and what a target cannot hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from steelyard.finding import Finding
from steelyard.formats.export_values import ExportValues, JointDynamics

Target = Literal["urdf", "mjcf", "profile", "drake", "isaac_lab"]
TARGETS: tuple[Target, ...] = get_args(Target)
_LISTED = 5


@dataclass(frozen=True)
class Destination:
    """Where one quantity goes.

    Attributes:
        target: one of `TARGETS`.
        quantity: what was identified.
        unit: SI; for joints that turn, then for joints that slide.
        place: element and attribute, key or argument; empty where the target has none.
        note: what its readers do with it.
    """

    target: Target
    quantity: str
    unit: str
    place: str
    note: str = ""


MASS, CENTRE, INERTIA = "mass", "centre of mass", "inertia"
VISCOUS, COULOMB, ROTOR, BIAS = "viscous friction", "Coulomb friction", "rotor inertia", "torque bias"
TOOL, OTHER = "tool", "other joint terms"
_UNITS = {
    MASS: "kg",
    CENTRE: "m",
    INERTIA: "kg m2",
    VISCOUS: "N m s/rad, N s/m",
    COULOMB: "N m, N",
    ROTOR: "kg m2, kg",
    BIAS: "N m, N",
    TOOL: "kg, m, kg m2",
    OTHER: "as identified",
}
_SMOOTH = "a constraint solved softly: within some 0.01 rad/s of standstill it lies between the two signs"
_TABLE: dict[Target, dict[str, tuple[str, str]]] = {
    "urdf": {
        MASS: ("link/inertial/mass/@value", ""),
        CENTRE: ("link/inertial/origin/@xyz", "in the link frame"),
        INERTIA: ("link/inertial/inertia/@ixx .. @izz", "about the centre of mass, in axes turned by origin/@rpy"),
        VISCOUS: (
            "joint/dynamics/@damping",
            "Pinocchio reads it and leaves it out of rnea; MuJoCo and Drake use it; some importers drop it",
        ),
        COULOMB: (
            "joint/dynamics/@friction",
            "MuJoCo uses it as frictionloss; Drake drops it, Pinocchio leaves it out of rnea",
        ),
        ROTOR: ("", "a URDF has no field for it: use the profile"),
        BIAS: ("", "belongs to the controller: use the profile"),
        TOOL: ("", "a tool is not folded into the last link: use the profile"),
        OTHER: ("", "use the profile"),
    },
    "mjcf": {
        MASS: ("body/inertial/@mass", ""),
        CENTRE: ("body/inertial/@pos", "in the body frame"),
        INERTIA: ("body/inertial/@fullinertia or @diaginertia with @quat", "about the centre of mass"),
        VISCOUS: ("joint/@damping", "passive torque -damping dq"),
        COULOMB: ("joint/@frictionloss", _SMOOTH),
        ROTOR: ("joint/@armature", "reflected: gear ratio squared times the rotor's own"),
        BIAS: ("", "belongs to the controller: use the profile"),
        TOOL: ("", "a tool is not folded into the last body: use the profile"),
        OTHER: ("", "use the profile"),
    },
    "profile": {
        MASS: ("", "rigid bodies go to the URDF or MJCF"),
        CENTRE: ("", "rigid bodies go to the URDF or MJCF"),
        INERTIA: ("", "rigid bodies go to the URDF or MJCF"),
        VISCOUS: ("joint_dynamics.<joint>.viscous_friction_nm_s_per_rad, _n_s_per_m", "tau = fv dq"),
        COULOMB: ("joint_dynamics.<joint>.coulomb_friction_nm, _n", "tau = fc sign(dq)"),
        ROTOR: ("joint_dynamics.<joint>.rotor_inertia_kg_m2, _kg", "reflected; tau = Ia ddq"),
        BIAS: ("joint_dynamics.<joint>.torque_bias_nm, force_bias_n", "tau = b"),
        TOOL: ("tool_dynamics.mass_kg, .center_of_mass_m, .inertia_about_center_of_mass_kg_m2", "in the tool's frame"),
        OTHER: ("joint_dynamics.<joint>.<term>_<unit>", "couplings: other_dynamics.<column>_<unit>"),
    },
    "drake": {
        MASS: ("SpatialInertia(mass=)", ""),
        CENTRE: ("SpatialInertia(p_PScm_E=)", "in the body frame"),
        INERTIA: ("SpatialInertia(G_SP_E=UnitInertia(Ixx, Iyy, Izz, Ixy, Ixz, Iyz))", "about the body origin, per kg"),
        VISCOUS: ("RevoluteJoint.set_default_damping, PrismaticJoint.set_default_damping", "or URDF dynamics/@damping"),
        COULOMB: ("", "Drake's joints have no dry friction: apply it as an actuator torque"),
        ROTOR: (
            "JointActuator.set_default_rotor_inertia with set_default_gear_ratio(1)",
            "the identified value is reflected already, so the ratio is 1; in a URDF drake:rotor_inertia and "
            "drake:gear_ratio inside transmission/actuator",
        ),
        BIAS: ("", "apply it as an actuator torque"),
        TOOL: ("", "weld it as a body of its own"),
        OTHER: ("", "apply them as an actuator torque"),
    },
    "isaac_lab": {
        MASS: ("", "by importing the exported URDF or MJCF"),
        CENTRE: ("", "by importing the exported URDF or MJCF"),
        INERTIA: ("", "by importing the exported URDF or MJCF"),
        VISCOUS: (
            "ActuatorBaseCfg.viscous_friction",
            "Isaac Sim 5.0 and later. Not `damping`: that is the derivative gain of the drive",
        ),
        COULOMB: (
            "ActuatorBaseCfg.friction and .dynamic_friction",
            "efforts in Isaac Sim 5.0 and later; before, `friction` was a coefficient without unit, and these values "
            "must not be used. Both get the one identified value",
        ),
        ROTOR: ("ActuatorBaseCfg.armature", "reflected"),
        BIAS: ("", "add it to the commanded effort"),
        TOOL: ("", "fix it to the flange as a rigid body of its own"),
        OTHER: ("", "write an explicit actuator model"),
    },
}
DESTINATIONS: tuple[Destination, ...] = tuple(
    Destination(target, quantity, _UNITS[quantity], *_TABLE[target][quantity])
    for target in TARGETS
    for quantity in _UNITS
)


def destination(target: Target, quantity: str) -> Destination:
    """The entry for one quantity in one target."""
    return next(entry for entry in DESTINATIONS if (entry.target, entry.quantity) == (target, quantity))


def mapping_table(target: Target) -> str:
    """The mapping of one target as a Markdown table, for people."""
    rows = [
        f"| {entry.quantity} | {entry.unit} | {f'`{entry.place}`' if entry.place else 'none'} | {entry.note} |"
        for entry in DESTINATIONS
        if entry.target == target
    ]
    return "\n".join(["| quantity | unit | goes to | note |", "|---|---|---|---|", *rows]) + "\n"


def not_held(values: ExportValues, target: Target) -> tuple[Finding, ...]:
    """One finding for each identified quantity that a target has no place for; joint values that are zero are no loss.

    Args:
        values: what is to be exported.
        target: one of `TARGETS`.
    """
    found = []
    for quantity in (VISCOUS, COULOMB, ROTOR, BIAS, OTHER):
        entry = destination(target, quantity)
        joints = [name for name, joint in values.joints.items() if _has(joint, quantity)]
        if joints and not entry.place:
            more = f" and {len(joints) - _LISTED} more" if len(joints) > _LISTED else ""
            message = f"the {quantity} of {', '.join(joints[:_LISTED])}{more} has no place in the target {target}"
            found.append(Finding("export.not_held", "warning", message, target, len(joints), entry.note))
    if values.others and target != "profile":
        message = (
            f"{', '.join(other.name for other in values.others[:_LISTED])} belong to no single joint, and have no "
        )
        message += f"place in the target {target}"
        found.append(Finding("export.not_held", "warning", message, target, len(values.others), "use the profile"))
    if values.links and not destination(target, INERTIA).place:
        entry = destination(target, INERTIA)
        message = f"masses, centres of mass and inertias have no place in the target {target}"
        found.append(Finding("export.not_held", "info", message, target, len(values.links), entry.note))
    return tuple(found)


def _has(joint: JointDynamics, quantity: str) -> bool:
    if quantity == OTHER:
        return any(other.value for other in joint.others)
    return bool(
        {VISCOUS: joint.damping, COULOMB: joint.friction, ROTOR: joint.rotor_inertia, BIAS: joint.bias}[quantity]
    )
