"""Distances along a motion that changes little by little, as its design needs them: fast, smooth and never too large.

For each pair that is near in a pose, coal gives the direction n between the nearest points once. Kept in the frame of
the first solid, `s = min n . p (second) - max n . p (first)` exceeds the true distance for no direction, is equal to it
where n was taken, and costs a few hundred products. As long as the joints have not moved far enough for a pair to come
near, it is not looked at at all.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from steelyard.robot.allowed_pairs import sampled_positions
from steelyard.robot.body_poses import Poses, body_poses, capsule_gap, capsule_gaps
from steelyard.robot.collision import CollisionModel
from steelyard.robot.pair_distance import PairDistance
from steelyard.robot.pair_lever import moved_by
from steelyard.robot.solid import Solid
from steelyard.robot.tree import PRISMATIC

Array = NDArray[np.float64]
Index = NDArray[np.int64]
BETWEEN = 5e-3  # [m] that pairs come nearer between the samples of a design
STALE = 1e-2  # [m] a pair may have moved before its direction is taken anew
FRESH = 1e-4  # [rad or m] within which a direction is as good as one taken here
AROUND = 0.05  # [m] beyond being near, a direction is taken already
FAR = 0.01  # [m] beyond being near, from where on a pair is known to be far
TRIED = 300  # poses for what is usual
SLACK = 1e-3  # [m] below its usual distance that a pair is let which is always near
LEAST = 2e-3  # [m] between `lower` and `upper`


class Near(NamedTuple):
    """C pairs that are near each other: the pose (C,), the pair (C,), distance (C,) [m], its derivatives (C, n)."""

    pose: Index
    pair: Index
    distance: Array
    gradient: Array


class _Known(NamedTuple):
    """What is known of each pair in each pose, (K, P, ..).

    A distance, or a bound of it, and the positions where it was taken; where there is a direction, that in the frame
    of the first solid's body, and how far the first solid reaches along it.
    """

    directed: NDArray[np.bool_]
    distance: Array
    at: Array
    normal: Array
    reach: Array


class _Pairs(NamedTuple):
    """P pairs of solids: their bodies, points of the second with the skin about them, and what moves them."""

    order: Index
    first: Index
    second: Index
    start: Index
    corners: Array
    skin: Array
    lever: Array
    moved: Array


class Separation:
    """Distances of all pairs along a motion of K poses.

    Attributes:
        lower, upper: (P,) [m]; a pair is near below `upper` and too near below `lower`: the distance to keep and a
            little more, or a little less than is usual where two links are always that near.
    """

    def __init__(
        self, model: CollisionModel, poses: int, *, within: float, between: float = BETWEEN, seed: int = 0
    ) -> None:
        """Prepare.

        Args:
            model: what can collide.
            poses: K.
            within: [m] pairs nearer than this are near, unless they usually are.
            between: [m] by how much a pair may come nearer between two poses.
            seed: of the poses tried for what is usual.
        """
        solids = model.solids
        swapped = [bool(solids[b].radius < 0.0) for _, b in model.pairs]
        order = np.array([(b, a) if s else (a, b) for s, (a, b) in zip(swapped, model.pairs, strict=True)],
                               dtype=np.int64).reshape(-1, 2)  # fmt: skip
        self._model, self._solver = model, PairDistance(solids, order)
        one, other = ([solids[s] for s in side] for side in order.T)
        count, n = len(order), len(model.robot.joint_names)
        self._pairs = _Pairs(
            order=order,
            first=np.array([s.body for s in one], dtype=np.int64),
            second=np.array([s.body for s in other], dtype=np.int64),
            start=np.cumsum([0, *(len(s.corners) for s in other)]).astype(np.int64),
            corners=np.ascontiguousarray(np.concatenate([np.zeros((0, 3)), *(s.corners for s in other)]).T),
            skin=np.array([s.skin for s in other]),
            lever=model.levers,
            moved=np.array([moved_by(model.robot, a.body, b.body) for a, b in zip(one, other, strict=True)]).reshape(
                count, model.robot.tree.bodies
            ),
        )
        self._known = _Known(
            np.zeros((poses, count), dtype=np.bool_), np.full((poses, count), -np.inf), np.zeros((poses, count, n)),
            np.zeros((poses, count, 3)), np.zeros((poses, count)),
        )  # fmt: skip
        self.lower, self.upper = self._usual(within, between, seed)

    def near(self, q: Array) -> Near:
        """All pairs below their `upper` at positions q (K, n)."""
        robot = self._model.robot
        poses = body_poses(robot, q)
        found = np.empty(self._known.distance.shape)
        due = np.zeros(found.shape, dtype=np.bool_)
        look = partial(_look, q, poses, self._model.capsules, self._pairs, self._known, self.lower, self.upper, found)
        look(due)
        if due.any():
            self._renew(q, poses, due)
            look(due)
        doubtful = (found < self.lower) & (np.abs(self._known.at - q[:, None]).max(axis=2) > FRESH)
        if doubtful.any():  # a bound from elsewhere calls too near what is not: descents would stop
            self._renew(q, poses, doubtful)
            look(due)
        index = np.argwhere(found < self.upper)
        gradient = np.zeros((len(index), q.shape[1]))
        _derive(robot.tree, poses, self._pairs, self._known, index, gradient)
        return Near(index[:, 0], index[:, 1], found[index[:, 0], index[:, 1]], gradient)

    def _renew(self, q: Array, poses: Poses, due: NDArray[np.bool_]) -> None:
        """Take distances and directions where they are due."""
        known, order = self._known, self._pairs.order
        for k in np.flatnonzero(due.any(axis=1)).tolist():
            self._solver.place(poses, k)
            for p in np.flatnonzero(due[k]).tolist():
                witness = self._solver.witness(p)
                known.at[k, p], known.distance[k, p], known.directed[k, p] = q[k], witness.distance, True
                rotation = poses.rotation[k, self._pairs.first[p]]
                apart = witness.distance if witness.distance != 0.0 else np.inf
                known.normal[k, p] = (witness.second - witness.first) @ rotation / apart
                known.reach[k, p] = _reach(self._model.solids[order[p, 0]], known.normal[k, p])

    def _usual(self, within: float, between: float, seed: int) -> tuple[Array, Array]:
        """`lower` and `upper`, from distances in poses drawn at random."""
        required = self._model.required
        poses = body_poses(self._model.robot, sampled_positions(self._model.robot, TRIED, seed))
        distance = capsule_gaps(poses, self._model.capsules, self._pairs.order)
        for k in range(TRIED):
            self._solver.place(poses, k)
            for p in np.flatnonzero(distance[k] < within).tolist():
                distance[k, p] = self._solver.hull(p)
        least, middle = distance.min(axis=0), np.median(distance, axis=0)
        usual = (least > 0.0) & (middle < within)
        lower = np.where(usual, np.minimum(required, least - SLACK), required + between)
        return lower, np.maximum(np.minimum(within, middle), lower + LEAST)


def _reach(solid: Solid, normal: Array) -> float:
    """How far a solid reaches along a direction, both in the frame of its body."""
    points = solid.start[None] if solid.radius < 0.0 else solid.corners
    return float((points @ normal).max()) + solid.skin


@numba.njit(cache=True)
def _look(
    q: Any, poses: Any, capsules: Any, pairs: Any, known: Any, lower: Any, upper: Any, found: Any, due: Any
) -> None:
    """Distances (K, P), infinite where a pair is known not to be near; `due` where they have to be taken anew."""
    world, own, ends = np.zeros(3), np.zeros(3), np.zeros((4, 3))
    for k in range(found.shape[0]):
        for p in range(found.shape[1]):
            moved = 0.0
            for j in range(q.shape[1]):
                moved += pairs.lever[p, j] * abs(q[k, j] - known.at[k, p, j])
            found[k, p], due[k, p] = np.inf, False
            if known.distance[k, p] - moved >= upper[p]:
                continue
            if not known.directed[k, p]:
                gap = capsule_gap(poses, capsules, k, pairs.order[p, 0], pairs.order[p, 1], ends)
                due[k, p] = gap < upper[p] + AROUND
                _note(known, k, p, gap, q)
                continue
            _turn(poses, pairs, known, k, p, world, own)
            a, b = pairs.first[p], pairs.second[p]
            least = _lowest(pairs.corners, pairs.start[p], pairs.start[p + 1], own[0], own[1], own[2])
            for c in range(3):
                least += world[c] * (poses.origin[k, b, c] - poses.origin[k, a, c])
            found[k, p] = least - pairs.skin[p] - known.reach[k, p]
            if found[k, p] >= upper[p] + FAR:
                _note(known, k, p, found[k, p], q)
            due[k, p] = found[k, p] < 0.5 * (lower[p] + upper[p]) and moved > STALE


@numba.njit(cache=True)
def _note(known: Any, k: int, p: int, distance: float, q: Any) -> None:
    """From here the pair has to move before it is looked at again."""
    known.distance[k, p] = distance
    for j in range(q.shape[1]):
        known.at[k, p, j] = q[k, j]


@numba.njit(cache=True)
def _turn(poses: Any, pairs: Any, known: Any, k: int, p: int, world: Any, own: Any) -> None:
    """The direction in the base frame and in that of the second solid's body."""
    for c in range(3):
        world[c] = 0.0
        for d in range(3):
            world[c] += poses.rotation[k, pairs.first[p], c, d] * known.normal[k, p, d]
    for c in range(3):
        own[c] = 0.0
        for d in range(3):
            own[c] += poses.rotation[k, pairs.second[p], d, c] * world[d]


