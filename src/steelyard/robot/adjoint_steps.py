"""Elementary steps of the reverse sweep over one block of samples: each undoes a step of `motion.py`.

A body's points accelerate, in its own frame, by `d + A r` with `A = [a]x + w w' - |w|^2 1`. The weights M, m, I of the
ten columns of a (body, row) pair act as a body would, with `S = tr(I) / 2 - I` for its second moments: with (f, h) the
partial velocity of the row,

    phi = f . (M d + A m) + h . (m x d + n),        n_x = (A S)_zy - (A S)_yz and so on in turn,

and the derivatives (primed) are

    f' = M d + A m      h' = m x d + n      d' = M f + h x m      A' = f m' + [h]x S.

A vector u = R^T u_p turned into the frame of a joint about x adds -x . (u x u') to the derivative by its angle.
Loops write to few arrays and read from few others, since the compiler vectorises only what it can prove apart with a
handful of comparisons; that is why sums pass through small arrays of their own. Each takes the number n of samples
that count, since the last block of a motion is seldom full.
"""

from __future__ import annotations

import numpy as np

from steelyard.robot.motion import FAST, NEXT, ROW, jit

_1, _2, _3, _4, _5, _6, _7, _8, _9 = (np.uint64(k * ROW) for k in range(1, 10))


@jit(fastmath=FAST)
def ten_columns_adjoint(n, W, m, x, y, z, ixx, ixy, iyy, ixz, iyz, izz, J, jo, S, o, A, G, B):
    """From weights in ten lines of W: add f', h' to the pair's rows of G, and A', d' to the twelve rows of B."""
    for s in range(n):
        M = W[m + s]
        m0 = W[x + s]
        m1 = W[y + s]
        m2 = W[z + s]
        half = 0.5 * (W[ixx + s] + W[iyy + s] + W[izz + s])
        xx = half - W[ixx + s]
        xy = -W[ixy + s]
        yy = half - W[iyy + s]
        xz = -W[ixz + s]
        yz = -W[iyz + s]
        zz = half - W[izz + s]
        f0 = J[jo + s]
        f1 = J[jo + _1 + s]
        f2 = J[jo + _2 + s]
        h0 = J[jo + _3 + s]
        h1 = J[jo + _4 + s]
        h2 = J[jo + _5 + s]
        a00 = A[s]
        a01 = A[_1 + s]
        a02 = A[_2 + s]
        a10 = A[_3 + s]
        a11 = A[_4 + s]
        a12 = A[_5 + s]
        a20 = A[_6 + s]
        a21 = A[_7 + s]
        a22 = A[_8 + s]
        d0 = S[o + _6 + s]
        d1 = S[o + _7 + s]
        d2 = S[o + _8 + s]
        G[jo + s] += M * d0 + a00 * m0 + a01 * m1 + a02 * m2
        G[jo + _1 + s] += M * d1 + a10 * m0 + a11 * m1 + a12 * m2
        G[jo + _2 + s] += M * d2 + a20 * m0 + a21 * m1 + a22 * m2
        n0 = a20 * xy + a21 * yy + a22 * yz - a10 * xz - a11 * yz - a12 * zz
        n1 = a00 * xz + a01 * yz + a02 * zz - a20 * xx - a21 * xy - a22 * xz
        n2 = a10 * xx + a11 * xy + a12 * xz - a00 * xy - a01 * yy - a02 * yz
        G[jo + _3 + s] += n0 + m1 * d2 - m2 * d1
        G[jo + _4 + s] += n1 + m2 * d0 - m0 * d2
        G[jo + _5 + s] += n2 + m0 * d1 - m1 * d0
        B[s] += f0 * m0 + h1 * xz - h2 * xy
        B[_1 + s] += f0 * m1 + h1 * yz - h2 * yy
        B[_2 + s] += f0 * m2 + h1 * zz - h2 * yz
        B[_3 + s] += f1 * m0 + h2 * xx - h0 * xz
        B[_4 + s] += f1 * m1 + h2 * xy - h0 * yz
        B[_5 + s] += f1 * m2 + h2 * xz - h0 * zz
        B[_6 + s] += f2 * m0 + h0 * xy - h1 * xx
        B[_7 + s] += f2 * m1 + h0 * yy - h1 * xy
        B[_8 + s] += f2 * m2 + h0 * yz - h1 * xz
        B[_9 + s] += M * f0 + h1 * m2 - h2 * m1
        B[_9 + _1 + s] += M * f1 + h2 * m0 - h0 * m2
        B[_9 + _2 + s] += M * f2 + h0 * m1 - h1 * m0


