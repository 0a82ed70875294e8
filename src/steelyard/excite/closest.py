"""How close a motion comes at any instant, found by looking where it could be closest first.

Cells of time are joined to blocks; the distance in the middle of a block, less what the positions can move within it,
bounds that of all its instants. Blocks are cut in the order of their bounds until the lowest is that of a single cell
(branch and bound, Land and Doig 1960).
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from steelyard.excite.cells import Cells

Array = NDArray[np.float64]
Index = NDArray[np.int64]
PARTS = 4  # a block is cut into
LEVELS = 4  # of blocks above the cells
CLOSE = 1e-3  # [m] a block is not cut for less, if it keeps the distance
AT_ONCE = 32  # blocks cut before the bounds are looked at again


class Clearance(Protocol):
    """Answers how close a robot comes to itself and to obstacles; `steelyard.robot.collision` has one."""

    @property
    def required(self) -> float:
        """Distance to keep [m]."""

    @property
    def unchecked(self) -> tuple[str, ...]:
        """What it knows nothing of, in words."""

    @property
    def allowed(self) -> tuple[object, ...]:
        """Pairs that it does not look at, each with the reason as text."""

    def distance(self, q: Array, travel: Array | None = None, *, far: float = np.inf) -> Array:
        """(M,) least distance at all positions within `travel` (M, n) of q (M, n) [m]; `far` stands for all beyond."""

    def nearest(self, q: Array) -> str:
        """Names of the two that are nearest to each other at positions q (n,)."""


class Approach(NamedTuple):
    """The closest approach of a motion.

    Attributes:
        distance: never less than this [m].
        time: of the middle of the cell where the bound is lowest [s].
        names: of the two that come so close.
    """

    distance: float
    time: float
    names: str


class Blocks(NamedTuple):
    """Blocks of so many cells: positions in the middle of each, and how far from them its cells reach, (B, n)."""

    center: Array
    reach: Array


def closest_approach(clearance: Clearance, cells: Cells) -> Approach:
    """The closest approach over all instants of a motion."""
    levels = blocks_of(cells)
    top = len(levels) - 1
    level = np.full(len(levels[top].center), top)
    block = np.arange(len(level))
    bound = clearance.distance(*levels[top])
    while True:
        single = level == 0
        least = float(bound[single].min(initial=np.inf))
        enough = max(clearance.required, least - CLOSE) if least > clearance.required else least
        open_ = np.flatnonzero(~single & (bound < enough))
        if not open_.size:
            k = int(block[np.argmin(np.where(single, bound, np.inf))])
            return Approach(float(bound.min()), float(cells.middle[k]), clearance.nearest(cells.center.q[k]))
        cut = open_[np.argsort(bound[open_])[:AT_ONCE]]
        kept = np.delete(np.arange(len(level)), cut)
        parts = [_cut(clearance, levels, int(level[i]), int(block[i]), float(bound[i]), least) for i in cut]
        level, block = (
            np.concatenate([old[kept], *(part[n] for part in parts)]) for n, old in enumerate((level, block))
        )
        bound = np.concatenate([bound[kept], *(part[2] for part in parts)])


def blocks_of(cells: Cells) -> list[Blocks]:
    """The cells, and blocks of 4, 16, 64 .. of them; the last may be short."""
    q, low, high = cells.center.q, cells.low.q, cells.high.q
    levels = [Blocks(q, np.maximum(high - q, q - low))]
    for depth in range(1, LEVELS + 1):
        width = PARTS**depth
        starts = np.arange(0, len(q), width)
        center = q[np.minimum(starts + width // 2, len(q) - 1)]
        top, bottom = np.maximum.reduceat(high, starts), np.minimum.reduceat(low, starts)
        levels.append(Blocks(center, np.maximum(top - center, center - bottom)))
    return levels


def parts_of(blocks: Index, count: int) -> Index:
    """The blocks of the level below, of which there are `count`, that make up some blocks."""
    parts = (PARTS * blocks[:, None] + np.arange(PARTS)).ravel()
    return parts[parts < count]


def _cut(
    clearance: Clearance, levels: list[Blocks], level: int, block: int, bound: float, least: float
) -> tuple[Index, Index, Array]:
    """Levels, numbers and bounds of the parts of a block."""
    center, reach = levels[level - 1]
    parts = parts_of(np.array([block]), len(center))
    found = np.maximum(bound, clearance.distance(center[parts], reach[parts], far=least))
    return np.full(len(parts), level - 1), parts, found
