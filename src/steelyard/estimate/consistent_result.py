"""What the consistent estimators return: parameters of every link, how they fit, and what each of them rests on."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.errors import StudyError
from steelyard.estimate.cone_problem import ConeProblem, Solution, kkt_residual
from steelyard.estimate.link_map import LinkMap
from steelyard.estimate.result import most_correlated
from steelyard.estimate.symmetric import congruences, least_eigenvalues, matrices
from steelyard.finding import Finding
from steelyard.terms.rigid_body import QUANTITIES

Array = NDArray[np.float64]
Standing = Literal["identified", "combined", "prior"]
SPANNED = 1e-5  # relative distance from the rows of the data under which a parameter is determined by them
EDGE = 0.05  # of the prior's pseudo-inertia along some direction: there the data pull harder than the prior
LEARNED = 0.5  # share of the prior's variance that must be gone before data may be said to have told a value


@dataclass(frozen=True)
class Consistent:
    """A full set of parameters of a robot that can exist.

    Attributes:
        links: the map from bodies to columns, with the prior.
        tie: (u, v) coordinates of the map from the independent ones, `y = tie @ x`; the identity without symmetry.
        problem: the problem that was solved, in the independent coordinates.
        solution: x (v,), multipliers of its limits, and how well they were reached.
        basis: base parameters of the model.
        noise: (n,) standard deviation of the residual of each joint that the weights were made of [N m or N].
        solver: ``entropic``, ``semidefinite`` or ``log_cholesky``.
        ratio: weighted residual over that of the unconstrained optimum with the same weights, at least 1.
        belief: weight of the prior that was asked for; gamma is larger where the data contradict what is possible.
        active: limits that hold the solution: friction at zero, bounds reached; see `edges` for bodies.
        steps: iterations of the solver, over all rounds of weighting.
        findings: what a person should know.
    """

    links: LinkMap = field(repr=False)
    tie: Array = field(repr=False)
    problem: ConeProblem = field(repr=False)
    solution: Solution = field(repr=False)
    basis: ParameterBasis = field(repr=False)
    noise: Array
    solver: str
    ratio: float
    belief: float
    active: tuple[str, ...]
    steps: int
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.tie, self.noise):
            array.setflags(write=False)

    @cached_property
    def y(self) -> Array:
        """(u,) coordinates of the map."""
        return np.asarray(self.tie @ self.solution.y)

    @property
    def stationarity(self) -> float:
        """Gradient of the Lagrangian as the solver saw it, relative to the data's."""
        return self.solution.stationarity

    @cached_property
    def kkt(self) -> float:
        """KKT residual, from problem and solution alone: 0 at the optimum; see `kkt_residual`."""
        return kkt_residual(self.problem, self.solution.y, self.solution.multipliers)

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
    def edges(self) -> tuple[str, ...]:
        """Links that only being possible holds: flatter than their prior, somewhere, by a factor of EDGE or more."""
        flat = least_eigenvalues(self.links.relative(self.y)) < EDGE
        return tuple(link.name for link, thin in zip(self.links.links, flat, strict=True) if thin)

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
    def _rows(self) -> Array:
        """(10 L + s, u) rows that give each parameter of `full` from the coordinates of the map."""
        rows = np.eye(self.y.size)
        for k, block in enumerate(self.links.ten):
            rows[10 * k : 10 * k + 10, 10 * k : 10 * k + 10] = block
        return rows

    @cached_property
    def deviation(self) -> Array:
        """(10 L + s,) standard deviations of `full`, from the curvature of data and prior together (Laplace).

        The prior counts with the weight that was asked for, also where a contradiction made gamma larger. Scalars
        held at a limit are as if known. Where the data are silent this is the width of the prior.
        """
        return self._deviations(self._rows @ self.tie, self.belief)

    @property
    def base_deviation(self) -> Array:
        """(b,) standard deviations of the base parameters: what torque identifies, under the constraints."""
        return self._deviations(self.basis.matrix @ self.links.matrix @ self.tie, self.belief)

    def row(self, name: str) -> Array:
        """(v,) row that gives one parameter of `full` from the independent coordinates.

        Raises:
            StudyError: no such parameter.
        """
        if name not in self.full_names:
            raise StudyError("not a parameter of this model", value=name, choices=self.full_names)
        return np.asarray(self._rows[self.full_names.index(name)] @ self.tie)

    def covariance(self, weight: float) -> Array:
        """(v, v) covariance of the independent coordinates under a prior of this weight; nothing for what is held."""
        curvature = self.problem.A.T @ self.problem.A + self._belief(weight)
        held = self._held
        root = 1.0 / np.sqrt(np.maximum(np.diag(curvature), 1e-300))
        scaled = (curvature * np.outer(root, root))[np.ix_(~held, ~held)]
        result = np.zeros_like(curvature)
        inverse = np.linalg.pinv(scaled, rcond=1e-13, hermitian=True)
        result[np.ix_(~held, ~held)] = inverse * np.outer(root[~held], root[~held])
        return result

    @property
    def _held(self) -> NDArray[np.bool_]:
        """(v,) scalars that a limit holds."""
        held = np.zeros(self.problem.A.shape[1], dtype=bool)
        for name in self.active:
            bare = name.removeprefix("least ").removeprefix("greatest ")
            if bare in self.scalars:
                held |= self.tie[self.full_names.index(bare)] != 0.0
        return held

    def _belief(self, weight: float) -> Array:
        """(v, v) curvature of the divergence of every body, `weight Y^-1 x Y^-1`; nothing for the scalars."""
        own = max(weight, 1e-12 * self.problem.curvature)
        curvature = np.zeros((self.problem.A.shape[1],) * 2)
        Y = matrices(self.solution.y[: self.problem.rigid].reshape(-1, 10))
        for k, block in enumerate(congruences(np.asarray(np.linalg.inv(Y), dtype=np.float64))):
            curvature[10 * k : 10 * k + 10, 10 * k : 10 * k + 10] = own * block
        return curvature

    def _deviations(self, rows: Array, weight: float) -> Array:
        """Deviations of linear functions (r, v) of the coordinates; infinite where a scalar is nowhere seen."""
        variance = np.einsum("ij,jk,ik->i", rows, self.covariance(weight), rows)
        unseen = np.asarray(~self.problem.A.any(axis=0))
        unseen[: self.problem.rigid] = False
        variance[(rows[:, unseen] != 0.0).any(axis=1)] = np.inf
        return np.asarray(np.sqrt(np.maximum(variance, 0.0)))

    def _prior_variance(self, rows: Array, weight: float) -> Array:
        """Variances of linear functions (r, v) under the prior alone, `Y x Y / weight`; infinite with scalars."""
        own = max(weight, 1e-12 * self.problem.curvature)
        Y = matrices(self.solution.y[: self.problem.rigid].reshape(-1, 10))
        bodies = rows[:, : self.problem.rigid].reshape(len(rows), -1, 10)
        variance = np.einsum("rlk,lkh,rlh->r", bodies, congruences(Y), bodies) / own
        return np.where(rows[:, self.problem.rigid :].any(axis=1), np.inf, variance)

    @property
    def partners(self) -> list[str | None]:
        """For each of `full` the parameter that it can hardly be told from; None where there is none."""
        rows = self._rows @ self.tie
        rows = np.where(np.isfinite(self.deviation)[:, None], rows, 0.0)
        return most_correlated(self.full_names, rows @ self.covariance(self.belief) @ rows.T)

    @cached_property
    def prior_share(self) -> Array:
        """(10 L + s,) part of the prior's variance that is left after the data, 0 to 1, both with the prior's weight
        in the fit; nan where nothing was believed before."""
        rows = self._rows @ self.tie
        before = self._prior_variance(rows, self.gamma)
        after = self._deviations(rows, self.gamma) ** 2
        believed = np.isfinite(before) & (before > 0.0)
        return np.minimum(np.divide(after, before, out=np.full(len(rows), np.nan), where=believed), 1.0)

    @cached_property
    def standing(self) -> dict[str, Standing]:
        """What each parameter rests on.

        ``identified``: the data determine it; ``combined``: they determine sums in which it occurs; ``prior``: they
        hardly or never touch it, and the value is the model file's, within what is possible.
        """
        rows, A = self._rows @ self.tie, self.problem.A
        lengths = np.sqrt(np.sum(A**2, axis=0))
        lengths = np.where(lengths > 0.0, lengths, 1.0)
        _, values, V = np.linalg.svd(A / lengths, full_matrices=False)
        V = V[values > 1e-10 * values.max(initial=0.0)]
        scaled = rows / lengths
        left = np.linalg.norm(scaled - (scaled @ V.T) @ V, axis=1) / np.linalg.norm(scaled, axis=1)
        # what torque one unit of a parameter makes, the others of its link unchanged
        touched = np.linalg.norm(A @ np.linalg.pinv(self.tie) @ np.linalg.inv(self._rows), axis=0)
        told = ~(self.prior_share >= LEARNED)
        result: dict[str, Standing] = {}
        for k, name in enumerate(self.full_names):
            seen = touched[k] > 1e-9 * touched.max(initial=0.0)
            result[name] = "prior" if not seen or not told[k] else "identified" if left[k] < SPANNED else "combined"
        return result

    def value(self, name: str) -> float:
        """One parameter of `full` by name."""
        return float(self.full[self.full_names.index(name)])
