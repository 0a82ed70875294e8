"""Symmetric 4 x 4 matrices as vectors of ten, in an orthonormal basis: traces of products become dot products."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def _basis() -> Array:
    elements = np.zeros((10, 4, 4))
    for k, (i, j) in enumerate(zip(*np.triu_indices(4), strict=True)):
        elements[k, i, j] = elements[k, j, i] = 1.0 if i == j else np.sqrt(0.5)
    elements.setflags(write=False)
    return elements


BASIS = _basis()  # (10, 4, 4)


def matrices(vectors: Array) -> Array:
    """(..., 4, 4) symmetric matrices of vectors (..., 10)."""
    return np.einsum("...k,kij->...ij", vectors, BASIS)


def vectors(matrices: Array) -> Array:
    """(..., 10) vectors of matrices (..., 4, 4), of which only the symmetric part counts."""
    return np.einsum("...ij,kij->...k", matrices, BASIS)


IDENTITY = vectors(np.eye(4))


def congruences(scaling: Array) -> Array:
    """(L, 10, 10) matrices of the maps `Y -> W Y W` for symmetric W (L, 4, 4)."""
    turned = scaling[:, None] @ BASIS @ scaling[:, None]
    return np.einsum("lkij,hij->lkh", turned, BASIS)


def least_eigenvalues(matrices: Array) -> Array:
    """(L,) least eigenvalue of each of symmetric matrices (L, 4, 4)."""
    return np.asarray(np.linalg.eigvalsh(matrices)[:, 0])
