"""The friction structures that a default run compares, and how it picks one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis, base_parameters
from steelyard.estimate.result import Estimate
from steelyard.estimate.structure import Split, Trial, cross_validate, splits
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.graded_friction import GradedFriction
from steelyard.terms.graded_stribeck import GradedStribeck
from steelyard.terms.load_friction import LoadFriction
from steelyard.terms.offset import Offset
from steelyard.terms.quadratic import Quadratic
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.term import Term
from steelyard.terms.viscous import Viscous

Array = NDArray[np.float64]
Fit = Callable[[SquareRootInformation, Model, ParameterBasis], Estimate]
PLAIN = "coulomb"  # taken where nothing can be compared
SUPPLE = "graded"  # follows any friction of the speed that grows: the yardstick of noise and trust for all structures
REACH = 0.7  # of the velocity limit that training must reach before friction may grow with the square of the speed


@dataclass(frozen=True)
class Structure:
    """A set of friction terms, and what it is in words."""

    terms: tuple[Term, ...]
    words: str


# A Coulomb level for each direction is Coulomb and offset together: the offset stands in every structure.
STRUCTURES: Mapping[str, Structure] = {
    "viscous": Structure((Viscous(),), "viscous"),
    "coulomb": Structure((Viscous(), Coulomb()), "viscous and Coulomb"),
    "graded": Structure((Viscous(), GradedFriction()), "viscous and dry friction that builds up with speed"),
    "stribeck": Structure((Viscous(), Coulomb(), GradedStribeck()), "viscous, Coulomb and Stribeck"),
}
ADDITIONS: Mapping[str, Structure] = {
    "load": Structure((LoadFriction(),), "friction that grows with the load"),
    "quadratic": Structure((Quadratic(),), "friction by the square of the speed"),
}


@dataclass(frozen=True)
class FrictionChoice:
    """What was compared, and what came of it.

    Attributes:
        trials: best first; empty where the data make no two blocks.
        structure: the one to use: a name of STRUCTURES, names of ADDITIONS after it, joined by "+".
        narrow: joints whose training speeds are too narrow for friction by the square of the speed; where there are
            any it was left out.
    """

    trials: tuple[Trial, ...]
    structure: str
    narrow: tuple[str, ...]

    @property
    def parts(self) -> tuple[str, ...]:
        """In words, what was chosen, what came second, the others, and what was left out."""
        parts = [words_of(self.structure)]
        if self.trials:
            best, second, *others = self.trials
            parts = [_judged(best), f"runner-up: {_judged(second)}"]
            parts.append("then " + ", ".join(f"{trial.name} ({_figures(trial)})" for trial in others))
        if self.narrow:
            parts.append(
                "friction by the square of the speed left out: it would only extrapolate, training stays below "
                f"{100 * REACH:.0f} % of the velocity limit in {', '.join(self.narrow)}"
            )
        return tuple(parts)

    @property
    def finding(self) -> Finding:
        """The same as a finding."""
        return Finding("fit.friction_chosen", "info", f"friction: {'; '.join(self.parts)}", value=self.structure)


def choose_friction(
    robot: Robot, blocks: Sequence[SquareRootInformation], fit: Fit, *, time: Array, speeds: Array
) -> FrictionChoice:
    """Compare the structures on held-out blocks, then what may be added to the best of them and to the plain one.

    A curve over speed may have been best only for want of what is added.

    Args:
        robot: the robot.
        blocks: information of blocks of the training data over the base columns of `all_terms`.
        fit: estimates the base columns of a model, from their information, the model and its basis.
        time: (n,) samples that count as one.
        speeds: (n,) largest training speed of each joint [rad/s or m/s].
    """
    limits = np.array([axis.velocity for axis in robot.axes])
    narrow = tuple(np.array(robot.joint_names)[~(speeds >= REACH * limits)].tolist())
    if len(blocks) < 2:
        return FrictionChoice((), PLAIN, narrow)
    parts = splits(blocks)
    trials = [_tried(name, robot, parts, fit, time) for name in STRUCTURES]
    additions = [name for name in ADDITIONS if not (name == "quadratic" and narrow)]
    bases = dict.fromkeys((_best(trials), PLAIN))
    trials += [_tried(f"{base}+{name}", robot, parts, fit, time) for base in bases for name in additions]
    base, *added = _best(trials).split("+")
    if added and len(additions) > 1:
        trials.append(_tried("+".join((base, *additions)), robot, parts, fit, time))
    return FrictionChoice(tuple(sorted(trials, key=lambda trial: trial.score)), _best(trials), narrow)


def terms_of(structure: str) -> tuple[Term, ...]:
    """All terms of a model with this friction."""
    first, *more = structure.split("+")
    added = [term for name in more for term in ADDITIONS[name].terms]
    return (RigidBody(), RotorInertia(), *STRUCTURES[first].terms, *added, Offset())


def words_of(structure: str) -> str:
    """What a structure is made of."""
    first, *more = structure.split("+")
    return ", ".join((STRUCTURES[first].words, *(ADDITIONS[name].words for name in more), "offset"))


def all_terms() -> tuple[Term, ...]:
    """The terms of all structures together: what is absorbed once, to be selected from."""
    friction: list[Term] = []
    for structure in (*STRUCTURES.values(), *ADDITIONS.values()):
        friction += [term for term in structure.terms if term not in friction]
    return (RigidBody(), RotorInertia(), *friction, Offset())


def _tried(name: str, robot: Robot, parts: Sequence[Split], fit: Fit, time: Array) -> Trial:
    model = Model(robot, terms_of(name))
    basis = base_parameters(model)
    return cross_validate(name, parts, basis.names, lambda info: fit(info, model, basis), time)


def _best(trials: Sequence[Trial]) -> str:
    return min(trials, key=lambda trial: trial.score).name


def _judged(trial: Trial) -> str:
    return f"{words_of(trial.name)} ({_figures(trial)})"


def _figures(trial: Trial) -> str:
    return f"held-out error {100 * trial.error:.2f} %, {trial.columns:.0f} columns"
