"""Which velocity to believe: the recorded one, or the derivative of the positions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.data.excerpt import excerpt
from steelyard.data.trajectory import Trajectory
from steelyard.preparation.differentiate import derivative
from steelyard.preparation.smooth import smooth

STILL = 0.01  # relative speed under which a joint hardly moves, and its noise says nothing
AGREES = 0.1  # relative difference under which the recorded velocity is that of the positions, noise of both included


@dataclass(frozen=True)
class VelocityChoice:
    """Whether the recorded velocity is used, the largest relative difference of any moving joint, and why."""

    recorded: bool
    difference: float
    reason: str


def choose_velocity(trajectory: Trajectory, cutoff: float, *, wanted: bool | None = None) -> VelocityChoice:
    """Judge the recorded dq against dq/dt of the positions, both low-passed at `cutoff` [Hz].

    Drives compute velocity at their own rate, far above the recorder's: where it agrees with the positions it is the
    better of the two, since differences of coarsely sampled positions lose amplitude. Where it does not agree it is
    late, scaled or of another joint, and the positions are used.
    """
    if trajectory.dq is None or wanted is False:
        return VelocityChoice(False, float("nan"), "no recorded dq" if trajectory.dq is None else "as asked")
    smoothed = smooth(excerpt(trajectory), cutoff, channels=("q", "dq"))
    apart, size = np.zeros(len(trajectory.joint_names)), np.zeros(len(trajectory.joint_names))
    for segment in smoothed.segments:
        from_q = derivative(smoothed.channel("q")[segment], smoothed.time[segment])
        apart += np.sum((smoothed.channel("dq")[segment] - from_q) ** 2, axis=0)
        size += np.sum(from_q**2, axis=0)
    moving = size > STILL**2 * size.max(initial=0.0)
    worst = np.sqrt(np.max(apart[moving] / size[moving], initial=0.0))
    difference = float(worst) if moving.any() else float("inf")
    if wanted:
        return VelocityChoice(True, difference, "as asked")
    if difference <= AGREES:
        return VelocityChoice(True, difference, f"recorded dq agrees with the positions to {100 * difference:.1f} %")
    return VelocityChoice(False, difference, f"recorded dq differs from the positions by {100 * difference:.0f} %")
