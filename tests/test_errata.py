"""Classic mistakes of textbooks and tutorials, kept beside what is right, with the size of the damage.

Robots: Panda (fingers held) and UR10 of example-robot-data. Figures in comments were printed by these tests.
"""

from __future__ import annotations

import re

import numpy as np
import pinocchio as pin
import pytest

import robots
from steelyard.basis import base_parameters
from steelyard.estimate.least_squares import ordinary, weighted
from steelyard.model import Model
from steelyard.robot.inertia import tensor
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.viscous import Viscous

EXACT = 1e-12  # two exact recursions in double precision


@pytest.fixture(scope="module")
def files(example_robots):
    return {
        "panda": example_robots / "panda_description" / "urdf" / "panda.urdf",
        "ur10": example_robots / "ur_description" / "urdf" / "ur10_robot.urdf",
    }


@pytest.fixture(scope="module")
def arms(files):
    loaded = {name: Robot.from_urdf(path) for name, path in files.items()}
    loaded["panda"] = loaded["panda"].locked(["panda_finger_joint1"])
    return {name: Model(robot, (RigidBody(),)) for name, robot in loaded.items()}


@pytest.fixture(scope="module")
def panda(arms):
    return arms["panda"]


def drawn(model, count=300):
    return robots.states(model.robot.joint_names, count, seed=12)


def off(wrong, right) -> float:
    """Relative RMS error of a torque."""
    return float(np.linalg.norm(wrong - right) / np.linalg.norm(right))


def newton_euler(robot, motion, *, linear, angular=(0.0, 0.0, 0.0), about_centre=False) -> np.ndarray:
    """(T, n) textbook recursion for a revolute chain, outwards and back, from a given acceleration of the base.

    With `about_centre` the inertia about the centre of mass is taken for the one about the joint.
    """
    torque = np.zeros(motion.q.shape)
    for k in range(len(motion)):
        turns, forces, moments = [], [], []
        w, dw, a = np.zeros(3), np.array(angular, dtype=float), np.array(linear, dtype=float)
        for i, joint in enumerate(robot.joints):
            q, v, acc = motion.q[k, i], motion.dq[k, i], motion.ddq[k, i]
            skew = np.cross(np.eye(3), joint.axis)
            R = (joint.rotation @ (np.eye(3) + np.sin(q) * skew + (1.0 - np.cos(q)) * skew @ skew)).T
            a = R @ (a + np.cross(dw, joint.translation) + np.cross(w, np.cross(w, joint.translation)))
            dw = R @ dw + np.cross(R @ w, joint.axis * v) + joint.axis * acc
            w = R @ w + joint.axis * v
            body = robot.parameters[10 * i : 10 * i + 10]
            m, h, inertia = body[0], body[1:4], tensor(body[4:])
            if about_centre:
                inertia = inertia - (h @ h * np.eye(3) - np.outer(h, h)) / m
            turns.append(R)
            forces.append(m * a + np.cross(dw, h) + np.cross(w, np.cross(w, h)))
            moments.append(inertia @ dw + np.cross(w, inertia @ w) + np.cross(h, a))
        for i in range(len(robot.joints) - 1, -1, -1):
            torque[k, i] = robot.joints[i].axis @ moments[i]
            if i:
                force = turns[i].T @ forces[i]
                forces[i - 1] = forces[i - 1] + force
                moments[i - 1] = moments[i - 1] + turns[i].T @ moments[i] + np.cross(robot.joints[i].translation, force)
    return torque


def test_e1_order_of_the_six_moments(panda, files):
    """Ixx, Ixy, Iyy, Ixz, Iyz, Izz; read as Ixx, Ixy, Ixz, Iyy, Iyz, Izz the torque is a few per cent off."""
    motion = drawn(panda)
    right = panda.torque(panda.robot.parameters, motion)
    table = panda.robot.parameters.reshape(-1, 10).copy()
    table[:, [6, 7]] = table[:, [7, 6]]
    wrong = panda.torque(table.ravel(), motion)
    assert 0.005 < off(wrong, right) < 0.1  # 4.6 %
    assert np.abs(wrong - right).max() > 1.0  # 3.1 N m
    reference = pin.buildModelFromUrdf(str(files["panda"]))
    reference = pin.buildReducedModel(reference, [8, 9], pin.neutral(reference))
    theirs = np.concatenate([inertia.toDynamicParameters() for inertia in list(reference.inertias)[1:]])
    np.testing.assert_allclose(panda.robot.parameters, theirs, rtol=0, atol=1e-14 * np.abs(theirs).max())


