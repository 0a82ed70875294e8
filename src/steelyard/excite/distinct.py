"""How far a validation motion keeps from the training: a motion that repeats what was fitted proves nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError

Array = NDArray[np.float64]
MOST = 4000  # samples of each motion that are compared
STILL = 1e-9  # deviation, of the largest, under which a signal stands still


@dataclass(frozen=True)
class Distance:
    """How far the states of one motion are from those of others.

    A distance is the root mean square, over the positions, velocities and accelerations of all joints, of the
    differences in standard deviations of the validation's own signals: 0 for a motion that was trained on.

    Attributes:
        median: over the states of the validation, each to the nearest of the training.
        least: of the closest twentieth.
        beyond: share of the validation's values that leave the range of the training.
    """

    median: float
    least: float
    beyond: float


def distance(training: Sequence[Trajectory], validation: Trajectory) -> Distance:
    """Distance of a motion's states from those of all training motions.

    Args:
        training: at least one, with q, dq and ddq.
        validation: of the same joints.

    Raises:
        StudyError: nothing to compare with.
        DataError: a joint or channel is missing.
    """
    from scipy.spatial import cKDTree

    if not training:
        raise StudyError("no training motion to compare with")
    known = np.concatenate([_states(motion.ordered(validation.joint_names)) for motion in training])
    unseen = _states(validation)
    spread = unseen.std(axis=0)
    moving = spread > STILL * max(float(spread.max()), STILL)
    if not moving.any():
        raise StudyError("nothing moves in the validation", where=validation.name)
    known, unseen = known[:, moving] / spread[moving], unseen[:, moving] / spread[moving]
    nearest, _ = cKDTree(known).query(unseen)
    away = nearest / np.sqrt(moving.sum())
    beyond = (unseen < known.min(axis=0)) | (unseen > known.max(axis=0))
    return Distance(float(np.median(away)), float(np.quantile(away, 0.05)), float(beyond.mean()))


def _states(motion: Trajectory) -> Array:
    """(T, 3 n) positions, velocities and accelerations, thinned to MOST."""
    rows = np.linspace(0, len(motion) - 1, min(len(motion), MOST)).astype(np.int64)
    return np.hstack([motion.channel(channel)[rows] for channel in ("q", "dq", "ddq")])
