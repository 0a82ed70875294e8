"""Position and its derivatives, the form in which every motion answers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Kinematics(NamedTuple):
    """Positions, velocities, accelerations and jerks, each (K, n) in SI."""

    q: Array
    dq: Array
    ddq: Array
    dddq: Array
