"""A model that follows a reference: simulated motion and torque without measurement noise.

    M(q) ddq + h(q, dq) + f(q, dq) = tau,      tau = Kp (q_r - q) + Kd (dq_r - dq) + g(q) [+ M(q) ddq_r]

by a midpoint rule that is implicit in the controller and in friction: stiff loops and dry friction need no tiny steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.model import Model
from steelyard.preparation.align import is_uniform
from steelyard.robot.dynamics import RigidDynamics
from steelyard.robot.robot import Robot
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.term import Term

Array = NDArray[np.float64]
FASTEST = 1e3  # [rad/s or m/s] joint speed from which the simulation counts as unstable
CREEP = 0.01  # [rad/s or m/s] over which dry friction turns its sign
CHECK_EVERY = 100  # steps between looks at the mass matrix
NUDGE = 1e-3  # [rad/s or m/s] by which friction is differentiated


@dataclass(frozen=True)
class Controller:
    """A position controller at each joint.

    Attributes:
        stiffness: (n,) Kp [N m/rad or N/m].
        damping: (n,) Kd [N m s/rad or N s/m].
        gravity: whether the gravity torque of the simulated model is fed forward.
        acceleration: whether the mass matrix times the reference's acceleration is, too.

    Raises:
        StudyError: gains that are negative or not finite.
    """

    stiffness: Array
    damping: Array
    gravity: bool = True
    acceleration: bool = False

    def __post_init__(self) -> None:
        for name in ("stiffness", "damping"):
            values = np.array(getattr(self, name), dtype=np.float64)
            values.setflags(write=False)
            object.__setattr__(self, name, values)
            if values.ndim != 1 or not np.isfinite(values).all() or np.any(values < 0.0):
                raise StudyError(f"the {name} must be one finite number a joint, not negative", value=values.tolist())


def loop_gains(model: Model, theta: Array, reference: Trajectory, *, bandwidth: float = 10.0) -> Controller:
    """Critically damped loops of one bandwidth [Hz] for the mean inertia that each joint moves along a reference."""
    rigid, friction = _split(model, theta)
    dynamics = RigidDynamics(model.robot, rigid)
    own = reference.ordered(model.robot.joint_names)
    poses = own.channel("q")[:: max(1, len(own) // 50)]
    masses = [np.diag(dynamics.at(q, np.zeros_like(q)).mass) for q in poses]
    load = np.maximum(np.mean(masses, axis=0) + friction.rotor(poses[0]), 1e-9)
    rate = 2.0 * np.pi * bandwidth
    return Controller(rate**2 * load, 2.0 * rate * load)


def simulate(model: Model, theta: Array, reference: Trajectory, controller: Controller) -> Trajectory:
    """Follow a reference and return q, dq, ddq and the controller's torque at its stamps.

    Args:
        model: robot with a fixed base, and terms; dry friction turns its sign over CREEP.
        theta: (p,) values of the model's columns with a positive mass matrix.
        reference: q and dq (ddq where the controller feeds it forward) on a uniform clock; segments are simulated one
            by one, each from its first state.
        controller: gains in the order of the model's joints.

    Raises:
        DataError: a clock that is not uniform, a mass matrix that is not positive, or a simulation that runs away.
        StudyError: gains of another number of joints.
    """
    own = reference.ordered(model.robot.joint_names)
    if controller.stiffness.size != len(own.joint_names):
        raise StudyError("one gain for each joint", value=controller.stiffness.size, choices=own.joint_names)
    if not is_uniform(own):
        raise DataError("a simulation needs a uniform clock", where=own.name, cure="resample the reference")
    parts = [_segment(model, theta, own, segment, controller) for segment in own.segments]
    q, dq, ddq, tau = (np.concatenate([part[k] for part in parts]) for k in range(4))
    return Trajectory(own.time, own.joint_names, q, dq, ddq, tau, breaks=own.breaks, name=f"{own.name}, simulated")


def _segment(
    model: Model, theta: Array, reference: Trajectory, segment: slice, controller: Controller
) -> tuple[Array, Array, Array, Array]:
    rigid, friction = _split(model, theta)
    dynamics = RigidDynamics(model.robot, rigid)
    goal, rate = reference.channel("q")[segment], reference.channel("dq")[segment]
    push = reference.channel("ddq")[segment] if controller.acceleration else np.zeros_like(goal)
    step, n = reference.step, goal.shape[1]
    Kp, Kd = controller.stiffness, controller.damping
    q, dq, tau = np.zeros((3, len(goal), n))
    q[0], dq[0] = goal[0], rate[0]
    rotor = friction.rotor(goal[0])
    a = np.zeros(n)
    for k in range(len(goal)):
        ahead = min(k + 1, len(goal) - 1)
        middle, speed = q[k] + 0.5 * step * dq[k], dq[k] + 0.5 * step * a
        state = dynamics.at(middle, speed)
        drag, slope = friction.at(middle, speed)
        mass = state.mass + np.diag(rotor)
        forward = (state.gravity if controller.gravity else 0.0) + mass @ (0.5 * (push[k] + push[ahead]))
        if k == 0:
            tau[0] = Kp * (goal[0] - q[0]) + Kd * (rate[0] - dq[0]) + forward
        wanted = Kp * (0.5 * (goal[k] + goal[ahead]) - middle) + Kd * (0.5 * (rate[k] + rate[ahead]) - dq[k])
        rest = wanted + forward - state.bias - drag + slope * (speed - dq[k])
        if k % CHECK_EVERY == 0:
            _check_mass(mass, f"{reference.name} at {reference.time[segment][k]:.3f} s")
        a = np.linalg.solve(mass + np.diag(0.5 * step * (slope + Kd) + 0.25 * step**2 * Kp), rest)
        if ahead > k:
            dq[ahead] = dq[k] + step * a
            q[ahead] = middle + 0.5 * step * dq[ahead]
            if not np.all(np.abs(dq[ahead]) < FASTEST):
                raise DataError(
                    "the simulation ran away",
                    where=f"{reference.name}, joint {reference.joint_names[int(np.argmax(np.abs(dq[ahead])))]}",
                    value=f"at {reference.time[segment][k]:.3f} s",
                    cure="lower the gains or shorten the step",
                )
            g = dynamics.at(q[ahead], dq[ahead])
            held = (g.gravity if controller.gravity else 0.0) + (g.mass + np.diag(rotor)) @ push[ahead]
            tau[ahead] = Kp * (goal[ahead] - q[ahead]) + Kd * (rate[ahead] - dq[ahead]) + held
    return q, dq, np.gradient(dq, step, axis=0), tau


def _check_mass(mass: Array, where: str) -> None:
    least = float(np.linalg.eigvalsh(0.5 * (mass + mass.T))[0])
    if not least > 0.0:
        raise DataError(
            "the model's mass matrix is not positive: nothing can be simulated with it",
            where=where,
            value=least,
            cure="start from physically consistent parameters, e.g. those of the model file",
        )


@dataclass(frozen=True)
class _Friction:
    """All terms but the rigid bodies, at one state; whatever turns its sign with dq does so over CREEP.

    Attributes:
        robot: of the model.
        parts: for each term its (k,) parameters and the joint of each column.
    """

    robot: Robot
    parts: tuple[tuple[Term, Array, tuple[int, ...]], ...]

    def rotor(self, q: Array) -> Array:
        """(n,) torque per unit of each joint's own acceleration."""
        still, turned = self._torque(q, np.zeros((2, q.size)), np.array([np.zeros(q.size), np.ones(q.size)]))
        return turned - still

    def at(self, q: Array, dq: Array) -> tuple[Array, Array]:
        """(n,) torque and its slope by dq, `(f(|v|) + f(-|v|)) / 2 + tanh(v / CREEP) (f(|v|) - f(-|v|)) / 2`."""
        speed = np.maximum(np.abs(dq), 1e-9)
        speeds = np.array([speed, -speed, speed + NUDGE, -speed - NUDGE])
        values = self._torque(q, speeds, np.zeros_like(speeds))
        even, odd = 0.5 * (values[0] + values[1]), 0.5 * (values[0] - values[1])
        later = 0.5 * (values[2] - values[3])
        turn = np.tanh(dq / CREEP)
        slope = odd * (1.0 - turn**2) / CREEP + np.abs(turn) * (later - odd) / NUDGE
        return even + turn * odd, np.maximum(slope, 0.0)

    def _torque(self, q: Array, dq: Array, ddq: Array) -> Array:
        count = len(dq)
        states = Trajectory(
            np.arange(count, dtype=np.float64), self.robot.joint_names, q=np.tile(q, (count, 1)), dq=dq, ddq=ddq,
            source="state",
        )  # fmt: skip
        total = np.zeros(dq.shape)
        for term, values, joints in self.parts:
            block = term.block(self.robot, states)
            if block.ndim == 3:
                total += block @ values
            else:
                np.add.at(total.T, list(joints), (block * values).T)
        return total


def _split(model: Model, theta: Array) -> tuple[Array, _Friction]:
    """Rigid-body parameters (10 N,) and the rest."""
    theta = np.asarray(theta, dtype=np.float64)
    place = dict(zip(model.names, theta, strict=True))
    rigid = np.array([place.get(column.name, 0.0) for column in RigidBody().columns(model.robot)])
    parts = []
    for term in model.terms:
        columns = term.columns(model.robot)
        values = np.array([place[column.name] for column in columns])
        if not isinstance(term, RigidBody) and np.any(values):
            parts.append((term, values, tuple(column.joints[0] for column in columns)))
    return rigid, _Friction(model.robot, tuple(parts))
