"""Block bootstrap from triangles: deviations that assume nothing about the colour or the size of the noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import DataError
from steelyard.estimate.result import Estimate
from steelyard.estimate.scores import block_scores
from steelyard.information import SquareRootInformation

Array = NDArray[np.float64]
FEWEST = 8
LEVERAGE = 0.999  # of one stretch; above it the rest of the recording does not know some combination at all


@dataclass(frozen=True)
class Bootstrap:
    """Estimates from recordings drawn anew, stretch by stretch.

    Attributes:
        names: b parameters.
        theta: (b,) the estimate itself.
        draws: (N, b) the estimates of the drawn recordings.
        freedom: (b,) degrees of freedom of each deviation: of so many stretches is it made, in effect.
    """

    names: tuple[str, ...]
    theta: Array
    draws: Array
    freedom: Array

    def __post_init__(self) -> None:
        for array in (self.theta, self.draws, self.freedom):
            array.setflags(write=False)

    @property
    def covariance(self) -> Array:
        """(b, b) second moments of the draws about the estimate."""
        away = self.draws - self.theta
        return np.asarray(away.T @ away / len(away))

    @property
    def deviation(self) -> Array:
        """(b,) standard deviations."""
        return np.sqrt(np.diag(self.covariance))

    def interval(self, level: float = 0.95) -> Array:
        """(b, 2) Student intervals; percentiles of the draws would take a deviation made of few stretches for exact."""
        from scipy.special import stdtrit

        half = stdtrit(self.freedom, 0.5 + level / 2.0) * self.deviation
        return np.column_stack([self.theta - half, self.theta + half])


def bootstrap(
    blocks: Sequence[SquareRootInformation], estimate: Estimate, *, draws: int = 1000, seed: int = 0
) -> Bootstrap:
    """Weigh the stretches at random and solve again, `theta* = theta + (sum_b c_b G_b)^-1 sum_b (c_b - 1) g_b`.

    The weights c_b are exponential with mean and variance one (the Bayesian bootstrap): as drawing with replacement,
    but no draw loses a stretch, so that a motion that shows each parameter only once can be judged too. g_b are the
    scores times (I - G_b)^-1/2, since the fit has made the residual of each stretch smaller than its noise (Bell &
    McCaffrey 2002). The weights of the joints stay as fitted; under a prior its means are drawn as well. Stretches
    should be several correlation times long; there should be twenty or more.

    Args:
        blocks: consecutive stretches of what was fitted (`absorb_blocks`).
        estimate: the fit.
        draws: number of estimates.
        seed: of the weights.

    Raises:
        DataError: too few stretches, or one that alone knows some combination of parameters.
        InformationError: blocks of other columns.
    """
    if len(blocks) < FEWEST:
        raise DataError(
            f"a bootstrap needs {FEWEST} stretches or more", value=len(blocks), cure="absorb_blocks(..., count=30)"
        )
    parts = block_scores(blocks, estimate)
    gains, scores = parts.gains.sum(axis=1), parts.scores.sum(axis=1)
    alone = max(float(np.linalg.eigvalsh(G)[-1]) for G in gains)
    if alone > LEVERAGE:
        raise DataError(
            "one stretch alone shows some combination of parameters: there is nothing to draw it against",
            value=f"{alone:.4f} of its information",
            cure="record the motion twice, or take the covariance of the estimate",
        )
    spread = np.stack([_power(np.eye(len(G)) - G, -0.5) for G in gains])
    scores = np.einsum("bpq,bq->bp", spread, scores)
    rng = np.random.default_rng(seed)
    root = _power(parts.rest, 0.5)
    moved = np.zeros((draws, len(estimate.names)))
    back = parts.whitener
    if estimate.prior is not None and estimate.basis is not None:
        back = estimate.basis.matrix @ back
    for k in range(draws):
        weights = rng.exponential(size=len(blocks))
        push = (weights - 1.0) @ scores + root @ rng.normal(size=len(root))
        moved[k] = back @ np.linalg.solve(parts.rest + np.tensordot(weights, gains, axes=1), push)
    return Bootstrap(estimate.names, np.array(estimate.theta), estimate.theta + moved, _freedom(back, spread, gains))


def with_drawn_intervals(
    estimate: Estimate, blocks: Sequence[SquareRootInformation], *, draws: int = 1000, seed: int = 0
) -> Estimate:
    """The estimate with deviations and intervals of a bootstrap in place of those by its covariance; as `bootstrap`."""
    found = bootstrap(blocks, estimate, draws=draws, seed=seed)
    return replace(estimate, drawn_covariance=found.covariance, drawn_freedom=found.freedom)


def _freedom(back: Array, spread: Array, gains: Array) -> Array:
    """(b,) degrees of freedom of each deviation (Satterthwaite), as if the noise were white (Bell & McCaffrey 2002).

    For a parameter l, a row of the map `back`, the stretches' scores `z_b = l'A_b (u_b - G_b u)` have covariance
    `C_bc = l'A_b (G_b [b = c] - G_b G_c) A_c l`, A_b = (I - G_b)^-1/2, and the sum of their squares is like one of
    (tr C)^2 / tr C^2 independent ones.
    """
    freedom = np.ones(len(back))
    for k, parameter in enumerate(back):
        own = np.einsum("bpq,q->bp", spread, parameter)
        seen = np.einsum("bpq,bq->bp", gains, own)
        C = np.diag(np.sum(own * seen, axis=1)) - seen @ seen.T
        square = float(np.sum(C**2))
        freedom[k] = max(1.0, float(np.trace(C)) ** 2 / square) if square > 0.0 else 1.0
    return freedom


def _power(matrix: Array, power: float) -> Array:
    """Power of a symmetric matrix that is positive semidefinite but for rounding, on its range."""
    values, V = np.linalg.eigh(0.5 * (matrix + matrix.T))
    held = values > 1e-9
    return np.asarray((V[:, held] * values[held] ** power) @ V[:, held].T)
