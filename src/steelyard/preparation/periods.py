"""Averaging over the periods of a periodic motion, and the noise that the differences between them show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import CHANNELS, Trajectory
from steelyard.errors import DataError, StudyError

Array = NDArray[np.float64]
WHOLE = 1e-3  # samples by which a period may miss a whole number of samples


@dataclass(frozen=True)
class AveragedPeriods:
    """One mean period.

    Attributes:
        trajectory: the mean of each channel, on the clock of the first whole period.
        periods: M, how many were averaged.
        covariance: for each channel (n, n), of one sample of one period; that of the mean is M times smaller.
        deviation: for each channel (T, n), of one sample of one period at each phase: where in the motion it is noisy.
    """

    trajectory: Trajectory
    periods: int
    covariance: Mapping[str, Array]
    deviation: Mapping[str, Array]


def average_periods(trajectory: Trajectory, *, period: float) -> AveragedPeriods:
    """Mean over whole periods; nothing but noise differs between them, whose covariance needs no model.

    `C = sum_m sum_k (x_mk - mean_k)(x_mk - mean_k)' / ((M - 1) K)`, with K samples a period. Where the period is not a
    whole number of samples they are interpolated to the clock of the first period, which smooths the noise a little.

    Args:
        trajectory: periodic motion in the steady state, one segment, as recorded or filtered; q is not required.
        period: [s], e.g. of `fourier_fit`.

    Raises:
        DataError: fewer than two whole periods, or a gap.
        StudyError: a period that is not positive.
    """
    if not (np.isfinite(period) and period > 0.0):
        raise StudyError("the period must be a positive time [s]", value=period)
    if len(trajectory.segments) > 1:
        raise DataError(
            "periods cannot be averaged across a gap",
            where=trajectory.name,
            value=f"{trajectory.time[trajectory.breaks[0]]:.4g} s",
            cure="average each stretch without a gap by itself",
        )
    step = trajectory.step
    samples = round(period / step)
    clock = trajectory.time[0] + step * np.arange(samples)
    count = int((trajectory.time[-1] - trajectory.time[0] + step * (1.0 + WHOLE)) / period) if samples else 0
    if count < 2:
        raise DataError(
            "an average needs two whole periods or more",
            where=trajectory.name,
            value=f"{trajectory.time[-1] - trajectory.time[0]:.4g} s of {period:.4g} s",
            cure="record longer",
        )
    means: dict[str, Any] = {}
    covariance, deviation = {}, {}
    for name in CHANNELS:
        values = getattr(trajectory, name)
        if values is None:
            continue
        shifted = np.stack([_at(trajectory.time, values, clock + m * period) for m in range(count)])
        means[name] = shifted.mean(axis=0)
        away = shifted - means[name]
        covariance[name] = np.einsum("mki,mkj->ij", away, away) / ((count - 1) * samples)
        deviation[name] = np.sqrt(np.sum(away**2, axis=0) / (count - 1))
    valid = trajectory.valid
    if valid is not None:
        near = [np.clip(np.rint((clock + m * period - clock[0]) / step), 0, len(valid) - 1) for m in range(count)]
        valid = np.all([valid[k.astype(int)] for k in near], axis=0)
    note = f"mean of {count} periods of {period:.6g} s"
    steps = (*trajectory.steps, note)
    mean = replace(trajectory, time=clock, valid=valid, weight=None, base=None, steps=steps, **means)
    return AveragedPeriods(mean, count, covariance, deviation)


def _at(time: Array, values: Array, clock: Array) -> Array:
    """Values at `clock`, as they are where it meets samples, else by linear interpolation."""
    step = float(np.median(np.diff(time)))
    place = (clock - time[0]) / step
    index = np.rint(place).astype(int)
    if index[-1] < len(time) and np.all(np.abs(time[np.minimum(index, len(time) - 1)] - clock) <= WHOLE * step):
        return np.asarray(values[index])
    return np.column_stack([np.interp(clock, time, column) for column in values.T])
