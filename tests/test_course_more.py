"""What a course on identification claims or asks, each with the number that settles it.

Robots: Panda (fingers held) of example-robot-data, and tiny ones. Figures in comments were printed by these tests.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import linalg

import robots
from steelyard.basis import base_parameters, random_states
from steelyard.data.trajectory import Trajectory
from steelyard.errors import ModelError
from steelyard.estimate.least_squares import ordinary
from steelyard.estimate.prior import Prior
from steelyard.estimate.regularised import with_prior
from steelyard.excite.fourier import FourierFamily, FourierMotion, shared_harmonics
from steelyard.formats.profile import tool_of_parameters
from steelyard.information import triangle
from steelyard.model import Model
from steelyard.preparation.drive import geared, joint_torque, motor_motion
from steelyard.robot.inertia import parameters_about_origin
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.viscous import Viscous

GRAVITY = 9.81


@pytest.fixture(scope="module")
def panda(example_robots):
    robot = Robot.from_urdf(example_robots / "panda_description" / "urdf" / "panda.urdf")
    return Model(robot.locked(["panda_finger_joint1"]), (RigidBody(),))


@pytest.fixture(scope="module")
def basis(panda):
    return base_parameters(panda)


@pytest.fixture(scope="module")
def planar(tmp_path_factory):
    robot = robots.load(tmp_path_factory.mktemp("planar"), "planar_offset")
    return Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset()))


def recorded(model, motion, theta, *, noise=0.0, seed=0):
    """The torque of theta along a motion, with white noise [N m]."""
    rng = np.random.default_rng(seed)
    return robots.with_torque(motion, model.torque(theta, motion) + noise * rng.normal(size=motion.q.shape))


# --- base parameters -------------------------------------------------------------------------------------------------


def test_a46_qr_regroups_few_parameters_and_svd_mixes_all(panda, basis):
    """Both find 43 directions; a row of B names a few neighbours, a singular vector nearly all links."""
    Y = panda.regressor(random_states(panda, 200, seed=3)).reshape(-1, 70)
    _, values, Vt = np.linalg.svd(Y, full_matrices=False)
    _, R, order = linalg.qr(Y, mode="economic", pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = int(np.sum(diagonal > 1e-6 * diagonal[0]))
    assert rank == int(np.sum(values > 1e-10 * values[0])) == basis.count == 43
    filled = [float(np.mean(np.abs(matrix) > 1e-9)) for matrix in (basis.matrix, Vt[:43])]
    assert filled[0] < 0.05  # 3.9 %
    assert filled[1] > 0.5  # 84 %
    links = (np.abs(Vt[:43].reshape(43, 7, 10)).max(axis=2) > 1e-6).sum(axis=1)
    assert np.mean(links == 7) > 0.8
    # any choice of columns does, if the others are regrouped into them: Gautier's, by pivoting
    picked, rest = order[:rank], order[rank:]
    grouped = panda.nominal[picked] + linalg.solve_triangular(R[:rank, :rank], R[:rank, rank:]) @ panda.nominal[rest]
    assert np.linalg.norm(Y[:, picked] @ grouped - Y @ panda.nominal) < 1e-13 * np.linalg.norm(Y @ panda.nominal)


def test_a39_all_seventy_by_least_norm_are_no_robot(panda, basis):
    """Torque to rounding from links without mass; the library says that 27 combinations are not in the data."""
    motion = robots.states(panda.robot.joint_names, 300, seed=12)
    recording = recorded(panda, motion, panda.nominal)
    theta = np.linalg.pinv(panda.regressor(motion).reshape(-1, 70)) @ recording.tau.ravel()
    assert robots.relative(panda.torque(theta, motion), recording.tau) < 1e-10
    masses = theta[::10]
    assert np.abs(masses[:2]).max() < 1e-9  # the file: 5.0 and 0.6 kg
    assert masses[2] == pytest.approx(0.38, abs=0.005)  # the file: 3.2 kg
    estimate = ordinary(panda.absorb([recording]))
    (finding,) = [f for f in estimate.findings if f.code == "fit.rank_deficient"]
    assert finding.value == estimate.rank == 43
    unknown = np.isinf(estimate.deviation)
    assert np.all(unknown[::10])  # of no link the mass
    # the base columns alone are bounded, all of them
    assert np.all(np.isfinite(ordinary(panda.absorb([recording], names=basis.names), basis=basis).deviation))


def test_a40_no_mass_no_centre_of_mass(panda, basis):
    """On an arm of turning joints no link's mass stands alone, so no centre of mass can be had from torque."""
    assert {basis.classes[name] for name in panda.names if name.endswith("/mass")} <= {"none", "combined"}
    assert basis.classes["link/panda_link1/mass"] == "none"
    assert basis.classes["link/panda_link1/first_moment_z"] == "none"