@pytest.mark.parametrize("name", ["panda", "ur10"])
def test_e2_base_parameters_must_be_regrouped(arms, name):
    """Picking the kept columns' own values leaves out what the dependent ones carry: most of the torque."""
    model = arms[name]
    basis, motion = base_parameters(model), drawn(model)
    kept = [model.names.index(n) for n in basis.names]
    Y = model.regressor(motion)[:, :, kept]
    right = model.torque(model.robot.parameters, motion)
    assert off(Y @ basis.regroup(model.robot.parameters), right) < EXACT
    assert off(Y @ model.robot.parameters[kept], right) > 0.3  # 91 and 64 %


def test_e3_one_sample_has_no_condition(panda):
    """A single sample is 7 x 43: its rank is 7 and its "condition" says nothing about identifiability."""
    basis = base_parameters(panda)
    motion = robots.with_torque(drawn(panda), np.ones((300, 7)))
    one = ordinary(panda.absorb([motion.samples(0, 1)], names=basis.names))
    many = ordinary(panda.absorb([motion], names=basis.names))
    assert (one.rank, many.rank) == (7, 43)
    assert "fit.rank_deficient" in {f.code for f in one.findings}
    assert one.condition_scaled > 1e10  # its seven singular values alone would say 5
    assert np.all(np.isinf(one.deviation[[name.endswith("zz") for name in one.names]]))
    assert many.condition_scaled < 20
    assert many.condition > many.condition_scaled


def test_e5_forty_eight_of_seventy_two(arms):
    """Friction columns never merge: a floor-mounted 6R arm has 36 rigid parameters and 48 with friction, not 38."""
    robot = arms["ur10"].robot
    model = Model(robot, (RigidBody(), Viscous(), Coulomb()))
    assert len(model.names) == 72
    assert base_parameters(model).count == 48
    assert base_parameters(Model(robot, (RigidBody(), RotorInertia(), Viscous(), Coulomb(), Offset()))).count == 58


def with_parameters(reference: pin.Model, table: np.ndarray, motion) -> np.ndarray:
    """Pinocchio's torque with other parameters (N, 10)."""
    for k, row in enumerate(table):
        reference.inertias[k + 1] = pin.Inertia.FromDynamicParameters(row)
    return robots.pinocchio_torque(reference, motion)


def test_e7_a_parameter_set_to_one_and_the_others_to_zero(panda, files):
    """Right for (m, m c, I_O); with (m, c, I_C), as most recursions take them, every column of m c is lost."""
    reference = pin.buildModelFromUrdf(str(files["panda"]))
    reference = pin.buildReducedModel(reference, [8, 9], pin.neutral(reference))
    motion = drawn(panda, 6)
    nominal = panda.robot.parameters.reshape(7, 10)
    right = with_parameters(reference, nominal, motion)
    Y, lost, difference = panda.regressor(motion), np.zeros((6, 7, 70)), np.zeros((6, 7, 70))
    for j in range(70):
        unit = np.zeros(70)
        unit[j] = 1.0
        assert np.isnan(with_parameters(reference, unit.reshape(7, 10), motion)).any()  # 0/0: no mass, no centre
        difference[:, :, j] = with_parameters(reference, nominal + unit.reshape(7, 10), motion) - right
        if j % 10 not in (1, 2, 3):  # c = 1 with m = 0 is no body at all
            lost[:, :, j] = Y[:, :, j]
    assert np.abs(difference - Y).max() < 1e-11 * np.abs(Y).max()  # a difference of torques: three digits fewer
    assert robots.relative(Y @ nominal.ravel(), right) < EXACT
    about_centre = nominal.copy()
    for row in about_centre:  # the parameters such a recursion takes
        m, h = row[0], row[1:4]
        row[4:] -= (h @ h * np.eye(3) - np.outer(h, h))[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]] / m
    assert off(lost @ about_centre.ravel(), right) > 0.1  # 56 %


