"""Classic mistakes about data and certainty, kept beside what is right, with the size of the damage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import butter, lfilter

import arm
import robots
from steelyard.basis import base_parameters
from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import Trajectory
from steelyard.estimate.least_squares import ordinary, weighted
from steelyard.excite.design import design_motion
from steelyard.excite.limits import MotionLimits
from steelyard.information import triangle
from steelyard.model import Model
from steelyard.preparation.differentiate import derivative, differentiate
from steelyard.preparation.smooth import smooth
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous


def base_regressor(path):
    """(T, 7, 64) of the arm."""
    picked = [arm.model().names.index(name) for name in arm.basis().names]
    return arm.model().regressor(path)[:, :, picked]


def scaled_values(A):
    """Singular values with columns of unit length, and of the columns as they are."""
    plain = np.linalg.svd(A, compute_uv=False)
    return np.linalg.svd(A / np.linalg.norm(A, axis=0), compute_uv=False), plain


@pytest.fixture(scope="module")
def motions():
    """25 random motions of the arm of different size and length: triangles (64, 64) of their base columns."""
    triangles = []
    for seed in range(25):
        size, length = np.random.default_rng(seed).uniform((0.2, 1.0), (1.0, 20.0))
        path = arm.reference(seed=seed, amplitude=size)
        t = np.arange(200) * 0.05
        states = Trajectory(
            t, arm.model().robot.joint_names, q=path.position(t), dq=path.velocity(t), ddq=path.acceleration(t)
        )
        triangles.append(np.sqrt(length) * triangle(base_regressor(states).reshape(-1, arm.basis().count)))
    return triangles


def test_e28_variance_goes_with_the_least_singular_value(motions):
    """`tr cov = s^2 sum 1 / s_i^2`: 1 / s_min tells it almost alone, the condition number less well."""
    log_trace, log_least, log_condition = [], [], []
    for R in motions:
        values = np.linalg.svd(R, compute_uv=False)
        log_trace.append(np.log(np.sum(values**-2.0)))
        log_least.append(-np.log(values[-1]))
        log_condition.append(np.log(values[0] / values[-1]))
    least, condition = (np.corrcoef(log_trace, other)[0, 1] for other in (log_least, log_condition))
    assert least > 0.98
    assert least > condition + 0.02


def test_e28_condition_depends_on_the_units(motions):
    """Millimetres for metres in some columns: another condition number of the same data, the same certainty."""
    R = motions[0]
    units = np.where(np.arange(R.shape[1]) % 3 == 0, 1e3, 1.0)
    plain, scaled = scaled_values(R), scaled_values(R * units)
    assert plain[0][0] / plain[0][-1] == pytest.approx(scaled[0][0] / scaled[0][-1], rel=1e-9)
    assert scaled[1][0] / scaled[1][-1] > 10 * plain[1][0] / plain[1][-1]
    relative = [np.sqrt(np.diag(np.linalg.inv(M.T @ M))) for M in (R, R * units)]
    np.testing.assert_allclose(relative[1] * units, relative[0], rtol=1e-6)


def test_e28_the_best_condition_is_not_the_best_motion():
    """The same limits, designed for the determinant and for the scaled condition number: 8 against 3 in condition,
    and deviations in favour of the first by more than two."""
    robot = arm.model().robot
    none = np.full(7, np.inf)
    limits = MotionLimits(
        robot.joint_names, robot.lower, robot.upper, robot.velocity_limit, np.full(7, 12.0), none, none
    )
    found = {}
    for criterion in ("d", "condition_scaled"):
        design = design_motion(
            arm.model(), limits, criterion=criterion, columns="rigid", starts=1, changes=0, budget=30.0, seed=1
        )
        G, length = design.information, np.sqrt(np.diag(design.information))
        values = np.linalg.eigvalsh(G / np.outer(length, length))
        found[criterion] = np.sqrt(values[-1] / values[0]), np.exp(np.mean(np.log(design.deviations)))
    assert found["condition_scaled"][0] < 0.6 * found["d"][0]
    assert found["d"][1] < 0.6 * found["condition_scaled"][1]


@pytest.fixture(scope="module")
def planar(tmp_path_factory):
    robot = robots.load(tmp_path_factory.mktemp("planar"), "planar_offset")
    return Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset()))


def test_a13_information_is_not_the_number_of_samples(planar):
    """A pose again and again: rank 2 of 12, whatever the number; five poses at rest: what gravity can tell, no more."""
    basis = base_parameters(planar)

    def rank(poses, times):
        q = np.tile(poses, (times, 1))
        still = Trajectory(0.01 * np.arange(len(q)), planar.robot.joint_names, q=q, dq=0 * q, ddq=0 * q, tau=q)
        return ordinary(planar.absorb([still], names=basis.names)).rank

    poses = np.random.default_rng(1).uniform(-2.0, 2.0, (5, 2))
    assert [rank(poses[:1], n) for n in (1, 10, 1000)] == [2, 2, 2]
    assert rank(poses, 1) == rank(poses, 200) < basis.count


def test_a13_a_motion_again_halves_the_variance_and_shows_nothing_new(planar):
    """det(Y'Y) of n repeats is n^p of that of one; directions and condition stay as they are."""
    basis = base_parameters(planar)
    path = robots.states(planar.robot.joint_names, 200)
    once = planar.absorb([robots.with_torque(path, path.q)], names=basis.names)
    again = once
    for k in range(1, 4):
        again = again.merge(planar.absorb([robots.with_torque(path, path.q + k)], names=basis.names))
    R1, R4 = (info.stacked()[:-1, :-1] for info in (once, again))
    logs = [2 * np.sum(np.log(np.abs(np.diag(R)))) for R in (R1, R4)]
    assert logs[1] - logs[0] == pytest.approx(basis.count * np.log(4), rel=1e-9)
    assert ordinary(again).condition_scaled == pytest.approx(ordinary(once).condition_scaled, rel=1e-9)
    assert ordinary(again).rank == ordinary(once).rank


def swinging(samples, rate):
    """Slow sines of two joints."""
    t = np.arange(samples) / rate
    w = 2 * np.pi * np.array([[0.11, 0.37], [0.17, 0.29]])
    angle = w * t[:, None, None] + np.array([[0.3, 1.0], [2.0, 0.1]])
    size = np.array([[1.0, 0.5], [1.2, 0.4]])
    q, dq, ddq = (x.sum(axis=2) for x in (size * np.sin(angle), size * w * np.cos(angle), -size * w**2 * np.sin(angle)))
    return Trajectory(t, ("shoulder", "elbow"), q=q, dq=dq, ddq=ddq)


def test_e38_the_bound_is_reached_in_white_noise_and_missed_in_filtered_noise(planar):
    """White: variance over its bound 1.0. Filtered at 5 of 50 Hz: 95 % intervals hold 46 %; one in ten kept: 95 %."""
    basis = base_parameters(planar)
    path = swinging(4000, 100.0)
    Y = planar.regressor(path)[:, :, [planar.names.index(n) for n in basis.names]]
    rng = np.random.default_rng(2)
    b, a = butter(4, 0.1)

    def intervals(noise, every):
        A, e = Y[::every].reshape(-1, basis.count), noise[::every].reshape(-1)
        inverse = np.linalg.inv(A.T @ A)
        error = inverse @ (A.T @ e)
        left = e - A @ error
        deviation = np.sqrt(np.diag(inverse) * (left @ left) / (len(e) - basis.count))
        return error, deviation

    ratios, naive, kept = [], [], []
    for _ in range(150):
        white = rng.normal(size=(4200, 2))
        error, deviation = intervals(white[200:], 1)
        ratios.append((error / deviation) ** 2)
        filtered = lfilter(b, a, white, axis=0)[200:]
        for every, held in ((1, naive), (10, kept)):
            error, deviation = intervals(filtered, every)
            held.append(np.abs(error) < 1.96 * deviation)
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.1)  # 150 runs of 12 parameters: 3 %
    assert np.mean(naive) == pytest.approx(0.46, abs=0.05)
    assert np.mean(kept) == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize(("alpha", "viscous"), [(50, 0.245), (100, 0.378), (200, 0.440), (1000, 0.488)])
