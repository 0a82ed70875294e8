"""Random rest-to-rest Fourier motions inside a robot's limits."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError

Array = NDArray[np.float64]
SHARE = 0.9
"""The part of every limit a reference may use: the rest is for the controller that follows it."""


@dataclass(frozen=True)
class MotionLimits:
    """What a motion must stay inside, per joint, and the pose it moves about.

    Attributes:
        centre: (n,) [rad or m].
        lower, upper: (n,) [rad or m], with lower < centre < upper.
        velocity: (n,) [rad/s or m/s], greater than zero.
        acceleration: (n,) [rad/s2 or m/s2], greater than zero.
    """

    centre: Array
    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array

    def __post_init__(self) -> None:
        _freeze_arrays(self)


@dataclass(frozen=True)
class FourierReference:
    """Periodic motion q_j(t) = centre_j + sum_l sine_lj sin(l w t) + cosine_lj cos(l w t), w = 2 pi / period.

    Attributes:
        centre: (n,) [rad or m].
        sine, cosine: (L, n) [rad or m], row l - 1 belongs to harmonic l.
        period: [s].
    """

    centre: Array
    sine: Array
    cosine: Array
    period: float

    def __post_init__(self) -> None:
        _freeze_arrays(self)

    def position(self, time: Array) -> Array:
        """(T, n) [rad or m] at the times (T,) [s]."""
        return self.centre + self._sum(time, 0)

    def velocity(self, time: Array) -> Array:
        """(T, n) [rad/s or m/s] at the times (T,) [s]."""
        return self._sum(time, 1)

    def acceleration(self, time: Array) -> Array:
        """(T, n) [rad/s2 or m/s2] at the times (T,) [s]."""
        return self._sum(time, 2)

    def _sum(self, time: Array, order: int) -> Array:
        rate = 2 * np.pi / self.period * np.arange(1, len(self.sine) + 1)
        # Each time derivative advances the phase by a quarter turn and multiplies by the frequency.
        phase = np.outer(time, rate) + order * np.pi / 2
        total: Array = (np.sin(phase) * rate**order) @ self.sine + (np.cos(phase) * rate**order) @ self.cosine
        return total


def rest_to_rest(
    limits: MotionLimits, *, period: float, harmonics: int, rng: np.random.Generator, amplitude: float = 1.0
) -> FourierReference:
    """Draw a random motion whose velocity and acceleration vanish at t = 0 and after every period.

    The coefficients are normal with a deviation of 1/l, projected on ``sum l sine_l = 0`` (velocity) and
    ``sum l^2 cosine_l = 0`` (acceleration). Each joint is then scaled until it uses `SHARE` times `amplitude`
    of the first limit it meets.

    Args:
        limits: what to stay inside.
        period: length of one period [s].
        harmonics: number of harmonics L, at least 2: one harmonic alone cannot start at rest.
        rng: source of the randomness.
        amplitude: in (0, 1].

    Raises:
        StudyError: an argument outside its range.
    """
    if harmonics < 2:
        raise StudyError("a rest-to-rest motion needs at least two harmonics", value=harmonics, cure="harmonics=5")
    if not 0 < period < np.inf:
        raise StudyError("the period must be positive [s]", value=period)
    if not 0 < amplitude <= 1:
        raise StudyError("the amplitude is a fraction of the limits in (0, 1]", value=amplitude)
    order = np.arange(1, harmonics + 1)[:, None]
    sine, cosine = rng.standard_normal((2, harmonics, limits.centre.size)) / order
    sine -= order * (order * sine).sum(0) / (order**2).sum()
    cosine -= order**2 * (order**2 * cosine).sum(0) / (order**4).sum()
    raw = FourierReference(limits.centre, sine, cosine, period)

    time = np.linspace(0, period, 200 * harmonics)
    move = raw.position(time) - limits.centre
    room = np.min(
        [
            (limits.upper - limits.centre) / move.max(0),
            (limits.lower - limits.centre) / move.min(0),
            limits.velocity / np.abs(raw.velocity(time)).max(0),
            limits.acceleration / np.abs(raw.acceleration(time)).max(0),
        ],
        axis=0,
    )
    scale = SHARE * amplitude * room
    return FourierReference(limits.centre, scale * sine, scale * cosine, period)


def _freeze_arrays(value: MotionLimits | FourierReference) -> None:
    for field in fields(value):
        array = getattr(value, field.name)
        if isinstance(array, np.ndarray):
            copy = np.array(array, dtype=np.float64)
            copy.setflags(write=False)
            object.__setattr__(value, field.name, copy)
