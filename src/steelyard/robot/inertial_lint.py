"""Whether the inertials could belong to solid bodies: masses where something moves, tensors that a mass can have."""

from __future__ import annotations

from typing import Literal

import numpy as np

from steelyard.finding import Level
from steelyard.robot.composite_body import Array, CompositeBody
from steelyard.robot.finding_log import FindingLog
from steelyard.robot.strict_number import shown
from steelyard.robot.urdf_description import Matrix3, UrdfInertial, UrdfJoint, UrdfLink
from steelyard.robot.urdf_structure import link_place

TOLERANCE = 1e-3  # relative to the largest principal moment: tensors of thin plates are printed with 3 to 5 digits
_PRIOR = (
    "correct it, or identify the link: the file's value is a prior only, "
    "and a consistent estimator starts from the nearest physical one"
)


def check_inertials(
    bodies: tuple[CompositeBody, ...], log: FindingLog, *, format: Literal["urdf", "mjcf"] = "urdf"
) -> None:
    """Note massless and unphysical bodies; `format` is that of the file, whose order of moments may be confused.

    Only a moving body matters: a massless frame on a fixed joint is nothing, and what does not move is not weighed
    (the root body is judged as information, for a robot whose base floats).
    """
    for body in bodies:
        if body.members[0].stand_in and len(body.members) == 1:
            continue
        if body.joint is not None and body.mass == 0.0:
            _note_massless(body, body.joint, log)
        elif body.moves and not body.inertia.any():
            _note_point_mass(body, log)
        harmless = "" if body.moves else "; it matters only if the base moves"
        if body.moves and inertia_defect(body.inertia) <= TOLERANCE:
            harmless = "; together with the links fixed to it, it makes a possible body"
        for link in body.members:
            if link.inertial is not None and body.feels(link.inertial):
                fault = _check_tensor(link, link.inertial, harmless, log)
                if fault and format == "urdf":
                    _check_order(link, link.inertial, fault, log)


def inertia_defect(inertia: Array | Matrix3) -> float:
    """How far a tensor is from one that a mass distribution can have; 0 for a physical one.

    With principal moments J1 <= J2 <= J3 [kg m2], ``max(0, J3 - J1 - J2, -J1) / max|J|``. J3 <= J1 + J2 is the
    same as a positive semi-definite pseudo-inertia about the centre of mass, ``tr(I)/2 1 - I >= 0``.
    """
    moments = np.linalg.eigvalsh(np.asarray(inertia))
    largest = float(np.abs(moments).max())
    if largest == 0.0:
        return 0.0
    first, second, third = (float(moment) for moment in moments)
    return max(0.0, third - first - second, -first) / largest


def _note_massless(body: CompositeBody, joint: UrdfJoint, log: FindingLog) -> None:
    """Without any inertial the last link is an error; a written zero is a poor prior, and stands with a warning."""
    link = body.members[0]
    if body.inertia.any() and joint.kind != "prismatic":
        message = f"link {shown(link.name)} moves and has an inertia tensor but no mass, as no body has"
        log.add("warning", "model.inertia_inconsistent", message, link_place(link), value=0.0, cure=_PRIOR)
        return
    written = any(member.inertial is not None for member in body.members)
    what = "the mass 0" if written else "no inertial"
    what = f"link {shown(link.name)} moves by joint {shown(joint.name)} and has {what}"
    cure = "write its mass, centre of mass and inertia, or make the joint fixed if it only marks a frame"
    singular = body.mass_beyond == 0.0 and joint.mimic is None
    if singular:
        message = f"{what}, nor does it carry any mass: the joint would need no torque, and the mass matrix is singular"
    elif body.mass_beyond > 0.0:
        message = f"{what}; the model still works because what it carries has mass"
    else:
        message = f"{what}; the model still works because its joint only follows another one"
    level: Level = "error" if singular and not written else "warning"
    log.add(level, "model.zero_inertial_moving", message, link_place(link), value=0.0, cure=cure)


def _note_point_mass(body: CompositeBody, log: FindingLog) -> None:
    link = body.members[0]
    log.add(
        "warning",
        "model.zero_inertial_moving",
        f"link {shown(link.name)} moves and has {body.mass:g} kg but a zero inertia tensor: it is modelled as a point",
        link_place(link),
        value=0.0,
        cure=_PRIOR,
    )


def _check_tensor(link: UrdfLink, inertial: UrdfInertial, harmless: str, log: FindingLog) -> Level | None:
    """Note a tensor that no mass has; the level of the finding, None without one."""
    defect = inertia_defect(inertial.inertia)
    if defect <= TOLERANCE:
        return None
    level: Level = "info" if harmless else "warning"
    moments = np.linalg.eigvalsh(np.array(inertial.inertia))
    listed = ", ".join(f"{moment:.3g}" for moment in moments)
    fault = (
        f"one is negative ({moments[0]:.3g})"
        if moments[0] < -TOLERANCE * abs(moments).max()
        else "the largest exceeds the sum of the others"
    )
    log.add(
        level,
        "model.inertia_inconsistent",
        f"the inertia of link {shown(link.name)} belongs to no body: of its principal moments {listed} kg m2 {fault}"
        + harmless,
        link_place(link),
        value=defect,
        cure=_PRIOR,
    )
    return level


def _check_order(link: UrdfLink, inertial: UrdfInertial, level: Level, log: FindingLog) -> None:
    order = suspected_order(inertial.inertia)
    if order:
        log.add(
            level,
            "model.inertia_ordering_suspect",
            f"the six moments of link {shown(link.name)} would fit a body if they stood in another order: {order}",
            link_place(link),
            cure="compare with the CAD values; a URDF names them ixx ixy ixz iyy iyz izz",
        )


def suspected_order(inertia: Matrix3) -> str:
    """The other order in which six moments in a URDF's slots would make a physical tensor, empty if none does."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertia
    if yy == xy != 0.0 and (xx, xy, xz) != (yy, yz, zz):
        return "the first two rows of the matrix (ixx ixy ixz iyx iyy iyz), whose fourth number repeats the second"
    orders = {
        "ixx iyy izz ixy ixz iyz": ((xx, yy, yz), (yy, xy, zz), (yz, zz, xz)),
        "ixx iyy izz iyz ixz ixy": ((xx, zz, yz), (zz, xy, yy), (yz, yy, xz)),
        "ixx ixy iyy ixz iyz izz": ((xx, xy, yy), (xy, xz, yz), (yy, yz, zz)),
    }
    for name, tensor in orders.items():
        if inertia_defect(tensor) <= TOLERANCE and np.linalg.eigvalsh(np.array(tensor))[0] > 0.0:
            return name
    return ""
