"""A plan's promises: what a stage says it will tell is what an identification from its samples then knows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import robots
from steelyard.assess.extrapolation import extrapolation
from steelyard.errors import StudyError
from steelyard.estimate.payload_fit import payload_columns
from steelyard.excite.certificate import certify
from steelyard.excite.criteria import condition_number
from steelyard.excite.design import design_motion
from steelyard.excite.distinct import distance
from steelyard.excite.envelope import envelope_of
from steelyard.excite.forecast import deviations_of_few, forecast
from steelyard.excite.fourier import FourierFamily, FourierMotion, shared_harmonics
from steelyard.excite.limits import JointLimit, motion_limits
from steelyard.excite.next_motion import rank_motions
from steelyard.excite.pace import slow_first
from steelyard.excite.plan import plan_experiments
from steelyard.excite.plateaus import plateaus
from steelyard.excite.random_band import random_band
from steelyard.excite.stage import Run, first_certified, plain
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.robot.tool import frame
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous

RATE, PERIOD, SAMPLES = 100.0, 5.0, 160
SIGMA = [0.3, 0.1]
RUNS = 800
ARM = Path(__file__).parents[2] / "examples" / "robots" / "arm6.urdf"


def arm(folder, terms):
    robot = robots.load(folder, "tooled")
    limit = JointLimit(velocity=3.0, acceleration=8.0, jerk=200.0)
    return Model(robot, terms), motion_limits(robot, dict.fromkeys(robot.joint_names, limit))


def planned(model, limits, **options):
    few = deviations_of_few(SIGMA, samples=SAMPLES, rate=RATE, duration=PERIOD)

    def design(prior):
        return design_motion(
            model, limits, period=PERIOD, harmonics=4, starts=2, changes=2, budget=600.0, samples=SAMPLES,
            deviations=few, prior=prior,
        ).motion  # fmt: skip

    inside = partial(certify, model=model, limits=limits, step=5e-3)
    return plan_experiments(
        model, limits, **{"deviations": SIGMA, "certify": inside, "design": design, "rate": RATE, "poses": 5, **options}
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    model, limits = arm(tmp_path_factory.mktemp("arm"), (RigidBody(), Viscous(), Coulomb(), Offset()))
    return model, limits, planned(model, limits)


def weighted_rows(model, plan, letters):
    """(rows, b) of all valid samples of some stages, over their noise."""
    columns = [model.names.index(name) for name in plan.basis.names]
    rows = []
    for letter in letters:
        samples = plan.stage(letter).run.sampled(plan.rate)
        if not plan.stage(letter).run.windows:
            samples = samples.samples(0, len(samples) - 1)
        values = model.regressor(samples)[:, :, columns] / np.array(SIGMA)[None, :, None]
        rows.append(values.reshape(-1, len(columns)) if samples.valid is None else values[samples.valid])
    return np.concatenate(rows)


def test_every_motion_is_certified_and_every_parameter_known_in_the_end(whole):
    _, _, plan = whole
    assert [stage.letter for stage in plan.stages] == list("ABCDEF")
    assert plan.passed
    assert not np.isfinite(plan.stage("C").deviations).all()  # inertias are for D
    assert np.isfinite(plan.stage("D").deviations).all()
    for one, other in zip(plan.stages[:3], plan.stages[1:4], strict=True):
        known = np.isfinite(one.deviations)
        assert np.all(other.deviations[known] <= one.deviations[known] * (1.0 + 1e-9))


def test_each_stage_frees_what_it_is_for(whole):
    _, _, plan = whole
    assert {name.split("/")[-1] for name in plan.stage("A").updates} == {"bias"}
    assert {name.split("/")[-1] for name in plan.stage("B").updates} == {"viscous_friction", "coulomb_friction"}
    gravity = {name.split("/")[-1] for name in plan.stage("C").updates}
    assert gravity <= {"mass", "first_moment_x", "first_moment_y", "first_moment_z", "bias"}
    assert plan.stage("D").updates == plan.basis.names
    assert plan.stage("E").updates == ()
    assert all(name.startswith("payload/") for name in plan.stage("F").updates)
    for stage in plan.stages[:5]:
        assert np.isfinite(stage.deviations_held).all()
    assert np.isinf(plan.stage("F").deviations).any()  # two joints do not tell all ten numbers of a tool


def test_what_is_forecast_is_achieved(whole):
    """Over 800 identifications with white noise from A to D, and from B alone with all but friction held.

    800 runs know a deviation to 2.5 %: 10 % is four of its deviations.
    """
    model, _, plan = whole
    rng = np.random.default_rng(0)
    rows = weighted_rows(model, plan, "ABCD")
    spread = np.linalg.lstsq(rows, rng.standard_normal((len(rows), RUNS)), rcond=None)[0].std(axis=1)
    assert np.all(np.abs(spread / plan.stage("D").deviations - 1.0) < 0.1)
    free = [plan.basis.names.index(name) for name in plan.stage("B").updates]
    rows = weighted_rows(model, plan, "AB")[:, free]
    spread = np.linalg.lstsq(rows, rng.standard_normal((len(rows), RUNS)), rcond=None)[0].std(axis=1)
    assert np.all(np.abs(spread / plan.stage("B").deviations_held - 1.0) < 0.1)


def test_the_forecast_of_a_tool_is_that_of_its_rows():
    """Of an arm with six joints and a random motion for the dynamics; the robot known, its ten numbers are."""
    robot = Robot.from_urdf(ARM)
    limits = motion_limits(robot, dict.fromkeys(robot.joint_names, JointLimit(acceleration=8.0, jerk=200.0)))
    model, sigma = Model(robot, (RigidBody(),)), np.array([1.0, 1.0, 0.7, 0.2, 0.2, 0.1])
    stage = plan_experiments(
        model, limits, deviations=sigma, certify=partial(certify, model=model, limits=limits, step=5e-2),
        design=lambda prior: random_series(limits.share(0.9)), rate=RATE, poses=4,
    ).stage("F")  # fmt: skip
    samples = stage.run.sampled(RATE)
    rows = model.regressor(samples) @ payload_columns(model, frame(robot)) / sigma[None, :, None]
    G = np.einsum("tjk,tjl->kl", rows, rows * samples.valid[:, :, None])
    assert stage.deviations == pytest.approx(np.sqrt(np.diag(np.linalg.inv(G))), rel=1e-5)


def test_validation_is_another_motion_inside_the_range_of_the_training(whole):
    """No frequency in common, away from every state of the training, and nothing that has to be extrapolated."""
    _, _, plan = whole
    train, unseen = plan.stage("D").run.motion, plan.stage("E").run.motion
    lines = [np.array(m.family.harmonics[0]) / m.period for m in (train, unseen)]
    assert np.abs(lines[0][:, None] - lines[1]).min() > 0.02  # [Hz]
    assert plan.apart.least > 0.05
    assert plan.apart.median > 0.15
    runs = [plan.stage(letter).run.sampled(RATE) for letter in "ABCD"]
    assert extrapolation(runs, unseen.sampled(RATE)) == ()
    repeat = distance(runs, train.sampled(RATE))
    assert repeat.median == pytest.approx(0.0, abs=1e-9)


def test_the_same_seed_makes_the_same_plan(whole):
    model, limits, plan = whole
    again = planned(model, limits)
    assert [s.run.motion.digest for s in again.stages] == [s.run.motion.digest for s in plan.stages]
    other = planned(model, limits, seed=5)
    assert other.stage("E").run.motion.digest != plan.stage("E").run.motion.digest
    assert plain(plan.stage("C").deviations).count(None) == np.isinf(plan.stage("C").deviations).sum() > 0


def test_every_stage_has_its_slow_versions(whole):
    model, limits, plan = whole
    for stage in plan.stages:
        versions = slow_first(stage.run.motion, partial(certify, model=model, limits=limits, step=2e-2))
        assert all(version.certificate.passed for version in versions)
        assert len(versions) == 3


def test_a_model_without_friction_has_no_stage_for_it(tmp_path):
    model, limits = arm(tmp_path, (RigidBody(),))
    told = []
    plan = planned(model, limits, progress=told.append)
    assert [stage.letter for stage in plan.stages] == told == list("ACDEF")
    with pytest.raises(StudyError, match="not a stage"):
        plan.stage("B")


def test_what_cannot_be_certified_says_so(whole):
    """A limit on torque that gravity alone breaks: smaller motions are tried in vain, and the plan does not pass."""
    model, limits, plan = whole
    weak = replace(limits, effort=np.array([100.0, 0.5]))
    run, certificate = first_certified(
        [plan.stage("C").run, plan.stage("A").run], partial(certify, model=model, limits=weak, step=2e-2)
    )
    assert run is plan.stage("A").run
    assert not certificate.passed
    assert not replace(plan, stages=(replace(plan.stages[0], certificate=certificate),)).passed
    with pytest.raises(StudyError, match="no motion"):
        first_certified([], partial(certify, model=model, limits=weak))


def test_a_motion_that_does_not_rest_is_no_stage(whole):
    model, limits, _ = whole
    free = FourierMotion(
        limits.joint_names, FourierFamily(PERIOD, shared_harmonics(2, 3)), np.full((2, 7), 0.1), "restless"
    )
    with pytest.raises(StudyError, match="at rest"):
        planned(model, limits, design=lambda prior: free)


def test_options_that_make_no_sense(whole):
    model, limits, _ = whole
    for options, words in (
        ({"rate": 0.0}, "rate"),
        ({"deviations": [1.0]}, "deviation"),
        ({"poses": 0}, "candidates"),
        ({"home": [0.0]}, "pose"),
        ({"home": [9.0, 0.0]}, "outside the limits"),
    ):
        with pytest.raises(StudyError, match=words):
            planned(model, limits, **options)
    with pytest.raises(StudyError, match="other joints"):
        planned(model, replace(limits, joint_names=("a", "b")))


def test_the_next_motion_serves_what_is_weak(whole):
    """After gravity and dynamics without friction in mind, a sweep of plateaus; after a sweep, the dynamics."""
    model, limits, plan = whole
    runs = {letter: plan.stage(letter).run for letter in "BCD"}
    one = partial(forecast, model, rate=RATE, deviations=SIGMA)
    rank = partial(rank_motions, model, deviations=SIGMA, rate=RATE)
    swept = one([plan.stage("B").run.sampled(RATE)] * 5).information
    first, *_ = rank(runs, known=swept)
    assert first.name == "D"
    assert "inertia" in " ".join(first.serves)
    known = one([plan.stage("D").run.sampled(RATE)]).information
    shaken = random_series(limits)
    again, other = (
        next(p for p in rank({"D": runs["D"], "other": Run(shaken)}, known=known) if p.name == name)
        for name in ("D", "other")
    )
    # the same again: every deviation by sqrt 2, log det by b log 2
    assert again.gain == pytest.approx(len(plan.basis.names) * np.log(2.0), rel=0.01)
    assert again.serves == ()
    assert np.allclose(again.after, again.before / np.sqrt(2.0), rtol=0.01)
    direct = np.linalg.slogdet(known + one([shaken]).information)[1] - np.linalg.slogdet(known)[1]
    assert other.gain == pytest.approx(direct, rel=0.02)
    assert rank({"sweep": Run(plateaus(limits, step=0.01).motion)}, known=np.zeros_like(known))[0].gain > 0.0
    with pytest.raises(StudyError, match="proposed"):
        rank({}, known=known)
    with pytest.raises(StudyError, match="row and column"):
        rank(runs, known=np.eye(2))


def random_series(limits):
    family = FourierFamily(PERIOD, shared_harmonics(len(limits.lower), 4), "acceleration")
    x = np.random.default_rng(0).standard_normal((len(limits.lower), family.variables))
    coefficients = family.coefficients(x * (0.5 / envelope_of(family, limits).gauge(x))[:, None])
    coefficients[:, 0] += limits.center
    return FourierMotion(limits.joint_names, family, coefficients)


def test_f11_five_harmonics_of_a_tenth_of_a_hertz_at_six_tenths_of_the_limits():
    """The source's motion with its random phases: "condition 45" is neither number, which differ by the columns' units.

    Twenty draws on the arm with six joints: 66 to 245 as it is, 10 to 28 with columns of one length.
    """
    robot = Robot.from_urdf(ARM)
    limits = motion_limits(robot, dict.fromkeys(robot.joint_names, JointLimit(acceleration=8.0, jerk=200.0)))
    model = Model(robot, (RigidBody(),))
    numbers = []
    for seed in range(5):
        motion = random_band(limits.share(0.6), band=(0.1, 0.5), duration=10.0, seed=seed)
        assert motion.family.harmonics[0] == (1, 2, 3, 4, 5)
        information = forecast(model, [motion], rate=RATE, deviations=np.ones(6)).information
        numbers.append([condition_number(information, scaled=scaled) for scaled in (False, True)])
    raw, scaled = np.array(numbers).T
    assert np.all((raw > 50.0) & (raw < 300.0))
    assert np.all((scaled > 8.0) & (scaled < 30.0))


def test_few_samples_weigh_as_many():
    assert deviations_of_few([0.2], samples=400, rate=1000.0, duration=10.0) == pytest.approx([0.04])
    with pytest.raises(StudyError, match="positive"):
        deviations_of_few([0.2], samples=0, rate=1000.0, duration=10.0)
