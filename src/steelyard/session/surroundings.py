"""What a motion has to keep clear of: the robot itself, obstacles, and boxes and speeds of chosen points."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from steelyard.excite.frame_limit import ENDLESS, FrameLimit
from steelyard.formats.study_schema import ExciteTable
from steelyard.robot.collision import CollisionModel
from steelyard.robot.collision_build import MARGIN, collision_model
from steelyard.robot.collision_file import read_collision_geometry
from steelyard.robot.collision_shape import Obstacle
from steelyard.robot.robot import Robot


def clearance_of(
    robot: Robot, path: Path, said: ExciteTable, *, meshes: Sequence[Path] = (), distance: float | None = None
) -> CollisionModel | None:
    """What of the robot can collide; None where its file has no shape of any link, and nobody asked.

    Args:
        robot: with the joints that move.
        path: of its file.
        said: the study file's `[excite]`.
        meshes: folders to look for meshes in, before those of the study.
        distance: to keep [m]; that of the study, or MARGIN, when not given.

    Raises:
        SteelyardError: names that are not there, numbers that make no sense, a base that floats; no shapes where a
            distance or obstacles are stated.
    """
    folders = [*meshes, *map(Path, said.meshes)]
    obstacles = [Obstacle(name, o.kind, o.size, o.position, o.rpy) for name, o in said.obstacles.items()]
    asked = distance is not None or said.distance is not None or bool(obstacles)
    if not asked and not read_collision_geometry(robot, path, folders).shapes:
        return None
    keep = said.distance if distance is None else distance
    return collision_model(
        robot, path, search=folders, obstacles=obstacles, required=MARGIN if keep is None else keep,
        allowed=said.allowed, checked=said.checked,
    )  # fmt: skip


def frames_of(said: ExciteTable) -> tuple[FrameLimit, ...]:
    """Speeds and boxes of points that the study file names.

    Raises:
        StudyError: numbers that cannot be limits.
    """
    return tuple(
        FrameLimit(
            link,
            frame.point,
            ENDLESS if frame.speed is None else frame.speed,
            frame.lower or (-ENDLESS,) * 3,
            frame.upper or (ENDLESS,) * 3,
        )
        for link, frame in said.frames.items()
    )
