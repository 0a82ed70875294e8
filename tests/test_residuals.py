"""Residual tests: what goes with time, position, velocity, acceleration or timing is found and named, noise is not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from steelyard.assess.comparison import Comparison, compare
from steelyard.assess.residual_findings import cause_of
from steelyard.assess.residuals import bands, residual_report
from steelyard.assess.trends import correlation_length, trend
from steelyard.data.lowpass import zero_phase
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError

JOINTS = ("a", "b", "c")
STEP, CUTOFF = 0.005, 5.0
NOISE = 0.05  # [N m] before the filter


def course(seconds: float = 40.0) -> Trajectory:
    """Three joints on sums of sines whose ratio is no fraction: nothing repeats, no two variables go in step."""
    t = np.arange(int(seconds / STEP)) * STEP
    q, dq, ddq = np.zeros((3, len(t), len(JOINTS)))
    for j in range(len(JOINTS)):
        for k, f in enumerate((0.11, 0.173, 0.291)):
            w, phase = 2.0 * np.pi * f * (1.0 + 0.07 * j), 1.0 + j + 2.0 * k
            q[:, j] += np.sin(w * t + phase) / (k + 1)
            dq[:, j] += w * np.cos(w * t + phase) / (k + 1)
            ddq[:, j] -= w**2 * np.sin(w * t + phase) / (k + 1)
    return Trajectory(time=t, joint_names=JOINTS, q=q, dq=dq, ddq=ddq, tau=np.zeros_like(q))


def judged(pattern=None, *, seed: int = 0, joint: int = 1) -> Comparison:
    """Torque that a model explains but for filtered noise, and `pattern` (T,) in one joint."""
    motion = course()
    rng = np.random.default_rng(seed)
    torque = 4.0 * np.sin(motion.q) + 0.5 * motion.ddq + 0.4 * motion.dq
    noise = zero_phase(NOISE * rng.normal(size=torque.shape), STEP, CUTOFF, axis=0)
    filtered = torque + noise
    if pattern is not None:
        filtered[:, joint] += pattern(motion)
    motion = Trajectory(
        time=motion.time, joint_names=JOINTS, q=motion.q, dq=motion.dq, ddq=motion.ddq, tau=filtered.copy()
    )
    return Comparison(motion, filtered, torque, CUTOFF)


PATTERNS = {
    "warming": lambda m: 0.2 * (m.time / m.time[-1] - 0.5),
    "gravity": lambda m: 0.1 * np.cos(m.q[:, 1] + 0.3),
    "friction": lambda m: 0.1 * np.tanh(m.dq[:, 1] / 0.1),
    "inertia": lambda m: 0.1 * m.ddq[:, 1],
}


@pytest.mark.parametrize("cause", PATTERNS)
def test_the_cause_of_a_trend_is_named(cause):
    """A pattern of some 0.1 N m over filtered noise of 0.01: the joint and the cause are right, the others quiet."""
    report = residual_report(judged(PATTERNS[cause]))
    found = [f for f in report.findings if f.code == "fit.trend"]
    assert [f.where for f in found] == ["b"]
    best = max((t for t in report.of("b") if t.p_value <= 0.002), key=lambda t: t.share)
    assert cause_of(best) == cause
    assert best.share > 0.5
    assert found[0].cure


def test_late_torque_is_a_delay_of_that_size():
    """Torque 5 ms late leaves -d dtau/dt; the slope is the delay to first order (4 % at these frequencies)."""
    delay = 0.005

    def late(motion):
        torque = 4.0 * np.sin(motion.q) + 0.5 * motion.ddq + 0.4 * motion.dq
        return np.interp(motion.time - delay, motion.time, torque[:, 1]) - torque[:, 1]

    report = residual_report(judged(late))
    best = report.of("b")[0]
    assert cause_of(best) == "timing"
    assert -best.slope == pytest.approx(delay, rel=0.05)
    assert "delay of 5.1 ms" in next(f.message for f in report.findings if f.code == "fit.trend")


@pytest.mark.parametrize("seed", range(5))
def test_filtered_noise_gives_no_alarm(seed):
    """15 tests of pure noise: at the level 0.002 and a share of 15 % there is nothing to say."""
    report = residual_report(judged(seed=seed))
    assert report.findings == ()
    assert np.all(report.colour < 1.6)  # the filter's own correlation, estimated from 400 independent samples


def test_p_values_hold_for_correlated_residuals():
    """A slow residual against a slow variable that has nothing to do with it: p < 0.05 about once in twenty.

    300 draws: 15 expected, standard deviation 3.8, so that 5 to 30 is four deviations of room. A table of the F
    distribution, which takes samples for independent, finds a trend most of the time.
    """
    rng = np.random.default_rng(7)
    count, ours, naive = 600, 0, 0
    for _ in range(300):
        r, x = (np.convolve(rng.normal(size=count + 40), np.ones(15) / 15, "valid")[:count] for _ in range(2))
        found = trend("a", "velocity", r, x)
        assert found is not None
        ours += found.p_value < 0.05
        groups = np.array_split(r[np.argsort(x)], 12)
        naive += stats.f_oneway(*groups).pvalue < 0.05
    assert 5 <= ours <= 30
    assert naive > 150


def test_correlation_length_of_a_moving_average():
    """A mean of m samples is correlated over 1 + 2 sum (1 - k/m) = m samples; 20 000 samples give it to 15 %."""
    white = np.random.default_rng(3).normal(size=20_000)
    assert correlation_length(white) == pytest.approx(1.0, abs=0.15)
    assert correlation_length(np.convolve(white, np.ones(10) / 10, "valid")) == pytest.approx(10.0, rel=0.15)
    assert correlation_length(np.zeros(10)) == 1.0


def test_bins_hold_the_pattern():
    """The bin means of a noise-free line are the line, with the residual's mean left in."""
    x = np.linspace(-1.0, 1.0, 500)
    found = trend("a", "position", 0.3 + 0.5 * x, x)
    assert found is not None
    np.testing.assert_allclose(found.means, 0.3 + 0.5 * found.bins, atol=1e-12)
    assert found.slope == pytest.approx(0.5)
    assert found.linear == pytest.approx(1.0)
    assert found.p_value == pytest.approx(0.001)  # none of 999 exchanges does as well


