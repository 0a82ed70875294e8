"""Elementary steps of the recursion over one block of samples: turn, move, carry, and the ten columns.

For body i and row r with partial velocity (f, h) = (linear, angular) of the body frame, body motion w (angular
velocity), a (angular acceleration) and d (classical acceleration of the frame origin minus gravity), the ten columns
of m, m c, I about the frame origin are (Newton-Euler, e.g. Khalil & Dombre, Modeling, Identification and Control of
Robots, ch. 9)

    m:    f . d
    m c:  f x a + w (w . f) - f (w . w) + d x h
    I:    h . (I a + w x I w), taken apart into Ixx, Ixy, Iyy, Ixz, Iyz, Izz.

Every scalar of the recursion is a row of BLOCK doubles, so that the compiler vectorises over samples. Indices are
unsigned and the block length is a compile-time constant: signed ones would cost the wrap-around test that stops
vectorisation. Written out in scalars, since small arrays inside these loops stop it too.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from steelyard.robot.tree import PRISMATIC

BLOCK = 64
# From row to row. At 64 doubles the rows would share eight addresses modulo 4096, and loads would wait for stores to
# other rows (4K aliasing), which made the whole kernel half as fast.
ROW = BLOCK + 8
L, NEXT = np.uint64(BLOCK), np.uint64(ROW)
_1, _2, _3, _4, _5, _6, _7, _8, _9 = (np.uint64(k * ROW) for k in range(1, 10))
_10, _11, _12, _13, _14 = (np.uint64(k * ROW) for k in range(10, 15))
FIELD = 15  # rows of a body's field, see `field`
# No reassociation: the quadrant count below adds and subtracts a large constant, which must not be folded away.
FAST = {"contract", "nsz", "nnan", "ninf", "arcp"}

# pi/2 in three parts of 33 bits: k * HALF_PI_1 is exact for |k| < 2**20.
_HALF_PI_1, _HALF_PI_2, _HALF_PI_3 = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21
_TWO_OVER_PI, _ROUND = 0.6366197723675814, 6755399441055744.0  # 1.5 * 2**52
# Minimax polynomials on [-pi/4, pi/4] by our own Remez exchange: errors 3.7e-18 (sine, relative), 7.3e-20 (cosine).
_S0, _S1, _S2 = -0.16666666666666638, 0.008333333333323353, -0.0001984126983040543
_S3, _S4, _S5 = 2.7557313865844433e-06, -2.505078176252621e-08, 1.589801458582313e-10
_C0, _C1, _C2 = 0.04166666666666665, -0.0013888888888881263, 2.4801587293419485e-05
_C3, _C4, _C5 = -2.755731537742647e-07, 2.087585072282468e-09, -1.136575160804631e-11


def jit(**options: Any) -> Any:
    """Compile without the interpreter lock and keep the result on disk."""
    return numba.njit(cache=True, nogil=True, error_model="numpy", **options)


@jit(fastmath={"contract", "nsz"}, inline="always")
def _sincos(x):
    shifted = x * _TWO_OVER_PI + _ROUND
    k = shifted - _ROUND
    r = ((x - k * _HALF_PI_1) - k * _HALF_PI_2) - k * _HALF_PI_3
    z = r * r
    sine = r + r * z * (_S0 + z * (_S1 + z * (_S2 + z * (_S3 + z * (_S4 + z * _S5)))))
    cosine = 1.0 - 0.5 * z + z * z * (_C0 + z * (_C1 + z * (_C2 + z * (_C3 + z * (_C4 + z * _C5)))))
    quadrant = np.int64(k)
    odd = (quadrant & 1) != 0
    s = cosine if odd else sine
    c = sine if odd else cosine
    s = -s if (quadrant & 2) != 0 else s
    c = -c if ((quadrant + 1) & 2) != 0 else c
    return s, c


@jit(fastmath=FAST)
def turn_revolute(R, q, qo, ratio, offset, A, B, C):
    """Rotation of the joint, rows 0..8 of R."""
    for s in range(L):
        R[_9 + s], R[_9 + _1 + s] = _sincos(ratio * q[qo + s] + offset)
    for e in range(9):
        a = A[e]
        b = B[e]
        c = C[e]
        o = np.uint64(e) * NEXT
        for s in range(L):
            R[o + s] = a + b * R[_9 + s] + c * R[_9 + _1 + s]


@jit(fastmath=FAST)
def move_revolute(S, o, R, V, A, vo, ratio, x, y, z, px, py, pz):
    """Motion of a body in place of its parent's: w, a, d in the body frame."""
    for s in range(L):
        w0 = S[o + s]
        w1 = S[o + _1 + s]
        w2 = S[o + _2 + s]
        a0 = S[o + _3 + s]
        a1 = S[o + _4 + s]
        a2 = S[o + _5 + s]
        c0 = w1 * pz - w2 * py
        c1 = w2 * px - w0 * pz
        c2 = w0 * py - w1 * px
        d0 = S[o + _6 + s] + a1 * pz - a2 * py + w1 * c2 - w2 * c1
        d1 = S[o + _7 + s] + a2 * px - a0 * pz + w2 * c0 - w0 * c2
        d2 = S[o + _8 + s] + a0 * py - a1 * px + w0 * c1 - w1 * c0
        r0 = R[s]
        r1 = R[_1 + s]
        r2 = R[_2 + s]
        r3 = R[_3 + s]
        r4 = R[_4 + s]
        r5 = R[_5 + s]
        r6 = R[_6 + s]
        r7 = R[_7 + s]
        r8 = R[_8 + s]
        v = ratio * V[vo + s]
        acc = ratio * A[vo + s]
        u0 = r0 * w0 + r3 * w1 + r6 * w2
        u1 = r1 * w0 + r4 * w1 + r7 * w2
        u2 = r2 * w0 + r5 * w1 + r8 * w2
        sx = x * v
        sy = y * v
        sz = z * v
        S[o + s] = u0 + sx
        S[o + _1 + s] = u1 + sy
        S[o + _2 + s] = u2 + sz
        S[o + _3 + s] = r0 * a0 + r3 * a1 + r6 * a2 + u1 * sz - u2 * sy + x * acc
        S[o + _4 + s] = r1 * a0 + r4 * a1 + r7 * a2 + u2 * sx - u0 * sz + y * acc
        S[o + _5 + s] = r2 * a0 + r5 * a1 + r8 * a2 + u0 * sy - u1 * sx + z * acc
        S[o + _6 + s] = r0 * d0 + r3 * d1 + r6 * d2
        S[o + _7 + s] = r1 * d0 + r4 * d1 + r7 * d2
        S[o + _8 + s] = r2 * d0 + r5 * d1 + r8 * d2


