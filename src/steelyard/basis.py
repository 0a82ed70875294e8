"""Base parameters: the combinations of standard parameters that torque can tell apart, as a named matrix map.

With `Y = Y_b B` for every motion, `Y_b` the kept columns of Y and B the regrouping matrix, `theta_b = B theta` holds
all that torque says about theta (Gautier & Khalil 1990; Mayeda, Yoshida, Osuka 1990; numerically Gautier 1991).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.data.base_motion import BaseMotion
from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.model import Model

Array = NDArray[np.float64]
Class = Literal["alone", "combined", "none"]
TOLERANCE = 1e-7  # model files write right angles with nine or ten digits: what those make is no parameter
REGROUPED = 1e-9  # smaller coefficients of the regrouping are rounding
SAMPLES = 512


@dataclass(frozen=True)
class ParameterBasis:
    """A map between standard and base parameters.

    Attributes:
        names: b base parameters, each named after its representative column.
        columns: p standard parameters.
        matrix: (b, p) regrouping matrix B, `theta_b = B theta`; B[:, kept] is the identity.
        tolerance: relative distance from the columns before it under which a column is dependent.
        gap: the smallest distance kept and the largest dropped: far apart when the count can be trusted.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    matrix: Array
    tolerance: float
    gap: tuple[float, float]

    def __post_init__(self) -> None:
        self.matrix.setflags(write=False)

    @property
    def count(self) -> int:
        """Number of base parameters."""
        return len(self.names)

    def regroup(self, theta: Array) -> Array:
        """(b,) base parameters of standard ones (p,)."""
        return self.matrix @ np.asarray(theta, dtype=np.float64)

    @cached_property
    def classes(self) -> Mapping[str, Class]:
        """For each standard parameter: identifiable ``alone``, only ``combined`` with others, or without effect."""
        used = np.abs(self.matrix) > 0.0
        result: dict[str, Class] = {}
        for c, name in enumerate(self.columns):
            rows = np.flatnonzero(used[:, c])
            alone = rows.size == 1 and used[rows[0]].sum() == 1
            result[name] = "none" if rows.size == 0 else "alone" if alone else "combined"
        return result

    def expression(self, name: str, *, digits: int = 4) -> str:
        """A base parameter in words: its representative plus the standard parameters regrouped with it."""
        row = self.matrix[self.names.index(name)]
        others = [c for c in np.flatnonzero(row) if self.columns[c] != name]
        return " ".join([name, *(f"{row[c]:+.{digits}g} {self.columns[c]}" for c in others)])


def base_parameters(
    model: Model, *, tolerance: float = TOLERANCE, seed: int = 0, wrench: bool = True
) -> ParameterBasis:
    """Base parameters of a model, whatever the motion: from its regressor at random states.

    Columns are taken in their order: one is kept when its distance from the span of those before it exceeds
    `tolerance` times its own length. Links far from the base are thus regrouped into those near it (Khalil's rule),
    and the regrouping coefficients are sparse and simple.

    Args:
        model: robot and terms.
        tolerance: relative; see ParameterBasis.gap for how clear the decision was.
        seed: of the random states.
        wrench: of a robot whose base floats, whether the wrench on the base is measured: the rows of the joints alone
            tell less.

    Raises:
        StudyError: a tolerance that is none.
    """
    if not 0.0 < tolerance < 1.0:
        raise StudyError("a relative tolerance lies between 0 and 1", value=tolerance)
    if not model.robot.row_names:
        return ParameterBasis((), model.names, np.zeros((0, len(model.names))), tolerance, (1.0, 0.0))
    states = random_states(model, SAMPLES, seed=seed)
    if states.base is not None and not wrench:
        states = replace(states, base=replace(states.base, wrench=None))
    R = model.absorb([states]).stacked()[:, :-1]
    norms = np.linalg.norm(R, axis=0)
    floor = norms.max(initial=0.0) * tolerance
    Q = np.zeros((R.shape[0], 0))
    kept: list[int] = []
    distance = np.zeros(R.shape[1])
    for c in range(R.shape[1]):
        if norms[c] <= floor:
            continue
        column = R[:, c] / norms[c]
        for _ in range(2):  # twice is enough (Kahan, Parlett)
            column = column - Q @ (Q.T @ column)
        distance[c] = np.linalg.norm(column)
        if distance[c] > tolerance:
            kept.append(c)
            Q = np.column_stack([Q, column / distance[c]])
    scale = norms[kept]
    B = np.linalg.lstsq(R[:, kept] / scale, R, rcond=None)[0] / scale[:, None]
    relative = np.abs(B) * scale[:, None] / np.where(norms > floor, norms, 1.0)
    B[relative < REGROUPED] = 0.0
    B[:, norms <= floor] = 0.0
    B[:, kept] = np.eye(len(kept))
    dropped = np.delete(distance, kept)
    return ParameterBasis(
        names=tuple(model.names[c] for c in kept),
        columns=model.names,
        matrix=B,
        tolerance=tolerance,
        gap=(float(distance[kept].min(initial=1.0)), float(dropped.max(initial=0.0))),
    )


def random_states(model: Model, samples: int, *, seed: int) -> Trajectory:
    """Random positions (inside the limits, one turn or one metre where there are none), velocities, accelerations;

    of the base as well, where it floats.
    """
    rng = np.random.default_rng(seed)
    robot = model.robot
    n = len(robot.joint_names)
    span = np.where(robot.prismatic, 1.0, np.pi)
    lower = np.where(np.isfinite(robot.lower) & (robot.lower < robot.upper), np.maximum(robot.lower, -span), -span)
    upper = np.where(np.isfinite(robot.upper) & (robot.lower < robot.upper), np.minimum(robot.upper, span), span)
    return Trajectory(
        time=np.arange(samples, dtype=np.float64),
        joint_names=robot.joint_names,
        q=rng.uniform(np.minimum(lower, upper - 1e-3), upper, (samples, n)),
        dq=rng.uniform(-2.0, 2.0, (samples, n)),
        ddq=rng.uniform(-5.0, 5.0, (samples, n)),
        tau=np.zeros((samples, n)),
        name="random states",
        base=_random_base(rng, samples) if robot.floating else None,
    )


def _random_base(rng: np.random.Generator, samples: int) -> BaseMotion:
    """Any orientation (a normalised Gaussian four-vector is uniform), velocities and accelerations; no wrench."""
    quaternion = rng.normal(size=(samples, 4))
    return BaseMotion(
        orientation=quaternion / np.linalg.norm(quaternion, axis=1)[:, None],
        twist=rng.uniform(-2.0, 2.0, (samples, 6)),
        acceleration=rng.uniform(-5.0, 5.0, (samples, 6)),
        wrench=np.zeros((samples, 6)),
    )