@jit(fastmath=FAST)
def field_adjoint(n, B, S, o, E):
    """Undo `motion.field`: add w', a', d' to the body's rows of E."""
    for s in range(n):
        w0 = S[o + s]
        w1 = S[o + _1 + s]
        w2 = S[o + _2 + s]
        xx = B[s]
        yy = B[_4 + s]
        zz = B[_8 + s]
        xy = B[_1 + s] + B[_3 + s]
        xz = B[_2 + s] + B[_6 + s]
        yz = B[_5 + s] + B[_7 + s]
        E[o + s] += xy * w1 + xz * w2 - 2.0 * (yy + zz) * w0
        E[o + _1 + s] += xy * w0 + yz * w2 - 2.0 * (xx + zz) * w1
        E[o + _2 + s] += xz * w0 + yz * w1 - 2.0 * (xx + yy) * w2
        E[o + _3 + s] += B[_7 + s] - B[_5 + s]
        E[o + _4 + s] += B[_2 + s] - B[_6 + s]
        E[o + _5 + s] += B[_3 + s] - B[_1 + s]
        E[o + _6 + s] += B[_9 + s]
        E[o + _7 + s] += B[_9 + _1 + s]
        E[o + _8 + s] += B[_9 + _2 + s]


@jit(fastmath=FAST)
def carry_revolute_adjoint(n, G, jo, J, R, px, py, pz, N, B):
    """Turn f', h' of an ancestor's row back to the parent, into B (six rows); N += f x f' + h x h' (three rows)."""
    for s in range(n):
        f0 = G[jo + s]
        f1 = G[jo + _1 + s]
        f2 = G[jo + _2 + s]
        h0 = G[jo + _3 + s]
        h1 = G[jo + _4 + s]
        h2 = G[jo + _5 + s]
        e0 = J[jo + s]
        e1 = J[jo + _1 + s]
        e2 = J[jo + _2 + s]
        x0 = J[jo + _3 + s]
        x1 = J[jo + _4 + s]
        x2 = J[jo + _5 + s]
        N[s] += e1 * f2 - e2 * f1 + x1 * h2 - x2 * h1
        N[_1 + s] += e2 * f0 - e0 * f2 + x2 * h0 - x0 * h2
        N[_2 + s] += e0 * f1 - e1 * f0 + x0 * h1 - x1 * h0
        r0 = R[s]
        r1 = R[_1 + s]
        r2 = R[_2 + s]
        r3 = R[_3 + s]
        r4 = R[_4 + s]
        r5 = R[_5 + s]
        r6 = R[_6 + s]
        r7 = R[_7 + s]
        r8 = R[_8 + s]
        g0 = r0 * f0 + r1 * f1 + r2 * f2
        g1 = r3 * f0 + r4 * f1 + r5 * f2
        g2 = r6 * f0 + r7 * f1 + r8 * f2
        B[s] = g0
        B[_1 + s] = g1
        B[_2 + s] = g2
        B[_3 + s] = r0 * h0 + r1 * h1 + r2 * h2 + py * g2 - pz * g1
        B[_4 + s] = r3 * h0 + r4 * h1 + r5 * h2 + pz * g0 - px * g2
        B[_5 + s] = r6 * h0 + r7 * h1 + r8 * h2 + px * g1 - py * g0


@jit(fastmath=FAST)
def carry_prismatic_adjoint(n, G, jo, J, pjo, F, X, p, N, B):
    """As `carry_revolute_adjoint`; X is where the joint's origin is, p + X e (row 0 of X), and N += f_p' x h_p."""
    ox, oy, oz, ex, ey, ez = p[0], p[1], p[2], p[3], p[4], p[5]
    for s in range(n):
        f0 = G[jo + s]
        f1 = G[jo + _1 + s]
        f2 = G[jo + _2 + s]
        h0 = G[jo + _3 + s]
        h1 = G[jo + _4 + s]
        h2 = G[jo + _5 + s]
        g0 = F[0] * f0 + F[1] * f1 + F[2] * f2
        g1 = F[3] * f0 + F[4] * f1 + F[5] * f2
        g2 = F[6] * f0 + F[7] * f1 + F[8] * f2
        px = ox + ex * X[s]
        py = oy + ey * X[s]
        pz = oz + ez * X[s]
        x0 = J[pjo + _3 + s]
        x1 = J[pjo + _4 + s]
        x2 = J[pjo + _5 + s]
        N[s] += g1 * x2 - g2 * x1
        N[_1 + s] += g2 * x0 - g0 * x2
        N[_2 + s] += g0 * x1 - g1 * x0
        B[s] = g0
        B[_1 + s] = g1
        B[_2 + s] = g2
        B[_3 + s] = F[0] * h0 + F[1] * h1 + F[2] * h2 + py * g2 - pz * g1
        B[_4 + s] = F[3] * h0 + F[4] * h1 + F[5] * h2 + pz * g0 - px * g2
        B[_5 + s] = F[6] * h0 + F[7] * h1 + F[8] * h2 + px * g1 - py * g0


