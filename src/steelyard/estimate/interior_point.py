"""Least squares over possible bodies: a primal-dual interior point, stopped where the prior wants it.

    minimise  1/2 |A y - z|^2 + gamma sum_l (tr Y_l - log det Y_l)   over  Y_l > 0,  G y >= g

The second part is the log-det Bregman divergence of every link from its prior (the identity in these coordinates);
gamma = 0 is left to a certificate. With multipliers `S_l` and `t` the optimum satisfies

    A'(A y - z) + gamma I - S - G't = 0,   Y_l S_l = gamma E,   t (G y - g) = slack,

which is the central path of the semidefinite program at the height gamma: Newton steps in the scaling of Nesterov and
Todd, with Mehrotra's predictor and corrector, reach it in about ten steps from the prior, also when gamma is small and
the data pull links to the edge of what is possible.
Source: Lee, Wensing, Park 2020 (the objective); Todd, Toh, Tuetuencue 1998 (the scaling).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from steelyard.errors import InformationError
from steelyard.estimate.symmetric import IDENTITY, congruences, matrices, vectors

Array = NDArray[np.float64]
STEPS = 80
BOUNDARY = 0.95  # share of the way to the edge that a step may go
CENTRED = 1e-6  # relative error of Y S = gamma E at which the path is reached
STATIONARY = 1e-10  # of the gradient, relative to A'z
EXACT = 1e-11  # of the mean curvature, held against coordinates that nothing determines


@dataclass(frozen=True)
class ConeProblem:
    """Data of the problem above.

    Attributes:
        A: (m, u) weighted regressors in the coordinates of a LinkMap; the first 10 L belong to the links.
        z: (m,) weighted torque.
        links: L.
        gamma: weight of the divergence.
        G, g: (k, u) and (k,) linear limits, G y >= g.
        slack: what the product of a multiplier and its distance from the limit comes to.
    """

    A: Array
    z: Array
    links: int
    gamma: float
    G: Array
    g: Array
    slack: float

    @property
    def rigid(self) -> int:
        """Number of coordinates of links."""
        return 10 * self.links

    def gradient(self, y: Array) -> Array:
        """(u,) of the objective without the log-determinants: `A'(A y - z) + gamma I`."""
        slope: Array = self.A.T @ (self.A @ y - self.z)
        slope[: self.rigid] += self.gamma * np.tile(IDENTITY, self.links)
        return slope


class Point(NamedTuple):
    """Primal y, dual S (L, 4, 4) of the bodies, dual t (k,) of the limits."""

    y: Array
    S: Array
    t: Array


class Solved(NamedTuple):
    """Where the iteration ended: the point, its steps, stationarity relative to A'z, centrality relative to gamma."""

    point: Point
    steps: int
    stationarity: float
    centrality: float


def solve_cone(problem: ConeProblem, start: Array) -> Solved:
    """Solve from a start inside: `Y_l > 0`, `G start > g`.

    Args:
        problem: its A and z may be of any size; they are scaled here.
        start: (u,).

    Raises:
        InformationError: the problem is too badly conditioned to be solved, e.g. a body that is a million times its
            prior.
    """
    unit = float(np.mean(np.sum(problem.A**2, axis=0))) if problem.A.size else 1.0
    unit = unit if unit > 0.0 else 1.0
    scaled = ConeProblem(
        problem.A / np.sqrt(unit), problem.z / np.sqrt(unit), problem.links, problem.gamma / unit,
        problem.G, problem.g, problem.slack / unit,
    )  # fmt: skip
    point, H = _begin(scaled, start), scaled.A.T @ scaled.A
    H[np.diag_indices_from(H)] += EXACT
    size = float(np.linalg.norm(scaled.A.T @ scaled.z)) + scaled.gamma
    for step in range(STEPS):
        stationarity, centrality = _residuals(scaled, point, size)
        if stationarity < STATIONARY and centrality < CENTRED:
            return Solved(_unscaled(point, unit), step, stationarity, centrality)
        moved = _step(scaled, point, H)
        if moved is None:
            break
        point = moved
    stationarity, centrality = _residuals(scaled, point, size)
    if stationarity > 1e-6 or centrality > 1e-2:
        raise InformationError(
            "the consistent problem could not be solved to the end",
            value=f"stationarity {stationarity:.1g}, centrality {centrality:.1g}",
            cure="check units and the prior of the links; a larger strength of the prior makes it easier",
        )
    return Solved(_unscaled(point, unit), STEPS, stationarity, centrality)


def _unscaled(point: Point, unit: float) -> Point:
    return Point(point.y, point.S * unit, point.t * unit)


def _begin(problem: ConeProblem, start: Array) -> Point:
    slope = problem.gradient(start)
    pull = np.abs(np.linalg.eigvalsh(matrices(slope[: problem.rigid].reshape(-1, 10)))).max(initial=0.0)
    height = max(problem.gamma, 0.1 * float(pull))
    S = np.tile(height * np.eye(4), (problem.links, 1, 1))
    t = np.maximum(height, problem.slack) / np.maximum(problem.G @ start - problem.g, 1e-3)
    return Point(np.array(start), S, t)


