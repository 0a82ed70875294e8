"""Parameters that a robot could really have, as close to the data as bodies can be and to the prior where data are silent.

    minimise  sum_j w_j |tau_j - Y_j theta|^2 / 2  +  gamma sum_l D(J_l || prior_l)
    over      pseudo-inertias J_l > 0 of every moving link that has mass; friction and rotor inertia >= 0

D is the log-det Bregman divergence `tr(P^-1 J) - log det(P^-1 J) - 4` (Lee, Wensing, Park 2020), which knows neither
units nor frames. w_j is one over the variance of the residual, so gamma = 1 says: a prior good to a factor of about
two. It grows when the data contradict what is possible (see `_contradiction`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.errors import StudyError
from steelyard.estimate.body_limits import BodyLimits, LimitRows, limit_rows, priors_inside
from steelyard.estimate.interior_point import ConeProblem
from steelyard.estimate.least_squares import solve
from steelyard.estimate.link_map import LinkMap, link_map
from steelyard.estimate.result import Estimate
from steelyard.estimate.symmetric import IDENTITY, congruences, least_eigenvalues
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation
from steelyard.model import Model

Array = NDArray[np.float64]
Standing = Literal["identified", "combined", "prior"]
"""
