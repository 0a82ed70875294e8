"""A plan of experiments for a robot, and the directory it is written to: plan.yaml and a folder of motions a stage."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from steelyard.excite.fourier import FourierMotion, Rest
from steelyard.excite.pace import SLOW_FIRST
from steelyard.excite.plan import STAGES, Plan, plan_experiments
from steelyard.excite.search import Progress
from steelyard.excite.stage import Stage, plain
from steelyard.formats.excitation_file import certificate_table, limits_table, motion_table
from steelyard.formats.yaml_text import yaml_text
from steelyard.session.disk import spoken, write_new
from steelyard.session.excitation import Wish, certified_versions, designed, noise_of
from steelyard.session.excitation_store import check_replaceable, folder_of, heading, require_passed, write_certified
from steelyard.session.excite_subject import Subject
from steelyard.session.motion_forms import FILES, rates_of
from steelyard.session.swap import checked_target, install

PLAN, KIND, SCHEMA_VERSION = "plan.yaml", "robot_excitation_plan", 1
REST: Rest = "acceleration"  # every stage starts and ends with velocity and acceleration zero
_COMMENT = (
    "A plan of experiments made by Steelyard. SI: rad or m, s, N m or N.",
    "held: deviations of what a stage frees, all else known; together: of all, from this stage and those before.",
)


def plan_for(
    subject: Subject,
    wish: Wish,
    *,
    progress: Callable[[Progress], None] | None = None,
    say: Callable[[str], None] = lambda message: None,
) -> Plan:
    """Make the plan.

    Args:
        subject: robot, terms, limits.
        wish: with a whole period; it says how the motion of the dynamics is designed.
        progress: told after each local search of that.
        say: called with a line before each stage.

    Raises:
        StudyError: options that make no sense, limits that leave no room.
    """
    return plan_experiments(
        subject.model,
        subject.designable,
        deviations=noise_of(wish, subject).tolist(),
        certify=partial(subject.certify, rest=REST),
        design=lambda prior: designed(subject, wish, prior=prior, progress=progress).motion,
        rate=float(wish.rate),
        clearance=subject.clearance,
        seed=wish.seed,
        progress=lambda letter: say(f"stage {letter}: {STAGES[letter][0]}"),
    )


def plan_document(plan: Plan, subject: Subject, files: dict[str, Any] | None = None) -> dict[str, Any]:
    """What plan.yaml holds, as plain values.

    Args:
        plan: of the subject.
        subject: what it was made for.
        files: of each stage, what is said of its files; none where nothing was written.
    """
    return {
        **heading(KIND, SCHEMA_VERSION, subject),
        "rate_hz": plan.rate,
        "torque_noise": dict(zip(subject.limits.joint_names, plain(plan.torque_deviations), strict=True)),
        "validation_distance": {
            "median": plan.apart.median,
            "least": plan.apart.least,
            "beyond_training": plan.apart.beyond,
        },
        "limits": limits_table(subject.limits),
        "stages": {stage.letter: _stage(stage, (files or {}).get(stage.letter)) for stage in plan.stages},
    }


def _stage(stage: Stage, files: dict[str, Any] | None) -> dict[str, Any]:
    motion = stage.run.motion
    return {
        "title": stage.title,
        "purpose": stage.purpose,
        "duration_s": motion.duration,
        **({"motion": motion_table(motion)} if isinstance(motion, FourierMotion) else {}),
        "windows": [[window.start, window.stop, *window.joints] for window in stage.run.windows],
        "held": dict(zip(stage.updates, plain(stage.deviations_held), strict=True)),
        "together": dict(zip(stage.names, plain(stage.deviations), strict=True)),
        "certificate": certificate_table(stage.certificate),
        **({} if files is None else {"files": files}),
    }


def write_plan(
    plan: Plan, subject: Subject, wish: Wish, directory: str | os.PathLike[str], *, force: bool = False
) -> Path:
    """Write plan.yaml and the motions; series at every speed of the slow-first protocol.

    Args:
        plan: of the subject.
        subject: what it was made for.
        wish: forms and rate.
        directory: new or empty, or a plan that `force` allows to replace.
        force: replace a plan of ours, as a whole.

    Raises:
        RefusedMotion: a motion, or a file read back, fails its certificate; nothing is written.
        SessionError: a directory that may not be replaced, a disk that refuses.
    """
    require_passed(stage.certificate for stage in plan.stages)

    def fill(building: Path) -> None:
        files = {s.letter: _write_stage(building / f"stage_{s.letter}", s, subject, wish) for s in plan.stages}
        write_new(building / PLAN, yaml_text(plan_document(plan, subject, files), comment=_COMMENT).encode())

    with spoken(directory):
        target = checked_target(directory)
        install(target, fill, lambda place: _check_replaceable(place, force=force))
    return target


def _write_stage(folder: Path, stage: Stage, subject: Subject, wish: Wish) -> dict[str, Any]:
    """A series at every speed and in every form; other motions, whose speeds are their purpose, as one table."""
    motion = stage.run.motion
    if not isinstance(motion, FourierMotion):
        return write_certified(folder, motion, subject, replace(wish, forms=("csv",), periods=1), rest=REST)
    fitting = tuple(form for form in wish.forms if _whole(motion, rates_of((form,), wish.rate)))
    folder.mkdir()
    said = {}
    for version in certified_versions(subject, motion, rest=REST):
        require_passed([version.certificate])
        name = folder_of(version.speed)
        said[name] = write_certified(
            folder / name, version.motion, subject, replace(wish, forms=fitting), rest=REST
        )  # fmt: skip
    return said


def _whole(motion: FourierMotion, rates: Sequence[int]) -> bool:
    """Whether a motion is a whole number of steps at each rate: the period of the validation is another by design."""
    return all(abs(motion.period * rate - round(motion.period * rate)) < 1e-6 for rate in rates)


def check_plan_target(directory: str | os.PathLike[str], *, force: bool) -> None:
    """Raise SessionError when `write_plan` would refuse the directory: to be asked before the work, not after."""
    with spoken(directory):
        _check_replaceable(checked_target(directory), force=force)


def _check_replaceable(target: Path, *, force: bool) -> None:
    stages = [f"stage_{letter}" for letter in STAGES]
    folders = [*stages, *(f"{stage}/{folder_of(speed)}" for stage in stages for speed in SLOW_FIRST)]
    own = {PLAN, *(f"{folder}/{name}" for folder in folders for name in FILES)}
    check_replaceable(target, record=PLAN, own=own, force=force)
