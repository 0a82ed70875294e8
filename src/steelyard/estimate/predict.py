"""Torque along a recorded motion, as the identified model has it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.data.lowpass import zero_phase
from steelyard.data.trajectory import Trajectory
from steelyard.model import Model
from steelyard.preparation.pipeline import prepare_recording

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Prediction:
    """Predicted torque: time (P,) [s], torque (P, n) [N m or N], low-passed at cutoff [Hz]."""

    time: Array
    torque: Array
    cutoff: float


def predict(model: Model, theta: Array, recording: Trajectory, *, cutoff: float) -> Prediction:
    """Torque of the model along a recorded motion, low-passed at `cutoff` as the torque it is compared with.

    Args:
        model: robot and terms.
        theta: (p,) values of the model's columns.
        recording: as recorded; its torque is not used.
        cutoff: [Hz].
    """
    return along(model, theta, prepare_recording(recording, model.robot).trajectory, cutoff=cutoff)


def along(model: Model, theta: Array, motion: Trajectory, *, cutoff: float) -> Prediction:
    """As `predict`, along a motion that is prepared already (several models share one preparation)."""
    torque = model.torque(theta, motion)
    smooth = [zero_phase(torque[segment], motion.step, cutoff, axis=0) for segment in motion.segments]
    return Prediction(motion.time, np.concatenate(smooth), cutoff)
