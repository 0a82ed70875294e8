"""A motion cut into short cells of time, with bounds that hold at every instant of a cell and not only at samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.excite.kinematics import Kinematics

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


def taylor_cells(middle: Array, half: Array, at: Kinematics, bound: Sequence[Array]) -> Cells:
    """Bounds of a smooth motion from its values in the middle of each cell.

    Within a cell of half width h about t the value is `f(t) + f'(t) s` for some |s| <= h, but for at most
    `h^2 / 2 max |f''|`.

    Args:
        middle, half: (M,) [s].
        at: the motion at `middle`.
        bound: bounds of the derivatives of orders 0 to 4 of the positions, (n,) or (M, n) each; 2 to 4 are used.
    """
    slope = [at.dq, at.ddq, at.dddq, np.broadcast_to(bound[4], at.q.shape)]
    h = half[:, None]
    low, high = [], []
    for order, value in enumerate(at):
        rest = 0.5 * h**2 * bound[order + 2] if order < 3 else 0.0
        reach = h * np.abs(slope[order]) + rest
        low.append(value - reach)
        high.append(value + reach)
    return Cells(middle, half, at, Kinematics(*low), Kinematics(*high))


def even_cells(duration: float, step: float) -> tuple[Array, Array]:
    """Middles and half widths (M,) of equal cells not wider than `step` [s]."""
    count = max(1, int(np.ceil(duration / step - 1e-9)))
    half = 0.5 * duration / count
    return half * np.arange(1.0, 2.0 * count, 2.0), np.full(count, half)
