"""The certificate: consistent least squares as a semidefinite program, without a prior but under a cap on the mass.

    minimise  1/2 |A y - z|^2   over   Y_l >= 0,  G y >= g,  mass' y <= cap

Least squares alone leaves directions open in which bodies can grow without end (two links exchange mass along their
common axis), and a semidefinite solver goes there: hundreds of kilograms and more. So the cap is not an option, and a
tiny pull to the prior decides what neither data nor cap do. Solved by Clarabel, called directly.
Source: Sousa, Cortesao 2014; Wensing, Kim, Slotine 2018.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import InformationError, StudyError
from steelyard.estimate.cone_problem import ConeProblem, Solution
from steelyard.estimate.symmetric import IDENTITY, least_eigenvalues, matrices

Array = NDArray[np.float64]
# Clarabel stacks the columns of the upper triangle, symmetric.py its rows; both scale by the root of two
_STACKED = (0, 1, 4, 2, 5, 7, 3, 6, 8, 9)
PULL = 1e-12  # to the prior, relative to the curvature of the data
EDGE = 1e-9  # of the prior: how far a body stays from the impossible
TOLERANCE = 1e-10


def capped(problem: ConeProblem, *, mass: Array, cap: float) -> ConeProblem:
    """The problem without its prior, and with `mass @ y <= cap` as its last limit.

    Args:
        problem: the entropic one.
        mass: (u,) row that gives the total mass [kg].
        cap: its greatest value [kg], above zero and finite.

    Raises:
        StudyError: a cap that is none.
    """
    if not (np.isfinite(cap) and cap > 0.0):
        raise StudyError("a semidefinite program needs a cap on the mass [kg]", value=cap,
                         cure="without one the masses grow without limit")  # fmt: skip
    G, g = np.vstack([problem.G, -mass / cap]), np.append(problem.g, -1.0)
    return replace(problem, gamma=0.0, slack=0.0, G=G, g=g)


def semidefinite(problem: ConeProblem) -> Solution:
    """Solve with Clarabel.

    Args:
        problem: of `capped`.

    Raises:
        InformationError: Clarabel finds no solution.
    """
    import clarabel
    from scipy.sparse import csc_matrix

    unit, u, m = problem.curvature, problem.A.shape[1], len(problem.z)
    root = np.sqrt(unit)
    column = np.where(np.arange(u) < problem.rigid, 1.0, _lengths(problem, root))
    A, z = problem.A * column / root, problem.z / root
    prior = np.zeros(u)
    prior[: problem.rigid] = np.tile(IDENTITY, problem.links)
    # unknowns: coordinates and residuals, A y - r = z, which keeps the regressor from being squared
    P = csc_matrix(np.diag(np.concatenate([np.full(u, PULL), np.ones(m)])))
    q = np.concatenate([-PULL * prior, np.zeros(m)])
    bodies = np.zeros((problem.rigid, u))
    for k in range(problem.links):
        bodies[range(10 * k, 10 * k + 10), [10 * k + e for e in _STACKED]] = 1.0
    limits = problem.G * column
    rows = np.vstack([np.hstack([A, -np.eye(m)]), np.pad(-np.vstack([limits, bodies]), ((0, 0), (0, m)))])
    edge = EDGE * np.tile(IDENTITY[list(_STACKED)], problem.links)
    bounds = np.concatenate([z, -problem.g, -edge])
    cones = [
        clarabel.ZeroConeT(m),
        clarabel.NonnegativeConeT(len(limits)),
        *[clarabel.PSDTriangleConeT(4)] * problem.links,
    ]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    found = clarabel.DefaultSolver(P, q, csc_matrix(rows), bounds, cones, settings).solve()
    if str(found.status) not in ("Solved", "AlmostSolved"):
        raise InformationError("the semidefinite program was not solved", value=str(found.status),
                               cure="raise the cap on the mass, or loosen the limits")  # fmt: skip
    x, dual = np.array(found.x), np.array(found.z)
    y = _inside(problem, x[:u] * column, prior)
    slope = A.T @ (A @ x[:u] - z) + PULL * (x[:u] - prior) + rows[m:, :u].T @ dual[m:]
    reached = float(np.linalg.norm(slope)) / max(float(np.linalg.norm(A.T @ z)), 1e-300)
    return Solution(y, dual[m : m + len(problem.G)] * unit, reached, int(found.iterations))


def _lengths(problem: ConeProblem, root: float) -> Array:
    """Units of the scalars in which their columns are as long as those of bodies are on average."""
    lengths = np.linalg.norm(problem.A, axis=0)
    return np.where(lengths > 0.0, root / np.where(lengths > 0.0, lengths, 1.0), 1.0)


def _inside(problem: ConeProblem, y: Array, prior: Array) -> Array:
    """The solution with what the solver's tolerance left outside brought back: a trace of the prior in every body."""
    y = y.copy()
    bodies = y[: problem.rigid].reshape(-1, 10)
    short = np.clip(EDGE - least_eigenvalues(matrices(bodies)), 0.0, 1.0)[:, None]
    y[: problem.rigid] = ((1.0 - short) * bodies + short * prior[: problem.rigid].reshape(-1, 10)).ravel()
    signs = (np.sum(problem.G != 0.0, axis=1) == 1) & (problem.g == 0.0)
    at = np.argmax(problem.G[signs] != 0.0, axis=1)
    scalar = at[at >= problem.rigid]
    y[scalar] = np.maximum(y[scalar], 0.0)
    return y
