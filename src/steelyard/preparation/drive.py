"""From the motor to the joint: gear ratios, couplings, torque constants and efficiency, as pure arithmetic.

With R the position coupling and T the torque coupling of n motors and n joints

    q_motor = R q          (also dq, ddq)
    tau     = T tau_motor  (T = R' when the transmission itself stores and loses nothing)

a plain gearbox of ratio N_j is R = T = diag(N_j).  Torque constants give tau_motor = K (i - i0).  A lossy gear passes
on eta tau_motor while the motor drives and tau_motor / eta while it is driven, so the exponent is the sign of the
motor's power:

    tau = T [ eta^sign(tau_motor dq_motor) tau_motor ]

At standstill the torque passed on may lie anywhere between the two; the exponent 0 takes the middle of that band.
Every product is summed term by term over the non-zero entries, so that a sample gives the same bits alone, in a
chunk or in the whole recording.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError

Array = NDArray[np.float64]

SINGULAR = 1e-9
"""Reciprocal condition, rows scaled, below which a coupling cannot be inverted in double precision with sense."""


@dataclass(frozen=True)
class Drive:
    """A transmission between n motors and n joints, in one order of names kept by the caller.

    Attributes:
        position: R, (n, n) motor motion per joint motion [rad/rad or rad/m].
        torque: T, (n, n) joint torque per motor torque [N m/(N m) or N/(N m)].
        efficiency: (n,) of each motor's gear, in (0, 1].
        inverse: R^-1, derived.

    Raises:
        StudyError: shapes that disagree, a coupling that is singular or not finite, an efficiency outside (0, 1].
    """

    position: Array
    torque: Array
    efficiency: Array
    inverse: Array = field(init=False)

    def __post_init__(self) -> None:
        for name in ("position", "torque", "efficiency"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=np.float64))
        n = self.efficiency.size
        for name in ("position", "torque"):
            matrix = getattr(self, name)
            if matrix.shape != (n, n):
                raise StudyError(f"the {name} coupling must have shape {(n, n)}", value=matrix.shape)
            if not _invertible(matrix):
                raise StudyError(
                    f"the {name} coupling is singular or not finite",
                    value=matrix.tolist(),
                    cure="each joint needs its own motor; check the rows for zeros, copies and missing ratios",
                )
        if not (np.isfinite(self.efficiency).all() and (self.efficiency > 0).all() and (self.efficiency <= 1).all()):
            raise StudyError("an efficiency must lie above 0 and not above 1", value=self.efficiency.tolist())
        object.__setattr__(self, "inverse", np.linalg.inv(self.position))
        for array in (self.position, self.torque, self.efficiency, self.inverse):
            array.setflags(write=False)

    @property
    def conserves_power(self) -> bool:
        """Whether T = R', to the rounding of matrices written with six digits."""
        return bool(np.allclose(self.torque, self.position.T, rtol=1e-5, atol=0.0))


def geared(ratio: Array, *, efficiency: Array | None = None) -> Drive:
    """A gearbox on each joint: q_motor_j = N_j q_j and tau_j = N_j tau_motor_j.

    Args:
        ratio: (n,) N, motor turns per joint turn; negative where the motor turns the other way [-].
        efficiency: (n,) in (0, 1] [-]; None is lossless.
    """
    matrix = np.diag(np.asarray(ratio, dtype=np.float64))
    return coupled(matrix, matrix, efficiency=efficiency)


def coupled(position: Array, torque: Array | None = None, *, efficiency: Array | None = None) -> Drive:
    """Motors that move several joints: q_motor = R q and tau = T tau_motor.

    Args:
        position: R, (n, n) [-].
        torque: T, (n, n) [-]; None is R', the coupling that conserves power.
        efficiency: (n,) in (0, 1] [-]; None is lossless.
    """
    r = np.asarray(position, dtype=np.float64)
    t = r.T if torque is None else np.asarray(torque, dtype=np.float64)
    eta = np.ones(r.shape[0]) if efficiency is None else np.asarray(efficiency, dtype=np.float64)
    return Drive(r, t, eta)


def joint_motion(drive: Drive, motor: Array) -> Array:
    """R^-1 applied to motor positions, velocities or accelerations (T, n): the joints' [rad, rad/s, rad/s2]."""
    return _apply(drive.inverse, motor)


def motor_motion(drive: Drive, joint: Array) -> Array:
    """R applied to joint positions, velocities or accelerations (T, n): the motors' [rad, rad/s, rad/s2]."""
    return _apply(drive.position, joint)


def joint_torque(drive: Drive, motor_torque: Array, *, motor_velocity: Array | None = None) -> Array:
    """Joint torque from motor torque: T [eta^sign(power) tau_motor].

    Args:
        motor_torque: (T, n) at the motor shaft, before the gear [N m].
        motor_velocity: (T, n) [rad/s]; only the sign of the power tau_motor dq_motor is used.

    Returns:
        (T, n) joint-side torque [N m] or force [N].

    Raises:
        StudyError: the drive has an efficiency below 1 and no velocity is given: which side drives is unknown.
    """
    if (drive.efficiency == 1.0).all():
        return _apply(drive.torque, motor_torque)
    if motor_velocity is None:
        raise StudyError(
            "an efficiency needs velocities: it divides the torque when the motor is driven by its load",
            cure="record dq, or leave efficiency out; the loss then shows as friction",
        )
    exponent = np.sign(motor_torque) * np.sign(motor_velocity)
    return _apply(drive.torque, motor_torque * drive.efficiency**exponent)


def torque_from_current(current: Array, constant: Array, offset: Array) -> Array:
    """Torque from motor current: tau = K (i - i0).

    Args:
        current: (T, n) torque-producing current i [A].
        constant: (n,) torque constant K [N m/A or N/A].
        offset: (n,) current i0 read at zero torque [A].
    """
    return (current - offset) * constant


def _apply(matrix: Array, values: Array) -> Array:
    """values (T, n) @ matrix', summed term by term in column order."""
    out = np.zeros_like(values, dtype=np.float64)
    for row, column in np.argwhere(matrix):
        out[:, row] += matrix[row, column] * values[:, column]
    return out


def _invertible(matrix: Array) -> bool:
    scale = np.abs(matrix).max(axis=1, initial=0.0)
    if not np.isfinite(matrix).all() or not (scale > 0).all():
        return False
    singular = np.linalg.svd(matrix / scale[:, None], compute_uv=False)
    return bool(singular[-1] > SINGULAR * singular[0])
