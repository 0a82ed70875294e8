"""The ``<inertial>`` of an MJCF body, changed in the spelling it has: full tensor, or principal moments and axes."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from steelyard.formats.xml_edits import Edit, Line, add_first_child, number, rename_attribute, set_numbers
from steelyard.formats.xml_outline import Element, Outline
from steelyard.robot.inertia import rotation_rpy, tensor
from steelyard.robot.urdf_description import UrdfInertial

Array = NDArray[np.float64]
_SLACK = 8 * np.finfo(np.float64).eps  # relative: what going to the body's origin and back may cost
_FULL = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # the order of fullinertia
_TURNS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")


def inertial_edits(outline: Outline, element: Element, parameters: Array, present: UrdfInertial) -> list[Edit]:
    """Change an ``<inertial>`` to hold (10,) parameters about the body's origin.

    ``fullinertia`` stays full. ``diaginertia`` stays diagonal: where the frame it is written in no longer is that of
    the principal axes, the orientation becomes a ``quat``, with the axes nearest to the ones before.

    Args:
        outline: the file.
        element: the ``<inertial>``.
        parameters: the ones wanted.
        present: what the element says, with the orientation of its frame.
    """
    rotation = rotation_rpy(np.array(present.origin_rpy))
    mass, centre, own = centred(parameters, np.array(present.origin_xyz))
    edits = set_numbers(outline, element, "mass", [mass])
    edits += set_numbers(outline, element, "pos", centre, slack=_SLACK * float(np.abs(centre).max()))
    slack = _SLACK * float(np.abs(parameters[4:]).max())
    turned = rotation.T @ own @ rotation
    if element.attribute("fullinertia") is not None:
        return edits + set_numbers(outline, element, "fullinertia", [turned[ij] for ij in _FULL], slack=slack)
    moments = np.diag(turned)
    if max(abs(turned[0, 1]), abs(turned[0, 2]), abs(turned[1, 2])) > slack:
        moments, axes = principal_axes(turned)
        given = next((kind for kind in _TURNS if element.attribute(kind) is not None), "quat")
        edits += rename_attribute(outline, element, given, "quat", _joined(quaternion_of(rotation @ axes)))
    return edits + set_numbers(outline, element, "diaginertia", moments, slack=slack)


def new_inertial(outline: Outline, body: Element, parameters: Array) -> list[Edit]:
    """Give a body without ``<inertial>`` one, as its first child."""
    mass, centre, own = centred(parameters, np.zeros(3))
    text = f'pos="{_joined(centre)}" mass="{number(mass)}"'
    # principal axes rather than fullinertia: MuJoCo's own decomposition would cost a digit
    moments, axes = principal_axes(own)
    if not np.array_equal(axes, np.eye(3)):
        text += f' quat="{_joined(quaternion_of(axes))}"'
    return add_first_child(outline, body, [Line(0, f'<inertial {text} diaginertia="{_joined(moments)}"/>')])


def principal_axes(inertia: Array) -> tuple[Array, Array]:
    """(3,) principal moments and (3, 3) rotation whose columns are the axes, `inertia = R diag(moments) R'`.

    Of the 24 rotations that the axes allow, the one nearest to none.
    """
    if np.array_equal(inertia, np.diag(np.diag(inertia))):
        return np.diag(inertia), np.eye(3)
    moments, axes = np.linalg.eigh(inertia)
    order = max(permutations(range(3)), key=lambda p: sum(abs(axes[i, p[i]]) for i in range(3)))
    moments, axes = moments[list(order)], axes[:, list(order)]
    axes = axes * np.where(np.diag(axes) < 0.0, -1.0, 1.0)
    if np.linalg.det(axes) < 0.0:
        axes[:, int(np.argmin(np.abs(np.diag(axes))))] *= -1.0
    return moments, axes


def quaternion_of(rotation: Array) -> Array:
    """(4,) unit quaternion w, x, y, z of a rotation (3, 3), w >= 0.

    `4 q q' = S` for a matrix S that is linear in the rotation, so every column of S is a multiple of q; the one with
    the largest diagonal loses no digits.
    """
    R = rotation
    S = np.array(
        [
            [1.0 + R[0, 0] + R[1, 1] + R[2, 2], R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]],
            [0.0, 1.0 + R[0, 0] - R[1, 1] - R[2, 2], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
            [0.0, 0.0, 1.0 - R[0, 0] + R[1, 1] - R[2, 2], R[1, 2] + R[2, 1]],
            [0.0, 0.0, 0.0, 1.0 - R[0, 0] - R[1, 1] + R[2, 2]],
        ]
    )
    S = np.triu(S) + np.triu(S, 1).T
    column = S[:, int(np.argmax(np.diag(S)))]
    quaternion = column / np.linalg.norm(column)
    return -quaternion if quaternion[0] < 0.0 else quaternion


def centred(parameters: Array, fallback: Array) -> tuple[float, Array, Array]:
    """Mass [kg], centre of mass (3,) [m] and inertia (3, 3) about it [kg m2]; without mass the centre is `fallback`."""
    mass, inertia = float(parameters[0]), tensor(parameters[4:])
    centre = parameters[1:4] / mass if mass else fallback
    return mass, centre, inertia - mass * ((centre @ centre) * np.eye(3) - np.outer(centre, centre))


def _joined(values: Array) -> str:
    return " ".join(number(value) for value in values)
