"""Position, velocity and acceleration by Kalman smoothing with a white-jerk model, on any clock.

    d/dt (q, dq, ddq) = (dq, ddq, w),   w white of density g,   y_k = q(t_k) + v_k,   v_k of deviation s.

The state is carried over whatever time lies between two samples, so that irregular stamps and lost packets need no
interpolation. Joints share clock, noise ratio and hence gains: the covariances are computed once for all of them.
Source: Rauch, Tung & Striebel, Maximum likelihood estimates of linear dynamic systems, AIAA Journal 3(8), 1965.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError

Array = NDArray[np.float64]
BANDWIDTH_RANGE = (0.3, 60.0)  # [Hz] within which the smoother's bandwidth is looked for
FEWEST = 4


@dataclass(frozen=True)
class Smoothed:
    """What the smoother found.

    Attributes:
        trajectory: q, dq, ddq at the stamps of the recording.
        bandwidth: (n,) of the smoother [Hz]: `(g / s^2)^(1/6) / 2 pi` on a clock of one second a sample's worth.
        noise: (n,) deviation of the positions that the model implies [rad or m].
        deviation: (n, 3) of q, dq and ddq in the middle of the recording.
    """

    trajectory: Trajectory
    bandwidth: Array
    noise: Array
    deviation: Array

    def __post_init__(self) -> None:
        for array in (self.bandwidth, self.noise, self.deviation):
            array.setflags(write=False)


def rts_smooth(trajectory: Trajectory, *, bandwidth: float | None = None) -> Smoothed:
    ...
