"""Reading the kernel's panels: the plan of their lines, torque from parameters, and the dense form for small data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from steelyard.robot.kernel import SPARE, Plan, fill, workspace
from steelyard.robot.reduction import CHUNK, Samples
from steelyard.robot.tree import Tree

Array = NDArray[np.float64]
NO_MASK = np.zeros((0, 0))


def build_plan(
    tree: Tree,
    support: Sequence[Sequence[int]],
    rigid: NDArray[np.int64],
    extras: Sequence[tuple[int, int]],
) -> Plan:
    """Lay the panels out: for each row its supporting columns in order, then the torque.

    Args:
        support: for each row the model columns that can act on it, ascending.
        rigid: (10 N,) model column of each rigid-body parameter, -1 where it is not wanted.
        extras: (row, model column) of each feature row, in the order they will come; the torques follow them.
    """
    place = [{column: k for k, column in enumerate(columns)} for columns in support]
    start = np.concatenate([[0], np.cumsum([len(columns) + 1 for columns in support])]).astype(np.int64)
    slot = np.full(10 * tree.pair_row.size, -1, dtype=np.int64)
    for body in range(tree.bodies):
        for pair in range(tree.pair_start[body], tree.pair_start[body + 1]):
            row = int(tree.pair_row[pair])
            for e in range(10):
                column = int(rigid[10 * body + e])
                if column >= 0 and column in place[row]:
                    slot[10 * pair + e] = start[row] + place[row][column]
    lines = [start[row] + place[row][column] for row, column in extras]
    torque = [start[row + 1] - 1 for row in range(len(support))]
    return Plan(
        slot=slot,
        extra_slot=np.array([*lines, *torque], dtype=np.int64),
        extra_row=np.array([*(row for row, _ in extras), *range(len(support))], dtype=np.int64),
        start=start,
    )


@numba.njit(cache=True, nogil=True)
def _torque(tree: Any, plan: Any, data: Any, work: Any, P: Any, weights: Any, tau: Any) -> None:
    K = data.v.shape[0]
    for k0 in range(0, K, CHUNK):
        fill(tree, plan, data.q, data.v, data.a, data.mask, data.extra, k0, CHUNK, work, P, np.uint64(CHUNK), 0)
        for j in range(plan.start.shape[0] - 1):
            for line in range(plan.start[j], plan.start[j + 1]):
                w = weights[line]
                if w != 0.0:
                    for s in range(min(CHUNK, K - k0)):
                        tau[k0 + s, j] += w * P[line * CHUNK + s]


def torque_of(tree: Tree, plan: Plan, data: Samples, weights: Array) -> Array:
    """(K, n) torque `sum_line weights[line] * panel[line]` of the samples [N m]."""
    tau = np.zeros(data.v.shape)
    _torque(tree, plan, data, workspace(tree), np.zeros((int(plan.start[-1]) + SPARE) * CHUNK), weights, tau)
    return tau


def dense_regressor(tree: Tree, q: Array, v: Array, a: Array) -> Array:
    """(K, n, 10 N) regressor `Y` with `Y @ parameters` the inverse dynamics; memory grows with K, so for small K.

    Args:
        q, v, a: (K, positions), (K, n), (K, n) positions, velocities and accelerations in SI.
    """
    K, rows, bodies = len(v), tree.rows, tree.bodies
    moved: list[set[int]] = [set() for _ in range(rows)]
    for body in range(bodies):
        for pair in range(tree.pair_start[body], tree.pair_start[body + 1]):
            moved[int(tree.pair_row[pair])].add(body)
    support = [[10 * body + e for body in sorted(bodies_) for e in range(10)] for bodies_ in moved]
    plan = build_plan(tree, support, np.arange(10 * bodies), [])
    padded = -(-K // CHUNK) * CHUNK
    panel = np.zeros((int(plan.start[-1]) + SPARE) * padded)
    fill(
        tree, plan, *(np.ascontiguousarray(x, dtype=np.float64) for x in (q, v, a)), NO_MASK,
        np.zeros((rows, K)), 0, padded, workspace(tree), panel, np.uint64(padded), 0,
    )  # fmt: skip
    lines = panel.reshape(-1, padded)[:, :K]
    dense = np.zeros((K, rows, 10 * bodies))
    for row, columns in enumerate(support):
        dense[:, row, columns] = lines[plan.start[row] : plan.start[row + 1] - 1].T
    return dense
