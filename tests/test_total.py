"""Total least squares: noise in the columns does not shrink the parameters."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.errors import DataError
from steelyard.estimate.least_squares import ordinary, weighted
from steelyard.estimate.total import total
from steelyard.information import SquareRootInformation, triangle

TRUTH = np.array([1.0, 2.0, 3.0])
NAMES = ("a", "b", "c")


def information(*joints):
    """Of dense rows [Y | tau] of each joint; every joint has all columns."""
    return SquareRootInformation(
        names=NAMES,
        joints=tuple(f"joint_{k}" for k in range(len(joints))),
        support=(tuple(range(3)),) * len(joints),
        factors=tuple(triangle(rows) for rows in joints),
        rows=tuple(len(rows) for rows in joints),
    )


def rows(rng, count, *, error, scale=1.0, spread=(10.0, 1.0, 0.3)):
    """Rows of a joint: columns of the spreads given, one error in columns and torque, all of it times scale."""
    Y = rng.normal(size=(count, 3)) * spread
    clean = np.column_stack([Y, Y @ TRUTH])
    return scale * (clean + error * rng.normal(size=clean.shape))


def test_recovers_one_two_three():
    """Errors of .15 beside columns of 10, 1 and .3: least squares shrinks the last to 2.4, total does not."""
    found = information(rows(np.random.default_rng(0), 100_000, error=0.15))
    plain, fair = ordinary(found).theta, total(found).theta
    np.testing.assert_allclose(plain, [1.0, 1.956, 2.4], rtol=0, atol=0.02)
    np.testing.assert_allclose(fair, TRUTH, rtol=0, atol=0.02)  # deviations .0002, .002 and .007
    assert total(found).estimator == "total"


def test_joints_must_be_scaled_to_their_noise():
    """A second joint ten times as loud: unscaled it decides alone; scaled, both tell what they know."""
    rng = np.random.default_rng(1)
    quiet, loud = rows(rng, 20_000, error=0.1), rows(rng, 20_000, error=0.1, scale=10.0)
    both = total(information(quiet, loud))
    np.testing.assert_allclose(both.theta, TRUTH, rtol=0, atol=0.02)
    assert both.weights[0] / both.weights[1] == pytest.approx(100.0, rel=0.05)
    errors = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        quiet = rows(rng, 3000, error=0.1)
        loud = rows(rng, 3000, error=1.0, spread=(10.0, 1.0, 1.0))
        scaled = total(information(quiet, loud)).theta
        mixed = triangle(np.vstack([quiet, loud]))
        v = np.linalg.svd(mixed)[2][-1]
        errors.append([np.abs(scaled - TRUTH)[2], np.abs(-v[:-1] / v[-1] - TRUTH)[2]])
    scaled, unscaled = np.sqrt(np.mean(np.square(errors), axis=0))
    assert scaled < 0.5 * unscaled


def test_known_errors_of_unequal_columns():
    """Errors of 0, .3 and .1 in the columns and .5 in the torque: told so, it corrects for just those."""
    rng = np.random.default_rng(2)
    Y = rng.normal(size=(100_000, 3)) * (1.0, 1.0, 0.3)
    size = np.array([0.0, 0.3, 0.1, 0.5])
    W = np.column_stack([Y, Y @ TRUTH]) + size * rng.normal(size=(100_000, 4))
    found = information(W)
    fair = total(found, errors=[np.diag(size**2)])
    np.testing.assert_allclose(fair.theta, TRUTH, rtol=0, atol=0.03)  # deviation .01
    assert abs(ordinary(found).theta[1] - 2.0) > 0.15


def test_errors_that_go_together():
    """The errors of two columns are one and the same noise."""
    rng = np.random.default_rng(3)
    Y = rng.normal(size=(100_000, 3))
    shared = rng.normal(size=(100_000, 1)) * [[0.3, 0.3, 0.0, 0.0]] + 0.1 * rng.normal(size=(100_000, 4))
    C = 0.01 * np.eye(4)
    C[:2, :2] += 0.09
    fair = total(information(np.column_stack([Y, Y @ TRUTH]) + shared), errors=[C])
    np.testing.assert_allclose(fair.theta, TRUTH, rtol=0, atol=0.02)


def test_torque_errors_alone_are_weighted_least_squares():
    rng = np.random.default_rng(4)
    joints = []
    for size in (0.1, 2.0):
        Y = rng.normal(size=(500, 3))
        joints.append(np.column_stack([Y, Y @ TRUTH + size * rng.normal(size=500)]))
    found = information(*joints)
    only = np.diag([0.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(total(found, errors=[only, only]).theta, weighted(found).theta, rtol=1e-9)


def test_noise_is_that_of_the_equations():
    """tau - Y theta has the torque's error and the columns': .1 sqrt(1 + 1 + 4 + 9)."""
    fair = total(information(rows(np.random.default_rng(5), 20_000, error=0.1)))
    np.testing.assert_allclose(fair.noise, 0.1 * np.sqrt(15.0), rtol=0.02)
    # deviations from the information as it is: a column of .3 and error .1 is over-trusted by a twentieth
    spread = [total(information(rows(np.random.default_rng(s), 2000, error=0.1))).theta for s in range(200)]
    said = total(information(rows(np.random.default_rng(5), 2000, error=0.1))).deviation
    np.testing.assert_allclose(np.std(spread, axis=0), said, rtol=0.25)


def test_columns_without_information_are_said():
    rng = np.random.default_rng(6)
    W = rows(rng, 5000, error=0.3, spread=(1.0, 1.0, 0.0))
    found = total(information(W))
    assert any(f.code == "fit.total_not_unique" for f in found.findings)


def test_errors_of_another_shape():
    found = information(rows(np.random.default_rng(7), 100, error=0.1))
    with pytest.raises(DataError, match="columns"):
        total(found, errors=[np.eye(3)])
    with pytest.raises(DataError, match="every joint"):
        total(found, errors=[])
