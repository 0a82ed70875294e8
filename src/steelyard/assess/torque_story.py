"""Which story fits the torque: the recording as it is, or joints exchanged, a sign turned, gravity gone or elsewhere.

Two judges who trust different things must agree.

The first trusts the model file's directions, not its sizes: each joint's torque is explained by nonnegative multiples
of the gravity and of the inertial torque of the file, of acceleration, speed and direction of motion (rotor inertia,
viscous and Coulomb friction dissipate), and an offset:

    tau_j = a g_j(q) + b (M ddq + c)_j + Ia ddq_j + fv dq_j + fc sign(dq_j) + o,    a, b, Ia, fv, fc >= 0.

The second trusts the geometry alone: all inertial parameters and friction are fitted to all joints together.
A joint whose gravity drowns in friction, or whose inertials are placeholders, changes neither judge's mind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.reduced_motion import ReducedMotion, pick
from steelyard.basis import ParameterBasis, base_parameters
from steelyard.data.trajectory import Trajectory
from steelyard.estimate.least_squares import solve
from steelyard.information import triangle
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.viscous import Viscous

Array = NDArray[np.float64]
Kind = Literal["joints_exchanged", "torques_exchanged", "torque_turned", "gravity"]
TURNING = 0.03  # [rad/s or m/s] over which friction turns its sign, for the first judge
EXACT = 1e-8  # share of a joint's torque variance below which a better fit is no better story
SETTLES = 3  # re-weightings of the second judge
SAMPLES = 2000  # looked at, evenly picked


@dataclass(frozen=True)
class Story:
    """A reading of the recording.

    Attributes:
        kind: what is supposed to have happened.
        joints: whom it concerns, indices into the robot's joints.
        gravity: where the kind is ``gravity``: what the torque has felt, in the base frame [m/s2].
    """

    kind: Kind
    joints: tuple[int, ...] = ()
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Unexplained:
    """How much torque a story leaves unexplained.

    Attributes:
        directions: (n,) share of each joint's torque variance left by the first judge.
        geometry: (n,) the same by the second.
    """

    directions: Array
    geometry: Array


@dataclass(frozen=True)
class Expected:
    """Torque of the model file along the samples, without friction: (T, n) of gravity and of inertia [N m or N]."""

    gravity: Array
    inertial: Array


@dataclass(frozen=True)
class Court:
    """What the judges know.

    Attributes:
        motion: the samples as they are told so far.
        expected: torque of the model file along them.
        model, basis: of the robot under the gravity told so far.
    """

    motion: Trajectory
    expected: Expected
    model: Model
    basis: ParameterBasis

    def as_told(self) -> Unexplained:
        """Let both judges look at the samples as they are told so far."""
        geometry = _judge_geometry(self.model, self.basis, self.motion)
        everyone = range(geometry.size)
        return Unexplained(_judge_directions(geometry, everyone, self.motion, self.expected), geometry)

    def judge(self, story: Story, *, than: Unexplained, against: float) -> Unexplained | None:
        """Let both judges look at a story, if the first sees a gain of more than `against` in it over `than`."""
        other = self._retold(story)
        concerned = story.joints if story.kind in ("torque_turned", "torques_exchanged") else range(than.geometry.size)
        directions = _judge_directions(than.directions, concerned, other.motion, other.expected)
        if mean_gain(than.directions, directions) <= against:
            return None
        if story.kind == "gravity":
            other = replace(other, basis=base_parameters(other.model))
        return Unexplained(directions, _judge_geometry(other.model, other.basis, other.motion))

    def adopt(self, story: Story) -> Court:
        """The court after a story has been believed."""
        told = self._retold(story)
        return replace(told, basis=base_parameters(told.model)) if story.kind == "gravity" else told

    def _retold(self, story: Story) -> Court:
        """Samples and expectations under a story, the basis left as it is."""
        if story.kind == "gravity":
            model = model_of(replace(self.model.robot, gravity=np.array(story.gravity)))
            return replace(self, model=model, expected=expected_torque(model, self.motion))
        motion = apply_story(self.motion, story)
        moved = story.kind == "joints_exchanged"
        return replace(self, motion=motion, expected=expected_torque(self.model, motion) if moved else self.expected)


def model_of(robot: Robot) -> Model:
    """Rigid bodies, rotor inertia, friction and offset of a robot: all that the checks of torque fit."""
    return Model(robot, (RigidBody(), RotorInertia(), Viscous(), Coulomb(), Offset()))


def open_court(robot: Robot, reduced: ReducedMotion) -> Court:
    """Prepare the judges."""
    model = model_of(robot)
    rows = np.flatnonzero(reduced.settled)
    motion = pick(reduced.thin, rows[np.linspace(0, rows.size - 1, min(rows.size, SAMPLES)).astype(int)])
    return Court(motion, expected_torque(model, motion), model, base_parameters(model))


def expected_torque(model: Model, motion: Trajectory) -> Expected:
    """Gravity and inertial torque of the model file; its friction is left out."""
    nominal = np.where([name.endswith("friction") for name in model.names], 0.0, model.nominal)
    rest = np.zeros_like(motion.channel("q"))
    gravity = model.torque(nominal, replace(motion, dq=rest, ddq=rest))
    return Expected(gravity, model.torque(nominal, motion) - gravity)


def mean_gain(before: Array, after: Array) -> float:
    """Mean over the joints of log(share left before / share left after)."""
    return float(np.mean(np.log(before / after)))


def stories(joints: int) -> Iterator[Story]:
    """Everything that may have happened to columns once; what gravity may have done is fitted, not tried."""
    yield from (Story("torque_turned", (j,)) for j in range(joints))
    yield Story("torque_turned", tuple(range(joints)))
    for pair in combinations(range(joints), 2):
        yield Story("joints_exchanged", pair)
        yield Story("torques_exchanged", pair)


def apply_story(trajectory: Trajectory, story: Story) -> Trajectory:
    """The same samples with columns exchanged or turned as the story says; joints as the story numbers them."""
    if story.kind == "gravity":
        return trajectory
    order = np.arange(len(trajectory.joint_names))
    if story.kind == "torque_turned":
        sign = np.ones(order.size)
        sign[list(story.joints)] = -1.0
        return replace(trajectory, tau=trajectory.channel("tau") * sign, source="")
    order[list(story.joints)] = story.joints[::-1]
    channels = ("q", "dq", "ddq", "tau") if story.kind == "joints_exchanged" else ("tau",)
    parts = {c: getattr(trajectory, c)[:, order] for c in channels if getattr(trajectory, c) is not None}
    return replace(trajectory, source="", **parts)


def companions(motion: Trajectory, expected: Expected, joint: int) -> Array:
    """(T, 4) what a joint's torque holds beside gravity: inertial torque, acceleration, speed, direction of motion."""
    speed, acceleration = motion.channel("dq")[:, joint], motion.channel("ddq")[:, joint]
    return np.column_stack([expected.inertial[:, joint], acceleration, speed, np.tanh(speed / TURNING)])


