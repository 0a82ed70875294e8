"""Whether a validation motion was in the training, and whether it leaves the training's range."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.assess.extrapolation import extrapolation, extrapolation_findings
from steelyard.assess.leakage import leakage, leakage_findings
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError

NAMES = ("a", "b", "c")


def fourier(seed: int, duration: float = 20.0, period: float = 10.0, size: float = 1.0, rate: float = 100.0):
    """A periodic motion of three joints; another seed is another motion."""
    rng = np.random.default_rng(seed)
    time = np.arange(0.0, duration, 1 / rate)
    order = np.arange(1, 6)
    angle = 2 * np.pi * np.outer(time, order) / period
    q = size * (np.sin(angle) @ rng.normal(size=(5, 3)) + np.cos(angle) @ rng.normal(size=(5, 3))) / 5
    return Trajectory(time, NAMES, q=q, name=f"motion {seed}")


def test_another_motion_is_not_repeated():
    found = leakage([fourier(1), fourier(2)], fourier(3))
    assert found.share < 0.02
    assert leakage_findings(found, "unseen") == []


def test_a_later_period_is_repeated():
    run = fourier(1)
    found = leakage([run.interval(0.0, 10.0)], run.interval(10.0, 19.0))
    # the moments of the first half window have their like across the end of the training
    assert found.share > 0.95
    assert found.lag == pytest.approx(10.0, abs=0.02)
    (finding,) = leakage_findings(found, "later")
    assert (finding.code, finding.where) == ("validation.repeats_training", "later")
    assert "motion 1, 10.0" in finding.message
    assert leakage([run.interval(0.0, 5.0)], run.interval(5.0, 10.0)).share < 0.05


def test_half_of_a_recording_is_repeated():
    known, new = fourier(1), fourier(2)
    q = np.where(new.time[:, None] < 10.0, known.q, new.q)
    found = leakage([known], replace(new, q=q, source=""))
    assert found.share == pytest.approx(0.5, abs=0.05)
    assert found.intervals[0] == pytest.approx((0.0, 10.0), abs=0.6)


def test_noise_another_rate_and_another_order_of_joints_do_not_hide_a_copy():
    known = fourier(1)
    copy = fourier(1, rate=37.0)
    noisy = replace(copy, q=copy.q + 1e-3 * np.random.default_rng(0).standard_normal(copy.q.shape), source="")
    assert leakage([fourier(2), known], noisy.ordered(("c", "a", "b"))).share > 0.99


def test_rest_at_the_same_pose_is_no_repetition():
    still = replace(fourier(1), q=np.ones((2000, 3)), source="")
    assert leakage([still, fourier(2)], still).share == 0.0


def test_short_recordings_and_other_joints():
    assert leakage([fourier(1)], fourier(1).interval(0.0, 0.3)).share == 0.0
    with pytest.raises(DataError, match="lacks a joint"):
        leakage([fourier(1)], replace(fourier(1), joint_names=("a", "b", "d"), source=""))


def test_the_same_motion_extrapolates_nothing():
    assert extrapolation([fourier(1)], fourier(1)) == ()


def test_a_faster_motion_leaves_the_range_of_speed_and_acceleration():
    """At twice the speed positions stay, speeds double, accelerations quadruple."""
    found = extrapolation([fourier(1)], fourier(1, duration=10.0, period=5.0))
    by_signal = {s: [e for e in found if e.signal == s] for s in ("q", "dq", "ddq")}
    assert by_signal["q"] == []
    assert {e.joint for e in by_signal["dq"]} == set(NAMES)
    for signal, ratio in (("dq", 2.0), ("ddq", 4.0)):
        for excess in by_signal[signal]:
            # zero-phase filtering at ten times the highest frequency costs less than a percent
            assert abs(excess.reached) / excess.highest == pytest.approx(ratio, rel=0.03)
    findings = extrapolation_findings(found, "fast")
    assert [f.code for f in findings] == ["validation.extrapolates"] * 2
    assert "speed of a, b, c" in findings[0].message


def test_a_larger_motion_leaves_the_range_of_positions():
    found = extrapolation([fourier(1), fourier(1, size=0.5)], fourier(1, size=1.5))
    assert {e.signal for e in found} == {"q", "dq", "ddq"}
    q = next(e for e in found if e.signal == "q" and e.joint == "a")
    assert q.highest == pytest.approx(fourier(1).q[:, 0].max(), abs=0.01)
    assert 0.05 < q.share < 0.6


def test_gaps_and_short_recordings_are_judged_as_far_as_they_go():
    gappy = replace(fourier(1), breaks=(2, 5, 900), source="")
    assert extrapolation([gappy], gappy) == ()
    assert extrapolation([fourier(1)], fourier(1).interval(0.0, 0.4)) == ()
