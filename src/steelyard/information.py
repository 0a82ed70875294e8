"""Square-root information: all that recordings say about linear parameters, in one small triangle a joint.

With `W_j` the rows of joint j of `[Y | tau]`, the factor `R_j` is upper triangular with `R_j' R_j = W_j' W_j`.
Factors merge by QR, so that chunks, runs, days and robots add up in any order (a monoid, with `empty` as its unit);
joints are weighted when the problem is solved, without a second pass over the data.
Source: Bierman, Factorization Methods for Discrete Sequential Estimation, 1977, ch. IV-V.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import InformationError

Array = NDArray[np.float64]
ROUNDING = 1e-15  # relative length under which a column is nothing


class Source(NamedTuple):
    """A stretch of one recording: SHA-256 of its file and first and last time used [s]."""

    digest: str
    start: float
    stop: float

    def overlaps(self, other: Source) -> bool:
        """Whether the two hold a sample in common."""
        return self.digest == other.digest and self.start <= other.stop and other.start <= self.stop


@dataclass(frozen=True)
class SquareRootInformation:
    """One upper-triangular factor of `[Y | tau]` for each joint.

    Attributes:
        names: p column names.
        joints: n row (joint) names.
        support: for each joint the c_j columns (indices into names) in which its rows can be non-zero.
        factors: for each joint R_j, (c_j + 1, c_j + 1), upper triangular, diagonal >= 0; the last column is torque.
        rows: for each joint the number of rows absorbed.
        samples: number of time samples absorbed.
        sources: what was absorbed, so that nothing is counted twice.
    """

    names: tuple[str, ...]
    joints: tuple[str, ...]
    support: tuple[tuple[int, ...], ...]
    factors: tuple[Array, ...]
    rows: tuple[int, ...]
    samples: int = 0
    sources: frozenset[Source] = frozenset()

    def __post_init__(self) -> None:
        for factor in self.factors:
            factor.setflags(write=False)

    @property
    def energy(self) -> Array:
        """(n,) sum of squares of the torque of each joint [N2 m2]."""
        return np.array([float(np.sum(factor[:, -1] ** 2)) for factor in self.factors])

    def merge(self, other: SquareRootInformation) -> SquareRootInformation:
        """The information of both, `R' R = R_1' R_1 + R_2' R_2`.

        Raises:
            InformationError: other columns or joints, or samples that both have absorbed.
        """
        if (self.names, self.joints, self.support) != (other.names, other.joints, other.support):
            odd = sorted(set(self.names) ^ set(other.names)) or sorted(set(self.joints) ^ set(other.joints))
            raise InformationError(
                "information about other columns or joints cannot be merged",
                value=odd[:5] or "the same names in another order",
                cure="build both from one model: same robot, same terms, same order",
            )
        for source in self.sources:
            for twin in other.sources:
                if source.overlaps(twin):
                    raise InformationError(
                        "the same samples would be counted twice",
                        where=f"recording {source.digest[:12]}, {source.start:.13g} to {source.stop:.13g} s",
                        value=f"{twin.start:.13g} to {twin.stop:.13g} s",
                        cure="merge each stretch of a recording once",
                    )
        return replace(
            self,
            factors=tuple(triangle(np.vstack(pair)) for pair in zip(self.factors, other.factors, strict=True)),
            rows=tuple(a + b for a, b in zip(self.rows, other.rows, strict=True)),
            samples=self.samples + other.samples,
            sources=self.sources | other.sources,
        )

    def scale(self, weights: Sequence[float] | Array) -> SquareRootInformation:
        """Weight the rows of each joint: `R_j <- sqrt(w_j) R_j`; w_j >= 0, e.g. one over the noise variance.

        Raises:
            InformationError: not one weight a joint, or one that is negative or not finite.
        """
        weights = np.asarray(weights, dtype=np.float64)
        if weights.shape != (len(self.joints),) or not np.isfinite(weights).all() or np.any(weights < 0.0):
            raise InformationError("one finite weight that is not negative for each joint", value=weights.tolist())
        return replace(self, factors=tuple(np.sqrt(w) * f for w, f in zip(weights, self.factors, strict=True)))

    def select(self, names: Iterable[str]) -> SquareRootInformation:
        """The information about some columns alone, the others taken as zero.

        Raises:
            InformationError: a name that is not a column.
        """
        names = tuple(names)
        self._check_names(names)
        place = {name: k for k, name in enumerate(names)}
        support, factors = [], []
        for columns, factor in zip(self.support, self.factors, strict=True):
            kept = sorted((place[self.names[c]], at) for at, c in enumerate(columns) if self.names[c] in place)
            support.append(tuple(k for k, _ in kept))
            factors.append(triangle(factor[:, [*(at for _, at in kept), -1]]))
        return replace(self, names=names, support=tuple(support), factors=tuple(factors))

    def project(self, names: Sequence[str], matrix: Array) -> SquareRootInformation:
        """The information about `phi` where `theta = matrix @ phi`; `matrix` is (p, len(names)).

        From base to full parameters `theta_b = B theta`, call with `matrix = B`: `Y_b B = Y` holds for every row.
        """
        matrix = np.asarray(matrix, dtype=np.float64)
        if matrix.shape != (len(self.names), len(names)):
            raise InformationError(
                f"the matrix must be ({len(self.names)}, {len(names)})", value=matrix.shape, cure="columns to new ones"
            )
        support, factors = [], []
        for columns, factor in zip(self.support, self.factors, strict=True):
            rows = matrix[list(columns)]
            used = np.flatnonzero(np.any(rows != 0.0, axis=0))
            support.append(tuple(int(k) for k in used))
            factors.append(triangle(np.column_stack([factor[:, :-1] @ rows[:, used], factor[:, -1]])))
        return replace(self, names=tuple(names), support=tuple(support), factors=tuple(factors))

    def given(self, known: Mapping[str, float]) -> SquareRootInformation:
        """The information about the other columns when some are known: their torque is taken off, `tau - Y_k theta_k`.

        Raises:
            InformationError: a name that is not a column.
        """
        self._check_names(tuple(known))
        rest = tuple(name for name in self.names if name not in known)
        place = {name: k for k, name in enumerate(rest)}
        support, factors = [], []
        for columns, factor in zip(self.support, self.factors, strict=True):
            fixed = np.array([known.get(self.names[c], 0.0) for c in columns])
            kept = [at for at, c in enumerate(columns) if self.names[c] in place]
            support.append(tuple(place[self.names[columns[at]]] for at in kept))
            factors.append(triangle(np.column_stack([factor[:, kept], factor[:, -1] - factor[:, :-1] @ fixed])))
        return replace(self, names=rest, support=tuple(support), factors=tuple(factors))

    def stacked(self) -> Array:
        """(p + 1, p + 1) upper-triangular factor of all joints together, torque in the last column."""
        return triangle(np.vstack([self.spread(j) for j in range(len(self.joints))]))

    def spread(self, joint: int) -> Array:
        """(c_j + 1, p + 1): the factor of one joint with its columns in their places among all p."""
        factor = self.factors[joint]
        wide = np.zeros((factor.shape[0], len(self.names) + 1))
        wide[:, [*self.support[joint], -1]] = factor
        return wide

    def misfit(self, theta: Array) -> Array:
        """(n,) sum of squared residuals of each joint, |tau_j - Y_j theta|^2 [N2 m2]; theta is (p,)."""
        theta = np.asarray(theta, dtype=np.float64)
        if theta.shape != (len(self.names),):
            raise InformationError(f"theta must have {len(self.names)} values", value=theta.shape)
        return np.array(
            [
                float(np.sum((factor[:, -1] - factor[:, :-1] @ theta[list(columns)]) ** 2))
                for columns, factor in zip(self.support, self.factors, strict=True)
            ]
        )

    def _check_names(self, names: tuple[str, ...]) -> None:
        unknown = [name for name in names if name not in self.names]
        if unknown:
            raise InformationError("not a column of this information", value=unknown[0], choices=self.names)


def empty(names: Sequence[str], joints: Sequence[str], support: Sequence[Sequence[int]]) -> SquareRootInformation:
    """Information that says nothing: the unit of `merge`."""
    sizes = [len(columns) + 1 for columns in support]
    return SquareRootInformation(
        names=tuple(names),
        joints=tuple(joints),
        support=tuple(tuple(int(c) for c in columns) for columns in support),
        factors=tuple(np.zeros((size, size)) for size in sizes),
        rows=(0,) * len(sizes),
    )


def column_lengths(R: Array) -> Array:
    """(p,) Euclidean lengths of columns, infinite for those that are rounding beside the longest (or nothing at all).

    Columns divided by these have unit length, or are zero: rounding must not be blown up to the size of data.
    """
    lengths = np.linalg.norm(R, axis=0)
    return np.where(lengths > ROUNDING * lengths.max(initial=0.0), lengths, np.inf)


def triangle(matrix: Array) -> Array:
    """Upper-triangular factor of a matrix, square, with a diagonal that is not negative (Householder QR)."""
    wide = matrix.shape[1]
    if matrix.shape[0] < wide:
        matrix = np.vstack([matrix, np.zeros((wide - matrix.shape[0], wide))])
    factor = np.asarray(np.linalg.qr(matrix, mode="r"))
    return factor * np.where(np.diag(factor) < 0.0, -1.0, 1.0)[:, None]
