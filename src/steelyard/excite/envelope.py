"""The limits of a whole motion as rows `|C_j x_j| <= 1`, for all instants and not only for those of the rows.

A series of harmonics up to N that stays within c at M equidistant instants of its period, M > 2 N, stays within
`c / cos(pi N / M)` everywhere (Ehlich & Zeller, Schwankung von Polynomen zwischen Gitterpunkten, 1964). The rows are
made tighter by that factor, so that what keeps them keeps its limits at every instant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.excite.fourier import FourierFamily
from steelyard.excite.limits import MotionLimits

Array = NDArray[np.float64]
DENSITY = 32  # instants a period of the highest harmonic: 0.5 % of every limit is given away


class Barrier(NamedTuple):
    """`-sum log(1 - (C x)^2)`, its gradient (n, m) and its exact second derivatives (n, m, m)."""

    value: float
    gradient: Array
    curvature: Array


@dataclass(frozen=True)
class Envelope:
    """Rows of every joint, each scaled by its limit.

    Attributes:
        rows: (n, R, m); a motion of variables x (n, m) keeps its limits when no |rows[j] @ x[j]| exceeds 1.
    """

    rows: Array

    def fill(self, x: Array) -> Array:
        """(n, R) share of its limit that each row uses, with sign."""
        return np.matmul(self.rows, x[:, :, None])[:, :, 0]

    def gauge(self, x: Array) -> Array:
        """(n,) the largest share of any limit that each joint uses."""
        return np.abs(self.fill(x)).max(axis=1)

    def barrier(self, x: Array) -> Barrier:
        """The logarithmic barrier at a motion inside."""
        z = self.fill(x)
        up, down = 1.0 / (1.0 - z), 1.0 / (1.0 + z)
        slope, bend = up - down, up * up + down * down
        return Barrier(
            float(np.log(up * down).sum()),
            np.matmul(slope[:, None, :], self.rows)[:, 0],
            np.matmul((self.rows * bend[:, :, None]).transpose(0, 2, 1), self.rows),
        )


def envelope_of(family: FourierFamily, limits: MotionLimits, *, density: int = DENSITY) -> Envelope:
    """The rows of position (about the middle of the range), velocity, acceleration and, where limited, jerk.

    Args:
        family: of the motions.
        limits: to be kept.
        density: instants a period of the highest harmonic, more than two.
    """
    instants = density * family.highest
    times = np.arange(instants) * family.period / instants
    scale = np.stack([limits.reach, limits.velocity, limits.acceleration, limits.jerk])
    scale = scale * np.cos(np.pi * family.highest / instants)
    rows = family.basis(times) / scale[:, :, None, None]
    if not np.isfinite(limits.jerk).any():
        rows = rows[:3]
    orders, n, K, m = rows.shape
    return Envelope(np.ascontiguousarray(rows.transpose(1, 0, 2, 3).reshape(n, orders * K, m)))
