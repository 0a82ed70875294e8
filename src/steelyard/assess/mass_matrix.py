"""The mass matrix of an identified model: necessary, not sufficient, for parameters that a robot could have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.model import Model

Array = NDArray[np.float64]


def mass_matrices(model: Model, theta: Array, q: Array) -> Array:
    """(K, n, n) mass matrices at positions q (K, n): column i is `Y(q, 0, e_i) theta - Y(q, 0, 0) theta`.

    theta (p,) may be any vector that gives the right torque, e.g. `estimate.full(model.names)`.
    """
    K, n = q.shape
    still = np.zeros((K, n))
    accelerations = np.vstack([still, *(np.tile(np.eye(n)[i], (K, 1)) for i in range(n))])
    motion = Trajectory(
        time=np.arange(K * (n + 1), dtype=np.float64),
        joint_names=model.robot.joint_names,
        q=np.tile(q, (n + 1, 1)),
        dq=np.zeros((K * (n + 1), n)),
        ddq=accelerations,
    )
    torque = model.torque(theta, motion).reshape(n + 1, K, n)
    return np.moveaxis(torque[1:] - torque[0], 0, 2)


def least_eigenvalue(model: Model, theta: Array, q: Array) -> float:
    """The least eigenvalue of the mass matrix over positions q (K, n) [kg m2, kg]; it must be positive.

    A positive one proves little: parameters with massless or impossible links can have it.
    """
    M = mass_matrices(model, theta, q)
    return float(np.linalg.eigvalsh(0.5 * (M + np.swapaxes(M, 1, 2))).min())
