"""The motions of a plan's stages: for each the one wanted first, then milder ones, until one is certified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.estimate.payload_fit import payload_columns
from steelyard.excite.closest import Clearance
from steelyard.excite.fourier import FourierMotion
from steelyard.excite.joined import JoinedMotion
from steelyard.excite.limits import MotionLimits
from steelyard.excite.motion import Motion
from steelyard.excite.plateaus import plateaus
from steelyard.excite.random_band import random_band
from steelyard.excite.stage import Run
from steelyard.excite.static_poses import StaticPoses, static_poses
from steelyard.excite.straight import point_to_point
from steelyard.excite.windows import Window
from steelyard.model import Model
from steelyard.robot.robot import Link

Array = NDArray[np.float64]
SMALLER = (1.0, 0.8, 0.6, 0.45, 0.3, 0.2)  # shares of a motion that are tried
FIRST_POSES = 4  # of standing still: enough for noise, offsets and the sign of every torque that gravity makes
OTHER_PERIOD = 0.83  # of the training's, so that no frequency of the validation is one of the training
MILDER = 0.75  # share of the training's limits: a validation shows what holds inside the range, not beyond it
FEWEST = 3  # harmonics of a validation
DRAWS = 4  # of a validation at each size
CALM = 0.3  # share of the limits for moves between the parts of a stage


@dataclass(frozen=True)
class Setting:
    """What all stages have in common.

    Attributes:
        model: robot and terms.
        limits: to be used.
        home: (n,) where static stages begin and end, and friction is measured about [rad or m].
        deviations: (n,) torque noise [N m or N].
        step: of the controller [s].
        poses: of gravity and of the tool.
        seed: of poses and validation.
        clearance: distances to keep, None for none.
    """

    model: Model
    limits: MotionLimits
    home: Array
    deviations: Array
    step: float
    poses: int
    seed: int
    clearance: Clearance | None


def standing(setting: Setting) -> Iterator[Run]:
    """A few poses."""
    for limits in _nearer(setting):
        yield _run(_poses(replace(setting, limits=limits, poses=FIRST_POSES), "standing still"))


def friction(setting: Setting) -> Iterator[Run]:
    """Constant speeds of each joint about home, over less and less of its range."""
    for reach in SMALLER:
        sweep = plateaus(setting.limits, pose=setting.home, reach=reach, step=setting.step, name="friction")
        yield Run(sweep.motion, sweep.windows)


def gravity(setting: Setting) -> Iterator[Run]:
    """Other poses than those of standing still."""
    for limits in _nearer(setting):
        yield _run(_poses(replace(setting, limits=limits, seed=setting.seed + 1), "gravity"))


def dynamics(series: FourierMotion) -> Iterator[Run]:
    """The designed motion, then the same about its middle with smaller amplitudes."""
    for share in SMALLER:
        yield Run(_smaller(series, share))


def validation(setting: Setting, series: FourierMotion) -> Iterator[Run]:
    """Random motions about the training's middle and in its band, of another period: no frequency is in both."""
    middle = series.coefficients[:, 0]
    room = np.minimum(middle - setting.limits.lower, setting.limits.upper - middle)
    limits = replace(setting.limits, lower=middle - room, upper=middle + room)
    duration = float(np.round(OTHER_PERIOD * series.period / setting.step)) * setting.step
    for share in SMALLER:
        for draw in range(DRAWS):
            yield Run(
                random_band(
                    limits.share(MILDER * share),
                    band=(1.0 / duration, max(FEWEST, series.family.highest) / duration),
                    duration=duration,
                    rest=series.family.rest,
                    seed=setting.seed + draw,
                    name="validation",
                )
            )


def tool(setting: Setting, series: FourierMotion, link: Link) -> Iterator[Run]:
    """Poses chosen for a payload, then the training's motion."""
    columns = payload_columns(setting.model, link)
    still = _poses(replace(setting, seed=setting.seed + 2), "tool", columns)
    calm = setting.limits.share(CALM)
    calm = replace(calm, lower=setting.limits.lower, upper=setting.limits.upper)
    every = tuple(range(len(setting.home)))
    for share in SMALLER:
        moving = _smaller(series, share)
        there = moving.at(np.zeros(1)).q[0]
        parts: list[Motion] = [still.motion]
        if np.abs(there - setting.home).max() > 1e-9:
            parts.append(point_to_point(calm, np.stack([setting.home, there]), step=setting.step, name="on the way"))
        start = sum(part.duration for part in parts)
        window = Window(start, start + moving.duration, every)
        yield Run(JoinedMotion((*parts, moving), "tool"), (*still.windows, window))


def _run(still: StaticPoses) -> Run:
    return Run(still.motion, still.windows)


def _poses(setting: Setting, name: str, columns: Array | None = None) -> StaticPoses:
    return static_poses(
        setting.model,
        setting.limits,
        count=setting.poses,
        columns=columns,
        deviations=list(setting.deviations),
        home=setting.home,
        clearance=setting.clearance,
        step=setting.step,
        seed=setting.seed,
        name=name,
    )


def _nearer(setting: Setting) -> Iterator[MotionLimits]:
    """The range of the positions drawn together about home."""
    for share in SMALLER:
        lower = setting.home + share * (setting.limits.lower - setting.home)
        upper = setting.home + share * (setting.limits.upper - setting.home)
        yield replace(setting.limits, lower=lower, upper=upper)


def _smaller(series: FourierMotion, share: float) -> FourierMotion:
    """The same motion about its middle with a share of its amplitudes."""
    if series.family.rest == "free":
        raise StudyError(
            "the motion for the dynamics does not begin and end at rest", where=series.name,
            cure='design it with rest "acceleration" or "jerk"',
        )  # fmt: skip
    coefficients = series.coefficients.copy()
    coefficients[:, 1:] *= share
    return replace(series, coefficients=coefficients)
