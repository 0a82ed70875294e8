"""Fourier series fitted to periodic motion, and averages over its periods."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import arm
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.preparation.differentiate import differentiate
from steelyard.preparation.fourier_fit import fourier_fit
from steelyard.preparation.periods import average_periods
from steelyard.preparation.smooth import smooth

NOISE = 1e-4  # [rad]


@pytest.fixture(scope="module")
def path():
    """Two periods of 10 s, five harmonics, 1 kHz."""
    return arm.motion(duration=20.0, rate=1000.0)


@pytest.fixture(scope="module")
def noisy(path):
    noise = NOISE * np.random.default_rng(0).normal(size=path.q.shape)
    return Trajectory(path.time, path.joint_names, q=path.q + noise, name="run")


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


@pytest.fixture(scope="module")
def fitted(noisy):
    return fourier_fit(noisy)


def test_acceleration_error_is_what_the_coefficients_leave(path, noisy, fitted):
    """sqrt(2 / N sum (l w)^4) s = 1.24e-5 rad/s2; from 70 coefficients known to 10 %."""
    expected = NOISE * np.sqrt(2.0 / len(path) * np.sum((2 * np.pi / 10.0 * np.arange(1, 6)) ** 4))
    assert expected == pytest.approx(1.24e-5, rel=0.01)
    assert rms(fitted.apply(noisy).ddq - path.ddq) == pytest.approx(expected, rel=0.3)
    np.testing.assert_allclose(fitted.acceleration_noise, expected, rtol=0.02)


def test_filters_are_sixty_times_worse(path, noisy, fitted):
    """Butterworth at 2.5, 5, 10 and 20 Hz and differences leave 8e-4, 4e-3, 2e-2 and .13 rad/s2 away from the ends."""
    inner = slice(1000, -1000)
    series = rms(fitted.apply(noisy).ddq[inner] - path.ddq[inner])
    errors = [rms(differentiate(smooth(noisy, cutoff)).ddq[inner] - path.ddq[inner]) for cutoff in (2.5, 5, 10, 20)]
    np.testing.assert_allclose(errors, [7e-4, 4e-3, 2.3e-2, 0.13], rtol=0.25)
    assert min(errors) > 40 * series


def test_everything_is_found(fitted):
    assert fitted.harmonics == 5
    # a period is known to s / (speed sqrt(N)) / periods: well under a microsecond times ten
    assert fitted.motion.period == pytest.approx(10.0, abs=1e-5)
    np.testing.assert_allclose(fitted.noise, NOISE, rtol=0.03)  # 20 000 samples: 0.5 %


def test_exact_without_noise(path):
    fit = fourier_fit(Trajectory(path.time, path.joint_names, q=path.q), period=10.0, harmonics=5, correct=False)
    again = fit.apply(path)
    np.testing.assert_allclose(again.q, path.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(again.dq, path.dq, rtol=0, atol=1e-12)
    np.testing.assert_allclose(again.ddq, path.ddq, rtol=0, atol=1e-11)
    assert "5 harmonics of 10 s" in again.steps[-1]


def test_any_clock_and_gaps(path):
    """A third of the samples, at random, with a gap of 3 s and an origin far away: the series does not mind."""
    rng = np.random.default_rng(1)
    kept = np.sort(rng.choice(len(path), 6000, replace=False))
    kept = kept[(path.time[kept] < 4.0) | (path.time[kept] > 7.0)]
    q = path.q[kept] + NOISE * rng.normal(size=(len(kept), 7))
    gap = int(np.searchsorted(path.time[kept], 5.0))
    recording = Trajectory(path.time[kept] + 1e4, path.joint_names, q=q, breaks=(gap,))
    fit = fourier_fit(recording, period=10.0)
    assert fit.harmonics == 5
    assert rms(fit.apply(recording).ddq - path.ddq[kept]) < 5e-5


def test_a_clock_that_is_half_a_percent_off(path, noisy):
    slow = replace(noisy, time=noisy.time * 1.005, source="")
    fit = fourier_fit(slow, period=10.0)
    assert fit.motion.period == pytest.approx(10.05, abs=1e-5)
    np.testing.assert_allclose(fit.noise, NOISE, rtol=0.03)
    assert fourier_fit(slow, period=10.0, correct=False).noise.max() > 100 * NOISE


def test_a_lagging_controller_adds_harmonics(path):
    """The square of the fourth harmonic, small: eight of them are needed, and eight are taken."""
    t = path.time
    extra = 0.01 * np.sin(2 * np.pi * 8 * t / 10.0)[:, None] + np.zeros((1, 7))
    q = path.q + extra + NOISE * np.random.default_rng(2).normal(size=path.q.shape)
    assert fourier_fit(Trajectory(t, path.joint_names, q=q), period=10.0).harmonics == 8


def test_a_motion_that_is_not_periodic_is_said(path, noisy, fitted):
    """A run-up of one second before the periodic motion: what the series misses is no noise."""
    assert fitted.findings == ()
    q = np.array(noisy.q)
    q[:1000] += 0.3 * np.cos(np.pi / 2 * path.time[:1000])[:, None]
    (finding,) = fourier_fit(replace(noisy, q=q, source=""), period=10.0).findings
    assert finding.code == "data.not_periodic"


def test_a_joint_at_rest_is_no_trouble(path):
    q = np.array(path.q)
    q[:, 3] = 0.7
    fit = fourier_fit(Trajectory(path.time, path.joint_names, q=q), period=10.0)
    assert fit.harmonics == 5
    assert np.abs(fit.apply(Trajectory(path.time, path.joint_names, q=q)).ddq[:, 3]).max() < 1e-10


def test_what_cannot_be_fitted(path):
    still = Trajectory(path.time, path.joint_names, q=np.cumsum(np.ones_like(path.q), axis=0) * 1e-3, name="ramp")
    with pytest.raises(DataError, match="does not repeat"):
        fourier_fit(still)
    with pytest.raises(DataError, match="shorter than a period"):
        fourier_fit(path, period=30.0)
    with pytest.raises(StudyError, match="period"):
        fourier_fit(path, period=-1.0)
    with pytest.raises(StudyError, match="harmonics"):
        fourier_fit(path, period=10.0, harmonics=0)


@pytest.fixture(scope="module")
def five_periods():
    """Five periods at 200 Hz; torque noise of joint 2 follows joint 1 by half."""
    path = arm.motion(duration=50.0, rate=200.0)
    rng = np.random.default_rng(3)
    noise = rng.normal(size=path.q.shape)
    noise[:, 1] = 0.5 * noise[:, 0] + 0.5 * noise[:, 1]
    tau = arm.model().torque(arm.truth(), path)
    q = path.q + NOISE * rng.normal(size=path.q.shape)
    return tau, Trajectory(path.time, path.joint_names, q=q, tau=tau + noise, name="run")


def test_the_mean_has_less_noise_by_the_root_of_five(five_periods):
    tau, recording = five_periods
    mean = average_periods(recording, period=10.0)
    assert mean.periods == 5
    assert len(mean.trajectory) == 2000
    # 2000 samples of seven joints: known to a percent
    assert rms(mean.trajectory.tau[:, 2:] - tau[:2000, 2:]) == pytest.approx(1 / np.sqrt(5), rel=0.03)
    assert mean.trajectory.steps[-1] == "mean of 5 periods of 10 s"


def test_the_noise_needs_no_model(five_periods):
    _, recording = five_periods
    found = average_periods(recording, period=10.0)
    expected = np.eye(7)
    expected[0, 1] = expected[1, 0] = expected[1, 1] = 0.5
    np.testing.assert_allclose(found.covariance["tau"], expected, atol=0.05)  # 8000 degrees of freedom: 1.6 %
    np.testing.assert_allclose(found.covariance["q"], NOISE**2 * np.eye(7), atol=0.05 * NOISE**2)
    assert found.deviation["tau"].shape == (2000, 7)
    assert rms(found.deviation["tau"][:, 0]) == pytest.approx(1.0, rel=0.03)


def test_periods_between_samples_are_interpolated():
    """A sine of 1.2345 s at 100 Hz: straight lines between samples miss its tops by (w h)^2 / 8 = 3.2e-4."""
    t = 0.01 * np.arange(1000)
    recording = Trajectory(t, ("a",), q=np.sin(2 * np.pi / 1.2345 * t)[:, None])
    mean = average_periods(recording, period=1.2345)
    assert mean.periods == 8
    assert np.abs(mean.trajectory.q[:, 0] - np.sin(2 * np.pi / 1.2345 * mean.trajectory.time)).max() < 3.3e-4
    with pytest.raises(DataError, match="two whole periods"):
        average_periods(recording, period=5.1)


def test_averages_that_cannot_be(path):
    with pytest.raises(DataError, match="gap"):
        average_periods(replace(path, breaks=(700,)), period=1.0)
    with pytest.raises(StudyError, match="period"):
        average_periods(path, period=0.0)


def test_masked_samples_stay_masked(path):
    valid = np.ones(path.q.shape, dtype=bool)
    valid[12000:12100, 4] = False  # in the second period only
    mean = average_periods(replace(path, valid=valid), period=10.0)
    assert np.flatnonzero(~mean.trajectory.valid[:, 4]).tolist() == list(range(2000, 2100))
    assert mean.trajectory.valid[:, :4].all()
