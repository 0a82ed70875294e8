"""What a study file asks of preparation and intervals happens: cut-offs by joint, decimation, exclusion, delay."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import arm
import robots
import steelyard as sy
from steelyard.assess.plausible import signal_findings
from steelyard.errors import DataError, ModelError, StudyError
from steelyard.estimate.validate import validate_recording
from steelyard.formats.study import parse_study
from steelyard.preparation.mask import mask_intervals
from steelyard.preparation.pipeline import prepare_recording
from steelyard.session.delays import delay_to_take_out, without_delay
from steelyard.session.run import Request, run
from steelyard.session.workflow import prediction_of
from steelyard.simulate.robots import robot_file
from steelyard.terms.names import terms_named

ROBOT = arm.model().robot
TERMS = terms_named(arm.RIGID_AND_FRICTION)


def recorded(seed: int, *, late: float = 0.0):
    """Twelve seconds at 200 Hz with white noise of a twentieth of NOISE; the torque is `late` [s]."""
    reference, rng = arm.reference(seed=seed), np.random.default_rng(seed)
    t = np.arange(2400) / 200.0

    def at(time):
        path = sy.Trajectory(time, ROBOT.joint_names, reference.position(time), reference.velocity(time),
                             reference.acceleration(time))  # fmt: skip
        return path, arm.model().torque(arm.truth(), path)

    path, _ = at(t)
    tau = at(t - late)[1] + 0.05 * np.array(arm.NOISE) * rng.normal(size=(t.size, 7))
    return sy.Trajectory(t, ROBOT.joint_names, path.q, tau=tau, name=f"run {seed}")


def test_a_cutoff_by_joint_filters_that_joint_and_sets_torque_to_the_lowest():
    run_ = recorded(1)
    auto = prepare_recording(run_, ROBOT)
    own = prepare_recording(run_, ROBOT, cutoff={"joint_7": 1.5})
    assert own.lowpass.cutoff == 1.5
    assert "joint_7" in own.cutoff.reason
    assert np.array_equal(own.trajectory.q[:, :6], auto.trajectory.q[:, :6])
    assert not np.allclose(own.trajectory.q[:, 6], auto.trajectory.q[:, 6], atol=1e-6)
    above = prepare_recording(run_, ROBOT, cutoff={"joint_7": auto.lowpass.cutoff + 5.0})
    assert above.lowpass.cutoff == auto.lowpass.cutoff
    with pytest.raises(DataError, match='did you mean "joint_7"'):
        prepare_recording(run_, ROBOT, cutoff={"joint7": 4.0})
    with pytest.raises(DataError, match="half its sampling rate"):
        prepare_recording(run_, ROBOT, cutoff={"joint_7": 120.0})


def test_decimation_counts_samples_of_the_recording():
    for every in (7, 40):
        found = sy.identify(ROBOT, [sy.Recording(recorded(1))], terms=TERMS, decimate_by=every)
        assert found.prepared[0].lowpass.keep_every == every
        assert len(found.prepared[0].trajectory) == 2400
        assert found.estimate.information.samples == pytest.approx(2280 / every, rel=0.02)  # slow rows aside


def test_contact_is_left_out():
    """A push of 20 N m on one joint for a second: without that second the estimate is as it would have been."""
    clean = recorded(1)
    pushed = np.array(clean.tau)
    pushed[(clean.time >= 4.0) & (clean.time <= 5.0), 1] += 20.0
    spoilt = sy.Recording(replace(clean, tau=pushed, source=""))
    theta = [
        sy.identify(ROBOT, [r], terms=TERMS, estimator="weighted", exclude=exclude).estimate
        for r, exclude in ((sy.Recording(clean), ()), (spoilt, ()), (spoilt, ((4.0, 5.0),)))
    ]
    away = [np.linalg.norm((e.theta - theta[0].theta) / theta[0].deviation) for e in theta]
    assert away[2] < 0.2 * away[1]
    masked = mask_intervals(clean, [(4.0, 5.0)], margin=0.1)
    inside = (clean.time >= 3.9 - 1e-9) & (clean.time <= 5.1 + 1e-9)
    assert np.array_equal(~masked.valid[:, 0], inside)
    with pytest.raises(StudyError, match="earlier one first"):
        mask_intervals(clean, [(5.0, 4.0)])


def test_torque_that_was_cut_off_is_not_fitted():
    """The second joint's torque cut at 60 % of its peak: with those rows masked the estimate stays where it was."""
    clean = recorded(1)
    limit = 0.6 * np.abs(clean.tau[:, 1]).max()
    cut = np.array(clean.tau)
    cut[:, 1] = np.clip(cut[:, 1], -limit, limit)
    spoilt = replace(clean, tau=cut, source="")
    whole, masked = (sy.identify(ROBOT, [sy.Recording(r)], terms=TERMS, estimator="weighted") for r in (clean, spoilt))
    assert masked.estimate.information.rows[1] < 0.9 * whole.estimate.information.rows[1]
    assert masked.estimate.information.rows[2] == whole.estimate.information.rows[2]
    other = arm.motion(seed=9, rate=50.0)
    wanted = arm.model().torque(arm.truth(), other)[:, 1]
    errors = [
        np.linalg.norm(arm.model().torque(found.estimate.full(arm.model().names), other)[:, 1] - wanted)
        for found in (whole, masked)
    ]
    assert errors[1] < 3.0 * errors[0]
    assert errors[1] < 0.02 * np.linalg.norm(wanted)


