"""What a joint's limits, units and angles give away: missing or zero limits, millimetres, degrees, rounding."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from steelyard.robot.finding_log import FindingLog
from steelyard.robot.strict_number import shown
from steelyard.robot.urdf_description import UrdfDescription, UrdfJoint
from steelyard.robot.urdf_structure import joint_place

_LONGEST_STROKE = 20.0  # [m] of a prismatic joint
_LARGEST_ANGLE = 4 * math.pi  # [rad] of a revolute joint: two turns either way
_UNLIMITED = 1e4  # limits beyond it stand for "none"
_LONGEST_OFFSET = 20.0  # [m] between two joints
# Where a file states its limits; an MJCF has no field for the velocity.
_FIELDS: Mapping[str, Mapping[str, str]] = {
    "urdf": {key: key for key in ("lower", "upper", "velocity", "effort")},
    "mjcf": {"lower": "range", "upper": "range", "effort": "actuatorfrcrange"},
}
_ROUNDED = (1e-12, 2e-3)  # [rad] off a multiple of a right angle: more than arithmetic leaves, less than a design means


def check_joints(description: UrdfDescription, log: FindingLog) -> None:
    """Note what stands out; nothing here keeps the model from being used."""
    for joint in description.joints:
        if joint.moves:
            _check_mimic(joint, log)
            _check_limits(joint, description.format, log)
            _check_dynamics(joint, log)
        _check_origin(joint, log)
    _check_rounding(description.joints, log)


def _check_mimic(joint: UrdfJoint, log: FindingLog) -> None:
    if joint.mimic is None:
        return
    log.add(
        "warning",
        "model.mimic_locked",
        f"joint {shown(joint.name)} follows {shown(joint.mimic.joint)} "
        f"(x {joint.mimic.multiplier:g} {joint.mimic.offset:+g}); unless asked otherwise it is locked, not identified",
        joint_place(joint),
        value=joint.mimic.joint[:60],
        cure="state the position it is locked at: [robot.locked] in the study file; "
        "[robot] mimic = 'project' there (`Robot.from_file(path, mimic='project')`) moves it along",
    )


def _check_limits(joint: UrdfJoint, format: str, log: FindingLog) -> None:
    bounded = joint.kind != "continuous"
    values = {"velocity": joint.velocity, "effort": joint.effort}
    if bounded:
        values = {"lower": joint.lower, "upper": joint.upper, **values}
    asked = [key for key in values if key in _FIELDS[format]]
    missing = [key for key in asked if values[key] is None]
    if missing and (bounded or len(missing) < len(asked)):  # a continuous joint needs no <limit> at all
        message = (
            f"joint {shown(joint.name)} has {_lack(missing, asked, format)}: "
            "it can be identified, but no motion can be designed for it"
        )
        log.add(
            "warning", "model.no_limits", message, joint_place(joint), cure="add the limits, or give joint_limits.yaml"
        )
    for key in ("velocity", "effort"):
        value = values[key]
        if value is not None and value <= 0.0:
            _note_zero(
                joint, f"the {key} limit of joint {shown(joint.name)} is {value:g} {_unit(joint, key)}", value, log
            )
    if bounded and joint.lower is not None and joint.upper is not None:
        _check_range(joint, joint.lower, joint.upper, log)


def _lack(missing: Sequence[str], asked: Sequence[str], format: str) -> str:
    fields = ", ".join(dict.fromkeys(_FIELDS[format][key] for key in missing))
    if format == "mjcf":
        return f"no {fields}"
    return "no <limit>" if len(missing) == len(asked) else f"a <limit> without {fields}"


def _check_range(joint: UrdfJoint, lower: float, upper: float, log: FindingLog) -> None:
    name, unit = shown(joint.name), _unit(joint, "position")
    if lower == upper:
        _note_zero(
            joint, f"the position limits of joint {name} leave no motion: {lower:g} to {upper:g} {unit}", lower, log
        )
    elif lower > upper:
        message = f"the lower limit of joint {name}, {lower:g} {unit}, is above the upper one, {upper:g} {unit}"
        log.add(
            "warning", "model.limit_inverted", message, joint_place(joint), value=lower, cure="swap or correct them"
        )
    largest = max(lower, upper, key=abs)
    allowed = _LONGEST_STROKE if joint.kind == "prismatic" else _LARGEST_ANGLE
    if abs(largest) <= allowed:
        return
    if abs(largest) >= _UNLIMITED:
        message = f"joint {name} may move to {largest:g} {unit}: a stand-in for no limit"
        cure = "write the limits of the drive, or make a turning joint continuous"
        log.add("warning", "model.no_limits", message, joint_place(joint), value=largest, cure=cure)
        return
    if joint.kind == "prismatic":
        cause, cure = "probably millimetres", "write metres"
    else:
        cause, cure = "probably degrees", "write radians"
    message = f"joint {name} may move to {largest:g} {unit}: {cause}"
    log.add("warning", "model.units_suspect", message, joint_place(joint), value=largest, cure=cure)


def _note_zero(joint: UrdfJoint, message: str, value: float, log: FindingLog) -> None:
    cure = "write the limit of the drive: as it stands no motion can be designed for this joint"
    log.add("warning", "model.limit_zero", message, joint_place(joint), value=value, cure=cure)


def _check_dynamics(joint: UrdfJoint, log: FindingLog) -> None:
    for key, value in (("damping", joint.damping), ("friction", joint.friction)):
        if value is not None and value < 0.0:
            log.add(
                "warning",
                "model.friction_negative",
                f"the {key} of joint {shown(joint.name)} is {value:g} {_unit(joint, key)}, which would drive the joint",
                joint_place(joint),
                value=value,
                cure="friction takes energy away: check the sign of the joint or of the torque it came from",
            )
    if joint.armature is not None and joint.armature < 0.0:
        message = (
            f"the armature of joint {shown(joint.name)} is {joint.armature:g}, and no rotor has a negative inertia"
        )
        cure = "write the rotor's inertia times the gear ratio squared"
        log.add("warning", "model.armature_negative", message, joint_place(joint), value=joint.armature, cure=cure)


def _check_origin(joint: UrdfJoint, log: FindingLog) -> None:
    distance, angle = math.hypot(*joint.origin_xyz), max(joint.origin_rpy, key=abs)
    if distance > _LONGEST_OFFSET:
        message = f"joint {shown(joint.name)} lies {distance:g} m from its parent link: probably millimetres"
        log.add("warning", "model.units_suspect", message, joint_place(joint), value=distance, cure="write metres")
    if abs(angle) > 2 * math.pi + 0.01:
        message = f"joint {shown(joint.name)} is mounted at an angle of {angle:g} rad: probably degrees"
        log.add("warning", "model.units_suspect", message, joint_place(joint), value=angle, cure="write radians")


def _check_rounding(joints: Sequence[UrdfJoint], log: FindingLog) -> None:
    """One finding for the file: 1.5708 for pi/2 tilts parallel axes a little and makes parameters seem identifiable."""
    off = [(deviation, joint) for joint in joints if (deviation := _right_angle_error(joint)) > 0.0]
    if not off:
        return
    worst, joint = max(off, key=lambda pair: pair[0])
    log.add(
        "info",
        "model.rounded_angle",
        f"{len(off)} joints are mounted at rounded multiples of a right angle, "
        f"joint {shown(joint.name)} {worst:.1g} rad off: axes that are parallel or square in the design no longer are",
        joint_place(joint),
        value=worst,
        cure="write angles with 16 digits (1.5707963267948966), or judge ranks with a tolerance above that error",
    )


def _right_angle_error(joint: UrdfJoint) -> float:
    errors = [0.0]
    for angle in joint.origin_rpy:
        turns = round(angle / (math.pi / 2))
        error = abs(angle - turns * math.pi / 2)
        # around zero a small angle is meant (a calibrated mount) unless it is as small as printed arithmetic
        if _ROUNDED[0] < error < (_ROUNDED[1] if turns else 1e-6):
            errors.append(error)
    return max(errors)


def _unit(joint: UrdfJoint, quantity: str) -> str:
    turning = {"position": "rad", "velocity": "rad/s", "effort": "N m", "damping": "N m s/rad", "friction": "N m"}
    sliding = {"position": "m", "velocity": "m/s", "effort": "N", "damping": "N s/m", "friction": "N"}
    return (sliding if joint.kind == "prismatic" else turning)[quantity]
