"""Positions that jump: by a full turn where an angle was folded, or by anything else that no motor does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding
from steelyard.robot.robot import Robot

Array = NDArray[np.float64]
TURN = 2.0 * np.pi
OFF_TURN = 0.5  # [rad] that the joint itself may move in the step
IMPOSSIBLE = 8.0  # times the speed limit of a joint, and its fastest usual speed
UNLIMITED = 25.0  # times its fastest usual speed, where the model has no limit
USUAL = 0.995  # quantile of the speeds that counts as the fastest usual one
SHOWN = 3


def wraps(trajectory: Trajectory, robot: Robot | None = None) -> NDArray[np.bool_]:
    """(T - 1, n) steps in which an angle jumps by about 2 pi inside a segment; never on a prismatic joint."""
    jump = np.abs(np.diff(trajectory.channel("q"), axis=0))
    if not len(jump):
        return np.zeros(jump.shape, dtype=bool)
    found = (np.abs(jump - TURN) < OFF_TURN) & _inside(trajectory)
    if robot is not None:
        found &= ~np.array(_in_order(trajectory, robot, robot.prismatic), dtype=bool)
    # a joint that turns half a turn and more a sample all the time is not measured in radians
    return found & (np.median(jump, axis=0) < OFF_TURN)


def unwrapped(trajectory: Trajectory, robot: Robot | None = None) -> Trajectory:
    """The same positions without the jumps by full turns, to look at; the recording itself stays as it is."""
    found = wraps(trajectory, robot)
    if not found.any():
        return trajectory
    turns = np.where(found, -np.rint(np.diff(trajectory.channel("q"), axis=0) / TURN), 0.0)
    q = trajectory.channel("q").copy()
    q[1:] += TURN * np.cumsum(turns, axis=0)
    return replace(trajectory, q=q, source="")


def jump_findings(trajectory: Trajectory, robot: Robot | None = None) -> list[Finding]:
    """Folded angles, and positions that jump otherwise; steps to or from rows that are not valid do not count."""
    found = wraps(trajectory, robot) & _counted(trajectory)
    findings = []
    continuous = None if robot is None else _in_order(trajectory, robot, robot.continuous)
    for j in map(int, np.flatnonzero(found.any(axis=0))):
        joint, at = trajectory.joint_names[j], trajectory.time[1:][found[:, j]]
        limited = continuous is not None and not continuous[j]
        findings.append(
            Finding(
                "data.wrap",
                "warning",
                f"the position of {joint} jumps by a full turn {at.size} time(s), {_first(at)}"
                + (", although the joint has limits" if limited else ""),
                joint,
                int(at.size),
                "unwrap it before speeds are taken" + (" (check the zero of the encoder)" if limited else ""),
            )
        )
    for j, at in _other_jumps(trajectory, robot, found).items():
        joint = trajectory.joint_names[j]
        findings.append(
            Finding(
                "data.position_jump",
                "warning",
                f"the position of {joint} jumps {at.size} time(s) faster than the joint can move, {_first(at)}",
                joint,
                int(at.size),
                "look for a second publisher, zeros in between, or a lost bit; leave the intervals out",
            )
        )
    return findings


def _other_jumps(trajectory: Trajectory, robot: Robot | None, wrapped: NDArray[np.bool_]) -> dict[int, Array]:
    """Joint -> stamps of the steps that are impossibly fast."""
    steps = np.diff(trajectory.time)
    if steps.size < 20:
        return {}
    inside = _inside(trajectory)
    safe = np.where(steps > 0.0, steps, np.inf)
    speed = np.where(inside, np.abs(np.diff(trajectory.channel("q"), axis=0)) / safe[:, None], 0.0)
    usual = np.quantile(speed, USUAL, axis=0)
    limit = (
        np.full(speed.shape[1], np.inf)
        if robot is None
        else np.array(_in_order(trajectory, robot, robot.velocity_limit))
    )
    impossible = (speed > IMPOSSIBLE * np.where(limit > 0.0, limit, np.inf)) | (speed > UNLIMITED * usual)
    # quantisation alone gives speeds of one step a sample: what jumps goes further than that
    impossible &= (usual > 0.0) & (speed > IMPOSSIBLE * usual) & ~wrapped & _counted(trajectory)
    return {int(j): trajectory.time[1:][impossible[:, j]] for j in np.flatnonzero(impossible.any(axis=0))}


def _inside(trajectory: Trajectory) -> NDArray[np.bool_]:
    """(T - 1, 1) steps within a segment."""
    inside = np.ones((max(0, len(trajectory) - 1), 1), dtype=bool)
    inside[[b - 1 for b in trajectory.breaks if 0 < b <= inside.size]] = False
    return inside


def _counted(trajectory: Trajectory) -> NDArray[np.bool_]:
    """(T - 1, 1 or n) steps between rows that are to be used."""
    if trajectory.valid is None:
        return np.ones((max(0, len(trajectory) - 1), 1), dtype=bool)
    return trajectory.valid[1:] & trajectory.valid[:-1]


def _in_order(trajectory: Trajectory, robot: Robot, values: Sequence[Any] | Array) -> list[Any]:
    return [values[robot.joint_names.index(joint)] for joint in trajectory.joint_names]


def _first(at: Array) -> str:
    shown = ", ".join(f"{t:.3f}" for t in at[:SHOWN])
    return f"at {shown} s" + (" and later" if at.size > SHOWN else "")
