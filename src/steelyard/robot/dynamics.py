"""Forward dynamics, one state at a time: mass matrix, bias torque and gravity torque from the regressor kernel.

One block of the kernel gives all of them: column i of M is the torque at rest of a unit acceleration of joint i, less
gravity.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from steelyard.errors import ModelError
from steelyard.robot.kernel import SPARE, fill, workspace
from steelyard.robot.motion import BLOCK
from steelyard.robot.regressor import NO_MASK, build_plan
from steelyard.robot.robot import Robot

Array = NDArray[np.float64]


class State(NamedTuple):
    """`tau = M ddq + bias` of the rigid bodies in one state.

    Attributes:
        mass: (n, n) M [kg m2, kg m, kg].
        bias: (n,) Coriolis, centrifugal and gravity torque [N m or N].
        gravity: (n,) gravity torque alone.
    """

    mass: Array
    bias: Array
    gravity: Array


class RigidDynamics:
    """The rigid bodies of a robot with given parameters; buffers are its own, so use one in each thread.

    Raises:
        ModelError: the base floats, or more joints than a block of the kernel has room for.
    """

    def __init__(self, robot: Robot, parameters: Array) -> None:
        n = len(robot.joint_names)
        if robot.floating or n + 2 > BLOCK:
            raise ModelError(
                f"forward dynamics are for fixed bases and at most {BLOCK - 2} joints", where=robot.name, value=n
            )
        support: list[list[int]] = [[] for _ in range(n)]
        for body, rows in enumerate(robot.moving_rows):
            for row in rows:
                support[row] += range(10 * body, 10 * body + 10)
        values = np.asarray(parameters, dtype=np.float64)
        self._tree = robot.tree
        self._plan = build_plan(robot.tree, support, np.arange(values.size), [])
        self._weights = np.concatenate([np.append(values[columns], 0.0) for columns in support])
        self._work = workspace(robot.tree)
        self._panel = np.zeros((int(self._plan.start[-1]) + SPARE) * BLOCK)
        self._q, self._v, self._a = np.zeros((3, n + 2, n))
        self._a[1 : n + 1] = np.eye(n)
        self._rows, self._tau = np.zeros((n, n + 2)), np.zeros((n + 2, n))

    def at(self, q: Array, dq: Array) -> State:
        """The state of positions q (n,) and velocities dq (n,)."""
        self._q[:] = q
        self._v[0] = dq
        _evaluate(
            self._tree, self._plan, self._q, self._v, self._a, NO_MASK, self._rows, self._work, self._panel,
            self._weights, self._tau,
        )  # fmt: skip
        gravity = self._tau[-1].copy()
        return State((self._tau[1:-1] - gravity).T, self._tau[0].copy(), gravity)


@numba.njit(cache=True, nogil=True)
def _evaluate(
    tree: Any, plan: Any, Q: Any, V: Any, A: Any, M: Any, X: Any, work: Any, P: Any, weights: Any, tau: Any
) -> None:
    """tau (K, n) of K samples, K at most BLOCK."""
    fill(tree, plan, Q, V, A, M, X, 0, BLOCK, work, P, np.uint64(BLOCK), 0)
    for j in range(plan.start.shape[0] - 1):
        for k in range(tau.shape[0]):
            tau[k, j] = 0.0
        for line in range(plan.start[j], plan.start[j + 1]):
            w = weights[line]
            if w != 0.0:
                for k in range(tau.shape[0]):
                    tau[k, j] += w * P[line * BLOCK + k]
