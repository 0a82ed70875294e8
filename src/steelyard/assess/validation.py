"""Proof on unseen motion: how much of the measured torque a model explains, and compared with what.

`relative_error = |tau_f - tau_hat| / |tau_f|` over all joints and grid points, a fraction: measured torque on a uniform
grid at the recording's median step, low-passed (Butterworth 4, forwards and backwards) at the cut-off; the interval is
cut, then 0.3 s taken off its ends. The prediction is interpolated, never masked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError

Array = NDArray[np.float64]
TRIM = 0.3  # [s]
LONGEST_GAPS = 20.0  # grid points a sample, beyond which a recording is gaps
COVERED = 0.02  # share of grid points that may lack a prediction nearby


@dataclass(frozen=True)
class Score:
    """Errors of a prediction on one recording.

    Attributes:
        relative_error: against filtered torque, a fraction.
        relative_error_unfiltered: against torque as measured, a fraction.
        rmse: (n,) root mean square error of each joint against filtered torque [N m or N].
        peak: (n,) largest absolute error of each joint [N m or N].
        relative_error_per_joint: (n,) fractions.
        samples: number of grid points.
        cutoff: [Hz].
        interval: first and last time compared, before the trim [s].
    """

    joint_names: tuple[str, ...]
    relative_error: float
    relative_error_unfiltered: float
    rmse: Array
    peak: Array
    relative_error_per_joint: Array
    samples: int
    cutoff: float
    interval: tuple[float, float]


def score(
    recording: Trajectory,
    time: Array,
    torque: Array,
    *,
    cutoff: float,
    interval: tuple[float, float] | None = None,
) -> Score:
    """Compare predicted with measured torque.

    Inside a gap of the recording nothing is compared, and TRIM is taken off both sides of it.

    Args:
        recording: as recorded, with torque, the whole of it.
        time, torque: (P,) [s] and (P, n) prediction for recording.joint_names.
        cutoff: of the torque [Hz].
        interval: part of the recording to compare [s]; None for all.

    Raises:
        DataError: no samples in the interval, a cut-off above half the sampling rate, a prediction with holes.
    """
    at, filtered, measured, (low, high) = _measured(recording, cutoff, interval)
    step = float(np.median(np.diff(recording.time)))
    if len(time) < 2:
        raise DataError("the prediction has fewer than two samples", where=recording.name)
    k = np.clip(np.searchsorted(time, at), 1, len(time) - 1)
    nearest = np.minimum(np.abs(time[k - 1] - at), np.abs(time[k] - at))
    missing = float(np.mean(nearest > max(2.0 * step, 0.1 / cutoff)))
    if missing > COVERED:
        raise DataError(f"the prediction is missing for {100 * missing:.1f} % of the interval", where=recording.name)
    predicted = np.column_stack([np.interp(at, time, column) for column in torque.T])
    error = filtered - predicted
    size = np.linalg.norm(filtered, axis=0)
    return Score(
        joint_names=recording.joint_names,
        relative_error=_ratio(np.linalg.norm(error), np.linalg.norm(filtered)),
        relative_error_unfiltered=_ratio(np.linalg.norm(measured - predicted), np.linalg.norm(measured)),
        rmse=np.sqrt(np.mean(error**2, axis=0)),
        peak=np.abs(error).max(axis=0),
        relative_error_per_joint=np.array(
            [_ratio(e, s) for e, s in zip(np.linalg.norm(error, axis=0), size, strict=True)]
        ),
        samples=len(at),
        cutoff=cutoff,
        interval=(low, high),
    )


def gaps_inside(recording: Trajectory, interval: tuple[float, float]) -> list[tuple[float, float]]:
    """Last sample before and first sample after [s] every gap inside an interval; the clock may start again there."""
    edges = [(float(recording.time[b - 1]), float(recording.time[b])) for b in recording.breaks]
    return [(before, after) for before, after in edges if before < interval[1] and after > interval[0]]


def check_score_cutoff(recording: Trajectory, cutoff: float) -> None:
    """Raise DataError for a cut-off [Hz] at half the sampling rate or above, or without a period in the recording."""
    t, step = recording.time, recording.step
    lowest = 1.0 / (t[-1] - t[0]) if t[-1] > t[0] else float("inf")
    if not lowest <= cutoff < 0.5 / step:
        raise DataError(
            "the score's cut-off must lie below half the sampling rate, and hold a period in the recording",
            where=recording.name,
            value=f"{cutoff:g} Hz at {1.0 / step:.4g} Hz sampling",
            cure=f"--score-cutoff between {lowest:.3g} and {0.5 / step:.4g}",
        )


def _measured(
    recording: Trajectory, cutoff: float, interval: tuple[float, float] | None
) -> tuple[Array, Array, Array, tuple[float, float]]:
    """Grid points compared (K,), filtered and raw torque there (K, n), and the interval before the trim."""
    from scipy.signal import butter, filtfilt

    t, tau = recording.time, recording.channel("tau")
    step = float(np.median(np.diff(t)))
    check_score_cutoff(recording, cutoff)
    if (t[-1] - t[0]) / step > LONGEST_GAPS * len(t) + 1e6:
        raise DataError(
            "the recording is mostly gaps: its length is far more than its samples",
            where=recording.name,
            value=f"{len(t)} samples in {t[-1] - t[0]:.6g} s",
            cure="split the recording at its gaps",
        )
    grid = np.arange(t[0], t[-1], step)
    raw = np.column_stack([np.interp(grid, t, column) for column in tau.T])
    numerator, denominator = butter(4, cutoff * 2.0 * step)
    if len(grid) <= 15:
        raise DataError("too few samples to score", where=recording.name, value=len(grid))
    smooth = filtfilt(numerator, denominator, raw, axis=0)
    low, high = interval or (float(t[0]), float(t[-1]))
    keep = (grid >= low + TRIM) & (grid <= high - TRIM)
    for before, after in gaps_inside(recording, (low, high)):
        keep &= (grid <= before - TRIM) | (grid >= after + TRIM)
    if not keep.any():
        raise DataError(
            "nothing is left to score", where=recording.name, value=f"{low:.13g}:{high:.13g} s",
            cure=f"the recording runs from {t[0]:.13g} to {t[-1]:.13g} s, and {TRIM} s is taken off both ends",
        )  # fmt: skip
    return grid[keep], smooth[keep], raw[keep], (low, high)


def _ratio(error: Any, size: Any) -> float:
    """Error over size; a torque that is zero throughout has no relative error but infinity."""
    return float(error / size) if size > 0.0 else float("inf")
