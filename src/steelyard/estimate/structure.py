"""Which friction terms the data ask for: blocked cross-validation of candidate structures, from triangles alone.

The training data are cut into blocks; the information of each block over all candidate columns is kept apart. A
structure is a choice of columns: it is fitted to all blocks but one and judged on that one, for every block. No sample
is touched again, whatever the number of structures. Cross-validation alone prefers too many columns (Shao, Linear model
selection by cross-validation, 1993), so that every column costs what it costs in the criterion of Schwarz (1978).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import DataError
from steelyard.estimate.result import Estimate
from steelyard.estimate.training import merged
from steelyard.information import SquareRootInformation

Array = NDArray[np.float64]
Fit = Callable[[SquareRootInformation], Estimate]
EXACT = 1e-6  # of the torque: residuals below it are no reason to prefer anything


@dataclass(frozen=True)
class Trial:
    """One structure on the held-out blocks.

    Attributes:
        name: of the structure.
        error: held-out error, root of the sum over joints of squared residuals over torque energy, a fraction.
        columns: number of base columns that are not held at zero, mean over the fits.
        score: `sum_j N_j ln(E_j / rows_j) + columns ln(sum_j N_j)`, E_j the held-out squared residual of joint j and
            N_j its rows that count, by correlation time; less is better.
    """

    name: str
    error: float
    columns: float
    score: float


@dataclass(frozen=True)
class Split:
    """A block, and all others merged."""

    own: SquareRootInformation
    rest: SquareRootInformation


def splits(blocks: Sequence[SquareRootInformation]) -> list[Split]:
    """Every block against all others.

    Raises:
        DataError: fewer than two blocks.
    """
    if len(blocks) < 2:
        raise DataError("cross-validation needs two blocks", value=len(blocks), cure="record longer")
    rests = [merged([other for other in blocks if other is not block]) for block in blocks]
    return [Split(block, rest) for block, rest in zip(blocks, rests, strict=True)]


def cross_validate(name: str, parts: Sequence[Split], columns: Sequence[str], fit: Fit, time: Array) -> Trial:
    """Judge a structure.

    Args:
        name: of the structure.
        parts: of all candidate columns; the blocks share no samples.
        columns: of the structure.
        fit: estimates these columns from their information, e.g. `weighted`.
        time: (n,) samples that count as one, the same for all that are compared.
    """
    fits = [fit(part.rest.select(columns)) for part in parts]
    held = [part.own.select(columns) for part in parts]
    misfit = np.sum([block.misfit(estimate.theta) for block, estimate in zip(held, fits, strict=True)], axis=0)
    energy = np.sum([block.energy for block in held], axis=0)
    rows = np.sum([block.rows for block in held], axis=0)
    heard = (rows > 0) & (energy > 0.0)
    counted = rows[heard] / time[heard]
    used = float(np.mean([np.count_nonzero(estimate.theta) for estimate in fits]))
    mean = np.maximum(misfit, EXACT**2 * energy)[heard] / rows[heard]
    return Trial(
        name,
        float(np.sqrt(misfit.sum() / energy.sum())) if heard.any() else 0.0,
        used,
        float(counted @ np.log(mean)) + used * float(np.log(max(counted.sum(), 1.0))),
    )
