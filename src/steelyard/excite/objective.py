"""What a design minimises: a criterion of the information that a motion brings, as a function of its variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

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


class Bound(Protocol):
    """Anything else that a motion has to keep at its samples: distances, speeds of points, a workspace.

    It is kept where every `room` is positive. Rooms below one are held up by the barrier `room - 1 - log room`, whose
    value and slope are zero at one, so that what is far away pushes nothing.
    """

    def room(self, states: States) -> Array:
        """(r,) rooms of the motion, one or more where nothing is near."""

    def pull(self, weights: Array, rates: Array) -> None:
        """Add the derivatives of `weights @ room` by q, dq, ddq to rates (n, 3, K), for the last motion given."""


class Objective:
    """Criterion of the motion `center + basis @ x`, with its derivative by x, and further limits as barriers."""

    def __init__(
        self,
        family: FourierFamily,
        center: Array,
        information: MotionInformation,
        *,
        samples: int,
        torque: TorqueLimit | None = None,
        bounds: Sequence[Bound] = (),
    ) -> None:
        """Prepare.

        Args:
            family: of the motions.
            center: (n,) position that x = 0 rests at [rad or m].
            information: for motions of `samples` samples.
            samples: K instants, evenly over the period.
            torque: limit on nominal torque; None for none.
            bounds: to be kept besides.
        """
        basis = family.basis(np.arange(samples) * family.period / samples)[:3]
        rows = np.ascontiguousarray(basis.transpose(1, 0, 2, 3).reshape(family.joints, -1, basis.shape[3]))
        self._basis, self._shared = rows, len(set(family.harmonics)) == 1
        self._center, self._information, self._samples = center, information, samples
        self._torque = torque if torque is not None and np.isfinite(torque.bound).any() else None
        self._bounds = tuple(bounds)
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
        """The largest share of any torque limit or further bound that the motion uses; it keeps them below one."""
        states = self.states(x)
        used = [1.0 - float(bound.room(states).min(initial=1.0)) for bound in self._bounds]
        if self._torque is not None:
            self._information.evaluate(states)
            used.append(float(np.abs(self._information.torque(self._torque.theta) / self._torque.bound).max()))
        return max(used, default=0.0)

    def value(self, x: Array, criterion: Criterion, *, barrier: float) -> float:
        """As `evaluate`, without derivatives."""
        self.evaluations += 1
        states = self.states(x)
        value = criterion(self._information.evaluate(states), False).value
        for room in self._rooms(states) if np.isfinite(value) else ():
            value += barrier * _barrier(room)
        return value

    def evaluate(self, x: Array, criterion: Criterion, *, barrier: float) -> Evaluation:
        """Value and derivative of `criterion + barrier * sum (room - 1 - log room)` over all that is to be kept."""
        self.evaluations += 1
        states = self.states(x)
        value, H = criterion(self._information.evaluate(states), True)
        rooms = self._rooms(states) if np.isfinite(value) else ()
        value += barrier * sum(_barrier(room) for room in rooms)
        if not np.isfinite(value):
            return Evaluation(np.inf, np.zeros_like(x))
        if self._torque is None:
            rates = self._information.pull(H)
        else:
            theta, limit = self._torque
            slope = -2.0 * self._information.torque(theta) / (limit * limit)
            rates = self._information.pull(H, theta=theta, torque_weight=barrier * slope * _push(rooms[-1]))
        for bound, room in zip(self._bounds, rooms, strict=False):
            bound.pull(barrier * _push(room), rates)
        return Evaluation(value, self._along(rates))

    def _rooms(self, states: States) -> tuple[Array, ...]:
        """Of each bound; last, where there is a torque limit, (K, n) `1 - (torque / limit)^2` of the last motion."""
        rooms = [bound.room(states) for bound in self._bounds]
        if self._torque is not None:
            share = self._information.torque(self._torque.theta) / self._torque.bound
            rooms.append((1.0 - share) * (1.0 + share))
        return tuple(rooms)

    def _along(self, rates: Array) -> Array:
        """(n, m) derivatives by the variables from those by the signals."""
        rows = rates.reshape(len(rates), -1)
        if self._shared:
            return rows @ self._basis[0]
        return np.matmul(rows[:, None, :], self._basis)[:, 0]


def _barrier(room: Array) -> float:
    """`sum (room - 1 - log room)` over rooms below one, infinite where there is none left."""
    if not room.min(initial=1.0) > 0.0:
        return float("inf")
    near = np.minimum(room, 1.0)
    return float((near - 1.0 - np.log(near)).sum())


def _push(room: Array) -> Array:
    """Derivatives of `_barrier` by the rooms."""
    return np.minimum(1.0 - 1.0 / room, 0.0)
