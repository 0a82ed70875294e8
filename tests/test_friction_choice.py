"""The friction structure that a default run takes: each is found where it is the truth, and plain ones stay plain."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import arm
from steelyard.data.trajectory import Trajectory
from steelyard.estimate.friction_choice import choose_friction, words_of
from steelyard.estimate.identify import Identification, identify
from steelyard.estimate.training import Recording
from steelyard.formats.csv_write import write_csv
from steelyard.model import Model
from steelyard.report.summary import summary
from steelyard.robot.robot import Robot
from steelyard.session.run import Request, run
from steelyard.simulate.robots import robot_file
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.graded_friction import GradedFriction
from steelyard.terms.load_friction import LoadFriction
from steelyard.terms.offset import Offset
from steelyard.terms.quadratic import Quadratic
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.stribeck import Stribeck
from steelyard.terms.viscous import Viscous

VALUES = {
    "viscous_friction": 1.0,
    "coulomb_friction": 2.0,
    "bias": 0.1,
    "stribeck_friction": 2.0,
    "load_friction": 0.1,
    "quadratic_friction": 0.8,
    "friction_above_0.3": 3.0,
}
NOISE = 0.1  # of the deviations of arm.NOISE
TRUTHS = {
    "viscous": (Viscous(),),
    "coulomb": (Viscous(), Coulomb()),
    "graded": (Viscous(), GradedFriction(speeds=(0.3,))),
    "stribeck": (Viscous(), Coulomb(), Stribeck(0.07)),
    "coulomb+load": (Viscous(), Coulomb(), LoadFriction()),
    "coulomb+quadratic": (Viscous(), Coulomb(), Quadratic()),
}


def fast_robot() -> Robot:
    """The arm with velocity limits that its motion just reaches."""
    robot = arm.model().robot
    top = np.abs(arm.motion().channel("dq")).max(axis=0)
    return replace(robot, axes=tuple(replace(a, velocity=float(v)) for a, v in zip(robot.axes, top, strict=True)))


def truth(structure: str) -> tuple[Model, np.ndarray]:
    model = Model(fast_robot(), (RigidBody(), *TRUTHS[structure], Offset()))
    nominal = dict(zip(model.names, model.nominal.tolist(), strict=True))
    return model, np.array([VALUES.get(name.rsplit("/", 1)[-1], nominal[name]) for name in model.names])


def recorded(structure: str, *, seed: int = 1, slow: float = 1.0) -> Trajectory:
    """20 s of an arm that has this friction, moved `slow` times as fast."""
    model, theta = truth(structure)
    path = arm.motion()
    path = replace(path, time=path.time / slow, dq=slow * path.dq, ddq=slow**2 * path.ddq)
    noise = NOISE * np.array(arm.NOISE) * np.random.default_rng(seed).normal(size=path.q.shape)
    return replace(path, tau=model.torque(theta, path) + noise, source="")


@cache
def found(structure: str, *, seed: int = 1, slow: float = 1.0) -> Identification:
    """A default run on it."""
    return identify(fast_robot(), [Recording(recorded(structure, seed=seed, slow=slow))])


@pytest.mark.parametrize("structure", TRUTHS)
def test_each_structure_is_found_where_it_is_the_truth(structure):
    done = found(structure)
    assert done.friction.structure == structure
    assert done.friction.trials[0].name == structure


@pytest.mark.parametrize("seed", [2, 3])
def test_plain_friction_stays_plain(seed):
    """Neither Stribeck nor any other curve, for none of these noises."""
    assert found("coulomb", seed=seed).friction.structure == "coulomb"


def test_the_runner_up_is_shown_with_error_and_columns():
    choice = found("coulomb").friction
    best, second, *others = choice.trials
    assert choice.finding.code == "fit.friction_chosen"
    assert choice.finding.value == "coulomb"
    for trial, start in ((best, "viscous and Coulomb, offset"), (second, f"runner-up: {words_of(second.name)}")):
        assert (
            f"{start} (held-out error {100 * trial.error:.2f} %, {trial.columns:.0f} columns)" in choice.finding.message
        )
    assert all(trial.name in choice.finding.message for trial in others)
    assert {"viscous", "coulomb", "graded", "stribeck", "coulomb+load"} <= {trial.name for trial in choice.trials}


def test_the_square_of_the_speed_is_left_out_where_training_is_slow():
    """At half the speed limit it could be fitted, but the other half of its parabola would be a guess."""
    choice = found("coulomb+quadratic", slow=0.5).friction
    assert choice.narrow == fast_robot().joint_names
    assert not any("quadratic" in trial.name for trial in choice.trials)
    assert "friction by the square of the speed left out" in choice.finding.message
    assert "below 70 % of the velocity limit in joint_1" in choice.finding.message
    assert found("coulomb+quadratic").friction.narrow == ()


def test_a_stribeck_curve_between_the_speeds_of_the_grid_is_met():
    """At 0.07 rad/s, between 0.05 and 0.1; from 0.02 rad/s on, within a fifteenth of the 4 N m of breaking away."""
    done = found("stribeck")
    speeds = np.array([0.02, 0.04, 0.07, 0.1, 0.2, 0.5, 1.0])
    still = np.zeros((len(speeds), 7))
    states = replace(
        arm.motion().samples(0, len(speeds)), q=still, dq=np.tile(speeds[:, None], 7), ddq=still, source=""
    )
    curves = []
    for model, theta in ((done.model, done.estimate.full(done.model.names)), truth("stribeck")):
        friction = np.array([name.startswith("actuator/") and "bias" not in name for name in model.names])
        curves.append(model.torque(np.where(friction, theta, 0.0), states))
    assert np.abs(curves[0] - curves[1]).max() < 4.0 / 15.0


def test_one_block_alone_gives_plain_friction():
    choice = choose_friction(fast_robot(), [], lambda info, model, basis: None, time=np.ones(7), speeds=np.zeros(7))
    assert (choice.structure, choice.trials) == ("coulomb", ())
    assert choice.finding.message.startswith("friction: viscous and Coulomb, offset; friction by the square")


def test_the_summary_and_the_result_show_it(tmp_path):
    """From a file: choice and runner-up have lines of their own in the terminal, and are a finding of the result."""
    write_csv(tmp_path / "run.csv", recorded("coulomb"))
    done = run(Request(model=robot_file("arm7.urdf"), train=(tmp_path / "run.csv",)))
    lines = summary(done).splitlines()
    best, second = done.identification.friction.trials[:2]
    at = next(k for k, line in enumerate(lines) if line.startswith("Friction, as the data ask for it: viscous and"))
    assert f"viscous and Coulomb, offset (held-out error {100 * best.error:.2f} %" in lines[at]
    assert lines[at + 1].startswith(f"  runner-up: {words_of(second.name)} (held-out error")
    assert any(f.code == "fit.friction_chosen" and f.value == "coulomb" for f in done.findings)
