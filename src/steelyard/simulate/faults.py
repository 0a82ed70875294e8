"""The faults that users bring, put into a clean recording on purpose.

Every function is pure and leaves joint names alone: a fault is exactly a recording whose names or numbers lie.
The result is a recording of its own (its digest is not that of the clean one).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import CHANNELS, Trajectory
from steelyard.errors import DataError, StudyError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RawColumns:
    """Columns of a file that a Trajectory refuses to hold.

    Attributes:
        names: column names, as in the header of a recording.
        values: (T, columns), SI.
    """

    names: tuple[str, ...]
    values: Array


def swap_joints(trajectory: Trajectory, first: str, second: str, *, channels: Sequence[str] = CHANNELS) -> Trajectory:
    """Two joints' columns exchanged under unchanged names, in the channels given (default: all that are present)."""
    order = np.arange(len(trajectory.joint_names))
    i, j = _column(trajectory, first), _column(trajectory, second)
    order[[i, j]] = j, i
    return _changed(trajectory, **{c: trajectory.channel(c)[:, order] for c in _present(trajectory, channels)})


def flip_torque(trajectory: Trajectory, joint: str) -> Trajectory:
    """Torque of one joint with the wrong sign."""
    sign = np.ones(len(trajectory.joint_names))
    sign[_column(trajectory, joint)] = -1
    return _changed(trajectory, tau=trajectory.channel("tau") * sign)


def in_degrees(trajectory: Trajectory, joints: Sequence[str] | None = None) -> Trajectory:
    """Positions, velocities and accelerations of the joints given (default: all) in degrees instead of radians."""
    scale = np.ones(len(trajectory.joint_names))
    scale[[_column(trajectory, joint) for joint in joints or trajectory.joint_names]] = 180 / np.pi
    moving = _present(trajectory, ("q", "dq", "ddq"))
    return _changed(trajectory, **{c: trajectory.channel(c) * scale for c in moving})


def wrap_positions(trajectory: Trajectory, joint: str) -> Trajectory:
    """Position of one joint folded into [-pi, pi), as continuous joints are often published."""
    q = trajectory.channel("q").copy()
    j = _column(trajectory, joint)
    q[:, j] = (q[:, j] + np.pi) % (2 * np.pi) - np.pi
    return _changed(trajectory, q=q)


def delay_torque(trajectory: Trajectory, delay: float) -> Trajectory:
    """Torque that is `delay` [s] older than its stamp, interpolated; the first value of a segment is held."""
    tau = trajectory.channel("tau").copy()
    for part in trajectory.segments:
        late = trajectory.time[part] - delay
        for j in range(tau.shape[1]):
            tau[part, j] = np.interp(late, trajectory.time[part], trajectory.channel("tau")[part, j])
    return _changed(trajectory, tau=tau)


def gravity_compensated(trajectory: Trajectory, gravity: Array) -> Trajectory:
    """Torque from which the driver has already taken off gravity (T, n) [N m or N]."""
    tau = trajectory.channel("tau")
    if np.shape(gravity) != tau.shape:
        raise DataError(f"gravity must have shape {tau.shape}", where=trajectory.name, value=np.shape(gravity))
    return _changed(trajectory, tau=tau - gravity)


def saturate_torque(trajectory: Trajectory, joint: str, limit: float) -> Trajectory:
    """Torque of one joint cut off at +-limit [N m or N], as by a sensor at the end of its range."""
    tau = trajectory.channel("tau").copy()
    j = _column(trajectory, joint)
    tau[:, j] = np.clip(tau[:, j], -limit, limit)
    return _changed(trajectory, tau=tau)


def zero_torque(trajectory: Trajectory, joint: str) -> Trajectory:
    """Torque of one joint that the driver never filled in: all zeros."""
    tau = trajectory.channel("tau").copy()
    tau[:, _column(trajectory, joint)] = 0
    return _changed(trajectory, tau=tau)


def drop_samples(trajectory: Trajectory, *, fraction: float = 0.03, seed: int = 0) -> Trajectory:
    """A recording that lost the given fraction of its samples, at random; the first and the last stay."""
    if not 0 <= fraction < 1:
        raise StudyError("the fraction of lost samples lies in [0, 1)", value=fraction)
    inner = max(0, len(trajectory) - 2)
    lost = 1 + np.random.default_rng(seed).choice(inner, size=round(fraction * inner), replace=False)
    keep = np.ones(len(trajectory), dtype=bool)
    keep[lost] = False
    return _kept(trajectory, keep)


def cut_gap(trajectory: Trajectory, start: float, stop: float) -> Trajectory:
    """A recording without its samples in start < time < stop [s], and without a word about it."""
    return _kept(trajectory, ~((trajectory.time > start) & (trajectory.time < stop)))


def step_clock_back(trajectory: Trajectory, sample: int, seconds: float) -> RawColumns:
    """The clock set back by `seconds` at one sample; it runs on from there, so that stamps come twice."""
    raw = _columns(trajectory)
    values = raw.values.copy()
    values[sample:, 0] -= seconds
    return replace(raw, values=values)


def repeat_stamp(trajectory: Trajectory, sample: int) -> RawColumns:
    """One sample carrying the stamp of the sample before it."""
    raw = _columns(trajectory)
    values = raw.values.copy()
    values[sample, 0] = values[sample - 1, 0]
    return replace(raw, values=values)


def put_nan(trajectory: Trajectory, joint: str, sample: int, *, channel: str = "tau", count: int = 1) -> RawColumns:
    """`count` samples of one joint's channel that the driver wrote as NaN."""
    raw = _columns(trajectory)
    values = raw.values.copy()
    _column(trajectory, joint)
    trajectory.channel(channel)
    values[sample : sample + count, raw.names.index(f"{channel}/{joint}")] = np.nan
    return replace(raw, values=values)


def _column(trajectory: Trajectory, joint: str) -> int:
    if joint not in trajectory.joint_names:
        raise DataError("no such joint", where=trajectory.name, value=joint, choices=trajectory.joint_names)
    return trajectory.joint_names.index(joint)


def _present(trajectory: Trajectory, channels: Sequence[str]) -> tuple[str, ...]:
    for channel in channels:
        if channel not in CHANNELS:
            raise StudyError("no such channel", value=channel, choices=CHANNELS)
    return tuple(c for c in channels if getattr(trajectory, c) is not None)


def _changed(trajectory: Trajectory, **channels: Array) -> Trajectory:
    # An empty source makes the trajectory hash its own arrays: it no longer is the file it came from.
    return replace(trajectory, source="", **channels)  # type: ignore[arg-type]


def _kept(trajectory: Trajectory, keep: NDArray[np.bool_]) -> Trajectory:
    names = (*_present(trajectory, CHANNELS), *(("valid",) if trajectory.valid is not None else ()))
    parts = {name: getattr(trajectory, name)[keep] for name in names}
    edges = {int(np.count_nonzero(keep[:edge])) for edge in trajectory.breaks}
    breaks = sorted(edge for edge in edges if 0 < edge < np.count_nonzero(keep))
    return replace(trajectory, source="", time=trajectory.time[keep], breaks=tuple(breaks), **parts)


def _columns(trajectory: Trajectory) -> RawColumns:
    present = _present(trajectory, CHANNELS)
    names = tuple(f"{channel}/{joint}" for channel in present for joint in trajectory.joint_names)
    values = np.column_stack([trajectory.time, *(trajectory.channel(channel) for channel in present)])
    return RawColumns(("time_s", *names), values)
