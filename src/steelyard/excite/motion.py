"""What every motion can do, whatever family it comes from: so that all are certified, slowed and written alike."""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.excite.cells import Cells
from steelyard.excite.kinematics import Kinematics

Array = NDArray[np.float64]


class Motion(Protocol):
    """A motion from time 0 to its duration."""

    @property
    def joint_names(self) -> tuple[str, ...]:
        """n names in model order."""

    @property
    def name(self) -> str:
        """Label for messages and files."""

    @property
    def duration(self) -> float:
        """[s]; of a periodic motion one period."""

    @property
    def digest(self) -> str:
        """SHA-256 of all that defines it."""

    def at(self, times: Array) -> Kinematics:
        """The motion at `times` [s], with the derivatives of its own formula."""

    def cells(self, step: float) -> Cells:
        """Cells not wider than `step` [s] over the whole duration."""

    def slowed(self, speed: float) -> Self:
        """The same path at a fraction of the speed."""


def sampled(motion: Motion, rate: float, *, periods: int = 1) -> Trajectory:
    """A motion as a controller of `rate` [Hz] gets it, both ends included: q, dq, ddq at k / rate.

    Raises:
        StudyError: rate times duration is not a whole number of samples.
    """
    steps = motion.duration * rate * periods
    if not steps >= 1.0 or abs(steps - round(steps)) > 1e-6 * steps:
        raise StudyError(
            "the motion does not last a whole number of samples", value=f"{motion.duration} s at {rate} Hz",
            cure="choose a period, or a speed, that makes it last a multiple of the controller's step",
        )  # fmt: skip
    times = np.arange(round(steps) + 1) / rate
    q, dq, ddq, _ = motion.at(times)
    return Trajectory(time=times, joint_names=motion.joint_names, q=q, dq=dq, ddq=ddq, name=motion.name)
