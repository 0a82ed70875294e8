"""The white-jerk smoother: right when its model is, and useful on clocks that filters cannot take."""

from __future__ import annotations

import numpy as np
import pytest

import arm
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.preparation.align import resample
from steelyard.preparation.differentiate import differentiate
from steelyard.preparation.rts import rts_smooth
from steelyard.preparation.smooth import smooth


def stamps(rng, count, step):
    """Jitter of 40 % of a step, and one sample in twenty lost."""
    t = step * (np.arange(count) + rng.uniform(-0.4, 0.4, count))
    return t[rng.random(count) > 0.05]


def white_jerk(rng, t, density, joints):
    """States (T, joints, 3) of the model itself, drawn exactly between stamps."""
    x = np.zeros((len(t), joints, 3))
    for k in range(1, len(t)):
        h = t[k] - t[k - 1]
        F = np.array([[1.0, h, 0.5 * h * h], [0.0, 1.0, h], [0.0, 0.0, 1.0]])
        Q = density * np.array(
            [[h**5 / 20, h**4 / 8, h**3 / 6], [h**4 / 8, h**3 / 3, h**2 / 2], [h**3 / 6, h**2 / 2, h]]
        )
        x[k] = x[k - 1] @ F.T + rng.multivariate_normal(np.zeros(3), Q, size=joints)
    return x


@pytest.fixture(scope="module")
def drawn():
    """Twenty joints that obey the model: bandwidth (g / s^2 h)^(1/6) / 2 pi = 3 Hz."""
    rng = np.random.default_rng(0)
    t = stamps(rng, 1500, 0.01)
    noise = 1e-3
    density = (2 * np.pi * 3.0) ** 6 * noise**2 * 0.01
    x = white_jerk(rng, t, density, 20)
    names = tuple(f"joint_{j}" for j in range(20))
    measured = x[..., 0] + noise * rng.normal(size=x.shape[:2])
    return x, noise, rts_smooth(Trajectory(t, names, q=measured, name="drawn"))


def test_noise_and_bandwidth_are_found(drawn):
    _, noise, found = drawn
    np.testing.assert_allclose(found.noise, noise, rtol=0.06)  # 1400 samples: 2 %
    assert np.median(found.bandwidth) == pytest.approx(3.0, rel=0.05)
    np.testing.assert_allclose(found.bandwidth, 3.0, rtol=0.2)


def test_deviations_are_those_of_the_errors(drawn):
    """Twenty joints of 1000 samples, neighbours within 1 / 3 Hz alike: some 600 independent errors, 3 % a deviation."""
    x, _, found = drawn
    inner = slice(200, -200)
    for e, channel in enumerate(("q", "dq", "ddq")):
        error = found.trajectory.channel(channel)[inner] - x[inner, :, e]
        ratio = np.sqrt(np.mean(error**2)) / np.sqrt(np.mean(found.deviation[:, e] ** 2))
        assert ratio == pytest.approx(1.0, abs=0.12), channel


def test_exact_for_a_parabola_without_noise():
    rng = np.random.default_rng(1)
    t = stamps(rng, 400, 0.01)
    q = (0.3 + 0.5 * t - 0.7 * t**2)[:, None]
    found = rts_smooth(Trajectory(t, ("a",), q=q), bandwidth=5.0).trajectory
    np.testing.assert_allclose(found.q, q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(found.dq[:, 0], 0.5 - 1.4 * t, rtol=0, atol=1e-8)
    np.testing.assert_allclose(found.ddq[:, 0], -1.4, rtol=0, atol=1e-7)


@pytest.fixture(scope="module")
def irregular():
    """Ten seconds of the seven-joint arm at 100 Hz, irregular, noise 1e-4 rad."""
    rng = np.random.default_rng(2)
    path = arm.reference(seed=3)
    t = stamps(rng, 1000, 0.01)
    q = path.position(t) + 1e-4 * rng.normal(size=(len(t), 7))
    return path, Trajectory(t, arm.model().robot.joint_names, q=q, name="irregular")


def error(path, found):
    inner = slice(100, -100)
    return float(np.sqrt(np.mean((found.ddq - path.acceleration(found.time))[inner] ** 2)))


def test_better_than_resampling_and_filtering(irregular):
    path, recording = irregular
    ours = error(path, rts_smooth(recording, bandwidth=2.0).trajectory)
    theirs = min(error(path, differentiate(smooth(resample(recording), cutoff))) for cutoff in (2.5, 3.0, 5.0, 10.0))
    assert ours < 2.5e-3
    assert ours < 0.8 * theirs


def test_the_likeliest_bandwidth_needs_no_tuning(irregular):
    """Five harmonics are smoother than white jerk: it follows too closely, 3e-2 rad/s2 (of a motion of 5)."""
    path, recording = irregular
    found = rts_smooth(recording)
    assert error(path, found.trajectory) < 0.06
    np.testing.assert_allclose(found.noise, 1e-4, rtol=0.1)
    assert "white-jerk smoother" in found.trajectory.steps[-1]


def test_gaps_are_not_smoothed_over(irregular):
    _, recording = irregular
    cut = Trajectory(recording.time + np.where(np.arange(len(recording)) >= 400, 5.0, 0.0), recording.joint_names,
                     q=recording.q, breaks=(400,))  # fmt: skip
    found = rts_smooth(cut, bandwidth=2.0).trajectory
    alone = rts_smooth(recording.samples(0, 400), bandwidth=2.0).trajectory
    # the unit of time is the median step, which the parts share only nearly
    np.testing.assert_allclose(found.ddq[:400], alone.ddq, rtol=0, atol=1e-2 * np.abs(alone.ddq).max())
    assert found.breaks == (400,)


def test_a_joint_at_rest():
    found = rts_smooth(Trajectory(0.01 * np.arange(100), ("a",), q=np.full((100, 1), 0.4)))
    np.testing.assert_allclose(found.trajectory.q, 0.4, atol=1e-12)
    assert np.abs(found.trajectory.ddq).max() < 1e-9


def test_what_cannot_be_smoothed():
    recording = Trajectory(0.01 * np.arange(10), ("a",), q=np.zeros((10, 1)), breaks=(5,))
    with pytest.raises(DataError, match="6 samples"):
        rts_smooth(recording)
    with pytest.raises(StudyError, match="bandwidth"):
        rts_smooth(Trajectory(0.01 * np.arange(10), ("a",), q=np.zeros((10, 1))), bandwidth=0.0)
