"""The cut-off frequency, from the spectrum of the motion."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.data.trajectory import Trajectory

ABOVE_MOTION = 10.0  # times the highest excitation frequency: lets the torque's own harmonics and friction steps pass
LEAST_ABOVE = 5.0  # never fewer times than this: lower cut-offs cut into the motion's own torque
FLEXIBLE = 12.0  # [Hz] above which drive ripple and the flexibility of joints take over, which no rigid model has
ENERGY = 0.999  # share of the position's energy that counts as excitation; its noise is far below the rest
NYQUIST_SHARE = 0.27  # of half the sampling rate, above which differences of positions lose amplitude
LOWEST = 2.0  # [Hz]


@dataclass(frozen=True)
class CutoffChoice:
    """A cut-off [Hz] and the reason for it."""

    cutoff: float
    reason: str


def choose_cutoff(trajectory: Trajectory) -> CutoffChoice:
    """Cut-off for positions and torque of a recording on a uniform clock.

    ABOVE_MOTION times the highest excitation frequency of any joint, but no further than FLEXIBLE unless LEAST_ABOVE
    times that frequency asks for it, and within what the sampling rate allows.
    """
    rate = 1.0 / trajectory.step
    highest = max(excitation_frequency(trajectory))
    ceiling = NYQUIST_SHARE * rate / 2.0
    wanted = max(LOWEST, LEAST_ABOVE * highest, min(ABOVE_MOTION * highest, FLEXIBLE))
    if wanted > ceiling:
        return CutoffChoice(ceiling, f"{NYQUIST_SHARE:.0%} of half the sampling rate of {rate:.4g} Hz")
    times = f"{wanted / highest:.3g} times the highest excitation frequency of {highest:.3g} Hz" if highest else "least"
    return CutoffChoice(wanted, times)


def excitation_frequency(trajectory: Trajectory) -> list[float]:
    """For each joint the frequency [Hz] below which ENERGY of its position's energy about the mean lies."""
    longest = max(trajectory.segments, key=lambda s: s.stop - s.start)
    q = trajectory.channel("q")[longest]
    frequency = np.fft.rfftfreq(len(q), trajectory.step)
    window = np.hanning(len(q))
    highest = []
    for column in q.T:  # one joint at a time: the spectra of a long recording would fill the memory
        energy = np.cumsum(np.abs(np.fft.rfft((column - column.mean()) * window)) ** 2)
        moved = energy[-1] > 0.0
        highest.append(float(frequency[np.searchsorted(energy, ENERGY * energy[-1])]) if moved else 0.0)
    return highest
