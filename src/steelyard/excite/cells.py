"""A motion cut into short cells of time, with bounds that hold at every instant of a cell and not only at samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.excite.fourier import FourierMotion, Kinematics

Array = NDArray[np.float64]


class Cells(NamedTuple):
    """M cells.

    Attributes:
        middle: (M,) [s].
        half: (M,) half their widths [s].
        center: values in the middle, each (M, n).
        low, high: bounds over the whole cell, each (M, n).
    """

    middle: Array
    half: Array
    center: Kinematics
    low: Kinematics
    high: Kinematics

    @property
    def most(self) -> Kinematics:
        """Bounds of the absolute values over the whole cell, each (M, n)."""
        return Kinematics(*(np.maximum(np.abs(a), np.abs(b)) for a, b in zip(self.low, self.high, strict=True)))


def fourier_cells(motion: FourierMotion, count: int) -> Cells:
    """One period of a series in `count` equal cells.

    Within a cell of half width h about t the value is `f(t) + f'(t) s` for some |s| <= h, but for at most
    `h^2 / 2 max |f''|`; and no derivative of a series exceeds the sum of its amplitudes times their frequencies.
    """
    half = 0.5 * motion.period / count
    middle: Array = half * np.arange(1.0, 2.0 * count, 2.0)
    at = motion.at(middle)
    bound = _amplitudes(motion)
    slope = [at.dq, at.ddq, at.dddq, np.broadcast_to(bound[4], at.q.shape)]
    low, high = [], []
    for order, value in enumerate(at):
        rest = 0.5 * half**2 * bound[order + 2] if order < 3 else 0.0
        reach = half * np.abs(slope[order]) + rest
        low.append(value - reach)
        high.append(value + reach)
    return Cells(middle, np.full(count, half), at, Kinematics(*low), Kinematics(*high))


def _amplitudes(motion: FourierMotion) -> Array:
    """(6, n) bounds of the k-th derivative of the position by its harmonics, k = 0 .. 5 (k = 0 without the mean)."""
    count = len(motion.family.harmonics[0])
    speed = np.hypot(motion.coefficients[:, 1 : count + 1], motion.coefficients[:, count + 1 :])
    w = 2.0 * np.pi / motion.period * np.array(motion.family.harmonics)
    return np.stack([(speed * w ** (k - 1)).sum(axis=1) for k in range(6)])