@jit(fastmath=FAST)
def move_revolute_adjoint(n, E, eo, S, o, R, V, vo, ratio, x, y, z, N, B):
    """Undo `move_revolute`.

    B gets nine rows: u' and a' turned into the parent frame, and d' there; then the derivatives by the joint's
    angle, speed and acceleration (rows 9, 10, 11), not yet times the ratio of a mimicking joint.
    """
    for s in range(n):
        v = ratio * V[vo + s]
        wx = S[o + s]
        wy = S[o + _1 + s]
        wz = S[o + _2 + s]
        wb0 = E[eo + s]
        wb1 = E[eo + _1 + s]
        wb2 = E[eo + _2 + s]
        ab0 = E[eo + _3 + s]
        ab1 = E[eo + _4 + s]
        ab2 = E[eo + _5 + s]
        db0 = E[eo + _6 + s]
        db1 = E[eo + _7 + s]
        db2 = E[eo + _8 + s]
        c0 = wy * z - wz * y  # u x axis = w x axis, as w = u + axis v
        c1 = wz * x - wx * z
        c2 = wx * y - wy * x
        b0 = S[o + _3 + s] - c0 * v  # what was turned: a without what the joint added along its axis, which drops out
        b1 = S[o + _4 + s] - c1 * v
        b2 = S[o + _5 + s] - c2 * v
        u0 = wb0 + v * (y * ab2 - z * ab1)
        u1 = wb1 + v * (z * ab0 - x * ab2)
        u2 = wb2 + v * (x * ab1 - y * ab0)
        d0 = S[o + _6 + s]
        d1 = S[o + _7 + s]
        d2 = S[o + _8 + s]
        n0 = N[s] + wy * u2 - wz * u1 + b1 * ab2 - b2 * ab1 + d1 * db2 - d2 * db1
        n1 = N[_1 + s] + wz * u0 - wx * u2 + b2 * ab0 - b0 * ab2 + d2 * db0 - d0 * db2
        n2 = N[_2 + s] + wx * u1 - wy * u0 + b0 * ab1 - b1 * ab0 + d0 * db1 - d1 * db0
        # u x u' dot axis: w differs from u by axis * v, and (axis x u') . axis = 0
        B[_9 + s] = -(x * n0 + y * n1 + z * n2)
        B[_9 + _1 + s] = x * wb0 + y * wb1 + z * wb2 + ab0 * c0 + ab1 * c1 + ab2 * c2
        B[_9 + _2 + s] = x * ab0 + y * ab1 + z * ab2
        r0 = R[s]
        r1 = R[_1 + s]
        r2 = R[_2 + s]
        r3 = R[_3 + s]
        r4 = R[_4 + s]
        r5 = R[_5 + s]
        r6 = R[_6 + s]
        r7 = R[_7 + s]
        r8 = R[_8 + s]
        B[s] = r0 * u0 + r1 * u1 + r2 * u2
        B[_1 + s] = r3 * u0 + r4 * u1 + r5 * u2
        B[_2 + s] = r6 * u0 + r7 * u1 + r8 * u2
        B[_3 + s] = r0 * ab0 + r1 * ab1 + r2 * ab2
        B[_4 + s] = r3 * ab0 + r4 * ab1 + r5 * ab2
        B[_5 + s] = r6 * ab0 + r7 * ab1 + r8 * ab2
        B[_6 + s] = r0 * db0 + r1 * db1 + r2 * db2
        B[_7 + s] = r3 * db0 + r4 * db1 + r5 * db2
        B[_8 + s] = r6 * db0 + r7 * db1 + r8 * db2


