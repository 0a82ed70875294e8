"""Statements of the textbooks about energy, power, mass matrix and contact forces, beside Pinocchio and by hand."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import arm
import robots
from steelyard.assess.decomposition import decompose
from steelyard.assess.mass_matrix import mass_matrices
from steelyard.basis import base_parameters, random_states
from steelyard.data.base_motion import BaseMotion
from steelyard.data.trajectory import Trajectory
from steelyard.estimate.least_squares import ordinary
from steelyard.model import Model
from steelyard.robot.regressor import dense_regressor
from steelyard.robot.robot import Robot
from steelyard.simulate.robots import robot_file
from steelyard.terms.rigid_body import RigidBody
from whole_robot import oracle, pinocchio_states

EXACT = 1e-12  # two recursions in double precision through seven bodies
GRAVITY = 9.81


@pytest.fixture(scope="module")
def reference():
    """Pinocchio's model of our seven-joint arm."""
    return pin.buildModelFromUrdf(str(robot_file("arm7.urdf")))


@pytest.fixture(scope="module")
def model():
    return Model(arm.model().robot, (RigidBody(),))


@pytest.fixture(scope="module")
def course(model):
    return robots.states(model.robot.joint_names, 60)


def in_order(reference, model, values):
    """Joint values of our order in Pinocchio's; all joints of this arm have one coordinate."""
    place = [reference.joints[reference.getJointId(name)].idx_v for name in model.robot.joint_names]
    ordered = np.zeros_like(values)
    ordered[..., place] = values
    return ordered


# --- energy ----------------------------------------------------------------------------------------------------------


def energy_rows(reference, data, q, v):
    """(2, 10 N): kinetic and potential energy as rows over m, m c, I_O of every body.

    v_c = v_O + w x c gives T = 1/2 m v_O'v_O + m c'(v_O x w) + 1/2 w' I_O w, and V = -g'(m p_O + R m c).
    """
    pin.forwardKinematics(reference, data, q, v)
    down = np.asarray(reference.gravity.linear)
    rows = np.zeros((2, 10 * (reference.njoints - 1)))
    for k in range(1, reference.njoints):
        speed, w = data.v[k].linear, data.v[k].angular
        turn, place = data.oMi[k].rotation, data.oMi[k].translation
        x, y, z = w
        moments = 0.5 * np.array([x * x, 2 * x * y, y * y, 2 * x * z, 2 * y * z, z * z])
        rows[0, 10 * k - 10 : 10 * k] = [0.5 * speed @ speed, *np.cross(speed, w), *moments]
        rows[1, 10 * k - 10 : 10 * k - 6] = [-down @ place, *(-down @ turn)]
    return rows


def test_a19_energy_is_linear_in_the_ten_parameters(reference, model, course):
    """The proof of `tau = Y pi`: Lagrange's operator is linear, so it is enough that T and V are."""
    data, parameters = reference.createData(), model.robot.parameters
    for q, v in zip(*(in_order(reference, model, x) for x in (course.q, course.dq)), strict=True):
        kinetic, potential = energy_rows(reference, data, q, v) @ parameters
        theirs = pin.computeKineticEnergy(reference, data, q, v), pin.computePotentialEnergy(reference, data, q)
        assert kinetic == pytest.approx(theirs[0], rel=EXACT)
        assert potential == pytest.approx(theirs[1], rel=EXACT, abs=1e-11)


def test_e45_not_in_the_inertia_about_the_centre(reference, model, course):
    """With I_C in place of I_O, T holds |m c|^2 / m: the energy of a mean of two bodies is not the mean energy."""
    data = reference.createData()
    q, v = (in_order(reference, model, x)[0] for x in (course.q, course.dq))
    row = energy_rows(reference, data, q, v)[0, :10]

    def energy(m, h, about_centre):
        origin = about_centre + (h @ h * np.eye(3) - np.outer(h, h)) / m
        return row @ np.concatenate([[m], h, origin[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]])

    one = (2.0, np.array([0.4, 0.0, 0.1]), np.diag([0.02, 0.03, 0.02]))
    two = (1.0, np.array([-0.2, 0.3, 0.0]), np.diag([0.01, 0.02, 0.02]))
    mean = [0.5 * (a + b) for a, b in zip(one, two, strict=True)]
    apart = energy(*mean) - 0.5 * (energy(*one) + energy(*two))
    assert abs(apart) > 0.01 * abs(energy(*mean))


