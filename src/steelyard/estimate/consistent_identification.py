"""An identification whose parameters a robot could really have."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from steelyard.errors import StudyError
from steelyard.estimate.body_limits import BodyLimits
from steelyard.estimate.consistent import consistent
from steelyard.estimate.identify import Identification

MOST_OVER_LOAD = 0.5  # friction over load: no drive loses more than half of what it carries


def consistent_identification(free: Identification) -> Identification:
    """The identification with the consistent full set nearest to the same data; see `consistent`.

    Base parameters, predictions and errors become those of the full set, so that the result speaks of one model. The
    deviations are those that data and prior of the unconstrained estimate allow, with the noise that the possible
    robot leaves over: where a constraint binds they are somewhat too wide.

    Args:
        free: an unconstrained identification.

    Raises:
        StudyError: by instrumental variables, which are not the solution of a least-squares problem.
        InformationError: the problem is too badly conditioned.
    """
    if free.estimate.estimator == "instrumental":
        raise StudyError(
            "consistent parameters are those nearest in least squares, which instrumental variables are not",
            value=free.estimate.estimator,
            cure="leave --consistent or --estimator instrumental out",
        )
    over_load = [name for name in free.model.names if name.endswith("/load_friction")]
    limits = BodyLimits(value=dict.fromkeys(over_load, (0.0, MOST_OVER_LOAD))) if over_load else None
    found = consistent(free.model, free.estimate, limits=limits)
    estimate = replace(
        free.estimate,
        theta=np.array(found.base),
        weights=1.0 / found.noise**2,
        noise=found.noise / np.sqrt(free.estimate.correlation_time),
        estimator=f"{free.estimate.estimator}, consistent",
        findings=(*free.estimate.findings, *found.findings),
        standard=None,
    )
    return replace(free, estimate=estimate, consistent=found)
