"""Optimiser without derivatives: CMA-ES (Hansen 2016) on the always-feasible map; needs the extra `search`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.excite.criteria import Criterion
from steelyard.excite.envelope import Envelope
from steelyard.excite.interior import Schedule
from steelyard.excite.objective import Objective

Array = NDArray[np.float64]
SPREAD = 0.3  # of the variables, which are of order one
GENERATIONS = 20  # times the steps of a schedule
INSIDE = 1.0 - 1e-9


def evolve(
    objective: Objective,
    envelope: Envelope,
    x: Array,
    criterion: Criterion,
    *,
    schedule: Schedule,
    watch: Callable[[Array], bool],
) -> Array:
    """A better motion that touches its limits; arguments as for `interior.descend`, with its last weight.

    Raises:
        StudyError: the package cma is not installed.
    """
    try:
        import cma
    except ImportError:
        raise StudyError(
            "the optimiser cma needs a package that is not installed", value="cma",
            cure="pip install 'steelyard[search]', or use another optimiser",
        ) from None  # fmt: skip

    def feasible(flat: Array) -> Array:
        free = np.asarray(flat).reshape(x.shape)
        return INSIDE * free / np.maximum(1.0, envelope.gauge(free))[:, None]

    def value(flat: Array) -> float:
        return objective.value(feasible(flat), criterion, barrier=schedule.last)

    seed = 1 + int(np.abs(x).sum() * 1e6) % (2**31 - 2)  # from the start, which is random itself
    options = {"seed": seed, "verbose": -9, "maxiter": GENERATIONS * schedule.steps, "CMA_diagonal": 0}
    strategy = cma.CMAEvolutionStrategy(x.ravel(), SPREAD, options)
    best = x
    while not strategy.stop() and not watch(best):
        candidates = strategy.ask()
        strategy.tell(candidates, [value(candidate) for candidate in candidates])
        best = feasible(strategy.result.xbest)
    return best
