"""Instrumental variables: positions may be noisy, and their derivatives filtered however one likes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import arm
import robots
from steelyard.basis import base_parameters
from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.estimate.closed_loop import loop_gains, simulate
from steelyard.estimate.instrumental import instrumental, instrumental_by_simulation
from steelyard.estimate.least_squares import weighted
from steelyard.estimate.output_error import output_error
from steelyard.model import Model
from steelyard.preparation.differentiate import differentiate
from steelyard.preparation.smooth import smooth
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous

RATE, DURATION = 500.0, 20.0
CUTOFFS = (5.0, 20.0, 100.0)  # [Hz]


@pytest.fixture(scope="module")
def recorded():
    """The seven-joint arm at 500 Hz: positions with noise of 1e-4 rad, torque with 1 N m times each joint's size."""
    path = arm.motion(duration=DURATION, rate=RATE)
    rng = np.random.default_rng(1)
    tau = arm.model().torque(arm.truth(), path)
    noise = 0.1 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    q = path.q + 1e-4 * rng.normal(size=path.q.shape)
    return path, Trajectory(path.time, path.joint_names, q=q, tau=tau + noise, name="noisy")


@pytest.fixture(scope="module")
def unseen():
    path = arm.motion(seed=4, duration=10.0, rate=50.0)
    return path, arm.model().torque(arm.truth(), path)


def error(estimate, unseen):
    """Validation error, each joint relative to its own torque."""
    path, tau = unseen
    found = arm.model().predict(estimate, path)
    return float(np.sqrt(np.mean((found - tau) ** 2 / np.mean(tau**2, axis=0))))


def prepared(recording, cutoff):
    return differentiate(smooth(recording, cutoff, channels=("q",)))


@pytest.fixture(scope="module")
def sweep(recorded, unseen):
    """Validation errors over cut-offs: weighted least squares with parallel filtering, and instruments."""
    path, recording = recorded
    rows = []
    for cutoff in CUTOFFS:
        ready = prepared(recording, cutoff)
        lowpass = LowPass(cutoff, max(1, int(RATE / (2.5 * cutoff))))
        info = arm.model().absorb([ready], names=arm.basis().names, lowpass=lowpass)
        fits = weighted(info, basis=arm.basis()), instrumental(arm.model(), [ready], [path], basis=arm.basis())
        rows.append([error(fit, unseen) for fit in fits])
    return np.array(rows)


def test_flat_over_the_cutoff_of_the_derivatives(sweep):
    """Weighted least squares rises tenfold and more from its best cut-off to 100 Hz; instruments stay within 1.3."""
    plain, fair = sweep.T
    assert plain[2] > 10 * plain.min()
    assert fair.max() < 1.3 * fair.min()
    assert fair.max() < 1.3 * plain.min()


def test_without_a_reference_the_slow_part_of_the_motion_serves(recorded, unseen, sweep):
    _, recording = recorded
    fit = instrumental(arm.model(), [prepared(recording, 100.0)], basis=arm.basis())
    assert error(fit, unseen) < 1.5 * sweep[:, 1].max()


def test_intervals_hold_the_truth(recorded):
    """64 parameters of one recording: some 95 % within, three of a hundred more or less."""
    path, recording = recorded
    fit = instrumental(arm.model(), [prepared(recording, 20.0)], [path], basis=arm.basis())
    z = (fit.theta - arm.basis().regroup(arm.truth())) / fit.deviation
    assert np.mean(np.abs(z) < 1.96) > 0.85
    assert np.sqrt(np.mean(z**2)) == pytest.approx(1.0, abs=0.35)


@pytest.fixture(scope="module")
def planar(tmp_path_factory):
    robot = robots.load(tmp_path_factory.mktemp("planar"), "planar_offset")
    return Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset()))


