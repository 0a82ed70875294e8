"""Reading `trajectory_msgs/JointTrajectory`, JSON or YAML, of ROS 1 or 2, alone or as the `trajectory` of a goal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.formats.yaml_aliases import has_aliases

Array = NDArray[np.float64]
LARGEST = 64 * 2**20
"""Bytes in a file."""
_CURE = "joint_names: [..], points: [{positions: [..], velocities: [..], time_from_start: {sec: 0, nanosec: 0}}, ..]"
_CLOCK = (("sec", "nanosec"), ("secs", "nsecs"))


def parse_joint_trajectory(data: bytes, *, where: str) -> Trajectory:
    """The motion in the bytes of a file; velocities and accelerations where every point has them.

    Args:
        data: UTF-8 text.
        where: names it in messages.

    Raises:
        DataError: text that is neither JSON nor YAML, what is missing or of another kind, numbers that are not finite,
            points that do not fit the joints, a clock that does not advance; each with the number of the point.
    """
    if len(data) > LARGEST:
        raise DataError("the file is too large for a motion", where=where, value=f"{len(data)} bytes")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError("the text is not UTF-8", where=f"{where}, line {line}", cure="save it as UTF-8") from None
    message = _mapping(_document(text, where), where)
    message = _mapping(message.get("trajectory", message), where)
    names = message.get("joint_names")
    points = message.get("points")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        raise DataError("the trajectory has no joint_names", where=where, value=names, cure=_CURE)
    if not isinstance(points, list) or not points:
        raise DataError("the trajectory has no points", where=where, cure=_CURE)
    rows = [_mapping(point, f"{where}, point {k}") for k, point in enumerate(points)]
    q, dq, ddq = (_channel(rows, key, len(names), where) for key in ("positions", "velocities", "accelerations"))
    if q is None:
        raise DataError("the points have no positions", where=where, cure=_CURE)
    return Trajectory(
        time=np.array([_time(row.get("time_from_start"), f"{where}, point {k}") for k, row in enumerate(rows)]),
        joint_names=tuple(names),
        q=q,
        dq=dq,
        ddq=ddq,
        source=hashlib.sha256(data).hexdigest(),
        name=where,
    )


def _document(text: str, where: str) -> Any:
    """The one document; YAML of one line a point, each of them JSON, is read as quickly as JSON."""
    try:
        return json.loads(text, parse_constant=lambda word: None)
    except ValueError:
        pass
    except RecursionError:
        raise DataError("the file is nested too deep", where=where, cure=_CURE) from None
    head, found, lines = text.partition("\npoints:\n")
    if found:
        try:
            points = [
                json.loads(line.removeprefix("- "), parse_constant=lambda word: None)
                for line in lines.split("\n")
                if line
            ]
            return {**_mapping(_yaml(head, where), where), "points": points}
        except (ValueError, RecursionError):
            pass
    return _yaml(text, where)


def _yaml(text: str, where: str) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        if has_aliases(text):
            raise DataError("aliases stand for no motion", where=where, cure="write every value out")
        return YAML(typ="safe", pure=True).load(text)
    except RecursionError:
        raise DataError("the file is nested too deep", where=where, cure=_CURE) from None
    except MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise DataError(f"neither JSON nor YAML: {error.problem}", where=where + line, cure=_CURE) from None
    except (YAMLError, ValueError) as error:
        raise DataError(f"neither JSON nor YAML: {str(error)[:100]}", where=where, cure=_CURE) from None


def _mapping(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise DataError("this is not a JointTrajectory", where=where, value=str(value)[:60], cure=_CURE)
    return value


def _channel(rows: list[Mapping[str, Any]], key: str, joints: int, where: str) -> Array | None:
    """(T, n) of all points; None where no point has it.

    Raises:
        DataError: some points have it and others not, or a point has other numbers than one a joint.
    """
    values = [row.get(key) or [] for row in rows]
    if not any(values):
        return None
    for k, row in enumerate(values):
        if not isinstance(row, list) or len(row) != joints or not all(map(_finite, row)):
            raise DataError(
                f"{key} must be one finite number for each of {joints} joints", where=f"{where}, point {k}",
                value=str(row)[:80], cure="give it in every point or in none",
            )  # fmt: skip
    return np.array(values, dtype=np.float64)


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and bool(abs(value) < 1e300)


def _time(value: object, where: str) -> float:
    """Seconds from the start, of `{sec, nanosec}` or, in ROS 1, `{secs, nsecs}`."""
    stamp = _mapping(value, where)
    for whole, nano in _CLOCK:
        if whole in stamp:
            seconds, rest = stamp[whole], stamp.get(nano, 0)
            if _finite(seconds) and _finite(rest):
                return float((seconds * 10**9 + rest) / 10**9)  # of whole numbers: the nearest double
    raise DataError("time_from_start has no seconds", where=where, value=dict(stamp), cure=_CURE)
