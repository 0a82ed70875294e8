"""Drives against numbers worked out by hand, conservation of power, and the classic mistake with the efficiency."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import StudyError
from steelyard.preparation.drive import (
    Drive,
    coupled,
    geared,
    joint_motion,
    joint_torque,
    motor_motion,
    torque_from_current,
)

# two wrist joints: the second motor also turns when the first joint moves
WRIST = np.array([[45.0, 0.0], [32.0, 32.0]])


def test_gear_ratio() -> None:
    drive = geared(np.array([100.0, -50.0]))
    np.testing.assert_array_equal(joint_motion(drive, np.array([[200.0, 100.0]])), [[2.0, -2.0]])
    np.testing.assert_array_equal(joint_torque(drive, np.array([[0.3, 0.2]])), [[30.0, -10.0]])
    assert drive.conserves_power


def test_wrist_coupling() -> None:
    drive = coupled(WRIST)
    # q5 = 90/45 = 2, q6 = 96/32 - q5 = 1
    np.testing.assert_allclose(joint_motion(drive, np.array([[90.0, 96.0]])), [[2.0, 1.0]], rtol=1e-15)
    # tau5 = 45*0.1 + 32*0.2 = 10.9, tau6 = 32*0.2 = 6.4
    np.testing.assert_allclose(joint_torque(drive, np.array([[0.1, 0.2]])), [[10.9, 6.4]], rtol=1e-15)


def test_reflected_inertia_comes_out_as_ratio_squared() -> None:
    """Motor torque I_m N ddq taken through the gear is N^2 I_m at the joint; taken as joint torque it is N I_m."""
    ratio, rotor, acceleration = 100.0, 1e-4, np.array([[3.0]])
    drive = geared(np.array([ratio]))
    motor_torque = rotor * motor_motion(drive, acceleration)
    np.testing.assert_allclose(joint_torque(drive, motor_torque) / acceleration, ratio**2 * rotor, rtol=1e-14)
    np.testing.assert_allclose(motor_torque / acceleration, ratio * rotor, rtol=1e-14)


matrices = st.lists(st.floats(-3, 3), min_size=9, max_size=9).map(lambda x: np.array(x).reshape(3, 3) + 7.0 * np.eye(3))
vectors = st.lists(st.floats(-10, 10), min_size=3, max_size=3).map(lambda x: np.array([x]))


@given(matrices, vectors, vectors)
def test_power_is_the_same_on_both_sides(matrix: np.ndarray, velocity: np.ndarray, torque: np.ndarray) -> None:
    """T = R': tau' dq = tau_motor' dq_motor.  Sums of 9 products below 1e3: 1e-11 is far above their rounding."""
    drive = coupled(matrix)
    motor = float((torque * motor_motion(drive, velocity)).sum())
    joint = float((joint_torque(drive, torque) * velocity).sum())
    assert joint == pytest.approx(motor, rel=1e-12, abs=1e-11)


@given(matrices, vectors)
def test_motion_goes_there_and_back(matrix: np.ndarray, motion: np.ndarray) -> None:
    drive = coupled(matrix)
    # diagonal dominance (7 - 3 against 6) keeps the condition below 1e3 but for rare draws; 1e-9 allows 1e6
    np.testing.assert_allclose(joint_motion(drive, motor_motion(drive, motion)), motion, atol=1e-9)


def test_a_sample_gives_the_same_bits_alone_and_in_company() -> None:
    rng = np.random.default_rng(3)
    drive = coupled(rng.normal(size=(6, 6)) + 5 * np.eye(6))
    values = rng.normal(size=(1001, 6))
    whole = joint_motion(drive, values)
    for k in (0, 1, 500, 1000):
        np.testing.assert_array_equal(joint_motion(drive, values[k : k + 1])[0], whole[k])


def test_efficiency_multiplies_when_motoring_and_divides_when_driven() -> None:
    drive = geared(np.array([10.0]), efficiency=np.array([0.8]))
    torque = np.array([[1.0], [1.0], [-1.0], [-1.0], [1.0], [0.0]])
    velocity = np.array([[2.0], [-2.0], [-2.0], [2.0], [0.0], [5.0]])
    got = joint_torque(drive, torque, motor_velocity=velocity)
    #                        motoring  driven  motoring driven  standstill  no torque
    np.testing.assert_allclose(got, [[8.0], [12.5], [-8.0], [-12.5], [10.0], [0.0]], rtol=1e-15)


def test_efficiency_always_loses_power_and_the_classic_mistake_gains_it() -> None:
    """The joint receives less than a driving motor gives, and gives more than a driven motor receives."""
    rng = np.random.default_rng(5)
    drive = coupled(WRIST, efficiency=np.array([0.7, 0.9]))
    torque, velocity = rng.normal(size=(500, 2)), rng.normal(size=(500, 2))
    motor_velocity = motor_motion(drive, velocity)
    loss = (torque * motor_velocity).sum(1) - (
        joint_torque(drive, torque, motor_velocity=motor_velocity) * velocity
    ).sum(1)
    assert (loss > 0).all()
    always_eta = (torque * drive.efficiency) @ drive.torque.T
    wrong = (torque * motor_velocity).sum(1) - (always_eta * velocity).sum(1)
    assert 0.3 < (wrong < 0).mean() < 0.7, "tau = eta N tau_motor alone makes power in about half of the samples"


def test_efficiency_without_velocity_is_refused() -> None:
    with pytest.raises(StudyError, match="needs velocities"):
        joint_torque(geared(np.array([10.0]), efficiency=np.array([0.8])), np.array([[1.0]]))
    lossless = geared(np.array([10.0]), efficiency=np.array([1.0]))
    np.testing.assert_array_equal(joint_torque(lossless, np.array([[1.0]])), [[10.0]])


def test_torque_constant() -> None:
    got = torque_from_current(np.array([[1.5, -2.0]]), np.array([0.1, 0.25]), np.array([0.5, 0.0]))
    np.testing.assert_allclose(got, [[0.1, -0.5]], rtol=1e-15)


@pytest.mark.parametrize(
    "matrix",
    [np.zeros((2, 2)), [[1.0, 2.0], [2.0, 4.0]], [[1.0, 0.0], [0.0, 0.0]], [[1.0, np.nan], [0.0, 1.0]], [[np.inf]]],
)
def test_singular_couplings(matrix: list[list[float]]) -> None:
    with pytest.raises(StudyError, match="singular or not finite"):
        coupled(np.array(matrix))


def test_rows_of_very_different_units_are_not_singular() -> None:
    """A spindle of 5 mm lead beside a direct drive: 1257 rad/m beside 1, and 1e9 times apart still."""
    for scale in (1257.0, 1e9):
        drive = geared(np.array([scale, 1.0]))
        np.testing.assert_allclose(joint_motion(drive, np.array([[scale, 1.0]])), [[1.0, 1.0]], rtol=1e-15)


@pytest.mark.parametrize("eta", [0.0, -0.5, 1.1, np.nan, np.inf])
def test_impossible_efficiencies(eta: float) -> None:
    with pytest.raises(StudyError, match="efficiency"):
        geared(np.array([10.0]), efficiency=np.array([eta]))


def test_shapes() -> None:
    with pytest.raises(StudyError, match="shape"):
        Drive(np.eye(2), np.eye(3), np.ones(2))
    with pytest.raises(StudyError, match="shape"):
        coupled(np.ones((2, 3)))


def test_a_drive_cannot_be_changed() -> None:
    drive = geared(np.array([10.0]))
    with pytest.raises(ValueError, match="read-only"):
        drive.position[0, 0] = 3.0