def test_a20_energies_of_the_planar_arm_by_hand(tmp_path):
    """T and V of two links in a vertical plane as the course derives them; angles from the horizontal."""
    path = robots.write(tmp_path, "planar")
    reference, robot = pin.buildModelFromUrdf(str(path)), Robot.from_urdf(path)
    data, motion, length = reference.createData(), robots.states(robot.joint_names, 40), 0.5
    (m1, h1, I1), (m2, h2, I2) = robot.parameters.reshape(2, 10)[:, [0, 1, 6]].tolist()  # I about the joints
    for (q1, q2), (v1, v2) in zip(motion.q, motion.dq, strict=True):
        both = h2 * length * np.cos(q2)
        kinetic = 0.5 * (I1 + I2 + m2 * length**2 + 2 * both) * v1**2 + 0.5 * I2 * v2**2 + (I2 + both) * v1 * v2
        height = h1 * np.sin(q1) + m2 * length * np.sin(q1) + h2 * np.sin(q1 + q2)
        base = (m1 + m2) * 0.6  # the shoulder stands 0.6 m above the origin
        q, v = np.array([q1, q2]), np.array([v1, v2])
        assert pin.computeKineticEnergy(reference, data, q, v) == pytest.approx(kinetic, rel=EXACT, abs=EXACT)
        assert pin.computePotentialEnergy(reference, data, q) == pytest.approx(GRAVITY * (height + base), rel=EXACT)


def test_a01_pendulum_by_lagrange(tmp_path):
    """(I_C + m l^2) ddq + m g l cos q, the angle from the horizontal."""
    parts = (robots.body("base"), robots.body("bob", 1.7, "0.4 0 0"), robots.joint("swing", "base bob", axis="0 -1 0"))
    model = Model(robots.load(tmp_path, "pendulum", parts), (RigidBody(),))
    motion = robots.states(("swing",), 50)
    inertia = 1.7 / 12.0 * (0.1**2 + 0.3**2) + 1.7 * 0.4**2
    by_hand = inertia * motion.ddq + 1.7 * GRAVITY * 0.4 * np.cos(motion.q)
    assert robots.relative(model.torque(model.nominal, motion), by_hand) < EXACT


# --- power -----------------------------------------------------------------------------------------------------------


def derivative(values, step):
    """Derivative of one whole period by its Fourier series: exact to rounding for a motion of a few harmonics."""
    rate = 2j * np.pi * np.fft.rfftfreq(len(values), step)
    return np.fft.irfft(rate * np.fft.rfft(values), len(values))


@pytest.fixture(scope="module")
def period():
    """One period of 10 s, five harmonics, 200 Hz."""
    return arm.motion(duration=10.0, rate=200.0)


def test_n04_power_goes_into_energy(reference, model, period):
    """tau'dq = d/dt (T + V) at every instant, and no work is left over a closed motion."""
    data, parameters = reference.createData(), model.robot.parameters
    states = zip(*(in_order(reference, model, x) for x in (period.q, period.dq)), strict=True)
    energy = np.array([energy_rows(reference, data, q, v).sum(axis=0) @ parameters for q, v in states])
    power = np.sum(model.torque(parameters, period) * period.dq, axis=1)
    change = derivative(energy, period.step)
    assert np.abs(power - change).max() < 1e-10 * np.abs(power).max()
    assert abs(power.mean()) < 1e-12 * np.abs(power).max()


