"""Recordings of real robots: held-out torque error against what plain weighted least squares reaches on them.

The bars are relative errors by the definition of benchmarks/score.py: columns of rigid bodies, rotor inertias, viscous
and sign friction and offsets, joints weighted, on motion that was not used for the fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from steelyard import (
    Coulomb,
    Offset,
    Recording,
    RigidBody,
    Robot,
    RotorInertia,
    Viscous,
    identify,
    predict,
    read_csv,
    score,
)

TERMS = (RigidBody(), RotorInertia(), Viscous(), Coulomb(), Offset())
Interval = tuple[float, float] | None


@dataclass(frozen=True)
class Case:
    """A fit, a validation, the cut-off of the score [Hz] and the error to stay under."""

    robot: str
    train: str
    fit: Interval
    unseen: str
    hold: Interval
    cutoff: float
    bar: float


CASES = {
    "panda, unseen part of its motion": Case(
        "panda_gaz/panda.urdf", "panda_gaz/raw.csv", (0.0, 9.3), "panda_gaz/raw.csv", (9.3, 13.3), 10.0, 0.0165
    ),
    "panda, another robot at 30 Hz": Case(
        "panda_gaz/panda.urdf", "panda_gaz/raw.csv", None, "panda_unisa/raw.csv", None, 4.0, 0.042
    ),
    "ur10, torque from currents": Case(
        "ur10_unisa/ur10.urdf", "ur10_unisa/raw.csv", (0.0, 19.264), "ur10_unisa/raw.csv", (19.264, 27.52), 8.0, 0.0805
    ),
    "tx40, without columns for its coupled wrist": Case(
        "tx40/tx40.urdf", "tx40/joint_side.csv", (0.0, 5.0), "tx40/joint_side.csv", (5.0, 7.3), 10.0, 0.168
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_unseen_motion_is_predicted(real_data, name):
    case = CASES[name]
    train = read_csv(real_data / case.train)
    unseen = train if case.unseen == case.train else read_csv(real_data / case.unseen)
    robot = Robot.from_urdf(real_data / case.robot).for_joints(train.joint_names)
    found = identify(robot, [Recording(train, case.fit)], terms=TERMS, estimator="weighted")
    prediction = predict(found.model, found.theta_for(unseen), unseen, cutoff=case.cutoff)
    result = score(
        unseen.ordered(robot.joint_names), prediction.time, prediction.torque, cutoff=case.cutoff, interval=case.hold
    )
    assert result.relative_error <= case.bar
    estimate = found.estimate
    assert estimate.rank == len(estimate.names) == found.basis.count
    assert np.all(np.isfinite(estimate.deviation))
    assert np.all(estimate.noise > 0.0)
    friction = [estimate.value(f"actuator/{joint}/coulomb_friction") for joint in robot.joint_names]
    assert np.median(friction) > 0.0


def test_what_the_library_does_by_itself_is_no_worse(real_data):
    """Terms chosen by the data and the default estimator, on the honest split of the first recording."""
    case = CASES["panda, unseen part of its motion"]
    train = read_csv(real_data / case.train)
    robot = Robot.from_urdf(real_data / case.robot).for_joints(train.joint_names)
    found = identify(robot, [Recording(train, case.fit)])
    prediction = predict(found.model, found.theta_for(train), train, cutoff=case.cutoff)
    result = score(
        train.ordered(robot.joint_names), prediction.time, prediction.torque, cutoff=case.cutoff, interval=case.hold
    )
    assert result.relative_error <= case.bar
