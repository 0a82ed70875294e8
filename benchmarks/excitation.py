#!/usr/bin/env python3
"""Excitation design against the field: condition and log det reached, CPU time, and the price of a gradient.

    STEELYARD_REAL_DATA=folder python benchmarks/excitation.py [--seeds 3] [--quick] [--meshes FOLDER]

Period 10 s, 5 harmonics, 200 samples for the design and 1 000 for the check; 95 % of all limits of the model files and
of `limits/` in that folder, positions within +-pi. Medians over the seeds. Times are CPU time of one thread, warm.
The best random motion is the best of 50, normal coefficients with every joint scaled to touch a limit. The last columns
are one design that starts and ends at rest inside torque limits and clear of itself, and its certificate.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import numpy as np
from certificates import installed

from steelyard.basis import base_parameters
from steelyard.excite.certificate import certify
from steelyard.excite.criteria import condition_number, criterion_named
from steelyard.excite.design import Design, design_motion
from steelyard.excite.envelope import envelope_of
from steelyard.excite.fourier import FourierFamily, shared_harmonics
from steelyard.excite.information import MotionInformation
from steelyard.excite.limits import MotionLimits, motion_limits
from steelyard.excite.objective import Objective
from steelyard.excite.search import random_start
from steelyard.formats.joint_limits import read_joint_limits
from steelyard.model import Model
from steelyard.robot.collision import CollisionModel
from steelyard.robot.collision_build import collision_model
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous

FILES = {
    "Panda": ("panda_gaz/panda.urdf", "limits/panda_joint_limits.yaml"),
    "UR10": ("ur10_unisa/ur10.urdf", "limits/ur10_joint_limits.yaml"),
}
PERIOD, HARMONICS, SAMPLES, CHECKED, SHARE, RANDOM = 10.0, 5, 200, 1000, 0.95, 50
FIRST_RANDOM = 1000  # these seeds give the published baseline again: condition 28.4 and 26.9, log det 361 (Panda)
ALL = (RigidBody(), Viscous(), Coulomb(), Offset())


@dataclass(frozen=True)
class Subject:
    """A robot with its limits, those of torque apart, what it can collide with, and the best of random motions."""

    name: str
    model: Model
    free: MotionLimits
    limits: MotionLimits
    clearance: CollisionModel
    random_condition: float
    random_log_det: float
    random_deviation: float


@dataclass(frozen=True)
class Task:
    """One line of the table: what to design and what to reach, (Panda, UR10)."""

    title: str
    criterion: str
    columns: str
    budget: float
    measure: Callable[[Design, Subject], float]
    bound: tuple[float, float]
    above: bool = False


def rigid(names: tuple[str, ...]) -> list[int]:
    return [k for k, name in enumerate(names) if name.startswith("link/")]


def log_det(design: Design, subject: Subject) -> float:
    own = rigid(design.names)
    return float(np.linalg.slogdet(design.information[np.ix_(own, own)])[1])


def condition_of(design: Design, subject: Subject) -> float:
    return condition_number(design.information)


def deviation_ratio(design: Design, subject: Subject) -> float:
    return float(np.exp(np.mean(np.log(design.deviations)))) / subject.random_deviation


TASKS = (
    Task("condition, rigid columns", "condition", "rigid", 2.0, condition_of, (11.5, 10.0)),
    Task("condition, rigid columns", "condition", "rigid", 10.0, condition_of, (9.4, 8.4)),
    Task("condition, rigid columns, IPOPT's", "condition", "rigid", 10.0, condition_of, (8.7, 7.8)),
    Task("condition, all columns", "condition", "all", 10.0, condition_of, (30.0, 27.0)),
    Task("condition, all columns (stretch)", "condition", "all", 60.0, condition_of, (26.0, 24.0)),
    Task("D, all columns: log det of the rigid part", "d", "all", 10.0, log_det, (418.0, 370.0), above=True),
    Task("D, all columns: deviation / best random", "d", "all", 10.0, deviation_ratio, (0.55, 0.55)),
)


def load(name: str, folder: Path, meshes: Path) -> Subject:
    urdf, limits_file = (folder / file for file in FILES[name])
    robot = Robot.from_urdf(urdf)
    robot = robot.locked([joint for joint in robot.joint_names if "finger" in joint])
    limits = motion_limits(robot, read_joint_limits(limits_file))
    clearance = collision_model(robot, urdf, search=[meshes])
    free = replace(limits, effort=np.full(len(limits.joint_names), np.inf))
    model = Model(robot, ALL)
    basis = base_parameters(model)
    family = FourierFamily(PERIOD, shared_harmonics(len(robot.joint_names), HARMONICS))
    envelope = envelope_of(family, free.share(SHARE))
    objective = Objective(family, free.center, MotionInformation(model, basis.names, SAMPLES), samples=SAMPLES)
    own = rigid(basis.names)
    found = []
    for seed in range(FIRST_RANDOM, FIRST_RANDOM + RANDOM):
        x = random_start(family, envelope, np.random.default_rng(seed))
        G = objective.matrix(x / envelope.gauge(x)[:, None])
        part = G[np.ix_(own, own)]
        spread = float(np.exp(0.5 * np.mean(np.log(np.diag(np.linalg.inv(G))))))
        found.append((condition_number(part), float(np.linalg.slogdet(part)[1]), spread))
    conditions, dets, spreads = zip(*found, strict=True)
    return Subject(name, model, free, limits, clearance, min(conditions), max(dets), min(spreads))


def design(subject: Subject, task: Task, seed: int, *, full: bool) -> Design:
    """With `full`, at rest at both ends, inside the torque limits and clear of itself."""
    return design_motion(
        subject.model,
        subject.limits if full else subject.free,
        criterion=task.criterion,
        columns=task.columns,
        period=PERIOD,
        harmonics=HARMONICS,
        rest="acceleration" if full else "free",
        samples=SAMPLES,
        clearance=subject.clearance if full else None,
        share=SHARE,
        changes=10_000,
        budget=task.budget,
        seed=seed,
    )


def use(found: Design) -> float:
    """The largest share of the limits that were to be kept, at the 1 000 instants of the check."""
    limits = found.limits.share(found.share)
    q, dq, ddq, dddq = found.motion.at(np.arange(CHECKED) * PERIOD / CHECKED)
    return float(
        max(
            (np.abs(q - limits.center) / limits.reach).max(),
            (np.abs(dq) / limits.velocity).max(),
            (np.abs(ddq) / limits.acceleration).max(),
            (np.abs(dddq) / limits.jerk).max(),
        )
    )


def report(subjects: list[Subject], seeds: int, tasks: tuple[Task, ...]) -> bool:
    """Tasks that differ in what is measured alone share their designs."""
    print(
        f"{'robot':6} {'task':44} {'CPU s':>6} {'median':>8} {'target':>8} {'':4} {'use':>6}   at rest, torque, clear"
    )
    reached = True
    for subject in subjects:
        made: dict[tuple[str, str, float], tuple[list[Design], Design]] = {}
        for task in tasks:
            key = (task.criterion, task.columns, task.budget)
            if key not in made:
                free = [design(subject, task, seed, full=False) for seed in range(seeds)]
                made[key] = free, design(subject, task, 0, full=True)
            reached = row(subject, task, *made[key]) and reached
    return reached


def row(subject: Subject, task: Task, runs: list[Design], limited: Design) -> bool:
    """Print one line; whether it reaches its target, which a stretch need not."""
    certificate = certify(limited.motion, subject.model, subject.limits, clearance=subject.clearance)
    value = median(task.measure(run, subject) for run in runs)
    bound = task.bound[list(FILES).index(subject.name)]
    used, share = max(run.outcome.seconds for run in runs), max(use(run) for run in runs)
    good = (value >= bound if task.above else value <= bound) and used <= 1.02 * task.budget and share <= 1.0
    sign = ">=" if task.above else "<="
    print(
        f"{subject.name:6} {task.title:44} {used:6.2f} {value:8.3f} {sign}{bound:6.2f} "
        f"{'ok' if good else 'MISS':4} {share:6.4f}   "
        f"{task.measure(limited, subject):8.3f} {'certified' if certificate.passed else 'NOT certified'}",
        flush=True,
    )
    return good or "stretch" in task.title


def best(function: Callable[[], object], *, repeat: int = 300, inner: int = 5) -> float:
    """Smallest CPU time of one call [s]."""
    function()
    times = []
    for _ in range(repeat):
        start = time.thread_time()
        for _ in range(inner):
            function()
        times.append((time.thread_time() - start) / inner)
    return min(times)


def gradient(subject: Subject) -> bool:
    """Value and gradient of the log det against central differences of the same value."""
    names = base_parameters(Model(subject.model.robot, (RigidBody(),))).names
    n = len(subject.free.joint_names)
    family = FourierFamily(PERIOD, shared_harmonics(n, HARMONICS))
    information = MotionInformation(Model(subject.model.robot, (RigidBody(),)), names, SAMPLES)
    objective = Objective(family, subject.free.center, information, samples=SAMPLES)
    x = random_start(family, envelope_of(family, subject.free.share(SHARE)), np.random.default_rng(0))
    criterion = criterion_named("d")

    def differences() -> np.ndarray:
        result = np.zeros(x.size)
        for k in range(x.size):
            step = np.zeros(x.size)
            step[k] = 1e-6
            ends = [objective.value(x + s * step.reshape(x.shape), criterion, barrier=0.0) for s in (1.0, -1.0)]
            result[k] = (ends[0] - ends[1]) / 2e-6
        return result

    exact = objective.evaluate(x, criterion, barrier=0.0).gradient.ravel()
    error = np.abs(differences() - exact).max() / np.abs(exact).max()
    together = best(lambda: objective.evaluate(x, criterion, barrier=0.0), repeat=1500)
    slow = best(differences, repeat=10, inner=1)
    good = slow / together >= 50.0 and together <= 0.4e-3
    print(
        f"{subject.name:6} gradient, {x.size} variables, {SAMPLES} samples: value and gradient {1e3 * together:.3f} ms "
        f"(<= 0.4), central differences {slow / together:.0f} times that (>= 50, goal 150), "
        f"relative difference {error:.1e} {'ok' if good else 'MISS'}"
    )
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="leave out the designs of a minute each")
    parser.add_argument("--meshes", type=Path, default=installed())
    options = parser.parse_args()
    folder = os.environ.get("STEELYARD_REAL_DATA", "")
    if not folder or options.meshes is None:
        print("set STEELYARD_REAL_DATA, and install example-robot-data or give --meshes", file=sys.stderr)
        return 1
    subjects = [load(name, Path(folder), options.meshes) for name in FILES]
    good = gradient(subjects[0])
    for subject in subjects:
        print(
            f"{subject.name:6} best of {RANDOM} random motions: condition {subject.random_condition:.1f}, "
            f"log det {subject.random_log_det:.1f}, deviation {subject.random_deviation:.4f}"
        )
    tasks = tuple(task for task in TASKS if task.budget < 60.0 or not options.quick)
    return 0 if report(subjects, options.seeds, tasks) and good else 1


if __name__ == "__main__":
    sys.exit(main())
