"""Total least squares: when the columns are noisy as well as the torque.

Ordinary least squares takes the columns for exact, and noise in them shrinks its parameters. With row errors of
covariance C_j (a row of joint j is `[Y_j | tau_j]`), the vector `x = (theta, -1)` of the estimate is that for which

    x' W'W x / x' C x,     W'W = sum_j w_j R_j'R_j,     C = sum_j w_j rows_j C_j,

is least: a generalised singular value problem on the triangle (Golub & Van Loan 1980; Van Huffel & Vandewalle 1991).
Rows of joints with other noise must be weighted (w_j) before they share one problem.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.errors import DataError
from steelyard.estimate.least_squares import noise_of, weighted
from steelyard.estimate.result import Estimate
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation, triangle

Array = NDArray[np.float64]
EXACT = 1e-12  # relative size of a column's error under which it counts as exact
APART = 1.5  # ratio of the two least singular values under which their directions are not told apart
VERTICAL = 1e-8


def total(
    info: SquareRootInformation,
    *,
    basis: ParameterBasis | None = None,
    errors: Sequence[Array] | None = None,
) -> Estimate:
    """Total least squares on the triangles, joints weighted by their noise.

    Args:
        info: of the full columns, or of the basis columns alone.
        basis: base parameters of the model; None to estimate the columns as they are.
        errors: for each joint C_j, (c_j + 1, c_j + 1): covariance of the errors of a row, columns in the order of the
            information's support (after selecting the basis), torque last; columns without error have zero rows. None
            takes the same error in every column and the torque of a joint, of whatever size: columns must then be
            in units in which that makes sense.

    Returns:
        An estimate whose noise is that of the equations, `tau - Y theta`, both errors together.

    Raises:
        DataError: no rows at all, errors of another shape, or a solution that does not exist.
    """
    start = weighted(info, basis=basis)
    info, weights = start.information, start.weights
    given = [np.eye(len(c) + 1) for c in info.support] if errors is None else [np.asarray(e) for e in errors]
    for name, columns, matrix in zip(info.joints, info.support, given, strict=False):
        if matrix.shape != (len(columns) + 1,) * 2:
            raise DataError("errors must be (columns + 1, columns + 1)", where=name, value=matrix.shape)
    if len(given) != len(info.joints):
        raise DataError("errors must be given for every joint", value=len(given), choices=info.joints)
    if errors is None:
        given = [matrix / weight for matrix, weight in zip(given, weights, strict=True)]
    theta, gap = _solved(info.scale(weights).stacked(), _gathered(info, weights, given))
    estimate = replace(
        start, theta=theta, noise=noise_of(info, weights, theta), estimator="total", findings=start.findings
    )
    return estimate if gap >= APART else estimate.noting(_not_unique(gap))


def _gathered(info: SquareRootInformation, weights: Array, errors: Sequence[Array]) -> Array:
    """(p + 1, p + 1) C: sum over joints of `w_j rows_j C_j`, each in its columns' places."""
    size = len(info.names) + 1
    whole = np.zeros((size, size))
    for columns, rows, weight, matrix in zip(info.support, info.rows, weights, errors, strict=True):
        place = [*columns, size - 1]
        whole[np.ix_(place, place)] += weight * rows * matrix
    return whole


def _solved(R: Array, C: Array) -> tuple[Array, float]:
    """theta (p,) and the ratio of the two least singular values; exact columns are taken out first."""
    p = len(R) - 1
    lengths = np.linalg.norm(R, axis=0)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    R, C = R / lengths, C / np.outer(lengths, lengths)
    noisy = np.diag(C) > EXACT * np.diag(C).max(initial=0.0)
    noisy[-1] = True
    order = [*np.flatnonzero(~noisy), *np.flatnonzero(noisy)]
    T = triangle(R[:, order])
    first = int((~noisy).sum())
    rest, error = T[first:, first:], C[np.ix_(order[first:], order[first:])]
    values, V = np.linalg.eigh(error)
    if not values[-1] > 0.0 or values[0] <= EXACT * values[-1]:
        raise DataError(
            "the errors of some columns are exact copies of one another, or none at all",
            value=float(values[0]),
            cure="give errors that are independent, at least a little",
        )
    root = V / np.sqrt(values)
    _, singular, Vt = np.linalg.svd(rest @ root)
    x = root @ Vt[-1]
    if abs(x[-1]) <= VERTICAL * np.abs(x).max():
        raise DataError(
            "total least squares has no solution: the columns nearly depend on one another",
            value=float(singular[-1]),
            cure="estimate base parameters, or use ordinary least squares",
        )
    last = -x[:-1] / x[-1]
    ahead = np.linalg.lstsq(T[:first, :first], T[:first, -1] - T[:first, first:-1] @ last, rcond=None)[0]
    theta = np.zeros(p)
    theta[order[:-1]] = np.concatenate([ahead, last])
    gap = singular[-2] / max(singular[-1], 1e-300) if len(singular) > 1 else np.inf
    return theta * lengths[-1] / lengths[:-1], float(gap)


def _not_unique(gap: float) -> Finding:
    return Finding(
        "fit.total_not_unique",
        "warning",
        f"total least squares hardly tells its direction from the next (singular values {gap:.2f} apart): "
        "the noise of the columns is as large as the least that the motion shows",
        value=gap,
        cure="use ordinary or instrumental least squares, or a richer motion",
    )
