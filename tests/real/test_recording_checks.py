"""The findings on four recordings of real robots, each looked at: every one is true, and there are no others.

Why each is true:

panda_gaz: the stamps step by 0.7 to 8.8 ms about 1 ms, 504 of them by 1.5 ms and more, so that 2.5 % of the samples a
    1 kHz recorder takes are missing; 6 % of the rows repeat the row before to the last digit while all joints move;
    the recorded velocities follow the positions with gain 1.000 and remainders of half a percent, 4.8 to 5.8 ms late
    (the drive filters them); the trajectory starts again after 13.33 s, as its description says.
panda_unisa: 14 of 727 rows repeat the row before while the arm moves; the torque of joint 1, which carries no weight,
    swings by 1 to 2 N m from one sample to the next (a quarter of its energy lies above 8 Hz of 15), while its slow
    part has a deviation of 0.7 N m.
ur10_unisa: every step is 8 ms to the last digit; nothing else.
tx40: every step is 0.2 ms to the last digit; the arm stands still after 7.5 of 9 s.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.assess.extrapolation import extrapolation
from steelyard.assess.leakage import leakage, leakage_findings
from steelyard.assess.recording import check_recording
from steelyard.assess.reduced_motion import reduced_motion
from steelyard.assess.torque_sense import torque_sense
from steelyard.assess.zero_torque import gravity_torque
from steelyard.formats.csv import read_csv
from steelyard.robot.robot import Robot
from steelyard.simulate import faults

FILES = {
    "panda_gaz": ("panda_gaz/raw.csv", "panda_gaz/panda.urdf"),
    "panda_unisa": ("panda_unisa/raw.csv", "panda_gaz/panda.urdf"),
    "ur10_unisa": ("ur10_unisa/raw.csv", "ur10_unisa/ur10.urdf"),
    "tx40": ("tx40/joint_side.csv", "tx40/tx40.urdf"),
}
FINDINGS = {
    "panda_gaz": [
        ("data.gap", "warning", "raw.csv"),
        ("data.irregular_stamps", "warning", "raw.csv"),
        ("data.repeated_samples", "warning", "raw.csv"),
        ("data.dq_mismatch", "info", "raw.csv"),
        ("data.repeats", "info", "raw.csv"),
    ],
    "panda_unisa": [
        ("data.repeated_samples", "warning", "raw.csv"),
        ("data.noise_dominated", "warning", "panda_joint1"),
    ],
    "ur10_unisa": [("data.synthetic_stamps", "info", "raw.csv")],
    "tx40": [
        ("data.synthetic_stamps", "info", "joint_side.csv"),
        ("data.standstill", "warning", "joint_side.csv"),
    ],
}


@pytest.fixture(scope="module")
def recordings(real_data):
    """Name -> (recording, robot with its joints)."""
    found = {}
    for name, (log, model) in FILES.items():
        recording = read_csv(real_data / log)
        found[name] = recording, Robot.from_urdf(real_data / model).for_joints(recording.joint_names)
    return found


@pytest.fixture(scope="module")
def reports(recordings):
    return {name: check_recording(*pair) for name, pair in recordings.items()}


@pytest.mark.parametrize("name", FILES)
def test_the_findings_are_these_and_no_others(reports, name):
    report = reports[name]
    assert [(f.code, f.level, f.where) for f in report.findings] == FINDINGS[name]


def test_their_numbers(recordings, reports):
    gaz = reports["panda_gaz"]
    values = {f.code: f.value for f in gaz.findings}
    steps = np.diff(recordings["panda_gaz"][0].time)
    assert gaz.statistics.sampling.late == np.count_nonzero(steps > 1.5e-3) == 504
    assert values["data.dq_mismatch"] == pytest.approx(5.3e-3, abs=0.5e-3)
    assert values["data.repeats"] == pytest.approx(13.33, abs=0.05)
    assert reports["tx40"].statistics.still_at_end == pytest.approx(9.0 - 7.5, abs=0.2)
    for name in FILES:
        found = reports[name].statistics
        assert abs(found.delay.delay) < 4 * found.delay.deviation  # torque and motion come together, as far as is told
        # all stand upright; the masses of the model files are right to some fifteen percent
        assert found.gravity.angle < np.radians(1.5)
        assert found.gravity.multiple == pytest.approx(0.93, abs=0.1)


@pytest.mark.parametrize("name", FILES)
def test_how_they_stand_is_told_whatever_the_model_says(recordings, name):
    recording, robot = recordings[name]
    for gravity in ((0.0, 0.0, 9.81), (9.81, 0.0, 0.0), (0.0, 6.9, -6.9)):
        tilted = replace(robot, gravity=np.array(gravity))
        sense = torque_sense(tilted, reduced_motion(recording, tilted, above=10.0))
        assert [f.code for f in sense.findings] == ["data.gravity_direction"]
        upright = sense.robot.gravity / np.linalg.norm(sense.robot.gravity)
        assert np.degrees(np.arccos(-upright[2])) < 1.5


@pytest.mark.parametrize("name", FILES)
def test_no_alarm_on_pieces_of_them(recordings, name):
    recording, robot = recordings[name]
    duration = recording.time[-1]
    for part in (recording.interval(0.0, 0.6 * duration), recording.interval(0.4 * duration, duration)):
        codes = {f.code for f in check_recording(part, robot).findings if f.level != "info"}
        assert codes <= {code for code, level, _ in FINDINGS[name] if level != "info"}


# A wrist whose torque is friction alone: exchanged with its neighbour, it fits as well as before, and nothing is said.
ALIKE = {"ur10_unisa": {(4, 5)}, "tx40": {(3, 4), (4, 5)}}


@pytest.mark.parametrize("name", FILES)
def test_faults_put_into_them_are_named_or_nothing_is_said(recordings, name):
    recording, robot = recordings[name]
    recording = recording.ordered(robot.joint_names)
    joints = robot.joint_names

    def told(faulty):
        sense = torque_sense(robot, reduced_motion(faulty, robot, above=10.0))
        return [(story.kind, story.joints) for story in sense.told]

    for j in range(0, len(joints), 2):
        assert told(faults.flip_torque(recording, joints[j])) == [("torque_turned", (j,))]
    for pair in ((1, 2), (3, 4), (4, 5)):
        expected = [] if pair in ALIKE.get(name, ()) else [("joints_exchanged", pair)]
        assert told(faults.swap_joints(recording, joints[pair[0]], joints[pair[1]])) == expected
    torque_only = faults.swap_joints(recording, joints[0], joints[4], channels=("tau",))
    assert told(torque_only) == [("torques_exchanged", (0, 4))]
    weight = gravity_torque(robot, recording, most=len(recording))
    assert told(faults.gravity_compensated(recording, weight)) == [("gravity", ())]


def test_a_delay_put_into_the_panda(recordings, reports):
    recording, robot = recordings["panda_gaz"]
    before = reports["panda_gaz"].statistics.delay
    late = check_recording(faults.delay_torque(recording, 0.005), robot)
    assert "data.delay" in {f.code for f in late.findings}
    assert late.statistics.delay.delay - before.delay == pytest.approx(0.005, abs=5e-4)


def test_the_panda_repeats_its_motion(recordings):
    recording, _ = recordings["panda_gaz"]
    honest = leakage([recording.interval(0.0, 9.3)], recording.interval(9.3, 13.3))
    assert honest.share == 0.0
    leaky = leakage([recording.interval(0.0, 13.3)], recording.interval(13.3, 20.0))
    assert leaky.share > 0.95
    assert leaky.lag == pytest.approx(13.33, abs=0.02)
    assert [f.code for f in leakage_findings(leaky, "raw.csv")] == ["validation.repeats_training"]
    other, _ = recordings["panda_unisa"]
    assert leakage([recording], other).share == 0.0


def test_where_the_second_panda_leaves_the_range_of_the_first(recordings):
    found = extrapolation([recordings["panda_gaz"][0]], recordings["panda_unisa"][0])
    assert {e.signal for e in found} == {"q"}  # it moves slower, but elsewhere
    back = extrapolation([recordings["panda_unisa"][0]], recordings["panda_gaz"][0])
    assert {e.joint for e in back if e.signal == "dq"} == set(recordings["panda_gaz"][0].joint_names)
