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
from steelyard.robot.adjoint import Gradient
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.spring import Spring
from steelyard.terms.term import Column, Term
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
        lines: panel line of each column.
        joints: its joint.
        channel: 0 for q, 1 for dq, 2 for ddq, CONSTANT for ones.
        smoothing: speed of a tanh [rad/s or m/s]; 0 for none.
        sharp: the sign of the signal instead of the signal.
    """

    lines: Index
    joints: Index
    channel: int
    smoothing: float = 0.0
    sharp: bool = False

    def write(self, panel: Array, states: States) -> None:
        """Put the columns into their panel lines (lines, K)."""
        if self.channel == CONSTANT:
            panel[self.lines, : len(states.q)] = 1.0
            return
        signal = states[self.channel].T[self.joints]
        if self.smoothing > 0.0:
            signal = np.tanh(signal / self.smoothing)
        panel[self.lines, : signal.shape[1]] = np.sign(signal) if self.sharp else signal

    def pull(self, weights: Array, states: States, gradient: Gradient) -> None:
        """Add `sum_line weights[line] d column / d signal` to the gradient; a sharp sign has no derivative."""
        if self.channel == CONSTANT or self.sharp:
            return
        change = weights[self.lines, : len(states.q)]
        if self.smoothing > 0.0:
            change = change * (1.0 - np.tanh(states[self.channel].T[self.joints] / self.smoothing) ** 2)
            change /= self.smoothing
        gradient[self.channel][:, self.joints] += change.T


@dataclass(frozen=True)
class Differenced:
    """Columns of a term of which only its block is known.

    Attributes:
        robot, term: as in the model.
        lines: panel line of each (column, joint).
        columns: index of the column in the term.
        joints: its joint.
    """

    robot: Robot
    term: Term
    lines: Index
    columns: Index
    joints: Index

    def write(self, panel: Array, states: States) -> None:
        """Put the columns into their panel lines (lines, K)."""
        panel[self.lines, : len(states.q)] = self._values(states).T

    def pull(self, weights: Array, states: States, gradient: Gradient) -> None:
        """Add `sum_line weights[line] d column / d signal`, by central differences."""
        change = weights[self.lines, : len(states.q)].T
        for channel, signal in enumerate(states):
            for joint in range(signal.shape[1]):
                sides = []
                for step in (STEP, -STEP):
                    moved = signal.copy()
                    moved[:, joint] += step
                    sides.append(self._values(states._replace(**{States._fields[channel]: moved})))
                slope = (sides[0] - sides[1]) / (2.0 * STEP)
                gradient[channel][:, joint] += np.sum(change * slope, axis=1)

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


def feature_of(robot: Robot, term: Term, columns: tuple[Column, ...], lines: dict[tuple[str, int], int]) -> Feature:
    """The columns of a term that have a line, as a feature.

    Args:
        robot: the robot of the model.
        term: any term but the rigid bodies.
        columns: all its columns.
        lines: panel line of (column name, joint), for the columns that are wanted.
    """
    wanted = [(k, j) for k, column in enumerate(columns) for j in column.joints if (column.name, j) in lines]
    at = np.array([lines[columns[k].name, j] for k, j in wanted], dtype=np.int64)
    joints = np.array([j for _, j in wanted], dtype=np.int64)
    channel = {Spring: 0, Viscous: 1, Coulomb: 1, RotorInertia: 2, Offset: CONSTANT}.get(type(term))
    if channel is None:
        return Differenced(robot, term, at, np.array([k for k, _ in wanted], dtype=np.int64), joints)
    if isinstance(term, Coulomb):
        return Elementwise(at, joints, channel, smoothing=term.smoothing, sharp=term.smoothing == 0.0)
    return Elementwise(at, joints, channel)