@jit(fastmath=FAST)
def move_prismatic(S, o, F, Q, qo, V, A, vo, ratio, offset, axis, p):
    """As `move_revolute`; the joint slides along the axis (in the parent frame: e), so p grows and Coriolis acts."""
    ex = F[0] * axis[0] + F[1] * axis[1] + F[2] * axis[2]
    ey = F[3] * axis[0] + F[4] * axis[1] + F[5] * axis[2]
    ez = F[6] * axis[0] + F[7] * axis[1] + F[8] * axis[2]
    for s in range(L):
        position = ratio * Q[qo + s] + offset
        v = 2.0 * ratio * V[vo + s]
        acc = ratio * A[vo + s]
        w0 = S[o + s]
        w1 = S[o + _1 + s]
        w2 = S[o + _2 + s]
        a0 = S[o + _3 + s]
        a1 = S[o + _4 + s]
        a2 = S[o + _5 + s]
        px = p[0] + ex * position
        py = p[1] + ey * position
        pz = p[2] + ez * position
        c0 = w1 * pz - w2 * py + ex * v
        c1 = w2 * px - w0 * pz + ey * v
        c2 = w0 * py - w1 * px + ez * v
        d0 = S[o + _6 + s] + a1 * pz - a2 * py + w1 * c2 - w2 * c1 + ex * acc
        d1 = S[o + _7 + s] + a2 * px - a0 * pz + w2 * c0 - w0 * c2 + ey * acc
        d2 = S[o + _8 + s] + a0 * py - a1 * px + w0 * c1 - w1 * c0 + ez * acc
        S[o + s] = F[0] * w0 + F[3] * w1 + F[6] * w2
        S[o + _1 + s] = F[1] * w0 + F[4] * w1 + F[7] * w2
        S[o + _2 + s] = F[2] * w0 + F[5] * w1 + F[8] * w2
        S[o + _3 + s] = F[0] * a0 + F[3] * a1 + F[6] * a2
        S[o + _4 + s] = F[1] * a0 + F[4] * a1 + F[7] * a2
        S[o + _5 + s] = F[2] * a0 + F[5] * a1 + F[8] * a2
        S[o + _6 + s] = F[0] * d0 + F[3] * d1 + F[6] * d2
        S[o + _7 + s] = F[1] * d0 + F[4] * d1 + F[7] * d2
        S[o + _8 + s] = F[2] * d0 + F[5] * d1 + F[8] * d2


