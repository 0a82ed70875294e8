"""Essential parameters: those that the data need; the others are dropped, and what that costs is said.

Base parameters whose effect drowns in the noise of a motion are estimated at random. Set to zero, one after the other
in the order of what it costs, they change the fit little and the prediction of other motions less still.
Source: Pham & Gautier, Essential parameters of robots, 1991.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from steelyard.basis import ParameterBasis
from steelyard.errors import StudyError
from steelyard.estimate.least_squares import weighted
from steelyard.estimate.result import Estimate
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation, column_lengths

LOSS = 0.01  # by which the residual may grow in all
RIDGE = 1e-7  # of the scaled columns: directions that the data do not hold
NAMED = 6


def essential(info: SquareRootInformation, *, basis: ParameterBasis | None = None, loss: float = LOSS) -> Estimate:
    """Weighted least squares on as few parameters as the data need.

    Args:
        info: of the full columns, or of the basis columns alone.
        basis: base parameters of the model; None to take the columns as they are.
        loss: share by which the root mean square of the weighted residual may grow.

    Returns:
        An estimate of the parameters kept, with the finding ``fit.essential`` that names the others.

    Raises:
        DataError: no rows at all.
        StudyError: a loss that is negative or not finite.
    """
    if not (np.isfinite(loss) and loss >= 0.0):
        raise StudyError("the loss of fit is a share from 0", value=loss, cure=f"loss={LOSS}")
    whole = weighted(info, basis=basis)
    start = _misfit(whole, whole.weights)
    kept = _eliminated(whole, start * ((1.0 + loss) ** 2 - 1.0))
    best = whole if len(kept) == len(whole.names) else weighted(whole.information.select(kept))
    dropped = [name for name in whole.names if name not in best.names]
    grown = float(np.sqrt(_misfit(best, whole.weights) / start)) - 1.0 if start > 0.0 else 0.0
    shown = ", ".join(dropped[:NAMED]) + (f" and {len(dropped) - NAMED} more" if len(dropped) > NAMED else "")
    finding = Finding(
        "fit.essential",
        "info",
        f"{len(best.names)} of {len(whole.names)} parameters are essential; without the others ({shown or 'none'}) "
        f"the residual grows by {100.0 * grown:.2g} %",
        value=grown,
        cure="a richer motion shows more of them" if dropped else "",
    )
    return replace(best, estimator="essential").noting(finding)


def _eliminated(whole: Estimate, allowed: float) -> list[str]:
    """Names left when the misfit may rise by `allowed`, the cheapest parameter going first.

    Dropping k raises it by theta_k^2 / C_kk, C the inverse of the normal matrix, and takes `c_k theta_k / C_kk` off the
    others and `c_k c_k' / C_kk` off C.
    """
    R = whole.information.scale(whole.weights).stacked()[:-1, :-1]
    lengths = column_lengths(R)
    scaled = np.vstack([R / lengths, RIDGE * np.eye(len(lengths))])
    half = np.linalg.pinv(scaled)
    C, theta = half @ half.T, whole.theta * lengths
    left, risen = list(range(len(theta))), 0.0
    while len(left) > 1:
        rise = theta[left] ** 2 / C[left, left]
        least = int(np.argmin(rise))
        risen += float(rise[least])
        if risen > allowed:
            break
        k = left.pop(least)
        theta, C = theta - C[:, k] * theta[k] / C[k, k], C - np.outer(C[:, k], C[:, k]) / C[k, k]
    return [whole.names[k] for k in left]


def _misfit(estimate: Estimate, weights: np.ndarray) -> float:
    """Weighted sum of squares that the estimate leaves, weights (n,) the same for all that are compared."""
    return float(weights @ estimate.information.misfit(estimate.theta))