@pytest.fixture(scope="module")
def loop(planar):
    """A two-joint arm behind its controller at 500 Hz for 8 s: reference, controller, true parameters, true motion."""
    values = {"viscous_friction": 0.4, "coulomb_friction": 0.5, "bias": 0.2}
    theta = np.array([values.get(n.rsplit("/", 1)[-1], v) for n, v in zip(planar.names, planar.nominal, strict=True)])
    t = np.arange(4001) / 500.0
    rate = 2 * np.pi * np.array([[0.25, 0.5, 1.0], [0.375, 0.625, 0.875]])
    size = np.array([[0.8, 0.4, 0.1], [0.9, 0.4, 0.2]])
    angle = rate * t[:, None, None] + np.array([[0.1, 1.0, 2.0], [0.5, 1.5, 0.2]])
    q, dq, ddq = (
        np.sum(s, axis=2) for s in (size * np.sin(angle), size * rate * np.cos(angle), -size * rate**2 * np.sin(angle))
    )
    reference = Trajectory(t, planar.robot.joint_names, q, dq, ddq, name="reference")
    controller = loop_gains(planar, theta, reference, bandwidth=4.0)
    return reference, controller, theta, simulate(planar, theta, reference, controller)


def test_simulated_instruments_find_the_truth(planar, loop):
    """Start 30 % off, two simulations: the parameters come out within four deviations."""
    reference, controller, theta, motion = loop
    rng = np.random.default_rng(2)
    noisy = Trajectory(
        motion.time, motion.joint_names, q=motion.q + 1e-4 * rng.normal(size=motion.q.shape),
        tau=motion.tau + 0.05 * rng.normal(size=motion.q.shape), name="noisy",
    )  # fmt: skip
    basis = base_parameters(planar)
    fit = instrumental_by_simulation(
        planar, [prepared(noisy, 100.0)], [reference], controller, basis=basis, start=0.7 * theta
    )
    assert fit.estimator == "instrumental by simulation"
    value = basis.regroup(theta)
    moved = np.abs(planar.torque(fit.full(planar.names) - theta, reference))
    assert np.sqrt(np.mean(moved**2)) < 0.01 * np.sqrt(np.mean(motion.tau**2))
    assert np.median(np.abs((fit.theta - value) / fit.deviation)) < 2.0


def test_torque_alone_is_enough(planar, loop):
    """Closed-loop output error from parameters 30 % off: three or four simulations, no positions."""
    reference, controller, theta, motion = loop
    noise = 0.02 * np.random.default_rng(3).normal(size=motion.tau.shape)
    recording = Trajectory(motion.time, motion.joint_names, tau=motion.tau + noise, name="torque alone")
    basis = base_parameters(planar)
    start = theta * np.random.default_rng(4).uniform(0.7, 1.3, theta.size)
    found = output_error(
        planar, [recording], [reference], controller, basis=basis, start=start, lowpass=LowPass(10.0, 20)
    )
    assert 3 <= len(found.misfit) <= 5
    assert found.misfit[0] > 0.05
    assert found.misfit[-1] < 0.01
    assert found.estimate.estimator == "output error"
    moved = planar.torque(found.estimate.full(planar.names) - theta, reference)
    assert np.sqrt(np.mean(moved**2)) < 0.02 * np.sqrt(np.mean(motion.tau**2))


def test_instruments_of_another_motion_are_weak(recorded):
    """The reference of another run sees next to nothing of this one, and that is said."""
    _, recording = recorded
    other = arm.motion(seed=9, duration=DURATION, rate=RATE)
    fit = instrumental(arm.model(), [prepared(recording, 20.0)], [other], basis=arm.basis())
    assert "fit.weak_instruments" in {f.code for f in fit.findings}


def test_exact_without_noise():
    path = arm.motion(duration=10.0, rate=100.0)
    recording = arm.recorded(path, np.zeros(path.q.shape))
    fit = instrumental(arm.model(), [recording], [path], basis=arm.basis())
    value = arm.basis().regroup(arm.truth())
    np.testing.assert_allclose(fit.theta, value, rtol=0, atol=1e-7 * np.abs(value).max())


def test_what_does_not_fit(recorded, planar, loop):
    path, recording = recorded
    ready = prepared(recording, 20.0)
    with pytest.raises(DataError, match="same stamps"):
        instrumental(arm.model(), [ready], [path.samples(0, 100)])
    with pytest.raises(DataError, match="same stamps"):
        instrumental(arm.model(), [ready], [])
    with pytest.raises(DataError, match="no recording"):
        instrumental(arm.model(), [])
    nothing = replace(ready, valid=np.zeros(ready.q.shape, dtype=bool))
    with pytest.raises(DataError, match="no sample"):
        instrumental(arm.model(), [nothing], [path])
    reference, controller, _, motion = loop
    with pytest.raises(DataError, match="same stamps"):
        output_error(planar, [motion.samples(0, 50)], [reference], controller)
