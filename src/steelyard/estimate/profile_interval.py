"""How far a parameter can go among the robots that can exist, before data and prior object: its profile.

    F(t) = min over possible bodies inside the limits, with c'x = t, of  |A x - z|^2 / 2 + belief sum D

The interval ends where F exceeds its least value by z^2 / 2, z the normal quantile of the level: the Gaussian interval
wherever F is a parabola, and lopsided where bodies stop to be possible: no mass, no friction below zero. F is convex;
a point of it is the entropic problem with one more row, which pulls c'x that way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.estimate.cone_problem import ConeProblem, interior_start
from steelyard.estimate.consistent_result import Consistent
from steelyard.estimate.interior_point import entropic
from steelyard.estimate.symmetric import matrices

Array = NDArray[np.float64]
STIFF = 3.0  # weight of the pull, per deviation of the parameter: the point reached is on the profile with any
CLOSE = 1e-2  # of z: how near the end of an interval is found
STILL = 1e-3  # of z: a pull that moves less has met a limit
ROUNDS = 25


def profile_interval(result: Consistent, names: Sequence[str], *, level: float = 0.95) -> Array:
    """(len(names), 2) intervals of full parameters inside the feasible set.

    Args:
        result: of a solver with a prior (entropic, log_cholesky).
        names: of `full_names`.
        level: of the intervals.

    Raises:
        StudyError: a name that is no parameter, a level that is no probability, a result without a prior, whose
            feasible set has no end.
        InformationError: the problem is too badly conditioned.
    """
    from scipy.special import ndtri

    if not 0.0 < level < 1.0:
        raise StudyError("a level lies between 0 and 1", value=level, cure="0.95 for 95 %")
    if not result.problem.gamma > 0.0:
        raise StudyError("without a prior the feasible set has no end", value=result.solver,
                         cure='take solver="entropic"')  # fmt: skip
    z = float(ndtri(0.5 + 0.5 * level))
    gamma = max(result.belief, 1e-12 * result.problem.curvature)
    problem = replace(result.problem, gamma=gamma, slack=result.problem.slack * gamma / result.problem.gamma)
    prior = np.asarray(np.linalg.lstsq(result.tie, result.links.start, rcond=None)[0], dtype=np.float64)
    start = interior_start(problem, prior)
    x = entropic(problem, start).y
    covariance = result.covariance(result.belief)
    found = np.empty((len(names), 2))
    for k, name in enumerate(names):
        row = result.row(name)
        if not (problem.A.any(axis=0) | (np.arange(x.size) < problem.rigid))[row != 0.0].all():
            found[k] = -np.inf, np.inf
            continue
        size = np.sqrt(max(float(row @ covariance @ row), 0.0)) or _own_deviation(problem, row)
        line = _Profile(problem, start, x, row / size)
        found[k] = [float(row @ x) + size * line.end(sign, z) for sign in (-1.0, 1.0)]
    return found


class _Profile:
    """F along one parameter, in units of its deviation, from the optimum on."""

    def __init__(self, problem: ConeProblem, start: Array, best: Array, row: Array) -> None:
        self.problem, self.start, self.row = problem, start, row
        self.origin, self.least = float(row @ best), _objective(problem, best)

    def at(self, target: float) -> tuple[float, float]:
        """Offset reached when pulled to a target, and the root of twice what F exceeds its least value by there."""
        A = np.vstack([self.problem.A, STIFF * self.row])
        held = replace(self.problem, A=A, z=np.append(self.problem.z, STIFF * (self.origin + target)))
        x = entropic(held, self.start).y
        over = _objective(self.problem, x) - self.least
        return float(self.row @ x) - self.origin, float(np.sqrt(2.0 * max(over, 0.0)))

    def end(self, sign: float, z: float) -> float:
        """Offset where the root reaches z, or where nothing more can be reached.

        By the secant: the root is straight in the target wherever F is a parabola.
        """
        low, high, target, reached = (0.0, 0.0), (np.inf, np.inf), z * (1.0 + STIFF**-2), 0.0
        for _ in range(ROUNDS):
            offset, root = self.at(sign * target)
            stuck = not np.isfinite(high[0]) and low[0] > 0.0 and abs(offset - reached) < STILL * z
            reached = offset
            if stuck or abs(root - z) < CLOSE * z:
                break
            low, high = ((target, root), high) if root < z else (low, (target, root))
            if np.isfinite(high[0]):
                share = (z - low[1]) / (high[1] - low[1])
                target = low[0] + min(max(share, 0.05), 0.95) * (high[0] - low[0])
            else:
                target *= min(max(z / max(root, 1e-3), 1.2), 2.0)
        return reached


def _objective(problem: ConeProblem, x: Array) -> float:
    Y = matrices(x[: problem.rigid].reshape(-1, 10))
    divergence = float(np.trace(Y, axis1=1, axis2=2).sum() - np.linalg.slogdet(Y)[1].sum())
    return 0.5 * problem.misfit(x) + problem.gamma * divergence


def _own_deviation(problem: ConeProblem, row: Array) -> float:
    """Of a scalar that a limit holds: the deviation that its column alone would leave."""
    return float(np.linalg.norm(row) / np.linalg.norm(problem.A @ row / np.linalg.norm(row)))
