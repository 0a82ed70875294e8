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
        filtered = np.empty_like(values)
        for segment in trajectory.segments:
            for j in range(values.shape[1]):  # one joint at a time: the filter takes several copies of what it is given
                filtered[segment, j] = zero_phase(values[segment, j], step, cutoff)
        filtered.setflags(write=False)
        changed[name] = filtered
    label = ", ".join(changed)
    return replace(trajectory, steps=(*trajectory.steps, f"{label}: zero-phase low-pass at {cutoff:.4g} Hz"), **changed)
