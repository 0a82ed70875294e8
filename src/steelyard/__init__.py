"""Steelyard: robot dynamics identification, from recordings to a validated candidate.

The public names are listed here; each is imported when it is first used, so that the command line starts fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from steelyard.version import __version__ as __version__

_HOME = {
    # robot and data
    "Robot": "steelyard.robot.robot",
    "Trajectory": "steelyard.data.trajectory",
    "BaseMotion": "steelyard.data.base_motion",
    "read_csv": "steelyard.formats.csv",
    "iterate_csv": "steelyard.formats.csv",
    "write_csv": "steelyard.formats.csv",
    "read_study": "steelyard.formats.study",
    "lint_model": "steelyard.robot.load",
    # terms and model
    "Column": "steelyard.terms.term",
    "Term": "steelyard.terms.term",
    "RigidBody": "steelyard.terms.rigid_body",
    "RotorInertia": "steelyard.terms.rotor_inertia",
    "Viscous": "steelyard.terms.viscous",
    "Coulomb": "steelyard.terms.coulomb",
    "AsymmetricCoulomb": "steelyard.terms.asymmetric_coulomb",
    "Quadratic": "steelyard.terms.quadratic",
    "GradedFriction": "steelyard.terms.graded_friction",
    "Offset": "steelyard.terms.offset",
    "Spring": "steelyard.terms.spring",
    "Model": "steelyard.model",
    "ParameterBasis": "steelyard.basis",
    "base_parameters": "steelyard.basis",
    "SquareRootInformation": "steelyard.information",
    # preparation and estimation
    "LowPass": "steelyard.data.lowpass",
    "prepare": "steelyard.preparation.pipeline",
    "ordinary": "steelyard.estimate.least_squares",
    "weighted": "steelyard.estimate.least_squares",
    "Prior": "steelyard.estimate.prior",
    "physical_prior": "steelyard.estimate.prior",
    "with_prior": "steelyard.estimate.regularised",
    "huber": "steelyard.estimate.robust",
    "instrumental": "steelyard.estimate.instrumental",
    "instrumental_by_simulation": "steelyard.estimate.instrumental",
    "total": "steelyard.estimate.total",
    "essential": "steelyard.estimate.essential",
    "generalised": "steelyard.estimate.coloured",
    "fit_blocks": "steelyard.estimate.coloured",
    "absorb_blocks": "steelyard.estimate.blocks",
    "bootstrap": "steelyard.estimate.bootstrap",
    "output_error": "steelyard.estimate.output_error",
    "Estimate": "steelyard.estimate.result",
    "Recording": "steelyard.estimate.training",
    "identify": "steelyard.estimate.identify",
    "predict": "steelyard.estimate.predict",
    "absorb_stream": "steelyard.estimate.stream",
    "validate": "steelyard.estimate.validate",
    "score": "steelyard.assess.validation",
    # what can go wrong
    "Finding": "steelyard.finding",
    "SteelyardError": "steelyard.errors",
    "ModelError": "steelyard.errors",
    "DataError": "steelyard.errors",
    "StudyError": "steelyard.errors",
    "InformationError": "steelyard.errors",
    "SessionError": "steelyard.errors",
}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from steelyard.assess.validation import score
    from steelyard.basis import ParameterBasis, base_parameters
    from steelyard.data.base_motion import BaseMotion
    from steelyard.data.lowpass import LowPass
    from steelyard.data.trajectory import Trajectory
    from steelyard.errors import DataError, InformationError, ModelError, SessionError, SteelyardError, StudyError
    from steelyard.estimate.blocks import absorb_blocks
    from steelyard.estimate.bootstrap import bootstrap
    from steelyard.estimate.coloured import fit_blocks, generalised
    from steelyard.estimate.essential import essential
    from steelyard.estimate.identify import identify
    from steelyard.estimate.instrumental import instrumental, instrumental_by_simulation
    from steelyard.estimate.least_squares import ordinary, weighted
    from steelyard.estimate.output_error import output_error
    from steelyard.estimate.predict import predict
    from steelyard.estimate.prior import Prior, physical_prior
    from steelyard.estimate.regularised import with_prior
    from steelyard.estimate.result import Estimate
    from steelyard.estimate.robust import huber
    from steelyard.estimate.stream import absorb_stream
    from steelyard.estimate.total import total
    from steelyard.estimate.training import Recording
    from steelyard.estimate.validate import validate
    from steelyard.finding import Finding
    from steelyard.formats.csv import iterate_csv, read_csv, write_csv
    from steelyard.formats.study import read_study
    from steelyard.information import SquareRootInformation
    from steelyard.model import Model
    from steelyard.preparation.pipeline import prepare
    from steelyard.robot.load import lint_model
    from steelyard.robot.robot import Robot
    from steelyard.terms.asymmetric_coulomb import AsymmetricCoulomb
    from steelyard.terms.coulomb import Coulomb
    from steelyard.terms.graded_friction import GradedFriction
    from steelyard.terms.offset import Offset
    from steelyard.terms.quadratic import Quadratic
    from steelyard.terms.rigid_body import RigidBody
    from steelyard.terms.rotor_inertia import RotorInertia
    from steelyard.terms.spring import Spring
    from steelyard.terms.term import Column, Term
    from steelyard.terms.viscous import Viscous


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'steelyard' has no attribute {name!r}; see steelyard.__all__")
    # importlib.import_module would find the sub-module of that name first; the attribute is what is meant
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
