"""Worked examples of the field's courses, with the numbers they print."""

from __future__ import annotations

import numpy as np
import pytest

import robots
from steelyard.basis import base_parameters
from steelyard.data.trajectory import Trajectory
from steelyard.estimate.least_squares import ordinary
from steelyard.model import Model
from steelyard.preparation.pipeline import prepare
from steelyard.robot.robot import Robot
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.spring import Spring
from steelyard.terms.viscous import Viscous

GRAVITY = 9.81


def two_links(folder, length=1.0, offset=0.0):
    """Two links of one length in a vertical plane, angles from the horizontal."""
    parts = (
        robots.body("base"),
        robots.body("one", 2.0, f"{0.5 * length} 0 {offset}"),
        robots.body("two", 1.0, f"{0.4 * length} 0 {1.6 * offset}"),
        robots.joint("q1", "base one", axis="0 -1 0"),
        robots.joint("q2", "one two", axis="0 -1 0", at=f"{length} 0 0"),
    )
    return Model(robots.load(folder, "two_links", parts), (RigidBody(),))


def forty_samples() -> Trajectory:
    """40 random samples, drawn one after another: q, then v, then a."""
    rng = np.random.default_rng(0)
    drawn = [[rng.uniform(-span, span, 2) for span in (np.pi, 2.0, 3.0)] for _ in range(40)]
    q, v, a = np.moveaxis(np.array(drawn), 1, 0)
    return Trajectory(0.01 * np.arange(40, dtype=np.float64), ("q1", "q2"), q=q, dq=v, ddq=a)


def test_two_point_masses(tmp_path):
    """Masses at the tips: rank 2, singular values 92.857 and 34.557, condition 2.687, and exactly (2, 1) back."""
    model = two_links(tmp_path)
    tip = {"mass": 1.0, "first_moment_x": 1.0, "inertia_yy": 1.0, "inertia_zz": 1.0}  # 1 kg at 1 m along x
    matrix = np.zeros((20, 2))
    for k, body in enumerate(("one", "two")):
        for what, value in tip.items():
            matrix[model.names.index(f"link/{body}/{what}"), k] = value
    motion = forty_samples()
    motion = robots.with_torque(motion, model.torque(matrix @ [2.0, 1.0], motion))
    info = model.absorb([motion]).project(("m1", "m2"), matrix)
    estimate = ordinary(info)
    values = np.linalg.svd(info.stacked()[:-1, :-1], compute_uv=False)
    np.testing.assert_allclose(values, [92.857, 34.557], rtol=0, atol=5e-4)  # printed with three digits
    assert estimate.condition == pytest.approx(2.687, abs=5e-4)
    assert estimate.rank == 2
    np.testing.assert_allclose(estimate.theta, [2.0, 1.0], rtol=0, atol=1e-13)
    # the printed residual of 2.5e-9 came from finite differences; an exact model leaves rounding
    assert np.sqrt(info.misfit(estimate.theta).sum()) < 1e-12


def five_columns(motion: Trajectory) -> np.ndarray:
    """(T, 2, 5) of the arm's inertia, m2 l1 c2, the forearm's inertia, and the two gravity torques."""
    (q1, q2), (v1, v2), (a1, a2) = (motion.channel(name).T for name in ("q", "dq", "ddq"))
    none = np.zeros_like(q1)
    coriolis = -2.0 * np.sin(q2) * v1 * v2 - np.sin(q2) * v2**2
    first = [a1, 2.0 * np.cos(q2) * a1 + np.cos(q2) * a2 + coriolis, a2, np.cos(q1), np.cos(q1 + q2)]
    second = [none, np.cos(q2) * a1 + np.sin(q2) * v1**2, a1 + a2, none, np.cos(q1 + q2)]
    return np.stack([np.stack(first, axis=1), np.stack(second, axis=1)], axis=1)


def five_parameters(model: Model, length: float) -> np.ndarray:
    (m1, h1, I1), (m2, h2, I2) = (model.robot.parameters.reshape(2, 10)[:, [0, 1, 6]]).tolist()
    assert m1 > 0
    return np.array([I1 + I2 + m2 * length**2, h2 * length, I2, (h1 + m2 * length) * GRAVITY, h2 * GRAVITY])


