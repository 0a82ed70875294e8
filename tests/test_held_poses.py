"""Poses held still are found in a recording, with the side of each approach; a list of visits is left as it is."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.estimate.held_poses import held_poses

JOINTS = ("shoulder", "elbow")
STOPS = np.array([[0.0, 0.0], [0.8, -0.5], [0.8, 0.4], [0.3, 0.4], [-0.6, 0.1]])
SIDES = np.array([[0, 0], [1, -1], [1, 1], [-1, 1], [-1, -1]])  # of the last motion of each joint
WEIGHT = np.array([12.0, 5.0])  # [N m]


def recording(*, rest=1.0, rate=100.0, noise=1e-5, torque_noise=0.05, transit=0.7, seed=0):
    """Half-cosines from stop to stop, `transit` [s] each, and a rest at every stop."""
    rng = np.random.default_rng(seed)
    parts = [np.tile(STOPS[0], (int(rest * rate), 1))]
    for one, other in pairwise(STOPS):
        blend = 0.5 - 0.5 * np.cos(np.pi * np.arange(int(transit * rate)) / (transit * rate))
        parts += [one + blend[:, None] * (other - one), np.tile(other, (int(rest * rate), 1))]
    q = np.vstack(parts)
    tau = WEIGHT * np.cos(q) + torque_noise * rng.normal(size=q.shape)
    return Trajectory(
        time=np.arange(len(q)) / rate, joint_names=JOINTS, q=q + noise * rng.normal(size=q.shape), tau=tau, name="poses"
    )


@pytest.mark.parametrize("noise", [0.0, 1e-5, 2e-4])
def test_rests_become_visits_with_their_sides(noise):
    """Means of 70 to 90 samples: within four deviations of 0.05 N m over the root of 70."""
    found = held_poses(recording(noise=noise))
    visits = found.trajectory
    assert found.findings == ()
    np.testing.assert_allclose(visits.q, STOPS, atol=1e-3)
    np.testing.assert_allclose(visits.tau, WEIGHT * np.cos(STOPS), atol=4.0 * 0.05 / np.sqrt(70.0) + 0.02)
    np.testing.assert_array_equal(visits.dq, SIDES)
    assert "5 rests" in visits.steps[-1]


def test_samples_of_rests_without_the_way_between():
    """A recorder that ran only while the arm was still: poses follow each other at once."""
    q = np.repeat(STOPS, 50, axis=0)
    whole = Trajectory(time=0.01 * np.arange(len(q)), joint_names=JOINTS, q=q, tau=np.cos(q))
    np.testing.assert_allclose(held_poses(whole).trajectory.q, STOPS, atol=1e-12)


@pytest.mark.parametrize("step", [1.0, 0.01])
def test_a_list_of_visits_is_left_as_it_is(step):
    q = np.repeat(STOPS, 2, axis=0)
    sides = np.tile([[1.0, 1.0], [-1.0, -1.0]], (len(STOPS), 1))
    visits = Trajectory(time=step * np.arange(len(q)), joint_names=JOINTS, q=q, dq=0.1 * sides, tau=np.cos(q))
    found = held_poses(visits).trajectory
    np.testing.assert_array_equal(found.q, q)
    np.testing.assert_array_equal(found.dq, sides)
    assert held_poses(replace(visits, dq=1e-3 * sides)).trajectory.dq is None  # noise at rest is no side
    assert len(held_poses(visits.samples(0, 1)).trajectory) == 1


def test_a_restless_pose_is_left_out():
    shaken = recording()
    tau = np.array(shaken.tau)
    tau[185:270] += 2.0 * np.sin(np.arange(85))[:, None]  # someone leans on the arm at the second stop
    found = held_poses(replace(shaken, tau=tau))
    assert [f.code for f in found.findings] == ["payload.restless_pose"]
    np.testing.assert_allclose(found.trajectory.q, STOPS[[0, 2, 3, 4]], atol=1e-3)


def test_a_recording_that_never_rests_is_refused():
    t = 0.01 * np.arange(1000)
    q = np.column_stack([np.sin(2 * t), np.cos(3 * t)])
    with pytest.raises(DataError, match="holds no pose still"):
        held_poses(Trajectory(time=t, joint_names=JOINTS, q=q, tau=q))
    with pytest.raises(DataError, match="no tau"):
        held_poses(Trajectory(time=t, joint_names=JOINTS, q=q))