def test_e8_torque_cannot_tell_the_physical_parameters(panda):
    """27 directions of the 70 leave every torque as it is: masses may become anything, also negative."""
    basis, motion = base_parameters(panda), drawn(panda)
    theta = panda.robot.parameters
    _, values, Vt = np.linalg.svd(basis.matrix)
    null = Vt[len(values) :]
    assert len(null) == 27
    moved = theta + null.T @ np.random.default_rng(0).normal(size=27) * 3.0
    masses = moved[::10]
    assert masses.min() < 0.0 < 2.0 < np.abs(masses - theta[::10]).max()
    assert off(panda.torque(moved, motion), panda.torque(theta, motion)) < EXACT


def test_e10_gravity_is_a_linear_acceleration_of_the_base(panda):
    """a_0 = -g; as an angular acceleration it gives a wrong torque even at rest."""
    motion = drawn(panda, 30)
    still = type(motion)(motion.time, motion.joint_names, q=motion.q, dq=0.0 * motion.dq, ddq=0.0 * motion.ddq)
    theta, robot = panda.robot.parameters, panda.robot
    for states, least in ((motion, 0.3), (still, 0.9)):  # 81 and 111 %
        right = panda.torque(theta, states)
        assert off(newton_euler(robot, states, linear=-robot.gravity), right) < EXACT
        assert off(newton_euler(robot, states, linear=(0, 0, 0), angular=-robot.gravity), right) > least


def test_e14_rows_stacked_sample_by_sample_alternate_joints(panda):
    """Weights are I_T kron diag(1/s_j^2); the other order gives joint 1's weight to the first seventh of the run."""
    basis = base_parameters(panda)
    motion = robots.states(panda.robot.joint_names, 70, seed=12)
    A = panda.regressor(motion)[:, :, [panda.names.index(n) for n in basis.names]].reshape(-1, 43)
    truth = basis.regroup(panda.robot.parameters)
    noise = np.array([2.0, 2.0, 1.0, 1.0, 0.1, 0.1, 0.05])
    weights = {
        "plain": np.ones(490),
        "right": np.kron(np.ones(70), 1.0 / noise),
        "wrong": np.kron(1.0 / noise, np.ones(70)),
    }
    solve = {name: np.linalg.pinv(A * w[:, None]) * w for name, w in weights.items()}
    rng, error = np.random.default_rng(3), {name: [] for name in (*weights, "ours")}
    scale = np.sqrt(np.diag(np.linalg.inv((A * weights["right"][:, None]).T @ (A * weights["right"][:, None]))))
    for _ in range(40):
        tau = (A @ truth).reshape(70, 7) + noise * rng.normal(size=(70, 7))
        for name, matrix in solve.items():
            error[name].append((matrix @ tau.ravel() - truth) / scale)
        ours = weighted(panda.absorb([robots.with_torque(motion, tau)], names=basis.names))
        error["ours"].append((ours.theta - truth) / scale)
    size = {name: np.sqrt(np.mean(np.square(values))) for name, values in error.items()}
    assert size["right"] == pytest.approx(1.0, abs=0.1)
    assert size["ours"] < 1.1 * size["right"]  # its weights are estimated: a tenth at most
    assert size["plain"] > 1.5 * size["right"]
    assert size["wrong"] > 1.2 * size["plain"]  # worse than no weights at all


def test_e28_condition_is_no_measure_of_certainty(panda):
    """Twice the motion: the same condition number, half the deviation."""
    basis, motion = base_parameters(panda), drawn(panda)
    info = panda.absorb([robots.with_torque(motion, np.ones((300, 7)))], names=basis.names)
    stronger = info.project(info.names, 2.0 * np.eye(43))
    one, two = ordinary(info), ordinary(stronger)
    assert two.condition == pytest.approx(one.condition, rel=1e-9)
    np.testing.assert_allclose(two.deviation, one.deviation / 2.0, rtol=1e-9)


def test_e40_the_regressor_has_a_block_a_pair_of_joint_and_body_beyond(panda):
    Y = panda.regressor(drawn(panda, 20)).reshape(20, 7, 7, 10)
    filled = np.abs(Y).max(axis=(0, 3)) > 0.0
    assert filled.sum() == 28
    np.testing.assert_array_equal(filled, np.triu(np.ones((7, 7), dtype=bool)))


