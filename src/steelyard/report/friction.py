"""Friction over speed: the identified curve and the data it stands on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.decomposition import effect_of_columns
from steelyard.data.trajectory import Trajectory
from steelyard.report.gathered import Gathered

Array = NDArray[np.float64]
SPEEDS = 161  # odd: one of them is zero, where friction changes its sign


@dataclass(frozen=True)
class FrictionCurve:
    """One joint.

    Attributes:
        joint: its name.
        speed, torque: (S,) curve [rad/s or m/s], [N m or N].
        trained: (S,) speeds that the training motion reached.
        point_speed, point_torque: (T,) data: measured torque less all other terms.
    """

    joint: str
    speed: Array
    torque: Array
    trained: NDArray[np.bool_]
    point_speed: Array
    point_torque: Array


def friction_curves(gathered: Gathered) -> list[FrictionCurve]:
    """A curve for each joint; empty when the model has no friction."""
    model, judgement = gathered.model, gathered.judgement
    friction = np.array(effect_of_columns(model)) == "friction"
    if "friction" not in judgement.effects.effects:
        return []
    motion = judgement.comparison.motion
    dq = motion.channel("dq")
    own = judgement.effects.torque[judgement.effects.effects.index("friction")]
    low, high = _trained_speeds(gathered)
    top = np.maximum(np.abs(dq).max(axis=0), np.maximum(-low, high))
    n = len(motion.joint_names)
    steps = np.linspace(-1.0, 1.0, SPEEDS)
    speeds = np.zeros((n, SPEEDS, n))
    for j in range(n):
        speeds[j, :, j] = steps * top[j]  # one joint at a time: gears can couple them
    flat = speeds.reshape(n * SPEEDS, n)
    still = np.zeros_like(flat)
    course = Trajectory(
        time=np.arange(len(flat), dtype=np.float64), joint_names=motion.joint_names, q=still, dq=flat, ddq=still
    )
    torque = model.torque(np.where(friction, gathered.theta, 0.0), course).reshape(n, SPEEDS, n)
    return [
        FrictionCurve(
            joint,
            steps * top[j],
            torque[j, :, j],
            (steps * top[j] >= low[j]) & (steps * top[j] <= high[j]),
            dq[:, j],
            own[:, j] + judgement.comparison.residual[:, j],
        )
        for j, joint in enumerate(motion.joint_names)
    ]


def _trained_speeds(gathered: Gathered) -> tuple[Array, Array]:
    """(n,) lowest and highest speed of the training motions; without their files nothing is said to be beyond."""
    parts = []
    for training in gathered.training:
        if training.processed is not None:
            time = training.processed.time
            inside = (time >= training.interval[0]) & (time <= training.interval[1])
            parts.append(training.processed.channel("dq")[inside])
    if not parts or not sum(len(part) for part in parts):
        n = len(gathered.model.robot.joint_names)
        return np.full(n, -np.inf), np.full(n, np.inf)
    speeds = np.concatenate(parts)
    return speeds.min(axis=0), speeds.max(axis=0)
