"""Mass properties of an MJCF's geoms: what a body weighs that states no inertial of its own."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.robot.inertia import parameters_about_origin, transform
from steelyard.robot.mjcf_compiler import Compiler
from steelyard.robot.mjcf_defaults import Resolved
from steelyard.robot.mjcf_frame import Frame, read_frame, rotation_to
from steelyard.robot.strict_number import read_numbers, shown
from steelyard.robot.urdf_elements import LARGEST

Array = NDArray[np.float64]
WATER = 1000.0  # [kg/m3], the density of a geom that states none
_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "box": 3}
_KINDS = (*_SIZES, "mesh", "sdf", "plane", "hfield")
_NO_MASS = np.zeros(10)
_SHORTEST = 1e-15  # [m] between two points that give a direction, as in MuJoCo


@dataclass(frozen=True)
class Solid:
    """A homogeneous primitive: kind, three sizes as MuJoCo has them [m] (unused ones zero), and its frame."""

    kind: str
    size: tuple[float, float, float]
    frame: Frame

    @property
    def radius(self) -> float:
        """Of the ball about its centre that holds it [m]."""
        a, b, c = self.size
        radii = {"sphere": a, "capsule": a + b, "cylinder": math.hypot(a, b), "ellipsoid": max(a, b, c)}
        return radii.get(self.kind, math.hypot(a, b, c))

    @property
    def volume(self) -> float:
        """[m3]."""
        a, b, c = self.size
        ball, rod = 4.0 / 3.0 * math.pi * a**3, 2.0 * math.pi * a**2 * b
        volumes = {"sphere": ball, "capsule": ball + rod, "cylinder": rod, "ellipsoid": 4.0 / 3.0 * math.pi * a * b * c}
        return volumes.get(self.kind, 8.0 * a * b * c)

    def moments(self, mass: float) -> Array:
        """(3,) principal moments about its centre, along its own axes [kg m2]."""
        a, b, c = self.size
        if self.kind == "sphere":
            return np.full(3, 0.4 * mass * a**2)
        if self.kind in ("ellipsoid", "box"):
            share = mass / (5.0 if self.kind == "ellipsoid" else 3.0)
            return share * np.array([b**2 + c**2, a**2 + c**2, a**2 + b**2])
        rod = mass if self.kind == "cylinder" else mass * b / (b + 2.0 / 3.0 * a)
        ends = mass - rod  # two half balls, the centre of each 3/8 of the radius beyond the rod's end
        across = rod * (a**2 / 4.0 + b**2 / 3.0) + ends * (0.4 * a**2 + b**2 + 0.75 * a * b)
        return np.array([across, across, rod * a**2 / 2.0 + ends * 0.4 * a**2])


def read_solid(geom: Resolved, kind: str, compiler: Compiler, place: Frame) -> Solid | None:
    """The primitive of a geom that stands in the frame `place`, of a kind that `shape_of` gives.

    None for other shapes, and (an error) where its size cannot be read.
    """
    if kind not in _SIZES:
        return None
    span = geom.numbers("fromto", 6) if geom.holder("fromto") is not None else None
    if geom.holder("fromto") is not None and span is None:
        return None
    if span is not None and (kind == "sphere" or math.dist(span[:3], span[3:]) < _SHORTEST):
        message = f"fromto of {geom.owner.subject} gives a {kind} no length"
        _error(geom, "model.geometry", message, str(geom.text("fromto"))[:60], "write two points, or pos and size")
        return None
    size = _size(geom, kind, _SIZES[kind] if span is None else 1)
    if size is None:
        return None
    if span is None:
        return Solid(kind, _three(size), place.then(read_frame(geom, compiler)))
    line = np.array(span[:3]) - np.array(span[3:])
    length = float(np.linalg.norm(line))
    frame = Frame(rotation_to(line / length), (np.array(span[:3]) + np.array(span[3:])) / 2.0)
    across = size * (_SIZES[kind] - 1)  # as thick as it is wide: MuJoCo takes the first size for both
    return Solid(kind, _three((*across, length / 2.0)), place.then(frame))


def shape_of(geom: Resolved) -> str:
    """The kind of a geom; a primitive that is fitted to a mesh is a mesh."""
    kind = geom.choice("type", _KINDS)
    return "mesh" if geom.text("mesh") is not None else kind


def weigh(geom: Resolved, compiler: Compiler, place: Frame) -> Array:
    """(10,) parameters in the body frame; zeros where the geom has no mass, or (an error) it cannot be known.

    Args:
        geom: with its defaults.
        compiler: settings of the file.
        place: frame in which the geom stands, in the body frame.
    """
    kind, group = shape_of(geom), geom.number("group", default=0.0)
    counts = group is not None and compiler.groups[0] <= group <= compiler.groups[1]
    by_mass = geom.holder("mass") is not None
    amount = geom.number("mass" if by_mass else "density", default=WATER)
    if kind in ("plane", "hfield") or not counts or not amount:
        return _NO_MASS
    if amount < 0.0:
        message = f"the {'mass' if by_mass else 'density'} of {geom.owner.subject} is {amount:g}"
        cure = "it is positive, or zero for what is only seen: look for a slipped sign"
        _error(geom, "model.negative_mass", message, amount, cure)
        return _NO_MASS
    shell = geom.text("shellinertia") == "true"
    if kind in ("mesh", "sdf") or shell:
        message = (
            f"{geom.owner.subject} is {'a shell' if shell else 'a mesh, and meshes are never opened'}, "
            "but its body has no <inertial>: the mass would have to follow from it"
        )
        cure = "write an explicit <inertial pos mass fullinertia> in the body, or mass='0' for a geom that is only seen"
        _error(geom, "model.inertia_from_mesh", message, str(geom.text("mesh") or kind)[:60], cure)
        return _NO_MASS
    solid = read_solid(geom, kind, compiler, place)
    if solid is None:
        return _NO_MASS
    mass = amount if by_mass else amount * solid.volume
    own = parameters_about_origin(mass, np.zeros(3), np.diag(solid.moments(mass)))
    return transform(own, solid.frame.rotation, solid.frame.translation)


def _size(geom: Resolved, kind: str, count: int) -> tuple[float, ...] | None:
    """The first `count` of one to three sizes, all positive."""
    text = geom.text("size") or ""
    values = next((v for k in (1, 2, 3) if (v := read_numbers(text, k)) is not None), None)
    if values is not None and len(values) >= count and 0.0 < min(values[:count]) <= max(values[:count]) < LARGEST:
        return values[:count]
    message = f"the size of {geom.owner.subject} is {shown(text)}: a {kind} needs {count} positive numbers here"
    cure = "write radius, half length or half sides [m], in MuJoCo's order, with spaces between them"
    _error(geom, "model.number_unreadable", message, text[:60], cure)
    return None


def _error(geom: Resolved, code: str, message: str, value: float | str, cure: str) -> None:
    geom.owner.log.add("error", code, message, geom.owner.at(geom.own), value=value, cure=cure)


def _three(size: tuple[float, ...]) -> tuple[float, float, float]:
    a, b, c = (*size, 0.0, 0.0)[:3]
    return (a, b, c)
