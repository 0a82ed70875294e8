"""Distances of pairs of solids in one pose, asked of coal: of their hulls, and of the surfaces where those matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.robot.body_poses import Poses
from steelyard.robot.solid import Solid

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Witness(NamedTuple):
    """Distance [m], negative for overlap, and the two points it is taken between, in the base frame."""

    distance: float
    first: Array
    second: Array


class PairDistance:
    """The solvers of all pairs; one thread only, as coal keeps its result in it."""

    def __init__(self, solids: Sequence[Solid], pairs: Index) -> None:
        import coal

        self._solids, self._pairs, self._frame = solids, pairs, coal.Transform3s
        self._request, self._result = coal.DistanceRequest(), coal.DistanceResult()
        self._request.enable_signed_distance = True
        self._hulls = [coal.ComputeDistance(solids[a].hull, solids[b].hull) for a, b in pairs]
        self._surfaces = [_surface_solver(solids[a], solids[b]) for a, b in pairs]
        self._known: dict[int, Any] = {}
        self._at: tuple[Array, Array] = (np.zeros((0, 3, 3)), np.zeros((0, 3)))

    def place(self, poses: Poses, k: int) -> None:
        """Ask about pose k from now on."""
        self._at = (poses.rotation[k], poses.origin[k])
        self._known.clear()

    def hull(self, pair: int) -> float:
        """Distance of the convex hulls [m], negative where they overlap."""
        a, b = self._pairs[pair]
        self._result.clear()
        return float(self._hulls[pair](self._of(a), self._of(b), self._request, self._result))

    def witness(self, pair: int) -> Witness:
        """The same with its points."""
        distance = self.hull(pair)
        return Witness(distance, self._result.getNearestPoint1().copy(), self._result.getNearestPoint2().copy())

    def differs(self, pair: int) -> bool:
        """Whether a surface tells more than the hulls."""
        return self._surfaces[pair] is not None

    def surface(self, pair: int) -> float:
        """Distance of the surfaces [m], not above zero where they cut each other."""
        a, b = self._pairs[pair]
        self._result.clear()
        return float(self._surfaces[pair](self._of(a), self._of(b), self._request, self._result))

    def _of(self, index: int) -> Any:
        frame = self._known.get(index)
        if frame is None:
            solid = self._solids[index]
            R, p = self._at[0][solid.body], self._at[1][solid.body]
            if solid.shape.kind != "mesh":  # points of meshes are in the frame of their body already
                R, p = R @ solid.shape.rotation, p + R @ solid.shape.translation
            frame = self._known[index] = self._frame(R, p)
        return frame


def _surface_solver(first: Solid, second: Solid) -> Any:
    import coal

    if (first.surface is None and second.surface is None) or "plane" in (first.shape.kind, second.shape.kind):
        return None
    one, other = (solid.hull if solid.surface is None else solid.surface for solid in (first, second))
    return coal.ComputeDistance(one, other)
