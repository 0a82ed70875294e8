"""The quick part of a recording's check, asked before every fit: units, and torque that belongs to this robot."""

from __future__ import annotations

import numpy as np

from steelyard.assess.recording import STORY_CUTOFF
from steelyard.assess.reduced_motion import reduced_motion
from steelyard.assess.torque_sense import torque_sense
from steelyard.assess.units import suspected, unit_findings
from steelyard.assess.zero_torque import zero_torque_findings
from steelyard.data.excerpt import excerpt
from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding
from steelyard.preparation.decimate import decimate
from steelyard.robot.robot import Robot

ENOUGH = 3000  # samples to see whether there is torque at all
ABSURD = 20.0  # times the effort limit


def plausibility(trajectory: Trajectory, robot: Robot) -> tuple[Finding, ...]:
    """Units out of scale, torque that is zero, turned, swapped or without gravity; `check_recording` says far more.

    Args:
        trajectory: as recorded, with the robot's joints.
        robot: a fixed-base robot.
    """
    units = unit_findings(trajectory, robot)
    if suspected(units) or trajectory.tau is None or robot.floating:
        return tuple(units)
    beyond = _beyond_effort(trajectory, robot)
    if beyond:
        return (*units, *beyond)
    silent = zero_torque_findings(decimate(trajectory, max(1, len(trajectory) // ENOUGH)), robot)
    if silent:
        return (*units, *silent)
    reduced = reduced_motion(excerpt(trajectory), robot, above=STORY_CUTOFF)
    return (*units, *(() if reduced is None else torque_sense(robot, reduced).findings))


def _beyond_effort(trajectory: Trajectory, robot: Robot) -> list[Finding]:
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
