"""The consistent least-squares problem in the coordinates of a LinkMap, and what its solvers return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.estimate.symmetric import IDENTITY, matrices

Array = NDArray[np.float64]
INSIDE = 0.02  # of its size, or of the range: how far a prior keeps from a limit
OFF_ZERO = 1e-3  # of the torque: where friction that would be negative starts


class Solution(NamedTuple):
    """What a solver found.

    Attributes:
        y: (u,) coordinates.
        multipliers: (k,) of the linear limits, not negative.
        stationarity: length of the gradient of the Lagrangian, relative to that of the data, A'z.
        steps: iterations.
    """

    y: Array
    multipliers: Array
    stationarity: float
    steps: int


@dataclass(frozen=True)
class ConeProblem:
    """`minimise 1/2 |A y - z|^2 + gamma sum_l (tr Y_l - log det Y_l)` over `Y_l > 0`, `G y >= g`.

    Attributes:
        A: (m, u) weighted regressors in the coordinates of a LinkMap; the first 10 L belong to the links.
        z: (m,) weighted torque.
        links: L.
        gamma: weight of the divergence.
        G, g: (k, u) and (k,) linear limits, G y >= g.
        slack: what the product of a multiplier and its distance from the limit comes to.
    """

    A: Array
    z: Array
    links: int
    gamma: float
    G: Array
    g: Array
    slack: float

    def __post_init__(self) -> None:
        for array in (self.A, self.z, self.G, self.g):
            array.setflags(write=False)

    @property
    def rigid(self) -> int:
        """Number of coordinates of links."""
        return 10 * self.links

    def gradient(self, y: Array) -> Array:
        """(u,) of the objective without the log-determinants: `A'(A y - z) + gamma I`."""
        slope: Array = self.A.T @ (self.A @ y - self.z)
        slope[: self.rigid] += self.gamma * np.tile(IDENTITY, self.links)
        return slope

    @property
    def curvature(self) -> float:
        """Mean curvature of the data along the coordinates of the links (of all of them, when there is no link)."""
        columns = self.A[:, : self.rigid] if self.rigid else self.A
        mean = float(np.mean(np.sum(columns**2, axis=0))) if columns.size else 1.0
        return mean if mean > 0.0 else 1.0

    def misfit(self, y: Array) -> float:
        """Weighted sum of squared residuals `|A y - z|^2`."""
        return float(np.sum((self.A @ y - self.z) ** 2))


def interior_start(cone: ConeProblem, prior: Array) -> Array:
    """(u,) the prior, with the scalars that fit best beside it, kept off their limits.

    Args:
        cone: whose limits on bodies the prior keeps, with some room.
        prior: (u,).
    """
    start = np.array(prior, dtype=np.float64)
    tail = slice(cone.rigid, None)
    if start.size == cone.rigid:
        return start
    rest = cone.z - cone.A[:, : cone.rigid] @ start[: cone.rigid]
    fitted = np.linalg.lstsq(cone.A[:, tail], rest, rcond=1e-9)[0]
    effect = np.linalg.norm(cone.A[:, tail], axis=0)
    wanted = np.where(effect > 0.0, fitted, start[tail])
    low, high = np.full(wanted.size, -np.inf), np.full(wanted.size, np.inf)
    for row, bound in zip(cone.G[:, tail], cone.g, strict=True):
        for s in np.flatnonzero(row):  # a limit on a scalar is on nothing else
            low[s] = max(low[s], bound / row[s]) if row[s] > 0.0 else low[s]
            high[s] = min(high[s], bound / row[s]) if row[s] < 0.0 else high[s]
    off = OFF_ZERO * float(np.linalg.norm(cone.z)) / np.where(effect > 0.0, effect, np.inf)
    margin = np.minimum(np.maximum(off, 1e-9), INSIDE * (high - low))
    start[tail] = np.clip(wanted, low + margin, high - margin)
    return start


def kkt_residual(problem: ConeProblem, y: Array, multipliers: Array) -> float:
    """How far a point is from the optimum, whatever solver found it; relative to the gradient of the data, |A'z|.

    The largest error of the Karush-Kuhn-Tucker conditions: what the limits do not hold of the slope must be a
    positive multiple S of every body, `L'S L = gamma E` with `L L' = Y`; the rest of the slope is zero; limits are
    kept, and where one has a multiplier, reached.

    Args:
        problem: that was solved.
        y: (u,) inside.
        multipliers: (k,) of the limits.
    """
    size = float(np.linalg.norm(problem.A.T @ problem.z)) + problem.gamma
    slope = problem.gradient(y) - problem.G.T @ multipliers
    S = matrices(slope[: problem.rigid].reshape(-1, 10))
    L = np.linalg.cholesky(matrices(y[: problem.rigid].reshape(-1, 10)))
    off = np.swapaxes(L, 1, 2) @ S @ L - problem.gamma * np.eye(4)
    distance = problem.G @ y - problem.g
    errors = (
        float(np.abs(off).max(initial=0.0)),
        float(np.linalg.norm(slope[problem.rigid :])),
        -float(np.linalg.eigvalsh(S).min(initial=0.0)),
        float(np.abs(multipliers * distance - problem.slack).max(initial=0.0)),
        -float(distance.min(initial=0.0)) * size,
    )
    return max(errors) / size
