"""Limits of a point of the robot in space, its speed and the box it stays in, held at every instant of a motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.excite.cells import Cells
from steelyard.excite.jets import BodyJets
from steelyard.robot.body_poses import body_poses, point_motion
from steelyard.robot.robot import Robot

Array = NDArray[np.float64]
Triple = tuple[float, float, float]
ENDLESS = float("inf")


@dataclass(frozen=True)
class FrameLimit:
    """What a point on a link has to keep.

    Attributes:
        link: that carries it.
        point: (3,) in the frame of the link [m].
        speed: it may have at most [m/s].
        lower, upper: corners of the box it may be in, in the frame of the robot's base [m].

    Raises:
        StudyError: numbers that cannot be limits, or none at all.
    """

    link: str
    point: Triple = (0.0, 0.0, 0.0)
    speed: float = ENDLESS
    lower: Triple = (-ENDLESS, -ENDLESS, -ENDLESS)
    upper: Triple = (ENDLESS, ENDLESS, ENDLESS)

    def __post_init__(self) -> None:
        where = f"limits of link {self.link}"
        point, lower, upper = (np.asarray(x, dtype=np.float64) for x in (self.point, self.lower, self.upper))
        if {point.shape, lower.shape, upper.shape} != {(3,)} or not np.isfinite(point).all():
            raise StudyError("a point and the corners of a box are three numbers each [m]", where=where)
        if not (self.speed > 0.0 and (lower < upper).all()):
            raise StudyError(
                "a speed is positive, and the lower corner of a box lies below the upper one", where=where,
                value=(self.speed, *self.lower, *self.upper),
            )  # fmt: skip
        if self.speed == ENDLESS and not (np.isfinite(lower).any() or np.isfinite(upper).any()):
            raise StudyError("neither a speed nor a box", where=where, cure="give speed=, lower= or upper=")


class PointBounds(NamedTuple):
    """Bounds over M cells: speed (M,) [m/s], lowest and highest coordinates (M, 3) [m]."""

    speed: Array
    low: Array
    high: Array


def point_bounds(robot: Robot, cells: Cells, limit: FrameLimit) -> PointBounds:
    """Where the point can be and how fast, over each cell.

    From its speed in the middle of a cell it gains no more than half the cell's width times its largest acceleration;
    from its place there it moves no farther than half the width times its largest speed.

    Raises:
        StudyError: no such link.
    """
    links = {link.name: link for link in robot.links}
    if limit.link not in links:
        raise StudyError("not a link of the robot", where="frame limits", value=limit.link, choices=tuple(links))
    link = links[limit.link]
    point = link.translation + link.rotation @ np.array(limit.point)
    place, velocity = point_motion(robot, body_poses(robot, cells.center.q), cells.center.dq, link.body, point)
    if link.body < 0:
        gained: Array = np.zeros(len(place))
    else:
        jets = BodyJets(robot, cells.most.q, (cells.most.dq, cells.most.ddq), base=0.0)
        far = float(np.linalg.norm(point))
        gained = cells.half * (jets.acceleration[link.body][0] + far * jets.centripetal[link.body][0])
    speed = np.linalg.norm(velocity, axis=1) + gained
    reach = (cells.half * speed)[:, None]
    return PointBounds(speed, place - reach, place + reach)
