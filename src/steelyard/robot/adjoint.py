"""The adjoint of the regressor: what a change of motion does to any weighted sum of regressor entries.

`phi = sum_k <W_k, Y(q_k, dq_k, ddq_k)>` for given weights W; its derivatives by q, dq and ddq cost about two
evaluations of Y, whatever the number of joints. A criterion of the information matrix `G = sum_k Y_k' Y_k` with
`d phi = <H, dG>` has the weights `W = 2 Y H`. The forward sweep is the kernel's own, its motions and partial
velocities kept on a tape; the reverse sweep (Griewank & Walther, Evaluating Derivatives, ch. 3) is derived by hand in
`adjoint_steps.py`. Both go block by block of samples; entries and weights lie in panels with one line a column, so that
a caller can reduce many blocks at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import ModelError
from steelyard.robot import adjoint_steps as steps
from steelyard.robot import motion
from steelyard.robot.aligned import aligned_copies, aligned_zeros
from steelyard.robot.kernel import SPARE, Workspace, fill, workspace
from steelyard.robot.motion import BLOCK, FAST, NEXT, ROW, L, jit
from steelyard.robot.regressor import NO_MASK, build_plan
from steelyard.robot.tree import FLOATING, PRISMATIC, Tree

Array = NDArray[np.float64]
LANES = 8  # samples are done in bundles of so many: a remainder would be done one by one
SHORT = BLOCK + 8  # doubles a line of a block's weights: a cache line more than the samples, off a power of two
_SHORT = np.uint64(SHORT)
_STATE, _AXIS = np.uint64(9 * ROW), np.uint64(6 * ROW)


class Tape(NamedTuple):
    """What the forward sweep leaves behind, block after block, and the scratch of the reverse sweep.

    `motion` and `axes` hold one stretch a block, laid out as in `kernel.Workspace`; `lever` per body the joint's place
    and sliding direction in the parent frame (six numbers, the direction zero for a revolute joint).
    """

    work: Workspace
    motion: Array
    axes: Array
    lever: Array
    slide: Array
    axes_bar: Array
    motion_bar: Array
    moment: Array
    field_bar: Array
    back: Array
    rates: Array
    no_mask: Array


class Gradient(NamedTuple):
    """Derivatives of phi by positions, velocities and accelerations, each (K, n)."""

    q: Array
    v: Array
    a: Array


def line_length(samples: int) -> int:
    """Doubles a line of a panel for `samples` samples: whole blocks, and a cache line more, off a power of two."""
    return -(-samples // BLOCK) * BLOCK + 8


def tape(tree: Tree, samples: int) -> Tape:
    """Buffers for `samples` samples of a fixed-base tree.

    Raises:
        ModelError: the base floats.
    """
    if np.any(tree.kind == FLOATING):
        raise ModelError(
            "the adjoint is for robots with a fixed base", value="a floating joint", cure="fix the base to the world"
        )
    blocks = -(-samples // BLOCK)
    work = workspace(tree, keep=True)
    slide = np.einsum("nij,nj->ni", tree.fixed.reshape(-1, 3, 3), tree.axis) * (tree.kind == PRISMATIC)[:, None]
    return Tape(
        work=work,
        motion=aligned_copies(work.motion, blocks),
        axes=aligned_copies(work.axes, blocks),
        lever=np.hstack([tree.translation, slide]),
        slide=aligned_zeros(BLOCK),
        axes_bar=aligned_zeros(work.axes.size),
        motion_bar=aligned_zeros(work.motion.size),
        moment=aligned_zeros(3 * ROW),
        field_bar=aligned_zeros(12 * ROW),
        back=aligned_zeros(12 * ROW),
        rates=aligned_zeros(3 * tree.rows * ROW),
        no_mask=NO_MASK,
    )


@jit(fastmath=FAST)
def record_block(tree, plan, Q, V, A, X, k0, tape, P, line):
    """Fill one block of the panel P as `kernel.fill` does; its motions stay on the tape.

    Args:
        Q, V, A, X: as for `fill`.
        k0: first sample of the block, a multiple of BLOCK, and where it begins in the lines of P.
        line: their length.
    """
    work, b = tape.work, k0 // BLOCK
    size, wide = work.motion.shape[0], work.axes.shape[0]
    own = Workspace(
        tape.motion[b * size : (b + 1) * size], tape.axes[b * wide : (b + 1) * wide], work.field, work.turn,
        work.lines, work.q, work.v, work.a, work.mask, work.place, work.moved_in,
    )  # fmt: skip
    fill(tree, plan, Q, V, A, tape.no_mask, X, k0, BLOCK, own, P, np.uint64(line), k0)


@jit()
def _lines(slot, first, spare, to):
    """Where the weights of a pair's ten columns begin, the spare lines for unwanted ones; False where all are."""
    wanted = False
    for e in range(10):
        own = slot[first + e]
        wanted = wanted or own >= 0
        to[e] = np.uint64(own if own >= 0 else spare + e) * _SHORT
    return wanted


