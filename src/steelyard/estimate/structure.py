"""Which friction terms the data ask for: blocked cross-validation of candidate structures, from triangles alone.

The training data are cut into blocks; the information of each block over all candidate columns is kept apart. A
structure is a choice of columns: it is fitted to all blocks but one and judged on that one, for every block. No sample
is touched again, whatever the number of structures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import DataError
from steelyard.estimate.result import Estimate
from steelyard.information import SquareRootInformation

Array = NDArray[np.float64]
Fit = Callable[[SquareRootInformation], Estimate]


@dataclass(frozen=True)
class Trial:
    """One structure on the held-out blocks.

    Attributes:
        name: of the structure.
        error: held-out error, root of the sum over joints of squared residuals over torque energy, a fraction.
        spread: standard error of `error` over the blocks.
        columns: number of columns.
    """

    name: str
    error: float
    spread: float
    columns: int


def cross_validate(
    blocks: Sequence[SquareRootInformation], structures: Mapping[str, Sequence[str]], fit: Fit
) -> list[Trial]:
    """Held-out error of each structure, best first.

    Args:
        blocks: information of each block over all candidate columns; blocks must not share samples.
        structures: name -> columns.
        fit: estimates the columns of an information, e.g. `weighted`.

    Raises:
        DataError: fewer than two blocks.
    """
    if len(blocks) < 2:
        raise DataError("cross-validation needs two blocks", value=len(blocks), cure="record longer")
    trials = []
    for name, columns in structures.items():
        parts = [block.select(columns) for block in blocks]
        errors = np.array([_held_out(parts, k, fit) for k in range(len(parts))])
        mean = errors.mean(axis=0)
        ratio = errors[:, 0] / errors[:, 1]
        trials.append(
            Trial(
                name,
                float(np.sqrt(mean[0] / mean[1])),
                float(np.std(np.sqrt(ratio)) / np.sqrt(len(parts))),
                len(columns),
            )
        )
    return sorted(trials, key=lambda trial: trial.error)


def _held_out(parts: Sequence[SquareRootInformation], k: int, fit: Fit) -> tuple[float, float]:
    """Squared residual and squared torque of block k under the fit of all the others."""
    rest = [part for i, part in enumerate(parts) if i != k]
    total = rest[0]
    for part in rest[1:]:
        total = total.merge(part)
    return float(parts[k].misfit(fit(total).theta).sum()), float(parts[k].energy.sum())