def test_too_little_data_is_no_test():
    assert trend("a", "time", np.arange(30.0), np.arange(30.0)) is None
    assert trend("a", "position", np.random.default_rng(0).normal(size=300), np.zeros(300)) is None
    assert trend("a", "position", np.zeros(300), np.arange(300.0)) is None


@pytest.mark.parametrize(("frequency", "band"), [(0.3, 0), (4.0, 1), (25.0, 2)])
def test_power_goes_to_its_band(frequency, band):
    """A sine an octave from the edges keeps 95 % of its amplitude; of the others' bands under a tenth is left."""
    motion = course()
    ripple = 0.3 * np.sin(2.0 * np.pi * frequency * motion.time)
    tau = np.zeros_like(motion.q)
    tau[:, 2] = ripple
    motion = Trajectory(time=motion.time, joint_names=JOINTS, q=motion.q, dq=motion.dq, ddq=motion.ddq, tau=tau)
    made = bands(Comparison(motion, tau, np.zeros_like(tau), CUTOFF)).residual
    expected = 0.3 / np.sqrt(2.0)
    assert made[band, 2] == pytest.approx(expected, rel=0.05)
    assert np.all(np.delete(made[:, 2], band) < 0.1 * expected)
    assert np.all(made[:, :2] == 0.0)


def test_a_shared_residual_is_coupling_and_a_shared_jolt_is_not():
    rng = np.random.default_rng(5)
    base = judged()
    shared = zero_phase(0.2 * rng.normal(size=len(base.motion)), STEP, CUTOFF)
    both = Comparison(base.motion, base.filtered + shared[:, None] * [1.0, 0.0, -1.0], base.predicted, CUTOFF)
    found = [f for f in residual_report(both).findings if f.code == "fit.residual_coupling"]
    assert [f.where for f in found] == ["a, c"]
    assert float(found[0].value) < -0.9
    jolt = np.exp(-(((base.motion.time - 20.0) / 0.1) ** 2))
    once = Comparison(base.motion, base.filtered + jolt[:, None], base.predicted, CUTOFF)
    assert [f for f in residual_report(once).findings if f.code == "fit.residual_coupling"] == []


def test_a_constant_residual_is_an_offset():
    report = residual_report(judged(lambda m: 0.15 + 0.0 * m.time))
    found = [f for f in report.findings if f.code == "fit.residual_offset"]
    assert [f.where for f in found] == ["b"]
    assert float(found[0].value) == pytest.approx(0.15, abs=0.005)  # 0.01 N m of noise over hundreds of samples


def test_a_stretch_of_contact_is_an_event_and_named():
    """Two seconds in forty: the interval is found to the width of a span, one second."""
    report = residual_report(judged(lambda m: 0.3 * ((m.time > 15.0) & (m.time < 17.0))))
    found = [f for f in report.findings if f.code == "fit.residual_event"]
    assert [f.where for f in found] == ["b"]
    assert float(found[0].value) == pytest.approx(15.0, abs=1.0)


def test_temperature_is_tested_where_it_was_recorded():
    comparison = judged(lambda m: 0.1 * (m.time % 13.0) / 13.0)
    temperature = np.repeat((30.0 + comparison.motion.time % 13.0)[:, None], 3, axis=1)
    report = residual_report(comparison, temperature=temperature)
    assert report.of("b")[0].against == "temperature"
    assert cause_of(report.of("b")[0]) == "temperature"


def test_the_same_comparison_gives_the_same_report():
    first, second = (residual_report(judged(PATTERNS["friction"])) for _ in range(2))
    assert first.findings == second.findings
    assert [t.p_value for t in first.trends] == [t.p_value for t in second.trends]


def test_a_comparison_refuses_what_it_cannot_compare():
    motion = course(4.0)
    with pytest.raises(DataError, match="nothing is left"):
        compare(motion, motion.time, motion.tau, cutoff=CUTOFF, interval=(1.0, 1.5))
    with pytest.raises(DataError, match="fewer than two"):
        compare(motion, motion.time[:1], motion.tau[:1], cutoff=CUTOFF)


@pytest.mark.parametrize("samples", [3, 4, 17, 100])
def test_a_stub_of_a_motion_is_judged_without_alarm(samples):
    short = judged().picked(np.arange(samples))
    report = residual_report(short)
    assert np.isfinite(report.colour).all()
    assert [f for f in report.findings if f.level != "info"] == []
