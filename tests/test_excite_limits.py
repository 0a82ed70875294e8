"""Limits of motions, and the rows that keep them at every instant."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import robots
from steelyard.errors import StudyError
from steelyard.excite.envelope import Envelope, envelope_of
from steelyard.excite.fourier import FourierFamily, FourierMotion, distinct_harmonics, shared_harmonics
from steelyard.excite.limits import JointLimit, MotionLimits, motion_limits

FULL = JointLimit(acceleration=4.0, jerk=100.0)


def some_limits(n=3):
    scale = np.arange(1.0, n + 1.0)
    return MotionLimits(
        tuple(f"j{k}" for k in range(n)), -scale, 2.0 * scale, 1.5 * scale, 3.0 * scale, 40.0 * scale, 9.0 * scale
    )


def table(robot, **changes):
    return {name: replace(FULL, **changes) for name in robot.joint_names}


def test_model_file_and_limits_file_together(tmp_path):
    robot = robots.load(tmp_path, "tooled")  # +-3 rad, 5 rad/s, 100 N m
    given = {"yaw": JointLimit(-1.0, 4.0, 2.0, 6.0, np.inf, 50.0), "pitch": FULL}
    limits = motion_limits(robot, given)
    assert limits.lower.tolist() == [-1.0, -3.0]
    assert limits.upper.tolist() == [3.0, 3.0]
    assert limits.velocity.tolist() == [2.0, 5.0]
    assert limits.acceleration.tolist() == [6.0, 4.0]
    assert limits.jerk.tolist() == [np.inf, 100.0]
    assert limits.effort.tolist() == [50.0, 100.0]


def test_no_joint_turns_farther_than_needed(tmp_path):
    robot = robots.load(tmp_path, "tooled")
    limits = motion_limits(robot, table(robot), turn=1.0)
    assert limits.lower.tolist() == [-1.0, -1.0]


@pytest.mark.parametrize("quantity", ["acceleration", "jerk"])
def test_a_missing_limit_is_asked_for(tmp_path, quantity):
    robot = robots.load(tmp_path, "tooled")
    with pytest.raises(StudyError, match=f"no {quantity} limit is known") as caught:
        motion_limits(robot, {**table(robot), "pitch": replace(FULL, **{quantity: None})}, where="my.yaml")
    assert caught.value.where == "joint pitch"
    assert "my.yaml" in caught.value.cure
    assert f"has_{quantity}_limits: true, max_{quantity}" in caught.value.cure


def test_nothing_is_made_up(tmp_path):
    robot = robots.load(tmp_path, "rail")  # its slide has limits, its endless joint "spin" has no velocity limit
    with pytest.raises(StudyError, match="no velocity limit") as caught:
        motion_limits(robot, table(robot))
    assert caught.value.where == "joint spin"
    limits = motion_limits(robot, table(robot, velocity=2.0))
    assert limits.upper.tolist() == [3.0, np.pi, 3.0]


def test_an_endless_acceleration_is_no_limit(tmp_path):
    robot = robots.load(tmp_path, "tooled")
    with pytest.raises(StudyError, match="no acceleration limit"):
        motion_limits(robot, table(robot, acceleration=np.inf))


@pytest.mark.parametrize("quantity", ["velocity", "acceleration", "jerk", "effort"])
def test_a_limit_of_zero_is_an_error(tmp_path, quantity):
    robot = robots.load(tmp_path, "tooled")
    with pytest.raises(StudyError, match=quantity) as caught:
        motion_limits(robot, table(robot, **{quantity: 0.0}))
    assert caught.value.where == "joint yaw"


def test_no_room(tmp_path):
    robot = robots.load(tmp_path, "tooled")
    with pytest.raises(StudyError, match="no room"):
        motion_limits(robot, table(robot, lower=1.0, upper=1.0))


def test_a_joint_that_is_not_there(tmp_path):
    robot = robots.load(tmp_path, "tooled")
    with pytest.raises(StudyError, match="not a joint") as caught:
        motion_limits(robot, {**table(robot), "joint_9": FULL})
    assert caught.value.choices == ("yaw", "pitch")
    held = robot.locked(["pitch"])
    assert motion_limits(held, table(robot)).joint_names == ("yaw",)


def test_a_share_of_the_limits():
    limits = some_limits().share(0.5)
    assert limits.lower.tolist() == [-0.25, -0.5, -0.75]
    assert limits.velocity.tolist() == [0.75, 1.5, 2.25]
    for share in (0.0, 1.1, float("nan")):
        with pytest.raises(StudyError, match="share"):
            some_limits().share(share)


@pytest.mark.parametrize("rest", ["free", "acceleration"])
@pytest.mark.parametrize("harmonics", [shared_harmonics(3, 5), distinct_harmonics(3, 3)])
def test_what_keeps_the_rows_keeps_the_limits_everywhere(rest, harmonics):
    """10 random motions that touch their rows, at 10 000 instants; and no more than 0.5 % is given away."""
    limits, family = some_limits(), FourierFamily(6.0, harmonics, rest)
    envelope = envelope_of(family, limits)
    times = np.arange(10_000) * 6.0 / 10_000
    for seed in range(10):
        x = np.random.default_rng(seed).standard_normal((3, family.variables))
        x /= envelope.gauge(x)[:, None]
        q, dq, ddq, dddq = FourierMotion(limits.joint_names, family, family.coefficients(x)).at(times)
        use = np.stack([
            np.abs(q).max(axis=0) / limits.reach, np.abs(dq).max(axis=0) / limits.velocity,
            np.abs(ddq).max(axis=0) / limits.acceleration, np.abs(dddq).max(axis=0) / limits.jerk,
        ]).max(axis=0)  # fmt: skip
        assert np.all(use <= 1.0)
        assert np.all(use >= np.cos(np.pi / 32))


def test_no_jerk_rows_without_jerk_limits():
    limits, family = some_limits(), FourierFamily(6.0, shared_harmonics(3, 5))
    endless = replace(limits, jerk=np.full(3, np.inf))
    assert envelope_of(family, endless).rows.shape[1] * 4 == envelope_of(family, limits).rows.shape[1] * 3


def test_the_barrier_and_its_derivatives():
    rng = np.random.default_rng(3)
    envelope = Envelope(rng.standard_normal((2, 30, 4)))
    x, step = rng.standard_normal((2, 4)), rng.standard_normal((2, 4))
    x *= (0.5 / envelope.gauge(x))[:, None]
    z = envelope.fill(x)
    found = envelope.barrier(x)
    assert found.value == pytest.approx(-np.sum(np.log(1.0 - z**2)), rel=1e-13)
    ends = [envelope.barrier(x + s * 1e-5 * step) for s in (1.0, -1.0)]
    assert (ends[0].value - ends[1].value) / 2e-5 == pytest.approx(np.sum(found.gradient * step), rel=1e-8)
    bent = (ends[0].gradient - ends[1].gradient) / 2e-5
    assert np.allclose(np.einsum("nij,nj->ni", found.curvature, step), bent, rtol=1e-7)
