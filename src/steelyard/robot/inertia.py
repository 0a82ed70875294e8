"""Ten inertial parameters of a body, and what frames do to them.

Order everywhere: m, m cx, m cy, m cz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz, the inertia about the frame origin (Pinocchio's).
The pseudo-inertia `J = [[S, h], [h', m]]`, `S = tr(I)/2 E - I`, `h = m c`, moves between frames as `T J T'`
(Wensing, Kim, Slotine 2018), which is the parallel-axis theorem and the rotation of the tensor in one product.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_LEVEL = 1e-15  # cosine of a pitch that is a quarter turn but for rounding


def parameters_about_origin(mass: float, centre: Array, inertia: Array) -> Array:
    """(10,) parameters from mass [kg], centre of mass (3,) [m] and inertia (3, 3) about it [kg m2], same axes.

    `I_O = I_C + m (c'c E - c c')`.
    """
    c = np.asarray(centre, dtype=np.float64)
    origin = np.asarray(inertia, dtype=np.float64) + mass * ((c @ c) * np.eye(3) - np.outer(c, c))
    return np.concatenate([[mass], mass * c, tensor_elements(origin)])


def tensor_elements(tensor: Array) -> Array:
    """(6,) Ixx, Ixy, Iyy, Ixz, Iyz, Izz of a symmetric (3, 3) tensor."""
    return np.array([tensor[0, 0], tensor[0, 1], tensor[1, 1], tensor[0, 2], tensor[1, 2], tensor[2, 2]])


def tensor(elements: Array) -> Array:
    """Symmetric (3, 3) tensor of its six elements."""
    xx, xy, yy, xz, yz, zz = elements
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def pseudo_inertia(parameters: Array) -> Array:
    """(4, 4) pseudo-inertia; positive definite exactly for bodies that can exist."""
    inertia = tensor(parameters[4:])
    J = np.empty((4, 4))
    J[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    J[:3, 3] = J[3, :3] = parameters[1:4]
    J[3, 3] = parameters[0]
    return J


def parameters_of(pseudo: Array) -> Array:
    """(10,) parameters of a pseudo-inertia; the inverse of `pseudo_inertia`."""
    S = pseudo[:3, :3]
    return np.concatenate([[pseudo[3, 3]], pseudo[:3, 3], tensor_elements(np.trace(S) * np.eye(3) - S)])


def transform(parameters: Array, rotation: Array, translation: Array) -> Array:
    """Parameters in the parent frame of a body whose frame has `rotation` (3, 3) and `translation` (3,) [m] there."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation, translation
    return parameters_of(T @ pseudo_inertia(parameters) @ T.T)


def rotation_rpy(rpy: Array) -> Array:
    """(3, 3) rotation of fixed-axis roll, pitch, yaw [rad]: Rz(yaw) Ry(pitch) Rx(roll), as URDF and REP-103 have it."""
    (sr, sp, sy), (cr, cp, cy) = np.sin(rpy), np.cos(rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def rpy_of(rotation: Array) -> Array:
    """(3,) fixed-axis roll, pitch, yaw [rad] of a rotation (3, 3); the inverse of `rotation_rpy`, exact at any pitch.

    Where roll and yaw turn about one line (pitch of a quarter turn) the roll is zero. Yaw follows from the matrix with
    the roll taken off, so that what little is left of an ill-defined roll is made up for.
    """
    R = np.asarray(rotation, dtype=np.float64)
    level = float(np.hypot(R[0, 0], R[1, 0]))
    roll = float(np.arctan2(R[2, 1], R[2, 2])) if level > _LEVEL else 0.0
    s, c = np.sin(roll), np.cos(roll)
    return np.array(
        [roll, np.arctan2(-R[2, 0], level), np.arctan2(s * R[0, 2] - c * R[0, 1], c * R[1, 1] - s * R[1, 2])]
    )


def rotation_about(axis: Array, angle: float) -> Array:
    """(3, 3) rotation by `angle` [rad] about a unit axis (Rodrigues)."""
    x, y, z = axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * skew + (1.0 - np.cos(angle)) * (skew @ skew)
