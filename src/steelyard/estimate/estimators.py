"""The estimators that `identify` knows by name, and what each needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.estimate.coloured import correlation_time, generalised, score_correlation_time
from steelyard.estimate.instrumental import instrumental
from steelyard.estimate.least_squares import ordinary, weighted
from steelyard.estimate.prior import physical_prior
from steelyard.estimate.regularised import ITERATIONS, with_prior
from steelyard.estimate.residual import fitted_rows, residuals
from steelyard.estimate.result import Estimate
from steelyard.estimate.robust import GROSS, huber
from steelyard.estimate.scores import hat_trace
from steelyard.estimate.training import merged
from steelyard.estimate.trust import body_width, with_trust
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.suggest import did_you_mean

Array = NDArray[np.float64]
ESTIMATORS: Mapping[str, str] = {
    "prior": "towards the model file where the data are silent, friction and rotor inertia not negative",
    "weighted": "least squares, joints weighted by their noise",
    "ordinary": "least squares",
    "generalised": "least squares, joints weighted by the noise that is left after its correlation in time",
    "huber": "robust: rows that lie far off count less, and are named",
    "instrumental": "instrumental variables from the smoothed motion: for noisy positions",
}
FROM_ROWS = ("huber", "instrumental")  # the others need the information alone


def known_estimator(name: str) -> str:
    """The name, if it is one; raises StudyError with the closest one otherwise."""
    if name in ESTIMATORS:
        return name
    raise StudyError(
        "not an estimator",
        value=name,
        choices=tuple(ESTIMATORS),
        cure=did_you_mean(name, ESTIMATORS, otherwise="one of these"),
    )


@dataclass(frozen=True)
class Trust:
    """What the default estimator takes from all training data before it compares models.

    Attributes:
        time: (n,) samples that count as one.
        width: factor on the deviations of the bodies' prior.
    """

    time: Array
    width: float


def trust_in(model: Model, basis: ParameterBasis, blocks: Sequence[SquareRootInformation]) -> Trust:
    """Correlation time of the residuals of the widest model, and the width of the prior that they are evidence for."""
    info = merged(blocks)
    first = from_information("prior", model, basis, info, None)
    time = np.maximum(score_correlation_time(blocks, first), 1.0)
    honest = replace(first, weights=first.weights / time)
    return Trust(time, body_width(honest, physical_prior(model, info), basis))


def from_information(
    estimator: str,
    model: Model,
    basis: ParameterBasis,
    info: SquareRootInformation,
    trust: Trust | None,
    *,
    iterations: int = ITERATIONS,
) -> Estimate:
    """Estimate from the information of the base columns; an estimator that needs rows is stood in for by `weighted`.

    `iterations` are those of `with_prior`.
    """
    if estimator == "ordinary":
        return ordinary(info, basis=basis)
    if estimator != "prior":
        return weighted(info, basis=basis)
    bound = [column.name for column in model.columns if column.nonnegative]
    prior = physical_prior(model, info)
    if trust is None:
        return with_prior(info, prior, basis=basis, nonnegative=bound, iterations=iterations)
    held = with_trust(prior, trust.width)
    return with_prior(info, held, basis=basis, nonnegative=bound, time=trust.time, iterations=iterations)


def from_blocks(
    estimator: str, model: Model, basis: ParameterBasis, blocks: Sequence[SquareRootInformation], trust: Trust | None
) -> Estimate:
    """Estimate with its correlation time, from the information of consecutive stretches."""
    info = merged(blocks)
    estimate = from_information(estimator, model, basis, info, trust)
    time = score_correlation_time(blocks, estimate)
    if estimator == "generalised":
        return generalised(info, time, basis=basis)
    return replace(estimate, correlation_time=time)


def from_rows(
    estimator: str, model: Model, basis: ParameterBasis, rows: Sequence[Trajectory], lowpass: LowPass
) -> Estimate:
    """Estimate with one of FROM_ROWS and its correlation time, from prepared recordings."""
    if estimator == "huber":
        estimate = huber(model, rows, basis=basis, lowpass=lowpass)
    else:
        estimate = instrumental(model, rows, basis=basis, lowpass=lowpass)
    return replace(estimate, correlation_time=_time_of_rows(model, estimate, rows, lowpass))


def _time_of_rows(model: Model, estimate: Estimate, rows: Sequence[Trajectory], lowpass: LowPass) -> Array:
    """(n,) samples that count as one among the rows that were fitted and are no outliers."""
    kept, used, segments, start = [], [], [], 0
    for t in rows:
        residual, fitted = residuals(model, estimate, t, lowpass=lowpass), fitted_rows(t, lowpass=lowpass)
        fitted &= np.abs(residual) <= GROSS * estimate.noise[model.robot.base_rows :]
        for segment in t.segments:
            part = slice(segment.start, segment.stop, lowpass.keep_every)
            kept.append(residual[part])
            used.append(fitted[part])
            segments.append(slice(start, start + len(kept[-1])))
            start += len(kept[-1])
    paid = hat_trace(estimate)[model.robot.base_rows :]
    time = np.ones(len(estimate.noise))
    time[model.robot.base_rows :] = correlation_time(
        np.concatenate(kept), paid=paid, valid=np.concatenate(used), segments=segments
    )
    return time
