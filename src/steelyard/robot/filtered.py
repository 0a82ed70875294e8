"""Reduction of low-passed and decimated regressor lines: parallel filtering without writing Y out.

`F tau = (F Y) theta` for any linear filter F. The panels of a window are filled, every line is filtered over time, the
samples wanted are kept and reduced by Householder QR. Windows overlap by the settling time of the filter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.data.lowpass import LowPass
from steelyard.information import triangle
from steelyard.robot.kernel import SPARE, Plan, fill, workspace
from steelyard.robot.motion import BLOCK
from steelyard.robot.reduction import Samples
from steelyard.robot.regressor import NO_MASK
from steelyard.robot.tree import Tree

Array = NDArray[np.float64]


class FilteredReducer:
    """Running factors of filtered lines: `absorb` windows, then read `factors`."""

    def __init__(self, tree: Tree, plan: Plan, lowpass: LowPass) -> None:
        self._tree, self._plan, self._lowpass = tree, plan, lowpass
        self._work = workspace(tree)
        width = np.diff(plan.start)
        self._factors = [np.zeros((int(c), int(c))) for c in width]

    def absorb(self, data: Samples, step: float, keep: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add the samples `keep` of a window sampled every `step` [s]; returns the rows counted for each joint."""
        lines = self._lowpass.apply(self._lines(data), step)[:, keep]
        rows = np.zeros(len(self._factors), dtype=np.int64)
        for j, factor in enumerate(self._factors):
            panel = lines[self._plan.start[j] : self._plan.start[j + 1]].T
            if data.mask.size:
                scale = data.mask[keep, j]
                panel = panel[scale > 0.0] * scale[scale > 0.0, None]
            rows[j] = len(panel)
            self._factors[j] = triangle(np.vstack([factor, panel]))
        return rows

    def factors(self) -> list[Array]:
        """Upper-triangular factor of each joint, diagonal >= 0."""
        return self._factors

    def _lines(self, data: Samples) -> Array:
        """(lines, K) panel of a whole window, unmasked: the filter needs every sample."""
        K = len(data.v)
        padded = -(-K // BLOCK) * BLOCK
        panel = np.zeros((int(self._plan.start[-1]) + SPARE) * padded)
        fill(
            self._tree, self._plan, data.q, data.v, data.a, NO_MASK, data.extra,
            0, padded, self._work, panel, np.uint64(padded), 0,
        )  # fmt: skip
        return panel.reshape(-1, padded)[:, :K]
