"""Torque term by term, classes of use, and a new model beside the old one, pose by pose."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from judged import TERMS, model_text, motion, truth
from steelyard.assess.credibility import credibility, pose_grid
from steelyard.assess.decomposition import (
    cancellation_findings,
    column_torque,
    decompose,
    effect_of_columns,
)
from steelyard.assess.quality import quality, use_of
from steelyard.basis import base_parameters
from steelyard.data.trajectory import Trajectory
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.graded_friction import GradedFriction
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous

ROUNDING = 1e-12  # [N m] on torques of some 10 N m


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("arm") / "arm.urdf"
    path.write_text(model_text(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def model(file):
    return Model(Robot.from_urdf(file), TERMS)


@pytest.fixture(scope="module")
def course(model) -> Trajectory:
    rng = np.random.default_rng(2)
    q, dq, ddq = rng.uniform(-2.0, 2.0, (3, 300, 2))
    return Trajectory(time=np.arange(300.0), joint_names=model.robot.joint_names, q=q, dq=dq, ddq=ddq)


def test_the_parts_add_up(model, course):
    theta = truth(model)
    parts = decompose(model, theta, course)
    np.testing.assert_allclose(parts.torque.sum(axis=0), model.torque(theta, course), atol=ROUNDING)
    assert parts.effects == ("gravity", "inertia", "coriolis", "rotor", "friction", "offset")


def test_parts_are_those_of_another_library(file, model, course):
    """Gravity, mass matrix and Coriolis torque by Pinocchio, from the same file."""
    parts = decompose(model, model.nominal, course)
    theirs = pin.buildModelFromUrdf(str(file))
    data = theirs.createData()
    gravity = np.array([pin.computeGeneralizedGravity(theirs, data, q) for q in course.q])
    inertia, coriolis = np.zeros_like(gravity), np.zeros_like(gravity)
    for k, (q, dq, ddq) in enumerate(zip(course.q, course.dq, course.ddq, strict=True)):
        M = pin.crba(theirs, data, q)
        inertia[k] = (np.triu(M) + np.triu(M, 1).T) @ ddq
        coriolis[k] = pin.computeCoriolisMatrix(theirs, data, q, dq) @ dq
    for own, other in zip(parts.torque, (gravity, inertia, coriolis), strict=False):
        np.testing.assert_allclose(own, other, atol=1e-11)


def test_base_parameters_split_alike(model, course):
    """Single standard parameters are not known, but the torque of each effect is: a base vector gives the same parts.

    Rotor inertia that cannot be told from its link stands in inertia, so that these two are compared as one.
    """
    theta = truth(model)
    basis = base_parameters(model)
    sparse = np.zeros_like(theta)
    sparse[[model.names.index(name) for name in basis.names]] = basis.regroup(theta)
    assert np.linalg.norm(sparse - theta) > 0.1
    ours, theirs = decompose(model, sparse, course).torque, decompose(model, theta, course).torque
    for e in (0, 2, 4, 5):
        np.testing.assert_allclose(ours[e], theirs[e], atol=1e-10)
    np.testing.assert_allclose(ours[1] + ours[3], theirs[1] + theirs[3], atol=1e-10)


def test_at_rest_only_gravity_and_offset_act(model, course):
    still = replace(course, dq=np.zeros_like(course.q), ddq=np.zeros_like(course.q))
    rms = decompose(model, truth(model), still).rms
    assert np.all(rms[[0, 5]] > 0.05)
    assert np.all(rms[1:5] == 0.0)


def test_each_column_has_an_effect(model):
    effects = effect_of_columns(model)
    assert len(effects) == len(model.columns)
    assert {e for e, c in zip(effects, model.names, strict=True) if c.endswith("friction")} == {"friction"}
    assert effects.count("rigid") == 20


def test_large_terms_that_cancel_are_named(file, course):
    """Two friction columns that are nearly alike, +50 and -50 N m: their sum is friction of a few N m."""
    robot = Robot.from_urdf(file)
    model = Model(robot, (RigidBody(), Viscous(), GradedFriction(speeds=(0.01, 0.012))))
    theta = model.nominal
    a = model.names.index("actuator/elbow/friction_above_0.01")
    b = model.names.index("actuator/elbow/friction_above_0.012")
    theta[[a, b]] = 50.0, -50.0
    columns = column_torque(model, theta, course)
    assert [pair[:3] for pair in columns.opposed] == [("elbow", model.names[a], model.names[b])]
    findings = cancellation_findings(decompose(model, theta, course), columns)
    assert [(f.code, f.where) for f in findings] == [("fit.cancelling_terms", "elbow")]
    assert model.names[a] in findings[0].message


def test_honest_terms_do_not_cancel(model, course):
    columns = column_torque(model, truth(model), course)
    assert cancellation_findings(decompose(model, truth(model), course), columns) == []


def test_effects_that_cancel_are_named_before_single_columns(model, course):
    """An offset that takes a constant gravity torque away: 30 N m against 30 N m."""
    posed = replace(course, q=np.zeros_like(course.q), dq=0.01 * course.dq, ddq=0.01 * course.ddq)
    theta = 10.0 * model.nominal
    held = model.torque(theta, replace(posed, dq=0.0 * posed.dq, ddq=0.0 * posed.ddq))[0]
    for j, name in enumerate(model.robot.joint_names):
        theta[model.names.index(f"actuator/{name}/bias")] = -0.99 * held[j]
    findings = cancellation_findings(decompose(model, theta, posed), column_torque(model, theta, posed))
    assert "gravity and offset cancel" in findings[0].message


@pytest.mark.parametrize(
    ("error", "use"),
    [(0.0, "feed_forward"), (0.0499, "feed_forward"), (0.05, "gravity_compensation"), (0.1999, "gravity_compensation"),
     (0.2, "none"), (np.inf, "none")],
)  # fmt: skip
def test_classes_of_use(error, use):
    assert use_of(error) == use


def test_quality_names_the_joints_that_lag_behind():
    made = quality(0.02, {"a": 0.01, "b": 0.3, "c": 0.07})
    assert made.overall == "feed_forward"
    assert made.limiting == ("b", "c")
    assert "b (30 %), c (7 %)" in made.sentence
    assert "every joint" in quality(0.02, {"a": 0.01}).sentence
    assert "no control" in quality(0.4, {"a": 0.4}).sentence


def test_a_model_agrees_with_itself(model):
    made = credibility(model, model.nominal, model.nominal)
    assert np.all(made.gravity_difference == 0.0)
    assert made.mass_matrix == 0.0
    assert made.least_new == made.least_old > 0.0
    assert made.findings == ()


def test_a_scaled_model_differs_by_the_scale(model):
    """All rigid parameters times 1.25: gravity and mass matrix differ by a quarter exactly."""
    made = credibility(model, 1.25 * model.nominal, model.nominal)
    np.testing.assert_allclose(made.gravity_difference, 0.25 * made.gravity_old, rtol=1e-12)
    assert made.mass_matrix == pytest.approx(0.25, rel=1e-12)
    np.testing.assert_allclose(made.inertia_new, 1.25 * made.inertia_old, rtol=1e-12)
    assert made.findings == ()
    assert [f.code for f in credibility(model, 1.6 * model.nominal, model.nominal).findings] == ["fit.far_from_model"]


def test_an_impossible_model_is_found_out(model):
    theta = model.nominal
    theta[model.names.index("link/lower/inertia_zz")] -= 1.0
    theta[model.names.index("link/lower/inertia_yy")] -= 1.0
    made = credibility(model, theta, model.nominal)
    assert made.least_new < 0.0
    assert "fit.mass_matrix_indefinite" in {f.code for f in made.findings}


def test_poses_fill_the_limits_evenly(model):
    """Each sixteenth of the area between the limits of two joints holds 16 of 256 poses, give or take 4."""
    q = pose_grid(model)
    lower, upper = model.robot.lower, model.robot.upper
    assert np.all((q >= lower) & (q <= upper))
    cell = np.floor(4.0 * (q - lower) / (upper - lower)).astype(int)
    counts = np.bincount(cell[:, 0] * 4 + cell[:, 1], minlength=16)
    assert counts.min() >= 12
    assert counts.max() <= 20
    np.testing.assert_array_equal(q, pose_grid(model))


def test_the_motion_of_these_tests_moves_everything(model):
    assert np.all(motion(model, seed=0).q.std(axis=0) > 0.3)
