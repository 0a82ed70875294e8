"""Residuals that are correlated in time: how many samples count as one, and intervals that know it.

Neighbouring samples of filtered noise are the same noise, so that `s^2 (Y'Y)^-1` claims far too much. With the long-run
variance S_j (the noise spectrum at the slow frequencies where regressors live) in place of the variance s_j^2,

    cov theta = A^-1 (sum_j w_j^2 S_j Y_j'Y_j) A^-1,    A = sum_j w_j Y_j'Y_j,    S_j = t_j s_j^2,

and t_j is the number of samples that count as one (the integrated autocorrelation time of the noise).
Sources: Newey & West 1987; Lazarus, Lewis, Stock & Watson, HAR inference, 2018.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.errors import DataError
from steelyard.estimate.least_squares import solve, weighted
from steelyard.estimate.prior import Prior
from steelyard.estimate.regularised import with_prior
from steelyard.estimate.result import DEPENDENT, Estimate
from steelyard.estimate.scores import block_scores, hat_trace
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation

Array = NDArray[np.float64]
COLOURED = 2.0  # samples that count as one from which residuals are called coloured
EXACT = 1e-9  # of the torque: residuals below it are rounding
LEAST = 0.05  # samples: residuals that alternate in sign count more often than once, but not without end
SLOW_SHARE = 0.4  # number of slow cosines over samples^(2/3) (Lazarus et al.)


def correlation_time(
    residual: Array,
    *,
    paid: float | Array = 0.0,
    valid: NDArray[np.bool_] | None = None,
    segments: Sequence[slice] | None = None,
) -> Array:
    """Number of samples that count as one, from residuals alone: `t_j = S_j / s_j^2`.

    S_j is the mean square of the slowest cosines of the residual (equal-weighted cosine estimator), what the fit took
    out of them made good: a parameter costs a slow cosine, not a sample. Where the blocks of the fit are at hand,
    `score_correlation_time` is surer, as it knows the frequencies of every column.

    Args:
        residual: (T, n) [N m or N] on a uniform clock.
        paid: parameters that each joint pays for, the trace of its block of the hat matrix; one number or (n,).
        valid: (T, n) rows that were fitted; None for all.
        segments: stretches without a gap; None for one.

    Returns:
        (n,) correlation time [samples]; 1 where a joint has no residual.

    Raises:
        DataError: residuals that are not (T, n), or that are not finite.
    """
    residual = np.asarray(residual, dtype=np.float64)
    if residual.ndim != 2 or not np.isfinite(residual).all():
        raise DataError("residuals must be finite and of shape (samples, joints)", value=residual.shape)
    used = np.ones(residual.shape, dtype=bool) if valid is None else valid
    paid = np.broadcast_to(np.asarray(paid, dtype=np.float64), (residual.shape[1],))
    rows = used.sum(axis=0).astype(np.float64)
    clean = np.where(used, residual, 0.0)
    energy = np.sum(clean**2, axis=0)
    slow = [
        _slow_energy(clean[segment], used[segment], paid * used[segment].sum(axis=0) / np.maximum(rows, 1.0))
        for segment in (segments or (slice(0, len(residual)),))
    ]
    counted = sum(count for _, count in slow)
    long_run = sum(total for total, _ in slow) / np.maximum(counted - paid, 1.0)
    # what the fit took out was slow: a parameter costs t rows' worth of energy, rss = s^2 (rows - t paid)
    variance = (energy + long_run * paid) / np.maximum(rows, 1.0)
    time = np.divide(long_run, variance, out=np.ones_like(rows), where=variance > 0.0)
    return np.clip(time, LEAST, np.maximum(rows, 1.0))


def _slow_energy(residual: Array, used: NDArray[np.bool_], paid: Array) -> tuple[Array, Array]:
    """Energy of the slowest cosines, scaled to one row each, and how many there are, (n,) both."""
    from scipy.fft import dct

    T = len(residual)
    power = np.square(dct(residual, type=2, norm="ortho", axis=0))
    wanted = np.ceil(SLOW_SHARE * T ** (2.0 / 3.0) + paid)
    count = np.minimum(wanted, T)
    inside = np.arange(T)[:, None] < count
    share = np.maximum(used.mean(axis=0), 1.0 / T)  # masked rows carry nothing: each cosine holds less
    return np.sum(np.where(inside, power, 0.0), axis=0) / share, count


def score_correlation_time(blocks: Sequence[SquareRootInformation], estimate: Estimate) -> Array:
    """Number of samples that count as one, from the information of consecutive stretches, without the samples.

    With L L' = A the scores `u_jb = w_j L^-1 Y_jb' e_jb` of joint j in stretch b are the pushes of the noise on the
    parameters, in units of their own certainty. For long-run variances S_j

        E sum_b |u_jb|^2 = w_j S_j sum_b (tr G_jb - 2 tr G_jb^2) + sum_i w_i S_i sum_b tr(G_jb G_i G_jb),

    G_jb = w_j L^-1 Y_jb'Y_jb L^-T, G_i = sum_b G_ib: n equations for n variances, exact whatever the columns and the
    colour, as long as the noise is forgotten within a stretch. Slow noise weighs as much as the columns are slow. A
    prior is one more G, of variance one.

    Args:
        blocks: consecutive stretches of what was fitted (`absorb_blocks`), of the columns that were fitted.
        estimate: the fit, with or without a prior.

    Returns:
        (n,) correlation time [samples], relative to `estimate.noise`; 1 for a joint without residual.

    Raises:
        InformationError: blocks of other columns.
    """
    scores, gains, rest, _ = block_scores(blocks, estimate)
    total = gains.sum(axis=0)
    pushed = np.sum(scores**2, axis=(0, 2)) - np.einsum("bjpq,qr,bjrp->j", gains, rest, gains, optimize=True)
    own = np.einsum("bjpp->j", gains) - 2.0 * np.einsum("bjpq,bjpq->j", gains, gains)
    shared = np.einsum("bjpq,iqr,bjrp->ji", gains, total, gains, optimize=True)
    expected = np.diag(own) + shared  # of w_i S_i
    alone = np.divide(pushed, expected.sum(axis=1), out=np.zeros_like(own), where=expected.sum(axis=1) > 0.0)
    long_run = np.maximum(np.linalg.lstsq(expected, pushed, rcond=1e-9)[0], LEAST * alone)
    variance = estimate.weights * estimate.noise**2
    known = (variance > 0.0) & (long_run > 0.0)
    time = np.divide(long_run, variance, out=np.ones_like(variance), where=known)
    traces = np.einsum("bjpp->j", gains) ** 2
    freedom = np.divide(traces, np.einsum("bjpq,bjpq->j", gains, gains), out=np.ones_like(traces), where=traces > 0.0)
    return np.maximum(_drawn_together(time, freedom, known), LEAST)


def _drawn_together(time: Array, freedom: Array, known: NDArray[np.bool_]) -> Array:
    """Times moved towards their common mean by as much as their own scatter explains (Efron & Morris on logarithms).

    Joints share a recorder and often a filter; where they do, the mean is surer than each; where they differ by more
    than chance, `log t_j`, of variance 2 / freedom_j, stays within a deviation of its own value.
    """
    if known.sum() < 3:
        return time
    scatter = 2.0 / freedom[known]
    logs = np.log(time[known]) + 0.5 * scatter  # the mean of the logarithm of a chi-square lies below that of its mean
    mean = np.average(logs, weights=1.0 / scatter)
    between = max(0.0, float(np.average((logs - mean) ** 2 - scatter, weights=1.0 / scatter)))
    result = time.copy()
    shift = scatter / (between + scatter) * (mean - logs)
    result[known] = np.exp(logs + np.clip(shift, -np.sqrt(scatter), np.sqrt(scatter)))
    return result


def with_correlation(estimate: Estimate, time: Array) -> Estimate:
    """The estimate with deviations and intervals for residuals of which `time` (n,) samples count as one.

    The noise is raised as well: a parameter takes t rows' worth of energy out of the residual, not one.
    """
    info = estimate.information
    rows = np.maximum(np.array(info.rows, dtype=np.float64), 1.0)
    raised = np.maximum(1.0 + hat_trace(estimate) * (time - 1.0) / rows, 0.5)
    corrected = replace(estimate, noise=estimate.noise * np.sqrt(raised), correlation_time=time / raised)
    worst = int(np.argmax(time))
    if time[worst] < COLOURED:
        return corrected
    return corrected.noting(
        Finding(
            "fit.coloured_residual",
            "info",
            f"the residual is correlated: {time[worst]:.0f} samples of {info.joints[worst]} count as one, "
            "and the intervals allow for it",
            where=info.joints[worst],
            value=float(time[worst]),
            cure="nothing to do for the intervals; a missing effect (friction, flexibility) also shows in this way",
        )
    )


def generalised(
    info: SquareRootInformation,
    time: Array,
    *,
    basis: ParameterBasis | None = None,
    prior: Prior | None = None,
    iterations: int = 20,
) -> Estimate:
    """Least squares with each joint weighted by its long-run variance, `w_j = 1 / (s_j^2 t_j)`.

    For noise that is forgotten faster than the motion changes this is generalised least squares: the inverse of
    the noise's covariance acts on slow columns as one over its long-run variance.

    Args:
        info: of the full columns, or of the basis columns alone.
        time: (n,) samples that count as one, e.g. of `score_correlation_time`; they must be positive.
        basis: base parameters of the model; None to estimate the columns as they are.
        prior: on all columns of the model; it weighs what it should only against honest noise.
        iterations: at most.

    Raises:
        DataError: no rows at all, or a time that is not positive.
    """
    time = np.asarray(time, dtype=np.float64)
    estimate = weighted(info, basis=basis) if prior is None else with_prior(info, prior, basis=basis)
    if time.shape != estimate.weights.shape or not np.all(time > 0.0):
        raise DataError("correlation times must be positive, one for each joint", value=time.tolist())
    rows = np.maximum(np.array(info.rows, dtype=np.float64), 1.0)
    empty = np.array(info.rows) == 0
    quiet = empty | (estimate.noise <= EXACT * np.sqrt(info.energy / rows))  # rounding: these weights stand
    estimate = replace(estimate, weights=estimate.weights / time, estimator="generalised")
    for _ in range(iterations):
        estimate = _solved(estimate)
        paid = np.minimum(hat_trace(estimate), rows - 1.0)
        noise = np.sqrt(estimate.information.misfit(estimate.theta) / (rows - paid))
        weights = np.where(quiet, estimate.weights, 1.0 / (np.where(quiet, 1.0, noise) ** 2 * time))
        settled = np.allclose(noise, estimate.noise, rtol=1e-9, atol=0.0)
        estimate = replace(estimate, noise=noise, weights=weights)
        if settled:
            break
    return with_correlation(estimate, time)


def _solved(estimate: Estimate) -> Estimate:
    """The estimate solved again with its weights."""
    if estimate.prior is None:
        return replace(estimate, theta=solve(estimate.information, estimate.weights))
    stacked = estimate.information.scale(estimate.weights).stacked()
    basis = estimate.basis if estimate.names != estimate.prior.names else None
    rows = stacked[:, :-1] if basis is None else stacked[:, :-1] @ basis.matrix
    system = np.vstack([np.column_stack([rows, stacked[:, -1]]), estimate.prior.rows()])
    lengths = np.linalg.norm(system[:, :-1], axis=0)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    standard = np.linalg.lstsq(system[:, :-1] / lengths, system[:, -1], rcond=DEPENDENT)[0] / lengths
    return replace(estimate, theta=standard if basis is None else basis.regroup(standard), standard=standard)


def fit_blocks(
    blocks: Sequence[SquareRootInformation], *, basis: ParameterBasis | None = None, prior: Prior | None = None
) -> Estimate:
    """Least squares on consecutive stretches of recordings, with intervals for whatever colour their residual has.

    Args:
        blocks: of `absorb_blocks`, ten or more, each several correlation times long.
        basis: base parameters of the model; None to estimate the columns as they are.
        prior: on all columns of the model.

    Raises:
        DataError: no rows at all.
        InformationError: blocks of different columns.
    """
    if not blocks:
        raise DataError("there is no stretch to fit", cure="check the interval and the masks")
    info = blocks[0]
    for block in blocks[1:]:
        info = info.merge(block)
    first = weighted(info, basis=basis) if prior is None else with_prior(info, prior, basis=basis)
    return generalised(info, score_correlation_time(blocks, first), basis=basis, prior=prior)


def near_white_step(
    residual: Array,
    *,
    paid: float | Array = 0.0,
    valid: NDArray[np.bool_] | None = None,
    segments: Sequence[slice] | None = None,
) -> int:
    """Of how many samples one must be kept for what is left to be near white, for the most coloured joint.

    The least whole number not below the largest correlation time: filtered noise sampled at the rate of its own band.

    Args:
        residual, paid, valid, segments: as for `correlation_time`.
    """
    return max(1, int(np.ceil(correlation_time(residual, paid=paid, valid=valid, segments=segments).max() - 0.5)))
