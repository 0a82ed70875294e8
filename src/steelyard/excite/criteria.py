"""What makes a motion informative: functions of the information matrix G, each with its spectral weight.

A criterion maps G (b, b) to a value to be made small and to the symmetric H with `d value = <H, dG>`, so that one
adjoint call gives the derivative by the motion. With eigenvalues l_1 <= ... <= l_b of G:

    d                  -log det G / b             volume of the confidence ellipsoid, free of units
    a                  log trace G^-1             mean variance
    e                  -log l_1, smooth           largest variance
    condition          log sqrt(l_b / l_1), smooth
    condition_scaled   the same after scaling the columns to one length

Variance is sigma^2 / l, so that D is the default and the condition number, which ignores size and depends on units, is
not (Pukelsheim, Optimal Design of Experiments, ch. 6). Where an extreme eigenvalue is multiple the largest and smallest
have no derivative; they are replaced by p-norms, `log l_b = log(sum l^p) / p` and alike, which are from above and
within log(b) / p.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from steelyard.errors import StudyError

Array = NDArray[np.float64]
SHARPNESS = 20.0
SMALLEST = 1e-15  # eigenvalues are read no smaller than this times the largest: below lies rounding


class Judgement(NamedTuple):
    """Value of a criterion, smaller is better, infinite where G is singular; H, (b, b), or empty when not asked for."""

    value: float
    weight: Array


Criterion = Callable[[Array, bool], Judgement]
NO_WEIGHT = np.zeros((0, 0))
SINGULAR = Judgement(np.inf, NO_WEIGHT)


def criterion_named(name: str, *, sharpness: float = SHARPNESS) -> Criterion:
    """A criterion by its short name: a function of G and of whether the weight is wanted.

    Args:
        name: d, a, e, condition or condition_scaled.
        sharpness: exponent p of the smooth extremes.

    Raises:
        StudyError: another name.
    """
    named: dict[str, Criterion] = {
        "d": determinant,
        "a": trace,
        "e": partial(smallest, sharpness=sharpness),
        "condition": partial(condition, sharpness=sharpness),
        "condition_scaled": partial(condition_scaled, sharpness=sharpness),
    }
    if name not in named:
        raise StudyError("not a criterion of excitation", value=name, choices=tuple(named))
    return named[name]


def determinant(G: Array, weigh: bool = True) -> Judgement:
    """`-log det G / b`, H = -G^-1 / b."""
    L, failed = lapack.dpotrf(G, lower=1)
    diagonal = L.diagonal()
    if failed or not np.all(diagonal > 0.0):
        return SINGULAR
    value = -2.0 * float(np.log(diagonal).sum()) / len(G)
    return Judgement(value, _inverse(L) / -len(G) if weigh else NO_WEIGHT)


def trace(G: Array, weigh: bool = True) -> Judgement:
    """`log trace G^-1`, H = -G^-2 / trace G^-1."""
    L, failed = lapack.dpotrf(G, lower=1)
    if failed or not np.all(L.diagonal() > 0.0):
        return SINGULAR
    inverse = _inverse(L)
    total = float(np.trace(inverse))
    return Judgement(float(np.log(total)), (inverse @ inverse) / -total if weigh else NO_WEIGHT)


def smallest(G: Array, weigh: bool = True, *, sharpness: float = SHARPNESS) -> Judgement:
    """`log(sum l^-p) / p`, which is -log l_1 for large p."""
    values, vectors = _spectrum(G, weigh)
    if values[-1] <= 0.0:
        return SINGULAR
    share = (values[0] / values) ** sharpness
    value = np.log(share.sum()) / sharpness - np.log(values[0])
    return Judgement(float(value), _weight(vectors, -share / share.sum() / values) if weigh else NO_WEIGHT)


def condition(G: Array, weigh: bool = True, *, sharpness: float = SHARPNESS) -> Judgement:
    """`(log(sum l^p) + log(sum l^-p)) / 2p`, which is the log of the condition number of the rows for large p."""
    values, vectors = _spectrum(G, weigh)
    if values[-1] <= 0.0:
        return SINGULAR
    low = (values[0] / values) ** sharpness
    high = (values / values[-1]) ** sharpness
    value = 0.5 * (np.log(low.sum() * high.sum()) / sharpness + np.log(values[-1] / values[0]))
    slope = 0.5 * (high / high.sum() - low / low.sum()) / values
    return Judgement(float(value), _weight(vectors, slope) if weigh else NO_WEIGHT)


def condition_scaled(G: Array, weigh: bool = True, *, sharpness: float = SHARPNESS) -> Judgement:
    """`condition` of S G S with S = diag(G)^-1/2; H = S H_s S - diag(rows of (H_s * S G S)) / diag(G)."""
    length = np.diag(G)
    if not np.all(length > 0.0):
        return SINGULAR
    S = length**-0.5
    scaled = G * np.outer(S, S)
    value, H = condition(scaled, weigh, sharpness=sharpness)
    if not weigh or not np.isfinite(value):
        return Judgement(value, NO_WEIGHT)
    return Judgement(value, H * np.outer(S, S) - np.diag((H * scaled).sum(axis=1) / length))


def condition_number(G: Array, *, scaled: bool = False) -> float:
    """The condition number of the rows themselves, `sqrt(l_b / l_1)`, with columns scaled to one length if wanted."""
    if scaled:
        S = np.diag(G) ** -0.5
        G = G * np.outer(S, S)
    values = np.linalg.eigvalsh(G)
    return float(np.sqrt(values[-1] / max(values[0], SMALLEST * values[-1])))


def _inverse(L: Array) -> Array:
    """G^-1 from its lower Cholesky factor."""
    half, _ = lapack.dpotri(L, lower=1)
    full: Array = np.tril(half)
    return full + np.tril(half, -1).T


def _spectrum(G: Array, weigh: bool) -> tuple[Array, Array]:
    values, vectors, _ = lapack.dsyevd(G, compute_v=int(weigh), lower=1)
    return np.maximum(values, SMALLEST * values[-1]), vectors


def _weight(vectors: Array, slope: Array) -> Array:
    return (vectors * slope) @ vectors.T
