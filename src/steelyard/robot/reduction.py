"""From samples to triangles: fill cache-sized panels with the regressor and reduce them at once, joint by joint.

Two ways, the same factor. Householder QR of [R; panel] (TSQR; Golub & Van Loan, Matrix Computations, 5.2) always
works. Where a factor R0 of earlier samples is at hand, `Z = W R0^-1` is nearly orthogonal, so that its Gram matrix
loses nothing: `R = chol(I + Z' Z) R0` (Cholesky QR with a preconditioner; Fukaya et al. 2020) at BLAS-3 speed.
Y itself is never written out.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from steelyard import blas
from steelyard.errors import DataError
from steelyard.robot.aligned import aligned_zeros
from steelyard.robot.kernel import SPARE, Plan, fill, workspace
from steelyard.robot.tree import Tree

Array = NDArray[np.float64]
CHUNK = 256  # samples a panel: with about 200 lines it stays inside a core's own cache
LEAD = CHUNK + 8  # a cache line more than the samples: lines a power of two apart would share cache sets
# A factor serves as preconditioner while later rows exceed it by no more than this: the digits lost are its log10.
GROWTH = 1e4
FLOOR = 1e-12


class Samples(NamedTuple):
    """One block of samples as the kernel reads it; see `kernel.fill`."""

    q: Array
    v: Array
    a: Array
    mask: Array
    extra: Array


@numba.njit(cache=True, nogil=True)
def _gram(routines: Any, tree: Any, plan: Any, data: Any, work: Any, P: Any, R0: Any, G: Any, at: Any) -> None:
    """G_j += Z_j' Z_j over the block, with Z_j = W_j R0_j^-1."""
    sizes = np.zeros(3, np.int32)
    sizes[0], sizes[2] = CHUNK, LEAD
    for k0 in range(0, data.v.shape[0], CHUNK):
        fill(tree, plan, data.q, data.v, data.a, data.mask, data.extra, k0, CHUNK, work, P, np.uint64(LEAD), 0)
        for j in range(plan.start.shape[0] - 1):
            sizes[1] = plan.start[j + 1] - plan.start[j]
            blas.solve_right(routines, R0, at[j], P, plan.start[j] * LEAD, sizes)
            blas.add_gram(routines, P, plan.start[j] * LEAD, G, at[j], sizes)


@numba.njit(cache=True, nogil=True)
def _householder(routines: Any, tree: Any, plan: Any, data: Any, work: Any, P: Any, R: Any, at: Any, most: int) -> None:
    """R_j <- triangle of [R_j; W_j], chunk after chunk; panels leave `most` rows above the samples for R_j."""
    ld = most + LEAD
    sizes = np.zeros(5, np.int32)
    sizes[2], sizes[3] = ld, 32 * most
    tau, scratch = np.zeros(most), np.zeros(32 * most)
    for k0 in range(0, data.v.shape[0], CHUNK):
        fill(tree, plan, data.q, data.v, data.a, data.mask, data.extra, k0, CHUNK, work, P, np.uint64(ld), most)
        for j in range(plan.start.shape[0] - 1):
            c = plan.start[j + 1] - plan.start[j]
            first = plan.start[j] * ld + most - c
            for column in range(c):
                for row in range(c):
                    P[first + column * ld + row] = R[at[j] + column * c + row] if row <= column else 0.0
            sizes[0], sizes[1] = c + CHUNK, c
            blas.triangularise(routines, P, first, sizes, tau, scratch)
            for column in range(c):
                for row in range(column + 1):
                    R[at[j] + column * c + row] = P[first + column * ld + row]
    tau[0] += scratch[0]  # keeps both alive until the last call has returned


