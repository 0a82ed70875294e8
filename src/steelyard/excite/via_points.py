"""A smooth motion through given positions: an interpolating B-spline of degree five or seven, at rest at both ends.

Of degree five it has four continuous derivatives and starts and ends without velocity and acceleration, of degree seven
without jerk besides. Source: de Boor, A Practical Guide to Splines, 1978, ch. XIII.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.excite.limits import MotionLimits
from steelyard.excite.pace import paced
from steelyard.excite.polynomial import PolynomialMotion
from steelyard.excite.straight import STEP, poses_inside

Array = NDArray[np.float64]


def via_points(
    limits: MotionLimits,
    poses: Sequence[Sequence[float]] | Array,
    *,
    rest: Literal["acceleration", "jerk"] = "acceleration",
    step: float = STEP,
    name: str = "via points",
) -> PolynomialMotion:
    """From the first pose through all others to the last without a stop, as fast as the limits allow.

    The time between two poses goes with the joint that has the longest way for its speed. Between the poses a spline
    swings a little beyond them: leave room to the limits of position.

    Args:
        limits: to be kept, e.g. `limits.share(0.95)`.
        poses: (P, n) in model order [rad or m].
        rest: what is zero at both ends besides the velocity.
        step: of the controller [s]; the duration is a multiple of it.

    Raises:
        StudyError: poses outside the limits, two that follow each other and are the same, a spline that leaves the
            limits between them, a rest that does not exist.
    """
    from scipy.interpolate import make_interp_spline

    if rest not in ("acceleration", "jerk"):
        raise StudyError("not a way to come to rest", value=rest, choices=("acceleration", "jerk"))
    poses = poses_inside(limits, poses, least=2)
    times = np.abs(np.diff(poses, axis=0) / limits.velocity).max(axis=1)
    if not times.min() > 0.0:
        k = int(np.argmin(times))
        raise StudyError("two poses in a row are the same", where=f"poses {k} and {k + 1}", value=poses[k].tolist())
    orders = (1, 2) if rest == "acceleration" else (1, 2, 3)
    zero = [(order, np.zeros(poses.shape[1])) for order in orders]
    knots = np.concatenate([[0.0], np.cumsum(times)])
    spline = make_interp_spline(knots, poses, k=2 * len(orders) + 1, bc_type=(zero, zero))
    power = [spline(knots[:-1], nu=k) * times[:, None] ** k / factorial(k) for k in range(spline.k + 1)]
    return paced(PolynomialMotion(limits.joint_names, knots, np.stack(power, axis=1), name), limits, step=step)