def test_a40_g08_behind_a_slide_the_centre_is_moment_over_mass(tmp_path):
    """A turntable with a slide: mass and two first moments stand alone, the third is not in the torque."""
    parts = robots.chain(["revolute 0,0,1 0,0,0.4 0,0,0", "prismatic 1,0,0 0.4,0,0 0,0,0"])
    model = Model(robots.load(tmp_path, "turn_slide", parts), (RigidBody(),))
    basis = base_parameters(model)
    motion = robots.states(model.robot.joint_names, 200)
    estimate = ordinary(model.absorb([recorded(model, motion, model.nominal)], names=basis.names), basis=basis)
    kinds = [basis.classes[f"link/link_2/{what}"] for what in ("mass", *(f"first_moment_{x}" for x in "xyz"))]
    assert kinds == ["alone", "alone", "alone", "none"]
    mass, *moments = (estimate.value(f"link/link_2/{what}") for what in ("mass", "first_moment_x", "first_moment_y"))
    assert mass > 0.0
    np.testing.assert_allclose(np.array(moments) / mass, [0.02, 0.01], rtol=1e-11)


@pytest.mark.parametrize("mass", [0.0, -1.3])
def test_g08_without_a_positive_mass_there_is_no_centre(mass):
    values = parameters_about_origin(1.3, np.array([0.1, 0.0, 0.0]), np.diag([1e-3] * 3))
    values[0] = mass
    with pytest.raises(ModelError, match="mass above zero"):
        tool_of_parameters("part", "flange", values)


def cylinder_arm(folder, name, radius, length):
    """The second link of a planar arm is a cylinder along it, of 1.3 kg."""
    along, across = 1.3 * radius**2 / 2.0, 1.3 * (3.0 * radius**2 + length**2) / 12.0
    second = (
        f'<link name="two"><inertial><origin xyz="{length / 2} 0 0"/><mass value="1.3"/>'
        f'<inertia ixx="{along!r}" ixy="0" ixz="0" iyy="{across!r}" iyz="0" izz="{across!r}"/></inertial></link>'
    )
    parts = (
        robots.body("base"), robots.body("one", 2.0, "0.25 0 0"), second,
        robots.joint("q1", "base one", axis="0 -1 0"), robots.joint("q2", "one two", axis="0 -1 0", at="0.5 0 0"),
    )  # fmt: skip
    return Model(robots.load(folder, name, parts), (RigidBody(),))


def test_a43_a_symmetric_cylinder_has_as_many_base_parameters(tmp_path):
    """Columns are geometry of the joints: a special body changes no count, it ties values together.

    I2 = m2 (3 r^2 + l^2) / 12 about the centre: with r and l known, I2 + m2 l^2/4 follows from m2 l/2.
    """
    length = 0.4
    models = [cylinder_arm(tmp_path, f"r{k}", radius, length) for k, radius in enumerate((0.03, 0.1))]
    bases = [base_parameters(model) for model in models]
    assert bases[0].names == bases[1].names
    assert bases[0].count == 6  # in general; 4 of them are not zero with the centres on the line
    for model, base, radius in zip(models, bases, (0.03, 0.1), strict=True):
        values = dict(zip(base.names, base.regroup(model.nominal), strict=True))
        assert values["link/two/first_moment_x"] == pytest.approx(1.3 * length / 2, rel=1e-12)
        tied = values["link/two/first_moment_x"] * 2 / length * ((3 * radius**2 + length**2) / 12 + length**2 / 4)
        assert values["link/two/inertia_yy"] == pytest.approx(tied, rel=1e-12)
        assert sum(abs(value) > 1e-12 for value in values.values()) == 4


# --- least squares ---------------------------------------------------------------------------------------------------


