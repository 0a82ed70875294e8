"""Zero-phase smoothing of the recorded signals."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from steelyard.data.lowpass import zero_phase
from steelyard.data.trajectory import CHANNELS, Trajectory


def smooth(trajectory: Trajectory, cutoff: float, *, channels: tuple[str, ...] = ("q", "dq", "tau")) -> Trajectory:
    """Low-pass channels at `cutoff` [Hz], forwards and backwards, segment by segment (the clock must be uniform).

    Torque is filtered with positions, so that both sides of `tau = Y theta` have passed the same filter.
    """
    step = trajectory.step
    changed: dict[str, Any] = {}
    for name in CHANNELS:
        values = getattr(trajectory, name)
        if values is None or name not in channels:
            continue
        changed[name] = np.concatenate(
            [zero_phase(values[segment], step, cutoff, axis=0) for segment in trajectory.segments]
        )
    label = ", ".join(changed)
    return replace(trajectory, steps=(*trajectory.steps, f"{label}: zero-phase low-pass at {cutoff:.4g} Hz"), **changed)
