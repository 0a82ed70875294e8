"""What is believed before the data: a Gaussian about the model file's values, with scales that bodies have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.estimate.doubted_links import doubted_links
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.robot.inertia import transform
from steelyard.terms.rigid_body import RigidBody

Array = NDArray[np.float64]
MASS_SHARE = 0.3  # deviation of a body's mass, as a share of its nominal mass
RADIUS = 0.1  # [m] lever by which the deviation of first moments and inertia grows
WIDE_RADIUS = 0.3  # [m] the same of a link whose inertial was filled in
LEAST_MASS = 1e-3  # [kg] taken for bodies without nominal mass
ROTOR_RADIUS = 0.2  # [m] at which the moving mass would have the inertia that a drive may well have
LOAD_SHARE = 0.1  # deviation of friction over load: a gear that loses a fifth of what it carries is a poor one
OFFSET_SHARE = 0.03  # deviation of a joint's offset, as a share of the rms torque it carried


@dataclass(frozen=True)
class Prior:
    """A Gaussian on columns of a model, independent unless `joint` is given.

    Attributes:
        names: p columns.
        mean: (p,) in the unit of each.
        deviation: (p,) infinite where nothing is believed.
        doubted: columns of bodies whose inertials in the file were filled in: trust in the file is not about them.
        joint: (m, p + 1) square-root information `[R | z]`, `|R theta - z|^2`, of parameters believed together.
    """

    names: tuple[str, ...]
    mean: Array
    deviation: Array
    joint: Array | None = None
    doubted: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for array in (self.mean, self.deviation):
            array.setflags(write=False)

    def rows(self) -> Array:
        """(m, p + 1) square-root information, `[1/s | m/s]` where independent; zero where nothing is believed."""
        if self.joint is not None:
            return self.joint
        root = 1.0 / self.deviation
        return np.column_stack([np.diag(root), root * self.mean])

    def scaled(self, factor: float) -> Prior:
        """The same means with deviations `factor` times as wide."""
        joint = None if self.joint is None else self.joint / factor
        return Prior(self.names, self.mean, self.deviation * factor, joint, self.doubted)


def joint_prior(names: tuple[str, ...], rows: Array) -> Prior:
    """The Gaussian of square-root information (m, p + 1) on p columns."""
    lengths = np.linalg.norm(rows[:, :-1], axis=0)
    believed = lengths > 0.0
    scaled = rows[:, :-1][:, believed] / lengths[believed]
    half = np.linalg.pinv(scaled, rcond=1e-12) / lengths[believed][:, None]
    mean, deviation = np.zeros(len(names)), np.full(len(names), np.inf)
    mean[believed], deviation[believed] = half @ rows[:, -1], np.linalg.norm(half, axis=1)
    return Prior(names, mean, deviation, rows)


def regrouped_rows(prior: Prior, basis: ParameterBasis) -> Array:
    """(m, b + 1) what a prior on all columns says of the base parameters: `N(B m, B diag(d^2) B')`.

    Of base parameters in which a column occurs of which nothing is believed, nothing is.
    """
    unknown = ~np.isfinite(prior.deviation)
    kept = ~(basis.matrix[:, unknown] != 0.0).any(axis=1)
    half = basis.matrix[kept][:, ~unknown] * prior.deviation[~unknown]
    scale = np.linalg.norm(half, axis=1)
    root = np.linalg.inv(np.linalg.cholesky((half / scale[:, None]) @ (half / scale[:, None]).T)) / scale
    rows = np.zeros((len(root), basis.count + 1))
    rows[:, np.flatnonzero(kept)] = root
    rows[:, -1] = root @ (basis.matrix[kept][:, ~unknown] @ prior.mean[~unknown])
    return rows


def physical_prior(model: Model, info: SquareRootInformation) -> Prior:
    """The model file's values, with deviations 0.3 M, 0.3 M r and 0.3 M r^2 of a body of nominal mass M, r = 0.1 m.

    Offsets are believed to be small beside the torque of their joint, rotor inertias to be no more than the moving mass
    would have 0.2 m from the axis: in a slow motion they could be anything. Friction is left free, but for that over
    load. Links of `doubted_links` get the deviations M, M r and M r^2 of r = 0.3 m (the inertia alone, where the mass
    is believed) about a possible inertia.

    Args:
        model: robot and terms.
        info: of the training data, for the torque that each joint carried.
    """
    deviation = np.full(len(model.names), np.inf)
    place = {name: k for k, name in enumerate(model.names)}
    rigid = RigidBody().columns(model.robot)
    scale = np.array([1.0, *(RADIUS,) * 3, *(RADIUS**2,) * 6])
    for body in range(len(model.robot.joints)):
        mass = max(float(model.robot.parameters[10 * body]), LEAST_MASS)
        for e in range(10):
            k = place.get(rigid[10 * body + e].name)
            if k is not None:
                deviation[k] = MASS_SHARE * mass * scale[e]
    mean, doubted = _with_doubt(model, place, deviation)
    for axis in model.robot.axes:
        k = place.get(f"actuator/{axis.name}/rotor_inertia")
        if k is not None:
            lever = 1.0 if axis.prismatic else ROTOR_RADIUS**2
            deviation[k] = max(model.robot.moving_mass, LEAST_MASS) * lever
        k = place.get(f"actuator/{axis.name}/load_friction")
        if k is not None:
            deviation[k] = LOAD_SHARE
    torque = np.sqrt(info.energy / np.maximum(np.array(info.rows, dtype=np.float64), 1.0))
    for joint, rms in zip(model.robot.row_names, torque, strict=True):
        k = place.get(f"actuator/{joint}/bias")
        if k is not None and rms > 0.0:
            deviation[k] = OFFSET_SHARE * rms
    return Prior(model.names, mean, deviation, doubted=doubted)


def _with_doubt(model: Model, place: Mapping[str, int], deviation: Array) -> tuple[Array, frozenset[str]]:
    """(p,) means with possible inertias for filled-in ones, and the columns whose deviations were widened in place."""
    mean, doubted = model.nominal.copy(), set[str]()
    rigid = RigidBody().columns(model.robot)
    scale = np.array([1.0, *(WIDE_RADIUS,) * 3, *(WIDE_RADIUS**2,) * 6])
    for one in doubted_links(model.robot):
        given = np.zeros(10) if one.link.parameters is None else one.link.parameters
        shift = transform(one.parameters - given, one.link.rotation, one.link.translation)
        for e in range(10):
            k = place.get(rigid[10 * one.body + e].name)
            if k is not None:
                mean[k] += shift[e]
                if one.whole or e > 3:
                    deviation[k] = np.hypot(deviation[k], one.mass * scale[e])
                    doubted.add(model.names[k])
    return mean, frozenset(doubted)
