"""Scores: what the residual of each stretch and joint pushes on the parameters, read from triangles.

With A = L L' the weighted information of a fit (and its prior), `u = w L^-1 Y' e` are pushes in units of what the
parameters are certain to, and `G = w L^-1 Y'Y L^-T` is the share of the information that the stretch and joint gave.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.estimate.result import DEPENDENT, Estimate
from steelyard.information import SquareRootInformation

Array = NDArray[np.float64]


class Scores(NamedTuple):
    """Pushes of the noise on the parameters, stretch by stretch, in the coordinates `L^-T`.

    Attributes:
        scores: (B, n, k) of each stretch and joint.
        gains: (B, n, k, k) their share of the information; all gains and `rest` add up to the identity.
        rest: (k, k) the prior's share.
        whitener: (p, k) from these coordinates to the estimated columns, or to all columns under a prior.
    """

    scores: Array
    gains: Array
    rest: Array
    whitener: Array


def block_scores(blocks: Sequence[SquareRootInformation], estimate: Estimate) -> Scores:
    """Scores and gains of consecutive stretches of what was fitted.

    Raises:
        InformationError: blocks of other columns.
    """
    whitener, project = whitener_of(estimate)
    prior = estimate.prior
    theta = estimate.theta if estimate.standard is None else estimate.standard
    scores = np.zeros((len(blocks), len(estimate.weights), whitener.shape[1]))
    gains = np.zeros((*scores.shape, whitener.shape[1]))
    for b, block in enumerate(blocks):
        own = block if block.names == estimate.names else block.select(estimate.names)
        own = own if project is None or prior is None else own.project(prior.names, project)
        for j, (columns, factor) in enumerate(zip(own.support, own.factors, strict=True)):
            root = np.sqrt(estimate.weights[j])
            half = root * factor[:, :-1] @ whitener[list(columns)]
            scores[b, j] = half.T @ (root * (factor[:, -1] - factor[:, :-1] @ theta[list(columns)]))
            gains[b, j] = half.T @ half
    return Scores(scores, gains, np.eye(whitener.shape[1]) - gains.sum(axis=(0, 1)), whitener)


def whitener_of(estimate: Estimate) -> tuple[Array, Array | None]:
    """(p, k) L^-T of the directions that are held, L L' = A; and the map to all columns, where a prior needs them."""
    prior = estimate.prior
    matrix = estimate.information.scale(estimate.weights).stacked()[:-1, :-1]
    project = None
    if prior is not None and estimate.basis is not None and estimate.names != prior.names:
        project = estimate.basis.matrix
    if prior is not None:
        matrix = np.vstack([matrix if project is None else matrix @ project, prior.rows()[:, :-1]])
    lengths = np.linalg.norm(matrix, axis=0)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    _, values, Vt = np.linalg.svd(matrix / lengths, full_matrices=False)
    held = values > DEPENDENT * values.max(initial=0.0)
    return np.asarray((Vt[held].T / values[held]) / lengths[:, None]), project


def hat_trace(estimate: Estimate) -> Array:
    """(n,) parameters that each joint pays for: the trace of its block of the hat matrix."""
    info = estimate.information
    half, project = whitener_of(estimate)
    half = half if project is None else project @ half
    return np.array(
        [
            weight * float(np.sum((factor[:, :-1] @ half[list(columns)]) ** 2))
            for weight, columns, factor in zip(estimate.weights, info.support, info.factors, strict=True)
        ]
    )
