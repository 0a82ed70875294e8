"""What a design minimises: a criterion of the information that a motion brings, as a function of its variables."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.excite.criteria import Criterion
from steelyard.excite.features import States
from steelyard.excite.fourier import FourierFamily
from steelyard.excite.information import MotionInformation

Array = NDArray[np.float64]


class Evaluation(NamedTuple):
    """Value, infinite where the motion cannot be judged or breaks a torque limit; derivatives (n, m)."""

    value: float
    gradient: Array


class TorqueLimit(NamedTuple):
    """Torque of nominal parameters theta (b,) that shall stay below `bound` (n,) [N m or N], infinite for none."""

    theta: Array
    bound: Array


class Objective:
    """Criterion of the motion `center + basis @ x`, with its derivative by x, and the torque limit as a barrier."""

    def __init__(
        self,
        family: FourierFamily,
        center: Array,
        information: MotionInformation,
        *,
        samples: int,
        torque: TorqueLimit | None = None,
    ) -> None:
        """Prepare.

        Args:
            family: of the motions.
            center: (n,) position that x = 0 rests at [rad or m].
            information: for motions of `samples` samples.
            samples: K instants, evenly over the period.
            torque: limit on nominal torque; None for none.
        """
        basis = family.basis(np.arange(samples) * family.period / samples)[:3]
        rows = np.ascontiguousarray(basis.transpose(1, 0, 2, 3).reshape(family.joints, -1, basis.shape[3]))
        self._basis, self._shared = rows, len(set(family.harmonics)) == 1
        self._center, self._information, self._samples = center, information, samples
        self._torque = torque if torque is not None and np.isfinite(torque.bound).any() else None
        self.evaluations = 0

    def states(self, x: Array) -> States:
        """The motion at the K instants."""
        if self._shared:
            values = (self._basis[0] @ x.T).reshape(3, self._samples, len(x))
        else:
            rows = np.matmul(self._basis, x[:, :, None]).reshape(len(x), 3, self._samples)
            values = np.ascontiguousarray(rows.transpose(1, 2, 0))
        values[0] += self._center
        return States(*values)

    def matrix(self, x: Array) -> Array:
        """(b, b) information of the motion."""
        return self._information.evaluate(self.states(x)).copy()

    def load(self, x: Array) -> float:
        """The largest share of any torque limit that the motion uses."""
        if self._torque is None:
            return 0.0
        self._information.evaluate(self.states(x))
        return float(np.abs(self._information.torque(self._torque.theta) / self._torque.bound).max())

    def value(self, x: Array, criterion: Criterion, *, barrier: float) -> float:
        """As `evaluate`, without derivatives."""
        self.evaluations += 1
        value = criterion(self._information.evaluate(self.states(x)), False).value
        if self._torque is None or not np.isfinite(value):
            return value
        room = self._room(self._torque)
        return value - barrier * float(np.log(room).sum()) if room.min() > 0.0 else float("inf")

    def evaluate(self, x: Array, criterion: Criterion, *, barrier: float) -> Evaluation:
        """Value and derivative of `criterion - barrier * sum log(1 - (torque / bound)^2)`."""
        self.evaluations += 1
        value, H = criterion(self._information.evaluate(self.states(x)), True)
        if not np.isfinite(value):
            return Evaluation(np.inf, np.zeros_like(x))
        if self._torque is None:
            return Evaluation(value, self._along(self._information.pull(H)))
        theta, bound = self._torque
        room = self._room(self._torque)
        if not room.min() > 0.0:
            return Evaluation(np.inf, np.zeros_like(x))
        slope = 2.0 * barrier * self._information.torque(theta) / (bound * bound * room)
        rates = self._information.pull(H, theta=theta, torque_weight=slope)
        return Evaluation(value - barrier * float(np.log(room).sum()), self._along(rates))

    def _room(self, torque: TorqueLimit) -> Array:
        """(K, n) `1 - (torque / bound)^2` along the last motion, zero or less where the bound is broken."""
        share = self._information.torque(torque.theta) / torque.bound
        return (1.0 - share) * (1.0 + share) if np.abs(share).max() < 1.0 else np.zeros((1, 1))

    def _along(self, rates: Array) -> Array:
        """(n, m) derivatives by the variables from those by the signals."""
        rows = rates.reshape(len(rates), -1)
        if self._shared:
            return rows @ self._basis[0]
        return np.matmul(rows[:, None, :], self._basis)[:, 0]
