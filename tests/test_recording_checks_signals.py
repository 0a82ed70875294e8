"""Checks of single signals, on recordings small enough to see what is wrong with them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.assess.lag import follow
from steelyard.assess.recording import check_recording
from steelyard.assess.repetition import repetition
from steelyard.assess.resolution import noise_floor, quantum
from steelyard.assess.sampling import sampling_findings, sampling_statistics
from steelyard.assess.standstill import standstill
from steelyard.assess.wrap import unwrapped, wraps
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.robot.robot import Axis, Robot

RNG = np.random.default_rng(0)


def motion(duration: float = 8.0, rate: float = 200.0, **channels) -> Trajectory:
    """Two joints on incommensurable sines."""
    time = np.arange(int(duration * rate)) / rate
    q = np.column_stack([np.sin(1.3 * time), 0.7 * np.cos(2.1 * time) + 0.2 * np.sin(0.9 * time)])
    return Trajectory(time, ("a", "b"), **{"q": q, "name": "small", **channels})


def codes(trajectory: Trajectory, robot: Robot | None = None) -> list[tuple[str, str]]:
    return [(f.code, f.level) for f in check_recording(trajectory, robot).findings]


def with_axes(*axes: Axis) -> Robot:
    return replace(Robot.from_joints([a.name for a in axes]), axes=axes)


# --- the clock -------------------------------------------------------------------------------------------------------


def test_statistics_of_an_irregular_clock():
    time = np.cumsum([0.0, 0.010, 0.010, 0.009, 0.011, 0.010, 0.020, 0.010])
    s = sampling_statistics(Trajectory(time, ("a",), q=time[:, None]))
    assert (s.step_min, s.step_median, s.step_max) == pytest.approx((0.009, 0.010, 0.020))
    assert s.jitter == pytest.approx(np.std([0.010, 0.010, 0.009, 0.011, 0.010, 0.010]))
    assert (s.late, s.missing, s.gaps) == (1, 1, 0)
    assert s.missing_share == pytest.approx(1 / 9)
    assert (s.rate, s.rate_effective) == pytest.approx((100.0, 7 / 0.080))
    assert s.longest == pytest.approx((0.020, 0.050))


def test_irregular_stamps_are_a_warning_and_counted_ones_information():
    assert codes(motion()) == [("data.synthetic_stamps", "info")]
    time = motion().time + RNG.uniform(0.0, 1.5e-3, 1600)
    assert codes(replace(motion(), time=time, source="")) == [("data.irregular_stamps", "warning")]


def test_stamps_of_single_precision():
    """At 20 000 s single precision resolves 2 ms, at 2000 s an eighth of one."""
    jitter = RNG.uniform(-1e-4, 1e-4, 1600)
    for start, level in ((2000.0, "info"), (20_000.0, "warning")):
        exact = start + motion().time + jitter
        single = exact.astype(np.float32)
        single = np.unique(single)
        for stamps in (single.astype(float), np.array([float(str(v)) for v in single])):
            q = np.sin(stamps)[:, None]
            s = sampling_statistics(Trajectory(stamps, ("a",), q=q))
            assert s.resolution == np.spacing(np.float32(start))
            found = {f.code: f.level for f in sampling_findings(s)}
            assert found["data.float32_stamps"] == level
        assert sampling_statistics(Trajectory(exact, ("a",), q=exact[:, None])).resolution == 0.0
    # seven decimals of a short recording all survive single precision: no evidence
    short = np.round(motion().time + 1.0 + jitter, 6)
    assert sampling_statistics(Trajectory(short, ("a",), q=short[:, None])).resolution == 0.0


def test_samples_that_repeat_the_one_before():
    moving = motion()
    tau = RNG.normal(size=moving.q.shape)
    held = np.arange(1600)
    held[5::20] -= 1  # every twentieth sample is the one before it once more
    stale = replace(moving, q=moving.q[held], tau=tau[held], source="")
    (finding,) = [f for f in check_recording(stale).findings if f.code == "data.repeated_samples"]
    assert finding.value == pytest.approx(0.05, abs=0.002)
    still = replace(moving, q=np.zeros_like(moving.q), tau=np.ones_like(tau), source="")
    assert "data.repeated_samples" not in dict(codes(still))


# --- resolution and noise --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [1e-3, 2 * np.pi / 2**14])
def test_the_step_of_an_encoder(step):
    q = motion().q[:, 0]
    assert quantum(np.round(q / step) * step) == pytest.approx(step, rel=1e-6)


def test_there_is_no_step_in_noise_and_none_in_a_constant():
    assert np.isnan(quantum(RNG.normal(size=500)))
    assert np.isnan(quantum(np.full(10, 3.0)))


def test_noise_floor_of_a_noisy_sine():
    noise = np.array([1e-4, 3e-3])
    noisy = replace(motion(duration=20.0), source="")
    noisy = replace(noisy, q=noisy.q + noise * RNG.standard_normal(noisy.q.shape))
    # a median of 4000 absolute values is known to 1.2 %; five deviations
    np.testing.assert_allclose(noise_floor(noisy, "q"), noise, rtol=0.06)
    # and on an irregular clock
    time = noisy.time + RNG.uniform(0.0, 2e-3, len(noisy))
    q = np.sin(np.outer(time, [1.3, 0.9])) + noise * RNG.standard_normal(noisy.q.shape)
    uneven = Trajectory(time, ("a", "b"), q=q)
    np.testing.assert_allclose(noise_floor(uneven, "q"), noise, rtol=0.06)


def test_a_torque_that_is_noise():
    moving = motion()
    tau = np.column_stack([5 * moving.q[:, 0], 0.1 * moving.q[:, 1]]) + 0.5 * RNG.standard_normal(moving.q.shape)
    found = [(f.code, f.where) for f in check_recording(replace(moving, tau=tau)).findings]
    assert ("data.noise_dominated", "b") in found
    assert ("data.noise_dominated", "a") not in found


# --- standstill ------------------------------------------------------------------------------------------------------


def test_standstill_at_the_end_and_of_a_joint():
    q = motion().q.copy()
    q[1200:] = q[1200]
    q[:, 1] = 0.25
    still = replace(motion(), q=q, source="")
    found = standstill(still, np.zeros(2))
    assert found.at_end == pytest.approx(2.0, abs=0.11)  # a window of 0.2 s reaches half its length into the motion
    assert found.share_per_joint[1] == 1.0
    messages = [f.message for f in check_recording(still).findings if f.code == "data.standstill"]
    assert len(messages) == 2
    assert "last 1.9" in messages[0]
    assert "b never moves" in messages[1]


def test_nothing_moves():
    still = replace(motion(), q=np.ones((1600, 2)), source="")
    messages = [f.message for f in check_recording(still).findings if f.code == "data.standstill"]
    assert messages == ["no joint moves in the whole recording of 8 s"]


# --- jumps and units -------------------------------------------------------------------------------------------------


def folded() -> Trajectory:
    q = motion().q + np.array([3.0, 0.0])
    q[:, 0] = (q[:, 0] + np.pi) % (2 * np.pi) - np.pi
    return replace(motion(), q=q, source="")


def test_a_folded_angle_is_found_and_unfolded_to_look_at():
    turning = with_axes(Axis("a", continuous=True), Axis("b", -1.0, 1.0))
    found = [f for f in check_recording(folded(), turning).findings if f.level != "info"]
    assert [(f.code, f.where) for f in found] == [("data.wrap", "a")]
    crossings = np.count_nonzero(np.diff(np.sign(motion().q[:, 0] + 3.0 - np.pi)))
    assert found[0].value == crossings
    np.testing.assert_allclose(unwrapped(folded(), turning).q, motion().q + np.array([3.0, 0.0]), atol=1e-12)
    limited = with_axes(Axis("a", -4.2, 4.2), Axis("b", -1.0, 1.0))
    assert "although the joint has limits" in check_recording(folded(), limited).findings[1].message


def test_a_slide_never_wraps():
    sliding = with_axes(Axis("a", -10.0, 10.0, prismatic=True), Axis("b", -1.0, 1.0))
    assert not wraps(folded(), sliding).any()


def test_zeros_in_between_are_jumps():
    q = motion().q + 1.5
    q[[300, 700]] = 0.0  # a second publisher
    found = [f for f in check_recording(replace(motion(), q=q, source="")).findings if f.code == "data.position_jump"]
    assert [f.where for f in found] == ["a", "b"]
    assert "at 1.500, 1.505, 3.500 s and later" in found[0].message


def test_degrees_millimetres_counts_and_limits():
    limits = (Axis("a", -2.0, 2.0, velocity=3.0), Axis("b", -1.0, 1.0, velocity=3.0))
    assert codes(motion(), with_axes(*limits)) == [("data.synthetic_stamps", "info")]
    degrees = replace(motion(), q=np.degrees(motion().q), source="")
    assert ("data.units_suspect", "error") in codes(degrees, with_axes(*limits))
    slides = tuple(replace(a, prismatic=True) for a in limits)
    finding = check_recording(replace(motion(), q=1e3 * motion().q, source=""), with_axes(*slides)).findings[-1]
    assert (finding.code, finding.value) == ("data.units_suspect", "mm")
    counts = replace(motion(), q=1e5 * (2 + motion().q), source="")
    assert {f.code for f in check_recording(counts).findings if f.level == "error"} == {"data.units_suspect"}
    off = replace(motion(), q=motion().q + np.array([1.4, 0.0]), source="")
    (finding,) = [f for f in check_recording(off, with_axes(*limits)).findings if f.level == "warning"]
    assert (finding.code, finding.where) == ("data.beyond_limits", "a")
    assert finding.value == pytest.approx(2.4, abs=1e-3)


def test_a_turntable_may_turn_and_turn():
    time = motion(duration=60.0).time
    many = Trajectory(time, ("a",), q=(1.5 * time + 0.2 * np.sin(time))[:, None])
    free = with_axes(Axis("a", continuous=True, velocity=2.0))
    assert codes(many, free) == [("data.synthetic_stamps", "info")]


def test_torque_in_millinewton_metres():
    strong = with_axes(Axis("a", -2.0, 2.0, effort=20.0), Axis("b", -1.0, 1.0, effort=20.0))
    tau = 1e4 * motion().q
    found = [f for f in check_recording(replace(motion(), tau=tau), strong).findings if f.level == "error"]
    assert [f.code for f in found] == ["data.units_suspect"]
    assert "torque" in found[0].message


# --- derivatives -----------------------------------------------------------------------------------------------------


def test_gain_and_delay_of_one_signal_after_another():
    time = np.arange(2000) / 500.0
    early = np.sin(7 * time) + 0.4 * np.sin(17 * time)
    late = 1.3 * (np.sin(7 * (time - 0.0123)) + 0.4 * np.sin(17 * (time - 0.0123)))
    found = follow(early, late, 0.002, most=0.05)
    # the parabola through three misfits 1.25 ms apart is exact but for its fourth order
    assert found.delay == pytest.approx(0.0123, abs=2e-5)
    assert found.gain == pytest.approx(1.3, abs=1e-4)
    assert found.remainder < 1e-3
    assert follow(early, np.zeros(2000), 0.002, most=0.05) is None


def test_the_sample_file_whose_acceleration_does_not_match():
    """Steps of 0.01 s at 0.20 rad/s2 change the speed by 0.002 rad/s; the file says 0.020: ten times as much."""
    time = 0.01 * np.arange(6)
    speed = 0.02 * np.arange(6)
    small = Trajectory(
        time, ("a",), q=(0.5 * 2.0 * time**2)[:, None], dq=speed[:, None], ddq=np.full((6, 1), 0.2), name="sample"
    )
    found = [f for f in check_recording(small).findings if f.code.endswith("mismatch")]
    assert [f.code for f in found] == ["data.ddq_mismatch"]
    assert "gain 0.1" in found[0].message


def test_degrees_per_second():
    moving = motion(duration=20.0)
    speed = np.gradient(moving.q, moving.time, axis=0)
    wrong = replace(moving, dq=np.degrees(speed), source="")
    found = [f for f in check_recording(wrong).findings if f.level == "warning"]
    assert {f.code for f in found} == {"data.dq_mismatch"}
    assert "degrees" in found[0].message


# --- repetition ------------------------------------------------------------------------------------------------------


def test_the_period_of_a_motion():
    time = np.arange(0.0, 17.0, 0.004)
    q = np.column_stack([np.sin(2 * np.pi * time / 6.5 + p) + 0.5 * np.sin(6 * np.pi * time / 6.5) for p in (0, 1)])
    found = repetition(Trajectory(time, ("a", "b"), q=q))
    assert found.period == pytest.approx(6.5, abs=0.02)  # positions are compared at 50 Hz
    assert found.repeated == pytest.approx(17.0 - 6.5, abs=0.03)
    assert repetition(motion(duration=12.0)) is None


# --- whatever comes --------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("error")
@settings(max_examples=60)
@given(data=st.data(), samples=st.integers(1, 60), joints=st.integers(1, 3), seed=st.integers(0, 1000))
def test_no_recording_breaks_the_checks(data, samples, joints, seed):
    rng = np.random.default_rng(seed)
    shape = (samples, joints)
    kind = st.sampled_from(["none", "zero", "constant", "noise", "huge", "tiny", "steps"])
    make = {
        "none": lambda: None,
        "zero": lambda: np.zeros(shape),
        "constant": lambda: np.full(shape, 2.5),
        "noise": lambda: rng.normal(size=shape),
        "huge": lambda: 1e8 * rng.normal(size=shape),
        "tiny": lambda: 1e-290 * rng.normal(size=shape),
        "steps": lambda: np.round(rng.normal(size=shape)),
    }
    channels = {c: make[data.draw(kind, label=c)]() for c in ("q", "dq", "ddq", "tau")}
    time = np.cumsum(rng.choice([1e-3, 1e-3, 0.5], samples))
    breaks = tuple(k for k in range(1, samples) if rng.random() < 0.1)
    names = ("a", "b", "c")[:joints]
    recording = Trajectory(time, names, breaks=breaks, name="odd", **channels)
    if channels["q"] is None:
        with pytest.raises(DataError):
            check_recording(recording)
        return
    robot = with_axes(Axis("a", -1.0, 1.0, effort=5.0), Axis("b", prismatic=True), Axis("c", continuous=True))
    for model in (None, robot):
        report = check_recording(recording, model)
        for finding in report.findings:
            assert finding.code.startswith("data.")
            assert finding.message
            assert finding.cure
            assert "\n" not in finding.cure
    assert report.as_dict()["statistics"]["sampling"]["samples"] == samples
