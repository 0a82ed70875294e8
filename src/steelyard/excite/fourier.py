"""Motions as finite Fourier series, linear in their coefficients (Swevers et al. 1997).

    q_j(t) = q_0j + sum_l a_lj / (l w) sin(l w t) - b_lj / (l w) cos(l w t),   w = 2 pi / period,

so that a and b are amplitudes of the velocity. Everything is periodic; a motion that shall start and end at rest needs
`sum a_l = 0` and `sum l b_l = 0` (velocity and acceleration at both ends), and `sum l^2 a_l = 0` besides for the jerk.
These equations are solved once: what is left free are the *variables* of a joint.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.excite.cells import Cells, even_cells, taylor_cells
from steelyard.excite.kinematics import Kinematics
from steelyard.excite.motion import sampled

Array = NDArray[np.float64]
Rest = Literal["free", "acceleration", "jerk"]
ORDERS = 4


@dataclass(frozen=True)
class FourierFamily:
    """All series of one period and one set of harmonics for each joint.

    Attributes:
        period: [s].
        harmonics: for each joint the l, ascending, as many for every joint.
        rest: what is zero at both ends: nothing ("free"), velocity and acceleration, or the jerk as well.

    Raises:
        StudyError: no period, no harmonics, or too few of them to come to rest.
    """

    period: float
    harmonics: tuple[tuple[int, ...], ...]
    rest: Rest = "free"

    def __post_init__(self) -> None:
        object.__setattr__(self, "harmonics", tuple(tuple(row) for row in self.harmonics))
        if not (np.isfinite(self.period) and self.period > 0.0):
            raise StudyError("the period must be a positive time [s]", value=self.period)
        if self.rest not in ("free", "acceleration", "jerk"):
            raise StudyError("not a way to come to rest", value=self.rest, choices=("free", "acceleration", "jerk"))
        for row in self.harmonics:
            whole = all(isinstance(l, int) and l >= 1 for l in row)
            if not whole or len(row) != len(self.harmonics[0]) or list(row) != sorted(set(row)):
                raise StudyError(
                    "harmonics are different whole numbers from 1 on, as many for each joint",
                    value=[list(r) for r in self.harmonics],
                )
        least = {"free": 1, "acceleration": 2, "jerk": 3}[self.rest]
        if not self.harmonics or len(self.harmonics[0]) < least:
            raise StudyError("too few harmonics", value=self.harmonics, cure=f"give at least {least} to each joint")

    @property
    def joints(self) -> int:
        """Number of joints n."""
        return len(self.harmonics)

    @property
    def highest(self) -> int:
        """The highest harmonic of any joint."""
        return max(row[-1] for row in self.harmonics)

    @property
    def variables(self) -> int:
        """Free numbers m a joint."""
        return int(self.free.shape[2])

    @cached_property
    def free(self) -> Array:
        """(n, 2 N + 1, m): coefficients (q_0, a_1 .. a_N, b_1 .. b_N) = free @ variables, orthonormal columns."""
        return np.stack([_null_space(_rest_equations(np.array(row), self.rest)) for row in self.harmonics])

    def coefficients(self, x: Array) -> Array:
        """(n, 2 N + 1) coefficients of variables x (n, m)."""
        return np.einsum("ncm,nm->nc", self.free, np.asarray(x, dtype=np.float64))

    def variables_of(self, coefficients: Array) -> Array:
        """(n, m) variables of coefficients (n, 2 N + 1) that fulfil the rest equations."""
        return np.einsum("ncm,nc->nm", self.free, np.asarray(coefficients, dtype=np.float64))

    def shifted(self, x: Array, periods: float) -> Array:
        """(n, m) variables of the same motion, begun a share of the period later (projected where it rests)."""
        values = self.coefficients(x)
        count = len(self.harmonics[0])
        phase = 2.0 * np.pi * periods * np.array(self.harmonics)
        a, b = values[:, 1 : count + 1].copy(), values[:, count + 1 :].copy()
        values[:, 1 : count + 1] = a * np.cos(phase) + b * np.sin(phase)
        values[:, count + 1 :] = b * np.cos(phase) - a * np.sin(phase)
        return self.variables_of(values)

    def basis(self, times: Array) -> Array:
        """(4, n, K, m): position, velocity, acceleration and jerk at `times` [s] = basis @ variables."""
        rows = np.stack([_series(np.array(row), self.period, times) for row in self.harmonics], axis=1)
        return np.matmul(rows, self.free)


@dataclass(frozen=True)
class FourierMotion:
    """One motion.

    Attributes:
        joint_names: n names in model order.
        family: period and harmonics.
        coefficients: (n, 2 N + 1), row j is q_0 [rad or m], a_1 .. a_N, b_1 .. b_N [rad/s or m/s] of joint j.
        name: label for messages and files.
    """

    joint_names: tuple[str, ...]
    family: FourierFamily
    coefficients: Array
    name: str = "excitation"

    def __post_init__(self) -> None:
        values = np.array(self.coefficients, dtype=np.float64)
        values.setflags(write=False)
        object.__setattr__(self, "coefficients", values)
        shape = (len(self.joint_names), 2 * len(self.family.harmonics[0]) + 1)
        if values.shape != shape or self.family.joints != shape[0] or not np.isfinite(values).all():
            raise StudyError("the coefficients must be finite numbers, one row a joint", value=values.shape)

    @property
    def period(self) -> float:
        """[s]."""
        return self.family.period

    @property
    def duration(self) -> float:
        """One period [s]."""
        return self.family.period

    @property
    def digest(self) -> str:
        """SHA-256 of joints, harmonics, period and coefficients."""
        digest = hashlib.sha256(repr((self.joint_names, self.family.harmonics, self.period)).encode())
        digest.update(self.coefficients.tobytes())
        return digest.hexdigest()

    def cells(self, step: float) -> Cells:
        """One period in equal cells not wider than `step` [s].

        No derivative of a series exceeds the sum of its amplitudes times their frequencies.
        """
        middle, half = even_cells(self.period, step)
        return taylor_cells(middle, half, self.at(middle), self._amplitudes())

    def _amplitudes(self) -> list[Array]:
        """(n,) bounds of the derivatives of the position of orders 0 to 4 (0 without the mean)."""
        count = len(self.family.harmonics[0])
        speed = np.hypot(self.coefficients[:, 1 : count + 1], self.coefficients[:, count + 1 :])
        w = 2.0 * np.pi / self.period * np.array(self.family.harmonics)
        return [(speed * w ** (k - 1)).sum(axis=1) for k in range(5)]

    def at(self, times: Array) -> Kinematics:
        """The motion at `times` [s]; derivatives are those of the series, not differences."""
        times = np.asarray(times, dtype=np.float64)
        rows = [_series(np.array(row), self.period, times) for row in self.family.harmonics]
        return Kinematics(*np.stack([rows[j] @ c for j, c in enumerate(self.coefficients)], axis=-1))

    def slowed(self, speed: float) -> FourierMotion:
        """The same path at a fraction of the speed: 0.5 takes twice the time.

        Raises:
            StudyError: a speed that is not positive.
        """
        if not speed > 0.0:
            raise StudyError("the speed must be a positive fraction", value=speed)
        scaled = self.coefficients.copy()
        scaled[:, 1:] *= speed
        return replace(self, family=replace(self.family, period=self.period / speed), coefficients=scaled)

    def sampled(self, rate: float, *, periods: int = 1) -> Trajectory:
        """The motion as a controller of `rate` [Hz] gets it, both ends included: q, dq, ddq at k / rate.

        Raises:
            StudyError: rate times period is not a whole number of samples.
        """
        return sampled(self, rate, periods=periods)


def shared_harmonics(joints: int, count: int, *, odd: bool = False) -> tuple[tuple[int, ...], ...]:
    """The same l = 1 .. count for every joint; odd ones only (1, 3, 5 ...) make the second half mirror the first."""
    step = 2 if odd else 1
    return (tuple(range(1, step * count + 1, step)),) * joints


def distinct_harmonics(joints: int, count: int, *, odd: bool = False) -> tuple[tuple[int, ...], ...]:
    """No harmonic in two joints: joint j takes every n-th, so that its motion can be told apart in the spectrum."""
    step = 2 if odd else 1
    return tuple(tuple(1 + step * (j + joints * k) for k in range(count)) for j in range(joints))


def _series(harmonics: Array, period: float, times: Array) -> Array:
    """(4, K, 2 N + 1): value and derivatives of the series by its coefficients."""
    w = 2.0 * np.pi / period * harmonics
    phase = np.outer(np.remainder(times, period), w)
    S, C = np.sin(phase), np.cos(phase)
    one, zero = np.ones((len(times), 1)), np.zeros((len(times), 1))
    return np.stack([
        np.hstack([one, S / w, -C / w]),
        np.hstack([zero, C, S]),
        np.hstack([zero, -S * w, C * w]),
        np.hstack([zero, -C * w**2, -S * w**2]),
    ])  # fmt: skip


def _rest_equations(harmonics: Array, rest: Rest) -> Array:
    """(r, 2 N + 1) equations whose right-hand side is zero."""
    count = len(harmonics)
    rows = np.zeros((3, 2 * count + 1))
    rows[0, 1 : count + 1] = 1.0
    rows[1, count + 1 :] = harmonics
    rows[2, 1 : count + 1] = harmonics**2
    return rows[: {"free": 0, "acceleration": 2, "jerk": 3}[rest]]


def _null_space(equations: Array) -> Array:
    """Orthonormal columns that fulfil the equations; the first coefficient, q_0, stays a variable of its own."""
    wide = equations.shape[1]
    if not len(equations):
        return np.eye(wide)
    _, s, vectors = np.linalg.svd(equations)
    rank = int(np.sum(s > 1e-12 * s[0]))
    rest = vectors[rank:].T
    rest = rest - np.outer(np.eye(wide)[0], rest[0])
    q, s, _ = np.linalg.svd(rest, full_matrices=False)
    return np.column_stack([np.eye(wide)[0], q[:, s > 0.5]])
