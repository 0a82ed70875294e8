"""Small swept sines about a pose: what the drives, the structure and the filters do at which frequency.

    q(t) = q_0 + A w(t) sin(phi(t)),   phi(t) = 2 pi (f_0 t + (f_1 - f_0) t^2 / (2 T))

with a window w that rises and falls over a share of T by the polynomial of degree seven whose first three derivatives
are zero at both ends, so that velocity, acceleration and jerk begin and end at zero and never jump.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Any

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.excite.cells import Cells, even_cells, taylor_cells
from steelyard.excite.kinematics import Kinematics
from steelyard.excite.limits import MotionLimits
from steelyard.excite.motion import sampled
from steelyard.excite.straight import poses_inside

Array = NDArray[np.float64]
Complex = NDArray[Any]
FADE = 0.15  # share of the duration over which the window rises, and falls
RISE = Polynomial([0.0, 0.0, 0.0, 0.0, 35.0, -84.0, 70.0, -20.0])
PEAKS = (1.0, 2.1875, 7.5132, 52.5, 840.0)  # largest |derivatives| of RISE on [0, 1], of orders 0 to 4
ORDERS = 5
LEAST = 2000  # cells for the peaks


@dataclass(frozen=True)
class ChirpMotion:
    """A chirp of some joints, all in phase.

    Attributes:
        joint_names: n names in model order.
        pose: (n,) middle of the motion [rad or m].
        amplitude: (n,) [rad or m], zero for joints that rest.
        frequencies: at the start and the end [Hz].
        duration: [s].
        fade: share of the duration over which the window rises, and falls.
        name: label for messages and files.

    Raises:
        StudyError: shapes, frequencies, duration or fade that make no sense.
    """

    joint_names: tuple[str, ...]
    pose: Array
    amplitude: Array
    frequencies: tuple[float, float]
    duration: float
    fade: float = FADE
    name: str = "chirp"

    def __post_init__(self) -> None:
        for field in ("pose", "amplitude"):
            values = np.array(getattr(self, field), dtype=np.float64)
            values.setflags(write=False)
            object.__setattr__(self, field, values)
            if values.shape != (len(self.joint_names),) or not np.isfinite(values).all():
                raise StudyError(f"{field} must be one finite number a joint", value=values.shape)
        if not all(np.isfinite(f) and f > 0.0 for f in (*self.frequencies, self.duration)):
            raise StudyError("frequencies and duration of a chirp are positive", value=self.frequencies)
        if not 0.0 < self.fade <= 0.5:
            raise StudyError("the window rises and falls within its half", value=self.fade)

    @property
    def digest(self) -> str:
        """SHA-256 of all that defines it."""
        text = repr((self.joint_names, self.frequencies, self.duration, self.fade))
        return hashlib.sha256(text.encode() + self.pose.tobytes() + self.amplitude.tobytes()).hexdigest()

    def at(self, times: Array) -> Kinematics:
        """The motion at `times` [s]."""
        times = np.clip(np.asarray(times, dtype=np.float64), 0.0, self.duration)
        rate, slope = self._phase()
        phase = times * (rate + 0.5 * slope * times)
        carrier = _derivatives(np.exp(1j * phase), 1j * (rate + slope * times), 1j * slope)
        wave = [np.imag(w)[:, None] * self.amplitude for w in _product(self._window(times), carrier)]
        return Kinematics(self.pose + wave[0], *wave[1:4])

    def cells(self, step: float) -> Cells:
        """Equal cells not wider than `step` [s]."""
        middle, half = even_cells(self.duration, step)
        rate, slope = self._phase()
        window = [np.full(1, peak / (self.fade * self.duration) ** k) for k, peak in enumerate(PEAKS)]
        carrier = _derivatives(np.ones(1), np.full(1, max(rate, rate + slope * self.duration)), abs(slope))
        bound = [b * np.abs(self.amplitude) for b in _product(window, carrier)]
        return taylor_cells(middle, half, self.at(middle), bound)

    def slowed(self, speed: float) -> ChirpMotion:
        """The same path at a fraction of the speed.

        Raises:
            StudyError: a speed that is not positive.
        """
        if not speed > 0.0:
            raise StudyError("the speed must be a positive fraction", value=speed)
        first, last = self.frequencies
        return replace(self, frequencies=(speed * first, speed * last), duration=self.duration / speed)

    def sampled(self, rate: float) -> Trajectory:
        """The motion as a controller of `rate` [Hz] gets it, both ends included.

        Raises:
            StudyError: rate times duration is not a whole number of samples.
        """
        return sampled(self, rate)

    def _phase(self) -> tuple[float, float]:
        """Angular frequency at the start [rad/s] and how it changes [rad/s2]."""
        first, last = (2.0 * np.pi * f for f in self.frequencies)
        return first, (last - first) / self.duration

    def _window(self, times: Array) -> list[Array]:
        """w and its derivatives of orders 0 to 4, (K,) each."""
        fade = self.fade * self.duration
        rising = times < 0.5 * self.duration
        share = np.minimum(np.where(rising, times, self.duration - times) / fade, 1.0)
        sign = np.where(rising, 1.0, -1.0)
        fading = share < 1.0
        values = [RISE(share)]
        values += [np.where(fading, RISE.deriv(k)(share) * (sign / fade) ** k, 0.0) for k in range(1, ORDERS)]
        return values


def chirp(
    limits: MotionLimits,
    *,
    joints: Sequence[str] | None = None,
    pose: Sequence[float] | Array | None = None,
    amplitude: float = 0.05,
    frequencies: tuple[float, float] = (0.2, 5.0),
    duration: float = 20.0,
    name: str = "chirp",
) -> ChirpMotion:
    """A chirp of the amplitude wanted, or of the largest one that the limits of a joint allow.

    Args:
        limits: to be kept, e.g. `limits.share(0.95)`.
        joints: that move; all where not given.
        pose: (n,) about which [rad or m]; the middle of the ranges where not given.
        amplitude: at most [rad or m].
        frequencies: at the start and the end [Hz].
        duration: [s].

    Raises:
        StudyError: unknown joints, a pose outside the limits or at one, values that make no sense.
    """
    names = limits.joint_names
    unknown = [joint for joint in joints or () if joint not in names]
    if unknown or not amplitude > 0.0:
        raise StudyError("a chirp has joints and a positive amplitude", value=unknown or amplitude, choices=names)
    home = poses_inside(limits, np.atleast_2d(limits.center if pose is None else np.asarray(pose)))[0]
    moving = np.array([joints is None or joint in joints for joint in names])
    motion = ChirpMotion(names, home, np.ones(len(names)), frequencies, duration, name=name)
    most = [peak.max(axis=0) for peak in motion.cells(duration / LEAST).most][1:]
    room = np.minimum(home - limits.lower, limits.upper - home)
    allowed = np.minimum.reduce([room, limits.velocity / most[0], limits.acceleration / most[1], limits.jerk / most[2]])
    if np.any(moving & (allowed <= 0.0)):
        raise StudyError("a joint rests at a limit and has no way to go", where=names[int(np.argmin(allowed))])
    return replace(motion, amplitude=np.where(moving, np.minimum(amplitude, allowed), 0.0))


def _derivatives(value: Complex, rate: Complex, slope: complex) -> list[Complex]:
    """Derivatives of orders 0 to 4 of exp(p) by those of p: `g' = p' g`, hence `g_(k+1) = p' g_k + k p'' g_(k-1)`."""
    orders = [value]
    for k in range(ORDERS - 1):
        orders.append(rate * orders[k] + (k * slope * orders[k - 1] if k else 0.0))
    return orders


def _product(one: Sequence[Complex], other: Sequence[Complex]) -> list[Complex]:
    """Derivatives of orders 0 to 4 of a product (Leibniz)."""
    return [sum((comb(k, m) * one[m] * other[k - m] for m in range(k + 1)), np.zeros(1)) for k in range(ORDERS)]
