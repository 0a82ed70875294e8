"""Shapes as coal has them: convex solids first, and the surface behind a hull where the two differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.robot.body_poses import Capsules
from steelyard.robot.collision_shape import Shape

Array = NDArray[np.float64]
FLAT = 1e-3  # of the volume: a mesh that fills its hull to that is its hull
ROUNDING = 1e-9  # [m]
SIDES = 24  # of the prism around a cylinder


@dataclass(frozen=True)
class Solid:
    """A shape on a body.

    Attributes:
        body: 0 for the base, else 1 more than the index of the body.
        shape: in the frame of the body.
        hull: coal geometry, convex.
        surface: coal geometry of the mesh itself; None where the hull says all.
        corners, skin: points (C, 3) in the body frame and a radius [m] about them that hold it; no points for a plane.
        start, end, radius: capsule around it in the body frame [m]; of a plane a point and the normal, radius -1.
    """

    body: int
    shape: Shape
    hull: Any
    surface: Any
    corners: Array
    skin: float
    start: Array
    end: Array
    radius: float

    @property
    def name(self) -> str:
        """Of its link."""
        return self.shape.link


def solid_of(shape: Shape, body: int) -> Solid:
    """Prepare a shape in the frame of its body; raises ValueError for a mesh without any volume."""
    import coal

    R, p = shape.rotation, shape.translation
    if shape.kind == "plane":
        below = coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        return Solid(body, shape, below, None, np.zeros((0, 3)), 0.0, p, R[:, 2], -1.0)
    if shape.kind != "mesh":
        points, skin = _skeleton(shape)
        start, end, radius = _capsule(points) if len(points) > 2 else (points[0], points[-1], 0.0)
        return Solid(
            body, shape, _primitive(shape), None, p + points @ R.T, skin, p + R @ start, p + R @ end, radius + skin
        )
    points = shape.vertices @ R.T + p
    corners, faces, volume = _hull(points)
    start, end, radius = _capsule(corners)
    fills = _volume(points, shape.triangles) > (1.0 - FLAT) * volume
    own = replace(shape, rotation=np.eye(3), translation=np.zeros(3), vertices=points)
    surface = None if fills else _surface(points, shape.triangles)
    return Solid(body, own, _convex(corners, faces), surface, corners, 0.0, start, end, radius)


def capsules_of(solids: Sequence[Solid]) -> Capsules:
    """The capsules of all of them."""
    return Capsules(
        np.array([solid.body for solid in solids], dtype=np.int64),
        np.array([solid.start for solid in solids]).reshape(-1, 3),
        np.array([solid.end for solid in solids]).reshape(-1, 3),
        np.array([solid.radius for solid in solids], dtype=np.float64),
    )


def _primitive(shape: Shape) -> Any:
    import coal

    kinds = {"box": coal.Box, "sphere": coal.Sphere, "cylinder": coal.Cylinder, "capsule": coal.Capsule,
             "ellipsoid": coal.Ellipsoid}  # fmt: skip
    return kinds[shape.kind](*map(float, shape.size))


def _skeleton(shape: Shape) -> tuple[Array, float]:
    """Points of a primitive, in its own frame, and the radius about them that holds it."""
    if shape.kind == "box":
        signs = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T
        return signs * np.array(shape.size), 0.0
    if shape.kind in ("sphere", "ellipsoid"):
        return np.zeros((1, 3)), max(shape.size)
    radius, length = shape.size
    ends = np.array([[0.0, 0.0, -0.5 * length], [0.0, 0.0, 0.5 * length]])
    if shape.kind == "capsule":
        return ends, radius
    turn = np.linspace(0.0, 2.0 * np.pi, SIDES, endpoint=False)
    rim = radius / np.cos(np.pi / SIDES) * np.column_stack([np.cos(turn), np.sin(turn), 0.0 * turn])
    return np.concatenate([rim + end for end in ends]), 0.0


def _capsule(points: Array) -> tuple[Array, Array, float]:
    """The smallest of three capsules around points (V, 3), along their principal axes."""
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    found = [_capsule_along(points, np.roll(axes, -k, axis=0)) for k in range(3)]
    return min(found, key=lambda c: c[2] ** 2 * (np.linalg.norm(c[1] - c[0]) + 4.0 / 3.0 * c[2]))


def _capsule_along(points: Array, axes: Array) -> tuple[Array, Array, float]:
    """A capsule along the first of three orthonormal axes: no ball at an end reaches farther than it has to."""
    x = points @ axes.T
    middle = 0.5 * (x[:, 1:].min(axis=0) + x[:, 1:].max(axis=0))
    off = np.linalg.norm(x[:, 1:] - middle, axis=1)
    radius = float(off.max()) + ROUNDING
    cap = np.sqrt(radius**2 - off**2)
    low, high = float((x[:, 0] + cap).min()), float((x[:, 0] - cap).max())
    if low > high:  # a ball about any point between them holds all
        low = high = 0.5 * (low + high)
    start, end = (np.concatenate([[at], middle]) @ axes for at in (low, high))
    return start, end, radius


def _hull(points: Array) -> tuple[Array, NDArray[np.int64], float]:
    """Corners (C, 3), outward triangles (F, 3) and volume [m3] of the convex hull."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(points)
    except QhullError:
        raise ValueError("its points span no volume") from None
    corners = points[hull.vertices]
    place = np.zeros(len(points), dtype=np.int64)
    place[hull.vertices] = np.arange(len(corners))
    faces = place[hull.simplices]
    a, b, c = (corners[faces[:, k]] for k in range(3))
    inward = np.einsum("fc,fc->f", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return corners, faces, float(hull.volume)


def _volume(points: Array, triangles: NDArray[np.int64]) -> float:
    """Enclosed by a closed surface [m3], whichever way it is turned; nonsense for an open one."""
    a, b, c = (points[triangles[:, k]] - points.mean(axis=0) for k in range(3))
    return abs(float(np.einsum("fc,fc->", a, np.cross(b, c)) / 6.0))


def _surface(points: Array, triangles: NDArray[np.int64]) -> Any:
    import coal

    mesh = coal.BVHModelOBBRSS()
    mesh.beginModel(len(triangles), len(points))
    mesh.addVertices(points)
    mesh.addTriangles(triangles)
    mesh.endModel()
    return mesh


def _convex(corners: Array, faces: NDArray[np.int64]) -> Any:
    import coal

    points, triangles = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
    for corner in corners:
        points.append(corner)
    for face in faces.tolist():
        triangles.append(coal.Triangle(*face))
    return coal.Convex(points, triangles)
