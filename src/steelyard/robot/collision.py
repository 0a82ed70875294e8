"""Distances of a robot to itself and to what stands around it, with bounds over ranges of positions.

Capsules around the shapes tell which pairs can be near; those are asked of coal, convex hulls first. Where a hull comes
nearer than is required and its mesh does not fill it, the meshes themselves are measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from steelyard.finding import Finding
from steelyard.robot.allowed_pairs import AllowedPair
from steelyard.robot.body_poses import Capsules, body_poses, capsule_gaps
from steelyard.robot.pair_distance import PairDistance
from steelyard.robot.pair_lever import pair_lever
from steelyard.robot.robot import Robot
from steelyard.robot.solid import Solid, capsules_of

Array = NDArray[np.float64]
Index = NDArray[np.int64]
SOLVER = 5e-6  # [m] coal's distances are that exact
SMALL = 5e-4  # [m] where a pair can move no more than this, its meshes are worth the time


@dataclass(frozen=True)
class CollisionModel:
    """What can collide; made by `collision_model`.

    Attributes:
        robot: whose positions are asked about.
        solids: shapes of the robot, and obstacles.
        pairs: (P, 2) indices of the solids that are held apart.
        required: distance to keep [m].
        allowed: pairs of links that are not, each with the reason.
        findings: what could not be had.
        unchecked: in words.
    """

    robot: Robot
    solids: tuple[Solid, ...]
    pairs: Index
    required: float
    allowed: tuple[AllowedPair, ...]
    findings: tuple[Finding, ...]
    unchecked: tuple[str, ...]

    @cached_property
    def levers(self) -> Array:
        """(P, n) by how much the distance of a pair changes at most per unit of each joint [m/rad or 1]."""
        rows = [pair_lever(self.robot, self.solids[a], self.solids[b]) for a, b in self.pairs]
        return np.array(rows).reshape(len(self.pairs), len(self.robot.joint_names))

    def distance(self, q: Array, travel: Array | None = None, *, far: float = np.inf) -> Array:
        """(M,) smallest distance at positions q, or what it is at least at all positions within `travel` of them.

        Args:
            q: (M, n) [rad or m].
            travel: (M, n) [rad or m]; none where not given.
            far: [m] distances beyond it are given as it, and cost nothing.
        """
        poses = body_poses(self.robot, q)
        moved = np.zeros((len(q), len(self.pairs))) if travel is None else travel @ self.levers.T
        least = capsule_gaps(poses, self.capsules, self.pairs) - moved
        found = np.full(len(q), far)
        for k in range(len(q)):
            self._solver.place(poses, k)
            for p in np.argsort(least[k]).tolist():
                if least[k, p] >= found[k]:
                    break
                found[k] = min(found[k], self._apart(p, moved[k, p]) - moved[k, p] - SOLVER)
        return found

    def nearest(self, q: Array) -> str:
        """Names of the two that are nearest to each other at positions q (n,)."""
        poses = body_poses(self.robot, q[None])
        self._solver.place(poses, 0)
        pair = min(range(len(self.pairs)), key=lambda p: self._apart(p, 0.0), default=None)
        return "robot" if pair is None else " - ".join(self.solids[s].name for s in self.pairs[pair])

    def _apart(self, pair: int, moved: float) -> float:
        """Distance of a pair where the solver is [m]: of its hulls, or of its surfaces where that matters."""
        distance = self._solver.hull(pair)
        sure = distance - SOLVER
        close = sure < self.required or (moved < SMALL and sure - moved < self.required)
        if close and self._solver.differs(pair):
            surfaces = self._solver.surface(pair)
            return surfaces if surfaces > 0.0 else min(distance, 0.0)
        return distance

    @cached_property
    def capsules(self) -> Capsules:
        """One around each solid."""
        return capsules_of(self.solids)

    @cached_property
    def _solver(self) -> PairDistance:
        return PairDistance(self.solids, self.pairs)
