"""Which samples of a run say something: the plateaus of a friction sweep, the rest at a pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from steelyard.data.trajectory import Trajectory


class Window(NamedTuple):
    """A stretch of time in which some joints count.

    Attributes:
        start, stop: [s] from the start of the motion.
        joints: places of the joints, in model order.
    """

    start: float
    stop: float
    joints: tuple[int, ...]

    def slowed(self, speed: float) -> Window:
        """The same stretch of the motion at a fraction of the speed."""
        return self._replace(start=self.start / speed, stop=self.stop / speed)


def marked(trajectory: Trajectory, windows: Sequence[Window], *, delay: float = 0.0) -> Trajectory:
    """The trajectory with only those rows valid that lie in a window; all as they are where there is no window.

    Args:
        trajectory: sampled from the motion, or a recording of it; joints in the motion's order.
        windows: of the motion.
        delay: time of the recording at which the motion began [s].
    """
    if not windows:
        return trajectory
    time = trajectory.time - delay
    valid = np.zeros((len(time), len(trajectory.joint_names)), dtype=bool)
    for window in windows:
        inside = np.flatnonzero((time >= window.start - 1e-9) & (time <= window.stop + 1e-9))
        valid[np.ix_(inside, np.array(window.joints))] = True
    return replace(trajectory, valid=valid if trajectory.valid is None else valid & trajectory.valid)
