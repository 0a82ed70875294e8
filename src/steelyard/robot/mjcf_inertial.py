"""The inertial of an MJCF body: stated, or added up from its geoms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.robot.finding_log import FindingLog
from steelyard.robot.inertia import rpy_of, tensor
from steelyard.robot.mjcf_compiler import Compiler
from steelyard.robot.mjcf_defaults import Resolved
from steelyard.robot.mjcf_frame import Frame, read_orientation
from steelyard.robot.mjcf_geometry import read_solid, shape_of, weigh
from steelyard.robot.urdf_description import Ball, Matrix3, UrdfInertial, Vector3
from steelyard.robot.urdf_elements import Owner, number

Array = NDArray[np.float64]
_TURNS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")


class Placed(NamedTuple):
    """An element of a body and the frame it stands in, in the body frame (``<frame>`` elements move it)."""

    element: Resolved
    place: Frame


def read_inertial(stated: Placed, compiler: Compiler) -> UrdfInertial | None:
    """An ``<inertial>``, in the body frame; None, and an error, where it cannot be read."""
    element, owner = stated.element, stated.element.owner
    position = element.numbers("pos", 3) if element.text("pos") is not None else None
    if element.text("pos") is None:
        _error(
            element, "model.number_unreadable", f"the <inertial> of {owner.subject} has no pos", "write pos, 0 included"
        )
    mass = number(element.own, "mass", owner, code="model.mass_unreadable")
    if mass is not None and mass < 0.0:
        message = f"the mass of {owner.subject} is {mass:g} kg"
        cure = "a mass is positive: look for a slipped sign or a subtracted part"
        owner.log.add("error", "model.negative_mass", message, owner.at(element.own), value=mass, cure=cure)
    moments = _moments(element)
    rotation = read_orientation(element, compiler)
    if position is None or mass is None or moments is None or rotation is None:
        return None
    centre = stated.place.translation + stated.place.rotation @ np.array(position)
    line = element.own.sourceline or 0
    return UrdfInertial(mass, _triple(centre), _triple(rpy_of(stated.place.rotation @ rotation)), moments, line)


def add_up(geoms: Sequence[Placed], compiler: Compiler, line: int) -> UrdfInertial | None:
    """The inertial that follows from the geoms of a body; None where they have no mass."""
    total = sum((weigh(geom.element, compiler, geom.place) for geom in geoms), np.zeros(10))
    mass = float(total[0])
    if mass == 0.0:
        return None
    centre = total[1:4] / mass
    inertia = tensor(total[4:]) - mass * ((centre @ centre) * np.eye(3) - np.outer(centre, centre))
    return UrdfInertial(mass, _triple(centre), (0.0, 0.0, 0.0), _matrix(inertia), line)


def balls(geoms: Sequence[Placed], compiler: Compiler) -> tuple[Ball, ...]:
    """Balls around the primitives, for comparison with a stated inertial; none where a mesh is among them.

    Geometry does not matter to the dynamics here, so that what cannot be read in it is passed over.
    """
    found = []
    for geom in geoms:
        silent = Resolved(geom.element.chain, Owner("", FindingLog("")))
        kind = shape_of(silent)
        solid = read_solid(silent, kind, compiler, geom.place)
        if solid is None and kind not in ("plane", "hfield"):
            return ()
        if solid is not None:
            found.append(Ball(_triple(solid.frame.translation), solid.radius))
    return tuple(found)


def _moments(element: Resolved) -> Matrix3 | None:
    diagonal, full = element.text("diaginertia"), element.text("fullinertia")
    turned = [name for name in _TURNS if element.text(name) is not None]
    subject = element.owner.subject
    if (diagonal is None) == (full is None):
        which = "no moments of inertia" if full is None else "both diaginertia and fullinertia"
        code = "model.inertia_missing" if full is None else "model.duplicate"
        _error(element, code, f"the <inertial> of {subject} has {which}", "write one of them [kg m2], zeros included")
        return None
    if full is not None and turned:
        message = (
            f"the <inertial> of {subject} has fullinertia, which is in the axes of the body, and {turned[0]} besides"
        )
        _error(element, "model.orientation_unreadable", message, "keep one of them, or diaginertia with an orientation")
        return None
    if full is None:
        values = element.numbers("diaginertia", 3)
        return None if values is None else _matrix(np.diag(values))
    values = element.numbers("fullinertia", 6)
    if values is None:
        return None
    xx, yy, zz, xy, xz, yz = values
    return ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


def _error(element: Resolved, code: str, message: str, cure: str) -> None:
    element.owner.log.add("error", code, message, element.owner.at(element.own), cure=cure)


def _triple(vector: Array) -> Vector3:
    x, y, z = (float(value) for value in vector)
    return (x, y, z)


def _matrix(values: Array) -> Matrix3:
    return (_triple(values[0]), _triple(values[1]), _triple(values[2]))
