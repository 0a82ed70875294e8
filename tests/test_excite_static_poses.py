"""Poses held still: a choice that nothing random beats, approaches from both sides, ways that keep their distance."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import robots
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.estimate.payload_fit import payload_columns
from steelyard.estimate.static_payload import static_payload
from steelyard.excite.certificate import certify
from steelyard.excite.exchange import d_optimal
from steelyard.excite.limits import JointLimit, motion_limits
from steelyard.excite.pose_candidates import APPROACH, candidate_poses, rows_at_rest
from steelyard.excite.static_poses import static_poses, visit_means
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.robot.tool import frame
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody

ARM = Path(__file__).parents[1] / "examples" / "robots" / "arm6.urdf"
MASS, CENTER = 1.27, np.array([0.01, -0.02, 0.06])  # the tool of the source [kg, m]


@pytest.fixture(scope="module")
def arm():
    robot = Robot.from_urdf(ARM)
    limits = motion_limits(robot, dict.fromkeys(robot.joint_names, JointLimit(acceleration=8.0, jerk=200.0)))
    return Model(robot, (RigidBody(),)), limits.share(0.95)


@dataclass(frozen=True)
class Pillar:
    """An obstacle in joint space: |q - place| of the second and third joint, a distance of one metre a radian."""

    place: tuple[float, float] = (0.9, 1.1)
    required: float = 0.5

    unchecked = ()
    allowed = ()

    def distance(self, q, travel=None, *, far=np.inf):
        moved = 0.0 if travel is None else np.linalg.norm(travel[:, 1:3], axis=1)
        return np.minimum(np.linalg.norm(q[:, 1:3] - self.place, axis=1) - moved, far)

    def nearest(self, q):
        return "arm and pillar"


def log_det(rows):
    flat = rows.reshape(-1, rows.shape[2])
    return np.linalg.slogdet(flat.T @ flat)[1]


def test_the_exchange_finds_the_best_of_all_choices():
    """All 220 choices of 3 out of 12 are tried, for eight draws: equal to the best within 1e-6."""
    for seed in range(8):
        rows = np.random.default_rng(seed).standard_normal((12, 2, 4))
        best = max(log_det(rows[list(three)]) for three in combinations(range(12), 3))
        assert log_det(rows[d_optimal(rows, 3)]) == pytest.approx(best, abs=1e-6)


def test_the_choice_does_not_depend_on_units_and_makes_use_of_what_is_known():
    rows = np.random.default_rng(1).standard_normal((40, 1, 3))
    assert d_optimal(rows, 5) == d_optimal(rows * [1e3, 1.0, 1e-3], 5)
    known = np.diag([1e6, 0.0, 0.0])  # the first parameter needs no more
    later = rows[d_optimal(rows, 5, prior=known)]
    assert log_det(later[:, :, 1:]) > log_det(rows[d_optimal(rows, 5)][:, :, 1:])
    assert d_optimal(np.dstack([rows, np.zeros((40, 1, 1))]), 5) == d_optimal(rows, 5)


def test_no_random_choice_of_poses_is_better(arm):
    """Of a thousand; and the deviations are four fifths of those of the mean choice."""
    model, limits = arm
    columns = payload_columns(model, frame(model.robot))
    poses = candidate_poses(model, limits, home=limits.center, count=200)
    rows = rows_at_rest(model, poses, columns=columns)[:, :, :4]
    rng = np.random.default_rng(0)
    drawn = [log_det(rows[rng.choice(200, 6, replace=False)]) for _ in range(1000)]
    chosen = log_det(rows[d_optimal(rows, 6)])
    assert chosen > max(drawn)
    assert np.exp(-(chosen - np.mean(drawn)) / 8.0) < 0.8  # ratio of geometric mean deviations


def test_e60_one_pose_is_rank_three_two_are_rank_four(arm):
    model, limits = arm
    columns = payload_columns(model, frame(model.robot))
    for count, rank in ((1, 3), (2, 4)):
        chosen = static_poses(model, limits, count=count, columns=columns)
        rows = rows_at_rest(model, chosen.poses, columns=columns).reshape(-1, 10)
        assert np.linalg.matrix_rank(rows, tol=1e-9) == rank


def test_every_pose_is_approached_from_both_sides_and_held(arm):
    model, limits = arm
    chosen = static_poses(model, limits, count=4, hold_time=0.8)
    assert [(visit.pose, visit.side) for visit in chosen.visits] == [(k, s) for k in range(4) for s in (1, -1)]
    for visit in chosen.visits:
        held = chosen.motion.at(np.linspace(visit.start, visit.stop, 9))
        assert np.abs(held.q - chosen.poses[visit.pose]).max() < 1e-12
        assert np.abs(held.dq).max() == 0.0
        before = chosen.motion.at(np.arange(visit.start - 0.5, 0.0, -0.01)).dq  # backwards from the end of the move
        last = before[np.abs(before).max(axis=1) > 1e-9][0]
        assert np.all(np.sign(last) == visit.side)  # every joint, the ones that tell nothing as well
    ends = chosen.motion.at(np.array([0.0, chosen.motion.duration]))
    assert np.allclose(ends.q, limits.center)
    assert certify(chosen.motion, model, limits, rest="jerk").passed


def test_joints_that_tell_nothing_stay_where_they_are(arm):
    """The first axis is upright: turning it changes no torque at rest."""
    model, limits = arm
    poses = candidate_poses(model, limits, home=limits.center, count=20)
    assert np.all(poses[:, 0] == limits.center[0])
    assert np.ptp(poses[:, 1]) > 0.5


def test_poses_and_ways_keep_clear_of_an_obstacle(arm):
    """A pillar in joint space that half of the straight ways would hit: the whole motion is certified clear of it."""
    model, limits = arm
    pillar = Pillar()
    free = static_poses(model, limits, count=14, seed=0)
    assert not certify(free.motion, model, limits, clearance=pillar).passed
    chosen = static_poses(model, limits, count=14, seed=0, clearance=pillar)
    certificate = certify(chosen.motion, model, limits, clearance=pillar)
    assert certificate.passed
    with pytest.raises(StudyError, match="no pose is clear"):
        static_poses(model, limits, count=2, clearance=Pillar(required=9.0))
    with pytest.raises(StudyError, match="too few poses"):
        static_poses(model, limits, count=20, candidates=40, clearance=Pillar(required=1.2))


def test_a_payload_weighed_in_the_chosen_poses_in_spite_of_stiction(arm):
    """Stiction of 0.5 to 4 N m a joint with the sign of the approach, and noise: within 1 %, by E60's cure."""
    model, limits = arm
    columns = payload_columns(model, frame(model.robot))
    chosen = static_poses(model, limits, count=8, columns=columns, step=0.01)
    motion = chosen.motion.sampled(100.0)
    payload = columns @ np.array([MASS, *(MASS * CENTER), 0, 0, 0, 0, 0, 0])
    side = np.zeros((len(motion), 1))
    moving = np.where(np.abs(motion.dq) > 1e-9, np.sign(motion.dq), 0.0)
    stiction = np.array([4.0, 4.0, 3.0, 1.0, 1.0, 0.5])
    last = np.zeros(6)
    held = np.zeros_like(moving)
    for k in range(len(side)):
        last = np.where(moving[k] != 0.0, moving[k], last)
        held[k] = last
    noise = np.random.default_rng(0).normal(0.0, 0.1, motion.q.shape)
    tau = model.torque(model.nominal + payload, motion) + stiction * held + noise
    recording = Trajectory(time=motion.time + 3.0, joint_names=motion.joint_names, q=motion.q, tau=tau)
    means, spread = visit_means(chosen, recording, delay=3.0)
    assert spread.max() < 0.15
    found = static_payload(model, means, theta=model.nominal)
    assert found.parameters[0] == pytest.approx(MASS, rel=0.01)
    assert np.abs(found.parameters[1:4] / found.parameters[0] - CENTER).max() < 2e-3


