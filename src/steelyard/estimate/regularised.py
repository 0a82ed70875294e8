"""Least squares with a prior and sign constraints: the default estimate, safe where the motion shows little."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.errors import DataError
from steelyard.estimate.least_squares import data_findings
from steelyard.estimate.prior import Prior
from steelyard.estimate.result import Estimate
from steelyard.information import SquareRootInformation, column_lengths, triangle

Array = NDArray[np.float64]
ITERATIONS = 8
RIDGE = 1e-7  # of the scaled columns: breaks ties between columns that neither data nor prior tell apart


def with_prior(
    info: SquareRootInformation,
    prior: Prior,
    *,
    basis: ParameterBasis | None = None,
    nonnegative: Sequence[str] = (),
    time: Array | None = None,
    iterations: int = ITERATIONS,
) -> Estimate:
    """`theta = argmin sum_j |tau_j - Y_j theta|^2 / (s_j^2 t_j) + |(theta - m) / d|^2`, some columns not below zero.

    All standard parameters are estimated: those that the torque does not show stay at the prior. The noise s_j of each
    joint is found from its own residual, the parameters it pays for taken off its rows.

    Args:
        info: of the base columns (with `basis`) or of all columns.
        prior: means and deviations of all columns.
        basis: base parameters; None when `info` is of all columns.
        nonnegative: names of the columns that may not be negative.
        time: (n,) t_j, number of samples that count as one; None for one. Residuals of a wrong model or of filtered
            noise are alike for many samples, and would otherwise shout the prior down.
        iterations: of fit and noise, at most; half as many are enough to compare models.

    Raises:
        DataError: no rows at all.
    """
    if not any(info.rows):
        raise DataError("there is no sample to fit", cure="check the interval and the masks")
    whole = info if basis is None or info.names == prior.names else info.project(prior.names, basis.matrix)
    bound = np.isin(prior.names, list(nonnegative))
    rows = np.array(whole.rows, dtype=np.float64)
    noise = np.sqrt(whole.energy / np.maximum(rows, 1.0))
    noise = np.where(noise > 0.0, noise, 1.0)
    inflated = np.ones(len(rows)) if time is None else np.sqrt(time)
    theta = prior.mean
    for _ in range(iterations):
        stacked = triangle(np.vstack([whole.scale(1.0 / (noise * inflated) ** 2).stacked(), prior.rows()]))
        theta = _bounded(stacked, bound)
        previous, noise = noise, _noise(whole, stacked, noise * inflated, theta)
        if np.allclose(noise, previous, rtol=1e-6, atol=0.0):
            break
    estimate = Estimate(
        names=info.names,
        theta=theta if whole is info or basis is None else basis.regroup(theta),
        basis=basis,
        information=info,
        weights=1.0 / (noise * inflated) ** 2,
        noise=noise,
        correlation_time=inflated**2,
        estimator="prior",
        prior=prior,
        standard=theta,
    )
    return estimate.noting(*data_findings(estimate))


def _bounded(stacked: Array, bound: NDArray[np.bool_]) -> Array:
    """Solution of the stacked triangle with theta[bound] >= 0.

    With the free columns put first, `[R11 R12; 0 R22]`, the bounded ones solve a small problem of their own,
    `min |R22 x - z2|, x >= 0` (Lawson & Hanson), and the free ones follow.
    """
    from scipy.optimize import nnls

    R, z = stacked[:-1, :-1], stacked[:-1, -1]
    lengths = column_lengths(R)
    order = np.argsort(bound, kind="stable")
    free = int(np.sum(~bound))
    system = np.vstack([R / lengths, RIDGE * np.eye(len(lengths))])[:, order]
    reduced = triangle(np.column_stack([system, np.concatenate([z, np.zeros(len(lengths))])]))
    theta = np.zeros(len(lengths))
    if free < len(lengths):
        theta[free:] = nnls(reduced[free:-1, free:-1], reduced[free:-1, -1])[0]
    theta[:free] = np.linalg.solve(reduced[:free, :free], reduced[:free, -1] - reduced[:free, free:-1] @ theta[free:])
    solution = np.zeros_like(theta)
    solution[order] = theta
    return solution / lengths


def _noise(info: SquareRootInformation, stacked: Array, noise: Array, theta: Array) -> Array:
    """(n,) residual deviation of each joint; the floor keeps noise-free joints from infinite weight.

    `noise` is the deviation that the rows were weighted by.
    """
    R = stacked[:-1, :-1]
    lengths = column_lengths(R)
    half = np.linalg.pinv(R / lengths, rcond=1e-10) / lengths[:, None]
    paid = np.array(
        [
            float(np.sum((factor[:, :-1] @ half[list(columns)]) ** 2)) / noise[j] ** 2
            for j, (columns, factor) in enumerate(zip(info.support, info.factors, strict=True))
        ]
    )
    rows = np.array(info.rows, dtype=np.float64)
    floor = 1e-9 * np.sqrt(info.energy / np.maximum(rows, 1.0)).max()
    return np.maximum(np.sqrt(info.misfit(theta) / np.maximum(rows - paid, 1.0)), floor)