def _judge_directions(
    before: Array, concerned: range | tuple[int, ...], motion: Trajectory, expected: Expected
) -> Array:
    """`before` with the shares left of the joints concerned."""
    left = np.array(before)
    for joint in concerned:
        torque = motion.channel("tau")[:, joint]
        columns = np.column_stack([expected.gravity[:, joint], companions(motion, expected, joint)])
        columns, torque = columns - columns.mean(axis=0), torque - torque.mean()  # the offset takes every mean
        size, scale = float(torque @ torque), np.linalg.norm(columns, axis=0)
        # what rounding leaves of a column that is zero (gravity about a vertical axis) is no column
        real = scale > 1e-9 * scale.max(initial=1e-300)
        real[0] &= scale[0] > 1e-6 * np.sqrt(size)
        rest = _nonnegative_rest(columns[:, real] / scale[real], torque)
        left[joint] = max(rest**2 / size, EXACT) if size > 0.0 else 1.0
    return left


def _nonnegative_rest(columns: Array, torque: Array) -> float:
    """Norm that nonnegative multiples of the columns leave of the torque, by way of the triangle of both."""
    from scipy.optimize import nnls

    if columns.shape[1] == 0:  # scipy's solver ends the process on a matrix without columns
        return float(np.linalg.norm(torque))
    factor = triangle(np.column_stack([columns, torque]))
    return float(nnls(factor[:, :-1], factor[:, -1])[1])


def _judge_geometry(model: Model, basis: ParameterBasis, motion: Trajectory) -> Array:
    """Share of each joint's torque variance left by a weighted fit of all parameters."""
    info = model.absorb([motion], names=basis.names)
    tau = motion.channel("tau")
    size = np.sum((tau - tau.mean(axis=0)) ** 2, axis=0)
    size = np.where(size > 0.0, size, 1.0)
    weights = 1.0 / size
    for _ in range(SETTLES):
        left = np.maximum(info.misfit(solve(info, weights)) / size, EXACT)
        weights = 1.0 / (size * left)
    return left
