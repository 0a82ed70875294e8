"""Robust least squares: rows that lie far off count less, and where they lie is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.estimate.least_squares import solve, weighted
from steelyard.estimate.residual import fitted_rows, residuals
from steelyard.estimate.result import Estimate
from steelyard.estimate.scores import hat_trace
from steelyard.finding import Finding
from steelyard.model import Model

Array = NDArray[np.float64]
NORMAL_MAD = 0.6744897501960817  # median of |x| for a standard normal x
DELTA = 1.345  # on the scale of the deviation: 95 % efficient for normal noise
REJECT = 5.0  # deviations, which one normal value in two millions exceeds
GROSS = 4.0  # deviations beyond which a row is called an outlier: 1 of 16 000 for normal noise
NOTABLE = 1e-3  # share of outliers from which it is a finding
APART = 0.2  # [s] outliers nearer than this make one interval
SETTLED = 1e-2  # of the deviations
PASSES = 30  # at most, with and without the rows that are left out
EXACT = 1e-10  # of the torque: scale below which residuals are rounding


@dataclass(frozen=True)
class _Rows:
    """Residuals of one recording, and which rows count."""

    trajectory: Trajectory
    residual: Array
    used: NDArray[np.bool_]


def huber(
    model: Model,
    trajectories: Sequence[Trajectory],
    *,
    basis: ParameterBasis | None = None,
    delta: float = DELTA,
    reject: float = REJECT,
    lowpass: LowPass | None = None,
) -> Estimate:
    """Huber's estimator, `theta = argmin sum_j sum_t rho((tau_jt - Y_jt theta) / s_j)`, by reweighted passes.

    rho is a square up to `delta` and straight beyond. s_j is the median absolute residual of joint j over 0.6745, so
    that a tenth of wild rows does not move it. Each pass weights the rows by min(1, delta s_j / |r|) and absorbs again.
    Once that has settled, rows beyond `reject` deviations of it are left out (Hampel's skipping): straight as rho is,
    5 % of gross outliers would cost a tenth of the accuracy, and so they cost a fiftieth.
    The deviations are Huber's, `s^2 E psi^2 / (E psi')^2 (Y'Y)^-1`. Source: Huber, Robust Statistics, 1981, ch. 7.

    Args:
        model: robot and terms.
        trajectories: prepared recordings, as for `Model.absorb`.
        basis: base parameters of the model; None to estimate the columns as they are.
        delta: in deviations; 1.345 is 95 % efficient for normal noise, 1.5 is 96.4 %.
        reject: in deviations, above `delta`; infinite for Huber's estimator as it stands.
        lowpass: as for `Model.absorb`; weights are those of the filtered rows.

    Returns:
        An estimate whose information is that of the weighted rows; finding ``fit.outliers`` for each joint that has
        them, with the share down-weighted and the intervals.

    Raises:
        StudyError: a delta that is not positive, or not below `reject`.
        DataError: no rows at all, or a channel is missing.
    """
    if not 0.0 < delta < reject:
        raise StudyError(
            "delta is a number of deviations, above zero and below reject", value=delta, cure=f"delta={DELTA}"
        )
    own = [t.ordered(model.robot.joint_names) for t in trajectories]
    names = None if basis is None else basis.names
    estimate = weighted(model.absorb(own, names=names, lowpass=lowpass), basis=basis)
    for skip in (np.inf, reject):
        for _ in range(PASSES):
            rows = [
                _Rows(t, residuals(model, estimate, t, lowpass=lowpass), fitted_rows(t, lowpass=lowpass)) for t in own
            ]
            scale = _scale(rows, hat_trace(estimate))
            reweighted = [_reweighted(r, delta * scale, skip * scale) for r in rows]
            previous, estimate = estimate, _solved(model, reweighted, estimate, scale, lowpass)
            if np.all(np.abs(estimate.theta - previous.theta) <= SETTLED * estimate.deviation):
                break
    noise = np.array(estimate.noise)
    noise[model.robot.base_rows :] *= _inflation(rows, scale, delta, reject)
    return replace(estimate, noise=noise, estimator="huber").noting(*_outliers(model, rows, scale, delta))


def _solved(
    model: Model, trajectories: Sequence[Trajectory], before: Estimate, scale: Array, lowpass: LowPass | None
) -> Estimate:
    """One pass: absorb the weighted rows and solve."""
    info = model.absorb(trajectories, names=before.names, lowpass=lowpass)
    pad = len(info.joints) - len(scale)  # the rows of a floating base keep their weight
    noise = np.concatenate([before.noise[:pad], scale])
    weights = np.concatenate([before.weights[:pad], 1.0 / scale**2])
    return replace(before, information=info, theta=solve(info, weights), weights=weights, noise=noise)


def _scale(rows: Sequence[_Rows], paid: Array) -> Array:
    """(n,) median absolute residual over 0.6745 [N m or N], the parameters that each joint pays for taken off."""
    n = rows[0].residual.shape[1]
    scale = np.ones(n)
    for j in range(n):
        sizes = np.concatenate([np.abs(r.residual[r.used[:, j], j]) for r in rows])
        torque = np.concatenate([r.trajectory.channel("tau")[r.used[:, j], j] for r in rows])
        if sizes.size == 0:
            continue
        freed = sizes.size / max(1.0, sizes.size - paid[len(paid) - n + j])
        floor = max(EXACT * float(np.sqrt(np.mean(torque**2))), np.finfo(float).tiny ** 0.25)
        scale[j] = max(float(np.median(sizes)) / NORMAL_MAD * np.sqrt(freed), floor)
    return scale


def _reweighted(rows: _Rows, limit: Array, skip: Array) -> Trajectory:
    size = np.abs(rows.residual)
    weight = np.divide(limit, size, out=np.ones_like(size), where=size > limit) * (size <= skip)
    given = rows.trajectory.weight
    return replace(rows.trajectory, weight=weight if given is None else weight * given)


def _inflation(rows: Sequence[_Rows], scale: Array, delta: float, reject: float) -> Array:
    """(n,) by which the deviations of weighted least squares are wider, `sqrt(E w E psi^2) / E psi'`, rows kept."""
    result = np.ones(len(scale))
    for j, s in enumerate(scale):
        size = np.concatenate([np.abs(r.residual[r.used[:, j], j]) for r in rows]) / s
        size = size[size <= reject]
        if size.size:
            weight = np.minimum(1.0, delta / np.maximum(size, delta))
            linear = max(float(np.mean(size <= delta)), 1.0 / size.size)
            result[j] = np.sqrt(np.mean(weight) * np.mean(np.minimum(size, delta) ** 2)) / linear
    return result


def _outliers(model: Model, rows: Sequence[_Rows], scale: Array, delta: float) -> list[Finding]:
    """For each joint with outliers one finding: share, share down-weighted, and where most of them lie."""
    findings = []
    for j, name in enumerate(model.robot.joint_names):
        count = sum(int(r.used[:, j].sum()) for r in rows)
        sizes = [np.abs(r.residual[:, j]) / scale[j] * r.used[:, j] for r in rows]
        gross = sum(int((size > GROSS).sum()) for size in sizes)
        if count == 0 or gross / count <= NOTABLE:
            continue
        down = sum(int((size > delta).sum()) for size in sizes) / count
        places = [place for r, size in zip(rows, sizes, strict=True) for place in _intervals(r.trajectory, size)]
        places.sort(reverse=True)
        words = ", ".join(f"{start:.2f} to {stop:.2f} s of {run}" for _, start, stop, run in places[:3])
        more = f" and {len(places) - 3} other places" if len(places) > 3 else ""
        findings.append(
            Finding(
                "fit.outliers",
                "warning",
                f"{100.0 * gross / count:.2g} % of the rows of {name} lie beyond {GROSS:g} deviations "
                f"({100.0 * down:.2g} % were down-weighted), most of them at {words}{more}",
                where=name,
                value=gross / count,
                cure="look at the recording there: contact, saturation, a lost packet; leave the interval out",
            )
        )
    return findings


def _intervals(trajectory: Trajectory, size: Array) -> list[tuple[float, float, float, str]]:
    """Stretches of outliers: (excess, first, last time [s], recording)."""
    at = np.flatnonzero(size > GROSS)
    if at.size == 0:
        return []
    cuts = np.flatnonzero(np.diff(trajectory.time[at]) > APART) + 1
    return [
        (float(size[part].sum()), float(trajectory.time[part[0]]), float(trajectory.time[part[-1]]), trajectory.name)
        for part in np.split(at, cuts)
    ]