class Reducer:
    """Running factors of one thread: `absorb` blocks, then read `factors`.

    The preconditioner is the factor of all that was absorbed before it was taken, so that `I + Z' Z` is never worse
    than its first term; it is renewed when later rows outgrow it.
    """

    def __init__(self, tree: Tree, plan: Plan) -> None:
        self._tree, self._plan = tree, plan
        self._width = np.diff(plan.start)
        self._at = np.concatenate([[0], np.cumsum(self._width**2)]).astype(np.int64)
        self._routines = blas.routines()
        self._work = workspace(tree)
        self._most = int(self._width.max(initial=1))
        lines = int(plan.start[-1])
        self._panel = aligned_zeros((lines + SPARE) * LEAD)
        self._tall = aligned_zeros((lines + SPARE) * (self._most + LEAD))
        self._R = np.zeros(int(self._at[-1]))
        self._G = np.zeros_like(self._R)
        self._ready = False
        self._unseen = [np.zeros(c, dtype=bool) for c in self._width]
        self._plain = self._R

    def absorb(self, data: Samples) -> None:
        """Add a block of samples."""
        if self._ready:
            block = np.zeros_like(self._G)
            _gram(self._routines, self._tree, self._plan, data, self._work, self._panel, self._R, block, self._at)
            if self._growth(block) <= GROWTH:
                self._G += block
                if self._growth(self._G) > GROWTH:
                    self._settle()
                    self._precondition()
                return
        self._settle()
        _householder(
            self._routines, self._tree, self._plan, data, self._work, self._tall, self._R, self._at, self._most
        )
        self._precondition()

    def factors(self) -> list[Array]:
        """Upper-triangular factor of each joint, diagonal >= 0; raises DataError for samples that overflow."""
        self._settle()
        if not np.isfinite(self._R).all():
            raise DataError(
                "a velocity, acceleration or torque is so large that its square is no number",
                cure="look for a damaged sample, or for another unit than rad/s, rad/s2 and N m (m/s, m/s2 and N)",
            )
        factors = []
        for j, c in enumerate(self._width):
            factor = np.triu(self._square(self._R, j)).copy()
            factors.append(factor * np.where(np.diag(factor) < 0.0, -1.0, 1.0)[:c, None])
        return factors

    def _settle(self) -> None:
        """R <- chol(I + G) R, without what `_precondition` lent: R is the factor of the data alone again."""
        if self._ready and not self._G.any():
            self._R[:] = self._plain
        elif self._ready:
            for j, c in enumerate(self._width):
                G = np.triu(self._square(self._G, j))
                full = G + np.triu(G, 1).T + np.eye(c)
                R = self._square(self._R, j)
                R[:] = np.linalg.cholesky(full).T @ np.triu(R)
                R[:, self._unseen[j]] = 0.0
            self._G[:] = 0.0
        self._ready = False

    def _precondition(self) -> None:
        """Make R invertible: columns that depend on those before them get a diagonal of FLOOR times their length.

        Once Gram matrices are added on top of it, that is FLOOR^2 of the column's own sum of squares more, far below
        rounding in any use of it. Columns that have not been seen at all get such a diagonal too, and lose it again:
        should they come to life, the block that wakes them outgrows the preconditioner at once.
        """
        self._plain = self._R.copy()
        for j in range(self._width.size):
            R = self._square(self._R, j)
            length = np.linalg.norm(np.triu(R), axis=0)
            longest = float(length.max(initial=0.0)) or 1.0
            diagonal = np.diag(R)
            self._unseen[j] = length == 0.0
            least = FLOOR * np.where(self._unseen[j], longest, length)
            np.fill_diagonal(R, np.where(np.abs(diagonal) < least, least, diagonal))
        self._ready = True

    def _square(self, flat: Array, j: int) -> Array:
        """The (c, c) column-major matrix of joint j as a view."""
        c = self._width[j]
        return flat[self._at[j] : self._at[j + 1]].reshape(c, c).T

    def _growth(self, G: Array) -> float:
        """Largest mean eigenvalue of any joint's G; infinite for what is not finite."""
        traces = [np.trace(self._square(G, j)) / max(1, c) for j, c in enumerate(self._width)]
        worst = float(np.max(traces, initial=0.0))
        return worst if np.isfinite(worst) else float("inf")
