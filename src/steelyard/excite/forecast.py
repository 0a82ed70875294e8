"""What motions will tell, before anything moves; and what recordings have told already, as the prior of a design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis, base_parameters
from steelyard.errors import StudyError
from steelyard.excite.features import States
from steelyard.excite.fourier import FourierMotion
from steelyard.excite.information import MotionInformation
from steelyard.information import SquareRootInformation
from steelyard.model import Model

Array = NDArray[np.float64]
UNTOLD = 1e-12  # eigenvalues of the scaled information under which lies rounding


@dataclass(frozen=True)
class Forecast:
    """What an experiment is expected to give.

    Attributes:
        basis: the b base parameters.
        information: (b, b), noise-weighted, what was known before included.
        deviations: (b,) standard deviations `sqrt(diag(information^-1))`, infinite where nothing is said.
    """

    basis: ParameterBasis
    information: Array
    deviations: Array


def forecast(
    model: Model,
    motions: Sequence[FourierMotion],
    *,
    rate: float,
    deviations: Sequence[float],
    prior: Array | None = None,
) -> Forecast:
    """Deviations of the base parameters after running each motion for one period.

    Holds for white torque noise and exact motion: coloured noise tells less, by its correlation time.

    Args:
        model: robot and terms.
        motions: to be run.
        rate: at which torque is recorded [Hz].
        deviations: torque noise of each joint [N m or N].
        prior: (b, b) information that is there before, see `collected`.

    Raises:
        StudyError: motions for other joints, a rate that does not divide a period, deviations that do not fit.
    """
    basis = base_parameters(model)
    total = np.zeros((basis.count, basis.count)) if prior is None else np.array(prior, dtype=np.float64)
    if total.shape != (basis.count, basis.count):
        raise StudyError("the prior must be one row and column a base parameter", value=total.shape)
    noise = np.asarray(deviations, dtype=np.float64)
    for motion in motions:
        if motion.joint_names != model.robot.joint_names:
            raise StudyError("a motion is for other joints", value=motion.joint_names, choices=model.robot.joint_names)
        samples = motion.sampled(rate)
        period = samples.samples(0, len(samples) - 1)  # the last sample is the first of the next period
        states = States(*(np.ascontiguousarray(period.channel(c)) for c in ("q", "dq", "ddq")))
        total += MotionInformation(model, basis.names, len(period), deviations=noise).evaluate(states)
    return Forecast(basis, total, _deviations(total))


def collected(information: SquareRootInformation, basis: ParameterBasis, deviations: Sequence[float]) -> Array:
    """(b, b) information of recordings about the base parameters, the prior of the motion that shall follow.

    Args:
        information: of the model's columns, as `Model.absorb` returns it.
        basis: of the same model.
        deviations: torque noise of each joint [N m or N].

    Raises:
        StudyError: not one positive deviation a joint.
        InformationError: information about other columns.
    """
    noise = np.asarray(deviations, dtype=np.float64)
    if noise.shape != (len(information.joints),) or not np.all((noise > 0.0) & np.isfinite(noise)):
        raise StudyError("one positive torque deviation a joint is needed [N m]", value=noise.tolist())
    R = information.select(basis.names).scale(noise**-2.0).stacked()[:, :-1]
    return R.T @ R


def _deviations(information: Array) -> Array:
    """Of each parameter when all are estimated together; a direction without information makes them infinite."""
    scale = np.sqrt(np.diag(information))
    told = scale > 0.0
    result = np.full(len(scale), np.inf)
    scaled = information[np.ix_(told, told)] / np.outer(scale[told], scale[told])
    values, vectors = np.linalg.eigh(scaled)
    weak = values <= UNTOLD
    variance = (vectors[:, ~weak] ** 2 / values[~weak]).sum(axis=1)
    lost = (vectors[:, weak] ** 2).sum(axis=1) > 1e-9
    result[told] = np.where(lost, np.inf, np.sqrt(variance) / scale[told])
    return result