def test_e41_rotor_inertia_is_in_the_recursion_and_not_in_the_regressor(panda, files):
    """Pinocchio adds `armature` in rnea; the rigid columns cannot carry it, a RotorInertia column can."""
    reference = pin.buildModelFromUrdf(str(files["panda"]))
    reference = pin.buildReducedModel(reference, [8, 9], pin.neutral(reference))
    reference.armature[:] = 0.3
    motion = drawn(panda)
    theirs = robots.pinocchio_torque(reference, motion)
    rigid = panda.torque(panda.robot.parameters, motion)
    np.testing.assert_allclose(theirs - rigid, 0.3 * motion.ddq, rtol=0, atol=1e-11)
    model = Model(panda.robot, (RigidBody(), RotorInertia()))
    assert robots.relative(model.torque(np.append(panda.robot.parameters, np.full(7, 0.3)), motion), theirs) < EXACT


ROD = (  # 0.6 m long, lying across its upright axis, drawn upright and turned by its inertial frame
    robots.body("base"),
    robots.body("rod", 2.0, "0.25 0 0", "0.04 0.04 0.6", "0 1.5707963267948966 0"),
    robots.joint("turn", "base rod"),
)


@pytest.mark.parametrize(("name", "tensors", "torque"), [("arm6", 0.1, 0.005), ("arm7", 0.1, 0.001), ("rod", 0.3, 0.3)])
def test_e54b_the_inertial_frame_is_turned(repository, tmp_path, name, tensors, torque):
    """Dropping `rpy` of the inertial's origin: tensors off by 11, 13 and 32 %, torque by 0.8, 0.2 and 32 %."""
    path = repository / "examples" / "robots" / f"{name}.urdf"
    path = path if path.is_file() else robots.write(tmp_path, name, ROD)
    inertial = re.compile(r'(<inertial>\s*<origin xyz="[^"]*") rpy="[^"]*"')
    flat = tmp_path / "flat.urdf"
    flat.write_text(inertial.sub(r"\1", path.read_text()))
    right, wrong = Robot.from_urdf(path), Robot.from_urdf(flat)
    ours, theirs = (robot.parameters.reshape(-1, 10)[:, 4:] for robot in (right, wrong))
    assert np.max(np.abs(theirs - ours).max(axis=1) / np.abs(ours).max(axis=1)) > tensors
    model, motion = Model(right, (RigidBody(),)), robots.states(right.joint_names, 200)
    assert off(model.torque(wrong.parameters, motion), model.torque(right.parameters, motion)) > torque


def test_e58_full_rank_of_the_standard_parameters_is_no_gate(arms):
    """Rank 36 of 60 with any motion; of the base columns it is full."""
    model = arms["ur10"]
    basis, motion = base_parameters(model), robots.with_torque(drawn(model), np.ones((300, 6)))
    everything = ordinary(model.absorb([motion]))
    assert (everything.rank, len(everything.names)) == (36, 60)
    assert "fit.rank_deficient" in {f.code for f in everything.findings}
    assert ordinary(model.absorb([motion], names=basis.names)).rank == basis.count == 36


def test_e58_a_column_of_rounding_is_no_direction(panda):
    motion = robots.with_torque(drawn(panda), np.ones((300, 7)))
    assert ordinary(panda.absorb([motion])).rank == 43


def test_a34_inertia_about_the_joint_not_the_centre_of_mass(panda):
    """I_O = I_C + m (c'c E - c c'); without it joint torques are newton-metres off."""
    motion = drawn(panda, 30)
    right = panda.torque(panda.robot.parameters, motion)
    wrong = newton_euler(panda.robot, motion, linear=-panda.robot.gravity, about_centre=True)
    assert np.abs(wrong - right).max() > 1.0  # 2.2 N m
    assert off(newton_euler(panda.robot, motion, linear=-panda.robot.gravity), right) < EXACT


def test_a36_the_universe_is_no_body(panda, files):
    """Pinocchio's list of inertias begins with the fixed world: all of it is ten entries too long for the regressor."""
    reference = pin.buildModelFromUrdf(str(files["panda"]))
    reference = pin.buildReducedModel(reference, [8, 9], pin.neutral(reference))
    everything = np.concatenate([inertia.toDynamicParameters() for inertia in reference.inertias])
    assert everything.size == len(panda.names) + 10
    assert np.all(np.isfinite(panda.robot.parameters))
    assert len(panda.names) == 70
