"""Whether bodies that can exist have given base parameters, and which such bodies are nearest to the prior.

    minimise  sum_l (tr Y_l - log det Y_l)   over   Y_l > 0,  N y = b

has the dual `maximise sum_l log det(E - mat(N_l'v)) + b'v`, concave, without constraints and as small as b; at its
optimum `Y_l = (E - mat(N_l'v))^-1`. For any bodies with `N y = b` the total of the traces is at least b'v, so a v that
makes it absurdly large proves that there are none (Farkas), and its large entries say which parameters contradict.
Scalars that must not be negative are bodies of size one, light where they have no nominal value; the others are
eliminated first.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from steelyard.basis import ParameterBasis
from steelyard.estimate.link_map import LinkMap
from steelyard.estimate.symmetric import IDENTITY, congruences, matrices, vectors

Array = NDArray[np.float64]
STEPS = 150
PLAIN = 0.5  # Newton decrement under which full steps are taken
ABSURD = 1e5  # times the prior: bodies so heavy count as none
EXACT = 1e-13  # relative error of the base parameters
LIGHT = 1e-3  # weight of a scalar without a nominal value, against 1 for a link


@dataclass(frozen=True)
class Nearest:
    """The bodies nearest to the prior that have the base parameters, or why there are none.

    Attributes:
        y: (u,) coordinates of a LinkMap; None when no bodies that can exist do.
        steps: Newton steps.
        error: largest error of a base parameter, relative to the largest of them.
        reason: the base parameters that contradict each other, the worst first.
    """

    y: Array | None
    steps: int
    error: float
    reason: tuple[str, ...] = ()


def nearest_bodies(links: LinkMap, basis: ParameterBasis, base: Array) -> Nearest:
    """Find them.

    Args:
        links: map and prior.
        basis: base parameters of the same model.
        base: (b,) their values.
    """
    N = basis.matrix @ links.matrix
    rigid, y = links.rigid, links.start
    alone = [k for k in range(len(N)) if np.count_nonzero(N[k]) == 1 and np.flatnonzero(N[k])[0] >= rigid]
    for k in alone:
        at = int(np.flatnonzero(N[k])[0])
        y[at] = base[k] / N[k, at]
        if links.scalars[at - rigid].nonnegative and y[at] < 0.0:
            return Nearest(None, 0, np.inf, (basis.names[k],))
    known = {int(np.flatnonzero(N[k])[0]) for k in alone}
    rows = np.array([k for k in range(len(N)) if k not in alone], dtype=int)
    if rows.size == 0:
        return Nearest(y, 0, 0.0)
    mixed = [rigid + s for s in range(len(links.scalars)) if rigid + s not in known and np.any(N[rows, rigid + s])]
    signed = [at for at in mixed if links.scalars[at - rigid].nonnegative]
    free = [at for at in mixed if at not in signed]
    M, b = N[rows], base[rows]
    empty = np.flatnonzero(~np.any(M != 0.0, axis=1) & (np.abs(b) > 0.0))
    if empty.size:
        return Nearest(None, 0, np.inf, tuple(basis.names[rows[k]] for k in empty))
    length = np.linalg.norm(M, axis=1)
    length = np.where(length > 0.0, length, 1.0)
    M, b = M / length[:, None], b / length
    keep = np.eye(len(rows))
    if free:  # combinations of the rows in which they do not occur
        keep = np.linalg.qr(M[:, free], mode="complete").Q[:, len(free) :].T
    scale = np.array([_size(links, M, at) for at in signed])
    weight = np.array([1.0 if links.nominal[at - rigid] > 0.0 else LIGHT for at in signed])
    cone = np.hstack([M[:, :rigid], M[:, signed] * scale])
    found, v, steps = _ascend(keep @ cone, keep @ b, len(links.links), weight)
    if found is None:
        pull = np.abs((keep.T @ v) * b)
        worst = np.argsort(-pull)[:3]
        return Nearest(None, steps, np.inf, tuple(basis.names[rows[k]] for k in worst if pull[k] > 0.1 * pull.max()))
    y[:rigid] = found[:rigid]
    y[signed] = found[rigid:] * scale
    if free:
        rest = b - M[:, :rigid] @ y[:rigid] - M[:, signed] @ y[signed]
        y[free] = np.linalg.lstsq(M[:, free], rest, rcond=None)[0]
    error = float(np.abs(N @ y - base).max() / max(float(np.abs(base).max()), 1e-300))
    return Nearest(y, steps, error)


def _size(links: LinkMap, M: Array, at: int) -> float:
    """What a scalar is by prior: its nominal value, or as much as what it is regrouped with."""
    nominal = float(links.nominal[at - links.rigid])
    if nominal > 0.0:
        return nominal
    prior = np.abs(M[:, : links.rigid] @ links.start[: links.rigid])
    row = int(np.argmax(np.abs(M[:, at])))
    return max(float(prior[row]), 1e-6) / abs(float(M[row, at]))


def _ascend(N: Array, b: Array, bodies: int, weight: Array) -> tuple[Array | None, Array, int]:
    """Newton's ascent of the dual: coordinates or None, v, steps. Scalars s of weight w cost `w (s - log s)`.

    Every v is the optimum for its own N y, so that steps damped by the Newton decrement follow a path of optima. (An
    exact line search is bolder at first, and twice as slow to bodies a thousand times their prior: it zigzags.)
    """
    rigid = 10 * bodies
    v = np.zeros(len(b))
    size = float(np.linalg.norm(b)) + float(np.linalg.norm(N[:, :rigid] @ np.tile(IDENTITY, bodies)))
    best = np.inf
    for step in range(STEPS):
        turned = N.T @ v
        try:
            half = np.linalg.inv(np.linalg.cholesky(np.eye(4) - matrices(turned[:rigid].reshape(-1, 10))))
        except np.linalg.LinAlgError:  # so near the edge that rounding crosses it: it would go on without end
            return None, v, step
        Y = np.swapaxes(half, 1, 2) @ half
        s = weight / (weight - turned[rigid:])
        y = np.concatenate([vectors(Y).ravel(), s])
        slope = b - N @ y
        error = float(np.linalg.norm(slope)) / size
        if error < EXACT or (error < 1e3 * EXACT and error > 0.5 * best):
            return y, v, step
        best = min(best, error)
        if b @ v > ABSURD * (4.0 * bodies + s.size):
            return None, v, step
        blocks = congruences(Y)
        weighted = np.hstack(
            [*(N[:, 10 * k : 10 * k + 10] @ blocks[k] for k in range(bodies)), N[:, rigid:] * s**2 / weight]
        )
        curvature = weighted @ N.T
        curvature[np.diag_indices_from(curvature)] *= 1.0 + 1e-14
        try:
            move = cho_solve(cho_factor(curvature), slope)
        except np.linalg.LinAlgError:
            return None, v, step
        change, decrement = N.T @ move, float(np.sqrt(max(float(slope @ move), 0.0)))
        lost = float((change[rigid:] * s / weight).max(initial=0.0))  # of what keeps light scalars positive
        v = v + min(1.0 if decrement < PLAIN else 1.0 / (1.0 + decrement), 0.9 / max(lost, 0.9)) * move
    return None, v, STEPS
