"""What terms besides the rigid bodies add to the regressor of a motion, and how that changes with the motion.

The terms of this library depend on one signal of their own joint each, so that their derivatives are written down;
any other term is asked for its block at motions moved a little, one joint and signal after another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.model import Layout, Model
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.spring import Spring
from steelyard.terms.term import Term
from steelyard.terms.viscous import Viscous

Array = NDArray[np.float64]
Index = NDArray[np.int64]
STEP = 6e-6  # cube root of the rounding unit: the best step of a central difference where values are near one
CONSTANT = -1


class States(NamedTuple):
    """Positions, velocities and accelerations at K instants, each (K, n) in SI."""

    q: Array
    v: Array
    a: Array


@dataclass(frozen=True)
class Elementwise:
    """Columns that are one signal of their joint, or its tanh.

    Attributes:
        rows: its feature rows.
        joints: joint of each row.
        channel: 0 for q, 1 for dq, 2 for ddq, CONSTANT for ones.
        smoothing: (rows, 1) speed of a tanh [rad/s or m/s]; None for the signal itself, zeros for its sign.
    """

    rows: slice
    joints: Index
    channel: int
    smoothing: Array | None = None

    def write(self, X: Array, states: States) -> None:
        """Put the columns into the feature rows X (F, K)."""
        if self.channel == CONSTANT:
            X[self.rows] = 1.0
            return
        signal = states[self.channel].T[self.joints]
        X[self.rows] = signal if self.smoothing is None else _saturate(signal, self.smoothing)

    def pull(self, weights: Array, states: States, rates: Array) -> None:
        """Add `sum_row weights[row] d X[row] / d signal` to rates (n, 3, K); a sharp sign has no derivative."""
        if self.channel == CONSTANT or (self.smoothing is not None and not self.smoothing.any()):
            return
        change = weights[self.rows]
        if self.smoothing is not None:
            level = _saturate(states[self.channel].T[self.joints], self.smoothing)
            change = change * (1.0 - level * level) / self.smoothing
        rates[self.joints, self.channel] += change


@dataclass(frozen=True)
class Differenced:
    """Columns of a term of which only its block is known.

    Attributes:
        robot, term: as in the model.
        rows: its feature rows.
        columns: index of the column in the term, for each row.
        joints: joint of each row.
    """

    robot: Robot
    term: Term
    rows: slice
    columns: Index
    joints: Index

    def write(self, X: Array, states: States) -> None:
        """Put the columns into the feature rows X (F, K)."""
        X[self.rows] = self._values(states).T

    def pull(self, weights: Array, states: States, rates: Array) -> None:
        """Add `sum_row weights[row] d X[row] / d signal` to rates (n, 3, K), by central differences."""
        change = weights[self.rows].T
        for channel, signal in enumerate(states):
            for joint in range(signal.shape[1]):
                sides = []
                for step in (STEP, -STEP):
                    moved = signal.copy()
                    moved[:, joint] += step
                    sides.append(self._values(states._replace(**{States._fields[channel]: moved})))
                rates[joint, channel] += np.sum(change * (sides[0] - sides[1]), axis=1) / (2.0 * STEP)

    def _values(self, states: States) -> Array:
        trajectory = Trajectory(
            time=np.arange(len(states.q), dtype=np.float64),
            joint_names=self.robot.joint_names,
            q=states.q,
            dq=states.v,
            ddq=states.a,
            source="design",
        )
        block = self.term.block(self.robot, trajectory)
        return block[:, self.columns] if block.ndim == 2 else block[:, self.joints, self.columns]


Feature = Elementwise | Differenced


def features_of(model: Model, layout: Layout, sign_speeds: Array) -> tuple[Feature, ...]:
    """The columns of all terms but the rigid bodies, in the order of `layout.extras`.

    Args:
        model: robot and terms.
        layout: of the columns that are wanted.
        sign_speeds: (n,) speed over which a sharp sign is smoothed [rad/s or m/s], zeros to keep it sharp.
    """
    features: list[Feature] = []
    first = 0
    for term, columns in layout.features:
        wanted = [(k, j) for k, column in enumerate(columns) if column.name in layout.wanted for j in column.joints]
        rows = slice(first, first + len(wanted))
        first = rows.stop
        joints = np.array([j for _, j in wanted], dtype=np.int64)
        channel = {Spring: 0, Viscous: 1, Coulomb: 1, RotorInertia: 2, Offset: CONSTANT}.get(type(term))
        if channel is None:
            place = np.array([k for k, _ in wanted], dtype=np.int64)
            features.append(Differenced(model.robot, term, rows, place, joints))
        elif isinstance(term, Coulomb):
            speeds = sign_speeds[joints] if term.smoothing == 0.0 else np.full(len(joints), term.smoothing)
            features.append(Elementwise(rows, joints, channel, speeds[:, None]))
        else:
            features.append(Elementwise(rows, joints, channel))
    return tuple(features)


def _saturate(signal: Array, speeds: Array) -> Array:
    """tanh(signal / speeds), the sign where the speeds are zero."""
    return np.tanh(signal / speeds) if speeds.any() else np.sign(signal)