@jit(fastmath=FAST)
def move_floating(S, o, Q, V, A, g):
    """Motion of a free base from its quaternion (x y z w), body-frame twist (linear, angular) and its derivative."""
    for s in range(L):
        x = Q[s]
        y = Q[_1 + s]
        z = Q[_2 + s]
        w = Q[_3 + s]
        v0 = V[s]
        v1 = V[_1 + s]
        v2 = V[_2 + s]
        w0 = V[_3 + s]
        w1 = V[_4 + s]
        w2 = V[_5 + s]
        S[o + s] = w0
        S[o + _1 + s] = w1
        S[o + _2 + s] = w2
        S[o + _3 + s] = A[_3 + s]
        S[o + _4 + s] = A[_4 + s]
        S[o + _5 + s] = A[_5 + s]
        g0 = (1 - 2 * (y * y + z * z)) * g[0] + 2 * (x * y + w * z) * g[1] + 2 * (x * z - w * y) * g[2]
        g1 = 2 * (x * y - w * z) * g[0] + (1 - 2 * (x * x + z * z)) * g[1] + 2 * (y * z + w * x) * g[2]
        g2 = 2 * (x * z + w * y) * g[0] + 2 * (y * z - w * x) * g[1] + (1 - 2 * (x * x + y * y)) * g[2]
        S[o + _6 + s] = A[s] + w1 * v2 - w2 * v1 + g0
        S[o + _7 + s] = A[_1 + s] + w2 * v0 - w0 * v2 + g1
        S[o + _8 + s] = A[_2 + s] + w0 * v1 - w1 * v0 + g2


@jit(fastmath=FAST)
def carry_revolute(J, o, R, px, py, pz):
    """Partial velocity of an ancestor row, from the parent frame to the body frame, in place."""
    for s in range(L):
        h0 = J[o + _3 + s]
        h1 = J[o + _4 + s]
        h2 = J[o + _5 + s]
        f0 = J[o + s] + h1 * pz - h2 * py
        f1 = J[o + _1 + s] + h2 * px - h0 * pz
        f2 = J[o + _2 + s] + h0 * py - h1 * px
        r0 = R[s]
        r1 = R[_1 + s]
        r2 = R[_2 + s]
        r3 = R[_3 + s]
        r4 = R[_4 + s]
        r5 = R[_5 + s]
        r6 = R[_6 + s]
        r7 = R[_7 + s]
        r8 = R[_8 + s]
        J[o + s] = r0 * f0 + r3 * f1 + r6 * f2
        J[o + _1 + s] = r1 * f0 + r4 * f1 + r7 * f2
        J[o + _2 + s] = r2 * f0 + r5 * f1 + r8 * f2
        J[o + _3 + s] = r0 * h0 + r3 * h1 + r6 * h2
        J[o + _4 + s] = r1 * h0 + r4 * h1 + r7 * h2
        J[o + _5 + s] = r2 * h0 + r5 * h1 + r8 * h2


