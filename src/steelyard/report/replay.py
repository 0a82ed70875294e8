"""A replay of a motion in space for a page: the robot as capsules and lines, drawn without a network."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from steelyard.excite.motion import Motion
from steelyard.report.arrays import stamps
from steelyard.report.html_page import rendered
from steelyard.report.panels import PALETTE
from steelyard.robot.body_poses import Poses, body_poses
from steelyard.robot.robot import Robot

if TYPE_CHECKING:
    from steelyard.robot.solid import Solid

Array = NDArray[np.float64]
FRAMES = 400
BONE, FIXED = "#1d2329", "#9aa5ae"
LINES = 6  # of the floor, to either side


def replay_html(robot: Robot, motion: Motion, solids: Sequence[Solid] = ()) -> str:
    """The replay as a piece of HTML, once a page.

    Args:
        robot: whose base stands.
        motion: of its joints.
        solids: collision shapes, drawn as the capsules around them; without them the robot is lines between joints.

    Raises:
        ModelError: the base floats.
    """
    text = json.dumps(replay_data(robot, motion, solids), separators=(",", ":"), allow_nan=False)
    return rendered("replay.html.jinja", {"data": text.replace("<", "\\u003c"), "last": FRAMES})


def replay_data(robot: Robot, motion: Motion, solids: Sequence[Solid] = ()) -> dict[str, Any]:
    """What the script of the replay draws; arguments and errors as for `replay_html`.

    Returns:
        times [s]; frames, one a time: both ends of each part, six numbers [m]; parts: radius [m] and colour, first one
        a body, from the joint before it to its own, then the capsules; the trace of the last body; middle and reach of
        it all [m]; lines of the floor.
    """
    times = np.linspace(0.0, motion.duration, FRAMES + 1)
    poses = body_poses(robot, motion.at(times).q)
    shown = [solid for solid in solids if solid.radius >= 0.0]
    ends = [*_bones(robot, poses), *(_capsule(solid, poses) for solid in shown)]
    frames = np.concatenate(ends, axis=1)
    points = frames.reshape(-1, 3)
    low, high = points.min(axis=0), points.max(axis=0)
    reach = max(0.5 * float(np.linalg.norm(high - low)), 0.1)
    bones = [(0.0, BONE)] * robot.tree.bodies
    return {
        "times": stamps(times).tolist(),
        "frames": np.round(frames, 4).tolist(),
        "parts": [*bones, *((round(solid.radius, 4), _colour(solid.body)) for solid in shown)],
        "trace": np.round(poses.origin[:, -1], 4).tolist(),
        "middle": np.round(0.5 * (low + high), 4).tolist(),
        "reach": reach,
        "floor": _floor(reach, min(float(low[2]), 0.0)),
    }


def _bones(robot: Robot, poses: Poses) -> list[Array]:
    """(M, 6) for each body: from the joint of the body before it to its own."""
    return [np.hstack([poses.origin[:, up + 1], poses.origin[:, i + 1]]) for i, up in enumerate(robot.tree.parent)]


def _capsule(solid: Solid, poses: Poses) -> Array:
    """(M, 6) both ends of the line of a capsule."""
    R, p = poses.rotation[:, solid.body], poses.origin[:, solid.body]
    return np.hstack([R @ solid.start + p, R @ solid.end + p])


def _colour(body: int) -> str:
    return FIXED if body == 0 else PALETTE[(body - 1) % len(PALETTE)]


def _floor(reach: float, height: float) -> list[Any]:
    """Lines of a square grid under the robot."""
    wide = np.round(np.linspace(-reach, reach, 2 * LINES + 1), 4).tolist()
    end, z = wide[-1], round(height, 4)
    return [line for x in wide for line in ([[x, -end, z], [x, end, z]], [[-end, x, z], [end, x, z]])]
