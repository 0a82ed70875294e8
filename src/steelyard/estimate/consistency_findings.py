"""What a consistent fit says about the data, in words: contradictions, silent directions, limits reached."""

from __future__ import annotations

import numpy as np

from steelyard.estimate.consistent_result import Consistent
from steelyard.estimate.feasibility import nearest_bodies
from steelyard.estimate.result import Estimate
from steelyard.finding import Finding

FAR = 3.0  # times the prior's mass, either way


def consistency_findings(result: Consistent, estimate: Estimate, doubt: float) -> list[Finding]:
    """Findings on a consistent fit.

    Args:
        result: the fit.
        estimate: the unconstrained one that it is compared with.
        doubt: share of the misfit that noise cannot explain, see `contradiction`.
    """
    return [
        *_infeasible(result, estimate, doubt),
        *_silent_mass(result),
        *_far(result),
        *_active(result),
    ]


def _infeasible(result: Consistent, estimate: Estimate, doubt: float) -> list[Finding]:
    nearest = nearest_bodies(result.links, result.basis, estimate.theta)
    if nearest.y is not None:
        return []
    deviation = dict(zip(estimate.names, estimate.deviation, strict=True))
    parts = [f"{name} = {estimate.value(name):.3g} ± {deviation[name]:.1g}" for name in nearest.reason]
    which = f" ({', '.join(parts)})" if parts else ""
    why = (
        "noise does not explain it: look for a wrong frame, gear or tool, a wrong sign, or a term that is missing"
        if doubt > 0.0
        else "noise explains it: a richer or longer motion would settle these parameters"
    )
    return [
        Finding(
            "fit.infeasible_unconstrained",
            "warning" if doubt > 0.0 else "info",
            f"no robot that can exist has the unconstrained estimate{which}; the consistent one "
            f"leaves {100.0 * (result.ratio - 1.0):.2g} % more residual on the training torque, each joint weighted by "
            f"its noise; {why}",
            where=nearest.reason[0] if nearest.reason else "",
            value=result.ratio,
            cure="use the consistent parameters in simulators and controllers; the unconstrained ones predict only "
            "motions like the training's",
        )
    ]


def _silent_mass(result: Consistent) -> list[Finding]:
    """The total mass, when data do not determine it."""
    if not result.links.links:
        return []
    rows = result.links.mass_rows().sum(axis=0) @ result.tie
    A = result.problem.A
    lengths = np.sqrt(np.sum(A**2, axis=0))
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    _, values, V = np.linalg.svd(A / lengths, full_matrices=False)
    V = V[values > 1e-10 * values.max(initial=0.0)]
    scaled = rows / lengths
    if np.linalg.norm(scaled - V.T @ (V @ scaled)) < 1e-5 * np.linalg.norm(scaled):
        return []
    standing = result.standing
    silent = [link.name for link in result.links.links if standing[f"link/{link.name}/mass"] != "identified"]
    prior = float(result.links.priors[:, 0].sum())
    return [
        Finding(
            "fit.prior_dominates",
            "info",
            f"torque cannot tell the total mass of the moving links: {result.total_mass:.4g} kg here rests on the "
            f"{prior:.4g} kg of the model file; mass of {', '.join(silent[:6])}{' ...' if len(silent) > 6 else ''} can "
            "be traded along their joint axes, with first moments and inertia, without any change of torque",
            value=result.total_mass,
            cure="weigh the robot, or give its mass as a limit, if the total matters; motion control does not need it",
        )
    ]


def _far(result: Consistent) -> list[Finding]:
    found = []
    for link, mass, prior in zip(
        result.links.links, result.links.masses(result.y), result.links.priors[:, 0], strict=True
    ):
        if not prior / FAR < mass < prior * FAR:
            found.append(
                Finding(
                    "fit.far_from_prior",
                    "warning",
                    f"link {link.name} weighs {mass:.3g} kg in the fit and {prior:.3g} kg in the model file",
                    where=f"link {link.name}",
                    value=float(mass),
                    cure="check the model file's mass; a missing rotor inertia or tool also ends up in a link",
                )
            )
    return found


def _active(result: Consistent) -> list[Finding]:
    held = [*result.active, *(f"link {name}, as flat as a body can be" for name in result.edges)]
    if not held:
        return []
    return [
        Finding(
            "fit.at_limit",
            "info",
            f"held by what physics or the limits allow: {', '.join(held)}",
            where=held[0].split(",")[0],
            value=len(held),
            cure="a friction or rotor inertia that wants to be negative stands in for something the model lacks",
        )
    ]
