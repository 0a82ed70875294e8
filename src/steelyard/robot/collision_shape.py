"""Shapes that can collide: those of a robot's links, and obstacles around it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.robot.inertia import rotation_rpy

Array = NDArray[np.float64]
Kind = Literal["box", "sphere", "cylinder", "capsule", "ellipsoid", "plane", "mesh"]
SIZES: Mapping[str, int] = {"box": 3, "sphere": 1, "cylinder": 2, "capsule": 2, "ellipsoid": 3, "plane": 0}
OBSTACLES = ("box", "sphere", "cylinder", "plane")
FARTHEST = 1e3  # [m]; an obstacle farther away, or larger, was given in other units


@dataclass(frozen=True)
class Shape:
    """A solid in the frame of a link.

    Attributes:
        link: that carries it; for obstacles their own name.
        kind: a plane is all that lies below it; a mesh is a surface.
        size: sides of a box, radius of a sphere, radius and length along z of a cylinder (and of the straight part of
            a capsule), half axes of an ellipsoid [m]; nothing for planes and meshes.
        rotation, translation: (3, 3) and (3,) [m], its own frame in that of the link; the z axis of a plane points
            away from what is forbidden.
        vertices, triangles: (V, 3) [m] and (F, 3) indices of a mesh, in its own frame; else empty.
    """

    link: str
    kind: Kind
    size: tuple[float, ...]
    rotation: Array
    translation: Array
    vertices: Array = field(default_factory=lambda: np.zeros((0, 3)))
    triangles: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))


@dataclass(frozen=True)
class Obstacle:
    """Something that stands still around the robot.

    Attributes:
        name: for messages.
        kind: box, sphere, cylinder or plane, such as a table top or a wall: all that lies below it is forbidden.
        size: three sides of a box, radius of a sphere, radius and length of a cylinder along its z axis [m]; nothing
            for a plane.
        position: (3,) of its centre, or of any point of a plane, in the frame of the robot's base [m].
        rpy: (3,) its orientation, fixed-axis roll, pitch, yaw [rad]; a plane looks along its own z axis.

    Raises:
        StudyError: another kind, or numbers that cannot be.
    """

    name: str
    kind: Literal["box", "sphere", "cylinder", "plane"]
    size: tuple[float, ...] = ()
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        where = f"obstacle {self.name}"
        if self.kind not in OBSTACLES:
            raise StudyError("not a kind of obstacle", where=where, value=self.kind, choices=OBSTACLES)
        count, values = SIZES[self.kind], np.asarray(self.size, dtype=np.float64)
        if values.shape != (count,) or not (np.isfinite(values).all() and (values > 0.0).all()):
            raise StudyError(
                f"a {self.kind} has {count} sizes, positive numbers in metres", where=where, value=self.size
            )
        place = np.concatenate([np.ravel(self.position), np.ravel(self.rpy)])
        if place.shape != (6,) or not np.isfinite(place).all():
            raise StudyError("position and rpy are three finite numbers each", where=where, value=place.tolist())
        if max(np.abs(place[:3]).max(), values.max(initial=0.0)) > FARTHEST:
            raise StudyError("it is a kilometre large or away", where=where, value=self.size, cure="give metres")

    @property
    def shape(self) -> Shape:
        """The same as a shape that stands on the base."""
        return Shape(self.name, self.kind, tuple(self.size), rotation_rpy(np.array(self.rpy)), np.array(self.position))


def box_of_inertia(link: str, parameters: Array) -> Shape | None:
    """The homogeneous box that has a link's mass, centre and inertia; None where the inertia is not that of a body.

    A box of sides a, b, c has `I_x = m / 12 (b^2 + c^2)`, so that `a^2 = 6 / m (I_y + I_z - I_x)`.

    Args:
        link: name.
        parameters: (10,) about the link's own origin.
    """
    mass = float(parameters[0])
    if not mass > 0.0:
        return None
    c = parameters[1:4] / mass
    xx, xy, yy, xz, yz, zz = parameters[4:]
    central = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) - mass * ((c @ c) * np.eye(3) - np.outer(c, c))
    moments, axes = np.linalg.eigh(central)
    squares = 6.0 / mass * (moments.sum() - 2.0 * moments)
    if not squares.min() > 0.0:
        return None
    if np.linalg.det(axes) < 0.0:
        axes = axes * np.array([1.0, 1.0, -1.0])
    return Shape(link, "box", tuple(float(s) for s in np.sqrt(squares)), axes, c)