def test_e51_a_smooth_sign_takes_from_viscous_friction(alpha, viscous):
    """Peak speed 0.3 rad/s, fv .5, fc .8: tanh(alpha dq) halves the viscous friction found at alpha 50."""
    t = 0.001 * np.arange(10_000)
    w = 2 * np.pi * 0.5
    dq = (0.3 * np.cos(w * t))[:, None]
    path = Trajectory(t, ("a",), q=0.3 / w * np.sin(w * t)[:, None], dq=dq, ddq=-0.3 * w * np.sin(w * t)[:, None],
                      tau=0.5 * dq + 0.8 * np.sign(dq))  # fmt: skip
    model = Model(Robot.from_joints(["a"]), (Viscous(), Coulomb(smoothing=1.0 / alpha)))
    found = ordinary(model.absorb([path])).value("actuator/a/viscous_friction")
    assert found == pytest.approx(viscous, abs=0.02)
    sharp = Model(model.robot, (Viscous(), Coulomb()))
    assert ordinary(sharp.absorb([path])).value("actuator/a/viscous_friction") == pytest.approx(0.5, abs=1e-9)


def test_e26_harmonics_beyond_the_motion_are_part_of_the_torque():
    """A motion of five harmonics: lines 1 to 5 alone cost a factor in certainty, DC to 15 next to nothing."""
    path = arm.motion(duration=10.0, rate=40.0)
    rigid = Model(arm.model().robot, (RigidBody(),))
    basis = base_parameters(rigid)
    Y = rigid.regressor(path)[:, :, [rigid.names.index(n) for n in basis.names]]
    lines = np.fft.rfft(Y, axis=0) / np.sqrt(len(path) / 2.0)
    lines[0] /= np.sqrt(2.0)

    def deviation(first, last):
        A = lines[first : last + 1].reshape(-1, basis.count)
        A = np.vstack([A.real, A.imag])
        if np.linalg.matrix_rank(A / np.linalg.norm(A, axis=0)) < basis.count:
            return np.full(basis.count, np.inf)
        return np.sqrt(np.diag(np.linalg.inv(A.T @ A)))

    whole = Y.reshape(-1, basis.count)
    full = np.sqrt(np.diag(np.linalg.inv(whole.T @ whole)))
    worse = [np.exp(np.mean(np.log(deviation(*band) / full))) for band in ((1, 5), (0, 5), (0, 10), (0, 15), (0, 199))]
    assert worse[0] > worse[1] > worse[2] > worse[3]
    assert worse[0] > 1.5
    assert worse[1] > 1.3
    assert worse[2] < 1.3
    assert worse[3] == pytest.approx(1.0, abs=0.05)
    assert worse[4] == pytest.approx(1.0, abs=1e-6)  # Parseval
    tau = np.abs(np.fft.rfft(Y @ basis.regroup(rigid.nominal), axis=0)) ** 2
    assert tau[6:].sum() / tau[1:].sum() > 0.002  # of a slow, heavy arm; a fast one has a tenth of its power there


