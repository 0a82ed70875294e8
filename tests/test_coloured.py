"""Coloured residuals: how many samples count as one, and intervals that hold the truth as often as they say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

import arm
import robots
from steelyard.basis import base_parameters
from steelyard.data.lowpass import LowPass, zero_phase
from steelyard.errors import DataError, StudyError
from steelyard.estimate.blocks import absorb_blocks
from steelyard.estimate.bootstrap import bootstrap
from steelyard.estimate.coloured import (
    correlation_time,
    fit_blocks,
    generalised,
    near_white_step,
    score_correlation_time,
    with_correlation,
)
from steelyard.estimate.least_squares import weighted
from steelyard.estimate.prior import physical_prior
from steelyard.estimate.regularised import with_prior
from steelyard.estimate.scores import block_scores, hat_trace
from steelyard.model import Model
from steelyard.preparation.decimate import decimate
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous


def ar(rng, rho, shape):
    """AR(1) noise of unit variance: samples that count as one are (1 + rho) / (1 - rho)."""
    from scipy.signal import lfilter

    drawn = rng.normal(size=(shape[0] + 300, *shape[1:])) * np.sqrt(1.0 - rho**2)
    return lfilter([1.0], [1.0, -rho], drawn, axis=0)[300:]


@pytest.mark.parametrize("rho", [-0.5, 0.0, 0.5, 0.9])
def test_correlation_time_of_known_noise(rho):
    """(1 + rho) / (1 - rho); 40 joints of 4000 samples, 101 cosines each: the mean is known to 2 %.

    The slowest cosines reach up to a fortieth of the sampling rate, where the spectrum of AR(.9) has fallen by a third.
    """
    found = correlation_time(ar(np.random.default_rng(1), rho, (4000, 40)))
    expected = (1.0 + rho) / (1.0 - rho)
    assert found.mean() == pytest.approx(expected, rel=0.3 if rho == 0.9 else 0.06)
    assert found.std() / expected < 0.25  # sqrt(2 / 101) = 14 %


def test_correlation_time_makes_good_what_the_fit_took_out():
    """Ten slow sines and cosines fitted out of white noise: the residual lacks them, the noise does not."""
    rng = np.random.default_rng(2)
    t = np.arange(1000) / 1000
    columns = np.column_stack([f(2 * np.pi * k * t) for k in range(1, 6) for f in (np.sin, np.cos)])
    noise = rng.normal(size=(1000, 200))
    residual = noise - columns @ np.linalg.lstsq(columns, noise, rcond=None)[0]
    assert correlation_time(residual, paid=10.0).mean() == pytest.approx(1.0, abs=0.05)  # 200 joints: 1 % each way
    assert correlation_time(residual).mean() < 0.9


def test_correlation_time_of_masked_rows_and_segments():
    rng = np.random.default_rng(3)
    noise = ar(rng, 0.8, (6000, 40))
    valid = np.repeat(rng.random((60, 40)) < 0.6, 100, axis=0)
    whole = correlation_time(noise).mean()
    assert correlation_time(np.where(valid, noise, 1e6), valid=valid).mean() == pytest.approx(whole, rel=0.15)
    cut = (slice(0, 2500), slice(2500, 6000))
    assert correlation_time(noise, segments=cut).mean() == pytest.approx(whole, rel=0.1)


def test_a_silent_joint_counts_every_sample():
    assert correlation_time(np.zeros((100, 2))).tolist() == [1.0, 1.0]


def test_residuals_that_cannot_be():
    with pytest.raises(DataError, match="finite"):
        correlation_time(np.full((10, 1), np.nan))
    with pytest.raises(DataError, match="shape"):
        correlation_time(np.zeros(10))


def test_decimation_keeps_the_first_of_every_few():
    path = arm.motion(duration=1.0)
    path = replace(path, tau=path.q, valid=path.q > 0.0, breaks=(33,))
    kept = decimate(path, 10)
    assert kept.breaks == (4,)
    np.testing.assert_array_equal(kept.time, path.time[[0, 10, 20, 30, 33, 43, 53, 63, 73, 83, 93]])
    np.testing.assert_array_equal(kept.valid, kept.q > 0.0)
    assert kept.source == path.source
    assert kept.steps[-1] == "one of 10 samples kept"
    assert decimate(path, 1) is path
    with pytest.raises(StudyError, match="whole number"):
        decimate(path, 0)


@pytest.fixture(scope="module")
def planar(tmp_path_factory):
    robot = robots.load(tmp_path_factory.mktemp("planar"), "planar_offset")
    return Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset()))


def test_near_white_step_of_filtered_noise(planar):
    """Noise up to 5 of 50 Hz, one in ten kept is white; the estimate of ten is good to a tenth or two."""
    noise = zero_phase(np.random.default_rng(4).normal(size=(20000, 2)), 0.01, 5.0, axis=0)
    assert 9 <= near_white_step(noise) <= 13
    assert near_white_step(np.random.default_rng(5).normal(size=(20000, 2))) == 1


@pytest.mark.parametrize("lowpass", [None, LowPass(5.0, 1), LowPass(5.0, 7)])
def test_blocks_add_up_to_the_whole(planar, lowpass):
    """Filters run on across the edges, decimation keeps its beat: the same rows, to rounding."""
    path = robots.states(planar.robot.joint_names, 1000, seed=6)
    path = replace(robots.with_torque(path, np.random.default_rng(7).normal(size=path.q.shape)), breaks=(333,))
    names = base_parameters(planar).names
    whole = planar.absorb([path], names=names, lowpass=lowpass)
    blocks = absorb_blocks(planar, [path], names=names, lowpass=lowpass, count=12)
    assert len(blocks) == 12
    total = blocks[0]
    for block in blocks[1:]:
        total = total.merge(block)
    assert (total.rows, total.samples) == (whole.rows, whole.samples)
    gram, expected = (info.stacked().T @ info.stacked() for info in (total, whole))
    # 8 periods after the cut-off a filter has forgotten to 1e-8
    assert np.abs(gram - expected).max() < (1e-12 if lowpass is None else 1e-7) * np.abs(expected).max()


def test_too_few_samples_for_blocks(planar):
    path = robots.with_torque(robots.states(planar.robot.joint_names, 5), np.zeros((5, 2)))
    with pytest.raises(DataError, match="stretches"):
        absorb_blocks(planar, [path], count=6)


def test_scores_and_gains_add_up(planar):
    """Least squares: all scores sum to zero and all gains to the identity; with a prior its own share is the rest."""
    path = robots.states(planar.robot.joint_names, 400, seed=8)
    recording = robots.with_torque(path, np.random.default_rng(9).normal(size=path.q.shape))
    basis = base_parameters(planar)
    blocks = absorb_blocks(planar, [recording], names=basis.names)
    info = planar.absorb([recording], names=basis.names)
    plain = weighted(info, basis=basis)
    scores, gains, rest, _ = block_scores(blocks, plain)
    assert np.abs(scores.sum(axis=(0, 1))).max() < 1e-9 * np.abs(scores).max() * len(blocks)
    assert np.abs(rest).max() < 1e-10
    assert hat_trace(plain).sum() == pytest.approx(basis.count)
    held = with_prior(info, physical_prior(planar, info), basis=basis)
    rest = block_scores(blocks, held).rest
    assert np.linalg.eigvalsh(rest)[0] > -1e-9
    assert np.trace(rest) + hat_trace(held).sum() == pytest.approx(len(rest))
    assert gains.shape == (len(blocks), 2, basis.count, basis.count)


def coverage(noise_of, fit, *, runs, seed=0, rate=50.0, duration=20.0):
    """Share of runs in which the 95 % interval of each base parameter holds the truth, (b,)."""
    path = arm.motion(duration=duration, rate=rate)
    clean = arm.model().torque(arm.truth(), path)
    value = arm.basis().regroup(arm.truth())
    rng = np.random.default_rng(seed)
    inside = []
    for _ in range(runs):
        recording = replace(path, tau=clean + noise_of(rng, path), source="")
        low, high = fit(recording).interval().T
        inside.append((low <= value) & (value <= high))
    return np.mean(inside, axis=0)


def naive(recording):
    return weighted(arm.model().absorb([recording], names=arm.basis().names), basis=arm.basis())


def honest(recording):
    return fit_blocks(absorb_blocks(arm.model(), [recording], names=arm.basis().names), basis=arm.basis())


def coloured(rng, path):
    return arm.filtered_noise(rng, path, 2.5)


def white(rng, path):
    return rng.normal(size=(len(path), 7)) * arm.NOISE


@pytest.mark.parametrize("noise_of", [coloured, white])
def test_intervals_hold_the_truth_whatever_the_colour(noise_of):
    """Seven joints, 64 parameters, 60 runs: pooled 95 %, known to 0.5 %; benchmarks/interval_coverage.py does more."""
    share = coverage(noise_of, honest, runs=60)
    assert 0.935 <= share.mean() <= 0.965
    assert share.min() >= binom.ppf(0.0005 / len(share), 60, 0.95) / 60


def test_intervals_that_take_filtered_noise_for_white_do_not():
    """2.5 of 25 Hz, twice filtered: 11.3 samples count as one, so that 1.96 / sqrt(11.3) deviations hold 44 %."""
    share = coverage(coloured, naive, runs=40)
    assert share.mean() == pytest.approx(0.44, abs=0.04)


def test_decimated_to_the_band_of_the_noise_the_naive_ones_do():
    """One of twelve kept; 64 parameters and seven noises from 167 samples of 40 s: a point short of 95 %."""
    share = coverage(coloured, lambda recording: naive(decimate(recording, 12)), runs=60, duration=40.0)
    assert share.mean() == pytest.approx(0.945, abs=0.015)


def blocks_of(noise, *, seed=3, count=10):
    path = arm.motion(seed=seed, rate=50.0)
    return absorb_blocks(arm.model(), [arm.recorded(path, noise(path))], names=arm.basis().names, count=count)


def merged(blocks):
    total = blocks[0]
    for block in blocks[1:]:
        total = total.merge(block)
    return total


def test_the_colour_of_each_joint_is_found():
    """Joint 3 white, the others filtered to a tenth: 20 s know its time to 0.4, theirs to a quarter; eight runs."""
    rng = np.random.default_rng(10)
    found = []
    for _ in range(8):

        def mixed(path):
            noise = arm.filtered_noise(rng, path, 2.5)
            noise[:, 2] = 0.3 * rng.normal(size=len(path))
            return noise

        blocks = blocks_of(mixed)
        found.append(score_correlation_time(blocks, weighted(merged(blocks), basis=arm.basis())))
    mean = np.mean(found, axis=0)
    assert 0.7 < mean[2] < 1.7
    np.testing.assert_allclose(np.delete(mean, 2), 11.3, rtol=0.3)


def test_a_prior_is_weighed_against_honest_noise():
    """Coloured noise says less than its samples: the same recording moves the estimate less far from the prior."""
    rng = np.random.default_rng(11)
    blocks = blocks_of(lambda path: 10.0 * arm.filtered_noise(rng, path, 2.5))
    info = merged(blocks)
    prior = physical_prior(arm.model(), info)
    naive_fit, fit = with_prior(info, prior, basis=arm.basis()), fit_blocks(blocks, basis=arm.basis(), prior=prior)
    away = [np.linalg.norm((e.standard - prior.mean)[:70] / prior.deviation[:70]) for e in (naive_fit, fit)]
    assert away[1] < away[0]
    assert np.all(fit.deviation > naive_fit.deviation)
    # weights of one over the long-run variance make the sandwich the inverse of what was solved
    matrix = np.vstack([info.scale(fit.weights).stacked()[:-1, :-1] @ arm.basis().matrix, prior.rows()[:, :-1]])
    length = np.linalg.norm(matrix, axis=0)
    inverse = np.linalg.pinv((matrix / length).T @ (matrix / length), rcond=1e-12, hermitian=True)
    expected = arm.basis().matrix @ (inverse / np.outer(length, length)) @ arm.basis().matrix.T
    np.testing.assert_allclose(fit.deviation, np.sqrt(np.diag(expected)), rtol=0.02)


def test_generalised_with_times_of_one_is_weighted():
    blocks = blocks_of(lambda path: white(np.random.default_rng(12), path))
    info = merged(blocks)
    plain, same = weighted(info, basis=arm.basis()), generalised(info, np.ones(7), basis=arm.basis())
    np.testing.assert_allclose(same.theta, plain.theta, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(same.deviation, plain.deviation, rtol=1e-7)
    assert same.estimator == "generalised"


def test_coloured_joints_count_less():
    """Two joints of equal noise, one coloured: generalised least squares is nearer to the truth on average."""
    rng = np.random.default_rng(13)
    value = arm.basis().regroup(arm.truth())
    errors = []
    time = np.array([20.0, 1.0] * 3 + [20.0])
    for _ in range(10):

        def mixed(path):
            coloured = ar(rng, 19.0 / 21.0, (len(path), 7))
            return np.where(time > 1.0, coloured, rng.normal(size=coloured.shape))

        info = merged(blocks_of(mixed))
        fits = weighted(info, basis=arm.basis()), generalised(info, time, basis=arm.basis())
        errors.append([np.linalg.norm((fit.theta - value) / fits[1].deviation) for fit in fits])
    plain, fair = np.sqrt(np.mean(np.square(errors), axis=0))
    assert fair < 0.9 * plain
    assert fair / np.sqrt(arm.basis().count) == pytest.approx(1.0, abs=0.15)  # ten runs of 64: 4 % each way


def test_without_noise_nothing_happens():
    blocks = blocks_of(lambda path: np.zeros((len(path), 7)))
    fit = fit_blocks(blocks, basis=arm.basis())
    value = arm.basis().regroup(arm.truth())
    np.testing.assert_allclose(fit.theta, value, atol=1e-9 * np.abs(value).max())
    assert np.all(np.isfinite(fit.deviation))
    assert fit.deviation.max() < 1e-6


def test_coloured_residuals_are_said():
    rng = np.random.default_rng(14)
    blocks = blocks_of(lambda path: arm.filtered_noise(rng, path, 2.5))
    found = [f for f in fit_blocks(blocks, basis=arm.basis()).findings if f.code == "fit.coloured_residual"]
    assert len(found) == 1
    assert 6 < found[0].value < 20
    quiet = with_correlation(weighted(merged(blocks), basis=arm.basis()), np.ones(7))
    assert [f.code for f in quiet.findings if f.code == "fit.coloured_residual"] == []


def test_times_must_be_positive():
    info = merged(blocks_of(lambda path: white(np.random.default_rng(15), path)))
    with pytest.raises(DataError, match="positive"):
        generalised(info, np.zeros(7), basis=arm.basis())
    with pytest.raises(DataError, match="no stretch"):
        fit_blocks([])


def test_bootstrap_and_covariance_agree():
    """Two ways to the same deviations: 40 stretches of half a second know a deviation to a tenth.

    The bootstrap runs some 5 % narrow on 20 s.
    """
    rng = np.random.default_rng(16)
    blocks = blocks_of(lambda path: arm.filtered_noise(rng, path, 2.5), count=40)
    fit = fit_blocks(blocks, basis=arm.basis())
    drawn = bootstrap(blocks, fit, draws=400)
    ratio = drawn.deviation / fit.deviation
    assert 0.85 < np.exp(np.mean(np.log(ratio))) < 1.1
    assert np.all((ratio > 0.5) & (ratio < 1.6))
    low, high = drawn.interval(0.9).T
    inside = np.mean((low < drawn.draws) & (drawn.draws < high))
    assert 0.9 < inside < 0.96  # Student's, of 10 to 40 stretches in effect, are wider than the draws
    assert np.all((drawn.freedom > 5.0) & (drawn.freedom < 40.0))
    assert np.array_equal(
        bootstrap(blocks, fit, draws=20, seed=1).draws, bootstrap(blocks, fit, draws=20, seed=1).draws
    )


def test_bootstrap_under_a_prior_where_the_data_say_little():
    """A motion that hardly moves: the draws scatter as the prior does, not as the silent data would."""
    path = replace(arm.motion(rate=50.0), dq=0.0 * arm.motion(rate=50.0).dq, ddq=0.0 * arm.motion(rate=50.0).ddq)
    noise = 50.0 * np.random.default_rng(17).normal(size=path.q.shape)
    model = Model(arm.model().robot, (RigidBody(),))
    basis = base_parameters(model)
    recording = replace(path, tau=model.torque(model.nominal, path) + noise, source="")
    blocks = absorb_blocks(model, [recording], names=basis.names, count=20)
    fit = fit_blocks(blocks, basis=basis, prior=physical_prior(model, merged(blocks)))
    ratio = bootstrap(blocks, fit, draws=400).deviation / fit.deviation
    assert np.all(np.abs(ratio - 1.0) < 0.3)


def test_a_bootstrap_needs_stretches(planar):
    path = robots.states(planar.robot.joint_names, 200, seed=18)
    recording = robots.with_torque(path, np.random.default_rng(19).normal(size=path.q.shape))
    names = base_parameters(planar).names
    fit = weighted(planar.absorb([recording], names=names))
    with pytest.raises(DataError, match="stretches"):
        bootstrap(absorb_blocks(planar, [recording], names=names, count=4), fit)
    moving = np.array(path.dq)
    moving[20:, 1] = 0.0  # the elbow moves in the first stretch only
    once = robots.with_torque(replace(path, dq=moving), np.array(recording.tau))
    blocks = absorb_blocks(planar, [once], names=names, count=10)
    with pytest.raises(DataError, match="one stretch alone"):
        bootstrap(blocks, weighted(merged(blocks)))
