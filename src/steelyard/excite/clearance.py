"""Distances in the design of a motion: a bound that keeps it clear, and a repair of motions that are not.

Both look at samples and at directions taken before; the certificate looks at every instant and has the last word.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.excite.cells import Cells
from steelyard.excite.closest import Clearance, blocks_of, parts_of
from steelyard.excite.features import States
from steelyard.excite.limits import MotionLimits

Array = NDArray[np.float64]
Index = NDArray[np.int64]
TRIALS = 40
ROOM = 0.01  # [m] more than a distance to keep
RESTS = 400  # poses tried where the middle of the range is not clear


class NearPairs(Protocol):
    """Pairs that are near: pose (C,), pair (C,), distance (C,) [m] and its derivatives by the positions (C, n)."""

    @property
    def pose(self) -> Index: ...
    @property
    def pair(self) -> Index: ...
    @property
    def distance(self) -> Array: ...
    @property
    def gradient(self) -> Array: ...


class Proximity(Protocol):
    """Distances along a motion; `steelyard.robot.separation` has one."""

    @property
    def lower(self) -> Array:
        """(P,) distances that each pair has to keep [m]."""

    @property
    def upper(self) -> Array:
        """(P,) distances from which on a pair is not near [m]."""

    def near(self, q: Array) -> NearPairs:
        """Pairs below `upper` at positions q (K, n)."""


class ClearanceBound:
    """Keeps every pair of a motion's samples apart: a `Bound` of `objective`.

    The room of a pair is `(d - lower) / (upper - lower)`; those of a room of one and more are left out.
    """

    def __init__(self, proximity: Proximity) -> None:
        self._proximity, self._width = proximity, proximity.upper - proximity.lower
        self._near: NearPairs | None = None

    def room(self, states: States) -> Array:
        """(C,) rooms of the pairs that are near."""
        self._near = near = self._proximity.near(np.ascontiguousarray(states.q))
        return (near.distance - self._proximity.lower[near.pair]) / self._width[near.pair]

    def pull(self, weights: Array, rates: Array) -> None:
        """Add the derivatives of `weights @ room` by the positions to rates (n, 3, K)."""
        if self._near is not None:
            slope = weights / self._width[self._near.pair]
            np.add.at(rates[:, 0].T, self._near.pose, slope[:, None] * self._near.gradient)


def keeps_clear(clearance: Clearance, cells: Cells) -> bool:
    """Whether the distance is kept at every instant; sooner known than how close a motion comes."""
    levels = blocks_of(cells)
    doubtful = np.arange(len(levels[-1].center))
    for depth in reversed(range(len(levels))):
        center, reach = levels[depth]
        bound = clearance.distance(center[doubtful], reach[doubtful], far=clearance.required)
        doubtful = doubtful[bound < clearance.required]
        if not doubtful.size:
            return True
        if np.any(clearance.distance(center[doubtful], far=clearance.required) < clearance.required):
            return False
        if depth:
            doubtful = parts_of(doubtful, len(levels[depth - 1].center))
    return False


def resting_place(clearance: Clearance, limits: MotionLimits, *, seed: int = 0) -> Array:
    """(n,) a pose that is clear, the middle of the range or one near it [rad or m].

    Raises:
        StudyError: none of the poses tried is.
    """
    rng = np.random.default_rng(seed)
    spread = np.linspace(0.0, 0.9, RESTS)[:, None] * rng.uniform(-1.0, 1.0, (RESTS, len(limits.joint_names)))
    poses = limits.center + spread * limits.reach
    best, place = -np.inf, limits.center
    for pose in poses:
        distance = float(clearance.distance(pose[None], far=clearance.required + ROOM)[0])
        if distance > clearance.required:
            return pose
        if distance > best:
            best, place = distance, pose
    raise StudyError(
        f"the robot is nowhere clear of itself and of the obstacles: in the best of {RESTS} poses tried "
        f"{clearance.nearest(place)} are {best:.3g} m apart, nearer than {clearance.required:g} m",
        cure="name the folders of its meshes (--meshes), whose stand-ins may be too large; else check the places of "
        "the obstacles, the pairs that may touch, and the distance to keep",
    )


def shrunk(x: Array, rest: Array, clear: Callable[[Array], bool], *, factor: float) -> Array:
    """(n, m) variables x drawn together about a resting place until they are clear, or as they are after many steps.

    Args:
        x: (n, m).
        rest: (n,) the resting place, less the position of x = 0 [rad or m].
        clear: whether variables are.
        factor: of each step, below 1.
    """
    still = np.zeros_like(x)
    still[:, 0] = rest
    for _ in range(TRIALS):
        if clear(x):
            break
        x = still + factor * (x - still)
    return x
