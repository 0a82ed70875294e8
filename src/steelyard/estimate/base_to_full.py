"""From base parameters back to a full set: the bodies nearest to the model file that give exactly the same torque.

Base parameters leave whole families of full sets (27 directions for a Panda); most of them have masses that cannot be.
Here the member is chosen that can exist and is nearest to the prior, in the log-det Bregman divergence.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis, random_states
from steelyard.errors import ModelError, StudyError
from steelyard.estimate.feasibility import nearest_bodies
from steelyard.estimate.link_map import LinkMap, link_map
from steelyard.estimate.symmetric import least_eigenvalues
from steelyard.finding import Finding
from steelyard.model import Model

Array = NDArray[np.float64]
TORQUE_CHANGE = 1e-9  # relative, over random motions: more means that the basis is not this model's
SAMPLES = 64


@dataclass(frozen=True)
class FullSet:
    """A full set of parameters.

    Attributes:
        links: the map from bodies to columns, with the prior.
        y: (u,) coordinates of the map.
        torque_change: largest difference of torque from the base parameters over random motions, relative to the
            largest torque.
        steps: Newton steps.
        findings: what was done to the prior.
    """

    links: LinkMap
    y: Array
    torque_change: float
    steps: int
    findings: tuple[Finding, ...]

    @property
    def theta(self) -> Array:
        """(p,) values of the model's columns."""
        return np.asarray(self.links.matrix @ self.y)

    @property
    def link_parameters(self) -> dict[str, Array]:
        """(10,) parameters of every moving link with mass, about its own origin, by link name."""
        return dict(zip((link.name for link in self.links.links), self.links.parameters(self.y), strict=True))

    @property
    def scalars(self) -> dict[str, float]:
        """Values of the columns that are no body's."""
        return {c.name: float(v) for c, v in zip(self.links.scalars, self.y[self.links.rigid :], strict=True)}

    @property
    def least_eigenvalue(self) -> float:
        """The least eigenvalue of all pseudo-inertias about the links' own origins [kg m2], positive."""
        return float(least_eigenvalues(self.links.pseudo_inertias(self.y)).min(initial=np.inf))


def base_to_full(model: Model, basis: ParameterBasis, base: Array, *, seed: int = 0) -> FullSet:
    """The nearest consistent full set with the torque of given base parameters.

    Args:
        model: robot, whose links are the prior, and terms.
        basis: its base parameters.
        base: (b,) their values.
        seed: of the motions on which the torque is compared.

    Raises:
        StudyError: base parameters of another model or number.
        ModelError: no bodies that can exist have these base parameters; says which of them contradict.
    """
    base = np.asarray(base, dtype=np.float64)
    if basis.columns != model.names or base.shape != (basis.count,):
        raise StudyError("these are not base parameters of this model", value=base.shape,
                         cure=f"give the {basis.count} values of base_parameters(model)")  # fmt: skip
    links = link_map(model)
    found = nearest_bodies(links, basis, base)
    if found.y is None:
        values = ", ".join(f"{name} = {base[basis.names.index(name)]:.4g}" for name in found.reason)
        raise ModelError(
            "no bodies that can exist have these base parameters",
            where=model.robot.name,
            value=values or "all of them together",
            cure="consistent() finds the nearest ones that can; a wrong frame, tool or sign in the data also does this",
        )
    place = [model.names.index(name) for name in basis.names]
    theta = np.zeros(len(model.names))
    theta[place] = base
    motion = random_states(model, SAMPLES, seed=seed)
    wanted = model.torque(theta, motion)
    change = model.torque(links.matrix @ found.y, motion) - wanted
    relative = float(np.abs(change).max() / max(float(np.abs(wanted).max()), 1e-300))
    if relative > TORQUE_CHANGE:
        raise StudyError("the full set does not give the torque of the base parameters", value=relative,
                         cure="compute the basis with base_parameters of this very model")  # fmt: skip
    return FullSet(links, found.y, relative, found.steps, links.findings)
