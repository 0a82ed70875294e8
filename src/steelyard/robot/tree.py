"""A kinematic tree as flat arrays: what the regressor kernel reads, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]

REVOLUTE, PRISMATIC, FLOATING = 0, 1, 2
POSITION_BOUND = 1.0e6  # [rad], beyond which the sine of the kernel loses digits


@dataclass(frozen=True)
class TreeJoint:
    """One moving joint and the body behind it.

    Attributes:
        parent: index of the parent body, -1 for the base.
        kind: REVOLUTE, PRISMATIC or FLOATING (six degrees of freedom, only as the first joint).
        axis: (3,) unit vector in the joint frame.
        rotation: (3, 3) orientation of the joint frame in the parent body's frame, at zero.
        translation: (3,) [m] its origin there.
        dof: index of the coordinate that drives it; joints that mimic one another share it.
        ratio, offset: joint position = ratio * coordinate + offset.
    """

    parent: int
    kind: int
    axis: Array
    rotation: Array
    translation: Array
    dof: int
    ratio: float = 1.0
    offset: float = 0.0


class Tree(NamedTuple):
    """Arrays of N bodies and n rows (degrees of freedom).

    The rotation of a revolute joint is `A + sin(q) B + cos(q) C` (Rodrigues), for any axis and placement.
    A *pair* is (body, row that moves it): only pairs have non-zero regressor blocks. The pairs of body i are
    pair_start[i]..pair_start[i+1]; they begin with those of its parent, in the same order. A pair slides when its row
    moves the body without turning it: then its inertia columns are zero.
    """

    parent: Index
    kind: Index
    axis: Array
    sine: Array
    cosine: Array
    constant: Array
    fixed: Array
    translation: Array
    position: Index
    row: Index
    ratio: Array
    offset: Array
    base_acceleration: Array
    pair_start: Index
    pair_row: Index
    slides: NDArray[np.bool_]
    own_pair: Index
    rows: int

    @property
    def bodies(self) -> int:
        """Number of moving bodies N."""
        return int(self.parent.size)

    def rows_of_bodies(self, *, turning: bool) -> tuple[tuple[int, ...], ...]:
        """For each body the rows that move it, or only those that turn it, ascending."""
        return tuple(
            tuple(sorted(int(self.pair_row[k]) for k in range(first, last) if not (turning and self.slides[k])))
            for first, last in zip(self.pair_start[:-1].tolist(), self.pair_start[1:].tolist(), strict=True)
        )


def build_tree(joints: Sequence[TreeJoint], gravity: Array, coordinates: int) -> Tree:
    """Flatten joints (parents before children) into arrays.

    Args:
        joints: one entry a moving joint.
        coordinates: number of scalar coordinates (a floating base has six rows besides).
        gravity: (3,) [m/s2] in the base frame; it enters as the base acceleration -g (Luh, Walker, Paul 1980).
    """
    floating = bool(joints) and joints[0].kind == FLOATING
    turn = [_rodrigues(joint) for joint in joints]
    rows: list[dict[int, bool]] = []  # of each body the rows that move it, and whether they only slide it
    own: list[int] = []
    for joint in joints:
        above = dict(rows[joint.parent]) if joint.parent >= 0 else {}
        if joint.kind == FLOATING:
            own.append(len(above))
            above |= {row: row < 3 for row in range(6)}
        else:
            row = joint.dof + 6 if floating else joint.dof
            own.append(list(above).index(row) if row in above else len(above))
            above[row] = above.get(row, True) and joint.kind == PRISMATIC
        rows.append(above)
    return Tree(
        parent=np.array([joint.parent for joint in joints], dtype=np.int64),
        kind=np.array([joint.kind for joint in joints], dtype=np.int64),
        axis=_table([joint.axis for joint in joints], 3),
        sine=_table([b for _, b, _ in turn], 9),
        cosine=_table([c for _, _, c in turn], 9),
        constant=_table([a for a, _, _ in turn], 9),
        fixed=_table([joint.rotation for joint in joints], 9),
        translation=_table([joint.translation for joint in joints], 3),
        position=np.array([_shift(joint, floating, 4) for joint in joints], dtype=np.int64),
        row=np.array([_shift(joint, floating, 6) for joint in joints], dtype=np.int64),
        ratio=np.array([joint.ratio for joint in joints], dtype=np.float64),
        offset=np.array([joint.offset for joint in joints], dtype=np.float64),
        base_acceleration=-np.asarray(gravity, dtype=np.float64),
        pair_start=np.concatenate([[0], np.cumsum([len(r) for r in rows])]).astype(np.int64),
        pair_row=np.array([row for r in rows for row in r], dtype=np.int64),
        slides=np.array([slides for r in rows for slides in r.values()], dtype=np.bool_),
        own_pair=np.array(own, dtype=np.int64),
        rows=coordinates + (6 if floating else 0),
    )


def _table(rows: Sequence[Array], width: int) -> Array:
    return np.array(rows, dtype=np.float64).reshape(len(rows), width)


def _shift(joint: TreeJoint, floating: bool, width: int) -> int:
    return 0 if joint.kind == FLOATING else joint.dof + (width if floating else 0)


def _rodrigues(joint: TreeJoint) -> tuple[Array, Array, Array]:
    x, y, z = joint.axis
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    rotation = np.asarray(joint.rotation, dtype=np.float64)
    square = skew @ skew
    return np.ravel(rotation @ (np.eye(3) + square)), np.ravel(rotation @ skew), np.ravel(-rotation @ square)
