"""Units at the edges: one literal table that takes what a recording or a study declares to SI, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.suggest import did_you_mean

Value = TypeVar("Value", float, NDArray[np.float64])


@dataclass(frozen=True)
class Unit:
    """One unit: a value in it times `factor` is the value in the SI unit of its `dimension`."""

    factor: float
    dimension: str


_TURN = 2.0 * pi
_DEGREE = pi / 180.0

UNITS: dict[str, Unit] = {
    "rad": Unit(1.0, "angle"),
    "mrad": Unit(1e-3, "angle"),
    "deg": Unit(_DEGREE, "angle"),
    "turn": Unit(_TURN, "angle"),
    "m": Unit(1.0, "length"),
    "cm": Unit(1e-2, "length"),
    "mm": Unit(1e-3, "length"),
    "um": Unit(1e-6, "length"),
    "in": Unit(0.0254, "length"),
    "rad/s": Unit(1.0, "angular velocity"),
    "deg/s": Unit(_DEGREE, "angular velocity"),
    "turn/s": Unit(_TURN, "angular velocity"),
    "rpm": Unit(_TURN / 60.0, "angular velocity"),
    "m/s": Unit(1.0, "velocity"),
    "mm/s": Unit(1e-3, "velocity"),
    "rad/s2": Unit(1.0, "angular acceleration"),
    "deg/s2": Unit(_DEGREE, "angular acceleration"),
    "turn/s2": Unit(_TURN, "angular acceleration"),
    "m/s2": Unit(1.0, "acceleration"),
    "mm/s2": Unit(1e-3, "acceleration"),
    "N m": Unit(1.0, "torque"),
    "Nm": Unit(1.0, "torque"),
    "N cm": Unit(1e-2, "torque"),
    "Ncm": Unit(1e-2, "torque"),
    "N mm": Unit(1e-3, "torque"),
    "Nmm": Unit(1e-3, "torque"),
    "mN m": Unit(1e-3, "torque"),
    "mNm": Unit(1e-3, "torque"),
    "kN m": Unit(1e3, "torque"),
    "kNm": Unit(1e3, "torque"),
    "N": Unit(1.0, "force"),
    "mN": Unit(1e-3, "force"),
    "kN": Unit(1e3, "force"),
    "A": Unit(1.0, "current"),
    "mA": Unit(1e-3, "current"),
    "s": Unit(1.0, "time"),
    "ms": Unit(1e-3, "time"),
    "us": Unit(1e-6, "time"),
    "ns": Unit(1e-9, "time"),
    "min": Unit(60.0, "time"),
}

SI: dict[str, str] = {
    "angle": "rad",
    "length": "m",
    "angular velocity": "rad/s",
    "velocity": "m/s",
    "angular acceleration": "rad/s2",
    "acceleration": "m/s2",
    "torque": "N m",
    "force": "N",
    "current": "A",
    "time": "s",
}


def unit(name: str) -> Unit:
    """The unit called `name`, spelled as in `UNITS` (capital letters matter: mN m is not MN m).

    Raises:
        StudyError: no such unit; lists the valid ones.
    """
    found = UNITS.get(name)
    if found is None:
        raise StudyError(
            "unknown unit",
            value=name,
            choices=tuple(UNITS),
            cure=did_you_mean(
                name, UNITS, otherwise="declare one of these; normalised or raw counts need a calibration first"
            ),
        )
    return found


def to_si(value: Value, name: str) -> Value:
    """`value` [name] in the SI unit of its dimension: value * factor.

    Args:
        value: a number or an array of any shape [name].
        name: a key of `UNITS`.

    Raises:
        StudyError: unknown unit.
    """
    return value * unit(name).factor
