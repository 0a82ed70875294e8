"""Each fault changes what it says, nothing else, and makes a recording of its own."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.simulate import faults

NAMES = ("a", "b", "c")


@pytest.fixture
def clean():
    time = np.arange(400) / 100
    phase = np.outer(time, [1.0, 2.0, 3.0])
    return Trajectory(
        time, NAMES, q=4 * np.sin(phase), dq=np.cos(phase), tau=10 * np.cos(phase), breaks=(200,), name="clean"
    )


def test_swapped_joints_keep_their_names(clean):
    faulty = faults.swap_joints(clean, "a", "c")
    assert faulty.joint_names == NAMES
    for channel in ("q", "dq", "tau"):
        np.testing.assert_array_equal(getattr(faulty, channel), getattr(clean, channel)[:, [2, 1, 0]])
    torque_only = faults.swap_joints(clean, "a", "c", channels=("tau",))
    np.testing.assert_array_equal(torque_only.q, clean.q)
    np.testing.assert_array_equal(torque_only.tau, faulty.tau)


def test_flipped_torque(clean):
    np.testing.assert_array_equal(faults.flip_torque(clean, "b").tau, clean.tau * [1, -1, 1])


def test_degrees(clean):
    some = faults.in_degrees(clean, ["b"])
    np.testing.assert_allclose(some.q, np.where([0, 1, 0], np.degrees(clean.q), clean.q), rtol=1e-15)
    every = faults.in_degrees(clean)
    np.testing.assert_allclose(every.dq, np.degrees(clean.dq), rtol=1e-15)
    np.testing.assert_array_equal(every.tau, clean.tau)


def test_wrapped_positions(clean):
    wrapped = faults.wrap_positions(clean, "a").q
    assert wrapped[:, 0].min() >= -np.pi
    assert wrapped[:, 0].max() < np.pi
    assert np.abs(np.diff(wrapped[:, 0])).max() > 6  # 4 rad goes over the edge
    np.testing.assert_allclose(np.sin(wrapped[:, 0]), np.sin(clean.q[:, 0]), rtol=0, atol=1e-14)
    np.testing.assert_array_equal(wrapped[:, 1:], clean.q[:, 1:])


def test_late_torque_in_every_segment(clean):
    late = faults.delay_torque(clean, 0.03).tau
    np.testing.assert_allclose(late[3:200], clean.tau[:197], rtol=0, atol=1e-12)
    np.testing.assert_allclose(late[203:], clean.tau[200:-3], rtol=0, atol=1e-12)
    np.testing.assert_array_equal(late[200:203], clean.tau[[200, 200, 200]])
    between = faults.delay_torque(clean, 0.005).tau[1:200]
    np.testing.assert_allclose(between, (clean.tau[1:200] + clean.tau[:199]) / 2, rtol=0, atol=1e-12)


def test_gravity_taken_off(clean):
    gravity = np.ones_like(clean.tau) * [1, 2, 3]
    np.testing.assert_array_equal(faults.gravity_compensated(clean, gravity).tau, clean.tau - gravity)
    with pytest.raises(DataError, match="shape"):
        faults.gravity_compensated(clean, gravity[1:])


def test_saturated_and_missing_torque(clean):
    cut = faults.saturate_torque(clean, "c", 4.0).tau
    np.testing.assert_array_equal(cut, np.where([0, 0, 1], np.clip(clean.tau, -4, 4), clean.tau))
    np.testing.assert_array_equal(faults.zero_torque(clean, "c").tau, clean.tau * [1, 1, 0])


def test_dropped_samples(clean):
    thin = faults.drop_samples(clean, fraction=0.03, seed=4)
    assert len(thin) == 400 - round(0.03 * 398)
    assert (thin.time[0], thin.time[-1]) == (clean.time[0], clean.time[-1])
    np.testing.assert_array_equal(thin.q, clean.q[np.isin(clean.time, thin.time)])
    assert thin.time[thin.breaks[0]] >= clean.time[200] > thin.time[thin.breaks[0] - 1]
    assert faults.drop_samples(clean, seed=4).source == thin.source
    assert faults.drop_samples(clean, seed=5).source != thin.source
    with pytest.raises(StudyError, match="fraction"):
        faults.drop_samples(clean, fraction=1.0)


def test_a_gap(clean):
    gap = faults.cut_gap(clean, 1.0, 1.5)
    assert np.diff(gap.time).max() == pytest.approx(0.5)
    assert len(gap) == 400 - 49
    assert gap.breaks == (200 - 49,)


def test_a_gap_up_to_the_end_takes_the_segment_along(clean):
    assert faults.cut_gap(clean, 1.995, 99.0).breaks == ()
    assert faults.cut_gap(clean, -1.0, 1.995).breaks == ()


def test_clock_faults_are_what_a_trajectory_refuses(clean):
    back = faults.step_clock_back(clean, 100, 0.02)
    assert back.names == ("time_s", *(f"{c}/{j}" for c in ("q", "dq", "tau") for j in NAMES))
    assert np.flatnonzero(np.diff(back.values[:, 0]) <= 0).tolist() == [99]
    twice = faults.repeat_stamp(clean, 50)
    assert np.flatnonzero(np.diff(twice.values[:, 0]) == 0).tolist() == [49]
    for raw in (back, twice):
        with pytest.raises(DataError, match="clock does not advance"):
            Trajectory(raw.values[:, 0], NAMES, q=raw.values[:, 1:4])
        np.testing.assert_array_equal(raw.values[:, 1:], np.column_stack([clean.q, clean.dq, clean.tau]))


def test_nan_is_put_where_asked(clean):
    raw = faults.put_nan(clean, "b", 7, count=3)
    assert {tuple(place) for place in np.argwhere(np.isnan(raw.values))} == {(7, 8), (8, 8), (9, 8)}
    assert raw.names[8] == "tau/b"


@pytest.mark.parametrize(
    "faulty",
    [
        lambda t: faults.flip_torque(t, "a"),
        lambda t: faults.in_degrees(t),
        lambda t: faults.delay_torque(t, 0.01),
        lambda t: faults.cut_gap(t, 1, 2),
    ],
)
def test_a_faulty_recording_has_a_source_of_its_own(clean, faulty):
    assert faulty(clean).source != clean.source
    assert faulty(clean).source == faulty(clean).source


def test_names_that_are_not_there_are_refused(clean):
    with pytest.raises(DataError, match="no such joint"):
        faults.flip_torque(clean, "d")
    with pytest.raises(StudyError, match="no such channel"):
        faults.swap_joints(clean, "a", "b", channels=("current",))
    with pytest.raises(DataError, match="no such joint"):
        faults.put_nan(clean, "d", 1)
    with pytest.raises(DataError, match="has no ddq"):
        faults.put_nan(clean, "a", 1, channel="ddq")