def test_n04_a_wrong_velocity_term_hides_at_rest_and_grows_with_the_square(model, period):
    """Without the Coriolis torque nothing is wrong at rest; moving, power goes missing, at twice the speed four times.

    Half the speed: the same places, half the velocity, a quarter of the acceleration.
    """
    theta = model.nominal

    def parts(speed):
        motion = Trajectory(
            period.time, period.joint_names, q=period.q, dq=speed * period.dq, ddq=speed**2 * period.ddq
        )
        split = decompose(model, theta, motion)
        return motion, split.torque[split.effects.index("coriolis")]

    missing = {speed: parts(speed)[1] for speed in (0.0, 0.5, 1.0)}
    assert np.all(missing[0.0] == 0.0)
    np.testing.assert_allclose(missing[1.0], 4.0 * missing[0.5], atol=1e-12 * np.abs(missing[1.0]).max())
    assert np.abs(missing[1.0]).max() > 1.0  # [N m]
    power = np.sum(missing[1.0] * period.dq, axis=1)
    whole = np.sum(model.torque(theta, period) * period.dq, axis=1)
    assert np.abs(power).max() > 0.02 * np.abs(whole).max()


# --- inverse and forward dynamics ------------------------------------------------------------------------------------


def test_n05_a42_four_calls_and_their_arguments(reference, model, course, example_robots):
    """rnea, crba, joint Jacobian, regressor; arguments by name. q for v goes unnoticed unless they differ in length."""
    data = reference.createData()
    q, v, a = (in_order(reference, model, x)[0] for x in (course.q, course.dq, course.ddq))
    tau = pin.rnea(reference, data, q, v, a)
    M = pin.crba(reference, data, q)
    assert M.shape == (7, 7)
    pin.computeJointJacobians(reference, data, q)
    last = reference.getJointId(model.robot.joint_names[-1])
    J = pin.getJointJacobian(reference, data, last, pin.ReferenceFrame.LOCAL)
    pin.forwardKinematics(reference, data, q, v)
    np.testing.assert_allclose(J @ v, data.v[last].vector, rtol=0, atol=1e-13 * np.abs(J @ v).max())
    centre = pin.centerOfMass(reference, data, q, v, a)
    assert reference.gravity.linear @ centre == pytest.approx(
        -pin.computePotentialEnergy(reference, data, q) / model.robot.moving_mass, rel=1e-12
    )
    Y = pin.computeJointTorqueRegressor(model=reference, data=data, q=q, v=v, a=a)
    assert robots.relative(Y @ model.robot.parameters, tau) < EXACT
    swapped = pin.computeJointTorqueRegressor(reference, data, v, q, a)  # no complaint
    assert robots.relative(swapped @ model.robot.parameters, tau) > 0.1
    kinova = pin.buildModelFromUrdf(str(example_robots / "kinova_description" / "robots" / "kinova.urdf"))
    assert (kinova.nq, kinova.nv) == (9, 6)
    with pytest.raises(ValueError, match="wrong argument size"):
        pin.computeJointTorqueRegressor(kinova, kinova.createData(), np.zeros(6), pin.neutral(kinova), np.zeros(6))


def test_a37_the_compiled_regressor_of_another_library(reference, model, course):
    """Pinocchio's, in C++ on Eigen, against ours, column by column; rows in time order, joints inside a sample."""
    data = reference.createData()
    place = [reference.joints[reference.getJointId(name)].idx_v for name in model.robot.joint_names]
    states = zip(*(in_order(reference, model, x) for x in (course.q, course.dq, course.ddq)), strict=True)
    theirs = np.vstack([pin.computeJointTorqueRegressor(reference, data, *state)[place] for state in states])
    ours = model.regressor(course).reshape(-1, 70)
    assert ours.shape == (60 * 7, 70)
    scale = np.abs(theirs).max(axis=0)
    assert np.abs(ours - theirs).max(axis=0).max() < EXACT * scale.max()
    np.testing.assert_array_equal(
        ours, dense_regressor(model.robot.tree, course.q, course.dq, course.ddq).reshape(-1, 70)
    )


