"""How the base of a robot moves that is fixed to nothing: a walking, flying or swimming one, a vehicle with an arm."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import DataError

Array = NDArray[np.float64]
NORM_TOLERANCE = 1e-3  # of a quaternion: written with four digits its norm is off by up to 1e-4
_WIDTH = {"orientation": 4, "twist": 6, "acceleration": 6, "wrench": 6}


@dataclass(frozen=True)
class BaseMotion:
    """Motion of the base frame, the frame of the link that floats, in its own axes; one row a sample.

    Attributes:
        orientation: (T, 4) quaternion x y z w of the base frame in the world, whose gravity the robot holds. Brought to
            norm one, since it is written with few digits; further than `NORM_TOLERANCE` from it is an error.
        twist: (T, 6) linear [m/s] and angular [rad/s] velocity of the base frame, along its own axes.
        acceleration: (T, 6) time derivative of the six numbers of `twist` [m/s2, rad/s2]: what an accelerometer at the
            origin shows is `a + w x v - R' g`, with the linear part a.
        wrench: (T, 6) force [N] and torque about the base origin [N m] that act on the robot from outside, along the
            base axes: zero in free flight, the sum of the contacts' otherwise (`tau` then holds actuators plus the
            contacts' share in each joint). None where it is not known: the six base rows are then left out of a fit.

    Raises:
        DataError: shapes that disagree, values that are not finite, a quaternion that is none.
    """

    orientation: Array
    twist: Array
    acceleration: Array
    wrench: Array | None = None

    def __post_init__(self) -> None:
        count = len(np.atleast_1d(self.orientation))
        for field in fields(self):
            values = getattr(self, field.name)
            if values is not None:
                object.__setattr__(self, field.name, _table(field.name, values, (count, _WIDTH[field.name])))
        norm = np.linalg.norm(self.orientation, axis=1)
        bad = np.flatnonzero(np.abs(norm - 1.0) > NORM_TOLERANCE)
        if bad.size:
            raise DataError(
                "the orientation of the base is no unit quaternion",
                where=f"sample {bad[0]}",
                value=self.orientation[bad[0]].tolist(),
                cure="give x y z w, the scalar last, of norm one",
            )
        object.__setattr__(self, "orientation", _frozen(self.orientation / norm[:, None]))

    def __len__(self) -> int:
        return len(self.orientation)

    def samples(self, cut: slice | NDArray[np.intp]) -> BaseMotion:
        """Some of the samples."""
        wrench = None if self.wrench is None else self.wrench[cut]
        return BaseMotion(self.orientation[cut], self.twist[cut], self.acceleration[cut], wrench)


def _table(name: str, values: object, shape: tuple[int, int]) -> Array:
    table = np.array(values, dtype=np.float64)
    if table.shape != shape:
        raise DataError(f"{name} of the base must have shape {shape}", value=table.shape)
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise DataError(
            f"{name} of the base is not finite at sample {row}",
            value=float(table[row, column]),
            cure="cut the interval out of the recording or record again; values are never filled in",
        )
    return _frozen(table)


def _frozen(values: Array) -> Array:
    values.setflags(write=False)
    return values
