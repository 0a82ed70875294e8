"""Motions run one after another, and ramps into a motion that does not start at rest."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import perm

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.excite.cells import Cells
from steelyard.excite.fourier import FourierMotion
from steelyard.excite.kinematics import Kinematics
from steelyard.excite.limits import MotionLimits
from steelyard.excite.motion import Motion, sampled
from steelyard.excite.polynomial import JUMP, SNAP, Piece, assembled, shifted
from steelyard.excite.straight import STEP, hold

Array = NDArray[np.float64]
LONGEST = 60.0  # [s] of a ramp: a motion that cannot be reached in this time is not one for these limits
LONGER = 1.1  # factor from one try to the next
CELLS = 200  # of a ramp that is tried


@dataclass(frozen=True)
class JoinedMotion:
    """Motions in a row, each beginning where the one before ends.

    Attributes:
        parts: at least one, of the same joints.
        name: label for messages and files.

    Raises:
        StudyError: no parts, other joints, or a jump of position, velocity or acceleration between two parts.
    """

    parts: tuple[Motion, ...]
    name: str = "motion"

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        if not self.parts:
            raise StudyError("nothing to join", where=self.name)
        for one, other in pairwise(self.parts):
            if one.joint_names != other.joint_names:
                raise StudyError("the parts are for other joints", value=other.joint_names, choices=one.joint_names)
            end, start = one.at(np.array([one.duration])), other.at(np.zeros(1))
            for what, a, b in zip(("position", "velocity", "acceleration"), end, start, strict=False):
                jump = np.abs(a - b)[0]
                if np.any(jump > JUMP * np.maximum(1.0, np.abs(a[0]))):
                    raise StudyError(
                        f"the {what} jumps from one part to the next", where=f"{one.name} to {other.name}",
                        value=float(jump.max()), cure="move to where the next part begins, e.g. with point_to_point",
                    )  # fmt: skip

    @property
    def joint_names(self) -> tuple[str, ...]:
        """n names in model order."""
        return self.parts[0].joint_names

    @property
    def duration(self) -> float:
        """[s]."""
        return sum(part.duration for part in self.parts)

    @property
    def starts(self) -> Array:
        """(parts,) when each part begins [s]."""
        return np.concatenate([[0.0], np.cumsum([part.duration for part in self.parts])[:-1]])

    @property
    def digest(self) -> str:
        """SHA-256 of those of the parts."""
        return hashlib.sha256("".join(part.digest for part in self.parts).encode()).hexdigest()

    def at(self, times: Array) -> Kinematics:
        """The motion at `times` [s]."""
        times = np.clip(np.asarray(times, dtype=np.float64), 0.0, self.duration)
        place = np.searchsorted(self.starts, times + SNAP, side="right") - 1
        values = np.zeros((4, len(times), len(self.joint_names)))
        for k, (part, start) in enumerate(zip(self.parts, self.starts, strict=True)):
            here = np.flatnonzero(place == k)
            if here.size:
                values[:, here] = np.stack(part.at(np.clip(times[here] - start, 0.0, part.duration)))
        return Kinematics(*values)

    def cells(self, step: float) -> Cells:
        """The cells of all parts."""
        cells = [part.cells(step) for part in self.parts]
        middle = np.concatenate([c.middle + start for c, start in zip(cells, self.starts, strict=True)])
        center, low, high = (
            Kinematics(*(np.concatenate([getattr(c, which)[order] for c in cells]) for order in range(4)))
            for which in ("center", "low", "high")
        )
        return Cells(middle, np.concatenate([c.half for c in cells]), center, low, high)

    def slowed(self, speed: float) -> JoinedMotion:
        """The same path at a fraction of the speed; raises StudyError for a speed that is not positive."""
        return replace(self, parts=tuple(part.slowed(speed) for part in self.parts))

    def sampled(self, rate: float) -> Trajectory:
        """The motion as a controller of `rate` [Hz] gets it; raises StudyError where it does not last whole steps."""
        return sampled(self, rate)


def blended(
    series: FourierMotion, limits: MotionLimits, *, periods: int = 1, wait: float = 0.0, step: float = STEP
) -> JoinedMotion:
    """A series that does not rest at its ends, with a ramp into it and one out of it.

    The ramp is the polynomial of degree seven from rest, with zero acceleration and jerk, to position, velocity,
    acceleration and jerk of the series; its way is the series' velocity times half its time.

    Args:
        series: periodic, at any state at its start.
        limits: to be kept by the ramps.
        periods: how often the series is run.
        wait: time at rest before and after [s].
        step: of the controller [s].

    Raises:
        StudyError: no ramp keeps the limits, or they are for other joints.
    """
    if periods < 1:
        raise StudyError("a series is run once or more", value=periods)
    if series.joint_names != limits.joint_names:
        raise StudyError("the limits are for other joints", value=limits.joint_names, choices=series.joint_names)
    names = series.joint_names
    state = Kinematics(*(values[0] for values in series.at(np.zeros(1))))
    into = _ramp(names, state, limits, step)
    # the way out of a state is, with time turned round, the way into the state of opposite velocity and jerk
    back = _ramp(names, Kinematics(state.q, -state.dq, state.ddq, -state.dddq), limits, step)
    out = Piece(back.duration, shifted(back.power[None], np.ones(1), -np.ones(1))[0])
    first = assembled(names, [*hold(into.power[0], wait, step=step), into], "ramp in")
    last = assembled(names, [out, *hold(back.power[0], wait, step=step)], "ramp out")
    return JoinedMotion((first, *(series,) * periods, last), series.name)


def _ramp(joint_names: Sequence[str], state: Kinematics, limits: MotionLimits, step: float) -> Piece:
    """The shortest ramp tried that keeps the limits."""
    duration, rows = step, (limits.velocity, limits.acceleration, limits.jerk)
    while duration <= LONGEST:
        piece = _septic(state, duration)
        cells = assembled(joint_names, [piece], "ramp").cells(duration / CELLS)
        inside = np.all(cells.low.q >= limits.lower) and np.all(cells.high.q <= limits.upper)
        if inside and all(np.all(most <= limit) for most, limit in zip(cells.most[1:], rows, strict=True)):
            return piece
        duration = step * float(np.ceil(LONGER * duration / step))
    raise StudyError(
        "no ramp into the motion keeps the limits", value=[float(v) for v in state.dq],
        cure="design the motion with rest at both ends, or with a smaller share of the limits",
    )  # fmt: skip


def _septic(state: Kinematics, T: float) -> Piece:
    """From rest at `q - v T / 2` to the state, by powers of the share of T."""
    start = state.q - 0.5 * state.dq * T
    goal = np.stack([state.q - start, state.dq * T, state.ddq * T**2, state.dddq * T**3])
    orders = np.array([[float(perm(k, order)) for k in range(4, 8)] for order in range(4)])
    power = np.zeros((8, len(start)))
    power[0], power[4:] = start, np.linalg.solve(orders, goal)
    return Piece(T, power)
