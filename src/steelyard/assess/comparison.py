"""Measured and predicted torque of one motion on one clock: what residual tests, term tables and plots start from."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.validation import TRIM
from steelyard.data.lowpass import zero_phase
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError

Array = NDArray[np.float64]
KEPT = 8.0  # samples kept a period of the cut-off when a comparison is thinned


@dataclass(frozen=True)
class Comparison:
    """A motion, its torque, and the torque a model predicts for it.

    Attributes:
        motion: q, dq, ddq and tau as recorded, on a uniform clock, cut to the interval.
        filtered: (T, n) measured torque, low-passed at the cut-off [N m or N].
        predicted: (T, n) predicted torque, low-passed alike [N m or N].
        cutoff: [Hz].
    """

    motion: Trajectory
    filtered: Array
    predicted: Array
    cutoff: float

    @property
    def residual(self) -> Array:
        """(T, n) filtered measured torque less predicted torque [N m or N]."""
        return self.filtered - self.predicted

    @property
    def relative_error(self) -> Array:
        """(n,) norm of the residual over the norm of the filtered torque; infinite for a joint without torque."""
        size = np.linalg.norm(self.filtered, axis=0)
        error = np.linalg.norm(self.residual, axis=0)
        return np.divide(error, size, out=np.full(size.shape, np.inf), where=size > 0.0)

    def thin_rows(self, most: int) -> NDArray[np.intp]:
        """Every k-th sample: as many as the cut-off needs (KEPT a period), and at most `most`."""
        count = len(self.motion)
        every = max(int(1.0 / (KEPT * self.cutoff * self.motion.step)), -(-count // most))
        return np.arange(0, count, max(1, min(every, count // 2)))

    def picked(self, rows: NDArray[np.intp]) -> Comparison:
        """The samples `rows` (ascending)."""
        breaks = tuple(sorted({int(np.searchsorted(rows, b)) for b in self.motion.breaks} - {0, len(rows)}))
        channels = {name: self.motion.channel(name)[rows] for name in ("q", "dq", "ddq", "tau")}
        motion = replace(self.motion, time=self.motion.time[rows], valid=None, breaks=breaks, **channels)  # type: ignore[arg-type]
        return replace(self, motion=motion, filtered=self.filtered[rows], predicted=self.predicted[rows])


def compare(
    motion: Trajectory,
    time: Array,
    torque: Array,
    *,
    cutoff: float,
    interval: tuple[float, float] | None = None,
    trim: float = TRIM,
) -> Comparison:
    """Put a prediction beside the torque that was measured.

    Args:
        motion: prepared: q, dq, ddq, and tau as recorded, on a uniform clock inside its segments.
        time, torque: (P,) [s] and (P, n) prediction for motion.joint_names, low-passed at `cutoff`.
        cutoff: of the torque [Hz].
        interval: part of the motion to compare [s]; None for all.
        trim: taken off both ends of the interval, where filters have not settled [s].

    Raises:
        DataError: fewer than three samples are left, or the prediction has fewer than two.
    """
    tau = motion.channel("tau")
    if len(time) < 2:
        raise DataError("the prediction has fewer than two samples", where=motion.name, value=len(time))
    smooth = [zero_phase(tau[segment], motion.step, cutoff, axis=0) for segment in motion.segments]
    low, high = interval or (float(motion.time[0]), float(motion.time[-1]))
    low, high = max(low, float(time[0])) + trim, min(high, float(time[-1])) - trim
    rows = np.flatnonzero((motion.time >= low) & (motion.time <= high))
    if rows.size < 3:
        raise DataError(
            "nothing is left to compare",
            where=motion.name,
            value=f"{low:.13g}:{high:.13g} s",
            cure=f"an interval must be longer than {2.0 * trim:g} s",
        )
    predicted = np.column_stack([np.interp(motion.time, time, column) for column in torque.T])
    return Comparison(motion, np.concatenate(smooth), predicted, cutoff).picked(rows)
