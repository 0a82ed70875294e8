"""What the model file and what the data decided: prior shares, and the trust put in the file in one sentence."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.estimate.result import Estimate
from steelyard.estimate.validate import baselines
from steelyard.finding import Finding
from steelyard.model import Model

Array = NDArray[np.float64]
DECIDED = 0.5  # share of the prior's variance under which the data have decided


def prior_share(estimate: Estimate) -> Array:
    """(b,) part of the prior's variance that is left after the data, 0 to 1; nan where nothing was believed before."""
    if estimate.prior is None or estimate.prior.joint is not None:
        return np.full(len(estimate.names), np.nan)
    matrix = np.eye(len(estimate.names)) if estimate.basis is None else estimate.basis.matrix
    free = ~np.isfinite(estimate.prior.deviation)
    before = matrix**2 @ np.where(free, 0.0, estimate.prior.deviation) ** 2
    believed = ~np.any(matrix[:, free] != 0.0, axis=1) & (before > 0.0)
    variance = np.diag(estimate.covariance)
    share = np.divide(variance, before, out=np.full(len(before), np.nan), where=believed)
    return np.minimum(share, 1.0)


def decided_by_data(estimate: Estimate) -> tuple[int, int]:
    """Of how many combinations of the bodies' base parameters the data have at least halved the prior's variance.

    Counted in the directions in which prior and posterior have no correlation, so that it does not depend on which
    parameters stand for the others. Returns (decided, all).
    """
    bodies = np.array([name.startswith("link/") for name in estimate.names])
    bodies &= np.isfinite(prior_share(estimate))
    if estimate.prior is None or estimate.basis is None or not bodies.any():
        return 0, int(bodies.sum())
    matrix = estimate.basis.matrix[bodies]
    before = (matrix * np.where(np.isfinite(estimate.prior.deviation), estimate.prior.deviation, 0.0) ** 2) @ matrix.T
    scale = np.sqrt(np.diag(before))
    half = np.linalg.inv(np.linalg.cholesky(before / np.outer(scale, scale)))
    after = estimate.covariance[np.ix_(bodies, bodies)] / np.outer(scale, scale)
    left = np.linalg.eigvalsh(half @ after @ half.T)
    return int(np.sum(left < DECIDED)), int(bodies.sum())


def trust_finding(model: Model, basis: ParameterBasis, estimate: Estimate, width: float) -> Finding:
    """How much of the torque the model file explains, how far its bodies were trusted, and what the data decided."""
    info = estimate.information
    energy = float(info.energy.sum())
    old = baselines(model, basis, info)
    missed = float(info.misfit(basis.regroup(old.urdf if old.friction is None else old.friction)).sum())
    explained = max(0.0, 1.0 - float(np.sqrt(missed / energy))) if energy > 0.0 else 0.0
    decided, count = decided_by_data(estimate)
    return Finding(
        "fit.trust",
        "info",
        f"the model file with fitted friction explains {100.0 * explained:.0f} % of the training torque; its bodies "
        f"were held to {30.0 * width:.0f} % of their mass, and the data decided {decided} of {count} combinations",
        value=explained,
        cure="" if decided == count else "for the others train on a richer motion, or take the file's word",
    )
