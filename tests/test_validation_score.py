"""The library's score is the judge's; what it refuses; the verdict it leads to; and the mass matrix of a model."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import robots
from steelyard import Recording, validate
from steelyard.assess.mass_matrix import least_eigenvalue, mass_matrices
from steelyard.assess.validation import score
from steelyard.basis import base_parameters
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.estimate.least_squares import ordinary
from steelyard.estimate.validate import verdict
from steelyard.model import Model
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.viscous import Viscous

JOINTS = ("shoulder", "elbow")


@pytest.fixture(scope="module")
def judge(repository):
    spec = importlib.util.spec_from_file_location("judge", repository / "benchmarks" / "score.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["judge"] = module
    spec.loader.exec_module(module)
    return module


def torque(time):
    return np.column_stack([8 * np.sin(2 * np.pi * 0.5 * time) + 3, 5 * np.cos(2 * np.pi * 0.8 * time)])


def recording(rate, *, jitter=0.0, seconds=10.0, noise=0.2, start=0.0) -> Trajectory:
    rng = np.random.default_rng(3)
    time = start + np.arange(0, seconds, 1 / rate)
    time = time + jitter / rate * rng.uniform(-0.5, 0.5, len(time))
    tau = torque(time) + noise * rng.normal(size=(len(time), 2))
    return Trajectory(time, JOINTS, q=np.zeros_like(tau), tau=tau, name="run.csv")


def guess(rate, *, start=-0.1, stop=10.1):
    time = np.arange(start, stop, 1 / rate)
    return time, torque(time) * [0.9, 1.2]


@pytest.mark.parametrize("interval", [None, (2.0, 7.5), (0.0, 10.0), (9.0, 30.0)])
@pytest.mark.parametrize(
    ("rate", "jitter", "predicted", "cutoff"),
    [(200.0, 0.0, 73.0, 20.0), (200.0, 0.6, 73.0, 20.0), (30.0, 0.2, 30.0, 4.0), (1000.0, 0.3, 200.0, 10.0)],
)
def test_the_score_is_the_judges(judge, rate, jitter, predicted, cutoff, interval):
    run, (time, tau) = recording(rate, jitter=jitter), guess(predicted)
    ours = score(run, time, tau, cutoff=cutoff, interval=interval)
    theirs = judge.score(
        judge.Signals(run.time, JOINTS, run.tau), judge.Signals(time, JOINTS, tau), cutoff=cutoff, interval=interval
    )
    assert ours.relative_error == pytest.approx(theirs["relative_error"], rel=1e-12)
    assert ours.relative_error_unfiltered == pytest.approx(theirs["relative_error_unfiltered"], rel=1e-12)
    assert ours.samples == theirs["samples"]
    assert ours.rmse.round(4).tolist() == list(theirs["rmse_per_joint"].values())
    assert ours.relative_error_per_joint.round(4).tolist() == list(theirs["relative_error_per_joint"].values())


def test_joints_keep_their_errors_apart():
    time = np.arange(0, 20, 0.005)
    clean = np.column_stack([8 * np.sin(np.pi * time), 5 * np.sin(0.5 * np.pi * time)])
    run = Trajectory(time, JOINTS, q=0 * clean, tau=clean)
    result = score(run, time, clean * [0.9, 1.0], cutoff=20.0, interval=(4, 16))
    # both passes of the filter take 1e-13 off 0.5 Hz
    np.testing.assert_allclose(result.relative_error_per_joint, [0.1, 0.0], atol=1e-8)
    np.testing.assert_allclose(result.peak, [0.8, 0.0], atol=1e-4)
    assert result.joint_names == JOINTS
    assert result.interval == (4, 16)
    assert result.relative_error_unfiltered == pytest.approx(result.relative_error, abs=1e-9)


def test_the_prediction_is_not_filtered():
    """Noise on the prediction is an error in full, however far above the cut-off."""
    run, (time, tau) = recording(200.0, noise=0.0), guess(200.0)
    clean = score(run, time, tau / [0.9, 1.2], cutoff=10.0).relative_error
    ripple = np.sin(2 * np.pi * 50.0 * time)[:, None]
    noisy = score(run, time, tau / [0.9, 1.2] + ripple, cutoff=10.0).relative_error
    assert clean < 0.01
    assert noisy > 0.1


def test_the_whole_recording_is_filtered_before_the_cut():
    """What lies outside the interval reaches its ends through the filter: a part is not a recording of its own."""
    run, (time, tau) = recording(200.0), guess(200.0)
    part = replace(run.interval(2.0, 6.0), source="part")
    inside = score(run, time, tau, cutoff=1.0, interval=(2.0, 6.0)).relative_error
    alone = score(part, time, tau, cutoff=1.0).relative_error
    assert inside != pytest.approx(alone, rel=1e-3)


def test_a_tenth_of_a_second_missing_counts_a_second_missing_is_refused():
    run, (time, tau) = recording(200.0), guess(200.0)

    def without(first, last):
        keep = (time < first) | (time > last)
        return time[keep], tau[keep]

    assert score(run, *without(5.0, 5.05), cutoff=20.0).relative_error > 0
    with pytest.raises(DataError, match=r"missing for \d"):
        score(run, *without(5.0, 6.0), cutoff=20.0)
    with pytest.raises(DataError, match="missing"):
        score(run, *guess(200.0, stop=8.0), cutoff=20.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cutoff": 100.1}, "half the sampling rate"),
        ({"cutoff": 150.0}, "half the sampling rate"),
        ({"cutoff": 0.0}, "half the sampling rate"),
        ({"cutoff": -3.0}, "half the sampling rate"),
        ({"cutoff": float("nan")}, "half the sampling rate"),
        ({"cutoff": 20.0, "interval": (20.0, 30.0)}, "nothing is left"),
        ({"cutoff": 20.0, "interval": (5.0, 5.5)}, "nothing is left"),
        ({"cutoff": 20.0, "interval": (6.0, 4.0)}, "nothing is left"),
    ],
)
def test_what_cannot_be_scored_is_said(options, message):
    run, (time, tau) = recording(200.0), guess(73.0)
    with pytest.raises(DataError, match=message) as caught:
        score(run, time, tau, **options)
    assert caught.value.where == "run.csv"
    assert caught.value.cure


def test_too_short_a_recording_or_prediction():
    run = recording(200.0)
    time, tau = guess(73.0)
    with pytest.raises(DataError, match="too few samples"):
        score(run.samples(0, 15), time, tau, cutoff=20.0)
    with pytest.raises(DataError, match="fewer than two"):
        score(run, time[:1], tau[:1], cutoff=20.0)
    with pytest.raises(DataError, match="no tau"):
        score(replace(run, tau=None), time, tau, cutoff=20.0)


def test_a_joint_without_torque_has_no_relative_error():
    run, (time, tau) = recording(200.0), guess(200.0)
    dead = replace(run, tau=run.tau * [1.0, 0.0], source="dead")
    result = score(dead, time, tau, cutoff=20.0)
    assert np.isinf(result.relative_error_per_joint[1])
    assert np.isfinite(result.relative_error)
    nothing = score(replace(run, tau=0.0 * run.tau, source="none"), time, tau, cutoff=20.0)
    assert np.isinf(nothing.relative_error)


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    """A planar arm that drives itself on sines for 20 s, exactly as its model says."""
    robot = robots.load(tmp_path_factory.mktemp("planar"), "planar_offset")
    model = Model(robot, (RigidBody(), Viscous(), Offset()))
    time = 0.005 * np.arange(4000)
    rate = 2 * np.pi * np.array([[0.3, 0.7], [0.4, 0.9]])
    angle = time[:, None, None] * rate + [[0.1, 0.5], [1.0, 2.0]]
    motion = Trajectory(time, robot.joint_names, q=0.5 * np.sin(angle).sum(axis=2),
                        dq=0.5 * (rate * np.cos(angle)).sum(axis=2), ddq=-0.5 * (rate**2 * np.sin(angle)).sum(axis=2),
                        name="unseen.csv")  # fmt: skip
    theta = model.nominal.copy()
    theta[-4:] = [0.8, 0.4, 0.5, -0.3]
    return model, theta, robots.with_torque(motion, model.torque(theta, motion))


def test_a_true_model_is_fit_for_feed_forward_and_a_wrong_one_is_not(arm):
    model, theta, unseen = arm
    basis = base_parameters(model)
    good = ordinary(model.absorb([unseen], names=basis.names), basis=basis)
    wrong = replace(good, theta=good.theta * 1.1)
    useless = replace(good, theta=good.theta * 1.5)
    expected = (
        (good, True, True, "feed-forward"),
        (wrong, False, True, "not for feed"),
        (useless, False, False, "not good"),
    )
    for estimate, forward, gravity, words in expected:
        results = validate(model, estimate, [Recording(unseen)], cutoff=10.0)
        assert verdict(results)[:2] == (forward, gravity)
        assert words in verdict(results)[2]
    for cutoff in (1e-9, 1e9, float("nan"), float("inf"), 0.0, -1.0):
        with pytest.raises(DataError, match="hold a period"):
            validate(model, good, [unseen], cutoff=cutoff)
    error = validate(model, good, [unseen], cutoff=10.0)[0].score.relative_error
    assert error < 2e-3  # differences of q at 200 Hz; the torque loses 1e-3 of its corners to the filter
    assert theta.size == len(model.names)


def test_without_unseen_motion_there_is_no_verdict():
    forward, gravity, sentence = verdict([])
    assert forward is None
    assert gravity is None
    assert "Not validated" in sentence


@pytest.mark.parametrize("name", ["tooled", "rail", "branching"])
def test_mass_matrices_are_pinocchios(tmp_path, name):
    """Crba against n columns of the regressor; friction and offsets must not enter."""
    path = robots.write(tmp_path, name)
    robot = robots.load(tmp_path, name, gravity=robots.TILTED)
    model = Model(robot, (RigidBody(), RotorInertia(), Viscous(), Offset()))
    theta = model.nominal.copy()
    rotor = 0.01 * np.arange(1.0, 1.0 + len(robot.joint_names))
    for k, joint in enumerate(robot.joint_names):
        theta[model.names.index(f"actuator/{joint}/rotor_inertia")] = rotor[k]
        theta[model.names.index(f"actuator/{joint}/bias")] = 3.0
    reference = pin.buildModelFromUrdf(str(path))
    where = [reference.joints[reference.getJointId(n)].idx_v for n in robot.joint_names]
    q = robots.states(robot.joint_names, 20).q
    ours = mass_matrices(model, theta, q)
    assert ours.shape == (20, len(where), len(where))
    for k in range(20):
        scalar = np.zeros(reference.nv)
        scalar[where] = q[k]
        theirs = pin.crba(reference, reference.createData(), pin.integrate(reference, pin.neutral(reference), scalar))
        theirs = np.triu(theirs) + np.triu(theirs, 1).T
        theirs = theirs[np.ix_(where, where)] + np.diag(rotor)
        # differences of torques of up to 100 N m: 1e-14 of that
        np.testing.assert_allclose(ours[k], theirs, rtol=0, atol=1e-12)
    least = least_eigenvalue(model, theta, q)
    assert least == pytest.approx(min(np.linalg.eigvalsh(m)[0] for m in ours), rel=1e-9)
    assert least > rotor.min()


def test_a_negative_inertia_shows_in_the_least_eigenvalue(tmp_path):
    model = Model(robots.load(tmp_path, "tooled"), (RigidBody(),))
    theta = model.nominal.copy()
    theta[model.names.index("link/lower/inertia_yy")] -= 5.0
    assert least_eigenvalue(model, theta, robots.states(model.robot.joint_names, 20).q) < 0.0
