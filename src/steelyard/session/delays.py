"""The delay of the torque that a study asks to take out: one value for all runs, kept in the result."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.assess.recording import check_recording
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.finding import Finding
from steelyard.preparation.delay import common_delay, compensate_delay
from steelyard.robot.robot import Robot
from steelyard.session.schema import ResultFile

COMPENSATED = "data.delay_compensated"
"""Code of the finding whose value is the delay [s]."""


def delay_to_take_out(asked: float | str, train: Sequence[Trajectory], robot: Robot) -> tuple[float, list[Finding]]:
    """The delay [s] that `[prepare] delay_s` stands for, and what to say of it.

    Args:
        asked: seconds, or "estimate" for what the training recordings have in common.
        train: training recordings, as recorded.
        robot: with their joints.

    Raises:
        DataError: no training recording tells its delay.
    """
    if not isinstance(asked, str):
        return (asked, [_said(asked, "as asked")]) if asked else (0.0, [])
    statistics = [check_recording(t.ordered(robot.joint_names), robot).statistics for t in train]
    told = [s.delay for s in statistics if s is not None and s.delay is not None]
    if not told:
        raise DataError(
            "no training recording tells the delay of its torque", where="[prepare] delay_s",
            value="estimate", cure="give it in seconds, or record a longer and livelier motion",
        )  # fmt: skip
    delay, deviation, varies = common_delay(told)
    return delay, [_said(delay, f"estimated, +- {1e3 * deviation:.2f} ms"), *varies]


def without_delay(trajectories: Sequence[Trajectory], delay: float) -> tuple[Trajectory, ...]:
    """The recordings with that delay taken out of their torque."""
    return compensate_delay(trajectories, delay) if delay else tuple(trajectories)


def delay_of(result: ResultFile) -> float:
    """The delay [s] that was taken out when this result was found."""
    values = [f.value for f in result.findings if f.code == COMPENSATED]
    return float(values[0]) if values and isinstance(values[0], (int, float)) else 0.0


def _said(delay: float, how: str) -> Finding:
    return Finding(
        COMPENSATED,
        "info",
        f"the torque of every run was read {1e3 * abs(delay):.2f} ms {'later' if delay > 0 else 'earlier'} ({how}); "
        "prediction files are on the clock of the torque as recorded",
        value=delay,
    )