def conditioned(condition, rows=2000, columns=50):
    """A matrix of this condition number, true parameters, and their exact observations."""
    rng = np.random.default_rng(1)
    U, V = np.linalg.qr(rng.normal(size=(rows, columns)))[0], np.linalg.qr(rng.normal(size=(columns, columns)))[0]
    A = (U * np.logspace(0.0, -np.log10(condition), columns)) @ V.T
    truth = rng.normal(size=columns)
    return A, truth, A @ truth


def qr(A, b):
    Q, R = np.linalg.qr(A)
    return linalg.solve_triangular(R, Q.T @ b)


SOLVERS = {
    "qr": qr,
    "svd": lambda A, b: np.linalg.lstsq(A, b, rcond=None)[0],
    "ldlt": lambda A, b: linalg.solve(A.T @ A, A.T @ b, assume_a="sym"),
    "inverse": lambda A, b: np.linalg.inv(A.T @ A) @ A.T @ b,
    "single": lambda A, b: qr(A.astype(np.float32), b.astype(np.float32)),
    "triangle": lambda A, b: np.linalg.solve(*np.split(triangle(np.column_stack([A, b]))[:-1], [-1], axis=1)).ravel(),
}


def test_a49_orthogonal_factors_keep_what_normal_equations_lose():
    """Condition 1e6: QR 1e-11, SVD 3e-12; LDL' of Y'Y 2e-5, its inverse 4e-4; QR in single precision 4e-3."""
    A, truth, b = conditioned(1e6)
    error = {name: np.linalg.norm(solve(A, b) - truth) / np.linalg.norm(truth) for name, solve in SOLVERS.items()}
    for name in ("qr", "svd", "triangle"):
        assert error[name] < 1e-10, name
    for name in ("inverse", "ldlt"):
        assert 1e-7 < error[name] < 1e-2, name  # 1e6 squared times rounding
    assert error["single"] > 1e-4


def test_a49_cholesky_of_a_singular_matrix_must_be_checked():
    """Where columns depend on one another it refuses or returns rounding; the library reports the rank."""
    A, _, _ = conditioned(10.0)
    A[:, 7] = A[:, 3]
    try:
        factor = np.linalg.cholesky(A.T @ A)
    except np.linalg.LinAlgError:
        factor = None
    assert factor is None or np.diag(factor).min() < 1e-7 * np.diag(factor).max()
    robot = Robot.from_joints(["a"])
    motion = robots.states(("a",), 50)
    twice = Model(robot, (Viscous(), Twice()))
    estimate = ordinary(twice.absorb([robots.with_torque(motion, motion.dq)]))
    assert estimate.rank == 1
    assert [f.code for f in estimate.findings] == ["fit.rank_deficient"]


class Twice:
    """Viscous friction under another name."""

    def columns(self, robot):
        return tuple(replace(c, name=c.name.replace("viscous", "other")) for c in Viscous().columns(robot))

    def block(self, robot, trajectory):
        return trajectory.channel("dq")


def test_a52_no_linear_unbiased_estimator_is_better(planar):
    """Gauss and Markov: cov = A S A' of any A with A Y = 1 exceeds that of weighted least squares, each way."""
    motion, base = robots.states(planar.robot.joint_names, 60, seed=5), base_parameters(planar)
    Y = planar.regressor(motion)[:, :, [planar.names.index(n) for n in base.names]].reshape(-1, base.count)
    noise = np.tile([0.1, 2.0], 60)  # stacked sample by sample
    best = np.linalg.inv((Y / noise[:, None] ** 2).T @ Y)
    rng = np.random.default_rng(2)
    weights = {"none": np.ones(120), "half the samples": np.repeat(np.arange(60) % 2, 2), "random": rng.random(120)}
    for name, w in weights.items():
        A = np.linalg.pinv(Y * w[:, None]) * w
        np.testing.assert_allclose(A @ Y, np.eye(base.count), atol=1e-9)
        excess = (A * noise**2) @ A.T - best
        values = np.linalg.eigvalsh(excess / np.sqrt(np.outer(np.diag(best), np.diag(best))))
        assert values.min() > -1e-9, name
        assert values.max() > 0.1, name
    # Fisher's information is the inverse of it, and the library's covariance at these weights is it
    info = planar.absorb([robots.with_torque(motion, (Y @ np.ones(base.count)).reshape(60, 2))], names=base.names)
    estimate = replace(ordinary(info), weights=np.array([0.1, 2.0]) ** -2.0, noise=np.array([0.1, 2.0]))
    np.testing.assert_allclose(estimate.covariance, best, rtol=1e-9, atol=1e-12 * np.abs(best).max())


