"""All checks of one recording, in order: the clock, the signals, the units, the derivatives, the torque."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.delay import DelayEstimate, delay_findings, estimate_delay
from steelyard.assess.derivatives import derivative_findings, derivative_fit
from steelyard.assess.gravity_felt import GravityFelt
from steelyard.assess.lag import Follow
from steelyard.assess.noise import noise_findings
from steelyard.assess.payload_change import PayloadChange, payload_change, payload_findings
from steelyard.assess.reduced_motion import reduced_motion
from steelyard.assess.repetition import Repetition, repetition, repetition_findings
from steelyard.assess.resolution import noise_floor, quantum
from steelyard.assess.sampling import SamplingStatistics, sampling_findings, sampling_statistics
from steelyard.assess.saturation import beyond_effort_findings, clipping, clipping_findings
from steelyard.assess.standstill import Standstill, standstill, standstill_findings
from steelyard.assess.torque_sense import TorqueSense, torque_sense
from steelyard.assess.torque_story import model_of
from steelyard.assess.units import clock_suspected, suspected, unit_findings
from steelyard.assess.wrap import jump_findings, unwrapped
from steelyard.assess.zero_torque import zero_torque_findings
from steelyard.basis import base_parameters
from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding
from steelyard.robot.robot import Robot

Array = NDArray[np.float64]
STORY_CUTOFF = 10.0  # times the excitation frequency, to see whose torque it is
DELAY_CUTOFF, AGAIN = 20.0, 0.6  # to see when it comes, and the share of it at which it is asked again


@dataclass(frozen=True)
class JointStatistics:
    """One joint's signals; torque numbers are nan where no torque was recorded.

    Attributes:
        joint: name.
        lowest, highest: position [rad or m].
        resolution: step between recorded positions, nan where there is none [rad or m].
        position_noise: deviation about a smooth motion [rad or m].
        still: share of the samples at which it does not move.
        torque_lowest, torque_highest: [N m or N].
        torque_resolution, torque_noise: [N m or N].
        work: of the torque over the recording, `sum tau dq dt` [J]; friction makes it positive over a closed motion.
    """

    joint: str
    lowest: float
    highest: float
    resolution: float
    position_noise: float
    still: float
    torque_lowest: float
    torque_highest: float
    torque_resolution: float
    torque_noise: float
    work: float


@dataclass(frozen=True)
class RecordingStatistics:
    """What a recording is like.

    Attributes:
        sampling: the clock.
        joints: one entry a joint.
        still_share, still_at_start, still_at_end: standstill of all joints, as share and [s].
        velocity, acceleration: how recorded dq and ddq follow the positions, by joint; empty where not recorded.
        repetition: the period, None where the motion does not repeat.
        gravity: what the torque has felt, None where there is no torque or no model.
        delay: of the torque, None where it cannot be told.
        payload: the best moment for a change of load, None where there is no torque or no model.
    """

    sampling: SamplingStatistics
    joints: tuple[JointStatistics, ...]
    still_share: float
    still_at_start: float
    still_at_end: float
    velocity: Mapping[str, Follow]
    acceleration: Mapping[str, Follow]
    repetition: Repetition | None
    gravity: GravityFelt | None
    delay: DelayEstimate | None
    payload: PayloadChange | None


@dataclass(frozen=True)
class RecordingReport:
    """Result of a check.

    Attributes:
        name: of the recording.
        statistics: None for a file that could not be read as a recording.
        findings: in the order of the checks.
    """

    name: str
    statistics: RecordingStatistics | None
    findings: tuple[Finding, ...]

    @property
    def usable(self) -> bool:
        """Whether the file could be read at all."""
        return self.statistics is not None

    def count(self, level: str) -> int:
        """Number of findings of a level: ``info``, ``warning`` or ``error``."""
        return sum(finding.level == level for finding in self.findings)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        statistics = None if self.statistics is None else asdict(self.statistics)
        return {"name": self.name, "statistics": statistics, "findings": [f.as_dict() for f in self.findings]}


def check_recording(trajectory: Trajectory, robot: Robot | None = None) -> RecordingReport:
    """Everything that can be said about a recording before it is fitted; nothing is changed in it.

    Args:
        trajectory: as recorded.
        robot: for limits, kinds of joints, gravity and dynamics; joints that the recording lacks are held at neutral.
            Without it only the signals are judged.

    Raises:
        DataError: no positions, or a joint that the robot has not.
    """
    trajectory.channel("q")
    if robot is not None:
        robot = robot.for_joints(trajectory.joint_names, where=trajectory.name)
    position_noise, position_step = _grains(trajectory, "q")
    grain = np.fmax(position_noise, position_step)
    still = standstill(trajectory, grain)
    sampling = sampling_statistics(trajectory, still.moving)
    units = unit_findings(trajectory, robot)
    smooth = unwrapped(trajectory, robot)
    velocity = {} if trajectory.dq is None else derivative_fit(smooth, "dq")
    acceleration = {} if trajectory.ddq is None else derivative_fit(smooth, "ddq")
    repeated = repetition(smooth)
    findings = [
        *sampling_findings(sampling, where=trajectory.name),
        *standstill_findings(still, trajectory),
        *jump_findings(trajectory, robot),
        *units,
        *([] if clock_suspected(units) else derivative_findings(velocity, "dq", trajectory)),
        *derivative_findings(acceleration, "ddq", trajectory),
        *repetition_findings(repeated, trajectory),
    ]
    torque_noise = torque_step = np.full(len(trajectory.joint_names), np.nan)
    torque = _Torque(None, None, None, ())
    if trajectory.tau is not None:
        torque_noise, torque_step = _grains(trajectory, "tau")
        findings += clipping_findings(clipping(trajectory, still.still, robot), len(trajectory))
        torque = _check_torque(smooth, robot, units)
    has_torque = trajectory.tau is not None
    noisy = noise_findings(trajectory, still.still, grain, np.fmax(torque_noise, torque_step) if has_torque else None)
    statistics = RecordingStatistics(
        sampling,
        _joints(trajectory, still, position_step, position_noise, torque_step, torque_noise),
        still.share,
        still.at_start,
        still.at_end,
        velocity,
        acceleration,
        repeated,
        torque.gravity,
        torque.delay,
        torque.payload,
    )
    return RecordingReport(trajectory.name, statistics, (*findings, *noisy, *torque.findings))


@dataclass(frozen=True)
class _Torque:
    gravity: GravityFelt | None
    delay: DelayEstimate | None
    payload: PayloadChange | None
    findings: tuple[Finding, ...]


def _check_torque(trajectory: Trajectory, robot: Robot | None, units: list[Finding]) -> _Torque:
    """Torque against the model: what it holds, whose it is, when it comes, and what the robot carries."""
    fixed = robot is not None and bool(robot.joints) and not robot.floating and trajectory.base is None
    asked = robot if fixed and not suspected(units) else None
    findings = zero_torque_findings(trajectory, asked)
    if robot is not None and not any(f.code == "data.units_suspect" for f in units):
        findings += beyond_effort_findings(trajectory, robot)
    if asked is None or findings:
        return _Torque(None, None, None, tuple(findings))
    reduced = reduced_motion(trajectory, asked, above=STORY_CUTOFF)
    if reduced is None:
        return _Torque(None, None, None, ())
    sense = torque_sense(asked, reduced)
    findings += sense.findings
    delay, payload = _timing_and_load(asked, sense, sense.corrected(trajectory.ordered(asked.joint_names)))
    findings += delay_findings(delay, trajectory)
    findings += payload_findings(payload, asked.body_names[-1], trajectory)
    return _Torque(sense.gravity, delay, payload, tuple(findings))


def _timing_and_load(
    robot: Robot, sense: TorqueSense, trajectory: Trajectory
) -> tuple[DelayEstimate | None, PayloadChange | None]:
    """Delay and change of load, in the recording as the stories put it right."""
    reduced, again = (reduced_motion(trajectory, robot, above=DELAY_CUTOFF, share=share) for share in (1.0, AGAIN))
    if reduced is None:
        return None, None
    model = model_of(sense.robot)
    basis = base_parameters(model)
    return estimate_delay(model, basis, reduced, again), payload_change(model, basis, reduced)


def _grains(trajectory: Trajectory, channel: str) -> tuple[Array, Array]:
    """(n,) noise and (n,) resolution of a channel."""
    values = trajectory.channel(channel)
    return noise_floor(trajectory, channel), np.array([quantum(column) for column in values.T])


def _joints(
    trajectory: Trajectory, still: Standstill, q_step: Array, q_noise: Array, tau_step: Array, tau_noise: Array
) -> tuple[JointStatistics, ...]:
    q, tau = trajectory.channel("q"), trajectory.tau
    nan = float("nan")
    return tuple(
        JointStatistics(
            joint,
            float(q[:, j].min()),
            float(q[:, j].max()),
            float(q_step[j]),
            float(q_noise[j]),
            float(still.share_per_joint[j]),
            nan if tau is None else float(tau[:, j].min()),
            nan if tau is None else float(tau[:, j].max()),
            float(tau_step[j]),
            float(tau_noise[j]),
            nan if tau is None else _work(trajectory, j),
        )
        for j, joint in enumerate(trajectory.joint_names)
    )


def _work(trajectory: Trajectory, j: int) -> float:
    """Mean torque of each step times the way of the joint in it, summed within segments [J]."""
    q, tau = trajectory.channel("q")[:, j], trajectory.channel("tau")[:, j]
    return sum(float(np.sum(0.5 * (tau[s][1:] + tau[s][:-1]) * np.diff(q[s]))) for s in trajectory.segments)
