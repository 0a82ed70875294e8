"""How far a joint moves two shapes against each other at most, per unit of its position, in any pose.

The distance of two solids changes with joint k by `n . (a x (p - o))`, n the direction between their nearest points,
p either of these: they lie on one line along n. So no more than the distance of the farther points of either solid
from the joint's axis, whichever is less; joints that do not lie between the two change nothing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import ModelError
from steelyard.robot.robot import Robot
from steelyard.robot.solid import Solid
from steelyard.robot.tree import PRISMATIC

Array = NDArray[np.float64]


def moved_by(robot: Robot, a: int, b: int) -> Array:
    """(N,) for each body's joint 1 where it moves entry b against entry a (0 the base), -1 where it moves a, else 0."""
    signs = np.zeros(robot.tree.bodies)
    above = [_ancestors(robot, body) for body in (a, b)]
    signs[[i for i in above[1] if i not in above[0]]] = 1.0
    signs[[i for i in above[0] if i not in above[1]]] = -1.0
    return signs


def pair_lever(robot: Robot, first: Solid, second: Solid) -> Array:
    """(n,) bounds [m/rad, or 1 for slides] of the rate of distance of two solids by each joint's position.

    Raises:
        ModelError: a slide without limits lies between a joint and a solid.
    """
    tree = robot.tree
    signs = moved_by(robot, first.body, second.body)
    lever = np.zeros(len(robot.joint_names))
    for i in np.flatnonzero(signs):
        carried, other = (second, first) if signs[i] > 0.0 else (first, second)
        if tree.kind[i] == PRISMATIC:
            reach = 1.0
        else:
            reach = min(_carried(robot, int(i), carried), _seen(robot, int(i), signs, other))
        lever[int(tree.row[i])] += abs(float(tree.ratio[i])) * reach
    return lever


def _ancestors(robot: Robot, body: int) -> list[int]:
    """Joints between the base and a body, the body's own first."""
    found, i = [], body - 1
    while i >= 0:
        found.append(i)
        i = int(robot.tree.parent[i])
    return found


def _carried(robot: Robot, i: int, solid: Solid) -> float:
    """Distance of a solid's points from the axis of a joint that carries it [m]."""
    if solid.radius < 0.0:
        return np.inf
    axis = robot.tree.axis[i]
    chain = _ancestors(robot, solid.body)
    chain = chain[: chain.index(i)]
    if not chain:
        return max(_off(solid.start, axis), _off(solid.end, axis)) + solid.radius
    *beyond, nearest = chain
    first = _off(robot.tree.translation[nearest], axis) + _slide(robot, nearest)
    return first + sum(_length(robot, k) for k in beyond) + _far(solid)


def _seen(robot: Robot, i: int, signs: Array, solid: Solid) -> float:
    """Distance of the points of the solid on the other side from the axis of a joint [m]."""
    if solid.radius < 0.0:
        return np.inf
    tree = robot.tree
    up = int(tree.parent[i])
    if up == solid.body - 1:
        axis = tree.fixed[i].reshape(3, 3) @ tree.axis[i]
        ends = (solid.start - tree.translation[i], solid.end - tree.translation[i])
        return max(_off(end, axis) for end in ends) + solid.radius
    between = [k for k in range(tree.bodies) if k != i and signs[k] == -signs[i]]
    while up >= 0 and signs[up] == signs[i]:
        between.append(up)
        up = int(tree.parent[up])
    return float(np.linalg.norm(tree.translation[i])) + sum(_length(robot, k) for k in between) + _far(solid)


def _off(point: Array, axis: Array) -> float:
    return float(np.linalg.norm(point - (point @ axis) * axis))


def _far(solid: Solid) -> float:
    return float(max(np.linalg.norm(solid.start), np.linalg.norm(solid.end))) + solid.radius


def _length(robot: Robot, i: int) -> float:
    """Between the origins of a body and the one before it, at most [m]."""
    return float(np.linalg.norm(robot.tree.translation[i])) + _slide(robot, i)


def _slide(robot: Robot, i: int) -> float:
    if robot.tree.kind[i] != PRISMATIC:
        return 0.0
    j = int(robot.tree.row[i])
    reach = float(max(abs(robot.lower[j]), abs(robot.upper[j])))
    if not np.isfinite(reach):
        raise ModelError(
            "distances cannot be bounded: a slide has no position limits", where=f"joint {robot.joint_names[j]}",
            cure="write its limits in the model file",
        )  # fmt: skip
    return abs(float(robot.tree.ratio[i])) * reach + abs(float(robot.tree.offset[i]))