def test_g05_a_prior_about_zero_is_ridge_regression(planar):
    """theta = (Y'WY + k E)^-1 Y'W tau, with the weights that the fit ended at."""
    k, theta = 4.0, planar.nominal + 0.2
    motion = robots.states(planar.robot.joint_names, 300, seed=6)
    recording = recorded(planar, motion, theta, noise=0.3)
    count = len(planar.names)
    prior = Prior(planar.names, np.zeros(count), np.full(count, k**-0.5))
    estimate = with_prior(planar.absorb([recording]), prior)
    Y, w = planar.regressor(motion), estimate.noise**-2.0
    normal = np.einsum("tjp,j,tjq->pq", Y, w, Y) + k * np.eye(count)
    ridge = np.linalg.solve(normal, np.einsum("tjp,j,tj->p", Y, w, recording.tau))
    np.testing.assert_allclose(estimate.theta, ridge, atol=1e-6 * np.abs(ridge).max())
    covariance = np.linalg.inv(normal)
    np.testing.assert_allclose(estimate.covariance, covariance, rtol=1e-6, atol=1e-9 * np.abs(covariance).max())


def test_g31_a_small_ridge_repairs_nothing(planar):
    """1e-10 makes numbers of directions that are not in the data; the rank is reported all the same."""
    motion = robots.states(planar.robot.joint_names, 300, seed=6)
    recording = recorded(planar, motion, planar.nominal, noise=0.3)
    count = len(planar.names)
    estimate = with_prior(planar.absorb([recording]), Prior(planar.names, np.zeros(count), np.full(count, 1e5)))
    assert np.all(np.isfinite(estimate.theta))
    (finding,) = [f for f in estimate.findings if f.code == "fit.rank_deficient"]
    assert finding.value == base_parameters(planar).count < count
    assert estimate.deviation.max() == pytest.approx(1e5, rel=1e-6)  # what is not seen is as unsure as before


# --- friction and drives ---------------------------------------------------------------------------------------------


def test_a64_viscous_friction_alone_leaves_the_slow_residual():
    """Without the Coulomb column the residual is largest where the joint is slow, and Coulomb hides in viscous."""
    t = 0.001 * np.arange(2000)
    speed = 0.3 * np.sin(np.pi * t)[:, None]
    motion = Trajectory(t, ("a",), q=np.zeros_like(speed), dq=speed, ddq=np.zeros_like(speed))
    motion = robots.with_torque(motion, 0.5 * speed + 0.8 * np.sign(speed))
    model = Model(Robot.from_joints(["a"]), (Viscous(),))
    estimate = ordinary(model.absorb([motion]))
    assert estimate.theta[0] > 5 * 0.5  # 3.9
    residual = np.abs(motion.tau - model.predict(estimate, motion))[:, 0]
    slow = np.abs(speed[:, 0]) < 0.1
    assert residual[slow].mean() > 2.0 * residual[~slow].mean()


def test_a61_motor_torque_taken_for_joint_torque(tmp_path):
    """E29. J = 1, I_m = 1e-4, N = 100: J/N + N I_m = .02 (and friction by N), through the gear J + N^2 I_m = 2."""
    ratio, rotor = 100.0, 1e-4
    robot, motion = Robot.from_joints(["a"]), robots.states(("a",), 100)
    model = Model(robot, (RotorInertia(), Viscous(), Coulomb()))
    drive = geared(np.array([ratio]))
    motor = motor_motion(drive, motion.ddq) * rotor + (motion.ddq + 0.6 * motion.dq + 0.3 * np.sign(motion.dq)) / ratio
    right = ordinary(model.absorb([robots.with_torque(motion, joint_torque(drive, motor))]))
    np.testing.assert_allclose(right.theta, [1.0 + ratio**2 * rotor, 0.6, 0.3], rtol=1e-11)
    wrong = ordinary(model.absorb([robots.with_torque(motion, motor)]))
    np.testing.assert_allclose(wrong.theta, [1.0 / ratio + ratio * rotor, 0.006, 0.003], rtol=1e-11)


