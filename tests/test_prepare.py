"""Preparation: derivatives, clocks, filters, the choices made for a recording, and what they may never do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard import Recording, identify
from steelyard.data.lowpass import LowPass, zero_phase
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.model import Model
from steelyard.preparation.align import is_uniform, resample
from steelyard.preparation.cutoff import choose_cutoff, excitation_frequency
from steelyard.preparation.differentiate import derivative, differentiate, fine_derivative
from steelyard.preparation.mask import mask_dead_band
from steelyard.preparation.pipeline import prepare, prepare_recording
from steelyard.preparation.smooth import smooth
from steelyard.preparation.velocity import choose_velocity
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.spring import Spring
from steelyard.terms.viscous import Viscous

JOINTS = ("a", "b")
RATES = np.array([0.5, 0.8])  # [Hz] of the two joints' sines


def sines(time, *, noise=0.0, seed=0) -> Trajectory:
    """q of two joints, one sine each, with the exact dq, and a torque that is their sum."""
    w = 2 * np.pi * RATES
    angle = time[:, None] * w + [0.3, 1.1]
    q, dq = 0.8 * np.sin(angle), 0.8 * w * np.cos(angle)
    q = q + noise * np.random.default_rng(seed).normal(size=q.shape)
    return Trajectory(time, JOINTS, q=q, dq=dq, tau=3.0 * q + dq, name="sines")


@pytest.fixture
def robot():
    return Robot.from_joints(JOINTS)


def clock(count, jitter, seed=1) -> np.ndarray:
    """One second in steps that differ by up to `jitter` of themselves."""
    steps = 1.0 + jitter * np.random.default_rng(seed).uniform(-1, 1, count - 1)
    return np.concatenate([[0.0], np.cumsum(steps)]) / steps.sum()


@pytest.mark.parametrize("jitter", [0.0, 0.5])
def test_derivatives_are_of_second_order_on_any_clock(jitter):
    """Error a quarter for half the step, ends included; first-order differences would halve it only."""
    error = []
    for count in (101, 201, 401, 801):
        t = clock(101, jitter)
        for _ in range(int(np.log2((count - 1) / 100))):  # halve every step: the same irregularity, refined
            t = np.insert(t, np.arange(1, len(t)), 0.5 * (t[:-1] + t[1:]))
        f = np.column_stack([np.sin(9.0 * t), np.exp(t)])
        exact = np.column_stack([9.0 * np.cos(9.0 * t), np.exp(t)])
        error.append(np.abs(derivative(f, t) - exact).max())
    order = np.log2(np.array(error[:-1]) / error[1:])
    assert np.all(order > 1.85)
    assert np.all(order < 2.3)


def test_a_uniform_clock_is_differentiated_to_fourth_order():
    """Inside, a sixteenth of the error for half the step; other clocks keep three points."""
    error = []
    for count in (101, 201, 401):
        t = np.linspace(0.0, 1.0, count)
        slope = fine_derivative(np.sin(9.0 * t)[:, None], t)[:, 0]
        error.append(np.abs(slope - 9.0 * np.cos(9.0 * t))[2:-2].max())
    order = np.log2(np.array(error[:-1]) / error[1:])
    assert np.all(np.abs(order - 4.0) < 0.1)
    t = clock(50, 0.8)
    f = np.exp(t)[:, None]
    np.testing.assert_array_equal(fine_derivative(f, t), derivative(f, t))


def test_parabolas_are_differentiated_exactly():
    t = clock(50, 0.8)
    np.testing.assert_allclose(derivative((2.0 * t**2 - t)[:, None], t)[:, 0], 4.0 * t - 1.0, rtol=0, atol=1e-12)


def test_a_derivative_does_not_see_across_a_gap():
    """Two straight lines a jump apart: their slopes, and no spike between them."""
    t = np.concatenate([np.arange(50) * 0.01, 3.0 + np.arange(50) * 0.01])
    q = np.concatenate([2.0 * t[:50], 40.0 - t[50:]])[:, None]
    both = differentiate(Trajectory(t, ("a",), q=q, breaks=(50,)))
    np.testing.assert_allclose(both.dq[:50], 2.0, atol=1e-10)
    np.testing.assert_allclose(both.dq[50:], -1.0, atol=1e-10)
    np.testing.assert_allclose(both.ddq, 0.0, atol=1e-8)


def test_the_recorded_velocity_is_kept_or_not():
    recording = sines(0.005 * np.arange(400))
    kept = differentiate(replace(recording, dq=2.0 * recording.dq), velocity_from="recorded")
    np.testing.assert_array_equal(kept.dq, 2.0 * recording.dq)
    computed = differentiate(replace(recording, dq=2.0 * recording.dq))
    np.testing.assert_allclose(computed.dq, recording.dq, atol=1e-3)
    assert kept.steps != computed.steps


@pytest.mark.parametrize("count", [1, 2])
def test_too_few_samples_for_a_derivative(count):
    with pytest.raises(DataError, match="three samples"):
        derivative(np.zeros((count, 1)), np.arange(float(count)))


def test_white_noise_of_positions_becomes_noise_of_accelerations():
    """Two central differences in a row: deviation sqrt(6)/4 sigma/h^2, to half a per cent from 40 000 samples."""
    h, sigma = 0.01, 1e-4
    t = h * np.arange(40_000)
    q = sigma * np.random.default_rng(2).normal(size=(len(t), 1))
    ddq = derivative(derivative(q, t), t)[5:-5]
    assert np.std(ddq) == pytest.approx(np.sqrt(6.0) / 4.0 * sigma / h**2, rel=0.02)


def test_resampling_makes_one_uniform_clock():
    uneven = sines(10.0 * clock(2001, 0.4))
    assert not is_uniform(uneven)
    even = resample(uneven)
    assert is_uniform(even)
    assert even.step == pytest.approx(uneven.step, rel=1e-9)
    assert even.time[0] == uneven.time[0]
    assert uneven.time[-1] - even.time[-1] < even.step
    # linear interpolation: h^2 / 8 times the second derivative, with steps up to 1.4 of the mean
    bound = (1.4 * 0.005) ** 2 / 8.0 * 0.8 * (2 * np.pi * RATES) ** 2
    assert np.all(np.abs(even.q - sines(even.time).q).max(axis=0) < bound)
    assert even.source == uneven.source
    assert "resampled" in even.steps[-1]


def test_resampling_a_uniform_clock_changes_nothing():
    recording = sines(0.005 * np.arange(1000))
    again = resample(recording)
    assert len(again) == len(recording)
    np.testing.assert_allclose(again.q, recording.q, atol=1e-12)


@pytest.mark.parametrize("step", [None, 0.003])
def test_resampling_never_crosses_a_gap(step):
    t = np.concatenate([10.0 * clock(500, 0.3), 30.0 + 10.0 * clock(700, 0.3)])
    q = np.where(t[:, None] < 20.0, 1.0, -1.0) * np.ones((1, 2))
    recording = Trajectory(t, JOINTS, q=q, tau=q, breaks=(500,))
    even = resample(recording, step=step)
    assert set(np.unique(even.q)) == {-1.0, 1.0}
    assert not np.any((even.time > 10.0) & (even.time < 30.0))
    (cut,) = even.breaks
    assert (even.time[cut - 1] <= 10.0, even.time[cut]) == (True, 30.0)
    assert is_uniform(even)


def test_resampling_does_not_make_a_bad_sample_good():
    """A grid point between a valid and an invalid sample is made of both: it is not valid."""
    t = 0.01 * np.arange(100)
    valid = np.ones((100, 2), dtype=bool)
    valid[40, 0] = False
    even = resample(replace(sines(t), valid=valid), step=0.0025)
    touched = (even.time > 0.39 + 1e-9) & (even.time < 0.40 + 1e-9)
    assert not even.valid[touched, 0].any()
    assert even.valid[:, 1].all()


def test_resampling_does_not_make_the_sample_before_good_either():
    t = 0.01 * np.arange(100)
    valid = np.ones((100, 2), dtype=bool)
    valid[40, 0] = False
    even = resample(replace(sines(t), valid=valid), step=0.0025)
    assert not even.valid[(even.time > 0.40 + 1e-9) & (even.time < 0.41 - 1e-9), 0].any()


@pytest.mark.parametrize("cutoff", [2.0, 10.0, 40.0])
def test_the_filter_has_gain_one_half_at_its_cutoff_and_no_delay(cutoff):
    step = 0.002
    t = step * np.arange(20_000)
    middle = slice(5000, 15_000)
    for frequency, gain in ((cutoff, 0.5), (cutoff / 10.0, 1.0), (2.2 * cutoff, 0.0)):
        wave = np.sin(2 * np.pi * frequency * t)
        passed = zero_phase(wave, step, cutoff)[middle]
        along = 2.0 * np.mean(passed * wave[middle])
        across = 2.0 * np.mean(passed * np.cos(2 * np.pi * frequency * t)[middle])
        assert along == pytest.approx(gain, abs=5e-3)  # 1 / (1 + r^8) = 2e-3 at 2.2 times; whole periods to 2e-3
        assert across == pytest.approx(0.0, abs=5e-3)


def test_filtering_is_linear_along_any_axis_and_leaves_constants_alone():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 500, 3))
    filtered = [zero_phase(v, 0.01, 5.0, axis=0) for v in (x, y, 2.0 * x - y)]
    np.testing.assert_allclose(filtered[2], 2.0 * filtered[0] - filtered[1], atol=1e-12)
    np.testing.assert_allclose(zero_phase(x.T, 0.01, 5.0), filtered[0].T, atol=1e-14)
    np.testing.assert_allclose(zero_phase(np.full(500, 3.0), 0.01, 5.0), 3.0, atol=1e-9)


def test_a_disturbance_is_forgotten_after_the_settling_time():
    lowpass = LowPass(5.0)
    pulse = np.zeros(4000)
    pulse[2000] = 1.0
    response = lowpass.apply(pulse, 0.01)
    far = np.abs(np.arange(4000) - 2000) > lowpass.settling(0.01)
    assert np.abs(response[far]).max() < 1e-8 * np.abs(response).max()


def test_a_cutoff_above_half_the_rate_filters_nothing():
    x = np.random.default_rng(0).normal(size=(100, 2))
    np.testing.assert_array_equal(zero_phase(x, 0.01, 50.0, axis=0), x)


@pytest.mark.parametrize("cutoff", [0.0, -1.0, float("nan")])
def test_a_cutoff_must_be_positive(cutoff):
    with pytest.raises(StudyError, match="positive"):
        zero_phase(np.zeros(100), 0.01, cutoff)


def test_smoothing_is_segment_by_segment_and_says_what_it_did():
    t = np.concatenate([0.01 * np.arange(300), 10.0 + 0.01 * np.arange(300)])
    q = np.where(t[:, None] < 5.0, 1.0, -1.0) * np.ones((1, 2))
    smoothed = smooth(Trajectory(t, JOINTS, q=q, tau=2.0 * q, breaks=(300,)), 3.0)
    np.testing.assert_allclose(smoothed.q, q, atol=1e-8)
    np.testing.assert_allclose(smoothed.tau, 2.0 * q, atol=1e-8)
    assert "q, tau" in smoothed.steps[-1]
    assert "3 Hz" in smoothed.steps[-1]


def test_torque_and_positions_pass_the_same_filter():
    recording = sines(0.005 * np.arange(2000), noise=1e-3)
    smoothed = smooth(replace(recording, tau=recording.q), 4.0)
    np.testing.assert_array_equal(smoothed.tau, smoothed.q)


def test_the_excitation_frequency_is_that_of_the_motion():
    """Bins of 1 / 40 Hz, widened to four by the window."""
    found = excitation_frequency(sines(0.005 * np.arange(8000), noise=1e-4))
    np.testing.assert_allclose(found, RATES, atol=0.1)


def test_the_cutoff_is_ten_times_the_motion():
    chosen = choose_cutoff(sines(0.005 * np.arange(8000), noise=1e-4))
    assert chosen.cutoff == pytest.approx(10.0 * 0.8, rel=0.12)
    assert "excitation" in chosen.reason


def test_the_cutoff_stays_within_what_the_sampling_allows():
    slow = sines(0.08 * np.arange(1000))
    chosen = choose_cutoff(slow)
    assert chosen.cutoff == pytest.approx(0.27 * 12.5 / 2.0)
    assert "sampling" in chosen.reason


def test_the_cutoff_of_a_robot_at_rest_is_the_lowest():
    still = Trajectory(0.01 * np.arange(500), JOINTS, q=np.ones((500, 2)))
    assert choose_cutoff(still).cutoff == 2.0


def two_tones(time) -> Trajectory:
    """The exact motion of two sines a joint, up to 1.3 Hz: positions do not give accelerations away."""
    w, v, sign = 2 * np.pi * RATES, 2 * np.pi * 1.3, np.array([1.0, -1.0])
    slow, fast = time[:, None] * w + [0.3, 1.1], v * time[:, None]
    return Trajectory(
        time, JOINTS, q=0.8 * np.sin(slow) + 0.4 * sign * np.sin(fast),
        dq=0.8 * w * np.cos(slow) + 0.4 * v * sign * np.cos(fast),
        ddq=-0.8 * w**2 * np.sin(slow) - 0.4 * v**2 * sign * np.sin(fast), name="two tones",
    )  # fmt: skip


def drive(robot) -> tuple[Model, np.ndarray]:
    """A spring, viscous and dry friction and inertia on both joints, and their true values."""
    truth = np.array([2.0, 3.0, 0.5, 0.4, 0.6, 0.2, 0.3, 0.25])
    return Model(robot, (Spring(), Viscous(), Coulomb(), RotorInertia())), truth


def recorded(model, truth, *, noise: float) -> Trajectory:
    """40 s at 200 Hz: positions and torque alone, with noise of `noise` rad and 0.01 N m."""
    exact = two_tones(0.005 * np.arange(8000))
    draw = np.random.default_rng(1).normal(size=(2, 8000, 2))
    tau = model.torque(truth, exact) + 0.01 * draw[1]
    return Trajectory(exact.time, JOINTS, q=exact.q + noise * draw[0], tau=tau, name="recorded")


def test_a_cutoff_below_the_motion_ruins_the_model_five_to_ten_times_above_does_not(robot):
    """Error of predicted torque on the exact motion; position noise of 3e-4 rad."""
    model, truth = drive(robot)
    recording, exact = recorded(model, truth, noise=3e-4), two_tones(0.005 * np.arange(8000))
    right, error = model.torque(truth, exact), {}
    for ratio in (0.5, 1.0, 5.0, 10.0, 70.0):
        found = identify(
            robot, [Recording(recording)], terms=model.terms, cutoff=ratio * 1.3, estimator="ordinary"
        ).estimate
        wrong = model.torque(found.full(model.names), exact) - right
        error[ratio] = np.linalg.norm(wrong) / np.linalg.norm(right)
    assert error[0.5] > 0.2
    assert error[1.0] > 0.05
    assert error[5.0] < 0.01
    assert error[10.0] < 0.01
    assert error[70.0] > 0.1


def test_a_velocity_that_agrees_with_the_positions_is_used():
    choice = choose_velocity(sines(0.005 * np.arange(4000)), 10.0)
    assert choice.recorded
    assert choice.difference < 0.01
    assert "agrees" in choice.reason


WRONG = {
    "late": lambda dq: np.roll(dq, 20, axis=0),  # 0.1 s
    "scaled": lambda dq: 1.2 * dq,
    "degrees": lambda dq: np.degrees(dq),
    "swapped": lambda dq: dq[:, ::-1],
    "reversed": lambda dq: -dq,
    "zero": lambda dq: 0.0 * dq,
    "one joint reversed": lambda dq: dq * [1.0, -1.0],
}


@pytest.mark.parametrize("fault", WRONG)
def test_a_velocity_that_is_late_scaled_or_of_another_joint_is_not(fault):
    recording = sines(0.005 * np.arange(4000))
    choice = choose_velocity(replace(recording, dq=WRONG[fault](recording.dq)), 10.0)
    assert not choice.recorded
    assert choice.difference > 0.1
    assert "differs" in choice.reason


def test_the_velocity_of_a_slow_joint_counts_as_much_as_that_of_a_fast_one():
    recording = sines(0.005 * np.arange(4000))
    small = replace(recording, q=recording.q * [1.0, 0.02], dq=recording.dq * [1.0, -0.02])
    assert not choose_velocity(small, 10.0).recorded


def test_the_velocity_can_be_asked_for():
    recording = sines(0.005 * np.arange(4000))
    wrong = replace(recording, dq=2.0 * recording.dq)
    assert choose_velocity(wrong, 10.0, wanted=True).recorded
    assert not choose_velocity(recording, 10.0, wanted=False).recorded
    assert not choose_velocity(replace(recording, dq=None), 10.0, wanted=True).recorded


def test_the_dead_band_masks_slow_rows_of_a_joint_and_nothing_else():
    recording = sines(0.005 * np.arange(4000))
    masked = mask_dead_band(recording, 1.0)
    np.testing.assert_array_equal(masked.valid, np.abs(recording.dq) >= 1.0)
    for channel in ("time", "q", "dq", "tau"):
        np.testing.assert_array_equal(getattr(masked, channel), getattr(recording, channel))
    assert f"{100 * (1 - masked.valid.mean()):.1f} %" in masked.steps[-1]


def test_the_dead_band_keeps_what_was_masked_before_and_joints_that_never_move():
    recording = sines(0.005 * np.arange(4000))
    before = np.ones(recording.q.shape, dtype=bool)
    before[:100] = False
    slow = replace(recording, dq=recording.dq * [1.0, 1e-6], valid=before)
    masked = mask_dead_band(slow, 0.5)
    np.testing.assert_array_equal(masked.valid[:, 0], (np.abs(slow.dq[:, 0]) >= 0.5) & before[:, 0])
    np.testing.assert_array_equal(masked.valid[:, 1], before[:, 1])
    assert mask_dead_band(recording, 0.0) is recording


def test_prepared_recordings_have_all_a_model_needs(robot):
    recording = sines(20.0 * clock(4001, 0.3), noise=1e-5)
    ready = prepare_recording(recording, robot)
    motion = ready.trajectory
    assert is_uniform(motion)
    assert motion.joint_names == JOINTS
    assert ready.velocity.recorded
    assert ready.lowpass.cutoff == ready.cutoff.cutoff
    assert ready.lowpass.keep_every == int(200.0 / (10.0 * ready.cutoff.cutoff)) or ready.lowpass.keep_every >= 1
    inside = slice(200, -200)
    truth = sines(motion.time)
    exact = -((2 * np.pi * RATES) ** 2) * truth.q
    np.testing.assert_allclose(motion.q[inside], truth.q[inside], atol=1e-3)
    np.testing.assert_allclose(motion.dq[inside], truth.dq[inside], atol=5e-3)
    np.testing.assert_allclose(motion.ddq[inside], exact[inside], atol=0.1)
    assert [step.split()[0] for step in motion.steps] == ["resampled", "q,", "recorded"]
    np.testing.assert_array_equal(prepare(recording, robot).ddq, motion.ddq)


def test_preparation_picks_the_robots_joints_by_name():
    recording = sines(0.005 * np.arange(2000))
    ready = prepare(recording, Robot.from_joints(["b"]))
    assert ready.joint_names == ("b",)
    np.testing.assert_allclose(ready.q[100:-100, 0], recording.q[100:-100, 1], atol=1e-3)
    with pytest.raises(DataError, match="lacks a joint"):
        prepare(recording, Robot.from_joints(["b", "c"]))


def test_short_stretches_are_left_out_and_named(robot):
    t = np.concatenate([0.005 * np.arange(600), 10.0 + 0.005 * np.arange(5), 20.0 + 0.005 * np.arange(700)])
    recording = replace(sines(t), breaks=(600, 605))
    motion = prepare(recording, robot)
    assert len(motion) == 1300
    assert motion.breaks == (600,)
    assert any(step.startswith("5 samples") for step in motion.steps)
    with pytest.raises(DataError, match="20 samples"):
        prepare(recording.samples(595, 612), robot)


def test_a_prepared_recording_identifies_a_known_drive(robot):
    """Noise of 1e-5 rad and 0.01 N m, 40 s: every parameter to a third of a per cent, most of it from differences."""
    model, truth = drive(robot)
    recording = recorded(model, truth, noise=1e-5)
    found = identify(robot, [Recording(recording)], terms=model.terms, estimator="weighted")
    np.testing.assert_allclose(found.estimate.full(model.names), truth, rtol=3e-3)
    assert found.cutoff == found.prepared[0].cutoff.cutoff > 5 * 1.3
