"""Rows at which the torque was cut off: the true one was larger, and a fit would take the difference for dynamics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from steelyard.assess.saturation import clipping
from steelyard.assess.standstill import standstill
from steelyard.data.trajectory import Trajectory
from steelyard.robot.robot import Robot

NEAR = 1e-3  # of the extreme: torque so close to it is cut off


def mask_saturated(prepared: Trajectory, recorded: Trajectory, robot: Robot, *, margin: float) -> Trajectory:
    """Leave out the rows of a joint while its recorded torque piles up at an extreme; see `clipping`.

    Args:
        prepared: what is fitted.
        recorded: the same recording as it came.
        robot: for its effort limits.
        margin: [s] before and after, as far as the low-pass carries the missing torque.
    """
    found = clipping(recorded, standstill(recorded).still, robot)
    if not found:
        return prepared
    valid = np.ones((len(prepared), len(prepared.joint_names)), dtype=bool)
    for cut in found:
        side = np.sign(cut.level)
        torque = side * recorded.channel("tau")[:, recorded.joint_names.index(cut.joint)]
        stamps = np.sort(recorded.time[torque >= (1.0 - NEAR) * abs(cut.level)])
        after = np.searchsorted(stamps, prepared.time - margin)
        near = after < np.searchsorted(stamps, prepared.time + margin, side="right")
        valid[near, prepared.joint_names.index(cut.joint)] = False
    joints = ", ".join(dict.fromkeys(c.joint for c in found))
    note = f"{100.0 * (1.0 - valid.mean()):.1f} % of the rows masked: torque cut off in {joints}"
    both = valid if prepared.valid is None else valid & prepared.valid
    return replace(prepared, valid=both, steps=(*prepared.steps, note))