# --- the course's complete example -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def course(panda):
    """Ten seconds at 1 kHz, five harmonics, coefficients and "true" parameters as its script draws them, seed 42."""
    rng = np.random.RandomState(42)
    drawn = 0.5 * rng.randn(7, 10)  # a1, b1, a2, b2, ...
    family = FourierFamily(10.0, shared_harmonics(7, 5))
    series = FourierMotion(
        panda.robot.joint_names, family, np.column_stack([np.zeros(7), drawn[:, 0::2], drawn[:, 1::2]])
    )
    return drawn, series, series.sampled(1000.0), rng.rand(70)


def test_a65_the_course_series_by_hand(course):
    drawn, _, motion, _ = course
    t, w = motion.time[:, None, None], 2.0 * np.pi / 10.0 * np.arange(1, 6)
    a, b = drawn[:, 0::2], drawn[:, 1::2]
    q = np.sum(a / w * np.sin(w * t) - b / w * np.cos(w * t), axis=2)
    dq = np.sum(a * np.cos(w * t) + b * np.sin(w * t), axis=2)
    ddq = np.sum(-a * w * np.sin(w * t) + b * w * np.cos(w * t), axis=2)
    for ours, theirs in ((motion.q, q), (motion.dq, dq), (motion.ddq, ddq)):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


def test_a69_the_course_example(panda, basis, course):
    """E2. Noise of 0.1 N m: regrouped parameters are off by less than 0.1 %, un-regrouped ones by 77 %."""
    *_, motion, theta = course
    motion = motion.samples(0, 10_000)
    recording = recorded(panda, motion, theta, noise=0.1, seed=42)
    estimate = ordinary(panda.absorb([recording], names=basis.names), basis=basis)
    truth = basis.regroup(theta)
    assert estimate.rank == 43
    assert np.linalg.norm(estimate.theta - truth) < 1e-3 * np.linalg.norm(truth)
    kept = theta[[panda.names.index(name) for name in basis.names]]
    assert np.linalg.norm(estimate.theta - kept) > 0.5 * np.linalg.norm(kept)
    np.testing.assert_allclose(estimate.noise, 0.1, rtol=0.05)  # 10 000 samples: 0.7 %
    assert np.abs((estimate.theta - truth) / estimate.deviation).max() < 4.0
    assert estimate.condition < 50  # 30; 9 with scaled columns


def test_e44_the_course_motion_breaks_the_limits(panda, course):
    """Half of the samples of joint 4 are out of range, velocities too high, and it starts at 1.9 rad/s."""
    _, series, motion, _ = course
    outside = np.mean((motion.q < panda.robot.lower) | (motion.q > panda.robot.upper), axis=0)
    assert outside[3] == pytest.approx(0.49, abs=0.01)
    assert outside[5] == pytest.approx(0.31, abs=0.01)
    assert np.any(np.abs(motion.dq).max(axis=0) > 1.3 * panda.robot.velocity_limit)
    assert np.abs(motion.dq[0]).max() == pytest.approx(1.93, abs=0.01)
    # a series that starts and ends at rest has two coefficients less a joint
    resting = replace(series.family, rest="acceleration")
    assert resting.variables == series.family.variables - 2


def test_g25_joints_that_move_in_step_say_little(panda, basis, course):
    """One sine of one phase for all joints: condition 2700 and a weak direction; five harmonics each: 9 and none."""
    _, series, motion, theta = course
    middle = 0.5 * (panda.robot.lower + panda.robot.upper)
    size = 0.3 * (panda.robot.upper - panda.robot.lower)
    w, t = 2.0 * np.pi / 10.0, 0.001 * np.arange(10_000)[:, None]
    sine, cosine = np.sin(w * t), np.cos(w * t)
    step = Trajectory(
        t[:, 0], series.joint_names, q=middle + size * sine, dq=size * w * cosine, ddq=-size * w**2 * sine
    )
    poor, rich = (
        ordinary(panda.absorb([recorded(panda, path, theta, noise=0.1)], names=basis.names), basis=basis)
        for path in (step, motion.samples(0, 10_000))
    )
    assert poor.condition_scaled > 1000
    assert [f.code for f in poor.findings] == ["fit.weak_direction"]
    assert rich.condition_scaled < 20
    assert rich.findings == ()
    assert poor.deviation.max() > 50 * rich.deviation.max()
