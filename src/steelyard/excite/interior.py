"""The local optimiser of a design: an interior-point descent that knows its limits exactly and learns its criterion.

Minimises `f(x) - mu sum log(1 - (C x)^2)` for a falling sequence of mu. The second derivatives of the barrier are exact
and cost next to nothing, since the limits are linear and concern one joint each; those of the criterion, which would
cost as much as all its gradients, are learned from its gradients (BFGS, damped after Powell 1978 so that they stay
positive definite). Every iterate keeps every limit, so that it can be stopped at any time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from steelyard.excite.criteria import Criterion
from steelyard.excite.envelope import Barrier, Envelope
from steelyard.excite.objective import Evaluation, Objective

Array = NDArray[np.float64]
FIRST_CURVATURE = 0.1  # criteria are logarithms and the variables speeds in rad/s: both of order one
DECREASE = 1e-4  # share of the predicted decrease that a step must bring (Armijo)
LEAST, MOST, TRIALS = 0.1, 0.5, 12  # shares of a step that was too long to try next, and how often
EDGE = 0.95  # of the way to the nearest limit
ENOUGH = 1e-3  # stop when half a Newton step promises less than this times mu


class Schedule(NamedTuple):
    """Barrier weights from `first` down to `last` by a factor `shrink`, with at most `steps` steps each."""

    first: float
    last: float
    shrink: float
    steps: int


class Point(NamedTuple):
    """An iterate with all that is known there."""

    x: Array
    smooth: Evaluation
    barrier: Barrier


def descend(
    objective: Objective,
    envelope: Envelope,
    x: Array,
    criterion: Criterion,
    *,
    schedule: Schedule,
    watch: Callable[[Array], bool],
) -> Array:
    """A better motion inside the limits.

    Args:
        objective: to be made small.
        envelope: linear limits.
        x: (n, m) variables strictly inside them; returned as they are when they cannot be judged.
        criterion: smooth.
        schedule: barrier weights.
        watch: told every iterate; the latest one is returned when it says so.
    """
    mu = schedule.first
    learned = np.eye(x.size) * FIRST_CURVATURE
    while True:
        here = Point(x, objective.evaluate(x, criterion, barrier=mu), envelope.barrier(x))
        if not np.isfinite(here.smooth.value):
            return x
        x, learned = _center(objective, envelope, here, criterion, learned, mu=mu, steps=schedule.steps, watch=watch)
        if mu <= schedule.last or watch(x):
            return x
        mu = max(mu * schedule.shrink, schedule.last)


def _center(
    objective: Objective,
    envelope: Envelope,
    here: Point,
    criterion: Criterion,
    learned: Array,
    *,
    mu: float,
    steps: int,
    watch: Callable[[Array], bool],
) -> tuple[Array, Array]:
    """Descend with one barrier weight; the last point and what was learned about the curvature."""
    fresh = False
    for _ in range(steps):
        step, promise = _newton_step(here, learned, mu)
        if promise < ENOUGH * mu or watch(here.x):
            break
        there = _search(objective, envelope, here, step, promise, criterion, mu)
        if there is None:
            if fresh:
                break
            learned, fresh = np.eye(len(learned)) * FIRST_CURVATURE, True
            continue
        fresh = False
        learned = _learn(learned, there.x - here.x, there.smooth.gradient - here.smooth.gradient)
        here = there
    return here.x, learned


def _newton_step(here: Point, learned: Array, mu: float) -> tuple[Array, float]:
    """Step (n, m) and the decrease per unit step that it promises."""
    n, m = here.x.shape
    matrix = learned.copy()
    for j in range(n):
        own = slice(j * m, (j + 1) * m)
        matrix[own, own] += mu * here.barrier.curvature[j]
    gradient = (here.smooth.gradient + mu * here.barrier.gradient).ravel()
    _, step, failed = lapack.dposv(matrix, gradient, lower=1)
    if failed:  # rounding has made it indefinite: the plain gradient always descends
        step = gradient / np.abs(np.diag(matrix)).max()
    return -step.reshape(n, m), float(gradient @ step)


def _search(
    objective: Objective,
    envelope: Envelope,
    here: Point,
    step: Array,
    promise: float,
    criterion: Criterion,
    mu: float,
) -> Point | None:
    """The first point backwards along the step that decreases enough; None when there is none."""
    z, dz = envelope.fill(here.x), envelope.fill(step)
    fastest = float((np.abs(dz) / (1.0 - z * np.sign(dz))).max())
    length = min(1.0, EDGE / fastest) if fastest > 0.0 else 1.0
    value = here.smooth.value + mu * here.barrier.value
    for _ in range(TRIALS):
        x = here.x + length * step
        smooth = objective.evaluate(x, criterion, barrier=mu)
        if np.isfinite(smooth.value):
            barrier = envelope.barrier(x)
            rise = smooth.value + mu * barrier.value - value
            if rise <= -DECREASE * length * promise:
                return Point(x, smooth, barrier)
            share = 0.5 * length * promise / (rise + length * promise)  # lowest point of the parabola through both
            length *= min(max(share, LEAST), MOST)
        else:
            length *= LEAST
    return None


def _learn(B: Array, step: Array, change: Array) -> Array:
    """Damped BFGS update of the curvature of the criterion."""
    s, y = step.ravel(), change.ravel()
    Bs = B @ s
    expected, found = float(s @ Bs), float(s @ y)
    if not expected > 0.0:
        return B
    share = 1.0 if found >= 0.2 * expected else 0.8 * expected / (expected - found)
    r = share * y + (1.0 - share) * Bs
    return B - np.outer(Bs / expected, Bs) + np.outer(r / float(s @ r), r)
