"""Whether a validation motion goes where the training has not been: further, faster or with more acceleration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.reduced_motion import long_stretches
from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding
from steelyard.preparation.align import is_uniform, resample
from steelyard.preparation.cutoff import excitation_frequency
from steelyard.preparation.differentiate import differentiate
from steelyard.preparation.smooth import smooth

Array = NDArray[np.float64]
ABOVE_MOTION, NYQUIST_SHARE = 10.0, 0.27
SETTLED = 0.3  # [s] left out at the ends of segments, where filters settle
MARGIN = 0.1  # of the training's range that may be passed
SHARE = 0.02  # of the samples that must lie outside
SIGNALS = {"q": "position", "dq": "speed", "ddq": "acceleration"}
UNITS = {"q": "rad (m)", "dq": "rad/s (m/s)", "ddq": "rad/s2 (m/s2)"}


@dataclass(frozen=True)
class Excess:
    """One signal of one joint that leaves the range of the training.

    Attributes:
        joint: name.
        signal: ``q``, ``dq`` or ``ddq``.
        share: of the validation's samples outside the range and its margin.
        reached: the value furthest outside [rad, rad/s, rad/s2 or m, m/s, m/s2].
        lowest, highest: range of the training.
    """

    joint: str
    signal: str
    share: float
    reached: float
    lowest: float
    highest: float


def extrapolation(training: Sequence[Trajectory], validation: Trajectory) -> tuple[Excess, ...]:
    """Signals of the validation that leave the range of all training recordings together.

    Positions are low-passed at ten times the motion's highest frequency and differentiated; the range of speeds and
    accelerations counts both directions, since friction and inertia do not care which way a joint turns.

    Args:
        training: at least one, as recorded or cut to the interval that was used.
        validation: with the same joints.

    Returns:
        What leaves the range; nothing where a recording has no stretch of a second without a gap.

    Raises:
        DataError: a joint of the validation is missing in a training recording.
    """
    names = validation.joint_names
    known = [motion for trajectory in training if (motion := _motion(trajectory.ordered(names))) is not None]
    unseen = _motion(validation)
    if not known or unseen is None:
        return ()
    found = []
    for signal in SIGNALS:
        seen = np.concatenate([motion.channel(signal) for motion in known])
        values = unseen.channel(signal)
        low, high = seen.min(axis=0), seen.max(axis=0)
        if signal != "q":
            high = np.maximum(high, -low)
            low = -high
        slack = MARGIN * np.maximum(high - low, 1e-9)
        outside = np.maximum(values - high, low - values)
        for j, joint in enumerate(names):
            share = float(np.mean(outside[:, j] > slack[j]))
            if share > SHARE:
                reached = float(values[np.argmax(outside[:, j]), j])
                found.append(Excess(joint, signal, share, reached, float(low[j]), float(high[j])))
    return tuple(found)


def extrapolation_findings(found: Sequence[Excess], name: str) -> list[Finding]:
    """One finding for each signal, naming the joints; `name` is the validation's."""
    findings = []
    for signal, word in SIGNALS.items():
        concerned = [excess for excess in found if excess.signal == signal]
        if not concerned:
            continue
        worst = max(concerned, key=lambda e: abs(e.reached - 0.5 * (e.lowest + e.highest)) / (e.highest - e.lowest))
        joints = ", ".join(excess.joint for excess in concerned)
        findings.append(
            Finding(
                "validation.extrapolates",
                "warning",
                f"the {word} of {joints} leaves the range of the training: {worst.joint} reaches {worst.reached:.3g} "
                f"{UNITS[signal]}, the training {worst.lowest:.3g} to {worst.highest:.3g}",
                name,
                worst.share,
                "train on a motion that covers what the model is used for, or judge it within that range only",
            )
        )
    return findings


def _motion(trajectory: Trajectory) -> Trajectory | None:
    """q, dq, ddq on a uniform clock, low-passed, without the ends of the segments; None where too little is left."""
    plain = long_stretches(trajectory, channels=("q",), shortest=3.0 * SETTLED)
    if plain is None:
        return None
    grid = plain if is_uniform(plain) else resample(plain)
    highest = max(excitation_frequency(grid))
    cutoff = min(ABOVE_MOTION * highest, NYQUIST_SHARE * 0.5 / grid.step)
    motion = differentiate(smooth(grid, cutoff, channels=("q",)) if cutoff > 0.0 else grid)
    inside = np.zeros(len(motion), dtype=bool)
    for segment in motion.segments:
        t = motion.time[segment]
        inside[segment] = (t >= t[0] + SETTLED) & (t <= t[-1] - SETTLED)
    rows = np.flatnonzero(inside)
    parts: dict[str, Any] = {c: motion.channel(c)[rows] for c in SIGNALS}
    return replace(motion, time=motion.time[rows], breaks=(), source="", **parts) if rows.size else None
