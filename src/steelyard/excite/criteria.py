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
have no derivative; they are replaced by p-norms, `log l_b = log(trace G^p) / p` and alike, which err to one side by at
most log(b) / p. With p a power of two these need squarings of G and G^-1 only, at a fraction of the cost of its
eigenvectors.
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
SQUARINGS = 4  # p = 16: smooth enough to descend on, and within a few parts in a hundred of the extremes


class Judgement(NamedTuple):
    """Value of a criterion, smaller is better, infinite where G is singular; H, (b, b), or empty when not asked for."""

    value: float
    weight: Array


Criterion = Callable[[Array, bool], Judgement]
NO_WEIGHT = np.zeros((0, 0))
SINGULAR = Judgement(np.inf, NO_WEIGHT)


def criterion_named(name: str, *, squarings: int = SQUARINGS) -> Criterion:
    """A criterion by its short name: a function of G and of whether the weight is wanted.

    Args:
        name: d, a, e, condition or condition_scaled.
        squarings: of G; the smooth extremes are p-norms with p = 2 ** squarings.

    Raises:
        StudyError: another name.
    """
    named: dict[str, Criterion] = {
        "d": determinant,
        "a": trace,
        "e": partial(smallest, squarings=squarings),
        "condition": partial(condition, squarings=squarings),
        "condition_scaled": partial(condition_scaled, squarings=squarings),
    }
    if name not in named:
        raise StudyError("not a criterion of excitation", value=name, choices=tuple(named))
    return named[name]


def determinant(G: Array, weigh: bool = True) -> Judgement:
    """`-log det G / b`, H = -G^-1 / b."""
    L, failed = lapack.dpotrf(G, lower=1)
    diagonal = L.diagonal()
    if failed or not diagonal.min() > 0.0:
        return SINGULAR
    value = -2.0 * float(np.log(diagonal).sum()) / len(G)
    return Judgement(value, _inverse(L) / -len(G) if weigh else NO_WEIGHT)


def trace(G: Array, weigh: bool = True) -> Judgement:
    """`log trace G^-1`, H = -G^-2 / trace G^-1."""
    inverse = _inverse_of(G)
    if not inverse.size:
        return SINGULAR
    total = float(np.trace(inverse))
    return Judgement(float(np.log(total)), (inverse @ inverse) / -total if weigh else NO_WEIGHT)


def smallest(G: Array, weigh: bool = True, *, squarings: int = SQUARINGS) -> Judgement:
    """`log(trace G^-p) / p`, which is -log l_1 for large p; H = -G^-(p+1) / trace G^-p."""
    inverse = _inverse_of(G)
    if not inverse.size:
        return SINGULAR
    value, power, _ = _power(inverse, squarings, lower=False)
    return Judgement(value, _symmetric(power @ inverse) * -1.0 if weigh else NO_WEIGHT)


def condition(G: Array, weigh: bool = True, *, squarings: int = SQUARINGS) -> Judgement:
    """`log(trace G^p trace G^-p) / 2p`, which is the log of the condition number of the rows for large p."""
    inverse = _inverse_of(G)
    if not inverse.size:
        return SINGULAR
    high, _, up = _power(G, squarings, lower=weigh)
    low, power, _ = _power(inverse, squarings, lower=False)
    return Judgement(0.5 * (high + low), 0.5 * _symmetric(up - power @ inverse) if weigh else NO_WEIGHT)


def condition_scaled(G: Array, weigh: bool = True, *, squarings: int = SQUARINGS) -> Judgement:
    """`condition` of S G S with S = diag(G)^-1/2; H = S H_s S - diag(rows of (H_s * S G S)) / diag(G)."""
    length = np.diag(G)
    if not np.all(length > 0.0):
        return SINGULAR
    S = length**-0.5
    scaled = G * np.outer(S, S)
    value, H = condition(scaled, weigh, squarings=squarings)
    if not weigh or not np.isfinite(value):
        return Judgement(value, NO_WEIGHT)
    return Judgement(value, H * np.outer(S, S) - np.diag((H * scaled).sum(axis=1) / length))


def exact(name: str, G: Array) -> float:
    """The criterion without smoothing: its extremes are eigenvalues; infinite where G is singular.

    Raises:
        StudyError: not a criterion.
    """
    if name in ("d", "a"):
        return criterion_named(name)(G, False).value
    criterion_named(name)
    values = np.linalg.eigvalsh(G)
    if not values[0] > 0.0:
        return float("inf")
    return float(-np.log(values[0])) if name == "e" else float(np.log(condition_number(G, scaled=name != "condition")))


def condition_number(G: Array, *, scaled: bool = False) -> float:
    """The condition number of the rows themselves, `sqrt(l_b / l_1)`, with columns scaled to one length if wanted."""
    if scaled:
        S = np.diag(G) ** -0.5
        G = G * np.outer(S, S)
    values = np.linalg.eigvalsh(G)
    return float(np.sqrt(values[-1] / values[0])) if values[0] > 0.0 else float("inf")


def _inverse_of(G: Array) -> Array:
    """G^-1, or nothing where G is not positive definite."""
    L, failed = lapack.dpotrf(G, lower=1)
    return NO_WEIGHT if failed or not L.diagonal().min() > 0.0 else _inverse(L)


def _inverse(L: Array) -> Array:
    """G^-1 from its lower Cholesky factor."""
    half: Array
    half, _ = lapack.dpotri(L, lower=1)  # its upper triangle is zero, as that of L was
    full = half + half.T
    full.reshape(-1)[:: len(L) + 1] *= 0.5
    return full


def _power(M: Array, squarings: int, *, lower: bool) -> tuple[float, Array, Array]:
    """`log(trace M^p) / p`, `M^p / trace M^p` and, where `lower`, `M^(p-1) / trace M^p`, for p = 2 ** squarings."""
    scale = float(np.trace(M))
    power = M / scale
    log, less, log_less = 0.0, power, 0.0
    for k in range(squarings):
        power = power @ power
        total = float(np.trace(power))
        power /= total
        log = 2.0 * log + np.log(total)
        if lower and k < squarings - 1:
            less, log_less = less @ power, log_less + log
    p = 2**squarings
    if lower:
        less = less * (np.exp(log_less - log) / scale)
    return log / p + float(np.log(scale)), power, less


def _symmetric(M: Array) -> Array:
    return 0.5 * (M + M.T)
