"""What to do where possible bodies cannot explain the data: how much of the misfit that is, and where it counts.

A body that is wrong acts on every joint that carries it. So the misfit that possible bodies add is taken as the
variance of an error that all joints of a kind have in common, beside the noise of each. (Left to each joint, the
weights would give up the joints where the bodies are most wrong, and the fit would drift away from them.)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.information import SquareRootInformation
from steelyard.model import Model

Array = NDArray[np.float64]
LARGEST = 0.3  # of a joint's rms torque: joints that carry little share little of the common error


def contradiction(excess: float, parameters: int) -> float:
    """Share of the misfit that noise cannot explain, 0 to 1: `1 - parameters / excess`.

    What possible bodies cost over the unconstrained optimum, in units of the noise variance, comes to less than one a
    parameter when a possible robot made the data. More is model error: a wrong frame, tool or friction.

    Args:
        excess: weighted misfit of the consistent fit less that of the unconstrained one.
        parameters: number of base parameters.
    """
    return max(0.0, 1.0 - parameters / excess) if excess > 0.0 else 0.0


def common_error(model: Model, info: SquareRootInformation, theta: Array, free: Array) -> Array:
    """(n,) deviation [N m or N] of the error that joints of a kind (those of torque, those of force) have in common.

    Args:
        model: of the information.
        info: of the base columns.
        theta: (b,) base parameters of possible bodies.
        free: (b,) unconstrained ones.
    """
    rows = np.maximum(np.array(info.rows, dtype=np.float64), 1.0)
    excess = (info.misfit(theta) - info.misfit(free)) / rows
    force = _is_force(model)
    common = np.zeros(len(rows))
    for kind in (force, ~force):
        seen = kind & (np.array(info.rows) > 0)
        if seen.any():
            common[kind] = np.sqrt(max(float(excess[seen].mean()), 0.0))
    return np.minimum(common, LARGEST * np.sqrt(info.energy / rows))


def _is_force(model: Model) -> NDArray[np.bool_]:
    """Rows of the equations of motion in newtons."""
    prismatic = {axis.name for axis in model.robot.axes if axis.prismatic}
    return np.array([name in prismatic or name.startswith("base/force") for name in model.robot.row_names])