@jit(fastmath=FAST)
def turn_axis(J, o, R):
    """As `carry_revolute`, for a row that slides the body without turning it."""
    for s in range(L):
        f0 = J[o + s]
        f1 = J[o + _1 + s]
        f2 = J[o + _2 + s]
        J[o + s] = R[s] * f0 + R[_3 + s] * f1 + R[_6 + s] * f2
        J[o + _1 + s] = R[_1 + s] * f0 + R[_4 + s] * f1 + R[_7 + s] * f2
        J[o + _2 + s] = R[_2 + s] * f0 + R[_5 + s] * f1 + R[_8 + s] * f2


@jit(fastmath=FAST)
def carry_prismatic(J, o, F, Q, qo, ratio, offset, axis, p):
    """As `carry_revolute`, with the joint's fixed rotation and its sliding origin."""
    ex = F[0] * axis[0] + F[1] * axis[1] + F[2] * axis[2]
    ey = F[3] * axis[0] + F[4] * axis[1] + F[5] * axis[2]
    ez = F[6] * axis[0] + F[7] * axis[1] + F[8] * axis[2]
    for s in range(L):
        position = ratio * Q[qo + s] + offset
        px = p[0] + ex * position
        py = p[1] + ey * position
        pz = p[2] + ez * position
        h0 = J[o + _3 + s]
        h1 = J[o + _4 + s]
        h2 = J[o + _5 + s]
        f0 = J[o + s] + h1 * pz - h2 * py
        f1 = J[o + _1 + s] + h2 * px - h0 * pz
        f2 = J[o + _2 + s] + h0 * py - h1 * px
        J[o + s] = F[0] * f0 + F[3] * f1 + F[6] * f2
        J[o + _1 + s] = F[1] * f0 + F[4] * f1 + F[7] * f2
        J[o + _2 + s] = F[2] * f0 + F[5] * f1 + F[8] * f2
        J[o + _3 + s] = F[0] * h0 + F[3] * h1 + F[6] * h2
        J[o + _4 + s] = F[1] * h0 + F[4] * h1 + F[7] * h2
        J[o + _5 + s] = F[2] * h0 + F[5] * h1 + F[8] * h2


@jit(fastmath=FAST)
def field(S, o, A):
    """What the columns of a body's rows have in common.

    The acceleration of a point c fixed to the body is `d + A c` with `A = [a]x + w w' - (w . w) 1`. Rows 0..8 hold A,
    row by row, 9..11 the differences A11 - A22, A22 - A00, A00 - A11, and 12..14 the products w1 w2, w2 w0, w0 w1.
    """
    for s in range(L):
        w0 = S[o + s]
        w1 = S[o + _1 + s]
        w2 = S[o + _2 + s]
        a0 = S[o + _3 + s]
        a1 = S[o + _4 + s]
        a2 = S[o + _5 + s]
        s0 = w0 * w0
        s1 = w1 * w1
        s2 = w2 * w2
        p0 = w1 * w2
        p1 = w2 * w0
        p2 = w0 * w1
        A[s] = -s1 - s2
        A[_1 + s] = p2 - a2
        A[_2 + s] = p1 + a1
        A[_3 + s] = p2 + a2
        A[_4 + s] = -s0 - s2
        A[_5 + s] = p0 - a0
        A[_6 + s] = p1 - a1
        A[_7 + s] = p0 + a0
        A[_8 + s] = -s0 - s1
        A[_9 + s] = s1 - s2
        A[_10 + s] = s2 - s0
        A[_11 + s] = s0 - s1
        A[_12 + s] = p0
        A[_13 + s] = p1
        A[_14 + s] = p2


