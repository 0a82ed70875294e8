"""A coupled wrist, from the motor side to its parameters: study file and a term of one's own, as the examples show."""

from __future__ import annotations

import importlib

import pytest

import steelyard as sy

CUTOFF = 10.0  # [Hz]
BAR = 0.095  # relative error on unseen motion of plain least squares with the same columns
# Weighted least squares on the same recording, as published with the data [N m s/rad, N m, kg m2].
PUBLISHED = {
    "viscous_friction": {1: 8.09, 2: 5.59, 3: 1.98, 4: 1.11},
    "coulomb_friction": {1: 7.01, 2: 8.13, 3: 6.28, 4: 2.49, 5: 3.04, 6: 0.304},
    "rotor_inertia": {3: 0.097, 4: 0.030, 5: 0.048},
}
WRIST = {"viscous_friction": 0.616, "coulomb_friction": 1.96}


@pytest.mark.parametrize("how", [{"estimator": "weighted"}, {}])
def test_unseen_motion_and_published_parameters(real_data, repository, monkeypatch, how):
    monkeypatch.syspath_prepend(repository / "examples" / "terms")
    wrist = importlib.import_module("wrist_coupling").wrist
    study = sy.read_study(repository / "examples" / "studies" / "tx40.toml")
    recording = sy.read_csv(real_data / "tx40" / "raw_motor_side.csv", study=study)
    robot = sy.Robot.from_urdf(real_data / "tx40" / "tx40.urdf").for_joints(recording.joint_names)
    terms = (sy.RigidBody(), sy.RotorInertia(), sy.Viscous(), sy.Coulomb(), sy.Offset(), wrist)
    found = sy.identify(robot, [sy.Recording(recording, (0.0, 5.0))], terms=terms, **how)
    prediction = sy.predict(found.model, found.theta_for(recording), recording, cutoff=CUTOFF)
    unseen = recording.ordered(robot.joint_names)
    assert sy.score(
        unseen, prediction.time, prediction.torque, cutoff=CUTOFF, interval=(5.0, 7.3)
    ).relative_error <= BAR  # fmt: skip
    expected = {f"actuator/joint_{k}/{q}": v for q, values in PUBLISHED.items() for k, v in values.items()}
    expected |= {f"coupling/joint_5+joint_6/{q}": v for q, v in WRIST.items()}
    estimate = found.estimate
    for name, value in expected.items():
        deviation = estimate.deviation[estimate.names.index(name)]
        assert abs(estimate.value(name) - value) <= max(0.05 * value, 2.0 * deviation), name
