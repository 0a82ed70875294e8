"""What the consistent estimators return: parameters of every link, how they fit, and what each of them rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.estimate.cone_problem import ConeProblem
from steelyard.estimate.link_map import LinkMap
from steelyard.estimate.symmetric import congruences, least_eigenvalues
from steelyard.finding import Finding
from steelyard.terms.rigid_body import QUANTITIES

Array = NDArray[np.float64]
Standing = Literal["identified", "combined", "prior"]
SPANNED = 1e-5  # relative distance from the rows of the data under which a parameter is determined by them
LEARNED = 0.5  # share of the prior's variance that must be gone before data may be said to have told a value


@dataclass(frozen=True)
class Consistent:
    """A full set of parameters of a robot that can exist.

    Attributes:
        links: the map from bodies to columns, with the prior.
        problem: the problem that was solved, in the coordinates of the map.
        y: (u,) its solution.
        basis: base parameters of the model.
        noise: (n,) standard deviation of the residual of each joint that the weights were made of [N m or N].
        solver: ``entropic``, ``semidefinite`` or ``log_cholesky``.
        ratio: weighted residual over that of the unconstrained optimum with the same weights, at least 1.
        stationarity: gradient of the Lagrangian relative to the data's, 0 at the optimum (KKT residual).
        belief: weight of the prior that was asked for; gamma is larger where the data contradict what is possible.
        active: limits that hold the solution: friction at zero, bounds reached.
        steps: iterations of the solver, over all rounds of weighting.
        findings: what a person should know.
    """

    links: LinkMap = field(repr=False)
    problem: ConeProblem = field(repr=False)
    y: Array = field(repr=False)
    basis: ParameterBasis = field(repr=False)
    noise: Array
    solver: str
    ratio: float
    stationarity: float
    belief: float
    active: tuple[str, ...]
    steps: int
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.y, self.noise):
            array.setflags(write=False)

    @property
    def gamma(self) -> float:
        """Weight of the prior against the noise of the residual."""
        return self.problem.gamma

    @property
    def theta(self) -> Array:
        """(p,) values of the model's columns, bodies with their links added up; for `Model.torque` and `predict`."""
        return np.asarray(self.links.matrix @ self.y)

    @property
    def base(self) -> Array:
        """(b,) base parameters."""
        return self.basis.regroup(self.theta)

    @cached_property
    def link_parameters(self) -> dict[str, Array]:
        """(10,) parameters of every moving link with mass, about its own origin, by link name."""
        return dict(zip((link.name for link in self.links.links), self.links.parameters(self.y), strict=True))

    @property
    def scalars(self) -> dict[str, float]:
        """Values of the columns that are no body's: friction, rotor inertia, offsets."""
        return {c.name: float(v) for c, v in zip(self.links.scalars, self.y[self.links.rigid :], strict=True)}

    @property
    def least_eigenvalue(self) -> float:
        """The least eigenvalue of all pseudo-inertias about the links' own origins [kg m2], positive."""
        return float(least_eigenvalues(self.links.pseudo_inertias(self.y)).min(initial=np.inf))

    @property
    def total_mass(self) -> float:
        """Mass of all moving links [kg]."""
        return float(self.links.masses(self.y).sum())

    @cached_property
    def full_names(self) -> tuple[str, ...]:
        """Names of all 10 L + s parameters: ``link/<link>/mass`` and so on, then the other columns."""
        own = [f"link/{link.name}/{quantity}" for link in self.links.links for quantity, _ in QUANTITIES]
        return (*own, *(column.name for column in self.links.scalars))

    @property
    def full(self) -> Array:
        """(10 L + s,) all parameters, as `full_names`."""
        return np.concatenate([self.links.parameters(self.y).ravel(), self.y[self.links.rigid :]])

    @cached_property
    def _functionals(self) -> Array:
        """(10 L + s, u) rows that give each parameter of `full` from the coordinates."""
        rows = np.eye(self.y.size)
        for k, block in enumerate(self.links.ten):
            rows[10 * k : 10 * k + 10, 10 * k : 10 * k + 10] = block
        return rows

    @cached_property
    def deviation(self) -> Array:
        """(10 L + s,) standard deviations of `full`, from the curvature of data and prior together (Laplace).

        The prior counts with the weight that was asked for, also where a contradiction made gamma larger. Scalars
        held at zero are as if known. Where the data are silent this is the width of the prior.
        """
        return np.sqrt(self._variances(self.belief)[0])

    def _variances(self, weight: float) -> tuple[Array, Array]:
        """Variances of `full` after the data, and by a prior of that weight alone (infinite for scalars)."""
        rows, rigid = self._functionals, self.links.rigid
        curvature = self.problem.A.T @ self.problem.A
        before = np.full(len(rows), np.inf)
        for k, Y in enumerate(self.links.relative(self.y)):
            block = slice(10 * k, 10 * k + 10)
            own = max(weight, 1e-12 * self.problem.curvature) * congruences(np.linalg.inv(Y)[None])[0]
            curvature[block, block] += own
            before[block] = np.einsum("ij,ji->i", rows[block, block], np.linalg.solve(own, rows[block, block].T))
        held = {name for name in self.active if name in self.full_names}
        free = np.array([k < rigid or self.full_names[k] not in held for k in range(len(rows))])
        root = 1.0 / np.sqrt(np.maximum(np.diag(curvature), 1e-300))
        scaled = curvature * np.outer(root, root)
        inverse = np.linalg.pinv(scaled[np.ix_(free, free)], rcond=1e-13, hermitian=True)
        wide = (rows * root)[:, free]
        after = np.einsum("ij,jk,ik->i", wide, inverse, wide)
        unseen = np.flatnonzero(np.sum(self.problem.A**2, axis=0) == 0.0)
        after[[k for k in unseen if k >= rigid]] = np.inf
        return np.maximum(after, 0.0), before

    @cached_property
    def standing(self) -> dict[str, Standing]:
        """What each parameter rests on.

        ``identified``: the data determine it; ``combined``: they determine sums in which it occurs; ``prior``: they
        hardly or never touch it, and the value is the model file's, within what is possible.
        """
        rows, A = self._functionals, self.problem.A
        lengths = np.sqrt(np.sum(A**2, axis=0))
        lengths = np.where(lengths > 0.0, lengths, 1.0)
        _, values, V = np.linalg.svd(A / lengths, full_matrices=False)
        V = V[values > 1e-10 * values.max(initial=0.0)]
        scaled = rows / lengths
        left = np.linalg.norm(scaled - (scaled @ V.T) @ V, axis=1) / np.linalg.norm(scaled, axis=1)
        touched = np.linalg.norm(A @ np.linalg.inv(rows), axis=0)
        after, before = self._variances(self.gamma)
        told = np.where(np.isfinite(before), after < LEARNED * before, True)
        result: dict[str, Standing] = {}
        for k, name in enumerate(self.full_names):
            seen = touched[k] > 1e-9 * touched.max(initial=0.0)
            result[name] = "prior" if not seen or not told[k] else "identified" if left[k] < SPANNED else "combined"
        return result

    def value(self, name: str) -> float:
        """One parameter of `full` by name."""
        return float(self.full[self.full_names.index(name)])
