"""THE regressor: torque rows of a rigid-body tree for blocks of samples, left in cache for whoever reduces them.

Each ancestor axis is carried down to the body (a 6-vector) rather than 6 x 10 blocks up, and only the pairs of a body
and a row that moves it are computed. Equations: motion.py.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.robot import motion
from steelyard.robot.aligned import aligned_zeros
from steelyard.robot.motion import BLOCK, FAST, FIELD, NEXT, ROW, L, jit
from steelyard.robot.tree import FLOATING, PRISMATIC, REVOLUTE, Tree

SPARE = 10
_STATE, _AXIS = np.uint64(9 * ROW), np.uint64(6 * ROW)


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
    """Scratch of one thread, allocated once: `motion` (w, a, d), `axes` (f, h), `field`, `turn`, `lines`, inputs.

    `place` says where among `motion` and `axes` a body's rows begin, counted in bodies and in pairs. A body may take
    the place of its parent once nobody else needs that (`moved_in`): what is in use stays in the innermost cache.
    """

    motion: NDArray[np.float64]
    axes: NDArray[np.float64]
    field: NDArray[np.float64]
    turn: NDArray[np.float64]
    lines: NDArray[np.uint64]
    q: NDArray[np.float64]
    v: NDArray[np.float64]
    a: NDArray[np.float64]
    mask: NDArray[np.float64]
    place: NDArray[np.int64]
    moved_in: NDArray[np.bool_]


def workspace(tree: Tree, *, keep: bool = False) -> Workspace:
    """Scratch arrays for `fill`.

    Args:
        keep: give every body and pair a place of its own, in order, so that all can be read afterwards; the place
            behind the last body holds the motion of the base.
    """
    n, rows = tree.bodies, tree.rows
    place, moved_in = _places(tree, keep)
    pairs = place[1, :n] + np.diff(tree.pair_start)
    moves = aligned_zeros((int(place[0].max()) + 1) * 9 * ROW)
    moves.reshape(-1, 9, ROW)[place[0, n], 6:] = tree.base_acceleration[:, None]
    mask = aligned_zeros(rows * ROW)
    mask[:] = 1.0
    return Workspace(
        motion=moves,
        axes=aligned_zeros(6 * ROW * int(pairs.max(initial=0))),
        field=aligned_zeros(FIELD * ROW),
        turn=aligned_zeros(11 * ROW),
        lines=np.zeros(10, dtype=np.uint64),
        q=aligned_zeros((rows + 4) * ROW),
        v=aligned_zeros(rows * ROW),
        a=aligned_zeros(rows * ROW),
        mask=mask,
        place=place,
        moved_in=moved_in,
    )


def _places(tree: Tree, keep: bool) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(2, N + 1) places of bodies and of their first pairs, the base last; and who takes the place of its parent.

    Bodies in depth-first order need a stack: the last child takes its parent's place, another one the next behind it.
    """
    n = tree.bodies
    moved_in = np.zeros(n, dtype=np.bool_)
    if keep or not _depth_first(tree.parent):
        return np.stack([np.arange(n + 1), tree.pair_start]), moved_in
    place = np.zeros((2, n + 1), dtype=np.int64)
    for i in range(n):
        parent = int(tree.parent[i])
        moved_in[i] = parent >= 0 and not (tree.parent[i + 1 :] == parent).any()
        place[0, i] = place[0, parent] + (not moved_in[i])
        if parent >= 0:
            place[1, i] = place[1, parent]
            if not moved_in[i]:
                place[1, i] += tree.pair_start[parent + 1] - tree.pair_start[parent]
    return place, moved_in


def _depth_first(parent: NDArray[np.int64]) -> bool:
    """Whether each body follows its parent or a descendant of its parent."""
    path: list[int] = [-1]
    for i, above in enumerate(parent.tolist()):
        while path and path[-1] != above:
            path.pop()
        if not path:
            return False
        path.append(i)
    return True


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
    for i in range(tree.parent.shape[0]):
        parent, kind = tree.parent[i], tree.kind[i]
        o, jo = np.uint64(work.place[0, i]) * _STATE, np.uint64(work.place[1, i]) * _AXIS
        qo, vo = np.uint64(tree.position[i]) * NEXT, np.uint64(tree.row[i]) * NEXT
        axis, p, F = tree.axis[i], tree.translation[i], tree.fixed[i]
        ratio, offset = tree.ratio[i], tree.offset[i]
        above = tree.pair_start[parent + 1] - tree.pair_start[parent] if parent >= 0 else 0
        if not work.moved_in[i]:
            motion.copy_rows(S, np.uint64(work.place[0, parent]) * _STATE, o, 9)
            motion.copy_rows(J, np.uint64(work.place[1, parent]) * _AXIS, jo, 6 * above)
        if kind == REVOLUTE:
            motion.turn_revolute(R, work.q, qo, ratio, offset, tree.constant[i], tree.sine[i], tree.cosine[i])
            motion.move_revolute(S, o, R, work.v, work.a, vo, ratio, axis[0], axis[1], axis[2], p[0], p[1], p[2])
        elif kind == PRISMATIC:
            motion.move_prismatic(S, o, F, work.q, qo, work.v, work.a, vo, ratio, offset, axis, p)
        else:
            motion.move_floating(S, o, work.q, work.v, work.a, tree.base_acceleration)
            motion.base_axes(J, jo, work.mask, vo)
        motion.field(S, o, work.field)
        first = tree.pair_start[i]
        for k in range(tree.pair_start[i + 1] - first):
            pair = first + k
            mo = np.uint64(tree.pair_row[pair]) * NEXT
            if k < above:
                if kind == PRISMATIC:
                    motion.carry_prismatic(J, jo, F, work.q, qo, ratio, offset, axis, p)
                elif tree.slides[pair]:
                    motion.turn_axis(J, jo, R)
                else:
                    motion.carry_revolute(J, jo, R, p[0], p[1], p[2])
                if k == tree.own_pair[i]:
                    motion.add_axis(J, jo, kind, axis, ratio, work.mask, mo)
            elif kind != FLOATING:
                motion.own_axis(J, jo, kind, axis, ratio, work.mask, mo)
            _lines(plan.slot, 10 * pair, spare, ld, column, to)
            motion.mass_columns(J, jo, S, o, work.field, P, to[0], to[1], to[2], to[3])
            if tree.slides[pair]:
                for e in range(4, 10):
                    if plan.slot[10 * pair + e] >= 0:
                        P[to[e] : to[e] + L] = 0.0
            else:
                motion.inertia_columns(J, jo, S, o, work.field, P, to[4], to[5], to[6], to[7], to[8], to[9])
            jo += _AXIS


@jit()
def _transpose(source, k0, target):
    """BLOCK samples from k0, turned so that each signal is a row; past the end the last sample is repeated."""
    K = np.uint64(source.shape[0])
    first = np.uint64(k0)
    for j in range(np.uint64(source.shape[1])):
        o = j * NEXT
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
                    work.mask[j * ROW + s] = 0.0
                elif M.shape[0] > 0:
                    work.mask[j * ROW + s] = M[k0 + s, j]


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
            mo = np.uint64(plan.extra_row[r]) * NEXT
            for s in range(np.uint64(stop)):
                P[to + s] = X[r, k0 + c + s] * work.mask[mo + s]
            for s in range(np.uint64(stop), L):
                P[to + s] = 0.0
