"""What a recorder sees of a motion: encoder counts, a noisy, offset and late torque, a slower clock."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sensors:
    """Measurement model of every joint: ``q_m = round((q + noise) / step) step``, ``tau_m(t) = tau(t - delay) + ...``.

    Attributes:
        encoder_bits: a turn (on a prismatic joint, a metre) is 2**encoder_bits counts, joint side; None: no counts.
        position_noise: deviation of white noise before quantisation [rad or m].
        torque_noise: deviation of white noise [N m or N], one number or one per joint.
        torque_offset: added constant [N m or N], one number or one per joint.
        torque_delay: how much older the torque is than its stamp [s].

    Raises:
        StudyError: a number outside its range.
    """

    encoder_bits: int | None = 19
    position_noise: float = 5e-6
    torque_noise: float | tuple[float, ...] = 0.05
    torque_offset: float | tuple[float, ...] = 0.0
    torque_delay: float = 0.0

    def __post_init__(self) -> None:
        if self.encoder_bits is not None and not 1 <= self.encoder_bits <= 40:
            raise StudyError("encoder_bits must be 1 to 40, or None", value=self.encoder_bits)
        for name in ("position_noise", "torque_noise", "torque_delay"):
            values = np.atleast_1d(getattr(self, name))
            if not (np.isfinite(values).all() and (values >= 0).all()):
                raise StudyError(f"{name} must be finite and not negative", value=getattr(self, name))
        if not np.isfinite(np.atleast_1d(self.torque_offset)).all():
            raise StudyError("torque_offset must be finite", value=self.torque_offset)

    def offset(self, joints: int) -> Array:
        """(n,) torque offset of every joint [N m or N]."""
        return per_joint(self.torque_offset, joints, "torque_offset")

    def position_step(self, prismatic: NDArray[np.bool_]) -> Array:
        """(n,) size of one encoder count [rad or m]; zero without quantisation."""
        if self.encoder_bits is None:
            return np.zeros(prismatic.size)
        return np.where(prismatic, 1.0, 2 * np.pi) / 2**self.encoder_bits


def per_joint(value: float | tuple[float, ...], joints: int, name: str) -> Array:
    """One number for all joints, or one each, as (n,); raises StudyError when the count fits neither."""
    values = np.atleast_1d(np.asarray(value, dtype=np.float64))
    if values.shape not in ((1,), (joints,)):
        raise StudyError(
            f"{name} must be one number or one per joint", value=value, cure=f"the robot has {joints} joints"
        )
    return np.broadcast_to(values, (joints,))


def measure(
    motion: Trajectory, *, every: int, sensors: Sensors, prismatic: NDArray[np.bool_], rng: np.random.Generator
) -> Trajectory:
    """The recording (q and tau only) that the sensors give of a noise-free motion.

    Args:
        motion: noise-free q and tau on a fine clock, one segment.
        every: take one sample out of so many.
        sensors: the measurement model.
        prismatic: (n,) which joints count metres.
        rng: source of the noise.

    Raises:
        StudyError: a sensor setting that does not fit the number of joints.
    """
    joints = len(motion.joint_names)
    noise = per_joint(sensors.torque_noise, joints, "torque_noise")
    time = motion.time[::every]
    q = motion.channel("q")[::every] + sensors.position_noise * rng.standard_normal((time.size, joints))
    step = sensors.position_step(prismatic)
    if step.all():
        q = np.round(q / step) * step
    # Before the first stamp the robot stood still under the torque it starts with: the first value is held.
    late = time - sensors.torque_delay
    tau = np.column_stack([np.interp(late, motion.time, column) for column in motion.channel("tau").T])
    tau += sensors.offset(joints) + noise * rng.standard_normal(tau.shape)
    return replace(motion, time=time, q=q, dq=None, ddq=None, tau=tau, valid=None, source="")
