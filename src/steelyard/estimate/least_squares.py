"""Least squares from the information matrix: every joint alike, or each by its own noise."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.errors import DataError
from steelyard.estimate.result import DEPENDENT, Estimate
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation, column_lengths

Array = NDArray[np.float64]
FLOOR_SHARE = 0.1  # of the simple estimate rss / (rows - paid), below which the solved variance is chance
WEAK = 1e-3  # relative singular value under which a direction is called weak


def ordinary(info: SquareRootInformation, *, basis: ParameterBasis | None = None) -> Estimate:
    """Ordinary least squares, `theta = argmin |tau - Y theta|^2`, solved on the triangle.

    Args:
        info: of the full columns, or of the basis columns alone.
        basis: base parameters of the model; None to estimate the columns as they are.

    Raises:
        DataError: no rows at all.
    """
    info = _columns(info, basis)
    weights = np.ones(len(info.joints))
    theta = solve(info, weights)
    return _estimate(info, basis, weights, theta, noise_of(info, weights, theta), "ordinary")


def weighted(info: SquareRootInformation, *, basis: ParameterBasis | None = None, iterations: int = 20) -> Estimate:
    """Weighted least squares with the noise of each joint estimated from its own residual, to convergence.

    `theta = argmin sum_j |tau_j - Y_j theta|^2 / s_j^2`, `s_j^2 = rss_j / (rows_j - h_j)`, where h_j, the trace of
    the joint's block of the hat matrix, is the share of the parameters that joint j pays for. With rows stacked
    sample by sample the covariance of the noise is `I kron diag(s_j^2)` (not the other way about).

    Args:
        info: of the full columns, or of the basis columns alone.
        basis: base parameters of the model; None to estimate the columns as they are.
        iterations: at most.

    Raises:
        DataError: no rows at all.
    """
    info = _columns(info, basis)
    weights = np.ones(len(info.joints))
    noise = np.ones(len(info.joints))
    theta = np.zeros(len(info.names))
    for _ in range(iterations):
        theta = solve(info, weights)
        previous, noise = noise, noise_of(info, weights, theta)
        weights = 1.0 / _floored(noise, info) ** 2
        if np.allclose(noise, previous, rtol=1e-9, atol=0.0):
            break
    return _estimate(info, basis, weights, theta, noise, "weighted")


def solve(info: SquareRootInformation, weights: Array) -> Array:
    """(p,) weighted least-squares solution, of least length in scaled columns where the data leave it open."""
    if not any(info.rows):
        raise DataError("there is no sample to fit", cure="check the interval and the masks")
    stacked = info.scale(weights).stacked()
    R, z = stacked[:-1, :-1], stacked[:-1, -1]
    lengths = column_lengths(R)
    U, values, Vt = np.linalg.svd(R / lengths)
    held = values > DEPENDENT * values.max(initial=0.0)
    return np.asarray(Vt[held].T @ ((U[:, held].T @ z) / values[held]) / lengths)


def noise_of(info: SquareRootInformation, weights: Array, theta: Array) -> Array:
    """(n,) residual standard deviation of each joint [N m or N], unbiased whatever the weights.

    With `H_j = w_j L^-1 Y_j'Y_j L^-T`, `L L' = sum w_j Y_j'Y_j`, residuals of noise s_j have

        E rss_j = s_j^2 (rows_j - 2 tr H_j) + sum_i (w_i / w_j) s_i^2 tr(H_j H_i),

    n equations for n variances: a joint pays for its parameters, and feels the noise of the others through them.
    """
    scaled = info.scale(weights)
    R = scaled.stacked()[:-1, :-1]
    lengths = column_lengths(R)
    _, values, Vt = np.linalg.svd(R / lengths)
    held = values > DEPENDENT * values.max(initial=0.0)
    half = (Vt[held].T / values[held]) / lengths[:, None]
    parts = [
        factor[:, :-1] @ half[list(columns)] for columns, factor in zip(scaled.support, scaled.factors, strict=True)
    ]
    H = np.array([part.T @ part for part in parts])
    rows = np.array(info.rows, dtype=np.float64)
    traces = np.trace(H, axis1=1, axis2=2)
    cross = np.einsum("jpq,iqp->ji", H, H, optimize=True) * (weights / weights[:, None])
    system = np.diag(rows - 2.0 * traces) + cross
    misfit = info.misfit(theta)
    simple = misfit / np.maximum(rows - traces, 1.0)
    seen = rows > 0.0
    system[~seen] = np.eye(len(rows))[~seen]
    variance = np.linalg.lstsq(system, np.where(seen, misfit, 0.0), rcond=1e-9)[0]
    return np.sqrt(np.where(variance > FLOOR_SHARE * simple, variance, simple))


def _columns(info: SquareRootInformation, basis: ParameterBasis | None) -> SquareRootInformation:
    return info if basis is None or info.names == basis.names else info.select(basis.names)


def _floored(noise: Array, info: SquareRootInformation) -> Array:
    """Noise no smaller than rounding, so that noise-free joints keep finite weights."""
    rows = np.maximum(np.array(info.rows, dtype=np.float64), 1.0)
    scale = float(np.sqrt(info.energy / rows).max(initial=0.0))
    return np.maximum(noise, 1e-13 * scale if scale > 0.0 else 1.0)


def _estimate(
    info: SquareRootInformation, basis: ParameterBasis | None, weights: Array, theta: Array, noise: Array, name: str
) -> Estimate:
    estimate = Estimate(
        names=info.names,
        theta=theta,
        basis=basis,
        information=info,
        weights=weights,
        noise=noise,
        correlation_time=np.ones(len(info.joints)),
        estimator=name,
    )
    return estimate.noting(*data_findings(estimate))


def data_findings(estimate: Estimate) -> list[Finding]:
    """What the motion does not show: lost directions and weak ones, in words."""
    findings = []
    lost = len(estimate.names) - estimate.rank
    if lost:
        parts = estimate.weak_directions(ratio=DEPENDENT)
        names = sorted({name for _, direction in parts for name in direction})
        findings.append(
            Finding(
                "fit.rank_deficient",
                "warning",
                f"the motion shows {estimate.rank} of {len(estimate.names)} parameters; "
                f"{lost} combination(s) of {', '.join(names[:8])} are not in the data",
                value=estimate.rank,
                cure="move the joints concerned, faster and further; more of the same motion does not help",
            )
        )
    for ratio, direction in estimate.weak_directions(ratio=WEAK)[lost:][:5]:
        words = ", ".join(f"{part:+.2f} {name}" for name, part in direction.items())
        findings.append(
            Finding(
                "fit.weak_direction",
                "warning",
                f"the motion barely shows this combination (1 to {1.0 / ratio:.0f} of the best): {words}",
                value=ratio,
                cure="record a motion that moves these bodies faster, further and apart from one another",
            )
        )
    return findings
