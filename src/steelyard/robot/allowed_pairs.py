"""Which links may touch: those joined by a joint, and those whose shapes overlap by design in any pose.

Found by sampling poses, with a fixed seed; each pair comes with the reason, to be shown to whoever answers for it.
Two links that touch at neutral but apart from it hardly ever are not among them: neutral is a collision then.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.robot.body_poses import body_poses, capsule_gaps
from steelyard.robot.pair_distance import PairDistance
from steelyard.robot.robot import Robot
from steelyard.robot.solid import Solid, capsules_of

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Reason = Literal["joined", "always", "neutral", "stated"]
Names = frozenset[str]
WORDS = {
    "joined": "a joint joins them",
    "always": "their shapes touch in every pose tried",
    "neutral": "their shapes touch at neutral and in most poses tried",
    "stated": "said to be allowed",
}
MOST = 0.5  # share of poses from which on a pair that touches at neutral is taken to do so by design


@dataclass(frozen=True)
class AllowedPair:
    """Two links whose collisions are not looked for.

    Attributes:
        first, second: names of the links.
        reason: joined, always, neutral or stated.
        touching: share of the poses tried in which their shapes touch; None where it was not tried.
    """

    first: str
    second: str
    reason: Reason
    touching: float | None

    def __str__(self) -> str:
        share = "" if self.touching is None else f" ({self.touching:.0%} of poses)"
        return f"{self.first} - {self.second}: {WORDS[self.reason]}{share}"


def allowed_pairs(
    robot: Robot,
    solids: Sequence[Solid],
    pairs: Index,
    joined: Collection[Names],
    *,
    stated: Collection[Names],
    samples: int,
    seed: int,
) -> tuple[list[AllowedPair], list[Names]]:
    """The pairs of links that may touch, and those that touch at neutral although they may not.

    Args:
        robot: whose positions are drawn.
        solids, pairs: (P, 2) indices of the robot's own shapes.
        joined: links with a moving joint between them.
        stated: links that the user allows.
        samples: poses to try, neutral the first of them.
        seed: of the draws.
    """
    names = [frozenset((solids[a].name, solids[b].name)) for a, b in pairs]
    given: dict[Names, Reason] = {name: "joined" for name in names if name in joined}
    given |= {name: "stated" for name in names if name in stated}
    tried = np.array([name not in given for name in names], dtype=np.bool_)
    touch = _by_links(
        solids, pairs[tried], touching(robot, solids, pairs[tried], sampled_positions(robot, samples, seed))
    )
    allowed, folded = [_pair(name, reason, None) for name, reason in given.items()], []
    for name, poses in touch.items():
        share = float(poses.mean())
        if share == 1.0 or (poses[0] and share >= MOST):
            allowed.append(_pair(name, "always" if share == 1.0 else "neutral", share))
        elif poses[0]:
            folded.append(name)
    return allowed, folded


def _pair(names: Names, reason: Reason, touching: float | None) -> AllowedPair:
    first, second = sorted(names)
    return AllowedPair(first, second, reason, touching)


def sampled_positions(robot: Robot, count: int, seed: int) -> Array:
    """(count, n) positions drawn evenly between the limits, within half a turn of zero; the first is neutral."""
    reach = np.where(robot.prismatic, 1.0, np.pi)
    low = np.minimum(np.maximum(robot.lower, -reach), robot.upper)
    high = np.maximum(np.minimum(robot.upper, reach), robot.lower)
    q = low + (high - low) * np.random.default_rng(seed).random((count, low.size))
    q[0] = [axis.neutral for axis in robot.axes]
    return np.asarray(q, dtype=np.float64)


def touching(robot: Robot, solids: Sequence[Solid], pairs: Index, q: Array) -> NDArray[np.bool_]:
    """(M, P) which pairs of solids touch at positions q (M, n), by their surfaces where hulls say too little."""
    poses = body_poses(robot, q)
    gaps = capsule_gaps(poses, capsules_of(solids), pairs)
    solver = PairDistance(solids, pairs)
    found = np.zeros(gaps.shape, dtype=np.bool_)
    for k in range(len(q)):
        solver.place(poses, k)
        for p in np.flatnonzero(gaps[k] <= 0.0).tolist():
            found[k, p] = solver.hull(p) <= 0.0 and (not solver.differs(p) or solver.surface(p) <= 0.0)
    return found


def _by_links(solids: Sequence[Solid], pairs: Index, touch: NDArray[np.bool_]) -> dict[Names, NDArray[np.bool_]]:
    """For each pair of links in which poses (M,) any of their shapes touch."""
    found: dict[Names, NDArray[np.bool_]] = {}
    for p, (a, b) in enumerate(pairs):
        names = frozenset((solids[a].name, solids[b].name))
        found[names] = found.get(names, np.zeros(len(touch), dtype=np.bool_)) | touch[:, p]
    return found