@jit(fastmath=FAST)
def _zero(x):
    for s in range(np.uint64(x.shape[0])):
        x[s] = 0.0


@jit(fastmath=FAST)
def _place(X, Q, qo, ratio, offset):
    for s in range(L):
        X[s] = ratio * Q[qo + s] + offset


@jit(fastmath=FAST)
def _reverse(n, tree, plan, tape, S, J, W):
    """Reverse sweep over n samples of a block, whose inputs lie in tape.work; derivatives go to tape.rates."""
    work, G, E, N, B, X, D = (
        tape.work, tape.axes_bar, tape.motion_bar, tape.moment, tape.back, tape.slide, tape.rates
    )  # fmt: skip
    R, to, bodies, rows = work.turn, work.lines, tree.parent.shape[0], np.uint64(tree.rows)
    spare = plan.start[plan.start.shape[0] - 1]
    _zero(G)
    _zero(E)
    _zero(D)
    for back in range(bodies):
        i = bodies - 1 - back
        parent, kind = tree.parent[i], tree.kind[i]
        po = np.uint64(parent if parent >= 0 else bodies) * _STATE
        o = np.uint64(i) * _STATE
        qo, vo = np.uint64(tree.position[i]) * NEXT, np.uint64(tree.row[i]) * NEXT
        axis, p, F = tree.axis[i], tape.lever[i], tree.fixed[i]
        ratio, offset = tree.ratio[i], tree.offset[i]
        if kind == PRISMATIC:
            _place(X, work.q, qo, ratio, offset)
        else:
            motion.turn_revolute(R, work.q, qo, ratio, offset, tree.constant[i], tree.sine[i], tree.cosine[i])
        _zero(N)
        _zero(tape.field_bar)
        motion.field(S, o, work.field)
        first = tree.pair_start[i]
        above = tree.pair_start[parent + 1] - tree.pair_start[parent] if parent >= 0 else 0
        for k in range(tree.pair_start[i + 1] - first):
            pair = first + k
            jo = np.uint64(pair) * _AXIS
            if _lines(plan.slot, 10 * pair, spare, to):
                steps.ten_columns_adjoint(
                    n, W, to[0], to[1], to[2], to[3], to[4], to[5], to[6], to[7], to[8], to[9],
                    J, jo, S, o, work.field, G, tape.field_bar,
                )  # fmt: skip
            if k < above:
                pjo = np.uint64(tree.pair_start[parent] + k) * _AXIS
                if kind == PRISMATIC:
                    steps.carry_prismatic_adjoint(n, G, jo, J, pjo, F, X, p, N, B)
                else:
                    steps.carry_revolute_adjoint(n, G, jo, J, R, p[0], p[1], p[2], N, B)
                steps.add_rows(n, B, G, pjo)
        steps.field_adjoint(n, tape.field_bar, S, o, E)
        if kind == PRISMATIC:
            steps.move_prismatic_adjoint(n, E, o, S, po, F, X, work.v, vo, ratio, p, N, B)
        else:
            steps.move_revolute_adjoint(n, E, o, S, o, R, work.v, vo, ratio, axis[0], axis[1], axis[2], N, B)
        steps.give_to_parent(n, E, po, S, X, p, B)
        for c in range(3):
            steps.add_scaled(n, B, np.uint64(9 + c) * NEXT, ratio, D, np.uint64(c) * rows * NEXT + vo)


