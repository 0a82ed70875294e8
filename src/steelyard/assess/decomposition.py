"""Torque term by term: a good sum of large terms that cancel is not a model one can believe."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding
from steelyard.model import Model
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.spring import Spring

Array = NDArray[np.float64]
Effect = Literal["gravity", "inertia", "coriolis", "rotor", "friction", "offset", "spring"]
EFFECTS: tuple[Effect, ...] = ("gravity", "inertia", "coriolis", "rotor", "friction", "offset", "spring")
CANCEL = 3.0  # times the torque of the joint, from which two terms that oppose each other are named
OPPOSED = -0.9  # correlation of two terms from which they cancel
SAMPLES = 400


@dataclass(frozen=True)
class Decomposition:
    """Torque of each effect along a motion.

    Attributes:
        joint_names: n names.
        effects: those that the model has, in order.
        torque: (E, T, n) [N m or N]; their sum is the model's torque.
    """

    joint_names: tuple[str, ...]
    effects: tuple[Effect, ...]
    torque: Array

    @property
    def rms(self) -> Array:
        """(E, n) root mean square of each effect [N m or N]."""
        return np.asarray(np.sqrt(np.mean(self.torque**2, axis=1)))


def effect_of_columns(model: Model) -> tuple[Effect | Literal["rigid"], ...]:
    """For each column the effect it belongs to; what is no body, rotor, offset or spring is friction."""
    kinds: tuple[tuple[type, Effect | Literal["rigid"]], ...] = (
        (RigidBody, "rigid"),
        (RotorInertia, "rotor"),
        (Offset, "offset"),
        (Spring, "spring"),
    )
    effects: list[Effect | Literal["rigid"]] = []
    for term in model.terms:
        own = [effect for kind, effect in kinds if isinstance(term, kind)] or ["friction"]
        effects += own[:1] * len(term.columns(model.robot))
    return tuple(effects)


def decompose(model: Model, theta: Array, motion: Trajectory) -> Decomposition:
    """Split `tau = M(q) ddq + C(q, dq) dq + g(q) + rotor + friction + offset + spring` along a motion.

    Every part of the rigid-body torque is itself that of some motion (the same positions at rest, or unaccelerated), so
    that base parameters give each of them; a rotor inertia that torque cannot tell from its link stands in inertia.

    Args:
        model: robot and terms.
        theta: (p,) values of the model's columns.
        motion: with q, dq, ddq.
    """
    column = np.array(effect_of_columns(model))
    rigid = np.where(column == "rigid", theta, 0.0)
    zero = np.zeros_like(motion.channel("q"))
    gravity = model.torque(rigid, replace(motion, dq=zero, ddq=zero))
    unaccelerated = model.torque(rigid, replace(motion, ddq=zero))
    parts: dict[Effect, Array] = {
        "gravity": gravity,
        "inertia": model.torque(rigid, motion) - unaccelerated,
        "coriolis": unaccelerated - gravity,
    }
    for effect in EFFECTS[3:]:
        if np.any(column == effect):
            parts[effect] = model.torque(np.where(column == effect, theta, 0.0), motion)
    return Decomposition(motion.joint_names, tuple(parts), np.array(list(parts.values())))


@dataclass(frozen=True)
class ColumnTorque:
    """Root mean square torque that each parameter alone causes, and how parameters oppose each other.

    Attributes:
        names: p columns.
        rms: (p, n) [N m or N].
        opposed: the pairs of columns that cancel in a joint: (joint, first, second, how many times its torque).
    """

    names: tuple[str, ...]
    rms: Array
    opposed: tuple[tuple[str, str, str, float], ...]


def column_torque(model: Model, theta: Array, motion: Trajectory) -> ColumnTorque:
    """The torque of each column, `Y_c theta_c`, along a thinned motion.

    Args:
        model: robot and terms.
        theta: (p,) values of the model's columns.
        motion: with q, dq, ddq.
    """
    rows = np.unique(np.linspace(0, len(motion) - 1, min(len(motion), SAMPLES)).astype(np.intp))
    q, dq, ddq = (motion.channel(name)[rows] for name in ("q", "dq", "ddq"))
    clock = np.arange(len(rows), dtype=np.float64)
    thin = Trajectory(time=clock, joint_names=motion.joint_names, q=q, dq=dq, ddq=ddq)
    parts = model.regressor(thin) * theta
    opposed = []
    for j, joint in enumerate(motion.joint_names):
        own = parts[:, j, :]
        size = float(np.sqrt(np.mean(own.sum(axis=1) ** 2)))
        opposed += [(joint, model.names[a], model.names[b], by) for a, b, by in _opposed(own, size)]
    return ColumnTorque(model.names, np.sqrt(np.mean(parts**2, axis=0)).T, tuple(opposed))


def _opposed(parts: Array, size: float) -> list[tuple[int, int, float]]:
    """Pairs of columns of (T, p) torques that are each CANCEL times larger than the sum and of opposite sign."""
    rms = np.sqrt(np.mean(parts**2, axis=0))
    large = np.flatnonzero(rms > CANCEL * size) if size > 0.0 else np.zeros(0, dtype=np.intp)
    found = []
    for i, a in enumerate(large):
        for b in large[i + 1 :]:
            if parts[:, a] @ parts[:, b] < OPPOSED * len(parts) * rms[a] * rms[b]:
                found.append((int(a), int(b), float(min(rms[a], rms[b]) / size)))
    return sorted(found, key=lambda pair: -pair[2])


def cancellation_findings(effects: Decomposition, columns: ColumnTorque) -> list[Finding]:
    """Joints in which large terms take each other away: whole effects first, else single parameters."""
    findings = []
    for j, joint in enumerate(effects.joint_names):
        parts = effects.torque[:, :, j].T
        size = float(np.sqrt(np.mean(parts.sum(axis=1) ** 2)))
        pairs: Sequence[tuple[str, str, float]] = [
            (effects.effects[a], effects.effects[b], by) for a, b, by in _opposed(parts, size)
        ] or [(a, b, by) for own, a, b, by in columns.opposed if own == joint]
        if pairs:
            first, second, by = pairs[0]
            more = f" (and {len(pairs) - 1} pairs more)" if len(pairs) > 1 else ""
            findings.append(
                Finding(
                    "fit.cancelling_terms",
                    "warning",
                    f"in the torque of {joint}, {first} and {second} cancel: each is over {by:.1f} times the sum{more}",
                    joint,
                    by,
                    "the motion does not tell them apart: add motion that does (other speeds, poses, accelerations) or "
                    "leave one of the two out; their single values mean nothing until then",
                )
            )
    return findings
