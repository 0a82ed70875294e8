"""A plan of experiments from standing still to a tool, each stage with what it will tell before anything moves.

One motion for everything leaves no way to find out what went wrong. So each stage frees a few parameters only, with
those of the stages before held, and is judged before the next begins; at last all are estimated together. The stages:
standing still, friction joint by joint, gravity, dynamics, a validation that nothing was fitted to, a tool.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis, base_parameters
from steelyard.errors import StudyError
from steelyard.estimate.payload_fit import COLUMNS, payload_columns
from steelyard.excite.certificate import Certificate
from steelyard.excite.clearance import resting_place
from steelyard.excite.closest import Clearance
from steelyard.excite.distinct import Distance, distance
from steelyard.excite.forecast import deviations_of, forecast
from steelyard.excite.fourier import FourierMotion
from steelyard.excite.limits import MotionLimits
from steelyard.excite.pace import Certify
from steelyard.excite.pose_candidates import rows_at_rest
from steelyard.excite.stage import Run, Stage, first_certified
from steelyard.excite.stage_motions import Setting, dynamics, friction, gravity, standing, validation
from steelyard.excite.stage_motions import tool as tool_runs
from steelyard.model import Model
from steelyard.robot.robot import Link
from steelyard.robot.tool import frame

Array = NDArray[np.float64]
SHARE = 0.95  # of the limits, for every stage
POSES, FELT = 64, 1e-9  # random poses and the size, of the largest, over which a column is felt at rest
STAGES = {
    "A": (
        "standing still",
        "Torque noise, zero offsets and whether gravity has the sign and size of the model file, in a few poses; "
        "gravity is taken from the model file.",
    ),
    "B": (
        "friction, one joint at a time",
        "Viscous and Coulomb friction at constant speeds of both signs, reversals left out; inertia is silent and "
        "gravity cancels between the two directions.",
    ),
    "C": (
        "gravity",
        "First moments and offsets in poses chosen for them, each approached from both sides so that stiction "
        "cancels; friction is held.",
    ),
    "D": (
        "dynamics, training",
        "Everything: inertias are free from here on, and what was held is estimated again together. If A to C get "
        "clearly worse by that, look for the fault in the model and do not take the better sum.",
    ),
    "E": (
        "validation",
        "Nothing is fitted to it and no setting is tuned by it: the error on it is the one to believe.",
    ),
    "F": (
        "tool",
        "Mass, first moments and inertia of a tool, the robot's own parameters held; the result belongs to the "
        "tool, not to a link. Certified with the tool of the model file: certify again where another is heavier.",
    ),
}


@dataclass(frozen=True)
class Plan:
    """The stages in order.

    Attributes:
        stages: A to F; B is missing where the model has no friction.
        basis: the base parameters.
        torque_deviations: (n,) torque noise that was assumed [N m or N].
        rate: of the recordings [Hz].
        apart: how far the validation keeps from the training.
    """

    stages: tuple[Stage, ...]
    basis: ParameterBasis
    torque_deviations: Array
    rate: float
    apart: Distance

    @property
    def passed(self) -> bool:
        """Whether every motion may be run as far as was checked."""
        return all(stage.certificate.passed for stage in self.stages)

    def stage(self, letter: str) -> Stage:
        """One of the stages; raises StudyError where there is none of this letter."""
        for stage in self.stages:
            if stage.letter == letter:
                return stage
        raise StudyError("not a stage of the plan", value=letter, choices=[stage.letter for stage in self.stages])


def plan_experiments(
    model: Model,
    limits: MotionLimits,
    *,
    deviations: Sequence[float],
    certify: Certify,
    design: Callable[[Array], FourierMotion],
    rate: float = 1000.0,
    poses: int = 12,
    home: Sequence[float] | Array | None = None,
    tool: str | None = None,
    clearance: Clearance | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Plan:
    """Make a motion for each stage, certify it, and forecast what it will tell.

    A motion that is not certified is made smaller until it is; where the smallest is not, the stage keeps it with its
    failed certificate, and `Plan.passed` is false.

    Args:
        model: robot and terms.
        limits: all of them; SHARE is used.
        deviations: torque noise of each joint [N m or N].
        certify: `certify` with model, limits and options filled in.
        design: a motion at rest at both ends for the dynamics, given the (b, b) information that there is by then,
            see `design_motion`; its `samples` must weigh as much as what will be recorded (`deviations_of_few`).
        rate: of controller and recording [Hz].
        poses: of gravity and of the tool.
        home: (n,) where static stages begin and end, and friction is measured about; the middle of the ranges when
            not given, or the nearest clear pose.
        tool: link that carries the tool; None for the flange.
        clearance: distances to keep by poses and the ways between them.
        seed: of poses and validation.
        progress: told the letter of each stage before it is made.

    Raises:
        StudyError: options that make no sense, limits that leave no room.
        ModelError: no such link.
    """
    if not rate > 0.0:
        raise StudyError("the rate must be a positive frequency [Hz]", value=rate)
    if limits.joint_names != model.robot.joint_names:
        raise StudyError("the limits are for other joints", value=limits.joint_names, choices=model.robot.joint_names)
    basis, noise = base_parameters(model), np.asarray(deviations, dtype=np.float64)
    link = frame(model.robot, tool)
    narrow = limits.share(SHARE)
    clear = narrow.center if clearance is None else resting_place(clearance, narrow)
    rest = clear if home is None else np.asarray(home, dtype=np.float64)
    setting = Setting(model, narrow, rest, noise, 1.0 / rate, poses, seed, clearance)
    told, stages = np.zeros((basis.count, basis.count)), []
    for letter, runs, updates in (
        ("A", standing, [name for name in basis.names if name.endswith("/bias")]),
        ("B", friction, [name for name in basis.names if "friction" in name]),
        ("C", gravity, _felt_at_rest(setting, basis)),
    ):
        if updates or letter == "A":
            _tell(progress, letter)
            stage, told = _judged(letter, first_certified(runs(setting), certify), updates, setting, told)
            stages.append(stage)
    _tell(progress, "D")
    series = design(told)
    stage, told = _judged("D", first_certified(dynamics(series), certify), basis.names, setting, told)
    stages.append(stage)
    training = [trained.run.sampled(rate) for trained in stages]
    _tell(progress, "E")
    unseen, certificate = first_certified(validation(setting, series), certify)
    stages.append(Stage("E", *STAGES["E"], unseen, certificate, (), np.zeros(0), stage.names, stage.deviations))
    _tell(progress, "F")
    stages.append(_tool_stage(first_certified(tool_runs(setting, series, link), certify), setting, link))
    return Plan(tuple(stages), basis, noise, rate, distance(training, unseen.sampled(rate)))


def _tell(progress: Callable[[str], None] | None, letter: str) -> None:
    if progress is not None:
        progress(letter)


def _judged(
    letter: str, chosen: tuple[Run, Certificate], updates: Sequence[str], setting: Setting, prior: Array
) -> tuple[Stage, Array]:
    """The stage, and the information there is after it."""
    rate = 1.0 / setting.step
    after = forecast(
        setting.model, [chosen[0].sampled(rate)], rate=rate, deviations=list(setting.deviations), prior=prior
    )
    names = after.basis.names
    free = [names.index(name) for name in updates]
    held = deviations_of(after.information[np.ix_(free, free)])
    return Stage(letter, *STAGES[letter], *chosen, tuple(updates), held, names, after.deviations), after.information


def _tool_stage(chosen: tuple[Run, Certificate], setting: Setting, link: Link) -> Stage:
    """What the run tells of a payload when the robot is known."""
    recorded = chosen[0].sampled(1.0 / setting.step)
    recorded = replace(recorded, tau=np.zeros_like(recorded.channel("q")))
    rows = setting.model.absorb([recorded]).scale(setting.deviations**-2.0).stacked()[:, :-1]
    R = rows @ payload_columns(setting.model, link)
    known = deviations_of(R.T @ R)
    return Stage("F", *STAGES["F"], *chosen, COLUMNS, known, COLUMNS, known)


def _felt_at_rest(setting: Setting, basis: ParameterBasis) -> list[str]:
    """Base parameters that torque at rest depends on somewhere: gravity's and the offsets."""
    limits = setting.limits
    poses = np.random.default_rng(0).uniform(limits.lower, limits.upper, (POSES, len(limits.lower)))
    size = np.abs(rows_at_rest(setting.model, poses)).max(axis=(0, 1))
    felt = {name for name, value in zip(setting.model.names, size, strict=True) if value > FELT * size.max()}
    return [name for name in basis.names if name in felt]
