"""Huber's estimator: as good as if someone had taken the wild rows out by hand, and it says where they were."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import robots
from steelyard.basis import base_parameters
from steelyard.data.lowpass import LowPass
from steelyard.errors import DataError, StudyError
from steelyard.estimate.least_squares import ordinary, weighted
from steelyard.estimate.residual import fitted_rows, residuals
from steelyard.estimate.robust import huber
from steelyard.model import Model
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous

SPREAD = np.array([0.1, 0.5])  # [N m]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    robot = robots.load(tmp_path_factory.mktemp("planar"), "planar_offset")
    return Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset()))


@pytest.fixture(scope="module")
def basis(model):
    return base_parameters(model)


@pytest.fixture(scope="module")
def motion(model):
    return robots.states(model.robot.joint_names, 1000, seed=1)


@pytest.fixture(scope="module")
def clean(model, motion):
    return model.torque(model.nominal + 0.3, motion)


def wild(rng, shape, share=0.05, size=30.0):
    """Normal noise, a share of it with outliers on top; and where they are."""
    hit = rng.random(shape) < share
    return (rng.normal(size=shape) + hit * size * rng.normal(size=shape)) * SPREAD, hit


def error(model, estimate, motion, clean):
    return float(np.sqrt(np.mean(((model.predict(estimate, motion) - clean) / SPREAD) ** 2)))


def studied(model, basis, motion, clean, runs, **options):
    """rms errors over runs with 5 % outliers: least squares, Huber, and least squares without the outliers."""
    rng = np.random.default_rng(3)
    errors = []
    for _ in range(runs):
        noise, hit = wild(rng, clean.shape)
        recording = robots.with_torque(motion, clean + noise)
        oracle = replace(recording, valid=~hit)
        fits = (
            weighted(model.absorb([recording], names=basis.names), basis=basis),
            huber(model, [recording], basis=basis, **options),
            weighted(model.absorb([oracle], names=basis.names), basis=basis),
        )
        errors.append([error(model, fit, motion, clean) for fit in fits])
    return np.sqrt(np.mean(np.square(errors), axis=0))


def test_within_a_tenth_of_the_oracle(model, basis, motion, clean):
    """5 % outliers thirty times the noise: theory says 1.02; 20 runs of 12 parameters know it to 2 %."""
    plain, robust, oracle = studied(model, basis, motion, clean, 20)
    assert plain > 4.0 * oracle
    assert robust < 1.1 * oracle


def test_pure_huber_costs_what_theory_says(model, basis, motion, clean):
    """Variance ((1-e) E psi^2 + e k^2) / ((1-e) P(|x|<k))^2 = 1.256 against 1 / (1-e) = 1.053: a ratio of 1.09."""
    _, robust, oracle = studied(model, basis, motion, clean, 20, reject=np.inf)
    assert robust / oracle == pytest.approx(1.09, abs=0.06)


@pytest.mark.parametrize(("delta", "efficiency"), [(1.345, 0.950), (1.5, 0.964)])
def test_efficiency_of_the_tuning_constant(delta, efficiency):
    """P(|x|<k)^2 / E psi^2 for normal noise: 95.0 % at 1.345 and 96.4 % at 1.5 of the deviation (not of the MAD)."""
    inside = 2.0 * norm.cdf(delta) - 1.0
    energy = inside - 2.0 * delta * norm.pdf(delta) + delta**2 * (1.0 - inside)
    assert inside**2 / energy == pytest.approx(efficiency, abs=5e-4)


def test_normal_noise_costs_a_fortieth(model, basis, motion, clean):
    """95 % efficient: errors 2.6 % larger than least squares; the same noise for both, so 20 runs know it to 1 %."""
    rng = np.random.default_rng(4)
    errors = []
    for _ in range(20):
        recording = robots.with_torque(motion, clean + rng.normal(size=clean.shape) * SPREAD)
        plain = weighted(model.absorb([recording], names=basis.names), basis=basis)
        fits = plain, huber(model, [recording], basis=basis)
        errors.append([error(model, fit, motion, clean) for fit in fits])
        assert not fits[1].findings
    plain, robust = np.sqrt(np.mean(np.square(errors), axis=0))
    assert robust / plain == pytest.approx(1.026, abs=0.03)


def test_intervals_hold_the_truth(model, basis, motion, clean):
    """60 runs of 12 parameters with 5 % outliers: pooled coverage of 95 % intervals known to 0.9 %."""
    rng = np.random.default_rng(5)
    truth = basis.regroup(model.nominal + 0.3)
    inside = []
    for _ in range(60):
        noise, _ = wild(rng, clean.shape)
        recording = robots.with_torque(motion, clean + noise)
        low, high = huber(model, [recording], basis=basis).interval().T
        inside.append((low <= truth) & (truth <= high))
    assert np.mean(inside) == pytest.approx(0.95, abs=0.025)


def test_without_noise_the_outliers_leave_no_trace(model, basis, motion, clean):
    rng = np.random.default_rng(6)
    hit = rng.random(clean.shape) < 0.05
    recording = robots.with_torque(motion, clean + hit * rng.normal(size=clean.shape) * SPREAD)
    fit = huber(model, [recording], basis=basis)
    truth = basis.regroup(model.nominal + 0.3)
    np.testing.assert_allclose(fit.theta, truth, rtol=0, atol=1e-8 * np.abs(truth).max())


def test_wide_delta_is_least_squares(model, basis, motion, clean):
    recording = robots.with_torque(motion, clean + wild(np.random.default_rng(7), clean.shape)[0])
    fit = huber(model, [recording], basis=basis, delta=1e6, reject=np.inf)
    info = model.absorb([recording], names=basis.names)
    plain = ordinary(info.scale(fit.weights), basis=basis)
    np.testing.assert_allclose(fit.theta, plain.theta, rtol=1e-9, atol=1e-10)


def test_outliers_are_named(model, basis, motion, clean):
    """The elbow between 3 and 3.4 s and at 7 s; the shoulder is clean."""
    noise = np.random.default_rng(8).normal(size=clean.shape) * SPREAD
    noise[300:341, 1] += 20.0
    noise[700, 1] -= 15.0
    recording = replace(robots.with_torque(motion, clean + noise), name="run7")
    fit = huber(model, [recording], basis=basis)
    (finding,) = [f for f in fit.findings if f.code == "fit.outliers"]
    assert finding.where == "elbow"
    assert finding.value == pytest.approx(0.042, abs=5e-4)
    assert "3.00 to 3.40 s of run7, 7.00 to 7.00 s of run7" in finding.message
    assert finding.cure
    assert fit.estimator == "huber"
    assert fit.information.rows[0] - fit.information.rows[1] == pytest.approx(42, abs=3)


def test_filtered_and_masked_rows(model, basis, motion, clean):
    """Spikes after the low-pass are the filter's answer to a spike before; masked rows never count."""
    t = motion.time
    smooth = np.column_stack([np.sin(3 * t), np.cos(4 * t)])
    path = replace(
        motion, q=smooth, dq=np.gradient(smooth, t, axis=0), ddq=np.gradient(np.gradient(smooth, t, axis=0), t, axis=0)
    )
    valid = np.ones(clean.shape, dtype=bool)
    valid[::3, 0] = False
    tau = model.torque(model.nominal, path) + np.random.default_rng(9).normal(size=clean.shape) * SPREAD
    tau[500:505] += 300.0
    recording = replace(robots.with_torque(path, tau), valid=valid)
    lowpass = LowPass(10.0, 2)
    fit = huber(model, [recording], basis=basis, lowpass=lowpass)
    assert {f.where for f in fit.findings if f.code == "fit.outliers"} == {"shoulder", "elbow"}
    residual = residuals(model, fit, recording, lowpass=lowpass)
    used = fitted_rows(recording, lowpass=lowpass)
    assert used.sum(axis=0).tolist() == [333, 500]
    quiet = np.abs(t - 5.02) > 0.3
    # white noise of 50 Hz through a low-pass at 10 Hz: two passes of order 4 leave 0.165 of its power
    spread = np.std(residual[quiet], axis=0) / SPREAD
    np.testing.assert_allclose(spread, np.sqrt(0.165), rtol=0.25)


def test_given_weights_count(model, basis, motion, clean):
    """A row of weight zero is not there."""
    noise = np.random.default_rng(10).normal(size=clean.shape) * SPREAD
    noise[:200] += 50.0
    weight = np.ones(clean.shape)
    weight[:200] = 0.0
    weighty = replace(robots.with_torque(motion, clean + noise), weight=weight)
    masked = replace(robots.with_torque(motion, clean + noise), valid=weight > 0.0)
    one, two = (huber(model, [recording], basis=basis) for recording in (weighty, masked))
    np.testing.assert_allclose(one.theta, two.theta, rtol=1e-9, atol=1e-10)
    assert one.information.rows == two.information.rows


@pytest.mark.parametrize("delta", [0.0, -1.0, np.nan, 6.0])
def test_a_delta_that_cannot_be(model, motion, delta):
    with pytest.raises(StudyError, match="delta"):
        huber(model, [motion], delta=delta)


def test_nothing_to_fit(model, motion, clean):
    recording = replace(robots.with_torque(motion, clean), valid=np.zeros(clean.shape, dtype=bool))
    with pytest.raises(DataError, match="no sample"):
        huber(model, [recording])
