"""Torque of the rigid bodies alone, for terms that depend on the load."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.robot.reduction import Samples
from steelyard.robot.regressor import NO_MASK, build_plan, torque_of
from steelyard.robot.robot import Robot

Array = NDArray[np.float64]


def rigid_torque(robot: Robot, trajectory: Trajectory, parameters: Array | None = None) -> Array:
    """(T, n) inverse dynamics of the joints without friction and rotors [N m or N].

    Args:
        robot: the bodies.
        trajectory: with q, dq, ddq.
        parameters: (10 N,) of the bodies; None for the model file's.
    """
    own = trajectory.ordered(robot.joint_names)
    values = robot.parameters if parameters is None else np.asarray(parameters, dtype=np.float64)
    support: list[list[int]] = [[] for _ in robot.row_names]
    for body, rows in enumerate(robot.moving_rows):
        for row in rows:
            support[row] += range(10 * body, 10 * body + 10)
    plan = build_plan(robot.tree, support, np.arange(values.size), [])
    weights = np.concatenate([np.append(values[columns], 0.0) for columns in support])
    dq, ddq = robot.rates(own)
    q, v, a = (np.ascontiguousarray(x) for x in (robot.positions(own), dq, ddq))
    samples = Samples(q, v, a, NO_MASK, np.zeros((len(support), len(own))))
    return torque_of(robot.tree, plan, samples, weights)[:, robot.base_rows :]