def test_the_planar_arm_by_lagrange_is_the_regressor(tmp_path):
    """The five columns derived by hand give the library's torque; both are exact: 1e-13."""
    length = 0.6
    model = two_links(tmp_path, length)
    motion = robots.states(("q1", "q2"), 200)
    by_hand = five_columns(motion) @ five_parameters(model, length)
    assert robots.relative(by_hand, model.torque(model.robot.parameters, motion)) < 1e-13


def test_five_columns_are_four_parameters(tmp_path):
    """theta5 l1 = theta2 g whatever the arm: the columns are independent, the parameters are not."""
    length = 0.6
    model = two_links(tmp_path, length)
    theta = five_parameters(model, length)
    assert theta[4] * length == pytest.approx(theta[1] * GRAVITY, rel=1e-14)
    A = five_columns(forty_samples()).reshape(-1, 5)
    assert np.linalg.matrix_rank(A) == 5
    # the four: arm and forearm inertia, gravity of the arm, and m2 c2 with both of its columns
    four = np.column_stack([A[:, 0], A[:, 1] * length + A[:, 4] * GRAVITY, A[:, 2], A[:, 3]])
    assert np.linalg.matrix_rank(four) == 4
    np.testing.assert_allclose(four @ [theta[0], theta[1] / length, theta[2], theta[3]], A @ theta, rtol=1e-12)
    # knowing that, m2 c2 is several times surer than when it is read from theta2
    apart, together = (np.sqrt(np.diag(np.linalg.inv(M.T @ M))) for M in (A, four))
    assert together[1] < 0.4 * apart[1] / length


def test_centres_of_mass_off_the_link_line_break_the_five(tmp_path):
    """5 and 8 cm off the line: the five columns miss a tenth of the torque, six base parameters miss nothing."""
    model = two_links(tmp_path, 0.6, offset=0.05)
    motion = robots.states(("q1", "q2"), 200)
    tau = model.torque(model.robot.parameters, motion)
    A = five_columns(motion).reshape(-1, 5)
    residual = tau.ravel() - A @ np.linalg.lstsq(A, tau.ravel(), rcond=None)[0]
    assert 0.05 < np.linalg.norm(residual) / np.linalg.norm(tau) < 0.2
    basis = base_parameters(model)
    info = model.absorb([robots.with_torque(motion, tau)], names=basis.names)
    misfit = info.misfit(ordinary(info).theta).sum()
    assert np.sqrt(misfit / info.energy.sum()) < 1e-11


@pytest.fixture
def two_axes():
    """No robot at all: a spring and viscous friction on one axis, inertia and a bias on the other."""
    return Model(
        Robot.from_joints(["axis_a", "axis_b"]),
        (Spring(("axis_a",)), Viscous(("axis_a",)), RotorInertia(("axis_b",)), Offset(("axis_b",))),
    )


def test_a_generic_regressor_without_a_robot(two_axes):
    """240 samples through the default preparation, torque from (2, 0.35, 1.4, -0.2), the same numbers back."""
    t = 0.01 * np.arange(240)
    q = np.column_stack([0.6 * np.sin(4.0 * t) + 0.2 * np.cos(9.0 * t), 0.4 * np.cos(5.0 * t)])
    motion = prepare(Trajectory(t, ("axis_a", "axis_b"), q=q, name="synthetic"), two_axes.robot)
    assert motion.steps
    truth = np.array([2.0, 0.35, 1.4, -0.2])
    recording = robots.with_torque(motion, two_axes.torque(truth, motion))
    estimate = ordinary(two_axes.absorb([recording]))
    assert estimate.names == (
        *("actuator/axis_a/stiffness", "actuator/axis_a/viscous_friction"),
        *("actuator/axis_b/rotor_inertia", "actuator/axis_b/bias"),
    )
    assert estimate.rank == 4
    assert estimate.information.samples == 240
    np.testing.assert_allclose(estimate.theta, truth, rtol=0, atol=1e-11)
    residual = recording.tau - two_axes.torque(estimate.theta, recording)
    assert np.sqrt(np.mean(residual**2)) < 1e-12


def test_base_parameters_without_a_robot(two_axes):
    basis = base_parameters(two_axes)
    assert basis.names == two_axes.names
    assert set(basis.classes.values()) == {"alone"}