@jit(fastmath=FAST)
def mass_columns(J, jo, S, o, A, P, to, to_x, to_y, to_z):
    """Columns of m and m c of one (body, row) pair, written to panel lines that begin at `to`.

    Few enough outputs that the compiler can still prove, at run time, that they do not overlap.
    """
    for s in range(L):
        f0 = J[jo + s]
        f1 = J[jo + _1 + s]
        f2 = J[jo + _2 + s]
        h0 = J[jo + _3 + s]
        h1 = J[jo + _4 + s]
        h2 = J[jo + _5 + s]
        d0 = S[o + _6 + s]
        d1 = S[o + _7 + s]
        d2 = S[o + _8 + s]
        P[to + s] = f0 * d0 + f1 * d1 + f2 * d2
        P[to_x + s] = f0 * A[s] + f1 * A[_3 + s] + f2 * A[_6 + s] + d1 * h2 - d2 * h1
        P[to_y + s] = f0 * A[_1 + s] + f1 * A[_4 + s] + f2 * A[_7 + s] + d2 * h0 - d0 * h2
        P[to_z + s] = f0 * A[_2 + s] + f1 * A[_5 + s] + f2 * A[_8 + s] + d0 * h1 - d1 * h0


@jit(fastmath=FAST)
def inertia_columns(J, jo, S, o, A, P, to_xx, to_xy, to_yy, to_xz, to_yz, to_zz):
    """Columns of Ixx, Ixy, Iyy, Ixz, Iyz, Izz of one (body, row) pair; see `mass_columns`."""
    for s in range(L):
        h0 = J[jo + _3 + s]
        h1 = J[jo + _4 + s]
        h2 = J[jo + _5 + s]
        p0 = A[_12 + s]
        p1 = A[_13 + s]
        p2 = A[_14 + s]
        P[to_xx + s] = h0 * S[o + _3 + s] + h1 * p1 - h2 * p2
        P[to_xy + s] = h1 * A[_7 + s] - h0 * A[_6 + s] + h2 * A[_11 + s]
        P[to_yy + s] = h1 * S[o + _4 + s] + h2 * p2 - h0 * p0
        P[to_xz + s] = h0 * A[_3 + s] - h2 * A[_5 + s] + h1 * A[_10 + s]
        P[to_yz + s] = h2 * A[_2 + s] - h1 * A[_1 + s] + h0 * A[_9 + s]
        P[to_zz + s] = h2 * S[o + _5 + s] + h0 * p0 - h1 * p1


@jit(fastmath=FAST)
def own_axis(J, o, kind, axis, ratio, mask, mo):
    """Partial velocity of a joint's own row in its body: constant but for the mask, a factor that is carried along."""
    for e in range(6):
        value = ratio * axis[e % 3] if (e < 3) == (kind == PRISMATIC) else 0.0
        at = o + np.uint64(e) * NEXT
        for s in range(L):
            J[at + s] = value * mask[mo + s]


@jit(fastmath=FAST)
def base_axes(J, o, mask, mo):
    """Partial velocities of a free base's six rows: the unit vectors."""
    for row in range(6):
        for e in range(6):
            at = o + np.uint64(6 * row + e) * NEXT
            for s in range(L):
                J[at + s] = mask[mo + np.uint64(row) * NEXT + s] if e == row else 0.0


@jit(fastmath=FAST)
def add_axis(J, o, kind, axis, ratio, mask, mo):
    """Add the motion of a mimicking joint to a row that an ancestor already moves."""
    first = np.uint64(0 if kind == PRISMATIC else 3)
    for e in range(3):
        value = ratio * axis[e]
        at = o + (first + np.uint64(e)) * NEXT
        for s in range(L):
            J[at + s] += value * mask[mo + s]


@jit(fastmath=FAST)
def copy_rows(X, source, target, count):
    """Copy `count` rows; both ends in one array."""
    for e in range(count):
        at, to = source + np.uint64(e) * NEXT, target + np.uint64(e) * NEXT
        for s in range(L):
            X[to + s] = X[at + s]
