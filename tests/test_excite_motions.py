"""Families of motions beside the series: their derivatives, their ends, their bounds, their limits at every rate."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import robots
from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.excite.certificate import MOST, certify, certify_trajectory
from steelyard.excite.chirp import chirp
from steelyard.excite.envelope import envelope_of
from steelyard.excite.fourier import FourierFamily, FourierMotion, shared_harmonics
from steelyard.excite.joined import JoinedMotion, blended
from steelyard.excite.limits import JointLimit, MotionLimits, motion_limits
from steelyard.excite.pace import paced, slow_first
from steelyard.excite.plateaus import plateaus
from steelyard.excite.polynomial import Piece, PolynomialMotion, assembled
from steelyard.excite.random_band import random_band
from steelyard.excite.stage import Run
from steelyard.excite.straight import point_to_point, stroke
from steelyard.excite.via_points import via_points
from steelyard.excite.windows import Window, marked
from steelyard.model import Model
from steelyard.terms.rigid_body import RigidBody

SHARE = 0.95
FAMILIES = ["points", "splines", "smoothest", "random", "chirp", "plateaus", "blended"]


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    robot = robots.load(tmp_path_factory.mktemp("arm"), "tooled")
    limit = JointLimit(velocity=2.0, acceleration=8.0, jerk=200.0, effort=1e4)
    return Model(robot, (RigidBody(),)), motion_limits(robot, dict.fromkeys(robot.joint_names, limit))


def restless(limits):
    """A series that starts at speed."""
    family = FourierFamily(4.0, shared_harmonics(len(limits.joint_names), 3))
    x = np.random.default_rng(3).standard_normal((len(limits.joint_names), family.variables))
    coefficients = family.coefficients(x * (0.6 / envelope_of(family, limits).gauge(x))[:, None])
    coefficients[:, 0] += limits.center
    return FourierMotion(limits.joint_names, family, coefficients)


def made(family, limits, step=1e-3):
    """A motion of each family that uses SHARE of the limits."""
    narrow = limits.share(SHARE)
    poses = narrow.center + np.random.default_rng(1).uniform(-0.4, 0.4, (5, len(narrow.lower))) * narrow.reach
    match family:
        case "points":
            return point_to_point(narrow, poses, wait=0.1, step=step)
        case "splines":
            return via_points(narrow, poses, step=step)
        case "smoothest":
            return via_points(narrow, poses, rest="jerk", step=step)
        case "random":
            return random_band(narrow, band=(0.2, 1.0), duration=8.0, rest="jerk")
        case "chirp":
            return chirp(narrow, duration=8.0)
        case "plateaus":
            return plateaus(narrow, shares=(0.3, 1.0), longest=0.5, step=step).motion
        case _:
            return blended(restless(narrow), narrow, step=step)


@pytest.mark.parametrize("family", FAMILIES)
def test_each_derivative_is_that_of_the_one_before(arm, family):
    """Central differences over 20 us: truncation 1e-10 / 6 times the derivative but two, rounding 1e-16 / 1e-5."""
    motion = made(family, arm[1])
    times, h = np.random.default_rng(0).uniform(0.01, motion.duration - 0.01, 400), 1e-5
    before, after, there = motion.at(times - h), motion.at(times + h), motion.at(times)
    for order in range(3):
        slope = (after[order] - before[order]) / (2.0 * h)
        # where two polynomials meet the jerk may have a corner: there its difference is the mean of both sides
        assert np.quantile(np.abs(slope - there[order + 1]), 0.98) < 1e-6 * np.abs(there[order + 1]).max()


@pytest.mark.parametrize("family", FAMILIES)
def test_both_ends_are_at_rest(arm, family):
    """To 1e-9 in SI; a spline of degree five has jerk there."""
    motion = made(family, arm[1])
    ends = motion.at(np.array([0.0, motion.duration]))
    for values in ends[1:3] if family == "splines" else ends[1:]:
        assert np.abs(values).max() < 1e-9
    certificate = certify(motion, *arm, rest="acceleration" if family == "splines" else "jerk")
    assert certificate.passed
    assert certificate.closest.use > 0.5 * SHARE or family == "chirp"  # as fast as it may, not merely slow


@pytest.mark.parametrize("family", FAMILIES)
def test_bounds_hold_inside_every_cell(arm, family):
    """At ten instants of each cell of 20 ms; 1e-9 of the largest value is rounding."""
    motion = made(family, arm[1])
    cells = motion.cells(0.02)
    assert np.sum(2.0 * cells.half) == pytest.approx(motion.duration)
    for share in np.linspace(-0.999, 0.999, 10):
        inside = motion.at(cells.middle + share * cells.half)
        for low, high, value in zip(cells.low, cells.high, inside, strict=True):
            assert np.all(np.maximum(low - value, value - high) <= 1e-9 * np.abs(value).max())


@pytest.mark.parametrize("quantity", ["velocity", "acceleration"])
@pytest.mark.parametrize("family", FAMILIES)
def test_one_in_a_thousand_too_much_is_refused_and_too_little_is_not(arm, family, quantity):
    """The limit of the busiest joint lies 0.1 % under the peak, then 0.1 % over it."""
    model, limits = arm
    motion = made(family, limits)
    inside = motion.at(np.linspace(0.0, motion.duration, 200_001))
    peak = np.abs(inside.dq if quantity == "velocity" else inside.ddq).max(axis=0)
    for factor, passes in ((0.999, False), (1.001, True)):
        tight = replace(limits, **{quantity: factor * peak})
        certificate = certify(motion, model, tight, step=1e-3)
        checks = [check for check in certificate.checks if check.quantity == quantity]
        assert all(check.passed for check in checks) == passes


@pytest.mark.parametrize("rate", [1000.0, 125.0])
@pytest.mark.parametrize("family", FAMILIES)
def test_limits_are_kept_after_rounding_to_the_controllers_rate(arm, family, rate):
    """What the controller makes of the samples, positions in the nine digits of a file, polynomials between them.

    A jerk is the third difference of positions: nine digits at 1 kHz are 60 * 0.5e-9 / 1e-9 = 30 rad/s3, so that it
    is left out there.
    """
    model, limits = arm
    motion = made(family, limits, step=1.0 / rate).sampled(rate)
    q, dq, ddq = (np.round(values, 9) for values in (motion.q, motion.dq, motion.ddq))
    rounded = Trajectory(time=motion.time, joint_names=motion.joint_names, q=q, dq=dq, ddq=ddq)
    certificate = certify_trajectory(rounded, model, limits)
    failed = {check.quantity for check in certificate.checks if not check.passed}
    assert failed <= ({"jerk"} if rate > 500.0 else set())
    assert certify_trajectory(motion, model, limits).passed  # unrounded in all quantities


@pytest.mark.parametrize("family", FAMILIES)
def test_slow_first(arm, family):
    """Three speeds of one path, each with its own certificate; torque of gravity does not go away."""
    model, limits = arm
    motion = made(family, limits)
    versions = slow_first(motion, partial(certify, model=model, limits=limits))
    assert [version.speed for version in versions] == [0.25, 0.5, 1.0]
    share = np.linspace(0.0, 1.0, 50)
    for version in versions:
        assert version.certificate.passed
        assert version.certificate.motion_digest == version.motion.digest
        assert version.motion.duration == pytest.approx(motion.duration / version.speed)
        one, other = version.motion.at(share * version.motion.duration), motion.at(share * motion.duration)
        assert np.allclose(one.q, other.q, atol=1e-9)
        assert np.allclose(one.dq, version.speed * other.dq, atol=1e-8)
    assert len({version.certificate.motion_digest for version in versions}) == 3


def test_slow_first_wants_rising_speeds(arm):
    motion = made("points", arm[1])
    for speeds in ((), (0.5, 0.25), (0.0, 1.0), (1.0, 1.5)):
        with pytest.raises(StudyError, match="rise"):
            slow_first(motion, partial(certify, model=arm[0], limits=arm[1]), speeds=speeds)


def test_a_move_is_as_fast_as_its_tightest_limit(arm):
    """Long ways at the speed limit, middle ones at that of the acceleration, short ones at that of the jerk."""
    limits = arm[1]
    way, step = np.eye(len(limits.lower))[0], 1e-6
    for length, order in ((2.0, 1), (0.2, 2), (1e-3, 3)):
        ramp, cruise = stroke(length * way, limits, step=step)
        speed = length / (ramp + cruise)
        use = speed / 2.0, 15.0 / 8.0 * speed / ramp / 8.0, 10.0 / np.sqrt(3.0) * speed / ramp**2 / 200.0
        assert max(use) == use[order - 1]
        assert use[order - 1] == pytest.approx(1.0, abs=1e-3)  # times are rounded up to 1 us
    assert stroke(1e-3 * way, limits, step=0.1).duration == pytest.approx(0.2)


@given(
    way=st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=2).filter(lambda way: max(map(abs, way)) > 1e-6),
    step=st.sampled_from([1e-3, 2e-3, 8e-3]),
    velocity=st.floats(1e-2, 10.0),
    acceleration=st.floats(1e-2, 100.0),
    jerk=st.floats(1e-1, 1e5),
)
def test_every_move_keeps_its_limits_and_the_controllers_grid(way, step, velocity, acceleration, jerk):
    """Of any length, at any limits: speed, 15/8 v / T and 10/sqrt(3) v / T^2, but for rounding."""
    limit = np.ones(2)
    limits = MotionLimits(
        ("a", "b"), lower=-4.0 * limit, upper=4.0 * limit, velocity=velocity * limit,
        acceleration=acceleration * limit, jerk=jerk * limit, effort=np.inf * limit,
    )  # fmt: skip
    ramp, cruise = stroke(np.array(way), limits, step=step)
    speed = max(map(abs, way)) / (ramp + cruise)
    assert speed <= velocity * (1.0 + 1e-9)
    assert 15.0 / 8.0 * speed / ramp <= acceleration * (1.0 + 1e-9)
    assert 10.0 / np.sqrt(3.0) * speed / ramp**2 <= jerk * (1.0 + 1e-9)
    for time in (ramp, cruise):
        assert abs(time / step - round(time / step)) < 1e-6 * max(1.0, time / step)


def test_long_motions_have_wider_cells_not_more_of_them(arm):
    """A sweep at a quarter of its speed takes minutes; its certificate takes no more memory for that."""
    model, limits = arm
    motion = plateaus(limits.share(SHARE), longest=20.0).motion.slowed(0.25)
    assert motion.duration > 600.0
    certificate = certify(motion, model, limits)
    assert certificate.passed
    assert certificate.cells < 1.1 * MOST


def test_without_a_jerk_limit_a_move_has_none_to_keep(arm):
    tight, none = (replace(arm[1], jerk=np.full(len(arm[1].lower), value)) for value in (20.0, np.inf))
    assert made("points", none).duration < 0.8 * made("points", tight).duration


def test_poses_of_a_spline_are_met(arm):
    narrow = arm[1].share(SHARE)
    poses = narrow.center + np.random.default_rng(1).uniform(-0.4, 0.4, (5, len(narrow.lower))) * narrow.reach
    motion = via_points(narrow, poses)
    times = np.linspace(0.0, motion.duration, 4001)
    for pose in poses:
        assert np.abs(motion.at(times).q - pose).max(axis=1).min() < 2e-3  # a step goes up to 2 rad/s * 1 ms


def test_a_spline_that_swings_out_is_refused(arm):
    limits = arm[1]
    edge = np.stack([limits.center, limits.upper, limits.center + 0.9 * limits.reach, limits.center])
    with pytest.raises(StudyError, match="leaves the range"):
        via_points(limits, edge)


def test_plateaus_have_both_signs_and_no_reversal(arm):
    narrow = arm[1].share(SHARE)
    sweep = plateaus(narrow, shares=(0.2, 0.5, 1.0), longest=1.0)
    n = len(narrow.lower)
    assert len(sweep.windows) == len(sweep.speeds) == 3 * 2 * n
    for joint in range(n):
        own = [speed for speed, window in zip(sweep.speeds, sweep.windows, strict=True) if window.joints == (joint,)]
        assert np.allclose(own[::2], -np.array(own[1::2]))
        assert own[::2] == sorted(own[::2])
    for speed, window in zip(sweep.speeds, sweep.windows, strict=True):
        inside = sweep.motion.at(np.linspace(window.start, window.stop, 50))
        (joint,) = window.joints
        assert np.allclose(inside.dq[:, joint], speed, atol=1e-9)
        assert np.abs(np.delete(inside.dq, joint, axis=1)).max(initial=0.0) == 0.0
        assert np.abs(inside.ddq).max() < 1e-9
        assert np.ptp(inside.q[:, joint]) > 0.1 * abs(speed)  # a tenth of a second at least
    marks = marked(sweep.motion.sampled(1000.0), sweep.windows)
    assert np.array_equal(np.any(marks.valid, axis=1), np.abs(marks.dq * marks.valid).max(axis=1) > 0.0)
    slow = Run(sweep.motion, sweep.windows).slowed(0.5)
    half = marked(slow.motion.sampled(1000.0), slow.windows)
    assert np.abs(half.dq * half.valid).max() == pytest.approx(0.5 * np.abs(sweep.speeds).max())
    assert np.array_equal(np.any(half.valid, axis=1), np.abs(half.dq * half.valid).max(axis=1) > 0.0)


def test_the_two_directions_of_a_plateau_cross_the_same_way(arm):
    """So that gravity cancels between them."""
    sweep = plateaus(arm[1].share(SHARE), shares=(0.5,), longest=1.0)
    up, down = (sweep.motion.at(np.array([w.start, w.stop])).q[:, 0] for w in sweep.windows[:2])
    middle = sweep.motion.at(np.array([0.0])).q[0, 0]
    assert up[1] - middle == pytest.approx(middle - down[1])


def test_a_random_motion_is_the_same_for_a_seed_and_stays_in_its_band(arm):
    narrow = arm[1].share(SHARE)
    one, same, other = (random_band(narrow, band=(0.5, 2.0), duration=4.0, seed=seed) for seed in (1, 1, 2))
    assert one.digest == same.digest != other.digest
    assert one.family.harmonics[0] == (2, 3, 4, 5, 6, 7, 8)
    spectrum = np.abs(np.fft.rfft(one.at(np.arange(400) / 100.0).dq, axis=0))
    assert spectrum[2:9].max() > 1e8 * np.delete(spectrum, np.s_[2:9], axis=0).max()


def test_a_chirp_keeps_to_its_amplitude_joints_and_frequencies(arm):
    limits = arm[1]
    name = limits.joint_names[-1]
    motion = chirp(limits, joints=[name], amplitude=0.002, frequencies=(1.0, 4.0), duration=10.0)
    times = np.linspace(0.0, 10.0, 20001)
    swing = motion.at(times).q - limits.center
    assert np.abs(swing[:, :-1]).max() == 0.0
    assert np.abs(swing[:, -1]).max() == pytest.approx(0.002, rel=1e-3)
    crossings = np.flatnonzero(np.diff(np.sign(swing[1:-1, -1])))
    assert len(crossings) == pytest.approx(2 * 2.5 * 10, abs=2)  # mean frequency 2.5 Hz
    full = chirp(limits, amplitude=10.0)
    assert np.all(full.amplitude < 1.0)  # as large as the limits allow, not as wanted


def test_a_blend_runs_the_series_as_it_is(arm):
    narrow = arm[1].share(SHARE)
    series = restless(narrow)
    motion = blended(series, narrow, periods=2, wait=0.5)
    assert isinstance(motion, JoinedMotion)
    start = motion.parts[0].duration
    times = np.linspace(0.0, 2.0 * series.period - 1e-9, 100)
    for a, b in zip(motion.at(start + times), series.at(times), strict=True):
        assert np.allclose(a, b, atol=1e-9)
    assert np.abs(motion.at(np.linspace(0.0, 0.5, 9)).dq).max() == 0.0
    assert blended(series, narrow, wait=0.1, step=0.008).sampled(125.0).q.shape[1] == 2
    with pytest.raises(StudyError, match="once or more"):
        blended(series, narrow, periods=0)
    with pytest.raises(StudyError, match="other joints"):
        blended(replace(series, joint_names=("a", "b")), narrow)
    with pytest.raises(StudyError, match="no ramp"):
        blended(series, replace(narrow, velocity=0.01 * narrow.velocity))


def test_what_does_not_fit_together_is_refused(arm):
    limits = arm[1]
    names, center = limits.joint_names, limits.center
    still = assembled(names, [Piece(1.0, center[None])], "still")
    moved = assembled(names, [Piece(1.0, center[None] + 0.1)], "moved")
    with pytest.raises(StudyError, match="position jumps"):
        JoinedMotion((still, moved))
    with pytest.raises(StudyError, match="velocity jumps"):
        assembled(names, [Piece(1.0, center[None]), Piece(1.0, np.stack([center, center + 1.0]))], "kick")
    with pytest.raises(StudyError, match="nothing moves"):
        paced(still, limits)
    with pytest.raises(StudyError, match="nothing moves"):
        point_to_point(limits, [center, center])
    with pytest.raises(StudyError, match="outside the limits"):
        point_to_point(limits, [center, limits.upper + 0.1])
    with pytest.raises(StudyError, match="same"):
        via_points(limits, [center, center, limits.upper])
    with pytest.raises(StudyError, match="too few harmonics"):
        random_band(limits, band=(0.1, 0.2), duration=5.0)
    with pytest.raises(StudyError, match="not a joint"):
        plateaus(limits, joints=["elbow"])
    with pytest.raises(StudyError, match="shares"):
        plateaus(limits, shares=(0.5, 1.5))
    with pytest.raises(StudyError, match="at a limit"):
        plateaus(limits, pose=limits.upper)
    with pytest.raises(StudyError, match="at a limit"):
        chirp(limits, pose=limits.lower)
    with pytest.raises(StudyError, match="positive time"):
        point_to_point(limits, [center, limits.upper], step=0.0)
    with pytest.raises(StudyError, match="knots"):
        PolynomialMotion(names, np.array([0.0, 0.0]), np.zeros((1, 2, len(names))))


def test_marks_follow_a_delay_and_what_was_marked_before(arm):
    trajectory = made("points", arm[1]).sampled(1000.0)
    once = marked(trajectory, [Window(0.1, 0.2, (0,))])
    late = marked(trajectory, [Window(0.1, 0.2, (0,))], delay=0.05)
    assert np.flatnonzero(once.valid[:, 0])[[0, -1]].tolist() == [100, 200]
    assert np.flatnonzero(late.valid[:, 0])[[0, -1]].tolist() == [150, 250]
    assert not once.valid[:, 1:].any()
    assert np.flatnonzero(marked(once, [Window(0.15, 0.3, (0,))]).valid[:, 0])[[0, -1]].tolist() == [150, 200]
    assert marked(trajectory, []) is trajectory
