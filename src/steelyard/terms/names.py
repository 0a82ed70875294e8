"""Terms by their short names, for command lines and study files; anything else is `package.module:object`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from steelyard.errors import StudyError
from steelyard.terms.asymmetric_coulomb import AsymmetricCoulomb
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.graded_friction import GradedFriction
from steelyard.terms.graded_stribeck import GradedStribeck
from steelyard.terms.load_friction import LoadFriction
from steelyard.terms.offset import Offset
from steelyard.terms.quadratic import Quadratic
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.spring import Spring
from steelyard.terms.stribeck import Stribeck
from steelyard.terms.term import Term
from steelyard.terms.viscous import Viscous

TERMS: dict[str, type] = {
    "rigid_body": RigidBody,
    "rotor_inertia": RotorInertia,
    "viscous": Viscous,
    "coulomb": Coulomb,
    "asymmetric_coulomb": AsymmetricCoulomb,
    "quadratic": Quadratic,
    "graded_friction": GradedFriction,
    "stribeck": Stribeck,
    "graded_stribeck": GradedStribeck,
    "load_friction": LoadFriction,
    "offset": Offset,
    "spring": Spring,
}


def terms_named(names: Sequence[str]) -> tuple[Term, ...]:
    """Terms for their names, in order.

    Args:
        names: short names, or ``package.module:object`` for a term of one's own (a class without required fields, or
            an instance).

    Raises:
        StudyError: an unknown short name, a module or object that is not there, an object that is no term.
    """
    return tuple(_term(name) for name in names)


def names_of(terms: Sequence[Term]) -> tuple[str, ...]:
    """Short names of terms that are as `terms_named` makes them."""
    return tuple(next(name for name, kind in TERMS.items() if type(term) is kind) for term in terms)


def _term(name: str) -> Term:
    if name in TERMS:
        made: Term = TERMS[name]()
        return made
    module, colon, attribute = name.partition(":")
    if not colon or not module or not attribute or module.startswith("."):
        raise StudyError("not a term", value=name, choices=(*TERMS, "package.module:object"))
    try:
        found = getattr(importlib.import_module(module), attribute)
        term = found() if isinstance(found, type) else found
    except (Exception, SystemExit) as error:  # a stranger's module may raise anything
        raise StudyError(
            f"the term cannot be imported: {type(error).__name__}: {error}",
            value=name,
            cure="its folder must be on PYTHONPATH; a class must be callable without arguments",
        ) from error
    if not isinstance(term, Term):
        raise StudyError("the object is no term: it needs columns(robot) and block(robot, trajectory)", value=name)
    return term
