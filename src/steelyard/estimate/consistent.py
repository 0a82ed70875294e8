"""Parameters that a robot could really have: near the data, as far as bodies can be, and near the prior elsewhere.

    minimise  sum_j w_j |tau_j - Y_j theta|^2 / 2  +  gamma sum_l D(J_l || prior_l)
    over      pseudo-inertias J_l > 0 of every moving link that has mass; friction and rotor inertia >= 0

D is the log-det Bregman divergence `tr(P^-1 J) - log det(P^-1 J) - 4` (Lee, Wensing, Park 2020), which knows neither
units nor frames. w_j is one over the variance of the residual of joint j, so that gamma has a meaning: a prior whose
links are right to a factor of f (one deviation) has gamma = 1 / (4 log(f)^2), as `D(f P || P) = 2 log(f)^2` for small
changes; two is the default. Where the data contradict what is possible (`contradiction`), the misfit is model error,
which does not shrink with the number of samples: then gamma grows with the misfit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.errors import StudyError
from steelyard.estimate.allowed import Allowed, allowed
from steelyard.estimate.body_limits import BodyLimits
from steelyard.estimate.cone_problem import ConeProblem, Solution, interior_start
from steelyard.estimate.consistency_findings import consistency_findings
from steelyard.estimate.consistent_result import Consistent
from steelyard.estimate.interior_point import entropic
from steelyard.estimate.least_squares import solve
from steelyard.estimate.log_cholesky import log_cholesky
from steelyard.estimate.model_error import common_error, contradiction
from steelyard.estimate.result import Estimate
from steelyard.estimate.semidefinite import capped, semidefinite
from steelyard.information import SquareRootInformation
from steelyard.model import Model

Array = NDArray[np.float64]
SOLVERS = ("entropic", "semidefinite", "log_cholesky")
BELIEF = 1.0 / (4.0 * np.log(2.0) ** 2)  # gamma of a prior that is right to a factor of two
MODEL_ERROR = 0.4  # weight of the prior where all misfit is model error, relative to the misfit of the data
LEAST_GAMMA = 1e-12  # relative to the data's curvature: the prior of data without noise
REACHED = 1e-3  # of its size or range: distance at which a limit counts as reached
SLACK = 1e-6  # of gamma: how far limits hold their variables away
ROUNDS = 3  # of estimating the noise again where the data contradict what is possible
NOISE_FLOOR = 1e-6  # of the torque: no sensor is better, and simulated data without noise are taken so
MASS_CAP = 3.0  # of the prior's total: the cap of the semidefinite program, which would take any mass


@dataclass(frozen=True)
class _Posed:
    """A problem, its start, the names of its limits, of which the first are signs, and the unconstrained misfit."""

    cone: ConeProblem
    start: Array
    names: tuple[str, ...]
    signs: int
    floor: float


@dataclass(frozen=True)
class _Weighed:
    """The entropic fit with the noise (n,) it was weighted by, the share of misfit that noise cannot explain, steps."""

    posed: _Posed
    found: Solution
    noise: Array
    doubt: float
    steps: int


def consistent(
    model: Model,
    estimate: Estimate,
    *,
    solver: str = "entropic",
    strength: float = 1.0,
    limits: BodyLimits | None = None,
    mass_cap: float | None = None,
) -> Consistent:
    """Full parameters of a robot that can exist, from an unconstrained estimate of its base parameters.

    Args:
        model: robot, whose links are the prior, and terms.
        estimate: base parameters with their information, e.g. of `weighted`.
        solver: ``entropic``; ``semidefinite``, the same without prior but with a cap on the total mass, through
            Clarabel; ``log_cholesky``, the entropic problem by damped Gauss-Newton on Cholesky factors.
        strength: of the prior; 1 for links right to a factor of two, 4 for a factor of root two.
        limits: what else is known of the bodies.
        mass_cap: of the semidefinite program [kg]; None for three times the prior's mass.

    Raises:
        StudyError: another solver, an estimate without basis or of another model, contradictory limits.
        InformationError: the problem is too badly conditioned.
    """
    basis = _checked(model, estimate, solver, strength)
    bodies = allowed(model, limits or BodyLimits())
    links = bodies.links
    fit = _weighed(model, bodies, basis, estimate, strength)
    posed, found, steps = fit.posed, fit.found, fit.steps
    if solver == "semidefinite":
        cap = MASS_CAP * float(links.priors[:, 0].sum()) if mass_cap is None else float(mass_cap)
        cone = capped(posed.cone, mass=links.mass_rows().sum(axis=0) @ bodies.tie, cap=cap)
        posed = replace(posed, cone=cone, names=(*posed.names, "cap on the total mass"))
        found = semidefinite(cone)
        steps = found.steps
    elif solver == "log_cholesky":
        found = log_cholesky(posed.cone, found.y)
        steps = found.steps
    result = Consistent(
        links=links,
        tie=bodies.tie,
        problem=posed.cone,
        solution=found,
        basis=basis,
        noise=fit.noise,
        solver=solver,
        ratio=_ratio(posed, found, sum(estimate.information.rows)),
        belief=strength * BELIEF,
        active=tuple(posed.names[k] for k in np.flatnonzero(_holding(posed, found))),
        steps=steps,
    )
    free = _unconstrained(estimate, fit.noise)
    return replace(result, findings=(*links.findings, *consistency_findings(result, free, fit.doubt)))


def _checked(model: Model, estimate: Estimate, solver: str, strength: float) -> ParameterBasis:
    """The basis of the estimate; raises StudyError for what cannot be fitted."""
    if solver not in SOLVERS:
        raise StudyError("not a solver of the consistent problem", value=solver, choices=SOLVERS)
    if not (np.isfinite(strength) and strength > 0.0):
        raise StudyError("the strength of the prior must be positive", value=strength)
    basis = estimate.basis
    if basis is None or basis.columns != model.names or estimate.names != basis.names:
        raise StudyError(
            "a consistent fit needs an estimate of the base parameters of this model",
            cure="estimate with basis=base_parameters(model)",
        )
    return basis


def _weighed(model: Model, bodies: Allowed, basis: ParameterBasis, estimate: Estimate, strength: float) -> _Weighed:
    """The entropic fit, with the noise and the weight of the prior settled."""
    info = estimate.information
    root = np.sqrt(estimate.correlation_time)
    noise = _floored(estimate.noise * root, info)
    posed = _pose(bodies, basis, info, noise)
    found = entropic(posed.cone, posed.start)
    free = solve(info, 1.0 / noise**2)
    doubt = contradiction(posed.cone.misfit(found.y) - posed.floor, basis.count)
    steps = found.steps
    for _ in range(ROUNDS if doubt > 0.0 else int(strength != 1.0)):
        if doubt > 0.0:
            theta = basis.regroup(bodies.links.matrix @ (bodies.tie @ found.y))
            noise = _floored(np.hypot(estimate.noise, common_error(model, info, theta, free)) * root, info)
        posed = _pose(bodies, basis, info, noise, strength=strength, doubt=doubt)
        found = entropic(posed.cone, posed.start)
        steps += found.steps
    return _Weighed(posed, found, noise, doubt, steps)


def _pose(
    bodies: Allowed,
    basis: ParameterBasis,
    info: SquareRootInformation,
    noise: Array,
    *,
    strength: float = 1.0,
    doubt: float = 0.0,
) -> _Posed:
    weights, links = 1.0 / noise**2, bodies.links
    stacked = info.scale(weights).stacked()
    A = stacked[:, :-1] @ (basis.matrix @ links.matrix) @ bodies.tie
    first = 10 * bodies.bodies
    seen = np.any(A != 0.0, axis=0)
    nonnegative = np.array([column.nonnegative for column in links.scalars], dtype=bool)
    # of scalars that are tied the first one stands for both
    scalar = [int(np.argmax(bodies.tie[links.rigid :, k])) for k in range(first, A.shape[1])]
    bounded = [k for k, s in enumerate(scalar, start=first) if nonnegative[s] and seen[k]]
    G = np.vstack([np.eye(A.shape[1])[bounded], bodies.rows.G])
    g = np.concatenate([np.zeros(len(bounded)), bodies.rows.g])
    floor = float(weights @ info.misfit(solve(info, weights)))
    cone = ConeProblem(A, stacked[:, -1], bodies.bodies, BELIEF, G, g, SLACK)
    gamma = max(strength * (BELIEF + doubt * MODEL_ERROR * floor), LEAST_GAMMA * cone.curvature)
    cone = replace(cone, gamma=gamma, slack=SLACK * gamma)
    names = (*(links.scalars[scalar[k - first]].name for k in bounded), *bodies.rows.names)
    return _Posed(cone=cone, start=interior_start(cone, bodies.start), names=names, signs=len(bounded), floor=floor)


def _unconstrained(estimate: Estimate, noise: Array) -> Estimate:
    """What the data alone say, with the weights of the consistent fit."""
    return Estimate(
        names=estimate.names,
        theta=solve(estimate.information, 1.0 / noise**2),
        basis=estimate.basis,
        information=estimate.information,
        weights=1.0 / noise**2,
        noise=noise,
        correlation_time=np.ones(len(noise)),
        estimator="weighted",
    )


def _floored(noise: Array, info: SquareRootInformation) -> Array:
    torque = np.sqrt(info.energy / np.maximum(np.array(info.rows, dtype=np.float64), 1.0))
    floor = NOISE_FLOOR * max(float(torque.max(initial=0.0)), 1e-9)
    return np.maximum(noise, floor)


def _ratio(posed: _Posed, found: Solution, rows: int) -> float:
    least = max(posed.floor, 1e-3 * rows)  # less is only rounding: the noise was floored
    return float(np.sqrt(max(posed.cone.misfit(found.y), least) / least))


def _holding(posed: _Posed, found: Solution) -> NDArray[np.bool_]:
    """Limits that hold the solution: signs whose multiplier outweighs the distance, the others when reached."""
    cone = posed.cone
    distance = cone.G @ found.y - cone.g
    scale = np.maximum(np.sqrt(np.sum((cone.A @ cone.G.T) ** 2, axis=0)), 1e-300)
    sign = np.arange(len(distance)) < posed.signs
    return np.where(sign, found.multipliers / scale > distance * scale, distance < REACHED)
