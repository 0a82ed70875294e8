"""Zero-phase smoothing of the recorded signals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from steelyard.data.lowpass import zero_phase
from steelyard.data.trajectory import CHANNELS, Trajectory


def smooth(
    trajectory: Trajectory, cutoff: float | Mapping[str, float], *, channels: tuple[str, ...] = ("q", "dq", "tau")
) -> Trajectory:
    """Low-pass channels at `cutoff` [Hz] (one, or by joint), forwards and backwards, segment by segment.

    The clock must be uniform. Torque is filtered with positions, so that both sides of `tau = Y theta` have passed
    the same filter.
    """
    step = trajectory.step
    cutoffs = dict(cutoff) if isinstance(cutoff, Mapping) else dict.fromkeys(trajectory.joint_names, cutoff)
    changed: dict[str, Any] = {}
    for name in CHANNELS:
        values = getattr(trajectory, name)
        if values is None or name not in channels:
            continue
        filtered = np.empty_like(values)
        for segment in trajectory.segments:
            # one joint at a time: the filter takes several copies of what it is given
            for j, joint in enumerate(trajectory.joint_names):
                filtered[segment, j] = zero_phase(values[segment, j], step, cutoffs[joint])
        filtered.setflags(write=False)
        changed[name] = filtered
    if len(set(cutoffs.values())) == 1:
        at = f"{next(iter(cutoffs.values())):.4g} Hz"
    else:
        at = ", ".join(f"{cutoffs[joint]:.4g} Hz ({joint})" for joint in trajectory.joint_names)
    note = f"{', '.join(changed)}: zero-phase low-pass at {at}"
    return replace(trajectory, steps=(*trajectory.steps, note), **changed)
