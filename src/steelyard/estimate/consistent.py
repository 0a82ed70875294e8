"""Parameters that a robot could really have: near the data, as far as bodies can be, and near the prior elsewhere.

    minimise  sum_j w_j |tau_j - Y_j theta|^2 / 2  +  gamma sum_l D(J_l || prior_l)
    over      pseudo-inertias J_l > 0 of every moving link that has mass; friction and rotor inertia >= 0

D is the log-det Bregman divergence `tr(P^-1 J) - log det(P^-1 J) - 4` (Lee, Wensing, Park 2020), which knows neither
units nor frames. w_j is one over the variance of the residual of joint j, so that gamma has a meaning: a prior whose
links are right to a factor of f (one deviation) has gamma = 1 / (4 log(f)^2), as `D(f P || P) = 2 log(f)^2` for small
changes; two is the default. Where the data contradict what is possible, gamma grows with their curvature
(`contradiction`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.errors import StudyError
from steelyard.estimate.body_limits import BodyLimits, limit_rows, priors_inside
from steelyard.estimate.cone_problem import ConeProblem, Solution
from steelyard.estimate.consistency_findings import consistency_findings
from steelyard.estimate.consistent_result import Consistent
from steelyard.estimate.interior_point import entropic
from steelyard.estimate.least_squares import noise_of, solve
from steelyard.estimate.link_map import LinkMap, link_map
from steelyard.estimate.log_cholesky import log_cholesky
from steelyard.estimate.result import Estimate
from steelyard.estimate.semidefinite import semidefinite
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation
from steelyard.model import Model

Array = NDArray[np.float64]
SOLVERS = ("entropic", "semidefinite", "log_cholesky")
BELIEF = 1.0 / (4.0 * np.log(2.0) ** 2)  # gamma of a prior that is right to a factor of two
MODEL_ERROR = 0.006  # weight of the prior where all misfit is model error, relative to the curvature of the data
LEAST_GAMMA = 1e-12  # relative to the same: the prior of data without noise
SLACK = 1e-6  # of gamma: how far limits hold their variables away
OFF_ZERO = 1e-3  # of the torque: where friction that would be negative starts
ROUNDS = 3  # of estimating the noise again where the data contradict what is possible
NOISE_FLOOR = 1e-6  # of the torque: no sensor is better, and simulated data without noise are taken so
MASS_CAP = 3.0  # of the prior's total: the cap of the semidefinite program, which would take any mass


@dataclass(frozen=True)
class _Posed:
    """A problem, its start, the names of its limits, and the misfit of the unconstrained optimum."""

    cone: ConeProblem
    start: Array
    names: tuple[str, ...]
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
    limits = limits or BodyLimits()
    links = _links_inside(model, limits)
    fit = _weighed(links, basis, estimate, strength, limits)
    posed, found, steps = fit.posed, fit.found, fit.steps
    if solver == "semidefinite":
        cap = MASS_CAP * float(links.priors[:, 0].sum()) if mass_cap is None else float(mass_cap)
        posed = replace(posed, cone=replace(posed.cone, gamma=0.0))
        found = semidefinite(posed.cone, mass=links.mass_rows().sum(axis=0), cap=cap)
        steps = found.steps
    elif solver == "log_cholesky":
        found = log_cholesky(posed.cone, found.y)
        steps = found.steps
    result = Consistent(
        links=links,
        problem=posed.cone,
        y=found.y,
        basis=basis,
        noise=fit.noise,
        solver=solver,
        ratio=_ratio(posed, found, sum(estimate.information.rows)),
        stationarity=found.stationarity,
        belief=strength * BELIEF,
        active=tuple(posed.names[k] for k in np.flatnonzero(_holding(posed.cone, found))),
        steps=steps,
    )
    free = _unconstrained(estimate, fit.noise)
    return replace(result, findings=(*links.findings, *consistency_findings(result, free, fit.doubt)))


def contradiction(excess: float, parameters: int) -> float:
    """Share of the misfit that noise cannot explain, 0 to 1: `1 - parameters / excess`.

    What possible bodies cost over the unconstrained optimum, in units of the noise variance, comes to less than one a
    parameter when a possible robot made the data. More is model error (a wrong frame, tool or friction): it does not
    shrink with the number of samples, so that neither may the weight of the prior, which becomes MODEL_ERROR of the
    data's curvature, and the noise is estimated again from what the possible robot leaves over.

    Args:
        excess: weighted misfit of the consistent fit less that of the unconstrained one.
        parameters: number of base parameters.
    """
    return max(0.0, 1.0 - parameters / excess) if excess > 0.0 else 0.0


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


def _links_inside(model: Model, limits: BodyLimits) -> LinkMap:
    """The links of the model, their priors moved inside the limits."""
    links = link_map(model)
    priors, moved = priors_inside(limits, links)
    if not moved:
        return links
    finding = Finding(
        "fit.prior_moved",
        "info",
        f"the prior of {', '.join(moved)} was moved inside the limits given",
        where=f"link {moved[0]}",
        cure="none is needed if the limits are right",
    )
    return replace(link_map(model, priors=priors), findings=(*links.findings, finding))


def _weighed(
    links: LinkMap, basis: ParameterBasis, estimate: Estimate, strength: float, limits: BodyLimits
) -> _Weighed:
    """The entropic fit, with the noise and the weight of the prior settled."""
    info = estimate.information
    root = np.sqrt(estimate.correlation_time)
    noise = _floored(estimate.noise * root, info)
    posed = _pose(links, basis, info, noise, limits)
    found = entropic(posed.cone, posed.start)
    doubt = contradiction(posed.cone.misfit(found.y) - posed.floor, basis.count)
    steps = found.steps
    for _ in range(ROUNDS if doubt > 0.0 else int(strength != 1.0)):
        if doubt > 0.0:
            theta = basis.regroup(links.matrix @ found.y)
            noise = _floored(noise_of(info, 1.0 / noise**2, theta) * root, info)
        posed = _pose(links, basis, info, noise, limits, strength=strength, doubt=doubt)
        found = entropic(posed.cone, posed.start)
        steps += found.steps
    return _Weighed(posed, found, noise, doubt, steps)


def _pose(
    links: LinkMap,
    basis: ParameterBasis,
    info: SquareRootInformation,
    noise: Array,
    limits: BodyLimits,
    *,
    strength: float = 1.0,
    doubt: float = 0.0,
) -> _Posed:
    weights = 1.0 / noise**2
    stacked = info.scale(weights).stacked()
    A = stacked[:, :-1] @ (basis.matrix @ links.matrix)
    seen = np.sum(A**2, axis=0) > 0.0
    bounded = [
        links.rigid + k for k, column in enumerate(links.scalars) if column.nonnegative and seen[links.rigid + k]
    ]
    extra = limit_rows(limits, links)
    G = np.vstack([np.eye(A.shape[1])[bounded], extra.G])
    g = np.concatenate([np.zeros(len(bounded)), extra.g])
    cone = ConeProblem(A, stacked[:, -1], len(links.links), BELIEF, G, g, SLACK)
    gamma = strength * (BELIEF + doubt * MODEL_ERROR * cone.curvature)
    gamma = max(gamma, LEAST_GAMMA * cone.curvature)
    cone = replace(cone, gamma=gamma, slack=SLACK * gamma)
    return _Posed(
        cone=cone,
        start=_start(links, cone, bounded),
        names=(*(links.scalars[k - links.rigid].name for k in bounded), *extra.names),
        floor=float(weights @ info.misfit(solve(info, weights))),
    )


def _start(links: LinkMap, cone: ConeProblem, bounded: list[int]) -> Array:
    """The prior, with the scalars that fit best beside it, kept off their limits."""
    start = links.start
    tail = slice(links.rigid, None)
    if links.scalars:
        rest = cone.z - cone.A[:, : links.rigid] @ start[: links.rigid]
        fitted = np.linalg.lstsq(cone.A[:, tail], rest, rcond=1e-9)[0]
        seen = np.sum(cone.A[:, tail] ** 2, axis=0) > 0.0
        start[tail] = np.where(seen, fitted, start[tail])
        effect = np.linalg.norm(cone.A[:, bounded], axis=0)
        start[bounded] = np.maximum(start[bounded], OFF_ZERO * float(np.linalg.norm(cone.z)) / effect)
    return start


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


def _holding(cone: ConeProblem, found: Solution) -> NDArray[np.bool_]:
    """Limits that hold the solution: the multiplier outweighs the distance."""
    distance = cone.G @ found.y - cone.g
    scale = np.maximum(np.sqrt(np.sum((cone.A @ cone.G.T) ** 2, axis=0)), 1e-300)
    return found.multipliers / scale > distance * scale
