"""The links of a model with a prior that limits and symmetry allow, and the limits in independent coordinates."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import InformationError, StudyError
from steelyard.estimate.body_limits import BodyLimits, LimitRows, limit_rows
from steelyard.estimate.cone_problem import INSIDE, ConeProblem
from steelyard.estimate.interior_point import entropic
from steelyard.estimate.link_map import LinkMap, link_map
from steelyard.estimate.symmetric import IDENTITY
from steelyard.estimate.symmetry import mirrored_priors, tied
from steelyard.finding import Finding
from steelyard.model import Model

Array = NDArray[np.float64]
STIFF = 1e3  # of what limits are short by, against the divergence from the model file
MOVED = 1e-3  # of a link, relative: less is rounding


@dataclass(frozen=True)
class Allowed:
    """What the solvers start from.

    Attributes:
        links: map and prior, inside the limits.
        tie: (u, v) coordinates of the map from independent ones, `y = tie @ x`.
        rows: the limits over x.
    """

    links: LinkMap
    tie: Array
    rows: LimitRows

    @property
    def start(self) -> Array:
        """(v,) the prior."""
        return np.asarray(np.linalg.lstsq(self.tie, self.links.start, rcond=None)[0])

    @property
    def bodies(self) -> int:
        """Number of independent bodies, whose ten coordinates each come first in x."""
        return int(np.count_nonzero(self.tie[: self.links.rigid].any(axis=0))) // 10


def allowed(model: Model, limits: BodyLimits) -> Allowed:
    """Links, prior and limits of a model.

    A prior outside the limits becomes the nearest one inside, in the log-det divergence.

    Raises:
        StudyError: limits that no bodies can keep, or that name what is not there.
    """
    links = link_map(model)
    if limits.symmetry is not None:
        links = _renewed(model, links, mirrored_priors(limits.symmetry, links, model.robot), "made symmetric")
    found = _with_rows(model, limits, links)
    x = found.start
    of_bodies = np.asarray(~found.rows.G[:, 10 * found.bodies :].any(axis=1))
    G, g = found.rows.G[of_bodies, : 10 * found.bodies], found.rows.g[of_bodies]
    if not g.size or (G @ x[: 10 * found.bodies] - g).min() >= INSIDE:
        return found
    names = tuple(name for name, own in zip(found.rows.names, of_bodies, strict=True) if own)
    x[: 10 * found.bodies] = _nearest_inside(G, g, names)
    return _with_rows(
        model, limits, _renewed(model, links, links.parameters(found.tie @ x), "moved inside the limits given")
    )


def _with_rows(model: Model, limits: BodyLimits, links: LinkMap) -> Allowed:
    tie, rows = tied(limits.symmetry, links, model.robot), limit_rows(limits, links)
    return Allowed(links, tie, rows._replace(G=rows.G @ tie))


def _renewed(model: Model, links: LinkMap, priors: Array, words: str) -> LinkMap:
    """The same links with other priors, and a finding that names those that are others."""
    scale = np.abs(links.priors).max(axis=1)
    moved = [
        link.name
        for link, d in zip(links.links, np.abs(priors - links.priors).max(axis=1) / scale, strict=True)
        if d > MOVED
    ]
    if not moved:
        return replace(link_map(model, priors=priors), findings=links.findings)
    finding = Finding(
        "fit.prior_moved",
        "info",
        f"the prior of {', '.join(moved)} was {words}",
        where=f"link {moved[0]}",
        cure="none is needed if what was given is right",
    )
    return replace(link_map(model, priors=priors), findings=(*links.findings, finding))


def _nearest_inside(G: Array, g: Array, names: tuple[str, ...]) -> Array:
    """Coordinates of the bodies nearest to the prior with `G y >= g + INSIDE`, as far as that can be had.

    `minimise sum (tr Y - log det Y) + (STIFF s)^2 / 2` over `Y > 0`, `G y + s >= g + INSIDE`, `s >= 0`.
    """
    size = G.shape[1]
    start = np.concatenate([np.tile(IDENTITY, size // 10), [1.0]])
    start[-1] += max(float((g + INSIDE - G @ start[:-1]).max()), 0.0)
    A = np.zeros((1, size + 1))
    A[0, -1] = STIFF
    rows = np.vstack([np.column_stack([G, np.ones(len(G))]), np.eye(size + 1)[-1]])
    problem = ConeProblem(A, np.zeros(1), size // 10, 1.0, rows, np.append(g + INSIDE, 0.0), 1e-6)
    try:
        found = entropic(problem, start)
    except InformationError:
        found = None
    if found is None or (G @ found.y[:-1] - g).min() <= 0.2 * INSIDE:
        pressed = np.argsort(-found.multipliers[:-1])[:2] if found is not None else range(len(names))
        raise StudyError("the limits contradict one another", value="; ".join(names[k] for k in pressed),
                         cure="widen one of them")  # fmt: skip
    return found.y[:-1]
