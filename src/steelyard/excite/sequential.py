"""Local optimiser: sequential quadratic programming of SciPy, with the limits as linear constraints.

All limits are kept at the instants of a coarser grid, since the quadratic programs grow with their number; the rest of
the way to every instant is in the factor of `envelope`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from steelyard.excite.criteria import Criterion
from steelyard.excite.envelope import Envelope
from steelyard.excite.interior import Schedule
from steelyard.excite.objective import Objective

Array = NDArray[np.float64]
UNUSABLE = 1e3  # far above any criterion: the line search turns back


def descend_sequential(
    objective: Objective,
    envelope: Envelope,
    x: Array,
    criterion: Criterion,
    *,
    schedule: Schedule,
    watch: Callable[[Array], bool],
) -> Array:
    """A better motion inside its limits; arguments as for `interior.descend`, with its last weight."""
    from scipy.optimize import minimize

    n, m = x.shape
    rows = envelope.rows
    R = rows.shape[1]
    blocks = np.zeros((n, R, n, m))
    for j in range(n):
        blocks[j, :, j] = rows[j]
    jacobian = blocks.reshape(n * R, n * m)
    both = np.vstack([-jacobian, jacobian])

    def value(flat: Array) -> tuple[float, Array]:
        value, slope = objective.evaluate(flat.reshape(n, m), criterion, barrier=schedule.last)
        return (value, slope.ravel()) if np.isfinite(value) else (UNUSABLE, np.zeros_like(flat))

    def inside(flat: Array) -> Array:
        found = flat.reshape(n, m)
        return found / np.maximum(1.0, envelope.gauge(found))[:, None]

    def after(flat: Array) -> None:
        if watch(inside(flat)):
            raise StopIteration

    result = minimize(
        value, x.ravel(), jac=True, method="SLSQP", callback=after,
        constraints={"type": "ineq", "fun": lambda flat: 1.0 + both @ flat, "jac": lambda flat: both},
        options={"maxiter": schedule.steps, "ftol": 1e-6},
    )  # fmt: skip
    return inside(result.x)
