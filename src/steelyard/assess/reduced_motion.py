"""A recording reduced to what its motion needs: low-passed, differentiated, thinned, with the doubtful rows marked.

The checks of torque against a model ask many questions of the same few hundred or thousand samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import CHANNELS, Array, Trajectory
from steelyard.preparation.align import is_uniform, resample
from steelyard.preparation.cutoff import excitation_frequency
from steelyard.preparation.differentiate import differentiate
from steelyard.preparation.smooth import smooth
from steelyard.robot.robot import Robot

LOWEST, HIGHEST = 2.0, 30.0  # [Hz] of the cut-off
NYQUIST_SHARE = 0.27  # above which three-point differences lose amplitude
KEPT = 10.0  # samples a period of the cut-off
SETTLED = 0.5  # [s] left out at the ends of each stretch: filters settle there
SHORTEST = 3.0  # [s] of a stretch that is used
DEAD_BAND = 0.2  # of a joint's root mean square speed: below it friction is neither sign
FEWEST = 60  # samples that say something


@dataclass(frozen=True)
class ReducedMotion:
    """Samples for questions about torque.

    Attributes:
        full: q, dq, ddq, tau on a uniform clock, low-passed, joints in the robot's order.
        thin: every k-th sample of it, `valid` marking the rows outside the ends and the dead band.
        rows: their places in `full`.
        settled: (samples of thin,) bool, outside the ends of the stretches.
        cutoff: of the low-pass [Hz].
    """

    full: Trajectory
    thin: Trajectory
    rows: NDArray[np.intp]
    settled: NDArray[np.bool_]
    cutoff: float

    @property
    def lowpass(self) -> LowPass:
        """The filter once more, for regressor columns on the thin clock."""
        return LowPass(self.cutoff)

    def first(self, samples: int) -> ReducedMotion:
        """The first samples alone: long recordings say no more about what is the same throughout."""
        if len(self.thin) <= samples:
            return self
        return replace(
            self,
            full=self.full.samples(0, int(self.rows[samples - 1]) + 1),
            thin=self.thin.samples(0, samples),
            rows=self.rows[:samples],
            settled=self.settled[:samples],
        )


def reduced_motion(trajectory: Trajectory, robot: Robot, *, above: float, share: float = 1.0) -> ReducedMotion | None:
    """Reduce a recording; None where there is too little of it.

    Args:
        trajectory: with q and tau, angles unwrapped.
        robot: its joints; the trajectory has them all.
        above: cut-off in multiples of the highest excitation frequency, within what the sampling rate allows.
        share: of that cut-off to use, to see whether an answer depends on it.
    """
    whole = long_stretches(trajectory.ordered(robot.joint_names), channels=("q", "tau"), shortest=SHORTEST)
    if whole is None:
        return None
    grid = whole if is_uniform(whole) else resample(whole)
    step = grid.step
    highest = max(excitation_frequency(grid))
    cutoff = share * float(min(np.clip(above * highest, LOWEST, HIGHEST), NYQUIST_SHARE * 0.5 / step))
    full = differentiate(smooth(grid, cutoff, channels=("q", "tau")))
    every = max(1, int(1.0 / (step * KEPT * cutoff)))
    picked = np.concatenate([np.arange(s.start, s.stop, every) for s in full.segments])
    settled, outside = _settled(full), _outside_dead_band(full, cutoff)
    valid = settled[:, None] & outside
    if settled[picked].sum() < FEWEST or not np.any(full.channel("dq")):
        return None
    return ReducedMotion(full, pick(full, picked, valid), picked, settled[picked], cutoff)


def pick(trajectory: Trajectory, rows: NDArray[np.intp], valid: NDArray[np.bool_] | None = None) -> Trajectory:
    """The samples `rows` (ascending) with their segments kept apart."""
    edges = [int(np.searchsorted(rows, b)) for b in trajectory.breaks]
    parts: dict[str, Any] = {c: trajectory.channel(c)[rows] for c in ("q", "dq", "ddq", "tau")}
    return replace(
        trajectory,
        time=trajectory.time[rows],
        breaks=tuple(e for e in edges if 0 < e < rows.size),
        valid=None if valid is None else valid[rows],
        source="",
        **parts,
    )


def long_stretches(trajectory: Trajectory, *, channels: tuple[str, ...], shortest: float) -> Trajectory | None:
    """The stretches without a gap that last `shortest` [s] and more, with the channels named; None without any."""
    time = trajectory.time
    long = [s for s in trajectory.segments if s.stop - s.start > 3 and time[s.stop - 1] - time[s.start] >= shortest]
    if not long:
        return None
    rows = np.concatenate([np.arange(s.start, s.stop) for s in long])
    parts: dict[str, Any] = {c: trajectory.channel(c)[rows] if c in channels else None for c in CHANNELS}
    breaks = tuple(int(b) for b in np.cumsum([s.stop - s.start for s in long])[:-1])
    return replace(trajectory, time=time[rows], breaks=breaks, source="", valid=None, base=None, **parts)


def _settled(trajectory: Trajectory) -> NDArray[np.bool_]:
    inside = np.zeros(len(trajectory), dtype=bool)
    for segment in trajectory.segments:
        t = trajectory.time[segment]
        inside[segment] = (t >= t[0] + SETTLED) & (t <= t[-1] - SETTLED)
    return inside


def _outside_dead_band(trajectory: Trajectory, cutoff: float) -> NDArray[np.bool_]:
    """(T, n) samples at which a joint is fast, for as long as the filter remembers on both sides."""
    from scipy.ndimage import minimum_filter1d

    speed: Array = np.abs(trajectory.channel("dq"))
    fast = speed > DEAD_BAND * np.sqrt(np.mean(speed**2, axis=0))
    width = 2 * int(0.5 / (cutoff * trajectory.step)) + 1
    kept = np.zeros_like(fast)
    for segment in trajectory.segments:
        kept[segment] = minimum_filter1d(fast[segment].astype(np.int8), width, axis=0) > 0
    return kept
