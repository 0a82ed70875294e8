"""Least squares on the triangle: exact, indifferent to units and order, and as sure as it says it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import robots
from steelyard import Recording, identify
from steelyard.basis import base_parameters
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.estimate.least_squares import ordinary, weighted
from steelyard.information import empty
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.term import Column
from steelyard.terms.viscous import Viscous

ESTIMATORS = {"ordinary": ordinary, "weighted": weighted}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    robot = robots.load(tmp_path_factory.mktemp("planar"), "planar_offset")
    return Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset()))


@pytest.fixture(scope="module")
def basis(model):
    return base_parameters(model)


@pytest.fixture(scope="module")
def theta(model):
    return model.nominal + np.random.default_rng(0).normal(size=len(model.names))


@pytest.fixture(scope="module")
def motion(model):
    return robots.states(model.robot.joint_names, 400, seed=1)


def absorbed(model, basis, motion, tau):
    return model.absorb([robots.with_torque(motion, tau)], names=basis.names)


@pytest.fixture(scope="module")
def noisy(model, basis, theta, motion):
    """The two joints with noise of 0.05 and 2 N m."""
    noise = np.random.default_rng(2).normal(size=motion.q.shape) * [0.05, 2.0]
    return absorbed(model, basis, motion, model.torque(theta, motion) + noise)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_exact_without_noise(model, basis, theta, motion, name):
    """Rounding of well-conditioned columns (condition 20): 1e-13."""
    info = absorbed(model, basis, motion, model.torque(theta, motion))
    estimate = ESTIMATORS[name](info, basis=basis)
    truth = basis.regroup(theta)
    assert estimate.names == basis.names
    np.testing.assert_allclose(estimate.theta, truth, rtol=0, atol=1e-12 * np.abs(truth).max())
    assert estimate.condition_scaled < 20
    assert estimate.noise.max() < 1e-10
    assert estimate.deviation.max() < 1e-10
    assert estimate.findings == ()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_full_information_and_a_basis_give_the_same_estimate(model, basis, theta, motion, name):
    tau = model.torque(theta, motion) + np.random.default_rng(3).normal(size=motion.q.shape)
    recording = robots.with_torque(motion, tau)
    one = ESTIMATORS[name](model.absorb([recording]), basis=basis)
    two = ESTIMATORS[name](model.absorb([recording], names=basis.names), basis=basis)
    np.testing.assert_allclose(one.theta, two.theta, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one.deviation, two.deviation, rtol=1e-9)


def dense(model, basis, motion):
    picked = [model.names.index(name) for name in basis.names]
    return model.regressor(motion)[:, :, picked]


def test_ordinary_is_lstsq_and_the_pseudo_inverse(model, basis, theta, motion):
    Y = dense(model, basis, motion)
    tau = model.torque(theta, motion) + np.random.default_rng(4).normal(size=motion.q.shape)
    A, b = Y.reshape(-1, basis.count), tau.ravel()
    estimate = ordinary(absorbed(model, basis, motion, tau), basis=basis)
    np.testing.assert_allclose(estimate.theta, np.linalg.lstsq(A, b, rcond=None)[0], rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(estimate.theta, np.linalg.pinv(A) @ b, rtol=1e-11, atol=1e-12)
    residual = (b - A @ estimate.theta).reshape(-1, 2)
    assert estimate.information.misfit(estimate.theta) == pytest.approx((residual**2).sum(axis=0), rel=1e-11)
    assert np.abs(A.T @ residual.ravel()).max() < 1e-10 * np.linalg.norm(A) * np.linalg.norm(b)
    assert np.all(estimate.weights == 1.0)
    # noise of each joint: what each joint's residual holds of its own noise and of the other's, solved for both
    hat = A @ np.linalg.pinv(A)
    left = (np.eye(800) - hat) ** 2
    shares = np.array([[left[j::2, i::2].sum() for i in (0, 1)] for j in (0, 1)])
    expected = np.linalg.solve(shares, (residual**2).sum(axis=0))
    np.testing.assert_allclose(estimate.noise, np.sqrt(expected), rtol=1e-10)


def test_weighted_is_dense_weighted_least_squares(model, basis, noisy, theta, motion):
    """With the weights it ended at; rows are stacked sample by sample, so the weights alternate."""
    estimate = weighted(noisy, basis=basis)
    A = dense(model, basis, motion).reshape(-1, basis.count)
    b = (model.torque(theta, motion) + np.random.default_rng(2).normal(size=motion.q.shape) * [0.05, 2.0]).ravel()
    root = np.tile(np.sqrt(estimate.weights), 400)
    expected = np.linalg.lstsq(A * root[:, None], b * root, rcond=None)[0]
    np.testing.assert_allclose(estimate.theta, expected, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(estimate.weights, estimate.noise**-2.0, rtol=1e-8)
    covariance = np.linalg.inv((A * root[:, None]).T @ (A * root[:, None]))
    np.testing.assert_allclose(estimate.covariance, covariance, rtol=1e-7, atol=1e-9 * np.abs(covariance).max())


def test_noise_of_each_joint_is_recovered(noisy, basis):
    """A deviation from 400 samples has a standard error of 1 / sqrt(800) = 3.5 %: within three of them."""
    np.testing.assert_allclose(weighted(noisy, basis=basis).noise, [0.05, 2.0], rtol=0.11)


def test_noise_of_a_quiet_joint_beside_a_loud_one_by_ordinary_least_squares(model, basis, theta, motion):
    """The loud joint's errors would add to the quiet one's noise; mean of 60 runs, within three standard errors."""
    found = []
    for seed in range(60):
        noise = np.random.default_rng(seed).normal(size=motion.q.shape) * [0.2, 2.0]
        found.append(ordinary(absorbed(model, basis, motion, model.torque(theta, motion) + noise), basis=basis).noise)
    mean = np.sqrt(np.mean(np.square(found), axis=0))
    np.testing.assert_allclose(mean, [0.2, 2.0], rtol=0.03)


def test_weighting_makes_use_of_the_quiet_joint(noisy, basis, theta):
    truth = basis.regroup(theta)
    plain, fair = ordinary(noisy, basis=basis), weighted(noisy, basis=basis)
    assert np.exp(np.mean(np.log(fair.deviation / plain.deviation))) < 0.5
    assert np.linalg.norm((fair.theta - truth) / plain.deviation) < np.linalg.norm(
        (plain.theta - truth) / plain.deviation
    )


@pytest.mark.parametrize("name", ESTIMATORS)
def test_units_of_the_columns_do_not_matter(noisy, name):
    """theta = diag(s) phi: each phi and its deviation are s times smaller, nothing else changes."""
    scale = 10.0 ** np.linspace(-7, 7, len(noisy.names))
    plain = ESTIMATORS[name](noisy)
    scaled = ESTIMATORS[name](noisy.project(noisy.names, np.diag(scale)))
    np.testing.assert_allclose(scaled.theta * scale, plain.theta, rtol=1e-9)
    np.testing.assert_allclose(scaled.deviation * scale, plain.deviation, rtol=1e-9)
    np.testing.assert_allclose(scaled.noise, plain.noise, rtol=1e-11)
    assert scaled.condition_scaled == pytest.approx(plain.condition_scaled, rel=1e-9)
    assert scaled.condition > 1e6 * plain.condition
    assert scaled.rank == plain.rank


@pytest.mark.parametrize("name", ESTIMATORS)
def test_order_of_the_columns_does_not_matter(noisy, name):
    order = np.random.default_rng(5).permutation(len(noisy.names))
    plain, turned = ESTIMATORS[name](noisy), ESTIMATORS[name](noisy.select([noisy.names[k] for k in order]))
    np.testing.assert_allclose(turned.theta, plain.theta[order], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(turned.deviation, plain.deviation[order], rtol=1e-10)


@pytest.mark.parametrize("power", [-100, -12, 12, 100])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_any_unit_of_torque(model, basis, motion, theta, name, power):
    tau = model.torque(theta, motion) + np.random.default_rng(2).normal(size=motion.q.shape) * [0.05, 2.0]
    plain = ESTIMATORS[name](absorbed(model, basis, motion, tau))
    scaled = ESTIMATORS[name](absorbed(model, basis, motion, tau * 10.0**power))
    np.testing.assert_allclose(scaled.theta / 10.0**power, plain.theta, rtol=1e-8)
    np.testing.assert_allclose(scaled.deviation / 10.0**power, plain.deviation, rtol=1e-8)
    assert scaled.rank == plain.rank


@pytest.mark.parametrize(("name", "noise"), [("ordinary", (1.0, 1.0)), ("weighted", (0.3, 1.5))])
def test_intervals_hold_the_truth_as_often_as_they_say(model, basis, theta, motion, name, noise):
    """White noise, 500 runs of 60 samples, 12 parameters: pooled 95 % intervals, standard error about 0.4 %."""
    short = motion.samples(0, 60)
    Y = dense(model, basis, short)
    truth, clean = basis.regroup(theta), Y @ basis.regroup(theta)
    rng = np.random.default_rng(11)
    inside, error, said = [], [], []
    for _ in range(500):
        tau = clean + rng.normal(size=clean.shape) * noise
        estimate = ESTIMATORS[name](absorbed(model, basis, short, tau))
        low, high = estimate.interval().T
        inside.append((low <= truth) & (truth <= high))
        error.append(estimate.theta - truth)
        said.append(estimate.deviation)
    assert 0.94 <= np.mean(inside) <= 0.96
    ratio = np.std(error, axis=0) / np.sqrt(np.mean(np.square(said), axis=0))
    assert np.all(np.abs(ratio - 1.0) < 0.12)  # 1 / sqrt(1000) = 3 %, the largest of twelve within four of them
    assert np.all(np.abs(np.mean(error, axis=0)) < 4 * np.std(error, axis=0) / np.sqrt(500))


def test_wider_levels_give_wider_intervals(noisy):
    estimate = weighted(noisy)
    narrow, wide = estimate.interval(0.5), estimate.interval(0.999)
    assert np.all(wide[:, 0] < narrow[:, 0])
    assert np.all(narrow[:, 1] < wide[:, 1])
    # Student with 788 degrees of freedom is the normal distribution to 2e-3: quartile 0.6745
    half = 0.5 * (narrow[:, 1] - narrow[:, 0])
    np.testing.assert_allclose(half / estimate.deviation, 0.6745, rtol=2e-3)
    assert estimate.freedom == 2 * 400 - len(noisy.names)


def resting(model, theta, motion, joint):
    """The same motion with one joint held where it is."""
    q, dq, ddq = (np.array(x) for x in (motion.q, motion.dq, motion.ddq))
    q[:, joint], dq[:, joint], ddq[:, joint] = 0.4, 0.0, 0.0
    held = Trajectory(motion.time, motion.joint_names, q=q, dq=dq, ddq=ddq)
    return robots.with_torque(held, model.torque(theta, held))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_the_motion_does_not_show_is_said(model, basis, theta, motion, name):
    held = resting(model, theta, motion, 1)
    estimate = ESTIMATORS[name](model.absorb([held], names=basis.names), basis=basis)
    deviation = dict(zip(estimate.names, estimate.deviation, strict=True))
    assert np.isinf(deviation["actuator/elbow/viscous_friction"])
    assert np.isinf(deviation["actuator/elbow/coulomb_friction"])
    assert deviation["actuator/shoulder/viscous_friction"] < 1e-6
    assert estimate.value("actuator/shoulder/viscous_friction") == pytest.approx(
        theta[model.names.index("actuator/shoulder/viscous_friction")], abs=1e-9
    )
    finding = next(f for f in estimate.findings if f.code == "fit.rank_deficient")
    assert finding.value == estimate.rank < basis.count
    assert "elbow" in finding.message
    assert finding.cure
    assert "inf" in estimate.table()
    # what it cannot tell apart it still predicts: the held motion is reproduced
    torque = model.torque(estimate.full(model.names), held)
    assert robots.relative(torque, held.tau) < 1e-9


def test_a_parameter_without_any_data_is_zero(model, basis, theta, motion):
    """Of all values that fit as well, the one of least length: nothing known, nothing said."""
    held = resting(model, theta, motion, 1)
    estimate = weighted(model.absorb([held], names=basis.names), basis=basis)
    assert estimate.value("actuator/elbow/viscous_friction") == 0.0


def test_a_lost_parameter_has_no_finite_interval(model, basis, theta, motion):
    """Every parameter of which another value would fit as well says so."""
    held = resting(model, theta, motion, 1)
    info = model.absorb([held], names=basis.names)
    estimate = ordinary(info, basis=basis)
    U, values, Vt = np.linalg.svd(info.stacked()[:-1, :-1])
    null = Vt[values < 1e-9 * values[0]]
    assert len(null) == basis.count - estimate.rank
    moved = np.abs(null).max(axis=0) > 1e-6
    assert np.all(np.isinf(estimate.deviation[moved]))
    assert np.all(np.isfinite(estimate.deviation[~moved]))
    low, high = estimate.interval().T
    assert np.all(low[moved] == -np.inf)
    assert np.all(high[moved] == np.inf)
    assert U.shape == (basis.count, basis.count)


def test_the_same_motion_again_shows_nothing_new(model, basis, theta, motion):
    """Information, not the number of samples: ten times one posture has the rank of one posture."""

    def posture(count):
        still = Trajectory(0.01 * np.arange(count), motion.joint_names, q=np.tile(motion.q[:1], (count, 1)),
                           dq=np.zeros((count, 2)), ddq=np.zeros((count, 2)), tau=np.ones((count, 2)))  # fmt: skip
        return ordinary(model.absorb([still], names=basis.names)).rank

    assert posture(1) == posture(10) == posture(1000) == 2


@dataclass(frozen=True)
class Twin:
    """A column that is joint 0's viscous friction but for one part in ten thousand."""

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        return (Column("extra/shoulder/twin", "N m s/rad", (0,)),)

    def block(self, robot: Robot, trajectory: Trajectory) -> np.ndarray:
        return trajectory.channel("dq")[:, :1] + 1e-4 * np.sin(3.0 * trajectory.channel("q")[:, :1])


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_direction_the_motion_barely_shows_is_named(model, motion, name):
    both = Model(model.robot, (*model.terms, Twin()))
    basis = base_parameters(both)
    theta = np.random.default_rng(6).normal(size=len(both.names))
    tau = both.torque(theta, motion) + 0.1 * np.random.default_rng(7).normal(size=motion.q.shape)
    estimate = ESTIMATORS[name](absorbed(both, basis, motion, tau), basis=basis)
    assert estimate.rank == basis.count
    (finding,) = estimate.findings
    assert finding.code == "fit.weak_direction"
    assert "extra/shoulder/twin" in finding.message
    assert "actuator/shoulder/viscous_friction" in finding.message
    assert 1e-5 < finding.value < 1e-4
    ((ratio, direction),) = estimate.weak_directions()
    assert ratio == finding.value
    # equal and opposite parts of the two, in units of their own effect
    parts = {"actuator/shoulder/viscous_friction", "extra/shoulder/twin"}
    assert set(direction) == parts
    assert sorted(direction.values()) == pytest.approx([-(0.5**0.5), 0.5**0.5], rel=1e-3)
    partner = dict(zip(estimate.names, estimate.partners(), strict=True))
    assert partner["extra/shoulder/twin"] == "actuator/shoulder/viscous_friction"
    assert partner["actuator/shoulder/viscous_friction"] == "extra/shoulder/twin"
    assert "moves with extra/shoulder/twin" in estimate.table()


