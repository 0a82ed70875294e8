"""Whether a validation recording repeats a motion of the training: then it proves memory, not understanding.

Every moment of both is described by where the joints are now, half a window and a whole window later. A moment of the
validation whose nearest neighbour among those of the training is the same motion, to a few percent of its deviation, is
a repeated one. Later periods of a periodic motion are found like copies of a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding

Array = NDArray[np.float64]
WINDOW = 0.5  # [s]
RATE, TRAINING_RATE = 20.0, 100.0  # [Hz] of the moments; the training's are denser, so that one lies close
MOST_MOMENTS = 100_000
SAME = 0.1  # root mean square difference, in deviations of the training's positions
MOVES = 0.02  # of the same deviation, that a moment must move within its window to count
LEAST = 0.1  # share repeated that is worth a warning


@dataclass(frozen=True)
class Leakage:
    """How much of a validation recording was in the training.

    Attributes:
        share: of the moving moments of the validation.
        intervals: stretches of the validation that are repeated [s].
        source: name of the training recording that most of them are in; empty when there are none.
        lag: median time between a repeated moment and its like in that recording [s].
    """

    share: float
    intervals: tuple[tuple[float, float], ...]
    source: str
    lag: float


def leakage(training: Sequence[Trajectory], validation: Trajectory) -> Leakage:
    """Compare one validation recording, or interval, with all training recordings.

    Args:
        training: at least one, as recorded or cut to the interval that was used.
        validation: with the same joints.

    Raises:
        DataError: a joint of the validation is missing in a training recording.
    """
    from scipy.spatial import cKDTree

    names = validation.joint_names
    known = [trajectory.ordered(names) for trajectory in training]
    spread = np.concatenate([t.channel("q") for t in known]).std(axis=0)
    scale = np.where(spread > 1e-3 * spread.max(initial=0.0), spread, max(float(spread.max(initial=0.0)), 1e-9))
    total = sum(float(t.time[-1] - t.time[0]) for t in known)
    rate = min(TRAINING_RATE, MOST_MOMENTS / max(total, 1e-9))
    parts = [_moments(t, rate) for t in known]
    stamps, moments = _moments(validation, RATE)
    described = np.concatenate([m for _, m in parts])
    if not len(moments) or not len(described):
        return Leakage(0.0, (), "", float("nan"))
    size = np.sqrt(3.0 * len(names))  # root mean square instead of length
    weights = np.tile(1.0 / scale, 3) / size
    moving = np.ptp((moments * weights).reshape(len(moments), 3, -1), axis=1).max(axis=1) * size > MOVES
    distance, nearest = cKDTree(described * weights).query(moments * weights)
    same = moving & (distance < SAME)
    if not same.any():
        return Leakage(0.0, (), "", float("nan"))
    owner = np.repeat(np.arange(len(parts)), [len(m) for _, m in parts])[nearest[same]]
    most = int(np.bincount(owner).argmax())
    lags = stamps[same] - np.concatenate([t for t, _ in parts])[nearest[same]]
    return Leakage(
        share=float(same.sum() / moving.sum()),
        intervals=_intervals(stamps, same),
        source=known[most].name,
        lag=float(np.median(lags[owner == most])),
    )


def leakage_findings(found: Leakage, name: str) -> list[Finding]:
    """A warning where more than a little of the validation was in the training; `name` is the validation's."""
    if found.share < LEAST:
        return []
    where = ", ".join(f"{a:.2f}:{b:.2f} s" for a, b in found.intervals[:3])
    return [
        Finding(
            "validation.repeats_training",
            "warning",
            f"{100 * found.share:.0f} % of this motion was in the training ({found.source}, {abs(found.lag):.2f} s "
            f"{'before' if found.lag > 0 else 'after'}): {where}" + (" and more" if len(found.intervals) > 3 else ""),
            name,
            found.share,
            "validate on a motion the fit has not seen: the error on this one is too good",
        )
    ]


def _moments(trajectory: Trajectory, rate: float) -> tuple[Array, Array]:
    """Stamps (K,) and positions now, half a window and a window later (K, 3 n), within segments."""
    stamps, moments = [np.zeros(0)], [np.zeros((0, 3 * len(trajectory.joint_names)))]
    for segment in trajectory.segments:
        t, q = trajectory.time[segment], trajectory.channel("q")[segment]
        if t.size < 2 or t[-1] - t[0] < WINDOW:
            continue
        at = np.arange(t[0], t[-1] - WINDOW + 0.5 / rate, 1.0 / rate)
        at = at[at <= t[-1] - WINDOW]
        later = [np.column_stack([np.interp(at + d, t, x) for x in q.T]) for d in (0.0, 0.5 * WINDOW, WINDOW)]
        stamps.append(at)
        moments.append(np.hstack(later))
    return np.concatenate(stamps), np.concatenate(moments)


def _intervals(stamps: Array, same: NDArray[np.bool_]) -> tuple[tuple[float, float], ...]:
    """Runs of repeated moments, each with its window."""
    edges = np.diff(np.concatenate([[0], same.astype(np.int8), [0]]))
    starts, stops = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    return tuple((float(stamps[a]), float(stamps[b] + WINDOW)) for a, b in zip(starts, stops, strict=True))