@numba.njit(cache=True, fastmath=True)
def _lowest(corners: Any, start: int, end: int, x: float, y: float, z: float) -> float:
    least = 1e300
    for i in range(start, end):
        least = min(least, x * corners[0, i] + y * corners[1, i] + z * corners[2, i])
    return least


@numba.njit(cache=True)
def _derive(tree: Any, poses: Any, pairs: Any, known: Any, index: Any, gradient: Any) -> None:
    """Derivatives (C, n): `n . (a x (p - o))` for joints that move the second against the first, p its point."""
    normal, own, point, axis, arm = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    for entry in range(index.shape[0]):
        k, p = index[entry, 0], index[entry, 1]
        if not known.directed[k, p]:
            continue
        _turn(poses, pairs, known, k, p, normal, own)
        at, least = 0, np.inf
        for i in range(pairs.start[p], pairs.start[p + 1]):
            along = own[0] * pairs.corners[0, i] + own[1] * pairs.corners[1, i] + own[2] * pairs.corners[2, i]
            if along < least:
                at, least = i, along
        for c in range(3):
            point[c] = poses.origin[k, pairs.second[p], c]
            for d in range(3):
                point[c] += poses.rotation[k, pairs.second[p], c, d] * pairs.corners[d, at]
        for i in range(tree.parent.shape[0]):
            sign = pairs.moved[p, i] * tree.ratio[i]
            if sign == 0.0:
                continue
            for c in range(3):
                axis[c] = 0.0
                for d in range(3):
                    axis[c] += poses.rotation[k, i + 1, c, d] * tree.axis[i, d]
                arm[c] = point[c] - poses.origin[k, i + 1, c]
            speed = 0.0
            for c in range(3):
                e, f = (c + 1) % 3, (c + 2) % 3
                turned = axis[c] if tree.kind[i] == PRISMATIC else axis[e] * arm[f] - axis[f] * arm[e]
                speed += normal[c] * turned
            gradient[entry, tree.row[i]] += sign * speed
