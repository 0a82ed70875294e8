"""Trajectories and predictions to CSV: the shortest digits that read back to the same double."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.data.contract import TIME, first_stall
from steelyard.data.trajectory import CHANNELS, Trajectory
from steelyard.errors import DataError
from steelyard.formats.atomic import write_atomically

Array = NDArray[np.float64]
_ROWS = 10_000
"""Rows turned to text at a time."""


def write_csv(path: str | os.PathLike[str], trajectory: Trajectory) -> None:
    """Write time and all channels of `trajectory` to `path`; `read_csv` gives the same samples back to the bit.

    The clock of the file must advance: segments of different runs go into files of their own.  `valid`, `steps` and
    the source are not part of a CSV; a break that is no gap in time is not either.

    Raises:
        DataError: no q, joint names that cannot stand in a header, a clock that goes back between segments, a disk
            that refuses.
    """
    present = [channel for channel in CHANNELS if getattr(trajectory, channel) is not None]
    names = _header([(channel, trajectory.joint_names) for channel in present], path)
    if "q" not in present:
        raise DataError("a recording has positions; this trajectory has none", where=os.fspath(path), value=present)
    stall = first_stall(trajectory.time)
    if stall is not None:
        raise DataError(
            "runs whose clocks overlap cannot share a file",
            where=os.fspath(path),
            value=f"{float(trajectory.time[stall - 1])!r} s then {float(trajectory.time[stall])!r} s",
            cure="write each run to a file of its own",
        )
    write_atomically(path, _text(names, [trajectory.time[:, None], *map(trajectory.channel, present)]))


def write_prediction(path: str | os.PathLike[str], time: Array, joint_names: Sequence[str], torque: Array) -> None:
    """Write `time_s,tau_hat/<joint>`: predicted joint-side torque over an interval.

    Args:
        path: the file, replaced as a whole.
        time: (T,) [s].
        joint_names: n names.
        torque: (T, n) [N m or N].

    Raises:
        DataError: shapes that disagree, values that are not finite, names that cannot stand in a header, a disk that
            refuses.
    """
    time, torque = np.asarray(time, dtype=np.float64), np.asarray(torque, dtype=np.float64)
    if time.ndim != 1 or torque.shape != (time.size, len(joint_names)):
        raise DataError(
            f"torque must have shape (T, n) = {(time.size, len(joint_names))}",
            where=os.fspath(path),
            value=torque.shape,
        )
    if not (np.isfinite(time).all() and np.isfinite(torque).all()):
        raise DataError("a predicted torque or stamp is not finite", where=os.fspath(path))
    write_atomically(path, _text(_header([("tau_hat", joint_names)], path), [time[:, None], torque]))


def _header(groups: Sequence[tuple[str, Sequence[str]]], path: str | os.PathLike[str]) -> list[str]:
    names = [TIME, *(f"{group}/{joint}" for group, joints in groups for joint in joints)]
    for name in names:
        joint = name.partition("/")[2]
        if "," in name or not name.isprintable() or joint != joint.strip() or (name != TIME and not joint):
            raise DataError(
                "the joint's name cannot stand in a CSV header",
                where=os.fspath(path),
                value=joint,
                cure="rename the joint: no commas, line breaks or blanks at the ends",
            )
    return names


def _text(names: Sequence[str], columns: Sequence[Array]) -> Iterator[bytes]:
    yield (",".join(names) + "\n").encode()
    for start in range(0, columns[0].shape[0], _ROWS):
        rows = np.hstack([column[start : start + _ROWS] for column in columns]).tolist()
        yield "".join(",".join(map(repr, row)) + "\n" for row in rows).encode()