def test_n08_the_mass_matrix_is_seven_inverse_dynamics(reference, model, course):
    """Column i of M is the torque of a unit acceleration of joint i, less that of none."""
    data = reference.createData()
    ours = mass_matrices(model, model.nominal, course.q)
    place = [reference.joints[reference.getJointId(name)].idx_v for name in model.robot.joint_names]
    for k, q in enumerate(in_order(reference, model, course.q)):
        upper = np.triu(pin.crba(reference, data, q))
        theirs = (upper + np.triu(upper, 1).T)[np.ix_(place, place)]
        assert robots.relative(ours[k], theirs) < EXACT


def test_n09_forward_dynamics_is_the_inverse_and_not_the_negative(reference, model, course):
    """aba(rnea(a)) = a to the condition of M; the negative of one is not the other."""
    data = reference.createData()
    tau = model.torque(model.nominal, course)
    states = zip(*(in_order(reference, model, x) for x in (course.q, course.dq, tau)), strict=True)
    back = np.array([pin.aba(reference, data, *state) for state in states])
    wanted = in_order(reference, model, course.ddq)
    assert robots.relative(back, wanted) < 1e-10
    assert robots.relative(-tau, wanted) > 0.5


def test_n11_columns_by_superposition(tmp_path):
    """Point masses at the tips: the torque of m1 = 1 alone and of m2 = 1 alone are the columns of the regressor."""
    parts = (
        robots.body("base"), robots.body("one", 2.0, "0.5 0 0"), robots.body("two", 1.0, "0.5 0 0"),
        robots.joint("q1", "base one", axis="0 -1 0"), robots.joint("q2", "one two", axis="0 -1 0", at="1 0 0"),
    )  # fmt: skip
    model = Model(robots.load(tmp_path, "two", parts), (RigidBody(),))
    motion = robots.states(("q1", "q2"), 50)
    tip = np.array([1.0, 1.0, 0, 0, 0, 0, 1.0, 0, 0, 1.0])  # 1 kg at 1 m along x
    W = np.stack([model.torque(np.kron(which, tip), motion) for which in ([1.0, 0.0], [0.0, 1.0])], axis=2)
    (q1, q2), (v1, v2), (a1, a2) = (motion.channel(name).T for name in ("q", "dq", "ddq"))
    zero = np.zeros_like(q1)
    first = np.column_stack([a1 + GRAVITY * np.cos(q1), zero])
    c, s, down = np.cos(q2), np.sin(q2), GRAVITY * np.cos(q1 + q2)
    second = np.column_stack([
        (2 + 2 * c) * a1 + (1 + c) * a2 - s * (2 * v1 * v2 + v2**2) + GRAVITY * np.cos(q1) + down,
        (1 + c) * a1 + a2 + s * v1**2 + down,
    ])  # fmt: skip
    assert robots.relative(W, np.stack([first, second], axis=2)) < EXACT
    both = model.torque(np.concatenate([2.0 * tip, 1.0 * tip]), motion)
    assert robots.relative(W @ [2.0, 1.0], both) < EXACT


def test_e42_fingers_and_endless_joints(example_robots):
    """A Panda file has nine coordinates and 90 parameters; random states of endless joints are finite and in place."""
    path = example_robots / "panda_description" / "urdf" / "panda.urdf"
    whole = pin.buildModelFromUrdf(str(path))
    assert (whole.nv, 10 * (whole.njoints - 1)) == (9, 90)
    assert len(Robot.from_urdf(path).joint_names) == 8  # the second finger mimics the first
    assert len(Robot.from_urdf(path, mimic="project").joint_names) == 8
    held = Robot.from_urdf(path).locked(["panda_finger_joint1"])
    assert (len(held.joint_names), held.parameters.size) == (7, 70)
    kinova = Robot.from_urdf(example_robots / "kinova_description" / "robots" / "kinova.urdf")
    assert len(kinova.joint_names) == 6
    assert np.abs(random_states(Model(kinova, (RigidBody(),)), 200, seed=0).q).max() <= 2 * np.pi


