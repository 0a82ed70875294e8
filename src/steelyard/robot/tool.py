"""Parts that are fixed to a link: put on, taken off, moved. Exact, on the ten parameters about the part's own frame.

A part keeps its parameters beside those of the robot's links, never folded into one of them, so that taking it off
gives back the very robot it was put on.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import ModelError
from steelyard.robot.inertia import transform
from steelyard.robot.robot import Link, Robot

Array = NDArray[np.float64]
FLANGES = ("flange", "tool0")
ORTHOGONAL = 1e-9  # largest error of R'R of a rotation


def frame(robot: Robot, link: str | None = None) -> Link:
    """A link's placement by its name; None for the flange.

    The flange is on the last body the link called flange or tool0, else the first frame without mass, else the body's
    own link.

    Raises:
        ModelError: no such link, or one that does not move.
    """
    moving = [entry for entry in robot.links if entry.body >= 0]
    if not moving:
        raise ModelError("the robot has no moving link", where=robot.name)
    if link is None:
        last = max(entry.body for entry in moving)
        own = [entry for entry in moving if entry.body == last]
        named = [entry for word in FLANGES for entry in own if entry.name.endswith(word)]
        bare = [entry for entry in own if entry.parameters is None or not entry.parameters[0] > 0.0]
        return next(iter((*named, *bare, *own)))
    for entry in moving:
        if entry.name == link:
            return entry
    raise ModelError("not a moving link of the robot", where=robot.name, value=link,
                     choices=[entry.name for entry in moving])  # fmt: skip


def with_tool(
    robot: Robot,
    name: str,
    parameters: Array,
    *,
    link: str,
    rotation: Array | None = None,
    translation: Array | None = None,
) -> Robot:
    """The robot with a part fixed to a link.

    Args:
        robot: without it.
        name: of the part, a new link.
        parameters: (10,) m, m c, I about the origin of the part's own frame [kg, kg m, kg m2].
        link: that it is fixed to.
        rotation, translation: (3, 3) and (3,) [m], the part's frame in the frame of that link; None for none.

    Raises:
        ModelError: the link does not exist or move, the name is taken, or a rotation is none.
    """
    if any(entry.name == name for entry in robot.links):
        raise ModelError("a link of this name is there already", where=robot.name, value=name,
                         cure="take it off first, or give the part another name")  # fmt: skip
    values = np.asarray(parameters, dtype=np.float64)
    if values.shape != (10,) or not np.isfinite(values).all():
        raise ModelError("a part has ten finite parameters: m, m c, I about its frame's origin", where=name,
                         value=values.tolist())  # fmt: skip
    R, p = _placement(rotation, translation, name)
    base = frame(robot, link)
    part = Link(name, base.body, base.rotation @ R, base.translation + base.rotation @ p, values)
    return replace(robot, links=(*robot.links, part))


def without_tool(robot: Robot, name: str) -> Robot:
    """The robot without a part: its link is gone.

    Args:
        robot: with it.
        name: of the part; any link of the robot that has mass can be taken off.

    Raises:
        ModelError: no moving link of that name has mass.
    """
    carrying = [entry.name for entry in robot.links if entry.body >= 0 and entry.parameters is not None]
    if name not in carrying:
        raise ModelError("no part of this name is on the robot", where=robot.name, value=name, choices=carrying)
    return replace(robot, links=tuple(entry for entry in robot.links if entry.name != name))


def with_tool_moved(
    robot: Robot, name: str, *, rotation: Array | None = None, translation: Array | None = None
) -> Robot:
    """The robot with a part shifted and turned in its own frame.

    Args:
        robot: with the part.
        name: of the part.
        rotation, translation: (3, 3) and (3,) [m], the new frame of the part in its old one.

    Raises:
        ModelError: no moving link of that name, or a rotation that is none.
    """
    old = frame(robot, name)
    R, p = _placement(rotation, translation, name)
    moved = replace(old, rotation=old.rotation @ R, translation=old.translation + old.rotation @ p)
    return replace(robot, links=tuple(moved if entry is old else entry for entry in robot.links))


def combined(*parts: tuple[Array, Array, Array]) -> Array:
    """(10,) parameters of several parts as one body, about the origin of a common frame.

    Args:
        parts: parameters (10,) about the part's own frame, and rotation (3, 3) and translation (3,) [m] of that frame
            in the common one.
    """
    total = np.zeros(10)
    for parameters, rotation, translation in parts:
        total += transform(np.asarray(parameters, dtype=np.float64), rotation, translation)
    return total


def _placement(rotation: Array | None, translation: Array | None, where: str) -> tuple[Array, Array]:
    R = np.eye(3) if rotation is None else np.asarray(rotation, dtype=np.float64)
    p = np.zeros(3) if translation is None else np.asarray(translation, dtype=np.float64)
    right = R.shape == (3, 3) and p.shape == (3,) and bool(np.isfinite(R).all() and np.isfinite(p).all())
    if not right or np.abs(R.T @ R - np.eye(3)).max() > ORTHOGONAL or np.linalg.det(R) < 0.0:
        raise ModelError("a placement needs a rotation matrix and three lengths [m]", where=where,
                         value=(R.tolist(), p.tolist()))  # fmt: skip
    return R, p
