"""Torque cut off at the end of a range: the true torque was larger, and a fit would take that for dynamics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.resolution import quantum
from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding
from steelyard.robot.robot import Robot

Array = NDArray[np.float64]
FEWEST = 10  # samples at an extreme
NEXT_LEVELS = 3
PILED = 4.0  # times the fullest of the next levels; a smooth quantised peak reaches 1 / (sqrt(2) - 1) = 2.4
ABSURD = 20.0  # times the effort limit
AT_LIMIT, BEYOND = 0.99, 1.02  # of the effort limit; what goes beyond it is not cut off there


@dataclass(frozen=True)
class Clipping:
    """Torque of one joint that piles up at an extreme.

    Attributes:
        joint: name.
        level: the extreme [N m or N].
        samples: how many lie there.
        first: stamp of the first [s].
        at_limit: whether it is the effort limit of the model.
    """

    joint: str
    level: float
    samples: int
    first: float
    at_limit: bool


def clipping(trajectory: Trajectory, still: NDArray[np.bool_], robot: Robot | None = None) -> list[Clipping]:
    """Extremes of the torque at which too many samples lie, or which touch the effort limit of the model.

    Args:
        trajectory: with torque.
        still: (T, n) samples at which a joint does not move: a torque may rest anywhere then.
        robot: for the effort limits; it has every joint of the recording.
    """
    found = []
    tau = trajectory.channel("tau")
    for j, joint in enumerate(trajectory.joint_names):
        moving = np.flatnonzero(~still[:, j])
        values = tau[moving, j]
        if values.size < FEWEST or np.ptp(values) == 0.0:
            continue
        limit = np.inf if robot is None else float(robot.effort_limit[robot.joint_names.index(joint)])
        grain = quantum(values)
        for side in (1.0, -1.0):
            at = moving[_piled(side * values, grain)]
            meant = limit > 0.0 and float(np.max(side * values)) <= BEYOND * limit
            touching = moving[side * values >= AT_LIMIT * limit] if meant else at[:0]
            at = at if at.size else touching if touching.size >= FEWEST else at
            if at.size:
                level = float(tau[at, j].mean())
                found.append(
                    Clipping(joint, level, int(at.size), float(trajectory.time[at[0]]), touching.size >= FEWEST)
                )
    return found


def clipping_findings(found: list[Clipping], samples: int) -> list[Finding]:
    """One finding for each extreme; `samples` is the length of the recording."""
    return [
        Finding(
            "data.saturation",
            "warning",
            f"the torque of {c.joint} is cut off at {c.level:.4g} N m: {c.samples} samples "
            f"({100 * c.samples / samples:.1f} %) lie there, the first at {c.first:.3f} s"
            + (", the effort limit of the model" if c.at_limit else ""),
            c.joint,
            c.level,
            "mask these samples, or record with less acceleration or load",
        )
        for c in found
    ]


def beyond_effort_findings(trajectory: Trajectory, robot: Robot) -> list[Finding]:
    """Torques that no drive of this robot gives: one such sample spoils a fit."""
    largest = np.abs(trajectory.ordered(robot.joint_names).channel("tau")).max(axis=0)
    found = []
    for name, value, limit in zip(robot.joint_names, largest, robot.effort_limit, strict=True):
        if np.isfinite(limit) and limit > 0.0 and value > ABSURD * limit:
            found.append(
                Finding(
                    "data.absurd",
                    "error",
                    f"the torque of {name} reaches {value:.4g}, {value / limit:.3g} times its limit of {limit:g}",
                    where=name,
                    value=float(value),
                    cure="cut the samples out of the recording, or state the unit of torque in the study file",
                )
            )
    return found


def _piled(values: Array, grain: float) -> NDArray[np.intp]:
    """Samples at the maximum, if they are far more than at the levels below it."""
    width = max(np.nan_to_num(grain), 1e-9 * float(np.ptp(values)))
    level = np.rint((values.max() - values) / width)
    top = np.flatnonzero(level == 0)
    below = max(int(np.sum(level == k)) for k in range(1, NEXT_LEVELS + 1))
    return top if top.size >= max(FEWEST, PILED * below) else top[:0]
