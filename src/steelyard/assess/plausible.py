"""The quick part of a recording's check, asked before every fit: units, and torque that belongs to this robot."""

from __future__ import annotations

from steelyard.assess.recording import STORY_CUTOFF
from steelyard.assess.reduced_motion import reduced_motion
from steelyard.assess.torque_sense import torque_sense
from steelyard.assess.units import suspected, unit_findings
from steelyard.assess.zero_torque import zero_torque_findings
from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding
from steelyard.robot.robot import Robot


def plausibility(trajectory: Trajectory, robot: Robot) -> tuple[Finding, ...]:
    """Units out of scale, torque that is zero, turned, swapped or without gravity; `check_recording` says far more.

    Args:
        trajectory: as recorded, with the robot's joints.
        robot: a fixed-base robot.
    """
    units = unit_findings(trajectory, robot)
    if suspected(units) or trajectory.tau is None or robot.floating:
        return tuple(units)
    silent = zero_torque_findings(trajectory, robot)
    if silent:
        return (*units, *silent)
    reduced = reduced_motion(trajectory, robot, above=STORY_CUTOFF)
    return (*units, *(() if reduced is None else torque_sense(robot, reduced).findings))
