"""The entropic problem on Cholesky factors: always possible bodies, plain nonlinear least squares.

With `Y_l = T_l T_l'`, T_l lower triangular with diagonal exp(a), the divergence is a sum of squares and a linear term,
`|T_l|^2 - 2 sum a`, so that Gauss-Newton with Levenberg's damping applies. The problem is no longer convex and its
steps are many: it is an independent check of the entropic solution, from which it starts. (Marquardt's damping, scaled
by the diagonal, is known to stick at the edge of the possible.)
Source: Rucker, Wensing 2022 (the factors).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.estimate.cone_problem import ConeProblem, Solution
from steelyard.estimate.symmetric import matrices, vectors

Array = NDArray[np.float64]
STEPS = 400
STATIONARY = 1e-9  # of the gradient over the factors, relative to A'z
_ROW, _COLUMN = np.tril_indices(4)
_DIAGONAL = np.flatnonzero(_ROW == _COLUMN)


def log_cholesky(problem: ConeProblem, start: Array) -> Solution:
    """Solve from possible bodies.

    Signs of scalars are kept by projection; other limits by `-slack sum log(G y - g)`, which is what the slack of the
    problem means.

    Args:
        problem: with gamma > 0.
        start: (u,), inside.

    Raises:
        StudyError: a gamma of zero: the way to the optimum would have no end.
    """
    if not problem.gamma > 0.0:
        raise StudyError("log_cholesky needs a prior", value=problem.gamma, cure="give gamma > 0")
    signs = (np.sum(problem.G != 0.0, axis=1) == 1) & (problem.g == 0.0) & ~problem.G[:, : problem.rigid].any(axis=1)
    bounded = np.argmax(problem.G[signs] > 0.0, axis=1)
    unit = problem.curvature
    work = _Work(
        problem.A / np.sqrt(unit), problem.z / np.sqrt(unit), problem.gamma / unit, problem.links,
        problem.G[~signs], problem.g[~signs], problem.slack / unit,
    )  # fmt: skip
    x = _factors(work, start)
    damping, steps = 1e-6, 0
    state = _State.at(work, x)
    size = float(np.linalg.norm(work.A.T @ work.z)) + work.gamma
    while steps < STEPS:
        free = np.ones(x.size, dtype=bool)
        free[bounded[(x[bounded] <= 0.0) & (state.slope[bounded] > 0.0)]] = False
        if np.linalg.norm(state.slope[free]) < STATIONARY * size:
            break
        steps += 1
        while damping < 1e12:
            move = np.zeros_like(x)
            square = state.square[np.ix_(free, free)] + damping * np.eye(int(free.sum()))
            move[free] = -np.linalg.solve(square, state.slope[free])
            trial = x + move
            trial[bounded] = np.maximum(trial[bounded], 0.0)
            new = _State.at(work, trial)
            if new.value < state.value:
                damping = max(damping * 0.2, 1e-12)
                x, state = trial, new
                break
            damping *= 4.0
        else:
            break
    free[bounded[(x[bounded] <= 0.0) & (state.slope[bounded] > 0.0)]] = False
    y = _coordinates(work, x)
    multipliers = np.zeros(len(problem.g))
    multipliers[signs] = np.maximum(state.slope[bounded], 0.0) * (x[bounded] <= 0.0) * unit
    multipliers[~signs] = work.slack / (work.G @ y - work.g) * unit
    reached = float(np.linalg.norm(state.slope[free])) / size
    return Solution(y, multipliers, reached, steps)


class _Work(NamedTuple):
    A: Array
    z: Array
    gamma: float
    links: int
    G: Array
    g: Array
    slack: float

    @property
    def rigid(self) -> int:
        return 10 * self.links


class _State(NamedTuple):
    """Objective, gradient and Gauss-Newton matrix over the factors."""

    value: float
    slope: Array
    square: Array

    @classmethod
    def at(cls, work: _Work, x: Array) -> _State:
        T = _triangles(work, x)
        factors = x[: work.rigid].reshape(-1, 10)
        logs = factors[:, _DIAGONAL]
        y = _coordinates(work, x)
        residual = work.A @ y - work.z
        distance = work.G @ y - work.g
        if distance.min(initial=np.inf) <= 0.0:
            return cls(np.inf, np.zeros_like(x), np.zeros((x.size, x.size)))
        value = 0.5 * float(residual @ residual) + work.gamma * float(np.sum(T**2) - 2.0 * np.sum(logs))
        value -= work.slack * float(np.sum(np.log(distance)))
        # d vec(T T') for each entry of T; entries on the diagonal are exponentials
        turn = np.zeros((work.links, 10, 10))
        for e in range(10):
            change = np.zeros_like(T)
            change[:, _ROW[e], _COLUMN[e]] = T[:, _ROW[e], _COLUMN[e]] if e in _DIAGONAL else 1.0
            turn[:, :, e] = vectors(change @ np.swapaxes(T, 1, 2) + T @ np.swapaxes(change, 1, 2))
        root = np.sqrt(work.slack)
        J = np.vstack([work.A, root * work.G / distance[:, None]])
        for k in range(work.links):
            J[:, 10 * k : 10 * k + 10] = J[:, 10 * k : 10 * k + 10] @ turn[k]
        slope, square = J.T @ np.concatenate([residual, np.full(len(distance), -root)]), J.T @ J
        own = T[:, _ROW, _COLUMN]
        weight = np.ones((work.links, 10))
        weight[:, _DIAGONAL] = own[:, _DIAGONAL]
        gradient = 2.0 * own * weight
        gradient[:, _DIAGONAL] -= 2.0
        slope[: work.rigid] += work.gamma * gradient.ravel()
        at = np.arange(work.rigid)
        square[at, at] += 2.0 * work.gamma * (weight**2).ravel()
        return cls(value, slope, square)


def _triangles(work: _Work, x: Array) -> Array:
    entries = x[: work.rigid].reshape(-1, 10).copy()
    entries[:, _DIAGONAL] = np.exp(np.clip(entries[:, _DIAGONAL], -60.0, 60.0))
    T = np.zeros((work.links, 4, 4))
    T[:, _ROW, _COLUMN] = entries
    return T


def _coordinates(work: _Work, x: Array) -> Array:
    T = _triangles(work, x)
    return np.concatenate([vectors(T @ np.swapaxes(T, 1, 2)).ravel(), x[work.rigid :]])


def _factors(work: _Work, y: Array) -> Array:
    entries = np.linalg.cholesky(matrices(y[: work.rigid].reshape(-1, 10)))[:, _ROW, _COLUMN]
    entries[:, _DIAGONAL] = np.log(entries[:, _DIAGONAL])
    return np.concatenate([entries.ravel(), y[work.rigid :]])
