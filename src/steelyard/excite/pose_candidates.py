"""Candidates for poses held still: random ones that can be reached, and what the torque at rest says in each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.excite.closest import Clearance
from steelyard.excite.limits import MotionLimits
from steelyard.model import Model

Array = NDArray[np.float64]
CANDIDATES = 400
APPROACH = 0.05  # [rad or m] from which a pose is approached: farther than gears wind up before they slide
STOPS = 256  # of a way that is looked at for collisions


def candidate_poses(
    model: Model,
    limits: MotionLimits,
    *,
    home: Array,
    count: int = CANDIDATES,
    approach: float = APPROACH,
    seed: int = 0,
    clearance: Clearance | None = None,
) -> Array:
    """(C, n) random poses within the limits that are clear.

    Joints that change nothing at rest, as one about a vertical axis, stay where they are.

    Raises:
        StudyError: limits narrower than an approach, or no clear pose.
    """
    low, high = limits.lower + approach, limits.upper - approach
    if np.any(low >= high) or approach <= 0.0 or home.shape != low.shape:
        raise StudyError("no room for an approach from both sides within the limits", value=approach)
    if seed < 0 or count < 1:
        raise StudyError("a seed is a whole number from 0 on, candidates from 1 on", value=(seed, count))
    poses = np.random.default_rng(seed).uniform(low, high, (count, len(low)))
    rows = _still(model, poses)
    for j in range(len(low)):
        moved = poses.copy()
        moved[:, j] = home[j]
        if np.allclose(_still(model, moved), rows, atol=1e-9):
            poses = moved
    if clearance is not None:
        required = clearance.required
        poses = poses[clearance.distance(poses, far=required) >= required]
        if not len(poses):
            raise StudyError("no pose is clear of obstacles", value=f"{count} tried", cure="try more candidates")
    return poses


def rows_at_rest(
    model: Model, poses: Array, *, columns: Array | None = None, deviations: Sequence[float] | None = None
) -> Array:
    """(C, n, k) rows of each pose over the torque noise of their joint.

    Raises:
        StudyError: deviations or columns that do not fit.
    """
    rows = _still(model, poses)
    if columns is not None:
        if np.shape(columns)[0] != rows.shape[2]:
            raise StudyError("columns are combinations of the model's", value=np.shape(columns))
        rows = rows @ columns
    noise = np.ones(rows.shape[1]) if deviations is None else np.asarray(deviations, dtype=np.float64)
    if noise.shape != rows.shape[1:2] or not np.all(noise > 0.0):
        raise StudyError("one positive torque deviation a joint is needed [N m]", value=noise.tolist())
    scaled: Array = rows / noise[:, None]
    return scaled


def clear_way(clearance: Clearance, start: Array, goal: Array) -> bool:
    """Whether the straight way keeps its distance, also between the stops at which it is computed."""
    share = (np.arange(STOPS)[:, None] + 0.5) / STOPS
    travel = np.broadcast_to(np.abs(goal - start) / (2 * STOPS), (STOPS, len(start)))
    found = clearance.distance(start + share * (goal - start), travel, far=clearance.required)
    return bool(np.all(found >= clearance.required))


def reachable(clearance: Clearance, home: Array, pose: Array, approach: float) -> bool:
    """Whether there is a clear way from home to below the pose, through it, and from it back home."""
    below, above = pose - approach, pose + approach
    ways = ((below, above), (home, below), (pose, home))
    return all(clear_way(clearance, start, goal) for start, goal in ways)


def _still(model: Model, poses: Array) -> Array:
    """(C, n, p) regressor at rest."""
    zero = np.zeros_like(poses)
    time = np.arange(len(poses), dtype=np.float64)
    return model.regressor(Trajectory(time=time, joint_names=model.robot.joint_names, q=poses, dq=zero, ddq=zero))