@jit()
def _rows(source, k0, target):
    """BLOCK samples from k0, turned so that each signal is a row; past the end the last sample is repeated."""
    last = source.shape[0] - 1
    for j in range(source.shape[1]):
        for s in range(BLOCK):
            target[j * ROW + s] = source[min(k0 + s, last), j]


@jit(fastmath=FAST)
def reverse_block(tree, plan, Q, V, k0, tape, W, rates):
    """Derivatives of `sum weight * entry` over one recorded block.

    Args:
        Q, V: (K, n) positions and velocities that were recorded.
        k0: first sample of the block.
        W: the block's weights, laid out as the panel but in lines of SHORT, spare lines zero; those past the last
            sample must be finite.
        line: length of its lines.
        rates: (n, 3, K) derivatives by q, dq and ddq; the block's samples are written.
    """
    b = k0 // BLOCK
    size, wide = tape.work.motion.shape[0], tape.work.axes.shape[0]
    _rows(Q, k0, tape.work.q)
    _rows(V, k0, tape.work.v)
    S, J = tape.motion[b * size : (b + 1) * size], tape.axes[b * wide : (b + 1) * wide]
    left = min(BLOCK, rates.shape[2] - k0)
    count = np.uint64(left)
    _reverse(np.uint64((left + LANES - 1) // LANES * LANES), tree, plan, tape, S, J, W)
    for j in range(tree.rows):
        for c in range(3):
            source = np.uint64(c * tree.rows + j) * NEXT
            for s in range(count):
                rates[j, c, np.uint64(k0) + s] = tape.rates[source + s]


def regressor_gradient(tree: Tree, q: Array, v: Array, a: Array, weights: Array) -> Gradient:
    """Derivatives of `sum_k <weights[k], Y(q_k, v_k, a_k)>`; memory grows with K, so for small K.

    Args:
        q, v, a: (K, n) positions, velocities, accelerations in SI.
        weights: (K, n, 10 N), one a regressor entry.

    Raises:
        ModelError: the base floats.
    """
    K, rows, bodies = len(v), tree.rows, tree.bodies
    buffers = tape(tree, K)
    moved = [set(tree.pair_row[tree.pair_start[i] : tree.pair_start[i + 1]].tolist()) for i in range(bodies)]
    support = [[10 * i + e for i in range(bodies) if row in moved[i] for e in range(10)] for row in range(rows)]
    plan = build_plan(tree, support, np.arange(10 * bodies), [])
    lines, line = int(plan.start[-1]) + SPARE, line_length(K)
    panel, W, rates = np.zeros(lines * line), np.zeros((lines, SHORT)), np.zeros((rows, 3, K))
    q, v, a = (np.ascontiguousarray(x, dtype=np.float64) for x in (q, v, a))
    for k0 in range(0, K, BLOCK):
        block = weights[k0 : k0 + BLOCK]
        for row, columns in enumerate(support):
            W[plan.start[row] : plan.start[row + 1] - 1, : len(block)] = block[:, row, columns].T
        record_block(tree, plan, q, v, a, np.zeros((rows, K)), k0, buffers, panel, line)
        reverse_block(tree, plan, q, v, k0, buffers, W.reshape(-1), rates)
    return Gradient(*(np.ascontiguousarray(rates[:, c].T) for c in range(3)))
