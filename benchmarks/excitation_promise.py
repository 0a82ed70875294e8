#!/usr/bin/env python3
"""Does an identification get what a design promised? Deviations predicted before and achieved over simulated runs.

    python benchmarks/excitation_promise.py [--runs 1000] [--budget 5]

A D-optimal and a well-conditioned motion for the seven-joint arm of the package, all columns, the same limits and CPU
time; then each run anew: torque of the model plus white noise of one deviation a joint, absorbed and solved by weighted
least squares. The noise of these runs is unknown to the estimator. The last lines are the story of a poor start: three
harmonics in phase on the six-joint arm, and what more freedom makes of it.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from steelyard.basis import base_parameters
from steelyard.estimate.least_squares import weighted
from steelyard.excite.certificate import certify
from steelyard.excite.criteria import condition_number
from steelyard.excite.design import design_motion
from steelyard.excite.envelope import envelope_of
from steelyard.excite.forecast import forecast
from steelyard.excite.fourier import FourierFamily, FourierMotion, shared_harmonics
from steelyard.excite.limits import JointLimit, MotionLimits, motion_limits
from steelyard.formats.joint_limits import read_joint_limits
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.names import terms_named

ROBOTS = Path(__file__).parent.parent / "examples" / "robots"
TERMS = ("rigid_body", "viscous", "coulomb", "offset")
RATE, PERIOD = 100.0, 10.0
NOISE = (1.0, 3.0, 0.5, 2.0, 0.2, 0.3, 0.1)  # deviation of each joint [N m]
WITHIN = 0.1


def promise(criterion: str, runs: int, budget: float) -> tuple[float, float, float]:
    """Smallest and largest ratio of achieved to predicted deviation, and the geometric mean of those achieved."""
    robot = Robot.from_urdf(ROBOTS / "arm7.urdf")
    model = Model(robot, terms_named(TERMS))
    limits = motion_limits(robot, {name: JointLimit(acceleration=15.0, jerk=400.0) for name in robot.joint_names})
    found = design_motion(model, limits, criterion=criterion, deviations=NOISE, budget=budget, changes=10_000)
    predicted = forecast(model, [found.motion], rate=RATE, deviations=NOISE)
    motion = found.motion.sampled(RATE).samples(0, round(RATE * PERIOD))
    exact = model.torque(model.nominal, motion)
    rng = np.random.default_rng(1)
    values = []
    for _ in range(runs):
        torque = exact + rng.standard_normal(exact.shape) * NOISE
        information = model.absorb([replace(motion, tau=torque)], names=predicted.basis.names)
        values.append(weighted(information).theta)
    achieved = np.std(values, axis=0, ddof=1)
    ratio = achieved / predicted.deviations
    return float(ratio.min()), float(ratio.max()), float(np.exp(np.mean(np.log(achieved))))


def in_phase(limits: MotionLimits, count: int, *, share: float = 0.9) -> FourierMotion:
    """All joints alike: `count` harmonics of amplitudes 1, 1/2, 1/3 in phase, scaled to a share of the limits."""
    joints = len(limits.joint_names)
    family = FourierFamily(PERIOD, shared_harmonics(joints, count))
    shape = np.zeros((joints, 2 * count + 1))
    shape[:, 1 : count + 1] = 1.0 / np.arange(1, count + 1)
    coefficients = shape * (share / envelope_of(family, limits).gauge(shape))[:, None]
    coefficients[:, 0] = limits.center
    return FourierMotion(limits.joint_names, family, coefficients)


def story(budget: float) -> bool:
    """Condition of all columns of the six-joint arm: a poor start, its phases designed, then more harmonics."""
    robot = Robot.from_urdf(ROBOTS / "arm6.urdf")
    model = Model(robot, terms_named(TERMS))
    limits = motion_limits(robot, read_joint_limits(ROBOTS / "arm6_joint_limits.yaml"))
    poor = in_phase(limits, 3)
    ones = [1.0] * len(robot.joint_names)
    print(f"arm6, 3 harmonics in phase: condition {_condition(model, poor, ones):.0f}")
    for harmonics in (3, 5):
        found = design_motion(
            model, limits, criterion="condition", harmonics=harmonics, budget=budget, changes=10_000
        ).motion  # fmt: skip
        passed = certify(found, model, limits).passed
        reached = _condition(model, found, ones)
        word = "certified" if passed else "NOT certified"
        print(f"arm6, {harmonics} harmonics, designed, at rest at both ends: condition {reached:.1f}, {word}")
    return passed and reached <= 45.0


def _condition(model: Model, motion: FourierMotion, ones: list[float]) -> float:
    return condition_number(forecast(model, [motion], rate=20.0, deviations=ones).information)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--budget", type=float, default=5.0, help="CPU seconds of each design")
    options = parser.parse_args()
    count = base_parameters(Model(Robot.from_urdf(ROBOTS / "arm7.urdf"), terms_named(TERMS))).count
    means, good = [], True
    for criterion in ("d", "condition"):
        low, high, mean = promise(criterion, options.runs, options.budget)
        means.append(mean)
        good = good and low >= 1.0 - WITHIN and high <= 1.0 + WITHIN
        print(
            f"arm7, {criterion}: achieved / predicted deviation {low:.3f} to {high:.3f} over {count} parameters and "
            f"{options.runs} runs, geometric mean achieved {mean:.4g}"
        )
    print(f"D-optimal over well-conditioned: {means[0] / means[1]:.3f} (< 1)")
    return 0 if story(options.budget) and good and means[0] < means[1] else 1


if __name__ == "__main__":
    sys.exit(main())
