"""What is believed before the data: a Gaussian about the model file's values, with scales that bodies have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.terms.rigid_body import RigidBody

Array = NDArray[np.float64]
MASS_SHARE = 0.3  # deviation of a body's mass, as a share of its nominal mass
RADIUS = 0.1  # [m] lever by which the deviation of first moments and inertia grows
LEAST_MASS = 1e-3  # [kg] taken for bodies without nominal mass
OFFSET_SHARE = 0.03  # deviation of a joint's offset, as a share of the rms torque it carried


@dataclass(frozen=True)
class Prior:
    """Independent Gaussians on the columns of a model.

    Attributes:
        names: p columns.
        mean: (p,) in the unit of each.
        deviation: (p,) infinite where nothing is believed.
    """

    names: tuple[str, ...]
    mean: Array
    deviation: Array

    def __post_init__(self) -> None:
        for array in (self.mean, self.deviation):
            array.setflags(write=False)

    def rows(self) -> Array:
        """(p, p + 1) square-root information `[1/s | m/s]`, zero rows where the deviation is infinite."""
        root = 1.0 / self.deviation
        return np.column_stack([np.diag(root), root * self.mean])

    def scaled(self, factor: float) -> Prior:
        """The same means with deviations `factor` times as wide."""
        return Prior(self.names, self.mean, self.deviation * factor)


def physical_prior(model: Model, info: SquareRootInformation) -> Prior:
    """The model file's values, with deviations 0.3 M, 0.3 M r and 0.3 M r^2 of a body of nominal mass M, r = 0.1 m.

    Offsets are believed to be small beside the torque of their joint; friction and rotor inertia are left free. Bodies
    with little trust in the file (placeholders) still get these scales: they follow from the mass alone.

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
    torque = np.sqrt(info.energy / np.maximum(np.array(info.rows, dtype=np.float64), 1.0))
    for joint, rms in zip(model.robot.row_names, torque, strict=True):
        k = place.get(f"actuator/{joint}/bias")
        if k is not None and rms > 0.0:
            deviation[k] = OFFSET_SHARE * rms
    return Prior(model.names, model.nominal, deviation)
