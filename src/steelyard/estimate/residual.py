"""Residuals row by row: what the triangles cannot give."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import Trajectory
from steelyard.model import Model, Parameters

Array = NDArray[np.float64]


def residuals(model: Model, estimate: Parameters, trajectory: Trajectory, *, lowpass: LowPass | None = None) -> Array:
    """(T, n) measured less predicted torque of the model's joints [N m or N], low-passed as the fit was.

    Args:
        model: robot and terms.
        estimate: of the model.
        trajectory: prepared, with torque.
        lowpass: the filter of the fit; every sample is returned, `fitted_rows` says which of them it kept.
    """
    own = trajectory.ordered(model.robot.joint_names)
    difference = own.channel("tau") - model.predict(estimate, own)[:, model.robot.base_rows :]
    if lowpass is None:
        return difference
    return np.concatenate([lowpass.apply(difference[segment].T, own.step).T for segment in own.segments])


def fitted_rows(trajectory: Trajectory, *, lowpass: LowPass | None = None) -> NDArray[np.bool_]:
    """(T, n) which rows a fit uses: those valid, of the samples that decimation keeps."""
    used = np.ones((len(trajectory), len(trajectory.joint_names)), dtype=bool)
    if trajectory.valid is not None:
        used &= trajectory.valid
    if trajectory.weight is not None:
        used &= trajectory.weight > 0.0
    if lowpass is not None and lowpass.keep_every > 1:
        kept = np.zeros(len(trajectory), dtype=bool)
        for segment in trajectory.segments:
            kept[segment.start : segment.stop : lowpass.keep_every] = True
        used &= kept[:, None]
    return used
