"""Where the bodies of a robot are in many poses at once, and how far apart capsules on them are at least."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from steelyard.errors import ModelError
from steelyard.robot.robot import Robot
from steelyard.robot.tree import PRISMATIC

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class Poses(NamedTuple):
    """Frames of the base (entry 0) and of the N bodies behind it, in the base frame.

    Attributes:
        rotation: (M, N + 1, 3, 3).
        origin: (M, N + 1, 3) [m].
    """

    rotation: Array
    origin: Array


class Capsules(NamedTuple):
    """A ball swept along a line, one a shape, in the frame of its body.

    Attributes:
        body: (S,) entry of `Poses`.
        start, end: (S, 3) ends of the line [m]; of a plane a point and its normal.
        radius: (S,) [m], negative for planes.
    """

    body: Index
    start: Array
    end: Array
    radius: Array


def body_poses(robot: Robot, q: Array) -> Poses:
    """The frames of all bodies at positions q (M, n) [rad or m].

    Raises:
        ModelError: the base floats.
    """
    if robot.floating:
        raise ModelError("positions in space are for robots whose base stands", where=robot.name)
    q = np.ascontiguousarray(q, dtype=np.float64)
    rotation = np.empty((len(q), robot.tree.bodies + 1, 3, 3))
    origin = np.empty((len(q), robot.tree.bodies + 1, 3))
    _place(robot.tree, q, rotation, origin)
    return Poses(rotation, origin)


def point_motion(robot: Robot, poses: Poses, dq: Array, body: int, point: Array) -> tuple[Array, Array]:
    """Place and velocity (M, 3) in the base frame [m, m/s] of a point (3,) of a body, -1 for the base, at rates (M, n).

    `v = sum_i dq_i a_i x (p - o_i)` over the joints that carry the body, `dq_i a_i` for those that slide.
    """
    tree = robot.tree
    place = poses.origin[:, body + 1] + poses.rotation[:, body + 1] @ point
    velocity = np.zeros_like(place)
    i = body
    while i >= 0:
        axis = poses.rotation[:, i + 1] @ tree.axis[i]
        turned = axis if tree.kind[i] == PRISMATIC else np.cross(axis, place - poses.origin[:, i + 1])
        velocity += tree.ratio[i] * dq[:, [int(tree.row[i])]] * turned
        i = int(tree.parent[i])
    return place, velocity


def capsule_gaps(poses: Poses, capsules: Capsules, pairs: Index) -> Array:
    """(M, P) distances of the capsules of each pair (P, 2) [m], negative where they overlap."""
    gaps = np.empty((len(poses.origin), len(pairs)))
    _gaps(poses, capsules, pairs, gaps)
    return gaps


@numba.njit(cache=True)
def _place(tree: Any, q: Any, rotation: Any, origin: Any) -> None:
    for k in range(q.shape[0]):
        for c in range(3):
            origin[k, 0, c] = 0.0
            for d in range(3):
                rotation[k, 0, c, d] = 1.0 if c == d else 0.0
        for i in range(tree.parent.shape[0]):
            up = tree.parent[i] + 1
            x = tree.ratio[i] * q[k, tree.row[i]] + tree.offset[i]
            slides = tree.kind[i] == PRISMATIC
            s, co = np.sin(x), np.cos(x)
            for c in range(3):
                total = origin[k, up, c]
                for d in range(3):
                    along = tree.translation[i, d]
                    if slides:
                        for e in range(3):
                            along += tree.fixed[i, 3 * d + e] * tree.axis[i, e] * x
                    total += rotation[k, up, c, d] * along
                origin[k, i + 1, c] = total
            for c in range(3):
                for d in range(3):
                    total = 0.0
                    for e in range(3):
                        m = 3 * e + d
                        turned = (
                            tree.fixed[i, m]
                            if slides
                            else tree.constant[i, m] + s * tree.sine[i, m] + co * tree.cosine[i, m]
                        )
                        total += rotation[k, up, c, e] * turned
                    rotation[k, i + 1, c, d] = total


@numba.njit(cache=True)
def _gaps(poses: Any, capsules: Any, pairs: Any, gaps: Any) -> None:
    ends = np.empty((4, 3))
    for k in range(gaps.shape[0]):
        for i in range(pairs.shape[0]):
            gaps[k, i] = capsule_gap(poses, capsules, k, pairs[i, 0], pairs[i, 1], ends)


@numba.njit(cache=True)
def capsule_gap(poses: Any, capsules: Any, k: int, a: int, b: int, ends: Any) -> float:
    """Distance of two capsules in pose k; `ends` (4, 3) is room to work in."""
    for side in range(2):
        s = a if side == 0 else b
        body = capsules.body[s]
        for c in range(3):
            p = poses.origin[k, body, c]
            start, end = p, 0.0 if capsules.radius[s] < 0.0 else p
            for d in range(3):
                start += poses.rotation[k, body, c, d] * capsules.start[s, d]
                end += poses.rotation[k, body, c, d] * capsules.end[s, d]
            ends[2 * side, c], ends[2 * side + 1, c] = start, end
    ra, rb = capsules.radius[a], capsules.radius[b]
    if ra < 0.0:
        return _above(ends[0], ends[1], ends[2], ends[3]) - rb
    if rb < 0.0:
        return _above(ends[2], ends[3], ends[0], ends[1]) - ra
    return _between(ends[0], ends[1], ends[2], ends[3]) - ra - rb


@numba.njit(cache=True)
def _above(point: Any, normal: Any, start: Any, end: Any) -> float:
    """Height of the lower end of a line over a plane."""
    first, last = 0.0, 0.0
    for c in range(3):
        first += normal[c] * (start[c] - point[c])
        last += normal[c] * (end[c] - point[c])
    return min(first, last)


@numba.njit(cache=True)
def _between(p1: Any, q1: Any, p2: Any, q2: Any) -> float:
    """Distance of two line segments (Ericson, Real-Time Collision Detection, 2004, 5.1.9)."""
    a = e = b = c = f = 0.0
    for i in range(3):
        u, v, w = q1[i] - p1[i], q2[i] - p2[i], p1[i] - p2[i]
        a, e, b, c, f = a + u * u, e + v * v, b + u * v, c + u * w, f + v * w
    tiny = 1e-18
    s = t = 0.0
    if a > tiny:
        if e <= tiny:
            s = min(1.0, max(0.0, -c / a))
        else:
            denominator = a * e - b * b
            if denominator > 1e-12 * a * e:
                s = min(1.0, max(0.0, (b * f - c * e) / denominator))
            t = (b * s + f) / e
            if t < 0.0:
                t, s = 0.0, min(1.0, max(0.0, -c / a))
            elif t > 1.0:
                t, s = 1.0, min(1.0, max(0.0, (b - c) / a))
    elif e > tiny:
        t = min(1.0, max(0.0, f / e))
    total = 0.0
    for i in range(3):
        gap = p1[i] + s * (q1[i] - p1[i]) - p2[i] - t * (q2[i] - p2[i])
        total += gap * gap
    return float(np.sqrt(total))
