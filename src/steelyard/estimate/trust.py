"""How far to trust the bodies of the model file: the width of their prior, judged by the evidence of the data.

The marginal likelihood of the data under a prior of deviations `k d` for the bodies is, but for a constant,

    log p(k) = -1/2 |residual of data and prior|^2 - log |det R_k| - m log k,

R_k the triangle of both, m the number of bodies' columns:
too narrow a prior cannot explain the torque, too wide a one wastes its bets (MacKay, Bayesian interpolation, 1992). The
noise must be honest (inflated by its correlation time), or model error is taken for news about the bodies. The bodies'
errors have heavier tails than a Gaussian (one wrong link among good ones), and a prior too narrow does more harm than
one too wide, so that the width of most evidence is taken half as wide again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.estimate.prior import Prior
from steelyard.estimate.result import Estimate
from steelyard.information import triangle

Array = NDArray[np.float64]
WIDTHS = np.geomspace(0.1, 1.0, 11)  # tried
HEAVY_TAILS = 1.5  # times the width of most evidence
NOTHING = 1e-10  # of a column's length: diagonals below it are directions that neither data nor prior hold


def with_trust(prior: Prior, width: float) -> Prior:
    """The prior with the deviations of all bodies' columns `width` times as wide, but for those that are doubted."""
    bodies = np.array([name.startswith("link/") and name not in prior.doubted for name in prior.names])
    return replace(prior, deviation=np.where(bodies, width * prior.deviation, prior.deviation))


def body_width(estimate: Estimate, prior: Prior, basis: ParameterBasis) -> float:
    """Factor on the bodies' deviations, between 0.15 and 1.5.

    Args:
        estimate: with the weights that honest noise gives, of base columns.
        prior: on all columns, independent, with the scales that are to be adjusted.
        basis: base parameters of the model.
    """
    info = estimate.information
    whole = info if info.names == prior.names else info.project(prior.names, basis.matrix)
    data = whole.scale(estimate.weights).stacked()
    evidence = [_evidence(data, with_trust(prior, float(width))) for width in WIDTHS]
    return HEAVY_TAILS * float(WIDTHS[int(np.argmax(evidence))])


def _evidence(data: Array, prior: Prior) -> float:
    """Logarithm of the marginal likelihood, but for what the width does not change."""
    both = triangle(np.vstack([data, prior.rows()]))
    lengths = np.linalg.norm(both[:, :-1], axis=0)
    diagonal = np.abs(np.diag(both[:-1, :-1]))
    held = diagonal > NOTHING * np.where(lengths > 0.0, lengths, 1.0)
    believed = np.isfinite(prior.deviation)
    return float(-0.5 * both[-1, -1] ** 2 - np.sum(np.log(diagonal[held])) - np.sum(np.log(prior.deviation[believed])))
