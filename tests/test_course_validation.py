"""Exercises on validation, certainty and the frequency domain, on the planar arm and the seven-joint arm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import arm
import robots
from steelyard.basis import base_parameters
from steelyard.estimate.blocks import absorb_blocks
from steelyard.estimate.coloured import fit_blocks
from steelyard.estimate.least_squares import ordinary, weighted
from steelyard.model import Model
from steelyard.terms.names import terms_named


@pytest.fixture(scope="module")
def planar(tmp_path_factory):
    return Model(robots.load(tmp_path_factory.mktemp("planar"), "planar_offset"), terms_named(("rigid_body",)))


def periodic(model: Model, *, periods: int = 2, seed: int = 0):
    """A motion of two harmonics by joint, the same in every period of 5 s, 100 samples a period."""
    rng = np.random.default_rng(seed)
    t = np.arange(100 * periods) / 20.0
    w = 2.0 * np.pi * np.array([1.0, 2.0]) / 5.0
    n = len(model.robot.joint_names)
    a, phase = rng.uniform(0.3, 0.8, (n, 2)), rng.uniform(0.0, 2.0 * np.pi, (n, 2))
    angle = t[:, None, None] * w + phase
    q, dq, ddq = (np.sum(a * part, axis=2) for part in (np.sin(angle), w * np.cos(angle), -(w**2) * np.sin(angle)))
    return replace(robots.states(model.robot.joint_names, len(t), seed=seed), time=t, q=q, dq=dq, ddq=ddq, source="")


def test_a77_a89_lines_of_the_spectrum_say_what_the_samples_say(planar):
    """`Y(f) pi = tau(f)` at f_k = k f_s / N: all lines are all samples; few hold an exact model too."""
    path = periodic(planar)
    basis = base_parameters(planar)
    truth = basis.regroup(planar.nominal)
    noise = np.random.default_rng(1).normal(size=path.q.shape)
    columns = [planar.names.index(name) for name in basis.names]
    Y = planar.regressor(path)[:, :, columns]
    tau = planar.torque(planar.nominal, path) + noise
    rows = np.fft.fft(Y, axis=0, norm="ortho").reshape(-1, len(columns))
    right = np.fft.fft(tau, axis=0, norm="ortho").reshape(-1)
    both = [np.vstack([rows.real, rows.imag]), np.concatenate([right.real, right.imag])]
    by_lines = np.linalg.lstsq(*both, rcond=None)[0]
    info = planar.absorb([replace(path, tau=tau, source="")], names=basis.names)
    assert by_lines == pytest.approx(ordinary(info, basis=basis).theta, rel=1e-9, abs=1e-9)

    # a motion that repeats has lines at whole multiples of 1 / period only; the others hold noise alone
    power = np.abs(np.fft.rfft(Y, axis=0)) ** 2
    frequency = np.fft.rfftfreq(len(path), 0.05)
    between = np.abs(frequency * 5.0 - np.rint(frequency * 5.0)) > 1e-9
    assert power[between].max() < 1e-20 * power.max()
    clean = np.fft.rfft(planar.torque(planar.nominal, path), axis=0)
    lines = np.flatnonzero(~between)[1:20]
    few = np.fft.rfft(Y, axis=0)[lines].reshape(-1, len(columns))
    aim = clean[lines].reshape(-1)
    found = np.linalg.lstsq(np.vstack([few.real, few.imag]), np.concatenate([aim.real, aim.imag]), rcond=None)[0]
    assert found == pytest.approx(truth, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("sigma", [0.01, 0.1, 1.0])
def test_b48_deviations_go_with_the_noise_and_with_the_amplitude_of_the_motion(planar, sigma):
    """`var = s^2 (Y'Y)^-1`: with the noise tenfold, ten times; three motions in the order of what they show."""
    basis = base_parameters(planar)
    spread = {}
    for share in (0.2, 0.5, 1.0):
        path = periodic(planar, seed=2)
        middle = path.q.mean(axis=0)
        path = replace(path, q=middle + share * (path.q - middle), dq=share * path.dq, ddq=share * path.ddq, source="")
        noise = sigma * np.random.default_rng(3).normal(size=path.q.shape)
        recording = replace(path, tau=planar.torque(planar.nominal, path) + noise, source="")
        spread[share] = ordinary(planar.absorb([recording], names=basis.names), basis=basis).deviation / sigma
    assert np.all(spread[0.2] >= 0.9 * spread[0.5])  # gravity moments are known in any of them
    assert np.all(spread[0.5] >= 0.9 * spread[1.0])
    assert np.median(spread[0.2] / spread[1.0]) > 4.0
    reference = np.sqrt(np.diag(np.linalg.inv(_normal(planar, basis, periodic(planar, seed=2)))))
    assert spread[1.0] == pytest.approx(reference, rel=0.15)  # 400 rows know a deviation to 4 %; both joints share it


def _normal(model, basis, path):
    Y = model.regressor(path)[:, :, [model.names.index(name) for name in basis.names]].reshape(-1, len(basis.names))
    return Y.T @ Y


def test_b47_the_ellipsoid_of_the_estimate_holds_the_error_on_a_new_motion():
    """The torque error on another motion is `Y_b (theta - truth)`, of covariance `Y_b C Y_b'`.

    Its square over that of the forecast, summed over joints and samples, is one on average of runs; and the relative
    error answers the question of 5 % beforehand.
    """
    model, basis = arm.model(), arm.basis()
    place = [model.names.index(name) for name in basis.names]
    new = arm.motion(seed=12, duration=5.0, rate=20.0)
    Y = model.regressor(new)[:, :, place].reshape(-1, len(place))
    wanted = Y @ basis.regroup(arm.truth())
    path = arm.motion(duration=20.0, rate=50.0)
    ratio, errors = [], []
    for seed in range(8):
        noisy = arm.recorded(path, arm.filtered_noise(np.random.default_rng(seed), path, 5.0))
        fit = fit_blocks(absorb_blocks(model, [noisy], names=basis.names, count=20), basis=basis)
        missed = Y @ fit.theta - wanted
        forecast = np.einsum("ij,jk,ik->i", Y, fit.covariance, Y)
        ratio.append(np.sum(missed**2) / np.sum(forecast))
        errors.append(
            (np.linalg.norm(missed) / np.linalg.norm(wanted), np.sqrt(forecast.sum()) / np.linalg.norm(wanted))
        )
    assert 0.6 < np.mean(ratio) < 1.6  # eight runs of some ten independent directions: a deviation of a sixth
    found, foretold = np.mean(errors, axis=0)
    assert foretold < 0.05
    assert found == pytest.approx(foretold, rel=0.3)


def test_n15_motion_in_one_direction_cannot_tell_coulomb_friction_from_an_offset(planar):
    """sign(dq) is a constant then; there and back tells both."""
    model = Model(planar.robot, terms_named(("rigid_body", "viscous", "coulomb", "offset")))
    path = periodic(model, seed=4)
    for dq, lost in ((np.abs(path.dq) + 0.1, 2), (path.dq, 0)):
        motion = replace(path, dq=dq, source="")
        fit = weighted(model.absorb([replace(motion, tau=model.torque(model.nominal, motion) + 0.01, source="")],
                                    names=base_parameters(model).names))  # fmt: skip
        assert len(fit.names) - fit.rank == lost


def test_f13_a_sweep_of_every_joint_validates_the_arm():
    """0.05 to 1 Hz within twenty seconds: less than 5 % and 0.5 N m, of rms torques up to fifty."""
    model, basis = arm.model(), arm.basis()
    path = arm.motion(duration=20.0, rate=50.0)
    noise = 0.2 * arm.filtered_noise(np.random.default_rng(6), path, 5.0)
    fit = weighted(model.absorb([arm.recorded(path, noise)], names=basis.names), basis=basis)
    t = np.arange(1000) / 50.0
    phase = 2.0 * np.pi * (0.05 * t + 0.5 * (1.0 - 0.05) / 20.0 * t**2)
    rate = 2.0 * np.pi * (0.05 + (1.0 - 0.05) / 20.0 * t)
    size = 0.2 * np.cos(np.arange(7))[None, :]
    q, dq = size * np.sin(phase)[:, None], size * (rate * np.cos(phase))[:, None]
    ddq = size * (2.0 * np.pi * 0.95 / 20.0 * np.cos(phase) - rate**2 * np.sin(phase))[:, None]
    sweep = replace(path, time=t, q=0.4 + q, dq=dq, ddq=ddq, tau=None, source="")
    wanted = model.torque(arm.truth(), sweep)
    missed = model.torque(fit.full(model.names), sweep) - wanted
    assert np.linalg.norm(missed) < 0.05 * np.linalg.norm(wanted)
    assert np.sqrt(np.mean(missed**2, axis=0)).max() < 0.5