def test_e27_integrated_over_a_period_little_is_left():
    """One scalar equation a joint: rank 7 at most of 43, while a filter keeps all of it."""
    path = arm.motion(duration=10.0, rate=100.0)
    rigid = Model(arm.model().robot, (RigidBody(),))
    basis = base_parameters(rigid)
    picked = [rigid.names.index(n) for n in basis.names]
    whole = rigid.regressor(path)[:, :, picked].mean(axis=0)
    assert np.linalg.matrix_rank(whole, tol=1e-9 * np.abs(whole).max()) <= 7
    info = rigid.absorb([replace(path, tau=path.q)], names=basis.names, lowpass=LowPass(5.0, 5))
    assert ordinary(info).rank == basis.count == 43


def test_e30_noise_of_a_second_difference():
    """sqrt(6) s / dt^2 = 245 for s = 1e-4 and dt = 1 ms, not 2 s / dt^2; twice the central difference: 61."""
    q = 1e-4 * np.random.default_rng(3).normal(size=(200_000, 1))
    t = 1e-3 * np.arange(len(q))
    second = np.diff(q, 2, axis=0) / 1e-6
    assert second.std() == pytest.approx(np.sqrt(6) * 100.0, rel=0.01)
    twice = derivative(derivative(q, t), t)[10:-10]
    assert twice.std() == pytest.approx(np.sqrt(6) / 4 * 100.0, rel=0.01)


def test_e6_the_cutoff_must_be_well_above_the_motion():
    """Motion up to .5 Hz, 1e-4 rad, q and torque filtered: at once or twice that frequency the torque is a tenth or a
    hundredth wrong, at 5 to 20 times it is right, without a filter it drowns."""
    rigid = Model(arm.model().robot, (RigidBody(),))
    basis = base_parameters(rigid)
    path = arm.motion(duration=20.0, rate=200.0)
    q = path.q + 1e-4 * np.random.default_rng(4).normal(size=path.q.shape)
    measured = Trajectory(path.time, path.joint_names, q=q, tau=rigid.torque(rigid.nominal, path), name="noisy")
    valid = np.zeros(q.shape, dtype=bool)
    valid[400:-400] = True
    unseen = arm.motion(seed=4, duration=10.0, rate=50.0)
    expected = rigid.torque(rigid.nominal, unseen)

    def error(factor, channels):
        ready = measured if factor is None else smooth(measured, 0.5 * factor, channels=channels)
        ready = replace(differentiate(ready), valid=valid)
        info = rigid.absorb([ready], names=basis.names)
        found = rigid.predict(weighted(info, basis=basis), unseen)
        return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))

    both = {f: error(f, ("q", "tau")) for f in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0)}
    assert both[0.5] > 0.1
    assert both[1.0] > 20 * both[5.0]
    assert both[2.0] > 5 * both[10.0]
    assert max(both[5.0], both[10.0], both[20.0]) < 0.005
    assert error(None, ()) > 20 * both[10.0]
    assert error(0.5, ("q",)) > 0.2
