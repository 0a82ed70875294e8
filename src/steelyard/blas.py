"""BLAS and LAPACK called from inside compiled kernels, so that a reduction never returns to the interpreter.

SciPy exposes its routines as function pointers. A pointer baked into a compiled kernel could not be kept on disk (it
differs from process to process), so the address is an argument of the kernel and the call is made through it.
Matrices are column-major with 32-bit sizes, as in Fortran; everything is passed by address.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import get_cython_function_address, intrinsic
from numpy.typing import NDArray

SMALL = 32  # columns up to which a general product, with its kernels for small matrices, beats the symmetric one


class Routines(NamedTuple):
    """Addresses of the routines that the kernels need, and the constants they take by address."""

    trsm: int
    syrk: int
    geqrf: int
    gemm: int
    letters: NDArray[np.uint8]
    one: NDArray[np.float64]
    zero: NDArray[np.float64]


def routines() -> Routines:
    """Look the addresses up in this process."""
    return Routines(
        trsm=get_cython_function_address("scipy.linalg.cython_blas", "dtrsm"),
        syrk=get_cython_function_address("scipy.linalg.cython_blas", "dsyrk"),
        geqrf=get_cython_function_address("scipy.linalg.cython_lapack", "dgeqrf"),
        gemm=get_cython_function_address("scipy.linalg.cython_blas", "dgemm"),
        letters=np.frombuffer(b"RUNT", dtype=np.uint8).copy(),
        one=np.ones(1),
        zero=np.zeros(1),
    )


@intrinsic
def _call(typingctx: Any, address: Any, pointers: Any) -> Any:
    """Call `void f(void *, ...)` at `address` with a tuple of addresses."""
    count = len(pointers)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        byte = ir.IntType(8).as_pointer()
        function = ir.FunctionType(ir.VoidType(), [byte] * count)
        target = builder.inttoptr(arguments[0], function.as_pointer())
        values = [builder.inttoptr(builder.extract_value(arguments[1], k), byte) for k in range(count)]
        builder.call(target, values)
        return context.get_dummy_value()

    return types.void(address, pointers), generate


@numba.njit(cache=True, nogil=True)
def solve_right(blas: Any, R: Any, at: int, panel: Any, start: int, sizes: Any) -> None:
    """panel <- panel R^-1, with R upper triangular (c, c) at R[at] and the panel (K, c) at panel[start].

    sizes: int32 (K, c, leading dimension of the panel).
    """
    letters, one = blas.letters, blas.one
    base = letters.ctypes.data
    _call(
        blas.trsm,
        (
            base,
            base + np.uint64(1),
            base + np.uint64(2),
            base + np.uint64(2),
            sizes.ctypes.data,
            sizes[1:].ctypes.data,
            one.ctypes.data,
            R[at:].ctypes.data,
            sizes[1:].ctypes.data,
            panel[start:].ctypes.data,
            sizes[2:].ctypes.data,
        ),
    )


@numba.njit(cache=True, nogil=True)
def add_gram(blas: Any, panel: Any, start: int, G: Any, at: int, sizes: Any) -> None:
    """G <- G + panel' panel, upper triangle of (c, c) at G[at]; sizes as for `solve_right`."""
    letters, one = blas.letters, blas.one
    base = letters.ctypes.data
    _call(
        blas.syrk,
        (
            base + np.uint64(1),
            base + np.uint64(3),
            sizes[1:].ctypes.data,
            sizes.ctypes.data,
            one.ctypes.data,
            panel[start:].ctypes.data,
            sizes[2:].ctypes.data,
            one.ctypes.data,
            G[at:].ctypes.data,
            sizes[1:].ctypes.data,
        ),
    )


@numba.njit(cache=True, nogil=True)
def gram(blas: Any, panel: Any, start: int, G: Any, at: int, sizes: Any) -> None:
    """G <- panel' panel, at least the upper triangle of (c, c) at G[at]; sizes as for `solve_right`."""
    base = blas.letters.ctypes.data
    if sizes[1] > SMALL:
        G[at : at + sizes[1] * sizes[1]] = 0.0
        add_gram(blas, panel, start, G, at, sizes)
        return
    _call(
        blas.gemm,
        (
            base + np.uint64(3),
            base + np.uint64(2),
            sizes[1:].ctypes.data,
            sizes[1:].ctypes.data,
            sizes.ctypes.data,
            blas.one.ctypes.data,
            panel[start:].ctypes.data,
            sizes[2:].ctypes.data,
            panel[start:].ctypes.data,
            sizes[2:].ctypes.data,
            blas.zero.ctypes.data,
            G[at:].ctypes.data,
            sizes[1:].ctypes.data,
        ),
    )


@numba.njit(cache=True, nogil=True)
def multiply(blas: Any, panel: Any, start: int, M: Any, at: int, product: Any, to: int, sizes: Any) -> None:
    """product <- panel M, with M (c, c) at M[at], the panel at panel[start] and the product at product[to].

    sizes: as for `solve_right`, and the leading dimension of the product.
    """
    letters, one = blas.letters, blas.one
    base = letters.ctypes.data
    _call(
        blas.gemm,
        (
            base + np.uint64(2),
            base + np.uint64(2),
            sizes.ctypes.data,
            sizes[1:].ctypes.data,
            sizes[1:].ctypes.data,
            one.ctypes.data,
            panel[start:].ctypes.data,
            sizes[2:].ctypes.data,
            M[at:].ctypes.data,
            sizes[1:].ctypes.data,
            blas.zero.ctypes.data,
            product[to:].ctypes.data,
            sizes[3:].ctypes.data,
        ),
    )


@numba.njit(cache=True, nogil=True)
def triangularise(blas: Any, panel: Any, start: int, sizes: Any, tau: Any, work: Any) -> None:
    """Householder QR in place of the (rows, c) matrix at panel[start].

    sizes: int32 (rows, c, leading dimension, length of work, info).
    """
    _call(
        blas.geqrf,
        (
            sizes.ctypes.data,
            sizes[1:].ctypes.data,
            panel[start:].ctypes.data,
            sizes[2:].ctypes.data,
            tau.ctypes.data,
            work.ctypes.data,
            sizes[3:].ctypes.data,
            sizes[4:].ctypes.data,
        ),
    )
