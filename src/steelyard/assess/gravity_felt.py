"""The gravity that a torque has felt: a vector fitted to it, with the masses of the model file.

Gravity torque is linear in the gravity vector, `g(q) = G(q) x`. With everything else that a joint's torque holds
(inertia, friction, offset) free for each joint, and x the same for all of them, the torque of a whole arm tells x: its
direction to a degree or two on real robots, however they are mounted, its size as well as the file knows the masses.
Near zero it says that gravity was taken off the torque.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.torque_story import Court, companions
from steelyard.model import Model

Array = NDArray[np.float64]
REPEATED = 5.0  # samples of a low-passed motion that count as one
SETTLES = 4  # re-weightings of the joints
CERTAIN = 0.3  # [m/s2] deviation below which the vector can be believed


@dataclass(frozen=True)
class GravityFelt:
    """A fitted gravity vector.

    Attributes:
        vector: in the base frame [m/s2].
        deviation: of each component [m/s2]; infinite where the motion does not tell.
        expected: what the model says [m/s2].
    """

    vector: tuple[float, float, float]
    deviation: tuple[float, float, float]
    expected: tuple[float, float, float]

    @property
    def size(self) -> float:
        """Length of the vector [m/s2]."""
        return float(np.linalg.norm(self.vector))

    @property
    def certain(self) -> bool:
        """Whether every component is known to a few hundredths of standard gravity."""
        return max(self.deviation) < CERTAIN

    @property
    def multiple(self) -> float:
        """The part along the gravity expected, over it; 0 where none is expected."""
        size = float(np.dot(self.expected, self.expected))
        return float(np.dot(self.vector, self.expected)) / size if size > 0.0 else 0.0

    @property
    def angle(self) -> float:
        """Between the vector and what is expected [rad]; pi / 2 where one of them is zero."""
        size = self.size * float(np.linalg.norm(self.expected))
        cosine = float(np.dot(self.vector, self.expected)) / size if size > 0.0 else 0.0
        return float(np.arccos(np.clip(cosine, -1.0, 1.0)))


def gravity_felt(court: Court) -> GravityFelt:
    """Fit the gravity vector to the samples as they are told."""
    motion, model = court.motion, court.model
    rest = np.zeros_like(motion.channel("q"))
    still = replace(motion, dq=rest, ddq=rest)
    nominal = np.where([name.endswith("friction") for name in model.names], 0.0, model.nominal)
    unit = [Model(replace(model.robot, gravity=e), model.terms).torque(nominal, still) for e in np.eye(3)]
    per_unit, tau = np.stack(unit, axis=2), motion.channel("tau")
    rows, rest_of = [], []
    for j in range(tau.shape[1]):
        beside = np.column_stack([companions(motion, court.expected, j), np.ones(len(motion))])
        scale = np.linalg.norm(beside, axis=0)
        U, values, _ = np.linalg.svd(beside[:, scale > 0.0] / scale[scale > 0.0], full_matrices=False)
        span = U[:, values > 1e-9 * values[0]]
        rows.append(per_unit[:, j] - span @ (span.T @ per_unit[:, j]))
        rest_of.append(tau[:, j] - span @ (span.T @ tau[:, j]))
    vector, deviation = _weighted(rows, rest_of)
    g = model.robot.gravity
    return GravityFelt(_three(vector), _three(deviation), (float(g[0]), float(g[1]), float(g[2])))


def _weighted(rows: list[Array], torques: list[Array]) -> tuple[Array, Array]:
    """Least squares with the joints weighted by what is left of them, and the deviations of the solution."""
    weights = [1.0 / max(float(np.linalg.norm(t)), 1e-12) for t in torques]
    for _ in range(SETTLES):
        A = np.vstack([w * r for w, r in zip(weights, rows, strict=True)])
        y = np.concatenate([w * t for w, t in zip(weights, torques, strict=True)])
        vector = np.linalg.lstsq(A, y, rcond=1e-6)[0]
        weights = [1.0 / max(float(np.linalg.norm(t - r @ vector)), 1e-12) for r, t in zip(rows, torques, strict=True)]
    variance = REPEATED * float(np.mean((y - A @ vector) ** 2))
    _, values, Vt = np.linalg.svd(A, full_matrices=False)
    with np.errstate(divide="ignore"):
        spread = np.where(values > 1e-6 * max(float(values[0]), 1e-300), np.sqrt(variance) / values, np.inf)
    with np.errstate(invalid="ignore"):
        deviation = np.sqrt(np.nansum((Vt.T * spread) ** 2, axis=1))
    return vector, deviation


def _three(values: Array) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])
