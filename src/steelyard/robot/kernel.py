"""THE regressor: torque rows of a rigid-body tree for blocks of samples, left in cache for whoever reduces them.

Each ancestor axis is carried down to the body (a 6-vector) rather than 6 x 10 blocks up, and only the pairs of a body
and a row that moves it are computed. Equations: motion.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.robot import motion
from steelyard.robot.motion import BLOCK, FAST, L, jit
from steelyard.robot.tree import FLOATING, PRISMATIC, REVOLUTE, Tree

SPARE = 10
_STATE, _AXIS = np.uint64(9 * BLOCK), np.uint64(6 * BLOCK)


class Plan(NamedTuple):
    """Where each regressor row goes: one panel a joint, one line a column, the torque last.

    slot[10 * pair + e] is the line of rigid column e of that pair, -1 when it is not wanted; extra_slot[k] is the
    line of row k of the extra features; panel j owns the lines start[j]..start[j+1]; panel_of[line] is its row.
    """

    slot: NDArray[np.int64]
    extra_slot: NDArray[np.int64]
    extra_row: NDArray[np.int64]
    start: NDArray[np.int64]


class Workspace(NamedTuple):
    """Scratch of one thread, allocated once: `motion` (w, a, d), `axes` (f, h), `turn`, `lines`, inputs."""

    fresh: NDArray[np.float64]
    motion: NDArray[np.float64]
    axes: NDArray[np.float64]
    turn: NDArray[np.float64]
    lines: NDArray[np.uint64]
    q: NDArray[np.float64]
    v: NDArray[np.float64]
    a: NDArray[np.float64]
    mask: NDArray[np.float64]


def workspace(tree: Tree) -> Workspace:
    """Scratch arrays for `fill`; the row behind the last body holds the base motion."""
    n, rows = tree.bodies, tree.rows
    motion = np.zeros((n + 1, 9, BLOCK))
    motion[n, 6:] = tree.base_acceleration[:, None]
    positions = tree.rows + 4
    return Workspace(
        fresh=np.zeros(9 * BLOCK),
        motion=motion.ravel(),
        axes=np.repeat(_own_axes(tree).ravel(), BLOCK),
        turn=np.zeros(11 * BLOCK),
        lines=np.zeros(10, dtype=np.uint64),
        q=np.zeros(positions * BLOCK),
        v=np.zeros(rows * BLOCK),
        a=np.zeros(rows * BLOCK),
        mask=np.zeros(rows * BLOCK),
    )


def _own_axes(tree: Tree) -> NDArray[np.float64]:
    """(pairs, 6) partial velocities of the rows that begin at their body: constant, hence written once."""
    axes = np.zeros((int(tree.pair_start[-1]), 6))
    for i in range(tree.bodies):
        pair = tree.pair_start[i] + tree.own_pair[i]
        if tree.kind[i] == FLOATING:
            axes[pair : pair + 6] = np.eye(6)
        else:
            half = slice(0, 3) if tree.kind[i] == PRISMATIC else slice(3, 6)
            axes[pair, half] = tree.ratio[i] * tree.axis[i]
    return axes


@jit()
def _lines(slot, first, spare, ld, column, to):
    """Where the ten columns of a pair go: the beginnings of their panel lines, spare lines for unwanted ones

    (one each: lines that coincide would stop vectorisation)."""
    for e in range(10):
        line = slot[first + e]
        to[e] = np.uint64(line if line >= 0 else spare + e) * ld + column


@jit(fastmath=FAST)
def _block(tree, work, plan, P, ld, column):
    """Regressor of the BLOCK samples loaded in `work`, written to panel columns column..column+BLOCK."""
    S, J, R, to = work.motion, work.axes, work.turn, work.lines
    spare = plan.start[plan.start.shape[0] - 1]
    bodies = tree.parent.shape[0]
    for i in range(bodies):
        parent = tree.parent[i]
        po = np.uint64(parent if parent >= 0 else bodies) * _STATE
        o = np.uint64(i) * _STATE
        kind = tree.kind[i]
        qo = np.uint64(tree.position[i]) * L
        vo = np.uint64(tree.row[i]) * L
        axis, p, F = tree.axis[i], tree.translation[i], tree.fixed[i]
        ratio, offset = tree.ratio[i], tree.offset[i]
        if kind == REVOLUTE:
            motion.turn_revolute(R, work.q, qo, ratio, offset, tree.constant[i], tree.sine[i], tree.cosine[i])
            motion.move_revolute(
                work.fresh, S, po, R, work.v, work.a, vo, ratio, axis[0], axis[1], axis[2], p[0], p[1], p[2]
            )
        elif kind == PRISMATIC:
            motion.move_prismatic(work.fresh, S, po, F, work.q, qo, work.v, work.a, vo, ratio, offset, axis, p)
        else:
            motion.move_floating(work.fresh, work.q, work.v, work.a, tree.base_acceleration)
        motion.copy_rows(work.fresh, S, o, np.uint64(9))
        first = tree.pair_start[i]
        above = tree.pair_start[parent + 1] - tree.pair_start[parent] if parent >= 0 else 0
        for k in range(tree.pair_start[i + 1] - first):
            pair = first + k
            jo = np.uint64(pair) * _AXIS
            if k < above:
                pjo = np.uint64(tree.pair_start[parent] + k) * _AXIS
                if kind == PRISMATIC:
                    motion.carry_prismatic(J, jo, pjo, F, work.q, qo, ratio, offset, axis, p)
                else:
                    motion.carry_revolute(J, jo, pjo, R, p[0], p[1], p[2])
                if k == tree.own_pair[i]:
                    motion.add_axis(J, jo, kind, axis, ratio)
            mo = np.uint64(tree.pair_row[pair]) * L
            _lines(plan.slot, 10 * pair, spare, ld, column, to)
            motion.mass_columns(J, jo, S, o, work.mask, mo, P, to[0], to[1], to[2], to[3])
            motion.inertia_columns(J, jo, S, o, work.mask, mo, P, to[4], to[5], to[6], to[7], to[8], to[9])


@jit()
def _transpose(source, k0, target):
    """BLOCK samples from k0, turned so that each signal is a row; past the end the last sample is repeated."""
    K = np.uint64(source.shape[0])
    first = np.uint64(k0)
    for j in range(np.uint64(source.shape[1])):
        o = j * L
        if first + L <= K:
            for s in range(L):
                target[o + s] = source[first + s, j]
        else:
            for s in range(L):
                target[o + s] = source[min(first + s, K - np.uint64(1)), j]


@jit()
def _load(Q, V, A, M, k0, work):
    """Put BLOCK samples from k0 into the work rows, and what each row is multiplied by: zero past the end."""
    _transpose(Q, k0, work.q)
    _transpose(V, k0, work.v)
    _transpose(A, k0, work.a)
    work.mask[:] = 1.0
    K, rows = V.shape
    if M.shape[0] > 0 or k0 + BLOCK > K:
        for j in range(rows):
            for s in range(BLOCK):
                if k0 + s >= K:
                    work.mask[j * BLOCK + s] = 0.0
                elif M.shape[0] > 0:
                    work.mask[j * BLOCK + s] = M[k0 + s, j]


@jit(fastmath=FAST)
def fill(tree, plan, Q, V, A, M, X, k0, chunk, work, P, ld, column):
    """Fill the panels with samples k0..k0+chunk: rigid columns from the tree, the other lines from X.

    Args:
        Q, V, A: (K, positions), (K, n), (K, n) positions, velocities, accelerations in SI.
        M: (K, n) what each row is multiplied by, zero to leave it out; (0, 0) for ones.
        X: (m, K) feature rows (terms and torque), for the lines plan.extra_slot.
        P: flat panel buffer; line r begins at r * ld, the samples go to its columns column..column+chunk. SPARE
            lines behind the last take the columns that nobody wants.
    """
    K = V.shape[0]
    for c in range(0, chunk, BLOCK):
        at = np.uint64(column + c)
        if k0 + c >= K:
            for line in range(plan.start[plan.start.shape[0] - 1]):
                to = np.uint64(line) * ld + at
                for s in range(L):
                    P[to + s] = 0.0
            continue
        _load(Q, V, A, M, k0 + c, work)
        _block(tree, work, plan, P, ld, at)
        stop = min(BLOCK, K - k0 - c)
        for r in range(plan.extra_slot.shape[0]):
            to = np.uint64(plan.extra_slot[r]) * ld + at
            mo = np.uint64(plan.extra_row[r]) * L
            for s in range(np.uint64(stop)):
                P[to + s] = X[r, k0 + c + s] * work.mask[mo + s]
            for s in range(np.uint64(stop), L):
                P[to + s] = 0.0