def test_a44_seven_joints_have_forty_three(example_robots):
    robot = Robot.from_urdf(example_robots / "xarm_description" / "urdf" / "xarm7.urdf")
    assert base_parameters(Model(robot, (RigidBody(),))).count == 43


# --- contact ---------------------------------------------------------------------------------------------------------


def test_g74_contact_forces_belong_to_the_torque(example_robots):
    """M v' + h = S' tau + J_c' f: with J_c' f a quadruped's own parameters fit to rounding, without it nothing fits."""
    path = example_robots / "solo_description" / "robots" / "solo12.urdf"
    robot = Robot.from_urdf(path, floating=True)
    theirs, model = oracle(path, robot.gravity), Model(robot, (RigidBody(),))
    data, states = theirs.createData(), random_states(model, 40, seed=4)
    feet = [k for k, frame in enumerate(theirs.frames) if frame.name.endswith("FOOT")]
    assert len(feet) >= 4
    rows = [*range(6), *(theirs.joints[theirs.getJointId(name)].idx_v for name in robot.joint_names)]
    whole, ground = np.zeros((2, 40, 18))
    for k, (q, v, a) in enumerate(pinocchio_states(theirs, robot, states)):
        need = pin.rnea(theirs, data, q, v, a)
        pin.computeJointJacobians(theirs, data, q)
        pin.updateFramePlacements(theirs, data)
        J = np.vstack([pin.getFrameJacobian(theirs, data, f, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)[:3] for f in feet])
        force = np.linalg.lstsq(J[:, :6].T, need[:6], rcond=None)[0]  # what the ground must push with
        whole[k], ground[k] = need[rows], (J.T @ force)[rows]
    motors = whole - ground
    assert np.abs(motors[:, :6]).max() < 1e-10 * np.abs(whole).max()  # nothing drives the base but the ground

    def misfit(torque):
        base = states.base
        known = BaseMotion(base.orientation, base.twist, base.acceleration, torque[:, :6])
        recording = Trajectory(
            states.time, states.joint_names, states.q, states.dq, states.ddq, torque[:, 6:], base=known
        )
        info = model.absorb([recording])
        return float(np.sqrt(info.misfit(model.nominal).sum() / info.energy.sum())), info

    with_ground, info = misfit(motors + ground)
    assert with_ground < 1e-12
    assert misfit(motors)[0] > 1.0  # ten times the torque of the motors: they do not carry the weight
    basis = base_parameters(model)
    found = ordinary(info, basis=basis)
    expected = basis.regroup(model.nominal)
    assert np.abs(found.theta - expected).max() < 1e-8 * np.abs(expected).max()


def test_e37_the_ground_carries_the_weight_only_at_rest(example_robots):
    """sum F_z = m g at rest; with 1 m/s2 upwards the same formula finds a tenth more mass."""
    path = example_robots / "solo_description" / "robots" / "solo12.urdf"
    robot = Robot.from_urdf(path, floating=True)
    model, names = Model(robot, (RigidBody(),)), robot.joint_names
    mass = robot.parameters[::10].sum()
    still = np.zeros((2, len(names)))
    lift = np.zeros((2, 6))
    lift[1, 2] = 1.0
    base = BaseMotion(np.tile([0.0, 0.0, 0.0, 1.0], (2, 1)), np.zeros((2, 6)), lift)
    wrench = model.torque(model.nominal, Trajectory(np.arange(2.0), names, still, still, still, base=base))[:, 2]
    assert wrench[0] == pytest.approx(mass * GRAVITY, rel=1e-12)
    assert wrench[1] / GRAVITY - mass == pytest.approx(mass / GRAVITY, rel=1e-10)