def test_the_table_has_one_line_a_parameter(noisy, basis):
    estimate = weighted(noisy, basis=basis)
    lines = estimate.table().splitlines()
    assert lines[0].split() == ["parameter", "value", "deviation", "95", "%", "interval"]
    assert [line.split()[0] for line in lines[1:]] == list(basis.names)
    value, deviation = (float(word) for word in lines[1].split()[1:3])
    assert value == pytest.approx(estimate.theta[0], rel=1e-4)
    assert deviation == pytest.approx(estimate.deviation[0], rel=0.05)


def test_values_by_name_and_in_their_places(noisy, model, basis):
    estimate = ordinary(noisy, basis=basis)
    assert estimate.value(basis.names[3]) == estimate.theta[3]
    with pytest.raises(StudyError) as caught:
        estimate.value("link/upper/mas")
    assert caught.value.choices == basis.names
    full = estimate.full(model.names)
    np.testing.assert_allclose(basis.regroup(full), estimate.theta, rtol=1e-12, atol=1e-14)
    with pytest.raises(StudyError, match="lacks a column"):
        estimate.full(model.names[:5])


def test_no_sample_is_no_estimate(model):
    for estimator in ESTIMATORS.values():
        with pytest.raises(DataError, match="no sample"):
            estimator(empty(model.names, model.robot.joint_names, [c.joints for c in model.columns][:2]))


def test_zero_torque_is_zero_parameters(model, basis, motion):
    estimate = ordinary(absorbed(model, basis, motion, np.zeros_like(motion.q)), basis=basis)
    assert np.all(estimate.theta == 0.0)
    assert np.all(estimate.noise == 0.0)


def test_weighted_survives_zero_torque(model, basis, motion):
    assert np.all(weighted(absorbed(model, basis, motion, np.zeros_like(motion.q)), basis=basis).theta == 0.0)


def test_an_unknown_estimator_is_named_with_the_valid_ones(model, motion):
    recording = Recording(robots.with_torque(motion, np.ones_like(motion.q)))
    with pytest.raises(StudyError, match="estimator") as caught:
        identify(model.robot, [recording], terms=model.terms, estimator="least_squares")
    assert caught.value.value == "least_squares"
    assert {"ordinary", "weighted"} <= set(caught.value.choices)