def _residuals(problem: ConeProblem, point: Point, size: float) -> tuple[float, float]:
    slope = problem.gradient(point.y) - problem.G.T @ point.t
    slope[: problem.rigid] -= vectors(point.S).ravel()
    Y = matrices(point.y[: problem.rigid].reshape(-1, 10))
    off = np.abs(Y @ point.S - problem.gamma * np.eye(4)).max(initial=0.0)
    gap = point.t * (problem.G @ point.y - problem.g)
    loose = float(np.abs(gap - problem.slack).max(initial=0.0))
    centrality = max(off / problem.gamma if problem.gamma > 0.0 else 0.0, 1e-3 * loose / problem.slack)
    return float(np.linalg.norm(slope)) / size, float(centrality)


class _Scaled(NamedTuple):
    """What one step needs of a point: inverses, scaling and distances from the edge."""

    inverse: Array  # Y^-1
    scaling: Array  # W^-1, with W S W = Y
    halves: tuple[Array, Array]  # inverse Cholesky factors of Y and S
    distance: Array  # G y - g


def _scale(problem: ConeProblem, point: Point) -> _Scaled | None:
    Y = matrices(point.y[: problem.rigid].reshape(-1, 10))
    try:
        L, M = np.linalg.cholesky(Y), np.linalg.cholesky(point.S)
    except np.linalg.LinAlgError:
        return None
    half = np.linalg.inv(L)
    turned = np.swapaxes(half, 1, 2)
    values, axes = np.linalg.eigh(np.swapaxes(L, 1, 2) @ point.S @ L)
    root = (axes * np.sqrt(np.maximum(values, 0.0))[:, None, :]) @ np.swapaxes(axes, 1, 2)
    return _Scaled(turned @ half, turned @ root @ half, (half, np.linalg.inv(M)), problem.G @ point.y - problem.g)


def _step(problem: ConeProblem, point: Point, H: Array) -> Point | None:
    """Predictor, corrector, and the way along it that stays inside; None when nothing more can be gained."""
    scale = _scale(problem, point)
    if scale is None:
        return None
    hessian = H + problem.G.T @ (problem.G * (point.t / scale.distance)[:, None])
    for k, block in enumerate(congruences(scale.scaling)):
        hessian[10 * k : 10 * k + 10, 10 * k : 10 * k + 10] += block
    try:
        factor = cho_factor(hessian, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    nothing = (np.zeros_like(point.S), np.zeros_like(point.t))
    move = _direction(problem, point, scale, factor, (problem.gamma, problem.slack), nothing)
    length = _length(scale, point, problem, move)
    if length < 0.9:
        share = (1.0 - length) ** 2
        Y = matrices(point.y[: problem.rigid].reshape(-1, 10))
        heights = (
            max(problem.gamma, share * float(np.sum(Y * point.S)) / max(4 * problem.links, 1)),
            max(problem.slack, share * float(point.t @ scale.distance) / max(point.t.size, 1)),
        )
        bend = scale.inverse @ matrices(move.y[: problem.rigid].reshape(-1, 10)) @ move.S
        curved = (0.5 * (bend + np.swapaxes(bend, 1, 2)), (problem.G @ move.y) * move.t)
        move = _direction(problem, point, scale, factor, heights, curved)
        length = _length(scale, point, problem, move)
    length = 1.0 if length >= 1.0 else BOUNDARY * length
    if length < 1e-10:
        return None
    return Point(point.y + length * move.y, point.S + length * move.S, point.t + length * move.t)


def _direction(
    problem: ConeProblem, point: Point, scale: _Scaled, factor: tuple[Array, bool], heights: tuple[float, float],
    curved: tuple[Array, Array],
) -> Point:  # fmt: skip
    """Newton's direction towards `Y S = heights[0] E`, `t distance = heights[1]`, second-order terms `curved` taken off."""
    S = heights[0] * scale.inverse - curved[0]
    t = (heights[1] - curved[1]) / scale.distance
    right = problem.G.T @ t - problem.gradient(point.y)
    right[: problem.rigid] += vectors(S).ravel()
    y = cho_solve(factor, right, check_finite=False)
    body = matrices(y[: problem.rigid].reshape(-1, 10))
    return Point(
        y,
        S - point.S - scale.scaling @ body @ scale.scaling,
        t - point.t - point.t / scale.distance * (problem.G @ y),
    )


def _length(scale: _Scaled, point: Point, problem: ConeProblem, move: Point) -> float:
    """How far the move can go before a body, or a multiplier, stops being possible; at most 1."""
    worst = min(
        float(((problem.G @ move.y) / scale.distance).min(initial=0.0)), float((move.t / point.t).min(initial=0.0))
    )
    body = matrices(move.y[: problem.rigid].reshape(-1, 10))
    for half, change in zip(scale.halves, (body, move.S), strict=True):
        if change.size:
            worst = min(worst, float(np.linalg.eigvalsh(half @ change @ np.swapaxes(half, 1, 2)).min()))
    return min(1.0, -1.0 / worst) if worst < 0.0 else 1.0