@pytest.mark.parametrize("late", [0.005, -0.004])
def test_the_delay_is_estimated_and_taken_out_of_every_run(late):
    """To half a millisecond; predictions lie on the clock of the late torque again."""
    train, unseen = recorded(1, late=late), recorded(2, late=late)
    delay, told = delay_to_take_out("estimate", [train], ROBOT)
    assert delay == pytest.approx(late, abs=5e-4)
    assert told[0].code == "data.delay_compensated"
    assert told[0].value == delay
    errors = []
    for used in (0.0, delay):
        one, other = without_delay([train], used)[0], without_delay([unseen], used)[0]
        found = sy.identify(ROBOT, [sy.Recording(one)], terms=TERMS)
        proof = validate_recording(
            found.model, found.estimate.full(found.model.names), sy.Recording(other), cutoff=10.0
        )
        errors.append(proof.score.relative_error)
    assert errors[1] < 0.7 * errors[0]
    written = prediction_of(proof, delay)
    raw = sy.score(unseen, written.time, written.torque, cutoff=10.0, interval=(1.0, 11.0))
    assert raw.relative_error == pytest.approx(errors[1], rel=0.2)


def test_no_delay_is_no_change_and_one_that_cannot_be_told_is_refused():
    assert delay_to_take_out(0.0, [], ROBOT) == (0.0, [])
    train = recorded(1)
    assert without_delay([train], 0.0) == (train,)
    still = replace(train, q=np.repeat(train.q[:1], len(train), axis=0), source="")
    with pytest.raises(DataError, match="give it in seconds"):
        delay_to_take_out("estimate", [still], ROBOT)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"prepare": {"exclude": [[2.0, 1.0]]}}, "earlier one first"),
        ({"prepare": {"delay_s": 5.0}}, "delay_s"),
        ({"prepare": {"delay_s": "guess"}}, "delay_s"),
        ({"estimate": {"bootstrap": 3}}, "bootstrap"),
        ({"robot": {"gravity": [0.0, 0.0, -1e300]}}, "gravity"),
        ({"recording": {"position_offset": {"a": 1e300}}}, "position_offset"),
    ],
)
def test_nonsense_is_refused_where_it_stands(table, words):
    with pytest.raises(StudyError, match=words):
        parse_study(table)


def test_gravity_beyond_all_stars_is_refused():
    with pytest.raises(ModelError, match="1000 m/s2"):
        sy.Robot.from_urdf(robot_file("arm7.urdf"), gravity=(0.0, 0.0, -1e300))


