"""Tests of consistency that are not enough, and constraints that are wrong, each with the size of the damage."""

from __future__ import annotations

import importlib.util
import sys

import numpy as np
import pytest

from steelyard.assess.mass_matrix import least_eigenvalue
from steelyard.errors import StudyError
from steelyard.estimate.consistent import consistent
from steelyard.model import Model
from steelyard.robot.inertia import parameters_of, pseudo_inertia
from steelyard.robot.robot import Robot
from steelyard.terms.rigid_body import RigidBody


@pytest.fixture(scope="module")
def bench(repository):
    spec = importlib.util.spec_from_file_location("consistency", repository / "benchmarks" / "consistency.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["consistency"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def panda(bench):
    return Model(bench.panda(), (RigidBody(),))


def random_tensors(count, share):
    """Inertias (count, 3, 3) of boxes of random sides, with entries off by a share of the trace."""
    rng = np.random.default_rng(31)
    sides = rng.uniform(0.02, 0.5, (count, 3)) ** 2
    turns = np.linalg.qr(rng.normal(size=(count, 3, 3))).Q
    tensors = (turns * (sides.sum(axis=1, keepdims=True) - sides)[:, None, :]) @ np.swapaxes(turns, 1, 2)
    error = share * np.trace(tensors, axis1=1, axis2=2)[:, None, None] * rng.normal(size=(count, 3, 3))
    return tensors + 0.5 * (error + np.swapaxes(error, 1, 2))


def test_a_positive_definite_inertia_need_not_be_possible():
    """E31. Of tensors that no body has, 64 % pass `I > 0` when entries are off by 15 % of the trace, 47 % at 20 %."""
    shares = []
    for share in (0.15, 0.2):
        tensors = random_tensors(4000, share)
        moments = np.linalg.eigvalsh(tensors)
        triangle = moments[:, 2] < moments[:, 0] + moments[:, 1]
        second = 0.5 * np.trace(tensors, axis1=1, axis2=2)[:, None, None] * np.eye(3) - tensors
        np.testing.assert_array_equal(np.linalg.eigvalsh(second)[:, 0] > 0.0, triangle & (moments[:, 0] > 0.0))
        shares.append(float(np.mean(moments[~(triangle & (moments[:, 0] > 0.0)), 0] > 0.0)))
    assert 1 / 3 < min(shares) < max(shares) < 2 / 3
    counterexample = np.diag([1.0, 1.0, 3.0])
    assert np.linalg.eigvalsh(counterexample)[0] > 0.0
    assert np.linalg.eigvalsh(2.5 * np.eye(3) - counterexample)[0] < 0.0


def test_the_inertia_about_the_origin_belongs_to_the_first_moment_about_it(panda):
    """E31. With the inertia about the centre in the pseudo-inertia, five of the Panda's eight links are refused."""
    refused = 0
    for link in panda.robot.links:
        if link.body < 0 or link.parameters is None or not link.parameters[0] > 0.1:
            continue
        right = pseudo_inertia(link.parameters)
        centre = right[:3, 3] / right[3, 3]
        wrong = right.copy()
        wrong[:3, :3] -= right[3, 3] * np.outer(centre, centre)
        assert np.linalg.eigvalsh(right)[0] > 0.0
        refused += np.linalg.eigvalsh(wrong)[0] < 0.0
    assert refused >= 5


def test_a_positive_mass_matrix_does_not_make_a_robot(panda, bench):
    """E32. The least-norm full set has links without mass and most pseudo-inertias indefinite, yet M(q) > 0."""
    from steelyard.basis import base_parameters

    basis = base_parameters(panda)
    theta = np.linalg.pinv(basis.matrix) @ basis.regroup(panda.nominal)
    rng = np.random.default_rng(0)
    q = rng.uniform(panda.robot.lower, panda.robot.upper, (200, 7))
    assert least_eigenvalue(panda, theta, q) > 1e-3
    masses = theta[::10]
    assert np.sum(np.abs(masses) < 1e-6) >= 2
    indefinite = sum(np.linalg.eigvalsh(pseudo_inertia(theta[10 * k : 10 * k + 10]))[0] < 0.0 for k in range(7))
    assert indefinite >= 6


def test_a_semidefinite_program_without_a_cap_takes_any_mass(bench):
    """E32. The mass goes wherever the cap lets it, for the same residual; a cap of none is refused."""
    case = bench.case(0.3, 500, seed=2)
    fits = [consistent(case.model, case.estimate, solver="semidefinite", mass_cap=cap) for cap in (20.0, 1e3, 1e5)]
    assert fits[0].total_mass <= 20.0 + 1e-6
    assert fits[-1].total_mass > 500.0
    assert fits[0].ratio - fits[-1].ratio < 5e-4
    with pytest.raises(StudyError, match="cap on the mass"):
        consistent(case.model, case.estimate, solver="semidefinite", mass_cap=np.inf)


def test_nonnegative_least_squares_is_the_wrong_constraint(bench):
    """E33. First moments and products are signed: 20 of the 70 true parameters of a Panda are negative."""
    from scipy.optimize import nnls

    case = bench.case(0.02, 500, seed=1)
    truth = case.theta
    assert 15 <= int(np.sum(truth[:70] < 0.0)) <= 30
    fit = consistent(case.model, case.estimate)
    stacked = case.estimate.information.scale(1.0 / fit.noise**2).stacked()
    A = stacked[:, :-1] @ fit.basis.matrix
    wrong, left = nnls(A, stacked[:, -1], maxiter=2000)
    right = float(np.linalg.norm(A @ fit.theta - stacked[:, -1]))
    assert left > 1.2 * right  # 75 against 59
    assert case.error(wrong) > 5.0 * case.error(fit.theta)  # 3.6 % against 0.4 %


def test_a_true_robot_passes(example_robots):
    """Every inertial of the UR10's file can exist, and so says the pseudo-inertia."""
    robot = Robot.from_urdf(example_robots / "ur_description" / "urdf" / "ur10_robot.urdf")
    for link in robot.links:
        if link.parameters is not None and link.parameters[0] > 0.0:
            J = pseudo_inertia(link.parameters)
            assert np.linalg.eigvalsh(J)[0] > 0.0
            np.testing.assert_allclose(parameters_of(J), link.parameters, rtol=1e-12, atol=1e-15)
