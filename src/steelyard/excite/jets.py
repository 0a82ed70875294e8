"""Bounds of vectors and of their derivatives by time, carried through products and turning frames.

A *jet* is an array (K + 1, ...) of bounds of the lengths of a vector and of its first K derivatives. By Leibniz' rule
`|(x y)^(k)| <= sum_i binom(k, i) |x^(i)| |y^(k-i)|`, for any product that is not longer than the product of lengths.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
from numpy.typing import NDArray

from steelyard.robot.robot import Robot
from steelyard.robot.tree import PRISMATIC

Array = NDArray[np.float64]


def product(x: Array, y: Array) -> Array:
    """The jet of a product, of the orders that both have."""
    orders = range(min(len(x), len(y)))
    return np.stack([sum(comb(k, i) * x[i] * y[k - i] for i in range(k + 1)) for k in orders])


def turning(speed: Array) -> Array:
    """The jet of a rotation about a fixed axis, of which `speed` is the jet of the angular velocity: R' = [w] R."""
    turned = [np.ones_like(speed[0])]
    for k in range(len(speed)):
        turned.append(np.asarray(sum(comb(k, i) * speed[i] * turned[k - i] for i in range(k + 1))))
    return np.stack(turned)


class BodyJets:
    """Jets of the bodies of a robot in motions of bounded joints, each in the frame of its body.

    Attributes:
        spin: for each body the angular velocity, orders 0 to K + 1.
        centripetal: `a + w x w x`, the part of an acceleration that goes with the distance from the origin, to K.
        acceleration: of the origin less that of the base [m/s2], to K.
        lever: of the vector from the origin of the body before, to K.
        turn: of the rotation against the body before, to K.
    """

    def __init__(self, robot: Robot, q: Array, rates: Sequence[Array], *, base: float) -> None:
        """Carry the bounds from the base outwards.

        Args:
            robot: its tree.
            q: (M, n) bounds of |position| [rad or m].
            rates: K + 2 arrays (M, n), bounds of velocity and its derivatives.
            base: acceleration of the base [m/s2], that of gravity where weight counts.
        """
        tree, zero = robot.tree, np.zeros((len(rates), len(q)))
        still = np.zeros((len(rates) - 1, len(q)))
        still[0] += base
        self.spin: list[Array] = []
        self.centripetal: list[Array] = []
        self.acceleration: list[Array] = []
        self.lever: list[Array] = []
        self.turn: list[Array] = []
        for i in range(tree.bodies):
            up, j, ratio = int(tree.parent[i]), int(tree.row[i]), abs(float(tree.ratio[i]))
            slides = bool(tree.kind[i] == PRISMATIC)
            speed = np.stack([ratio * rate[:, j] for rate in rates])
            w, d = (zero, still) if up < 0 else (self.spin[up], self.acceleration[up])
            around = 0.0 * still if up < 0 else self.centripetal[up]
            lever = 0.0 * still
            lever[0] += np.linalg.norm(tree.translation[i])
            if slides:
                lever[0] += ratio * q[:, j] + abs(float(tree.offset[i]))
                lever[1:] += speed[: len(lever) - 1]
                turn = turning(0.0 * speed)
                spin = w
            else:
                turn = turning(speed)
                spin = product(turn, w) + speed
            carried = d + product(lever, around)
            if slides:
                carried = carried + 2.0 * product(w, speed)[:-1] + speed[1:]
            self.spin.append(spin)
            self.centripetal.append(spin[1:] + product(spin, spin)[:-1])
            self.acceleration.append(product(turn, carried))
            self.lever.append(lever)
            self.turn.append(turn)


def torque_jets(robot: Robot, q: Array, rates: Sequence[Array], parameters: Array) -> Array:
    """(K + 1, M, n) bounds of the rigid bodies' torque and of its K derivatives [N m or N, /s, /s2 ..].

    Newton and Euler's recursion with lengths in place of vectors: the forces and moments that each body needs, carried
    back to the base. Arguments as of `BodyJets`, parameters (10 N,) of the bodies.
    """
    tree = robot.tree
    jets = BodyJets(robot, q, rates, base=float(np.linalg.norm(tree.base_acceleration)))
    shape = (tree.bodies, len(rates) - 1, len(q))
    force, moment, torque = np.zeros(shape), np.zeros(shape), np.zeros((*shape[1:], q.shape[1]))
    for i in reversed(range(tree.bodies)):
        m, first, second = _sizes(parameters[10 * i : 10 * i + 10])
        force[i] += m * jets.acceleration[i] + first * jets.centripetal[i]
        moment[i] += second * jets.centripetal[i] + first * jets.acceleration[i]
        felt = force[i] if tree.kind[i] == PRISMATIC else moment[i]
        torque[:, :, int(tree.row[i])] += abs(float(tree.ratio[i])) * felt
        up = int(tree.parent[i])
        if up >= 0:
            carried = product(jets.turn[i], force[i])
            force[up] += carried
            moment[up] += product(jets.turn[i], moment[i]) + product(jets.lever[i], carried)
    return torque


def _sizes(parameters: Array) -> tuple[float, float, float]:
    """Mass, length of the first moment and largest moment of inertia of a body."""
    xx, xy, yy, xz, yz, zz = parameters[4:]
    second = float(np.linalg.norm([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], 2))
    return abs(float(parameters[0])), float(np.linalg.norm(parameters[1:4])), second
