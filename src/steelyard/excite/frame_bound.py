"""Speed and place of a point in the design of a motion: kept at its samples, a little inside the limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.excite.features import States
from steelyard.excite.frame_limit import FrameLimit
from steelyard.robot.body_poses import body_poses
from steelyard.robot.robot import Robot
from steelyard.robot.tree import PRISMATIC

Array = NDArray[np.float64]
INSIDE = 0.98  # of a speed limit
WALL = 5e-3  # [m] to keep from the sides of a box
PUSH = 0.1  # [m] from where on a side pushes, or a quarter of the box


class _Joint(NamedTuple):
    """A joint that carries the point: coordinate, ratio, whether it slides, axis and what a unit of speed gives it."""

    row: int
    ratio: float
    slides: bool
    axis: Array
    arm: Array


class FrameBound:
    """Keeps a point's speed and box: a `Bound` of `objective`.

    Rooms are `1 - (|v| / speed)^2`, and the distance from each side of the box over that from which on it pushes.

    Raises:
        StudyError: no such link, or one that does not move.
    """

    def __init__(self, robot: Robot, limit: FrameLimit) -> None:
        links = {link.name: link for link in robot.links if link.body >= 0}
        if limit.link not in links:
            raise StudyError("not a link that moves", where="frame limits", value=limit.link, choices=tuple(links))
        link = links[limit.link]
        self._robot, self._body = robot, link.body
        self._point = link.translation + link.rotation @ np.array(limit.point)
        self._speed = INSIDE * limit.speed
        lower, upper = np.array(limit.lower) + WALL, np.array(limit.upper) - WALL
        self._signs = np.concatenate([np.ones(3), -np.ones(3)])
        self._sides = np.concatenate([lower, upper])
        self._push = np.tile(np.minimum(PUSH, 0.25 * (upper - lower)), 2)
        self._finite = np.isfinite(self._sides)
        self._velocity: Array = np.zeros((0, 3))
        self._chain: list[_Joint] = []
        self._dq: Array = np.zeros((0, 0))

    def room(self, states: States) -> Array:
        """Rooms of all samples: of the speed if it is limited, then of each side that is finite."""
        tree, poses = self._robot.tree, body_poses(self._robot, states.q)
        place = poses.origin[:, self._body + 1] + poses.rotation[:, self._body + 1] @ self._point
        self._chain, self._dq, i = [], states.v, self._body
        self._velocity = np.zeros_like(place)
        while i >= 0:
            axis, slides = poses.rotation[:, i + 1] @ tree.axis[i], bool(tree.kind[i] == PRISMATIC)
            arm = axis if slides else np.cross(axis, place - poses.origin[:, i + 1])
            joint = _Joint(int(tree.row[i]), float(tree.ratio[i]), slides, axis, arm)
            self._velocity = self._velocity + self._rate(joint) * arm
            self._chain.append(joint)
            i = int(tree.parent[i])
        rooms = [(np.tile(place, 2) - self._sides)[:, k] * self._signs[k] / self._push[k] for k in self._kept]
        if np.isfinite(self._speed):
            rooms.insert(0, 1.0 - np.sum(self._velocity**2, axis=1) / self._speed**2)
        return np.concatenate(rooms)

    def pull(self, weights: Array, rates: Array) -> None:
        """Add the derivatives of `weights @ room` to rates (n, 3, K).

        With `v = sum dq_i a_i x (p - o_i)`, `dv/dq_k = a_k x (sum_{i >= k} ..) + w_{<k} x (a_k x (p - o_k))`.
        """
        parts = weights.reshape(-1, len(self._velocity))
        by_speed, by_place = np.zeros_like(self._velocity), np.zeros_like(self._velocity)
        if np.isfinite(self._speed):
            by_speed, parts = -2.0 / self._speed**2 * parts[0][:, None] * self._velocity, parts[1:]
        for k, part in zip(self._kept, parts, strict=True):
            by_place[:, k % 3] += self._signs[k] / self._push[k] * part
        outer = np.zeros_like(self._velocity)
        inner = sum((self._rate(j) * j.axis for j in self._chain if not j.slides), np.zeros_like(outer))
        for joint in self._chain:
            outer = outer + self._rate(joint) * joint.arm
            bent = np.zeros_like(outer) if joint.slides else np.cross(joint.axis, outer)
            if not joint.slides:
                inner = inner - self._rate(joint) * joint.axis
            bent = bent + np.cross(inner, joint.arm)
            along = np.sum(by_place * joint.arm + by_speed * bent, axis=1)
            rates[joint.row, 0] += joint.ratio * along
            rates[joint.row, 1] += joint.ratio * np.sum(by_speed * joint.arm, axis=1)

    @property
    def _kept(self) -> list[int]:
        return np.flatnonzero(self._finite).tolist()

    def _rate(self, joint: _Joint) -> Array:
        return joint.ratio * self._dq[:, [joint.row]]
