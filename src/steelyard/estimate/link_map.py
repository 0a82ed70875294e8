"""From links that can exist to the columns of a model, as one matrix.

The unknowns are the pseudo-inertias of every moving link that has mass, each about its own origin, and the columns of
the other terms. Links joined by fixed joints stay apart, so that what is found can be written back to the model file;
frames without mass stay without. Coordinates: link l has `J_l = C_l Y_l C_l'`, C_l the Cholesky factor of its prior,
so that the prior is `Y_l = E`, the same for a finger and an upper arm, and Y_l is a vector of ten (symmetric.py).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.estimate.prior_links import feasible_prior
from steelyard.estimate.symmetric import BASIS, IDENTITY, matrices
from steelyard.finding import Finding
from steelyard.model import Model
from steelyard.robot.inertia import parameters_of, pseudo_inertia, transform
from steelyard.robot.robot import Link
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.term import Column

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LinkMap:
    """`theta = matrix @ y`: y holds ten coordinates a link, then the values of the other columns.

    Attributes:
        links: the L moving links that have mass.
        priors: (L, 10) their prior parameters, possible bodies.
        scalars: the s columns that are no body's.
        nominal: (s,) their values in the model file, zero where it has none.
        columns: names of the p columns of the model.
        matrix: (p, 10 L + s).
        ten: (L, 10, 10) from the coordinates of a link to its parameters about its own origin.
        findings: priors that had to be replaced, bodies without mass.
    """

    links: tuple[Link, ...]
    priors: Array
    scalars: tuple[Column, ...]
    nominal: Array
    columns: tuple[str, ...]
    matrix: Array
    ten: Array
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        for array in (self.priors, self.nominal, self.matrix, self.ten):
            array.setflags(write=False)

    @property
    def rigid(self) -> int:
        """Number of coordinates of links, 10 L; those of the scalars follow."""
        return 10 * len(self.links)

    @property
    def start(self) -> Array:
        """(10 L + s,) the prior: every Y_l the identity, scalars as in the model file."""
        return np.concatenate([np.tile(IDENTITY, len(self.links)), self.nominal])

    def parameters(self, y: Array) -> Array:
        """(L, 10) parameters of every link about its own origin."""
        return np.einsum("lij,lj->li", self.ten, y[: self.rigid].reshape(-1, 10))

    def pseudo_inertias(self, y: Array) -> Array:
        """(L, 4, 4) pseudo-inertia of every link about its own origin."""
        shape = (len(self.links), 4, 4)
        return np.array([pseudo_inertia(p) for p in self.parameters(y)]).reshape(shape)

    def relative(self, y: Array) -> Array:
        """(L, 4, 4) Y_l, the pseudo-inertias relative to the prior."""
        return matrices(y[: self.rigid].reshape(-1, 10))

    def masses(self, y: Array) -> Array:
        """(L,) mass of every link [kg]."""
        return np.asarray(self.parameters(y)[:, 0])

    def mass_rows(self) -> Array:
        """(L, 10 L + s) rows that give the mass of every link [kg]."""
        rows = np.zeros((len(self.links), self.matrix.shape[1]))
        for k in range(len(self.links)):
            rows[k, 10 * k : 10 * k + 10] = self.ten[k, 0]
        return rows


def link_map(model: Model, *, priors: Array | None = None) -> LinkMap:
    """The map of a model, with the links of its robot as prior.

    Args:
        model: robot and terms.
        priors: (L, 10) other priors, of possible bodies, for the links in the order of the map; None for the model
            file's, made possible where they are not.

    Raises:
        StudyError: priors of another number of links, or of bodies that cannot exist.
    """
    robot = model.robot
    names = model.names
    place = {name: k for k, name in enumerate(names)}
    body_columns = {column.name for column in RigidBody().columns(robot)}
    moving = {name.split("/")[1] for name in names if name in body_columns}
    links = tuple(link for link in robot.links if _has_mass(link) and robot.body_names[link.body] in moving)
    scalars = tuple(column for column in model.columns if column.name not in body_columns)
    findings = _massless(model, links, moving)
    if priors is None:
        found = [feasible_prior(link) for link in links]
        priors = np.array([p for p, _ in found]).reshape(len(links), 10)
        findings += [finding for _, finding in found if finding is not None]
    matrix = np.zeros((len(names), 10 * len(links) + len(scalars)))
    ten = _coordinates(priors, links)
    for k, link in enumerate(links):
        first = place[f"link/{robot.body_names[link.body]}/mass"]
        placed = [transform(ten[k, :, e], link.rotation, link.translation) for e in range(10)]
        matrix[first : first + 10, 10 * k : 10 * k + 10] = np.array(placed).T
    for k, column in enumerate(scalars):
        matrix[place[column.name], 10 * len(links) + k] = 1.0
    nominal = model.nominal[[place[column.name] for column in scalars]]
    return LinkMap(links, priors, scalars, nominal, names, matrix, ten, tuple(findings))


def _has_mass(link: Link) -> bool:
    return link.body >= 0 and link.parameters is not None and bool(link.parameters[0] > 0.0)


def _coordinates(priors: Array, links: tuple[Link, ...]) -> Array:
    """(L, 10, 10): column e holds the parameters of `C E_e C'`."""
    if priors.shape != (len(links), 10):
        raise StudyError("there must be ten prior parameters for each link", value=priors.shape,
                         choices=[link.name for link in links])  # fmt: skip
    ten = np.zeros((len(links), 10, 10))
    for k, (link, prior) in enumerate(zip(links, priors, strict=True)):
        J = pseudo_inertia(prior)
        if not np.linalg.eigvalsh(J)[0] > 0.0:
            raise StudyError("the prior is no possible body", where=f"link {link.name}", value=prior.tolist(),
                             cure="its pseudo-inertia must be positive definite")  # fmt: skip
        C = np.linalg.cholesky(J)
        ten[k] = np.array([parameters_of(C @ element @ C.T) for element in BASIS]).T
    return ten


def _massless(model: Model, links: tuple[Link, ...], moving: set[str]) -> list[Finding]:
    held = {model.robot.body_names[link.body] for link in links}
    return [
        Finding(
            "fit.massless_body",
            "warning",
            f"body {body} has no link with mass in the model file, so it gets none",
            where=f"link {body}",
            cure="give the link a mass and an inertia, roughly: the data will correct them",
        )
        for body in model.robot.body_names
        if body in moving and body not in held
    ]
