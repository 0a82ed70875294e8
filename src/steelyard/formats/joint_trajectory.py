"""Motions as `trajectory_msgs/JointTrajectory` of ROS, in JSON and in YAML: what a joint trajectory controller is sent.

A point is one line in both, `{"positions": [..], "velocities": [..], "accelerations": [..], "effort": [],
"time_from_start": {"sec": .., "nanosec": ..}}`, joints in the order of `joint_names`, SI. Between points a controller
runs polynomials: of degree five where accelerations are given, three where velocities are (ros2_control).
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory

Array = NDArray[np.float64]
DECIMALS = 12
"""Of every number: no exponent that a YAML reader takes for a word, and no jump that a controller would feel."""
_NANO = 10**9


def joint_trajectory_json(trajectory: Trajectory) -> str:
    """The motion as a JSON object.

    Args:
        trajectory: with q, dq and ddq, its time from the start [s].

    Raises:
        DataError: q, dq or ddq is missing.
    """
    points = ",\n    ".join(_points(trajectory))
    names = json.dumps(list(trajectory.joint_names), ensure_ascii=False)
    return f'{{\n  "header": {_HEADER},\n  "joint_names": {names},\n  "points": [\n    {points}\n  ]\n}}\n'


def joint_trajectory_yaml(trajectory: Trajectory) -> str:
    """The motion as YAML, as `ros2 topic pub` takes it; arguments and errors as for `joint_trajectory_json`."""
    points = "".join(f"- {point}\n" for point in _points(trajectory))
    names = json.dumps(list(trajectory.joint_names), ensure_ascii=False)
    return f"header: {_HEADER}\njoint_names: {names}\npoints:\n{points}"


_HEADER = '{"stamp": {"sec": 0, "nanosec": 0}, "frame_id": ""}'


def _points(trajectory: Trajectory) -> Iterator[str]:
    q, dq, ddq = (fixed_decimals(trajectory.channel(channel)) for channel in ("q", "dq", "ddq"))
    for k, time in enumerate(trajectory.time):
        sec, nanosec = divmod(round(float(time) * _NANO), _NANO)
        yield (
            f'{{"positions": [{q[k]}], "velocities": [{dq[k]}], "accelerations": [{ddq[k]}], "effort": [], '
            f'"time_from_start": {{"sec": {sec}, "nanosec": {nanosec}}}}}'
        )


def fixed_decimals(values: Array) -> list[str]:
    """The rows of (T, n) values as texts, each number with DECIMALS digits after the point, none of them -0."""
    rounded = np.round(values, DECIMALS) + 0.0
    return [", ".join(f"{value:.{DECIMALS}f}" for value in row) for row in rounded.tolist()]
