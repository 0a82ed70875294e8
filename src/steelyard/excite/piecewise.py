"""Motions from elsewhere, read as a trajectory controller reads them: polynomials between their samples.

With velocities and accelerations at the samples the pieces are of degree five, with velocities alone of degree three
(as in ros2_control's joint trajectory controller).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.excite.cells import Cells
from steelyard.excite.kinematics import Kinematics
from steelyard.excite.polynomial import polynomial_cells, polynomials_at

Array = NDArray[np.float64]


def sampled_cells(trajectory: Trajectory, step: float) -> Cells:
    """Every interval between two samples, cut into cells not longer than `step` [s].

    Raises:
        DataError: no velocities, fewer than two samples, or gaps.
    """
    if trajectory.dq is None:
        raise DataError(
            "between positions alone a motion can do anything", where=trajectory.name,
            cure="give dq and ddq at every sample, as the controller will get them",
        )  # fmt: skip
    if len(trajectory) < 2 or trajectory.breaks:
        raise DataError(
            "a motion needs two samples or more, without a gap", where=trajectory.name, value=len(trajectory)
        )
    return polynomial_cells(trajectory.time, _pieces(trajectory), step)


def ends_of(trajectory: Trajectory) -> Kinematics:
    """Motion at the first and last sample, (2, n) each, as its first and last piece have it."""
    return polynomials_at(trajectory.time, _pieces(trajectory), trajectory.time[[0, -1]])


def _pieces(trajectory: Trajectory) -> Array:
    """(pieces, degree + 1, n) powers of the share of each interval."""
    q, v = trajectory.channel("q"), trajectory.channel("dq") * 1.0
    width = np.diff(trajectory.time)[:, None]
    gap, v0, v1 = q[1:] - q[:-1], v[:-1] * width, v[1:] * width
    if trajectory.ddq is None:
        return np.stack([q[:-1], v0, 3.0 * gap - 2.0 * v0 - v1, v0 + v1 - 2.0 * gap], axis=1)
    a0, a1 = trajectory.ddq[:-1] * width**2, trajectory.ddq[1:] * width**2
    cubic = 10.0 * gap - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1
    fourth = -15.0 * gap + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1
    fifth = 6.0 * gap - 3.0 * (v0 + v1) + 0.5 * (a1 - a0)
    return np.stack([q[:-1], v0, 0.5 * a0, cubic, fourth, fifth], axis=1)