def test_a_run_heeds_the_study_file(tmp_path):
    """All keys at once, through the files; the validation recording has a gap, and is scored in two pieces."""
    sy.write_csv(tmp_path / "train.csv", recorded(1, late=0.003))
    unseen = recorded(2, late=0.003)
    kept = np.flatnonzero((unseen.time < 5.0) | (unseen.time > 6.0))
    sy.write_csv(tmp_path / "unseen.csv", unseen.picked(kept))
    study = tmp_path / "study.toml"
    study.write_text(
        "[prepare]\ncutoff_hz = { joint_6 = 8.0 }\ndecimate = 20\nexclude = [[3, 4]]\ndelay_s = 0.003\n"
        "[estimate]\nbootstrap = 200\n"
    )
    done = run(
        Request(
            model=robot_file("arm7.urdf"), train=(tmp_path / "train.csv",), validate=(tmp_path / "unseen.csv",),
            study=study, terms=arm.RIGID_AND_FRICTION, names={tmp_path / "train.csv": "monday.csv"},
        )
    )  # fmt: skip
    assert done.delay == 0.003
    assert done.recordings[0].trajectory.name == "monday.csv"
    assert done.identification.prepared[0].lowpass.keep_every == 20
    assert done.identification.estimate.information.samples < 2280 / 20 - 8
    assert done.identification.estimate.drawn_covariance is not None
    assert done.validations[0].score.relative_error < 0.03
    codes = {f.code for f in done.findings}
    assert {"data.gap", "data.delay_compensated", "validation.in_pieces", "fit.trust", "fit.essential"} <= codes


def test_a_jump_of_a_position_is_told_where_it_is_used():
    """One sample half a radian off costs a fit much, and no residual says so; a part that is left out may jump."""
    q = recorded(1).q.copy()
    q[700, 2] += 0.5
    train = replace(recorded(1), q=q, source="")
    (found,) = [f for f in signal_findings(train, ROBOT) if f.code == "data.position_jump"]
    assert (found.level, found.where) == ("warning", ROBOT.joint_names[2])
    for used in (mask_intervals(train, [(3.4, 3.6)]), train.interval(4.0, 12.0)):
        assert not [f for f in signal_findings(used, ROBOT) if f.code == "data.position_jump"]


def test_a_joint_that_follows_moves_along_when_asked(tmp_path):
    """Gripper: with the fingers moved by one coordinate its force carries both; held still, neither is weighed."""
    file = robots.write(tmp_path, "gripper")
    robot = sy.Robot.from_urdf(file, mimic="project")
    t = np.arange(3000) / 200.0
    rates = 2 * np.pi * np.array([[0.3, 0.7], [0.4, 0.9], [0.5, 1.1]])
    reach = np.array([0.6, 0.6, 0.02])
    angle = t[:, None, None] * rates + np.arange(6).reshape(3, 2)
    motion = sy.Trajectory(
        t,
        robot.joint_names,
        q=reach * np.sin(angle).sum(2),
        dq=reach * (rates * np.cos(angle)).sum(2),
        ddq=-reach * (rates**2 * np.sin(angle)).sum(2),
    )
    tau = sy.Model(robot, (sy.RigidBody(),)).torque(robot.parameters, motion)
    sy.write_csv(tmp_path / "run.csv", replace(motion, tau=tau))
    found = {}
    for mimic in ("lock", "project"):
        study = tmp_path / f"{mimic}.toml"
        study.write_text(f'[robot]\nmimic = "{mimic}"\n', encoding="utf-8")
        done = run(
            Request(
                model=file, train=(tmp_path / "run.csv",), study=study, estimator="ordinary",
                terms=("rigid_body", "viscous", "coulomb", "offset"),
            )
        )  # fmt: skip
        found[mimic] = [name for name in done.identification.model.names if name.startswith("link/finger_b/")]
        residual = done.identification.model.torque(
            done.identification.estimate.full(done.identification.model.names), motion
        )
        found[f"{mimic} error"] = np.abs(residual - tau)[200:-200, 2].max() / np.abs(tau[:, 2]).max()
    assert found["lock"] == []
    assert len(found["project"]) == 10
    assert found["project error"] < 0.01
