"""Faults put into simulated recordings are found and named, and clean ones raise no alarm."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulated_runs import run, spliced, with_load
from steelyard.assess.plausible import plausibility
from steelyard.assess.recording import RecordingReport, check_recording
from steelyard.assess.reduced_motion import reduced_motion
from steelyard.assess.torque_sense import torque_sense
from steelyard.assess.zero_torque import gravity_torque
from steelyard.data.trajectory import Trajectory
from steelyard.robot.robot import Robot
from steelyard.simulate import faults
from steelyard.simulate.robots import robot_file

ARMS, SEEDS = ("arm7", "arm6"), (0, 1, 2)


def loud(report: RecordingReport) -> list[tuple[str, str]]:
    """(code, where) of every finding that is more than information."""
    return [(f.code, f.where) for f in report.findings if f.level != "info"]


def stories(trajectory: Trajectory, robot: Robot) -> list[tuple[str, tuple[int, ...]]]:
    reduced = reduced_motion(trajectory, robot, above=10.0)
    assert reduced is not None
    return [(story.kind, story.joints) for story in torque_sense(robot, reduced).told]


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_clean_recording_raises_no_alarm(arm, seed):
    made = run(arm, seed)
    report = check_recording(made.recording, made.robot)
    assert loud(report) == []
    assert [f.code for f in report.findings] == ["data.synthetic_stamps"]  # simulated stamps are counted, not measured
    # a friction model that is MuJoCo's only away from standstill leaves up to 0.3 ms of apparent delay
    assert report.statistics.delay is not None
    assert abs(report.statistics.delay.delay) < 5e-4
    assert report.statistics.payload.explains < 0.05
    assert report.statistics.gravity.angle < np.radians(1.0)


@pytest.mark.parametrize(("arm", "seed"), [("arm7", 0), ("arm7", 1), ("arm7", 2), ("arm6", 1)])
def test_a_delay_of_5_ms_is_found_within_half_a_millisecond(arm, seed):
    made = run(arm, seed)
    late = check_recording(faults.delay_torque(made.recording, 0.005), made.robot)
    assert [code for code, _ in loud(late)] == ["data.delay"]
    found = late.statistics.delay
    assert found.delay == pytest.approx(0.005, abs=5e-4)
    assert abs(found.delay - 0.005) < 4 * found.deviation
    assert "later" in late.findings[-1].message


@pytest.mark.parametrize("delay", [-0.005, 0.002, 0.12])
def test_other_delays(delay):
    made = run("arm7", 1)
    report = check_recording(faults.delay_torque(made.recording, delay), made.robot)
    assert [code for code, _ in loud(report)] == ["data.delay"]
    assert report.statistics.delay.delay == pytest.approx(delay, abs=5e-4)


@pytest.mark.parametrize("arm", ARMS)
def test_every_turned_torque_is_named(arm):
    made = run(arm, 2)
    for j, joint in enumerate(made.robot.joint_names):
        assert stories(faults.flip_torque(made.recording, joint), made.robot) == [("torque_turned", (j,))]


@pytest.mark.parametrize("turned", [range(7), (0, 2, 4), (0, 1, 2, 3, 4)])
def test_several_torques_turned(turned):
    made = run("arm7", 0)
    sign = np.where(np.isin(np.arange(7), turned), -1.0, 1.0)
    report = check_recording(replace(made.recording, tau=sign * made.recording.tau, source=""), made.robot)
    assert loud(report) == [("data.torque_sign", made.robot.joint_names[j]) for j in turned]


@pytest.mark.parametrize("pair", [(0, 6), (1, 3), (2, 4), (4, 5), (5, 6)])
def test_exchanged_joints_are_named(pair):
    made = run("arm7", 0)
    first, second = (made.robot.joint_names[j] for j in pair)
    swapped = faults.swap_joints(made.recording, first, second)
    assert stories(swapped, made.robot) == [("joints_exchanged", pair)]
    swapped = faults.swap_joints(made.recording, first, second, channels=("tau",))
    assert stories(swapped, made.robot) == [("torques_exchanged", pair)]


def test_exchanged_and_turned():
    """The column of joint_2 is joint_4's and upside down: put right, joint_4's torque is the one to turn."""
    made = run("arm7", 0)
    both = faults.flip_torque(faults.swap_joints(made.recording, "joint_2", "joint_4"), "joint_2")
    found = [(f.code, f.where) for f in check_recording(both, made.robot).findings if f.level == "error"]
    assert found == [("data.joint_order", "joint_2, joint_4"), ("data.torque_sign", "joint_4")]


def test_names_in_alphabetical_order():
    """Three joints in a ring: two exchanges put it right."""
    made = run("arm7", 1)
    order = [2, 0, 1, 3, 4, 5, 6]
    parts = {c: made.recording.channel(c)[:, order] for c in ("q", "tau")}
    told = stories(replace(made.recording, source="", **parts), made.robot)
    assert [kind for kind, _ in told] == ["joints_exchanged"] * 2
    for _, (i, j) in told:
        order[i], order[j] = order[j], order[i]
    assert order == list(range(7))


def test_findings_on_sign_and_order_are_worded_with_joint_and_cure():
    made = run("arm7", 0)
    report = check_recording(faults.swap_joints(made.recording, "joint_5", "joint_6"), made.robot)
    (finding,) = [f for f in report.findings if f.code == "data.joint_order"]
    assert (finding.level, finding.value) == ("error", "joint_5 <-> joint_6")
    assert "joint_5 and joint_6" in finding.message
    assert "%" in finding.message
    report = check_recording(faults.flip_torque(made.recording, "joint_1"), made.robot)
    assert loud(report) == [("data.torque_sign", "joint_1")]
    assert '"tau/joint_1" = -1' in report.findings[-1].cure


@pytest.mark.parametrize(("arm", "seed"), [("arm7", 0), ("arm6", 0), ("arm6", 1), ("arm6", 2)])
def test_torque_without_gravity(arm, seed):
    made = run(arm, seed)
    weight = gravity_torque(made.robot, made.recording, most=len(made.recording))
    report = check_recording(faults.gravity_compensated(made.recording, weight), made.robot)
    assert [code for code, _ in loud(report)] == ["data.gravity_compensated"]
    assert report.statistics.gravity.size < 0.5


@pytest.mark.parametrize(
    "gravity", [(0.0, 0.0, 9.81), (9.81, 0.0, 0.0), (0.0, -6.937, -6.937), (1.7, 0.0, -9.66), (0.0, 0.0, 0.0)]
)
def test_a_robot_that_is_mounted_otherwise(gravity):
    """The robot stands upright; its model hangs, lies on its side, leans by 45 or by 10 degrees, or floats in space."""
    made = run("arm7", 1)
    report = check_recording(made.recording, replace(made.robot, gravity=np.array(gravity)))
    assert [code for code, _ in loud(report)] == ["data.gravity_direction"]
    # the masses are the true ones: the deviation is of friction near standstill
    assert report.statistics.gravity.vector == pytest.approx((0.0, 0.0, -9.81), abs=0.1)


def test_wrong_inertials_raise_no_alarm():
    """Placeholders, and masses far too large or too small: nothing about the recording is wrong."""
    made = run("arm7", 2)
    placeholder = np.array([1.0, 0, 0, 0, 1.0, 0, 1.0, 0, 0, 1.0])
    rng = np.random.default_rng(0)
    for change in (
        lambda p: placeholder,
        lambda p: 8.0 * p,
        lambda p: 0.1 * p,
        lambda p: p * np.exp(rng.normal(0.0, 0.6)),
    ):
        links = tuple(
            link if link.parameters is None else replace(link, parameters=change(link.parameters))
            for link in made.robot.links
        )
        assert stories(made.recording, replace(made.robot, links=links)) == []


def test_zero_torque():
    made = run("arm7", 0)
    report = check_recording(faults.zero_torque(made.recording, "joint_1"), made.robot)
    assert loud(report) == [("data.torque_zero", "joint_1")]
    silent = replace(made.recording, tau=1e-3 * np.sign(made.recording.tau), source="")
    report = check_recording(silent, made.robot)
    assert ("data.torque_zero", "joint_2") in loud(report)
    nothing = replace(made.recording, tau=np.zeros_like(made.recording.tau), source="")
    assert loud(check_recording(nothing)) == [("data.torque_zero", "all joints")]
    stuck = made.recording.tau.copy()
    stuck[:, 3] = 4.2
    report = check_recording(replace(made.recording, tau=stuck, source=""), made.robot)
    assert loud(report) == [("data.torque_constant", "joint_4")]


@pytest.mark.parametrize(("joint", "share"), [("joint_2", 0.6), ("joint_7", 0.9)])
def test_saturated_torque(joint, share):
    made = run("arm7", 0)
    j = made.robot.joint_names.index(joint)
    limit = share * float(np.abs(made.recording.tau[:, j]).max())
    report = check_recording(faults.saturate_torque(made.recording, joint, limit), made.robot)
    assert set(loud(report)) == {("data.saturation", joint)}
    levels = [abs(f.value) for f in report.findings if f.code == "data.saturation"]
    assert levels == pytest.approx([limit] * len(levels))


def test_torque_at_the_effort_limit():
    made = run("arm7", 0)
    limit = 0.6 * float(np.abs(made.recording.tau[:, 1]).max())
    axes = tuple(replace(a, effort=limit) if a.name == "joint_2" else a for a in made.robot.axes)
    clipped = faults.saturate_torque(made.recording, "joint_2", limit)
    report = check_recording(clipped, replace(made.robot, axes=axes))
    (finding,) = [f for f in report.findings if f.code == "data.saturation"]
    assert "effort limit" in finding.message


@pytest.mark.parametrize("load", [0.2, 1.0])
def test_a_change_of_load(load, tmp_path):
    made = run("arm7", 1)
    loaded = spliced(made.recording, with_load("arm7", 1, load, tmp_path), at=5.5)
    report = check_recording(loaded, made.robot)
    assert [code for code, _ in loud(report)] == ["data.payload_change"]
    found = report.statistics.payload
    # the windows are 10 s / 24 long, and the best edge may lie on either side of the change
    assert found.time == pytest.approx(5.5, abs=10 / 24)
    assert found.mass == pytest.approx(load, abs=max(4 * found.deviation, 0.02 * load))


def test_degrees():
    made = run("arm7", 0)
    report = check_recording(faults.in_degrees(made.recording), made.robot)
    assert loud(report) == [("data.units_suspect", made.recording.name)]
    assert "all 7 joints" in report.findings[-1].message
    assert report.statistics.delay is None  # nothing is asked of the model with such numbers
    report = check_recording(faults.in_degrees(made.recording, ["joint_4"]), made.robot)
    assert loud(report) == [("data.units_suspect", "joint_4")]
    assert '"q/joint_4" = "deg"' in report.findings[-1].cure


def test_lost_samples_and_gaps():
    made = run("arm7", 0)
    lost = check_recording(faults.drop_samples(made.recording), made.robot)
    assert [code for code, _ in loud(lost)] == ["data.gap"]
    assert lost.statistics.sampling.missing_share == pytest.approx(0.03, abs=0.001)  # 150 of 5001 are gone
    assert "3 % of the samples" in next(f for f in lost.findings if f.code == "data.gap").message
    gap = check_recording(faults.cut_gap(made.recording, 4.0, 4.5), made.robot)
    assert [code for code, _ in loud(gap)] == ["data.gap"]
    assert gap.statistics.sampling.longest == pytest.approx((0.5, 4.0), abs=0.003)


def test_the_order_of_columns_carries_no_meaning():
    made = run("arm6", 0)
    report = check_recording(
        made.recording.ordered(made.robot.joint_names[::-1]), Robot.from_urdf(robot_file("arm6.urdf"))
    )
    assert loud(report) == []


def test_velocities_that_are_not_of_the_positions():
    made = run("arm6", 1)
    clean = made.noise_free
    assert loud(check_recording(clean, made.robot)) == []
    wrong = clean.dq.copy()
    wrong[:, 1] *= 1.2
    late = np.roll(clean.dq[:, 3], 10)  # 20 ms
    wrong[:, 3] = late
    report = check_recording(replace(clean, dq=wrong, source=""), made.robot)
    found = {f.where: f for f in report.findings if f.code == "data.dq_mismatch"}
    assert set(found) == {"shoulder", "forearm_roll"}
    assert "gain 1.2" in found["shoulder"].message
    # rolled by ten samples, the end stands at the beginning: that moves the best delay by some tenths of a millisecond
    assert report.statistics.velocity["forearm_roll"].delay == pytest.approx(0.02, abs=5e-4)
    assert "ms late" in found["forearm_roll"].message
    degrees = replace(clean, ddq=np.degrees(clean.ddq), source="")
    report = check_recording(degrees, made.robot)
    assert {f.where for f in report.findings if f.code == "data.ddq_mismatch"} == set(made.robot.joint_names)
    assert "degrees" in report.findings[-1].message


def test_a_clock_that_runs_wrong_shows_in_all_velocities_alike():
    made = run("arm6", 1)
    slow = replace(made.noise_free, time=1.25 * made.noise_free.time, ddq=None, source="")
    report = check_recording(slow)
    found = [f for f in report.findings if f.level == "warning"]
    assert [f.code for f in found] == ["data.synthetic_stamps"]
    assert found[0].value == pytest.approx(1.25, abs=0.01)


@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_torque_that_is_a_current_or_of_the_motors(factor):
    """All else fits: gravity comes from the right side, and every sign and order agrees."""
    made = run("arm7", 0)
    scaled = replace(made.recording, tau=factor * made.recording.tau, source="")
    found = [f for f in plausibility(scaled, made.robot) if f.level != "info"]
    assert [f.code for f in found] == ["data.units_suspect"]
    assert "torque" in found[0].message
    assert float(found[0].value) == pytest.approx(factor, rel=0.1)
    assert not [f for f in plausibility(made.recording, made.robot) if f.level != "info"]
