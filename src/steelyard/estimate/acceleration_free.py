"""Regression without accelerations: torque as the rate of the momentum.

    tau = d/dt (M dq) - C' dq + g = d/dt (Y_p theta) + (Y(q, dq, 0) - Y_m) theta,

with the momentum `Y_p theta = M(q) dq`, `Y_p = Y(q, 0, dq) - Y(q, 0, 0)`, and `Y_m theta = dM/dt dq`, since
`C' = dM/dt - C`. A filter over both sides takes the derivative over from the signals: `F d/dt` is one filter, and no
second derivative of a position is ever formed (Slotine & Li 1987; Khosla's integral form is F = 1/s over windows).
With the same parallel filter it equals the form with accelerations; what matters is the filter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.model import Model
from steelyard.robot.regressor import dense_regressor
from steelyard.robot.robot import Robot
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.term import Column, Term

Array = NDArray[np.float64]
# First derivative on a uniform grid from four samples on either side, of order 8 (Fornberg 1988).
WEIGHTS = (4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0)
REACH = len(WEIGHTS)
STEP = 2e-3  # [rad or m] over which M is differentiated along the motion; order 4 leaves 1e-11 of it


def acceleration_free(model: Model) -> Model:
    """The model with every term in a form that does not read ddq; columns and parameters are the same.

    Absorb with a `lowpass` and estimate as ever; predict with the model itself. The first and last samples of each
    segment, as many as the filter needs to settle, should be masked: the rate of the momentum is one-sided there.

    Args:
        model: robot and terms. Terms linear in ddq must have constant coefficients of it, as `RotorInertia` has.
    """
    return Model(model.robot, tuple(_rate_form(term) for term in model.terms))


def without_acceleration(trajectory: Trajectory) -> Trajectory:
    """The recording with ddq zero, as `Model.absorb` asks for a channel that nobody reads."""
    return replace(trajectory, ddq=np.zeros(trajectory.channel("dq").shape))


def _rate_form(term: Term) -> Term:
    return _MomentumRate() if isinstance(term, RigidBody) else _RateOfTerm(term)


@dataclass(frozen=True)
class _MomentumRate:
    """The rigid bodies, as the rate of their momentum."""

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        return RigidBody().columns(robot)

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        """(T, n, 10 N) columns."""
        q, dq = robot.positions(trajectory), trajectory.channel("dq")
        none = np.zeros_like(dq)
        weight = dense_regressor(robot.tree, q, none, none)
        momentum = dense_regressor(robot.tree, q, none, dq) - weight
        block = _rate(momentum, trajectory)
        block += dense_regressor(robot.tree, q, dq, none)
        block -= _moving_mass(robot, q, dq)
        return block


@dataclass(frozen=True)
class _RateOfTerm:
    """Another term: what it has of ddq as the rate of what it has of dq."""

    term: Term

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        return self.term.columns(robot)

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        """Shaped as the term's own block."""
        dq = trajectory.channel("dq")
        still = self.term.block(robot, replace(trajectory, ddq=np.zeros_like(dq)))
        momentum = self.term.block(robot, replace(trajectory, ddq=dq)) - still
        return still + _rate(momentum, trajectory) if np.any(momentum) else still


def _moving_mass(robot: Robot, q: Array, dq: Array) -> Array:
    """(T, n, 10 N) columns of `dM/dt dq`: M differentiated along the motion, by a difference of order 4.

    The step is one of position, whatever the speed: along the unit direction, times the speed.
    """
    none = np.zeros_like(dq)
    speed = np.linalg.norm(dq, axis=1, keepdims=True)
    along = np.divide(dq, speed, out=np.zeros_like(dq), where=speed > 0.0)

    def momentum(shift: float) -> Array:
        at = q + shift * along
        return dense_regressor(robot.tree, at, none, dq) - dense_regressor(robot.tree, at, none, none)

    change = 8.0 * (momentum(STEP) - momentum(-STEP)) - (momentum(2.0 * STEP) - momentum(-2.0 * STEP))
    return np.asarray(change * (speed / (12.0 * STEP))[:, :, None])


def _rate(values: Array, trajectory: Trajectory) -> Array:
    """Time derivative, segment by segment: of order 8 inside, of order 2 in the first and last four samples."""
    rate = np.empty_like(values)
    for segment in trajectory.segments:
        part, out = values[segment], rate[segment]
        length = len(part)
        if length < 3:
            out[:] = 0.0
            continue
        step = trajectory.step
        out[:] = np.gradient(part, step, axis=0, edge_order=2)
        if length > 2 * REACH:
            inner = slice(REACH, length - REACH)
            total = np.zeros_like(part[inner])
            for k, weight in enumerate(WEIGHTS, start=1):
                total += weight * (part[REACH + k : length - REACH + k] - part[REACH - k : length - REACH - k])
            out[inner] = total / step
    return rate
