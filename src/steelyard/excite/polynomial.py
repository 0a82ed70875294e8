"""Motions made of polynomials, one after another: what moves, sweeps, holds and splines have in common.

A polynomial lies within the span of its Bernstein coefficients (Farouki, The Bernstein polynomial basis, 2012), and so
do its derivatives within those of theirs: that bounds it at every instant.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import comb, perm
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.excite.cells import Cells
from steelyard.excite.kinematics import Kinematics
from steelyard.excite.motion import sampled

Array = NDArray[np.float64]
JUMP = 1e-6  # of the largest value: jumps of position, velocity and acceleration smaller than that are rounding

SNAP = 1e-9  # [s] before a knot that belong to the piece after it: rest is to be rest, not 1e-16 of a ramp
CUBIC = 4  # powers at least, so that there is a jerk to bound


class Piece(NamedTuple):
    """One polynomial of the share s of its duration [s]: q = sum_k power[k] s^k, power (d + 1, n)."""

    duration: float
    power: Array


@dataclass(frozen=True)
class PolynomialMotion:
    """S polynomials in a row.

    Attributes:
        joint_names: n names in model order.
        knots: (S + 1,) [s], rising from 0.
        power: (S, d + 1, n) powers of the share of each interval [rad or m].
        name: label for messages and files.

    Raises:
        StudyError: shapes that do not fit, or a jump of position, velocity or acceleration at a knot.
    """

    joint_names: tuple[str, ...]
    knots: Array
    power: Array
    name: str = "motion"

    def __post_init__(self) -> None:
        for field in ("knots", "power"):
            values = np.array(getattr(self, field), dtype=np.float64)
            values.setflags(write=False)
            object.__setattr__(self, field, values)
        pieces = len(self.knots) - 1
        if self.power.ndim != 3 or self.power.shape[::2] != (pieces, len(self.joint_names)) or pieces < 1:
            raise StudyError("one polynomial an interval and joint is needed", value=self.power.shape)
        if self.knots[0] != 0.0 or not np.all(np.diff(self.knots) > 0.0) or not np.isfinite(self.power).all():
            raise StudyError("the knots of a motion rise from zero, and its coefficients are finite", where=self.name)
        width = np.diff(self.knots)[:, None]
        for order, what in enumerate(("position", "velocity", "acceleration")):
            left, right = (_edge(self.power, side, order) / width**order for side in (0.0, 1.0))
            jump = np.abs(left[1:] - right[:-1])
            allowed = JUMP * np.abs([left, right]).max(axis=(0, 1)) + 1e-9
            if np.any(jump > allowed):
                k, j = np.unravel_index(int(np.argmax(jump / allowed)), jump.shape)
                raise StudyError(
                    f"the {what} jumps", where=f"{self.name}, joint {self.joint_names[j]}, {self.knots[k + 1]:g} s",
                    value=float(jump[k, j]), cure="join pieces that agree in position, velocity and acceleration",
                )  # fmt: skip

    @property
    def duration(self) -> float:
        """[s]."""
        return float(self.knots[-1])

    @property
    def digest(self) -> str:
        """SHA-256 of joints, knots and coefficients."""
        digest = hashlib.sha256(repr(self.joint_names).encode())
        digest.update(self.knots.tobytes() + self.power.tobytes())
        return digest.hexdigest()

    def at(self, times: Array) -> Kinematics:
        """The motion at `times` [s], held at its ends before and after."""
        return polynomials_at(self.knots, self.power, times)

    def cells(self, step: float) -> Cells:
        """Each piece in equal cells not wider than `step` [s]."""
        return polynomial_cells(self.knots, self.power, step)

    def slowed(self, speed: float) -> PolynomialMotion:
        """The same path at a fraction of the speed: 0.5 takes twice the time.

        Raises:
            StudyError: a speed that is not positive.
        """
        if not speed > 0.0:
            raise StudyError("the speed must be a positive fraction", value=speed)
        return replace(self, knots=self.knots / speed)

    def sampled(self, rate: float) -> Trajectory:
        """The motion as a controller of `rate` [Hz] gets it, both ends included.

        Raises:
            StudyError: rate times duration is not a whole number of samples.
        """
        return sampled(self, rate)


def assembled(joint_names: Sequence[str], pieces: Sequence[Piece], name: str) -> PolynomialMotion:
    """One motion of pieces in a row; raises StudyError where they do not fit together, or there is none."""
    if not pieces:
        raise StudyError("nothing moves", where=name, cure="give poses that differ, or a time to hold")
    degree = max(len(piece.power) for piece in pieces)
    power = np.zeros((len(pieces), degree, len(joint_names)))
    for k, piece in enumerate(pieces):
        power[k, : len(piece.power)] = piece.power
    knots = np.concatenate([[0.0], np.cumsum([piece.duration for piece in pieces])])
    return PolynomialMotion(tuple(joint_names), knots, power, name)


def polynomials_at(knots: Array, power: Array, times: Array) -> Kinematics:
    """Values and derivatives (K, n) of polynomials (S, d + 1, n) in a row, at the ends held."""
    times = np.clip(np.asarray(times, dtype=np.float64), knots[0], knots[-1])
    piece = np.clip(np.searchsorted(knots, times + SNAP, side="right") - 1, 0, len(power) - 1)
    width = np.diff(knots)[piece]
    s = np.maximum((times - knots[piece]) / width, 0.0)[:, None]
    values = []
    for order in range(4):
        total = np.zeros((len(times), power.shape[2]))
        for k in reversed(range(order, power.shape[1])):
            total = total * s + perm(k, order) * power[piece, k]
        values.append(total / width[:, None] ** order)
    return Kinematics(*values)


def polynomial_cells(knots: Array, power: Array, step: float) -> Cells:
    """Every interval cut into equal cells not wider than `step` [s]."""
    h = np.diff(knots)
    power = np.pad(power, ((0, 0), (0, max(0, CUBIC - power.shape[1])), (0, 0)))
    cuts = np.maximum(1, np.ceil(h / step - 1e-9)).astype(np.int64)
    piece = np.repeat(np.arange(h.size), cuts)
    part = np.arange(piece.size) - np.repeat(np.cumsum(cuts) - cuts, cuts)
    width = 1.0 / cuts[piece]
    duration = (h[piece] * width)[:, None]
    moved = shifted(power[piece], part * width, width)
    controls = np.einsum("bk,mkn->mbn", _bernstein(power.shape[1] - 1), moved)
    center, low, high = [], [], []
    for order in range(4):
        count = controls.shape[1]
        center.append(np.einsum("b,mbn->mn", _middle(count - 1), controls))
        low.append(controls.min(axis=1))
        high.append(controls.max(axis=1))
        if order < 3:
            controls = (count - 1) * np.diff(controls, axis=1) / duration[:, :, None]
    middle = knots[:-1][piece] + h[piece] * (part + 0.5) * width
    return Cells(middle, 0.5 * duration[:, 0], Kinematics(*center), Kinematics(*low), Kinematics(*high))


def _edge(power: Array, share: float, order: int) -> Array:
    """(S, n) derivative by s at the start (0) or the end (1) of each piece."""
    factor = np.array([perm(k, order) * share ** max(k - order, 0) for k in range(power.shape[1])])
    edge: Array = np.einsum("k,skn->sn", factor, power)
    return edge


def shifted(power: Array, start: Array, width: Array) -> Array:
    """Powers of s for polynomials (S, d + 1, n) at `start + width * s`, both (S,)."""
    degree = power.shape[1] - 1
    result = np.zeros_like(power)
    for k in range(degree + 1):
        for j in range(k, degree + 1):
            result[:, k] += comb(j, k) * power[:, j] * (start ** (j - k) * width**k)[:, None]
    return result


def _bernstein(degree: int) -> Array:
    """(degree + 1, degree + 1) map from powers of s in [0, 1] to Bernstein coefficients."""
    rows = [[comb(i, k) / comb(degree, k) for k in range(degree + 1)] for i in range(degree + 1)]
    return np.array(rows, dtype=np.float64)


def _middle(degree: int) -> Array:
    """Weights of the Bernstein coefficients for the value in the middle."""
    return np.array([comb(degree, i) for i in range(degree + 1)], dtype=np.float64) / 2.0**degree
