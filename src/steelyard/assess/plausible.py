"""The quick part of a recording's check, asked before every fit: units, and torque that belongs to this robot."""

from __future__ import annotations

from dataclasses import replace

from steelyard.assess.recording import STORY_CUTOFF
from steelyard.assess.reduced_motion import reduced_motion
from steelyard.assess.sampling import sampling_findings, sampling_statistics
from steelyard.assess.saturation import beyond_effort_findings
from steelyard.assess.standstill import standstill, standstill_findings
from steelyard.assess.torque_sense import torque_sense
from steelyard.assess.units import suspected, unit_findings
from steelyard.assess.wrap import jump_findings
from steelyard.assess.zero_torque import zero_torque_findings
from steelyard.data.excerpt import excerpt
from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding
from steelyard.preparation.decimate import decimate
from steelyard.robot.robot import Robot

ENOUGH = 3000  # samples to see whether there is torque at all


def plausibility(trajectory: Trajectory, robot: Robot) -> tuple[Finding, ...]:
    """Units out of scale, torque that is zero, turned, swapped or without gravity; `check_recording` says far more.

    Args:
        trajectory: as recorded, with the robot's joints.
        robot: a fixed-base robot.
    """
    units = unit_findings(trajectory, robot)
    if suspected(units) or trajectory.tau is None or robot.floating:
        return tuple(units)
    beyond = beyond_effort_findings(trajectory, robot)
    if beyond:
        return (*units, *beyond)
    silent = zero_torque_findings(decimate(trajectory, max(1, len(trajectory) // ENOUGH)), robot)
    if silent:
        return (*units, *silent)
    reduced = reduced_motion(excerpt(trajectory), robot, above=STORY_CUTOFF)
    return (*units, *(() if reduced is None else torque_sense(robot, reduced).findings))


def signal_findings(trajectory: Trajectory, robot: Robot) -> tuple[Finding, ...]:
    """What the clock and the positions of a recording say by themselves: losses (as notes), standstill, jumps.

    Args:
        trajectory: as recorded, with the robot's joints; steps to or from rows that are not `valid` count as no jump.
        robot: for kinds of joints and their speed limits.
    """
    still = standstill(trajectory)
    # a fit puts the samples on a uniform grid, and takes losses and jitter without harm
    clock = sampling_findings(sampling_statistics(trajectory, still.moving), where=trajectory.name)
    return (
        *(replace(finding, level="info") for finding in clock),
        *standstill_findings(still, trajectory),
        *jump_findings(trajectory, robot),
    )
