"""Places in an MJCF: position, and orientation in one of five spellings."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from steelyard.robot.inertia import rotation_about
from steelyard.robot.mjcf_compiler import Compiler
from steelyard.robot.mjcf_defaults import Resolved

Array = NDArray[np.float64]
_SPELLINGS = {"quat": 4, "axisangle": 4, "xyaxes": 6, "zaxis": 3, "euler": 3}
_SMALLEST = 1e-8  # shorter than this is no direction
_AXES = {"x": np.array([1.0, 0.0, 0.0]), "y": np.array([0.0, 1.0, 0.0]), "z": np.array([0.0, 0.0, 1.0])}


@dataclass(frozen=True)
class Frame:
    """Orientation (3, 3) and origin (3,) [m] of a frame in the one around it."""

    rotation: Array
    translation: Array

    def then(self, inner: Frame) -> Frame:
        """A frame that is given in this one."""
        return Frame(self.rotation @ inner.rotation, self.translation + self.rotation @ inner.translation)


IDENTITY = Frame(np.eye(3), np.zeros(3))


def read_frame(element: Resolved, compiler: Compiler) -> Frame:
    """pos and orientation of an element; what cannot be read is an error, and left out."""
    position = element.numbers("pos", 3, default=(0.0, 0.0, 0.0))
    rotation = read_orientation(element, compiler)
    return Frame(np.eye(3) if rotation is None else rotation, np.zeros(3) if position is None else np.array(position))


def read_orientation(element: Resolved, compiler: Compiler) -> Array | None:
    """(3, 3) rotation; the identity where there is none; None, and an error, where it cannot be read."""
    given, holder = _stated(element)
    if len(given) > 1:
        message = f"{element.owner.subject} states its orientation {len(given)} times: {', '.join(given)}"
        _error(element, holder, message, given[1], "keep one of them")
        return None
    if not given:
        return np.eye(3)
    spelling = given[0]
    values = element.numbers(spelling, _SPELLINGS[spelling])
    if values is None:
        return None
    rotation = _rotation(spelling, np.array(values), compiler)
    if rotation is None:
        message = f"the {spelling} of {element.owner.subject} is no direction: {' '.join(f'{v:g}' for v in values)}"
        _error(element, holder, message, str(element.text(spelling))[:60], "write vectors that are not zero")
    return rotation


def _stated(element: Resolved) -> tuple[list[str], etree._Element]:
    """The spellings that the nearest element uses: one of its own puts those of its defaults aside."""
    for holder in element.chain:
        given = [name for name in _SPELLINGS if holder.get(name) is not None]
        if given:
            return given, holder
    return [], element.own


def _error(element: Resolved, holder: etree._Element, message: str, value: str, cure: str) -> None:
    element.owner.log.add(
        "error", "model.orientation_unreadable", message, element.owner.at(holder), value=value, cure=cure
    )


def _rotation(spelling: str, values: Array, compiler: Compiler) -> Array | None:
    if spelling == "quat":
        return rotation_of_quaternion(values)
    if spelling == "axisangle":
        axis = _unit(values[:3])
        return None if axis is None else rotation_about(axis, float(values[3]) * compiler.angle)
    if spelling == "euler":
        return _euler(values * compiler.angle, compiler.eulerseq)
    if spelling == "zaxis":
        axis = _unit(values)
        return None if axis is None else rotation_to(axis)
    x = _unit(values[:3])
    y = None if x is None else _unit(values[3:] - (x @ values[3:]) * x)
    return None if x is None or y is None else np.column_stack([x, y, np.cross(x, y)])


def rotation_of_quaternion(quaternion: Array) -> Array | None:
    """(3, 3) rotation of w x y z, brought to norm one; None where it is zero."""
    norm = float(np.linalg.norm(quaternion))
    if norm < _SMALLEST:
        return None
    w, x, y, z = (float(value) for value in quaternion / norm)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def rotation_to(axis: Array) -> Array:
    """(3, 3) the smallest rotation that takes the z axis to a unit vector; half a turn about x for -z."""
    across = np.array([-axis[1], axis[0], 0.0])
    sine = float(np.linalg.norm(across))
    turn = across / sine if sine > _SMALLEST else _AXES["x"]
    return rotation_about(turn, math.atan2(sine, float(axis[2])))


def _euler(angles: Array, sequence: str) -> Array:
    rotation = np.eye(3)
    for letter, angle in zip(sequence, angles, strict=True):
        turn = rotation_about(_AXES[letter.lower()], float(angle))
        rotation = rotation @ turn if letter.islower() else turn @ rotation
    return rotation


def _unit(vector: Array) -> Array | None:
    length = float(np.linalg.norm(vector))
    return None if length < _SMALLEST else vector / length
