"""Whether a new model is credible beside the old one: gravity torque and mass matrix on a grid of poses."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.mass_matrix import mass_matrices
from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding
from steelyard.model import Model
from steelyard.terms.rigid_body import RigidBody

Array = NDArray[np.float64]
POSES = 256
OFF = 0.5  # of the old gravity torque or mass matrix, from which the two are said to disagree


@dataclass(frozen=True)
class Credibility:
    """New against old over poses.

    Attributes:
        joint_names: n names.
        poses: (K, n) positions looked at [rad or m].
        gravity_old, gravity_new: (n,) root mean square gravity torque of each joint [N m or N].
        gravity_difference, gravity_peak: (n,) root mean square and largest difference [N m or N].
        inertia_old, inertia_new: (n,) mean diagonal of the mass matrix [kg m2 or kg].
        inertia_difference: (n,) root mean square difference of that diagonal.
        mass_matrix: root mean square over poses of `|M_new - M_old| / |M_old|`, a fraction (Frobenius); nan
            where the old model has no mass.
        least_old, least_new: least eigenvalue of the mass matrix over the poses [kg m2, kg].
        findings: fit.mass_matrix_indefinite, fit.far_from_model.
    """

    joint_names: tuple[str, ...]
    poses: Array
    gravity_old: Array
    gravity_new: Array
    gravity_difference: Array
    gravity_peak: Array
    inertia_old: Array
    inertia_new: Array
    inertia_difference: Array
    mass_matrix: float
    least_old: float
    least_new: float
    findings: tuple[Finding, ...]


def pose_grid(model: Model, count: int = POSES) -> Array:
    """(count, n) poses that fill the position limits evenly (one turn or one metre where there are none).

    An additive recurrence `frac(k alpha)`, alpha the powers of the generalised golden ratio: as even as a lattice in
    any dimension, the same every time. Source: Roberts, The unreasonable effectiveness of quasirandom sequences, 2018.
    """
    robot = model.robot
    n = len(robot.joint_names)
    golden = 2.0
    for _ in range(64):
        golden = (1.0 + golden) ** (1.0 / (n + 1))
    share = (0.5 + np.outer(np.arange(1, count + 1), golden ** -np.arange(1.0, n + 1))) % 1.0
    span = np.where(robot.prismatic, 1.0, np.pi)
    limited = robot.lower < robot.upper
    lower = np.where(limited & np.isfinite(robot.lower), np.maximum(robot.lower, -span), -span)
    upper = np.where(limited & np.isfinite(robot.upper), np.minimum(robot.upper, span), span)
    return np.asarray(lower + share * (np.maximum(upper, lower) - lower))


def credibility(model: Model, theta: Array, old: Array, *, poses: Array | None = None) -> Credibility:
    """Compare two sets of parameters of one model pose by pose.

    Args:
        model: robot and terms.
        theta, old: (p,) new and old values of its columns; any vectors that give the right torque.
        poses: (K, n) [rad or m]; None for `pose_grid`.
    """
    q = pose_grid(model) if poses is None else poses
    gravity = [_gravity(model, values, q) for values in (old, theta)]
    matrices = [mass_matrices(model, values, q) for values in (old, theta)]
    matrices = [0.5 * (M + np.swapaxes(M, 1, 2)) for M in matrices]
    diagonal = [np.einsum("kii->ki", M) for M in matrices]
    change = np.linalg.norm(matrices[1] - matrices[0], axis=(1, 2))
    size = np.linalg.norm(matrices[0], axis=(1, 2))
    difference = gravity[1] - gravity[0]
    made = Credibility(
        joint_names=model.robot.joint_names,
        poses=q,
        gravity_old=_rms(gravity[0]),
        gravity_new=_rms(gravity[1]),
        gravity_difference=_rms(difference),
        gravity_peak=np.abs(difference).max(axis=0),
        inertia_old=diagonal[0].mean(axis=0),
        inertia_new=diagonal[1].mean(axis=0),
        inertia_difference=_rms(diagonal[1] - diagonal[0]),
        mass_matrix=float(np.sqrt(np.mean((change / size) ** 2))) if np.all(size > 0.0) else float("nan"),
        least_old=float(np.linalg.eigvalsh(matrices[0]).min()),
        least_new=float(np.linalg.eigvalsh(matrices[1]).min()),
        findings=(),
    )
    return replace(made, findings=tuple(_findings(made)))


def _gravity(model: Model, theta: Array, q: Array) -> Array:
    """(K, n) torque of the rigid bodies at rest [N m or N]."""
    rigid = {column.name for column in RigidBody().columns(model.robot)}
    weight = np.array([name in rigid for name in model.names], dtype=np.float64)
    still = np.zeros_like(q)
    motion = Trajectory(
        time=np.arange(len(q), dtype=np.float64), joint_names=model.robot.joint_names, q=q, dq=still, ddq=still
    )
    return model.torque(weight * theta, motion)


def _findings(made: Credibility) -> list[Finding]:
    findings = []
    if made.least_new <= 0.0:
        findings.append(
            Finding(
                "fit.mass_matrix_indefinite",
                "warning",
                f"within the position limits the mass matrix is not positive (least eigenvalue {made.least_new:.2g}): "
                "a simulation or an inverse of it can diverge there",
                value=made.least_new,
                cure="train on motion that reaches these poses",
            )
        )
    largest = float(made.gravity_old.max(initial=0.0))
    off = [
        joint
        for joint, old, change in zip(made.joint_names, made.gravity_old, made.gravity_difference, strict=True)
        if change > OFF * max(float(old), 0.1 * largest) and largest > 0.0
    ]
    if off:
        findings.append(
            Finding(
                "fit.far_from_model",
                "info",
                f"gravity torque differs from the model file's by more than {100 * OFF:.0f} % in {', '.join(off)}",
                ", ".join(off),
                cure="weigh a tool or a link by hand, hold a few poses and compare the torque: one of the two is wrong",
            )
        )
    return findings


def _rms(values: Array) -> Array:
    return np.asarray(np.sqrt(np.mean(values**2, axis=0)))
