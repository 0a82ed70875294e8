"""What motions will tell, before anything moves; and what recordings have told already, as the prior of a design."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis, base_parameters, random_states
from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.excite.motion import Motion, sampled
from steelyard.information import SquareRootInformation
from steelyard.model import Model

Array = NDArray[np.float64]
TYPICAL, SILENT = 64, 1e-18  # random states, and information of less than that share of one of them is rounding
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
    motions: Sequence[Motion | Trajectory],
    *,
    rate: float,
    deviations: Sequence[float],
    prior: Array | None = None,
) -> Forecast:
    """Deviations of the base parameters after running each motion once.

    Holds for white torque noise and exact motion: coloured noise tells less, by its correlation time.

    Args:
        model: robot and terms.
        motions: to be run, series for one period; a trajectory counts with its valid rows, see `windows.marked`.
        rate: at which torque is recorded [Hz]; trajectories are taken as they are sampled.
        deviations: torque noise of each joint [N m or N].
        prior: (b, b) information that is there before, see `collected`.

    Raises:
        StudyError: motions for other joints, a rate that does not divide a duration, deviations that do not fit.
    """
    basis = base_parameters(model)
    total = np.zeros((basis.count, basis.count)) if prior is None else np.array(prior, dtype=np.float64)
    if total.shape != (basis.count, basis.count):
        raise StudyError("the prior must be one row and column a base parameter", value=total.shape)
    for motion in motions:
        if motion.joint_names != model.robot.joint_names:
            raise StudyError("a motion is for other joints", value=motion.joint_names, choices=model.robot.joint_names)
        if not isinstance(motion, Trajectory):
            samples = sampled(motion, rate)
            motion = samples.samples(0, len(samples) - 1)  # the last sample of a period is the first of the next
        total += _of(model, basis, motion, deviations)
    typical = np.diag(_of(model, basis, random_states(model, TYPICAL, seed=0), deviations)) / TYPICAL
    silent = np.diag(total) <= SILENT * typical
    total[silent, :] = total[:, silent] = 0.0
    return Forecast(basis, total, deviations_of(total))


def _of(model: Model, basis: ParameterBasis, motion: Trajectory, deviations: Sequence[float]) -> Array:
    """(b, b) information of the valid rows of a motion."""
    recorded = replace(motion, tau=np.zeros((len(motion), len(motion.joint_names))))
    return collected(model.absorb([recorded], names=basis.names), basis, deviations)


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


def deviations_of_few(deviations: Sequence[float], *, samples: int, rate: float, duration: float) -> Array:
    """(n,) torque noise with which a design's few samples weigh as much as all that will be recorded.

    `sigma sqrt(samples / (rate duration))`: what a design needs to see a prior in its true proportion.

    Raises:
        StudyError: samples, rate or duration that are not positive.
    """
    if not (samples > 0 and rate > 0.0 and duration > 0.0):
        raise StudyError("samples, rate and duration are positive", value=(samples, rate, duration))
    return np.asarray(deviations, dtype=np.float64) * np.sqrt(samples / (rate * duration))


def deviations_of(information: Array) -> Array:
    """(b,) deviations when all are estimated together; a direction without information makes them infinite."""
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
