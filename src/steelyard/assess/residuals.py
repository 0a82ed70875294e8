"""What residuals say about the model: trends with their likely cause, power by band, coupling of joints, colour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.comparison import Comparison
from steelyard.assess.residual_findings import (
    colour_findings,
    coupling_findings,
    event_findings,
    offset_findings,
    trend_findings,
)
from steelyard.assess.trends import Trend, correlation_length, trend
from steelyard.data.lowpass import zero_phase
from steelyard.finding import Finding

Array = NDArray[np.float64]
MOST_SAMPLES = 3000
EDGES = (1.0, 10.0)  # [Hz] between bands
CLIPPED = 3.0  # robust deviations at which residuals are cut before they are correlated: one jolt is no coupling


@dataclass(frozen=True)
class Bands:
    """Root mean square by frequency band, bands by joints.

    Attributes:
        edges: between the bands [Hz].
        residual: (3, n) of unfiltered torque less prediction [N m or N].
        torque: (3, n) of unfiltered torque [N m or N].
    """

    edges: tuple[float, float]
    residual: Array
    torque: Array


@dataclass(frozen=True)
class ResidualReport:
    """All tests of the residuals of one comparison.

    Attributes:
        joint_names: n names.
        trends: every joint against every variable.
        bands: power by frequency.
        correlation: (n, n) between the residuals of joints.
        colour: (n,) correlation time of the residual over the one that the low-pass alone gives white noise.
        findings: fit.trend, fit.residual_event, fit.residual_offset, fit.residual_coupling, fit.coloured_residual.
    """

    joint_names: tuple[str, ...]
    trends: tuple[Trend, ...]
    bands: Bands
    correlation: Array
    colour: Array
    findings: tuple[Finding, ...]

    def of(self, joint: str) -> tuple[Trend, ...]:
        """The trends of one joint, the largest share first."""
        return tuple(sorted((t for t in self.trends if t.joint == joint), key=lambda t: -t.share))


def residual_report(comparison: Comparison, *, temperature: Array | None = None) -> ResidualReport:
    """Test residuals against time, position, velocity, acceleration, torque rate and, where given, temperature.

    The torque rate stands for timing: torque that is d seconds late leaves `-d dtau/dt` behind, so that the slope of
    that trend is a delay [s].

    Args:
        comparison: measured and predicted torque along a motion, best one that was not fitted.
        temperature: (T, n) at the comparison's samples [deg C]; None where it was not recorded.
    """
    rate = np.gradient(comparison.filtered, comparison.motion.time, axis=0)
    rows = comparison.thin_rows(MOST_SAMPLES)
    thin = comparison.picked(rows)
    residual, motion = thin.residual, thin.motion
    time = np.broadcast_to(motion.time[:, None], residual.shape)
    variables = {
        "time": time,
        "position": motion.channel("q"),
        "velocity": motion.channel("dq"),
        "acceleration": motion.channel("ddq"),
        "torque_rate": rate[rows],
    }
    if temperature is not None:
        variables["temperature"] = temperature[rows]
    trends = [
        found
        for j, joint in enumerate(motion.joint_names)
        for against, values in variables.items()
        if (found := trend(joint, against, residual[:, j], values[:, j])) is not None
    ]
    white = max(1.0, 1.0 / (2.0 * thin.cutoff * motion.step))  # samples for which the filter alone makes noise last
    length = np.array([correlation_length(column) for column in residual.T])
    independent = len(residual) / np.maximum(length, white)
    correlation = _correlation(residual)
    torque = np.sqrt(np.mean(comparison.filtered**2, axis=0))
    findings = [
        *trend_findings(trends, dict(zip(motion.joint_names, torque, strict=True))),
        *event_findings(motion.joint_names, motion.time, residual, torque),
        *offset_findings(motion.joint_names, residual, torque, independent),
        *coupling_findings(motion.joint_names, correlation, independent),
        *colour_findings(motion.joint_names, length / white),
    ]
    return ResidualReport(
        motion.joint_names, tuple(trends), bands(comparison), correlation, length / white, tuple(findings)
    )


def bands(comparison: Comparison) -> Bands:
    """Power of torque and residual below 1, from 1 to 10, and above 10 Hz, split by zero-phase low-passes."""
    torque = comparison.motion.channel("tau")
    return Bands(
        EDGES,
        _split(torque - comparison.predicted, comparison),
        _split(torque - torque.mean(axis=0), comparison),
    )


def _split(values: Array, comparison: Comparison) -> Array:
    low, middle = (
        np.concatenate(
            [zero_phase(values[s], comparison.motion.step, edge, axis=0) for s in comparison.motion.segments]
        )
        for edge in EDGES
    )
    return np.array([np.sqrt(np.mean(part**2, axis=0)) for part in (low, middle - low, values - middle)])


def _correlation(residual: Array) -> Array:
    """(n, n) correlation of clipped residuals; zero with a joint that has none."""
    centred = residual - np.median(residual, axis=0)
    bound = CLIPPED * 1.4826 * np.median(np.abs(centred), axis=0)
    centred = np.clip(centred, -bound, bound)
    centred = centred - centred.mean(axis=0)
    size = np.linalg.norm(centred, axis=0)
    centred = np.divide(centred, size, out=np.zeros_like(centred), where=size > 0.0)
    return np.asarray(centred.T @ centred)
