"""Motions from elsewhere, read as a trajectory controller reads them: polynomials between their samples.

With velocities and accelerations at the samples the pieces are of degree five, with velocities alone of degree three
(as in ros2_control's joint trajectory controller). A polynomial lies within the span of its Bernstein coefficients
(Farouki 2012), and so do its derivatives within those of theirs: that bounds it between the samples.
"""

from __future__ import annotations

from math import comb, perm

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.excite.cells import Cells
from steelyard.excite.fourier import Kinematics

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
    h = np.diff(trajectory.time)
    cuts = np.maximum(1, np.ceil(h / step - 1e-9)).astype(np.int64)
    piece = np.repeat(np.arange(h.size), cuts)
    part = np.arange(piece.size) - np.repeat(np.cumsum(cuts) - cuts, cuts)
    width = 1.0 / cuts[piece]
    power = _shifted(_pieces(trajectory, h)[piece], part * width, width)
    duration = (h[piece] * width)[:, None]
    degree = power.shape[1] - 1
    controls = np.einsum("bk,mkn->mbn", _bernstein(degree), power)
    center, low, high = [], [], []
    for order in range(4):
        count = controls.shape[1]
        value = np.einsum("b,mbn->mn", _middle(count - 1), controls)
        center.append(value)
        low.append(controls.min(axis=1))
        high.append(controls.max(axis=1))
        if order < 3:
            controls = (count - 1) * np.diff(controls, axis=1) / duration[:, :, None]
    middle = trajectory.time[:-1][piece] + h[piece] * (part + 0.5) * width
    return Cells(middle, 0.5 * duration[:, 0], Kinematics(*center), Kinematics(*low), Kinematics(*high))


def ends_of(trajectory: Trajectory) -> Kinematics:
    """Motion at the first and last sample, (2, n) each, as its first and last piece have it."""
    h = np.diff(trajectory.time)
    power = _pieces(trajectory, h)
    values = []
    for order in range(4):
        factor = np.array([float(perm(k, order)) for k in range(power.shape[1])])
        first, last = factor[order] * power[0, order], factor @ power[-1]
        values.append(np.stack([first / h[0] ** order, last / h[-1] ** order]))
    return Kinematics(*values)


def _pieces(trajectory: Trajectory, h: Array) -> Array:
    """(pieces, degree + 1, n) powers of the share of each interval."""
    q, v = trajectory.channel("q"), trajectory.channel("dq") * 1.0
    width = h[:, None]
    gap, v0, v1 = q[1:] - q[:-1], v[:-1] * width, v[1:] * width
    if trajectory.ddq is None:
        return np.stack([q[:-1], v0, 3.0 * gap - 2.0 * v0 - v1, v0 + v1 - 2.0 * gap], axis=1)
    a0, a1 = trajectory.ddq[:-1] * width**2, trajectory.ddq[1:] * width**2
    cubic = 10.0 * gap - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1
    fourth = -15.0 * gap + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1
    fifth = 6.0 * gap - 3.0 * (v0 + v1) + 0.5 * (a1 - a0)
    return np.stack([q[:-1], v0, 0.5 * a0, cubic, fourth, fifth], axis=1)


def _shifted(power: Array, start: Array, width: Array) -> Array:
    """Powers of s for the polynomials at `start + width * s`."""
    degree = power.shape[1] - 1
    result = np.zeros_like(power)
    for k in range(degree + 1):
        for j in range(k, degree + 1):
            result[:, k] += comb(j, k) * power[:, j] * (start ** (j - k) * width**k)[:, None]
    return result


def _bernstein(degree: int) -> Array:
    """(degree + 1, degree + 1) map from powers of s in [0, 1] to Bernstein coefficients."""
    rows = [[comb(i, k) / comb(degree, k) for k in range(degree + 1)] for i in range(degree + 1)]
    return np.array(rows, dtype=np.float64)


def _middle(degree: int) -> Array:
    """Weights of the Bernstein coefficients for the value in the middle."""
    return np.array([comb(degree, i) for i in range(degree + 1)], dtype=np.float64) / 2.0**degree
