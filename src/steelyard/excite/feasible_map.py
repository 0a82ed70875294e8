"""Local optimiser: limited-memory BFGS on a map under which every motion is feasible.

`c_j = x_j / gauge_j(x_j)`, with the gauge the largest share of any limit that joint j uses: all of space maps onto the
motions that touch a limit in every joint, so that no constraint is left. The gauge has kinks where another instant
becomes the tightest one; the descent ends sooner than an interior one, in exchange for its simplicity.
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
STEPS_AT_ONCE = 3  # times the steps of a schedule: these steps are cheaper and there is one weight only


def descend_mapped(
    objective: Objective,
    envelope: Envelope,
    x: Array,
    criterion: Criterion,
    *,
    schedule: Schedule,
    watch: Callable[[Array], bool],
) -> Array:
    """A better motion that touches its limits; arguments as for `interior.descend`, with its last weight."""
    from scipy.optimize import minimize

    shape = x.shape

    def mapped(flat: Array) -> tuple[float, Array]:
        free = flat.reshape(shape)
        fill = envelope.fill(free)
        at = np.argmax(np.abs(fill), axis=1)
        tight = fill[np.arange(shape[0]), at]
        gauge = np.abs(tight)
        c = INSIDE * free / gauge[:, None]
        value, slope = objective.evaluate(c, criterion, barrier=schedule.last)
        if not np.isfinite(value):
            return UNUSABLE, np.zeros_like(flat)
        rows = envelope.rows[np.arange(shape[0]), at] * np.sign(tight)[:, None]
        along = np.sum(slope * c, axis=1, keepdims=True)
        return value, ((INSIDE * slope - along * rows) / gauge[:, None]).ravel()

    def inside(flat: Array) -> Array:
        free = flat.reshape(shape)
        return INSIDE * free / envelope.gauge(free)[:, None]

    def after(flat: Array) -> None:
        if watch(inside(flat)):
            raise StopIteration

    steps = STEPS_AT_ONCE * schedule.steps
    result = minimize(
        mapped, x.ravel(), jac=True, method="L-BFGS-B", callback=after,
        options={"maxiter": steps, "maxfun": 2 * steps, "maxcor": 30},
    )  # fmt: skip
    return inside(result.x)


INSIDE = 1.0 - 1e-9
UNUSABLE = 1e3  # far above any criterion: the line search turns back
