"""When the robot does not move: friction has no direction then, and stiction may hold any torque."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.resolution import noise_floor, quantum
from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding

Array = NDArray[np.float64]
WINDOW = 0.2  # [s] in which a joint that moves must have moved
SLOW = 0.005  # of the joint's fastest motion in a window
QUANTA = 4.0  # resolutions or noise deviations that a position may wander without moving
LEAST = 1e-6  # [rad or m]
LONG, LARGE = 0.5, 0.05  # [s] and share of the recording from which a standstill at its ends is worth a word
MOSTLY = 0.5  # share of the recording


@dataclass(frozen=True)
class Standstill:
    """Where nothing moves.

    Attributes:
        still: (T, n) bool, joint by joint.
        at_start, at_end: how long all joints stand still there [s].
        duration: of the recording, gaps included [s].
    """

    still: NDArray[np.bool_]
    at_start: float
    at_end: float
    duration: float

    @property
    def moving(self) -> NDArray[np.bool_]:
        """(T,) samples at which some joint moves."""
        return np.asarray(~self.still.all(axis=1))

    @property
    def share(self) -> float:
        """Share of the samples at which all joints stand still."""
        return float(self.still.all(axis=1).mean())

    @property
    def share_per_joint(self) -> Array:
        """(n,) share of the samples at which each joint stands still."""
        return np.asarray(self.still.mean(axis=0))


def standstill(trajectory: Trajectory, grain: Array | None = None) -> Standstill:
    """Find where the joints stand still.

    Args:
        trajectory: with q.
        grain: (n,) the coarser of resolution and noise of each position [rad or m]; None takes them from the recording.
    """
    from scipy.ndimage import maximum_filter1d, minimum_filter1d

    q = trajectory.channel("q")
    if grain is None:
        grain = np.fmax(noise_floor(trajectory, "q"), [quantum(column) for column in q.T])
    step = trajectory.step
    width = 1 if not step > 0.0 else int(np.clip(WINDOW / step, 1, len(q))) | 1
    moved = np.zeros_like(q)
    for segment in trajectory.segments:
        part = q[segment]
        moved[segment] = maximum_filter1d(part, width, axis=0) - minimum_filter1d(part, width, axis=0)
    least = np.maximum(QUANTA * np.nan_to_num(grain), LEAST)
    still = moved <= np.maximum(SLOW * moved.max(axis=0), least)
    moving = np.flatnonzero(~still.all(axis=1))
    time = trajectory.time
    duration = float(time[-1] - time[0])
    if moving.size == 0:
        return Standstill(still, duration, duration, duration)
    return Standstill(still, float(time[moving[0]] - time[0]), float(time[-1] - time[moving[-1]]), duration)


def standstill_findings(found: Standstill, trajectory: Trajectory) -> list[Finding]:
    """Standstill at the ends, joints that never move, and recordings that mostly rest."""
    findings, duration = [], found.duration
    if duration <= 0.0:
        return []
    if not found.moving.any():
        return [
            Finding(
                "data.standstill",
                "warning",
                f"no joint moves in the whole recording of {duration:.3g} s",
                trajectory.name,
                duration,
                "one pose tells little: record a motion, or several poses for gravity alone",
            )
        ]
    for length, place in ((found.at_start, "first"), (found.at_end, "last")):
        if length > LONG and length > LARGE * duration:
            findings.append(
                Finding(
                    "data.standstill",
                    "warning",
                    f"the robot stands still for the {place} {length:.2f} s of {duration:.2f} s",
                    trajectory.name,
                    length,
                    "leave that part out with an interval: friction has no direction there, and it counts as data",
                )
            )
    share = found.share
    if share > MOSTLY:
        findings.append(
            Finding(
                "data.standstill",
                "info",
                f"the robot stands still in {100 * share:.0f} % of the recording",
                trajectory.name,
                share,
                "good for gravity alone; for inertia and friction record more motion",
            )
        )
    for joint, still in zip(trajectory.joint_names, found.share_per_joint == 1.0, strict=True):
        if still:
            findings.append(
                Finding(
                    "data.standstill",
                    "warning",
                    f"{joint} never moves: its friction and the inertia about it cannot be found here",
                    joint,
                    float(np.ptp(trajectory.channel("q")[:, trajectory.joint_names.index(joint)])),
                    "move the joint, or leave its columns out",
                )
            )
    return findings
