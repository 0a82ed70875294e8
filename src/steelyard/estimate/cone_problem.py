"""The consistent least-squares problem in the coordinates of a LinkMap, and what its solvers return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.estimate.symmetric import IDENTITY

Array = NDArray[np.float64]


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
