"""Poses held still, for gravity and payloads: which, in what order, and each approached from both sides.

A joint at rest holds up to its dry friction with the sign of the motion that brought it there, far more than noise:
with every joint once rising into the pose and once falling, the mean of the two has none of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.excite.closest import Clearance
from steelyard.excite.exchange import d_optimal
from steelyard.excite.limits import MotionLimits
from steelyard.excite.polynomial import Piece, PolynomialMotion, assembled
from steelyard.excite.pose_candidates import APPROACH, CANDIDATES, candidate_poses, clear_way, reachable, rows_at_rest
from steelyard.excite.straight import STEP, hold, poses_inside, straight
from steelyard.excite.windows import Window
from steelyard.model import Model

Array = NDArray[np.float64]
PACE = 0.3  # share of the velocity limit between poses; approaches are slower still
CREEP = 0.05  # share of the velocity limit of an approach
SETTLE, HOLD = 0.5, 1.0  # [s] until vibrations are gone, and measured thereafter


class Visit(NamedTuple):
    """A time at rest in a pose.

    Attributes:
        start, stop: [s] without the time to settle.
        pose: its place among the poses.
        side: 1 where every joint came rising, -1 where falling.
    """

    start: float
    stop: float
    pose: int
    side: int


@dataclass(frozen=True)
class StaticPoses:
    """A set of poses and the motion that visits each of them twice.

    Attributes:
        poses: (P, n) in the order of the visits [rad or m].
        motion: from the home position and back to it.
        visits: two a pose.
    """

    poses: Array
    motion: PolynomialMotion
    visits: tuple[Visit, ...]

    @property
    def windows(self) -> tuple[Window, ...]:
        """The times at rest, of all joints."""
        every = tuple(range(self.poses.shape[1]))
        return tuple(Window(visit.start, visit.stop, every) for visit in self.visits)


def static_poses(
    model: Model,
    limits: MotionLimits,
    *,
    count: int = 12,
    columns: Array | None = None,
    deviations: Sequence[float] | None = None,
    home: Sequence[float] | Array | None = None,
    clearance: Clearance | None = None,
    candidates: int = CANDIDATES,
    approach: float = APPROACH,
    hold_time: float = HOLD,
    step: float = STEP,
    seed: int = 0,
    name: str = "static poses",
) -> StaticPoses:
    """The poses, out of random ones clear of obstacles, that tell most about what torque at rest depends on.

    Where it depends on nothing (no gravity, no offsets) any poses will do, for the noise.

    Args:
        model: robot and terms; rows at rest hold gravity and offsets.
        limits: to be kept, e.g. `limits.share(0.95)`.
        count: of poses.
        columns: (p, k) what is wanted as combinations of the model's columns, e.g. `payload_columns`; None for all
            that shows at rest.
        deviations: torque noise of each joint [N m or N]; one for all when not given.
        home: (n,) where the motion begins and ends; the middle of the ranges when not given.
        clearance: distances to keep: poses without a clear way from home and back are no candidates.
        candidates: random poses tried.
        approach: from how far each pose is approached, from both sides [rad or m].
        hold_time: measured at each visit [s].
        step: of the controller [s].
        seed: of the random poses.

    Raises:
        StudyError: too few clear poses, limits narrower than an approach, a home outside them.
    """
    rest = poses_inside(limits, np.atleast_2d(limits.center if home is None else np.asarray(home)))[0]
    found = candidate_poses(
        model, limits, home=rest, count=candidates, approach=approach, seed=seed, clearance=clearance
    )
    rows = rows_at_rest(model, found, columns=columns, deviations=deviations)
    chosen = found[_choice(found, rows, count, home=rest, approach=approach, clearance=clearance)]
    return visiting(
        limits, chosen, home=rest, clearance=clearance, approach=approach, hold_time=hold_time, step=step, name=name
    )


def _choice(
    poses: Array, rows: Array, count: int, *, home: Array, approach: float, clearance: Clearance | None
) -> list[int]:
    """The best poses; those of them that turn out to have no clear way are left out, and the best chosen again."""
    left, clear = np.arange(len(poses)), set[int]()
    while len(left) >= count:
        best = d_optimal(rows[left], count) if rows[left].any() else list(range(count))
        chosen = [int(k) for k in left[best]]
        shut = [
            k
            for k in chosen
            if clearance is not None and k not in clear and not reachable(clearance, home, poses[k], approach)
        ]
        if not shut:
            return chosen
        clear.update(set(chosen) - set(shut))
        left = np.setdiff1d(left, shut)
    raise StudyError(
        "too few poses with a clear way from home and back are left", value=len(left),
        choices=[f"{count} wanted out of {len(poses)}"],
        cure="give a home position with more room around it, more candidates, or want fewer poses",
    )  # fmt: skip


def visiting(
    limits: MotionLimits,
    poses: Array,
    *,
    home: Array,
    clearance: Clearance | None = None,
    approach: float = APPROACH,
    hold_time: float = HOLD,
    step: float = STEP,
    name: str = "static poses",
) -> StaticPoses:
    """The motion from home through all poses, always on to the nearest, each approached from both sides.

    Where the straight way to the nearest pose is not clear it leads over home.
    """
    quick, slow = (replace(limits, velocity=share * limits.velocity) for share in (PACE, CREEP))
    left, at = list(range(len(poses))), home
    order: list[int] = []
    pieces: list[Piece] = []
    visits: list[Visit] = []
    while left:
        k = min(left, key=lambda place: float((np.abs(poses[place] - at) / limits.velocity).max()))
        left.remove(k)
        below, above = poses[k] - approach, poses[k] + approach
        if clearance is not None and not clear_way(clearance, at, below):
            pieces += straight(at, home, quick, step=step)
            at = home
        pieces += straight(at, below, quick, step=step)
        at = below
        for side, start in ((1, below), (-1, above)):
            pieces += [*straight(at, start, slow, step=step), *straight(start, poses[k], slow, step=step)]
            arrived = sum(piece.duration for piece in pieces) + SETTLE
            pieces += hold(poses[k], SETTLE + hold_time, step=step)
            visits.append(Visit(arrived, arrived + hold_time, len(order), side))
            at = poses[k]
        order.append(k)
    pieces += straight(at, home, quick, step=step)
    return StaticPoses(poses[order], assembled(limits.joint_names, pieces, name), tuple(visits))


def visit_means(static: StaticPoses, recording: Trajectory, *, delay: float = 0.0) -> tuple[Trajectory, Array]:
    """A recording of the motion as one sample a visit, the form that `static_payload` reads.

    Args:
        static: what was run.
        recording: q and tau.
        delay: time of the recording at which the motion began [s].

    Returns:
        Means of q and tau with the side of each approach as the sign of dq; and (V, n) deviations of tau within each
        visit [N m or N]: one far above the others was not at rest.

    Raises:
        DataError: a channel or joint is missing, or a visit has no samples.
    """
    recording = recording.ordered(static.motion.joint_names)
    q, tau, time = recording.channel("q"), recording.channel("tau"), recording.time - delay
    inside = [np.flatnonzero((time >= visit.start) & (time <= visit.stop)) for visit in static.visits]
    for k, rows in enumerate(inside):
        if not rows.size:
            raise DataError(
                "the recording ends before a visit, or has a gap there", where=f"{recording.name}, visit {k}",
                value=f"{static.visits[k].start:g} to {static.visits[k].stop:g} s",
            )  # fmt: skip
    side = np.array([[float(visit.side)] for visit in static.visits])
    means = Trajectory(
        time=np.array([visit.stop for visit in static.visits]),
        joint_names=recording.joint_names,
        q=np.array([q[rows].mean(axis=0) for rows in inside]),
        dq=np.repeat(side, q.shape[1], axis=1),
        tau=np.array([tau[rows].mean(axis=0) for rows in inside]),
        name=recording.name,
    )
    return means, np.array([tau[rows].std(axis=0) for rows in inside])
