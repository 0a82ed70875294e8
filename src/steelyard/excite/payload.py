"""The criterion of a motion that shall tell what a robot carries: D for the ten parameters of the payload alone.

A payload of parameters phi at a body adds `M phi` to the base parameters, M (b, 10) the columns of that body in the
regrouping matrix. With G the information of the loaded motion about the base parameters, its information about phi is

    F = M' (G - G_f' G_ff^-1 G_f) M          bodies known, what is not a body (f: friction, offsets) estimated anew;
    F = M' (G^-1 + P^-1)^-1 M                everything as uncertain as P, the information of motions without payload.

Both are `F = M' G Z` and `dF = Z' dG Z`, with Z what of M remains after the rest is fitted. Which motion has the larger
log det F does not depend on the frame that phi is stated in, so that a tool's own frame needs no mention (this is
D_s-optimality: Atkinson, Donev & Tobias, Optimum Experimental Designs, with SAS, ch. 10.3).
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from steelyard.basis import ParameterBasis
from steelyard.errors import StudyError
from steelyard.excite.criteria import NO_WEIGHT, SINGULAR, Criterion, Judgement

Array = NDArray[np.float64]
INDEPENDENT = 1e-9  # smallest singular value of M, whose columns are near one


def payload_criterion(basis: ParameterBasis, body: str, prior: Array | None = None) -> Criterion:
    """`-log det F / 10` of a payload at a body.

    Args:
        basis: of the whole model.
        body: name of the body that carries it.
        prior: (b, b) information P of motions without payload; the bodies are taken as known where not given.

    Raises:
        StudyError: no such body; a payload there cannot be told in all ten parameters; a prior of another size.
    """
    own = [k for k, name in enumerate(basis.columns) if name.rpartition("/")[0] == f"link/{body}"]
    if not own:
        bodies = dict.fromkeys(name.split("/")[1] for name in basis.columns if name.startswith("link/"))
        raise StudyError("no body of this name carries a payload", value=body, choices=tuple(bodies))
    M = np.ascontiguousarray(basis.matrix[:, own])
    told = int(np.sum(np.linalg.svd(M, compute_uv=False) > INDEPENDENT))
    if told < len(own):
        raise StudyError(
            "no motion tells all ten parameters of a payload there", where=f"link {body}", value=told,
            cure="name a body farther from the base",
        )  # fmt: skip
    if prior is not None and prior.shape != (basis.count, basis.count):
        raise StudyError("the prior must be one row and column a parameter", value=prior.shape)
    others = np.array([k for k, name in enumerate(basis.names) if not name.startswith("link/")], dtype=np.int64)
    return partial(_payload, M=M, others=others, prior=prior)


def _payload(G: Array, weigh: bool = True, *, M: Array, others: NDArray[np.int64], prior: Array | None) -> Judgement:
    """`-log det F / 10`, H = -Z F^-1 Z' / 10."""
    Z = _remaining(G, M, others, prior)
    if not Z.size:
        return SINGULAR
    F = M.T @ G @ Z
    L, failed = lapack.dpotrf(0.5 * (F + F.T), lower=1)
    if failed:
        return SINGULAR
    size = len(L)
    value = -2.0 * float(np.log(L.diagonal()).sum()) / size
    if not weigh:
        return Judgement(value, NO_WEIGHT)
    half, _ = lapack.dtrtrs(L, Z.T, lower=1)
    return Judgement(value, half.T @ half / -size)


def _remaining(G: Array, M: Array, others: NDArray[np.int64], prior: Array | None) -> Array:
    """Z (b, 10), or nothing where what has to be fitted besides cannot be."""
    if prior is not None:
        _, Z, failed = lapack.dposv(G + prior, prior @ M, lower=1)
        return NO_WEIGHT if failed else np.asarray(Z)
    if not len(others):
        return M
    Z = M.copy()
    _, fitted, failed = lapack.dposv(G[np.ix_(others, others)], G[others] @ M, lower=1)
    if failed:
        return NO_WEIGHT
    Z[others] -= fitted
    return Z