@jit(fastmath=FAST)
def move_prismatic_adjoint(n, E, eo, S, po, F, X, V, vo, ratio, p, N, B):
    """Undo `move_prismatic`; B as in `move_revolute_adjoint`, with the speed's share of w' already in it."""
    ex, ey, ez = p[3], p[4], p[5]
    for s in range(n):
        v = 2.0 * ratio * V[vo + s]
        wb0 = E[eo + s]
        wb1 = E[eo + _1 + s]
        wb2 = E[eo + _2 + s]
        ab0 = E[eo + _3 + s]
        ab1 = E[eo + _4 + s]
        ab2 = E[eo + _5 + s]
        db0 = E[eo + _6 + s]
        db1 = E[eo + _7 + s]
        db2 = E[eo + _8 + s]
        g0 = F[0] * db0 + F[1] * db1 + F[2] * db2
        g1 = F[3] * db0 + F[4] * db1 + F[5] * db2
        g2 = F[6] * db0 + F[7] * db1 + F[8] * db2
        w0 = S[po + s]
        w1 = S[po + _1 + s]
        w2 = S[po + _2 + s]
        a0 = S[po + _3 + s]
        a1 = S[po + _4 + s]
        a2 = S[po + _5 + s]
        wg = w0 * g0 + w1 * g1 + w2 * g2
        ww = w0 * w0 + w1 * w1 + w2 * w2
        q0 = N[s] + g1 * a2 - g2 * a1 + w0 * wg - g0 * ww
        q1 = N[_1 + s] + g2 * a0 - g0 * a2 + w1 * wg - g1 * ww
        q2 = N[_2 + s] + g0 * a1 - g1 * a0 + w2 * wg - g2 * ww
        c0 = w1 * ez - w2 * ey
        c1 = w2 * ex - w0 * ez
        c2 = w0 * ey - w1 * ex
        B[_9 + s] = ex * q0 + ey * q1 + ez * q2
        B[_9 + _1 + s] = 2.0 * (c0 * g0 + c1 * g1 + c2 * g2)
        B[_9 + _2 + s] = ex * g0 + ey * g1 + ez * g2
        B[s] = F[0] * wb0 + F[1] * wb1 + F[2] * wb2 + v * (ey * g2 - ez * g1)
        B[_1 + s] = F[3] * wb0 + F[4] * wb1 + F[5] * wb2 + v * (ez * g0 - ex * g2)
        B[_2 + s] = F[6] * wb0 + F[7] * wb1 + F[8] * wb2 + v * (ex * g1 - ey * g0)
        B[_3 + s] = F[0] * ab0 + F[1] * ab1 + F[2] * ab2
        B[_4 + s] = F[3] * ab0 + F[4] * ab1 + F[5] * ab2
        B[_5 + s] = F[6] * ab0 + F[7] * ab1 + F[8] * ab2
        B[_6 + s] = g0
        B[_7 + s] = g1
        B[_8 + s] = g2


@jit(fastmath=FAST)
def give_to_parent(n, E, po, S, X, p, B):
    """Add B to the parent's rows of E, with the lever p + X e between the two origins."""
    ox, oy, oz, ex, ey, ez = p[0], p[1], p[2], p[3], p[4], p[5]
    for s in range(n):
        px = ox + ex * X[s]
        py = oy + ey * X[s]
        pz = oz + ez * X[s]
        w0 = S[po + s]
        w1 = S[po + _1 + s]
        w2 = S[po + _2 + s]
        g0 = B[_6 + s]
        g1 = B[_7 + s]
        g2 = B[_8 + s]
        wp = w0 * px + w1 * py + w2 * pz
        wg = w0 * g0 + w1 * g1 + w2 * g2
        gp = 2.0 * (g0 * px + g1 * py + g2 * pz)
        E[po + s] += B[s] + g0 * wp + px * wg - w0 * gp
        E[po + _1 + s] += B[_1 + s] + g1 * wp + py * wg - w1 * gp
        E[po + _2 + s] += B[_2 + s] + g2 * wp + pz * wg - w2 * gp
        E[po + _3 + s] += B[_3 + s] + py * g2 - pz * g1
        E[po + _4 + s] += B[_4 + s] + pz * g0 - px * g2
        E[po + _5 + s] += B[_5 + s] + px * g1 - py * g0
        E[po + _6 + s] += g0
        E[po + _7 + s] += g1
        E[po + _8 + s] += g2


@jit(fastmath=FAST)
def add_scaled(n, B, bo, ratio, D, to):
    """D[to] += ratio * B[bo], one row."""
    for s in range(n):
        D[to + s] += ratio * B[bo + s]


@jit(fastmath=FAST)
def add_rows(n, B, G, to):
    """G[to] += B, six rows."""
    for e in range(np.uint64(6)):
        o = e * NEXT
        for s in range(n):
            G[to + o + s] += B[o + s]
