"""What a design promises is what an identification then gets."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import robots
from steelyard.basis import base_parameters
from steelyard.errors import StudyError
from steelyard.estimate.least_squares import weighted
from steelyard.excite.criteria import condition_number
from steelyard.excite.design import design_motion
from steelyard.excite.envelope import envelope_of
from steelyard.excite.features import States
from steelyard.excite.forecast import collected, forecast
from steelyard.excite.fourier import FourierFamily, FourierMotion, shared_harmonics
from steelyard.excite.information import MotionInformation
from steelyard.excite.limits import JointLimit, motion_limits
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.simulate.robots import robot_file
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous

RUNS = 800
ARM6 = (8.0, 6.0, 8.0, 12.0, 12.0, 15.0)  # accelerations [rad/s2]
QUICK = {"period": 5.0, "harmonics": 4, "starts": 2, "changes": 4, "budget": 600.0}


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    robot = robots.load(tmp_path_factory.mktemp("arm"), "tooled")
    limits = motion_limits(robot, {name: JointLimit(acceleration=8.0, jerk=200.0) for name in robot.joint_names})
    return Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset())), limits


def achieved(model, design, sigma, rate=100.0):
    """Deviations of the base parameters over RUNS identifications with white torque noise, and the predicted ones."""
    motion = design.motion.sampled(rate).samples(0, round(rate * design.motion.period))
    basis = base_parameters(model)
    rows = model.regressor(motion)[:, :, [model.names.index(name) for name in basis.names]]
    weighted = (rows / sigma[None, :, None]).reshape(-1, basis.count)
    noise = np.random.default_rng(0).standard_normal((len(weighted), RUNS))  # torque noise over its deviation
    spread = np.linalg.lstsq(weighted, noise, rcond=None)[0].std(axis=1)
    information = MotionInformation(model, basis.names, len(motion), deviations=sigma)
    G = information.evaluate(States(*(np.ascontiguousarray(motion.channel(c)) for c in ("q", "dq", "ddq"))))
    return spread, np.sqrt(np.diag(np.linalg.inv(G)))


def test_predicted_deviations_are_achieved(arm):
    """For every parameter; 800 runs know a deviation to 2.5 %, so that 10 % is four of its deviations."""
    sigma = np.array([0.3, 0.1])
    design = design_motion(*arm, deviations=sigma, **QUICK)
    spread, predicted = achieved(arm[0], design, sigma)
    assert np.all(np.abs(spread / predicted - 1.0) < 0.1)


def test_the_estimator_itself_gets_what_was_forecast(arm):
    """As above through absorbing and weighted least squares, which has to find the noise by itself: 800 recordings."""
    sigma = np.array([0.3, 0.1])
    model, rate = arm[0], 40.0
    motion = design_motion(*arm, deviations=sigma, **QUICK).motion
    predicted = forecast(model, [motion], rate=rate, deviations=sigma)
    samples = motion.sampled(rate).samples(0, round(rate * motion.period))
    exact, rng = model.torque(model.nominal, samples), np.random.default_rng(0)
    found = []
    for _ in range(RUNS):
        recording = robots.with_torque(samples, exact + sigma * rng.standard_normal(exact.shape))
        found.append(weighted(model.absorb([recording], names=predicted.basis.names)).theta)
    assert np.abs(np.std(found, axis=0) / predicted.deviations - 1.0).max() < 0.1
    truth = predicted.basis.regroup(model.nominal)
    assert np.abs((np.mean(found, axis=0) - truth) / predicted.deviations).max() < 4.0 / np.sqrt(RUNS) * 1.1


def test_a_poor_start_on_the_six_joint_arm():
    """Three harmonics in phase, 90 % of the limits: condition 300; free phases and a richer spectrum: under 45."""
    robot = Robot.from_urdf(robot_file("arm6.urdf"))
    model = Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset()))
    limits = motion_limits(
        robot, {n: JointLimit(acceleration=a, jerk=50.0 * a) for n, a in zip(robot.joint_names, ARM6, strict=True)}
    )
    family = FourierFamily(10.0, shared_harmonics(6, 3))
    shape = np.zeros((6, 7))
    shape[:, 1:4] = (1.0, 1.0 / 2.0, 1.0 / 3.0)
    coefficients = shape * (0.9 / envelope_of(family, limits).gauge(shape))[:, None]
    coefficients[:, 0] = limits.center
    poor = FourierMotion(robot.joint_names, family, coefficients)
    better = design_motion(model, limits, criterion="condition", harmonics=5, starts=2, changes=0, samples=200).motion
    before, after = (
        condition_number(forecast(model, [motion], rate=20.0, deviations=np.ones(6)).information)
        for motion in (poor, better)
    )
    assert before == pytest.approx(303.0, rel=0.05)
    assert after < 45.0


def test_information_grows_with_the_samples(arm):
    """Twenty samples a second say 1/5 of what a hundred say: and the sign of dry friction falls a little otherwise."""
    sigma = np.array([0.3, 0.1])
    design = design_motion(*arm, deviations=sigma, samples=100, **QUICK)
    _, predicted = achieved(arm[0], design, sigma)
    assert design.deviations / np.sqrt(5.0) == pytest.approx(predicted, rel=0.1)


def test_d_optimal_motions_beat_well_conditioned_ones(arm):
    """Geometric mean of the achieved deviations, same limits, same searches: the condition number ignores size."""
    sigma = np.ones(2)
    means = [
        np.exp(np.mean(np.log(achieved(arm[0], design_motion(*arm, criterion=c, **QUICK), sigma)[0])))
        for c in ("d", "condition")
    ]
    assert means[0] < 0.9 * means[1]


def test_forecasts_add_up_and_know_what_was_collected(arm):
    """Two periods of one motion: sqrt(2) less; a recording absorbed as the model does counts as its forecast said."""
    model, _ = arm
    sigma = np.array([0.3, 0.1])
    motion = design_motion(*arm, **QUICK).motion
    once, twice = (forecast(model, [motion] * k, rate=100.0, deviations=sigma) for k in (1, 2))
    assert twice.deviations == pytest.approx(once.deviations / np.sqrt(2.0), rel=1e-6)
    samples = motion.sampled(100.0).samples(0, 500)
    recording = robots.with_torque(samples, np.zeros(samples.q.shape))
    known = collected(model.absorb([recording]), once.basis, sigma)
    assert np.abs(known - once.information).max() < 1e-9 * np.abs(known).max()
    after = forecast(model, [motion], rate=100.0, deviations=sigma, prior=known)
    assert after.deviations == pytest.approx(twice.deviations, rel=1e-6)


def test_a_forecast_of_nothing_is_infinite(arm):
    model, _ = arm
    nothing = forecast(model, [], rate=100.0, deviations=[1.0, 1.0])
    assert np.all(np.isinf(nothing.deviations))
    still = FourierMotion(model.robot.joint_names, FourierFamily(5.0, ((1, 2), (1, 2))), np.zeros((2, 5)))
    told = forecast(model, [still], rate=100.0, deviations=[1.0, 1.0])
    bias = told.basis.names.index(
        "actuator/yaw/bias"
    )  # joint yaw stands upright: gravity cannot be taken for its offset
    assert told.deviations[bias] == pytest.approx(1.0 / np.sqrt(500.0))
    assert np.all(np.isinf(np.delete(told.deviations, bias)))


def test_the_next_motion_serves_what_is_still_weak(arm):
    """After a motion of joint pitch alone, the design given what it told beats the one that does not know of it."""
    model, limits = arm
    sigma = np.ones(2)
    coefficients = np.zeros((2, 9))
    coefficients[1, 1:4] = (1.5, -0.8, 0.5)
    first = FourierMotion(limits.joint_names, FourierFamily(5.0, ((1, 2, 3, 4),) * 2), coefficients)
    known = forecast(model, [first], rate=100.0, deviations=sigma).information * 100.0  # a hundred periods of it
    scores = []
    for prior in (known, None):
        design = design_motion(*arm, prior=prior, samples=500, **QUICK)
        after = forecast(model, [design.motion], rate=100.0, deviations=sigma, prior=known)
        scores.append(np.linalg.slogdet(after.information)[1])
    assert scores[0] > scores[1]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rate": 0.03}, "whole number of samples"),
        ({"deviations": [1.0]}, "deviation"),
        ({"prior": np.eye(3)}, "prior"),
    ],
)
def test_forecasts_that_cannot_be(arm, options, words):
    motion = FourierMotion(arm[0].robot.joint_names, FourierFamily(5.0, ((1, 2), (1, 2))), np.zeros((2, 5)))
    with pytest.raises(StudyError, match=words):
        forecast(arm[0], [motion], **{"rate": 100.0, "deviations": [1.0, 1.0], **options})
    with pytest.raises(StudyError, match="other joints"):
        forecast(arm[0], [replace(motion, joint_names=("a", "b"))], rate=100.0, deviations=[1.0, 1.0])
