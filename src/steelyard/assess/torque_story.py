"""Which story fits the torque: the recording as it is, or with two joints exchanged, a sign turned, gravity taken off.

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
Kind = Literal["as_recorded", "joints_exchanged", "torques_exchanged", "torque_turned", "no_gravity"]
TURNING = 0.03  # [rad/s or m/s] over which friction turns its sign, for the first judge
EXACT = 1e-8  # share of a joint's torque variance below which a better fit is no better story
SETTLES = 3  # re-weightings of the second judge


@dataclass(frozen=True)
class Story:
    """A reading of the recording.

    Attributes:
        kind: what is supposed to have happened.
        joints: whom it concerns, indices into the robot's joints.
    """

    kind: Kind
    joints: tuple[int, ...] = ()


NO_GRAVITY = Story("no_gravity")


@dataclass(frozen=True)
class Unexplained:
    """How much torque a story leaves unexplained.

    Attributes:
        directions: (n,) share of each joint's torque variance left by the first judge.
        geometry: (n,) the same by the second.
        gravity: (n,) the multiple a of the file's gravity torque that fits best.
        gravity_contrast: (n,) deviation of the file's gravity torque over that of what is left.
    """

    directions: Array
    geometry: Array
    gravity: Array
    gravity_contrast: Array


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
        model, basis: of the robot; weightless, weightless_basis: of the robot without gravity.
    """

    motion: Trajectory
    expected: Expected
    model: Model
    basis: ParameterBasis
    weightless: Model
    weightless_basis: ParameterBasis

    def as_told(self) -> Unexplained:
        """Let both judges look at the samples as they are told so far."""
        geometry = _judge_geometry(self.model, self.basis, self.motion)
        left = Unexplained(np.ones_like(geometry), geometry, np.zeros_like(geometry), np.zeros_like(geometry))
        for joint in range(geometry.size):
            left = _judge_direction(left, joint, self.motion, self.expected, lifted=False)
        return left

    def judge(self, story: Story, *, than: Unexplained, against: float) -> Unexplained | None:
        """Let both judges look at a story, if the first sees a gain of more than `against` in it over `than`."""
        motion = apply_story(self.motion, story)
        expected = expected_torque(self.model, motion) if story.kind == "joints_exchanged" else self.expected
        lifted = story.kind == "no_gravity"
        first = than
        for joint in story.joints if story.kind in ("torque_turned", "torques_exchanged") else range(len(than.gravity)):
            first = _judge_direction(first, joint, motion, expected, lifted=lifted)
        if mean_gain(than.directions, first.directions) <= against:
            return None
        model, basis = (self.weightless, self.weightless_basis) if lifted else (self.model, self.basis)
        return replace(first, geometry=_judge_geometry(model, basis, motion))

    def adopt(self, story: Story) -> Court:
        """The court after a story has been believed."""
        motion = apply_story(self.motion, story)
        return replace(self, motion=motion, expected=expected_torque(self.model, motion))


def open_court(robot: Robot, reduced: ReducedMotion) -> Court:
    """Prepare the judges."""
    terms = (RigidBody(), RotorInertia(), Viscous(), Coulomb(), Offset())
    model = Model(robot, terms)
    weightless = Model(replace(robot, gravity=np.zeros(3)), terms)
    motion = pick(reduced.thin, np.flatnonzero(reduced.settled))
    return Court(
        motion,
        expected_torque(model, motion),
        model,
        base_parameters(model),
        weightless,
        base_parameters(weightless),
    )


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
    """Everything that may have happened once, but for gravity, which has a judgement of its own."""
    yield from (Story("torque_turned", (j,)) for j in range(joints))
    yield Story("torque_turned", tuple(range(joints)))
    for pair in combinations(range(joints), 2):
        yield Story("joints_exchanged", pair)
        yield Story("torques_exchanged", pair)


def apply_story(trajectory: Trajectory, story: Story) -> Trajectory:
    """The same samples with columns exchanged or turned as the story says; joints as the story numbers them."""
    order = np.arange(len(trajectory.joint_names))
    if story.kind == "torque_turned":
        sign = np.ones(order.size)
        sign[list(story.joints)] = -1.0
        return replace(trajectory, tau=trajectory.channel("tau") * sign, source="")
    if story.kind not in ("joints_exchanged", "torques_exchanged"):
        return trajectory
    order[list(story.joints)] = story.joints[::-1]
    channels = ("q", "dq", "ddq", "tau") if story.kind == "joints_exchanged" else ("tau",)
    parts = {c: getattr(trajectory, c)[:, order] for c in channels if getattr(trajectory, c) is not None}
    return replace(trajectory, source="", **parts)


def _judge_direction(
    left: Unexplained, joint: int, motion: Trajectory, expected: Expected, *, lifted: bool
) -> Unexplained:
    """`left` with the first judge's opinion of one joint; `lifted` leaves gravity out."""
    torque, speed = motion.channel("tau")[:, joint], motion.channel("dq")[:, joint]
    gravity, inertial = expected.gravity[:, joint], expected.inertial[:, joint]
    columns = np.column_stack([gravity, inertial, motion.channel("ddq")[:, joint], speed, np.tanh(speed / TURNING)])
    columns, torque = columns - columns.mean(axis=0), torque - torque.mean()  # the offset takes every mean
    size, scale = float(torque @ torque), np.linalg.norm(columns, axis=0)
    # what rounding leaves of a column that is zero (gravity about a vertical axis) is no column
    real = scale > 1e-9 * scale.max(initial=1e-300)
    real[0] &= not lifted and scale[0] > 1e-6 * np.sqrt(size)
    weights, rest = _nonnegative(columns[:, real] / scale[real], torque)
    directions, multiple, contrast = (
        np.array(values) for values in (left.directions, left.gravity, left.gravity_contrast)
    )
    directions[joint] = max(rest**2 / size, EXACT) if size > 0.0 else 1.0
    multiple[joint] = weights[0] / scale[0] if real[0] else 0.0
    contrast[joint] = scale[0] / rest if rest > 0.0 else np.inf
    return replace(left, directions=directions, gravity=multiple, gravity_contrast=contrast)


def _nonnegative(columns: Array, torque: Array) -> tuple[Array, float]:
    """Nonnegative least squares on the triangle of the columns: weights and norm of the rest."""
    from scipy.optimize import nnls

    factor = triangle(np.column_stack([columns, torque]))
    weights, rest = nnls(factor[:, :-1], factor[:, -1])
    return weights, float(rest)


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
