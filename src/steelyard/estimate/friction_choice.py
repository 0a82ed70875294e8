"""The friction structures that a default run compares, and how it picks one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from steelyard.basis import ParameterBasis, base_parameters
from steelyard.estimate.result import Estimate
from steelyard.estimate.structure import Trial, cross_validate
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.graded_friction import GradedFriction
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.term import Term
from steelyard.terms.viscous import Viscous


@dataclass(frozen=True)
class Structure:
    """A set of friction terms, and what it is in words."""

    terms: tuple[Term, ...]
    words: str


# Quadratic friction is not among them: it runs away beyond the speeds of the data. A Coulomb level for each direction
# is Coulomb and offset together.
STRUCTURES: Mapping[str, Structure] = {
    "viscous": Structure((Viscous(),), "viscous and offset"),
    "coulomb": Structure((Viscous(), Coulomb()), "viscous, Coulomb and offset"),
    "graded": Structure((Viscous(), GradedFriction()), "viscous, dry friction that builds up with speed, and offset"),
}
Fit = Callable[[SquareRootInformation, Model, ParameterBasis], Estimate]
TIE = 1.02  # a structure within this factor of the best is as good; the one with fewer columns is taken


def terms_of(structure: str) -> tuple[Term, ...]:
    """All terms of a model with this friction."""
    return (RigidBody(), RotorInertia(), *STRUCTURES[structure].terms, Offset())


def all_terms() -> tuple[Term, ...]:
    """The terms of all structures together: what is absorbed once, to be selected from."""
    friction: list[Term] = []
    for structure in STRUCTURES.values():
        friction += [term for term in structure.terms if term not in friction]
    return (RigidBody(), RotorInertia(), *friction, Offset())


def choose_friction(
    robot: Robot,
    blocks: Sequence[SquareRootInformation],
    fit: Fit,
) -> tuple[tuple[Trial, ...], str]:
    """Compare the structures on held-out blocks.

    Args:
        robot: the robot.
        blocks: information of blocks of the training data over the base columns of `all_terms`.
        fit: estimates the base columns of a model, from their information, the model and its basis.

    Returns:
        The trials, best first, and the name of the structure to use: the simplest within TIE of the best.
    """
    models = {name: Model(robot, terms_of(name)) for name in STRUCTURES}
    bases = {name: base_parameters(model) for name, model in models.items()}
    trials: list[Trial] = []
    for name, model in models.items():
        if len(blocks) > 1:
            trials += cross_validate(blocks, {name: bases[name].names}, partial(_of, fit, model, bases[name]))
    if not trials:
        return (), "coulomb"
    trials.sort(key=lambda trial: trial.error)
    good = [trial for trial in trials if trial.error <= TIE * trials[0].error]
    return tuple(trials), min(good, key=lambda trial: trial.columns).name


def _of(fit: Fit, model: Model, basis: ParameterBasis, info: SquareRootInformation) -> Estimate:
    return fit(info, model, basis)
