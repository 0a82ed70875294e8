"""Where a link can have mass: points around its collision geometry, and the smallest ellipsoid around points."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.estimate.body_limits import Ellipsoid
from steelyard.robot.collision_shape import Shape

Array = NDArray[np.float64]
ROUNDS = 10_000
EXACT = 1e-4  # of the size of the ellipsoid


def hull_points(shapes: Iterable[Shape]) -> dict[str, Array]:
    """By link, points (k, 3) [m] in its frame whose convex hull holds its shapes: vertices of meshes, corners of boxes
    around the others. For `BodyLimits.hull`.
    """
    found: dict[str, list[Array]] = {}
    for shape in shapes:
        points = shape.vertices if shape.kind == "mesh" else _corners(shape)
        if len(points):
            found.setdefault(shape.link, []).append(points @ shape.rotation.T + shape.translation)
    return {link: np.vstack(parts) for link, parts in found.items()}


def enclosing_ellipsoid(points: Array) -> Ellipsoid:
    """The ellipsoid of least volume around points (k, 3) [m] that do not lie in a plane; for `BodyLimits.ellipsoid`.

    Khachiyan's ascent on the weights u of the points: the ellipsoid is `(x - c)'(3 (P'UP - cc'))^-1(x - c) <= 1`.

    Raises:
        StudyError: points that lie in a plane, or fewer than four.
    """
    points = np.asarray(points, dtype=np.float64)
    flat = points.ndim != 2 or points.shape[-1] != 3 or len(points) < 4 or not np.isfinite(points).all()
    if flat or np.linalg.matrix_rank(points - points[0], tol=1e-9) < 3:
        raise StudyError("an ellipsoid needs points (k, 3) [m] that do not lie in a plane", value=points.shape)
    lifted = np.column_stack([points, np.ones(len(points))])
    u = np.full(len(points), 1.0 / len(points))
    for _ in range(ROUNDS):
        reach = np.einsum("ki,ij,kj->k", lifted, np.linalg.inv((lifted.T * u) @ lifted), lifted)
        far = int(np.argmax(reach))
        if reach[far] <= 4.0 * (1.0 + EXACT):
            break
        step = (reach[far] - 4.0) / (4.0 * (reach[far] - 1.0))
        u *= 1.0 - step
        u[far] += step
    centre = u @ points
    values, axes = np.linalg.eigh(3.0 * ((points.T * u) @ points - np.outer(centre, centre)))
    half = axes * np.sqrt(values)
    outermost = float(np.linalg.norm(np.linalg.solve(half, (points - centre).T), axis=0).max())
    return Ellipsoid(centre, half * max(outermost, 1.0))


def _corners(shape: Shape) -> Array:
    """Eight corners of the box around a primitive, in its own frame; none of a plane."""
    if shape.kind == "plane":
        return np.zeros((0, 3))
    size = shape.size
    half = {
        "box": lambda: [0.5 * side for side in size],
        "sphere": lambda: [size[0]] * 3,
        "cylinder": lambda: [size[0], size[0], 0.5 * size[1]],
        "capsule": lambda: [size[0], size[0], 0.5 * size[1] + size[0]],
        "ellipsoid": lambda: list(size),
    }[shape.kind]()
    signs = np.array(np.meshgrid([-1.0, 1.0], [-1.0, 1.0], [-1.0, 1.0])).reshape(3, -1).T
    return np.asarray(signs * np.array(half))
