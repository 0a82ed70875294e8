"""Least squares over possible bodies: a primal-dual interior point, stopped where the prior wants it.

The divergence of every link from its prior puts the optimum on the central path of the semidefinite program, at the
height gamma. With multipliers `S_l` and `t` it satisfies

    A'(A y - z) + gamma I - S - G't = 0,   Y_l S_l = gamma E,   t (G y - g) = slack,

and Newton steps in the scaling of Nesterov and Todd, with Mehrotra's predictor and corrector, reach it in about ten
steps from the prior, also when gamma is small and the data pull links to the edge of what is possible.
Source: Lee, Wensing, Park 2020 (the objective); Todd, Toh, Tuetuencue 1998 (the scaling).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from steelyard.errors import InformationError
from steelyard.estimate.cone_problem import ConeProblem, Solution
from steelyard.estimate.symmetric import congruences, matrices, vectors

Array = NDArray[np.float64]
STEPS = 80
BOUNDARY = 0.95  # share of the way to the edge that a step may go
LOW = 0.01  # height of the first dual, as a share of what pulls at the start: low is bold
CENTRED = 1e-4  # relative error of Y S = gamma E at which the path is reached
STATIONARY = 1e-10  # of the gradient, relative to A'z
FAR, STUCK = 0.9, 0.2  # lengths of step under which it is corrected, or given up for a step to the middle
EXACT = 1e-11  # of the mean curvature, held against coordinates that nothing determines


class Point(NamedTuple):
    """Primal y, dual S (L, 4, 4) of the bodies, dual t (k,) of the limits."""

    y: Array
    S: Array
    t: Array


def entropic(problem: ConeProblem, start: Array) -> Solution:
    """Solve from a start inside: `Y_l > 0`, `G start > g`.

    Args:
        problem: of any size; it is scaled here.
        start: (u,).

    Raises:
        InformationError: the problem is too badly conditioned to be solved, e.g. a body that is a million times its
            prior.
    """
    unit = problem.curvature
    scaled = replace(
        problem, A=problem.A / np.sqrt(unit), z=problem.z / np.sqrt(unit),
        gamma=problem.gamma / unit, slack=problem.slack / unit,
    )  # fmt: skip
    point, H = _begin(scaled, start), scaled.A.T @ scaled.A
    H[np.diag_indices_from(H)] += EXACT
    size = float(np.linalg.norm(scaled.A.T @ scaled.z)) + scaled.gamma
    steps, reached = 0, _residuals(scaled, point, size)
    while steps < STEPS and not (reached[0] < STATIONARY and reached[1] < CENTRED):
        moved = _step(scaled, point, H)
        if moved is None:
            break
        steps, point, reached = steps + 1, moved, _residuals(scaled, moved, size)
    if reached[0] > 1e-6 or (reached[1] > 1e-2 and _gap(scaled, point) > 1e-7):
        raise InformationError(
            "the consistent problem could not be solved to the end",
            value=f"stationarity {reached[0]:.1g}, centrality {reached[1]:.1g} after {steps} steps",
            cure="check units and the prior of the links; a larger strength of the prior makes it easier",
        )
    return Solution(point.y, point.t * unit, reached[0], steps)


def _begin(problem: ConeProblem, start: Array) -> Point:
    """On the central path of the start as far as a multiple of the inverse can be: `S = height Y^-1`."""
    Y = matrices(start[: problem.rigid].reshape(-1, 10))
    L = np.linalg.cholesky(Y)
    slope = matrices(problem.gradient(start)[: problem.rigid].reshape(-1, 10))
    pull = np.linalg.eigvalsh(np.swapaxes(L, 1, 2) @ slope @ L) - problem.gamma
    height = max(problem.gamma, LOW * float(np.abs(pull).max(initial=0.0)))
    t = np.maximum(height, problem.slack) / np.maximum(problem.G @ start - problem.g, 1e-3)
    S = np.asarray(height * np.linalg.inv(Y), dtype=np.float64)
    return Point(np.array(start, dtype=np.float64), S, np.asarray(t, dtype=np.float64))


def _residuals(problem: ConeProblem, point: Point, size: float) -> tuple[float, float]:
    slope = problem.gradient(point.y) - problem.G.T @ point.t
    slope[: problem.rigid] -= vectors(point.S).ravel()
    Y = matrices(point.y[: problem.rigid].reshape(-1, 10))
    off = np.abs(Y @ point.S - problem.gamma * np.eye(4)).max(initial=0.0)
    gap = point.t * (problem.G @ point.y - problem.g)
    loose = float(np.abs(gap - problem.slack).max(initial=0.0))
    centrality = max(off / problem.gamma if problem.gamma > 0.0 else 0.0, 1e-3 * loose / problem.slack)
    return float(np.linalg.norm(slope)) / size, float(centrality)


def _gap(problem: ConeProblem, point: Point) -> float:
    """How much of the data's energy the optimum can still lie below, multipliers of the path taken off."""
    Y = matrices(point.y[: problem.rigid].reshape(-1, 10))
    over = float(np.sum(Y * point.S)) - 4.0 * problem.links * problem.gamma
    over += float(np.sum(point.t * (problem.G @ point.y - problem.g) - problem.slack))
    return abs(over) / max(float(problem.z @ problem.z), 1e-300)


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
    if length < FAR:
        Y = matrices(point.y[: problem.rigid].reshape(-1, 10))
        now = (
            float(np.sum(Y * point.S)) / max(4 * problem.links, 1),
            float(point.t @ scale.distance) / max(point.t.size, 1),
        )
        share = (1.0 - length) ** 3
        wanted = (max(problem.gamma, share * now[0]), max(problem.slack, share * now[1]))
        bend = scale.inverse @ matrices(move.y[: problem.rigid].reshape(-1, 10)) @ move.S
        curved = (0.5 * (bend + np.swapaxes(bend, 1, 2)), (problem.G @ move.y) * move.t)
        move = _direction(problem, point, scale, factor, wanted, curved)
        length = _length(scale, point, problem, move)
        if length < STUCK:  # too near an edge: back to the middle first
            now = (max(problem.gamma, now[0]), max(problem.slack, now[1]))
            move = _direction(problem, point, scale, factor, now, nothing)
            length = _length(scale, point, problem, move)
    length = 1.0 if length >= 1.0 else BOUNDARY * length
    if length < 1e-10:
        return None
    return Point(point.y + length * move.y, point.S + length * move.S, point.t + length * move.t)


def _direction(
    problem: ConeProblem, point: Point, scale: _Scaled, factor: tuple[Array, bool], heights: tuple[float, float],
    curved: tuple[Array, Array],
) -> Point:  # fmt: skip
    """Newton's direction towards `Y S = heights[0] E` and `t distance = heights[1]`, less second-order terms."""
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