def test_offsets_are_told_with_gravity(arm):
    """With offsets among the columns the poses make both known: no deviation is infinite."""
    model, limits = arm
    whole = Model(model.robot, (RigidBody(), Offset()))
    chosen = static_poses(whole, limits, count=12)
    rows = rows_at_rest(whole, chosen.poses)
    told = rows_at_rest(whole, candidate_poses(whole, limits, home=limits.center))
    rank = [np.linalg.matrix_rank(r.reshape(-1, r.shape[2]), tol=1e-9) for r in (rows, told)]
    assert rank[0] == rank[1] > 6


def test_holds_last_whole_steps_of_any_controller(arm):
    model, limits = arm
    motion = static_poses(model, limits, count=2, hold_time=0.77, step=0.008).motion
    assert len(motion.sampled(125.0)) == round(motion.duration * 125.0) + 1


def test_where_nothing_shows_at_rest_any_poses_will_do(tmp_path):
    """Without gravity and offsets torque at rest is zero everywhere: the poses still serve to measure noise."""
    robot = robots.load(tmp_path, "tooled", gravity=(0.0, 0.0, 0.0))
    limits = motion_limits(robot, dict.fromkeys(robot.joint_names, JointLimit(acceleration=8.0, jerk=200.0)))
    assert len(static_poses(Model(robot, (RigidBody(),)), limits, count=3).poses) == 3


def test_what_cannot_be_is_refused(arm):
    model, limits = arm
    with pytest.raises(StudyError, match="too few poses"):
        static_poses(model, limits, count=30, candidates=20)
    with pytest.raises(StudyError, match="no room"):
        static_poses(model, limits, approach=9.0)
    with pytest.raises(StudyError, match="seed"):
        static_poses(model, limits, seed=-1)
    with pytest.raises(StudyError, match="deviation"):
        static_poses(model, limits, deviations=[0.0] * 6)
    with pytest.raises(StudyError, match="says anything"):
        d_optimal(np.zeros((5, 2, 3)), 2)
    with pytest.raises(StudyError, match="columns"):
        rows_at_rest(model, limits.center[None], columns=np.eye(3))
    chosen = static_poses(model, limits, count=2, step=0.01)
    short = chosen.motion.sampled(100.0).samples(0, 200)
    with pytest.raises(DataError, match="no tau"):
        visit_means(chosen, short)
    short = Trajectory(time=short.time, joint_names=short.joint_names, q=short.q, tau=0.0 * short.q)
    with pytest.raises(DataError, match="ends before a visit"):
        visit_means(chosen, short)
    assert limits.reach.min() > APPROACH
