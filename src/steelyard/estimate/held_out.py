"""What a payload predicts of data that it was not found from: each part left out in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

import numpy as np

from steelyard.estimate.least_squares import ordinary
from steelyard.estimate.merging import merged
from steelyard.information import SquareRootInformation


def held_out_rms(parts: Sequence[SquareRootInformation], known: Mapping[str, float]) -> dict[str, float]:
    """Residual of each joint [N m or N] over the parts, each under the fit to all the others.

    Args:
        parts: of the data, of the same columns; they share no samples.
        known: columns whose value is given.

    Returns:
        By joint; not a number where there is one part only, or where the others do not show all that one holds.
    """
    joints = parts[0].joints
    left = [part.given(known) for part in parts]
    if len(left) < 2:
        return dict.fromkeys(joints, float("nan"))
    rank = ordinary(reduce(merged, left)).rank
    misfit, rows = np.zeros(len(joints)), np.zeros(len(joints))
    for k, part in enumerate(left):
        rest = ordinary(reduce(merged, [other for i, other in enumerate(left) if i != k]))
        if rest.rank < rank:
            return dict.fromkeys(joints, float("nan"))
        misfit += part.misfit(rest.theta)
        rows += part.rows
    with np.errstate(invalid="ignore", divide="ignore"):
        return dict(zip(joints, np.sqrt(misfit / rows).tolist(), strict=True))
