"""From a robot and its limits to a certified motion at three speeds, and what it is expected to tell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, gcd

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.excite.design import SHARE, Columns, Design, design_motion
from steelyard.excite.forecast import Forecast, forecast
from steelyard.excite.fourier import FourierMotion, Rest
from steelyard.excite.frame_bound import FrameBound
from steelyard.excite.pace import SLOW_FIRST, Version, slow_first
from steelyard.excite.search import Progress
from steelyard.session.excite_subject import Subject
from steelyard.session.motion_forms import rates_of

Array = NDArray[np.float64]
MOST_HARMONICS = 50
LONGEST = 600.0  # [s] of a period
MOST_SAMPLES = 1_000_000  # of a file
FAINTEST, LOUDEST = 1e-9, 1e9  # [N m or N] of torque noise: beyond, its squares weigh nothing or everything


@dataclass(frozen=True)
class Wish:
    """What to design; the defaults are those of the command.

    Attributes:
        criterion, columns, harmonics, rest, share, optimiser, starts, budget, seed: as for `design_motion`.
        period: [s], rounded up until it is a whole number of steps of every form.
        periods: how many to run.
        rate: at which the controller takes the motion and torque is recorded [Hz].
        forms: of files to write, see `motion_forms`.
        payload: body that carries one, for the criterion of that name.
        noise: (n,) deviations of the torque noise [N m or N], one for all joints, or none: then 1 for each.
    """

    criterion: str = "d"
    columns: Columns = "all"
    period: float = 10.0
    harmonics: int = 5
    rest: Rest = "jerk"
    share: float = SHARE
    optimiser: str = "interior"
    starts: int = 4
    budget: float = 60.0
    seed: int = 0
    periods: int = 1
    rate: int = 500
    forms: tuple[str, ...] = ("csv", "joint_trajectory")
    noise: tuple[float, ...] = ()
    payload: str | None = None


@dataclass(frozen=True)
class Excitation:
    """A designed motion with its proof.

    Attributes:
        subject, wish: what was asked.
        design: the motion and how it came about.
        versions: slowest first.
        forecast: of the base parameters after running all periods at full speed.
        noise: (n,) deviations that it rests on.
    """

    subject: Subject
    wish: Wish
    design: Design
    versions: tuple[Version, ...]
    forecast: Forecast
    noise: Array

    @property
    def passed(self) -> bool:
        """Whether every version may be run, as far as was checked."""
        return all(version.certificate.passed for version in self.versions)

    @property
    def interrupted(self) -> bool:
        """Whether the user ended the search."""
        return self.design.outcome.stopped == "interrupted"


def excite(subject: Subject, wish: Wish, *, progress: Callable[[Progress], None] | None = None) -> Excitation | None:
    """Design a motion and certify it at every speed; None when the search was interrupted before it found one.

    Args:
        subject: robot, terms, limits.
        wish: what to design.
        progress: told after each local search; a KeyboardInterrupt from it ends the search with the best so far.

    Raises:
        StudyError: an option that does not exist, limits that leave no room, or no motion found.
    """
    noise = noise_of(wish, subject)
    wish = whole(wish)
    design = designed(subject, wish, progress=progress)
    if not np.isfinite(design.value):
        if design.outcome.stopped == "interrupted":
            return None
        raise StudyError(
            "no motion was found that keeps all limits and tells every parameter", value=f"{wish.budget:g} s",
            cure="a longer --budget or --period, fewer terms, limits and noise of a usual size",
        )  # fmt: skip
    versions = certified_versions(subject, design.motion)
    told = forecast(subject.model, [design.motion] * wish.periods, rate=wish.rate, deviations=noise.tolist())
    return Excitation(subject, wish, design, versions, told, noise)


def designed(
    subject: Subject, wish: Wish, *, prior: Array | None = None, progress: Callable[[Progress], None] | None = None
) -> Design:
    """The motion alone.

    Args:
        subject, progress: as for `excite`.
        wish: with a whole period.
        prior: (b, b) information that there is already.

    Raises:
        StudyError: an option that does not exist, or limits that leave no room.
    """
    return design_motion(
        subject.model,
        subject.designable,
        criterion=wish.criterion,
        columns=wish.columns,
        period=wish.period,
        harmonics=wish.harmonics,
        rest=wish.rest,
        share=wish.share,
        deviations=noise_of(wish, subject).tolist(),
        prior=prior,
        bounds=tuple(FrameBound(subject.model.robot, frame) for frame in subject.frames),
        clearance=subject.clearance,
        payload=wish.payload,
        optimiser=wish.optimiser,
        starts=wish.starts,
        budget=wish.budget,
        seed=wish.seed,
        progress=progress,
    )


def certified_versions(subject: Subject, motion: FourierMotion, *, rest: Rest | None = None) -> tuple[Version, ...]:
    """The motion at every speed of the slow-first protocol.

    Args:
        subject: robot, terms, limits.
        motion: at full speed.
        rest: what must be zero at both ends; what the motion was designed for, when not given.
    """
    return slow_first(motion, partial(subject.certify, rest=rest or motion.family.rest))


def whole_period(period: float, rates: Sequence[int]) -> float:
    """The next longer period that is a whole number of steps at each of the rates [Hz].

    Raises:
        StudyError: not a positive time.
    """
    if not (np.isfinite(period) and period > 0.0):
        raise StudyError("the period must be a positive time [s]", value=period)
    steps = gcd(*rates)
    return ceil(period * steps - 1e-9) / steps


def whole(wish: Wish) -> Wish:
    """The wish with a period that is whole for every form of file.

    Raises:
        StudyError: a period, a rate, a budget, or numbers of periods and harmonics that cannot be, or are so large that
            neither search nor files would come to an end.
    """
    if wish.periods < 1:
        raise StudyError("a motion runs for one period at least", value=wish.periods)
    if not wish.budget > 0.0:
        raise StudyError("the budget of a search is some CPU time [s]", value=wish.budget)
    if wish.harmonics > MOST_HARMONICS:
        raise StudyError(f"a design has at most {MOST_HARMONICS} harmonics", value=wish.harmonics)
    rates = rates_of(wish.forms, wish.rate)
    period = whole_period(wish.period, rates)
    if period > LONGEST:
        raise StudyError(
            f"the period is at most {LONGEST:g} s", value=wish.period, cure="run several periods: --periods"
        )
    samples = wish.periods * period / min(SLOW_FIRST) * max(rates)
    if samples > MOST_SAMPLES:
        raise StudyError(
            f"a file of the slowest version would hold more than {MOST_SAMPLES} samples", value=round(samples),
            cure="fewer --periods, a shorter --period, or a lower --rate",
        )  # fmt: skip
    return replace(wish, period=period)


def noise_of(wish: Wish, subject: Subject) -> Array:
    """(n,) deviations of the torque noise: as stated, or 1 for each joint.

    Raises:
        StudyError: other numbers of them than 1 or n, or not between FAINTEST and LOUDEST.
    """
    joints = len(subject.model.robot.joint_names)
    values = np.array(wish.noise or (1.0,), dtype=np.float64)
    if values.size not in (1, joints) or not np.all((values >= FAINTEST) & (values <= LOUDEST)):
        raise StudyError(
            "the torque noise is one positive deviation, or one a joint [N m or N]", value=list(wish.noise),
            cure=f"give 1 or {joints} numbers",
        )  # fmt: skip
    return np.broadcast_to(values, (joints,)).copy()
