"""A base that floats: rows, columns, torque and base parameters against Pinocchio's free-flyer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import robots
from steelyard.basis import base_parameters, random_states
from steelyard.data.base_motion import BaseMotion
from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, ModelError
from steelyard.model import Model
from steelyard.robot.robot import BASE_ROWS, Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.viscous import Viscous
from whole_robot import motion_of, oracle, pinocchio_states, pinocchio_torque

AGREEMENT = 1e-12  # relative; both sides carry double precision through a few dozen bodies
SOLO = "solo_description/robots/solo12.urdf"
TALOS = "talos_data/robots/talos_reduced.urdf"
GRIPPERS = "talos_data/robots/talos_full_v2.urdf"  # a humanoid with twelve mimic joints in its grippers


@pytest.mark.parametrize("place", [SOLO, TALOS, GRIPPERS, "anymal_c_simple_description/urdf/anymal.urdf"])
def test_torque_and_wrench_are_pinocchios(example_robots, place):
    robot = Robot.from_urdf(example_robots / place, floating=True, gravity=robots.TILTED)
    assert robot.floating
    assert robot.row_names == BASE_ROWS + robot.joint_names
    motion = motion_of(robot)
    theirs = pinocchio_torque(oracle(example_robots / place, robots.TILTED), robot, motion)
    model = Model(robot, (RigidBody(),))
    assert robots.relative(model.torque(model.nominal, motion), theirs) < AGREEMENT
    assert robots.relative(model.regressor(motion) @ model.nominal, theirs) < AGREEMENT
    assert robot.moving_mass == pytest.approx(
        sum(i.mass for i in oracle(example_robots / place, robots.TILTED).inertias), rel=1e-12
    )


@pytest.mark.parametrize("name", robots.TEXTS)
@pytest.mark.parametrize("gravity", [(0.0, 0.0, -9.81), (9.81, 0.0, 0.0), robots.TILTED])
def test_any_robot_can_float(tmp_path, name, gravity):
    path = robots.write(tmp_path, name)
    robot = Robot.from_urdf(path, floating=True, gravity=gravity)
    motion = motion_of(robot)
    model = Model(robot, (RigidBody(),))
    theirs = pinocchio_torque(oracle(path, gravity), robot, motion)
    assert robots.relative(model.torque(robot.parameters, motion), theirs) < AGREEMENT


@pytest.mark.parametrize("name", ["gripper", "knuckles"])
def test_mimic_joints_of_a_floating_robot_are_projected(tmp_path, name):
    """tau = G' tau_free with q_free = G q + b; the base rows are those of the free tree."""
    path = robots.write(tmp_path, name)
    robot = Robot.from_urdf(path, floating=True, mimic="project")
    full = oracle(path, robot.gravity)
    names = [full.names[k] for k in range(2, full.njoints)]
    G, b = np.zeros((len(names), len(robot.joint_names))), np.zeros(len(names))
    for body, joint in zip(robot.body_names[1:], robot.joints[1:], strict=True):
        before = full.frames[full.getFrameId(body, pin.FrameType.BODY)].parentJoint
        row = names.index(full.names[before])
        G[row, joint.dof], b[row] = joint.ratio, joint.offset
    motion = motion_of(robot)
    spread = Trajectory(
        motion.time, tuple(names), motion.q @ G.T + b, motion.dq @ G.T, motion.ddq @ G.T, base=motion.base
    )
    theirs = pinocchio_torque(full, Robot.from_joints(names), spread)
    theirs = np.hstack([theirs[:, :6], theirs[:, 6:] @ G])
    model = Model(robot, (RigidBody(),))
    assert robots.relative(model.torque(robot.parameters, motion), theirs) < AGREEMENT


def test_a_floating_joint_of_the_file_does_the_same(tmp_path):
    free = robots.joint("free", "map base", kind="floating", at="1 2 3", rpy="0.1 0.2 0.3")
    parts = robots.TEXTS["branching"]
    written = Robot.from_urdf(robots.write(tmp_path, "free", ('<link name="map"/>', free, *parts)))
    asked = Robot.from_urdf(robots.write(tmp_path, "branching"), floating=True)
    assert written.floating
    assert (written.body_names, written.row_names) == (asked.body_names, asked.row_names)
    motion = motion_of(asked)
    torque = [Model(robot, (RigidBody(),)).torque(robot.parameters, motion) for robot in (written, asked)]
    np.testing.assert_array_equal(*torque)
    assert next(link for link in written.links if link.name == "map").body == -1
    fixed = Robot.from_urdf(tmp_path / "free.urdf", floating=False)
    assert not fixed.floating
    assert fixed.body_names == asked.body_names[1:]


def test_a_fixed_base_is_untouched_by_all_this(tmp_path):
    robot = robots.load(tmp_path, "branching")
    assert (robot.floating, robot.base_rows) == (False, 0)
    assert robot.row_names == robot.joint_names


def rank(Y: np.ndarray) -> tuple[int, float]:
    """Numerical rank of stacked rows by singular values, columns scaled to one, and the gap behind it."""
    norms = np.linalg.norm(Y, axis=0)
    values = np.linalg.svd((Y / np.where(norms > 0.0, norms, 1.0)), compute_uv=False)
    values /= values[0]
    count = int(np.sum(values > 1e-9))
    return count, float(values[count - 1] / max(values[count], 1e-300)) if count < values.size else np.inf


@pytest.mark.parametrize("place", [SOLO, TALOS])
def test_the_count_of_base_parameters_is_the_rank_of_pinocchios_regressor(example_robots, place):
    robot = Robot.from_urdf(example_robots / place, floating=True)
    basis = base_parameters(Model(robot, (RigidBody(),)))
    model = oracle(example_robots / place, robot.gravity)
    data, motion = model.createData(), random_states(Model(robot, (RigidBody(),)), 100, seed=3)
    stacked = np.vstack(
        [pin.computeJointTorqueRegressor(model, data, *state) for state in pinocchio_states(model, robot, motion)]
    )
    count, gap = rank(stacked)
    assert gap > 1e2
    assert basis.count == count
    assert count == 10 + 7 * len(robot.joint_names)  # a free body, and seven for each joint that turns: three regroup
    assert basis.gap[0] > 1e3 * basis.gap[1]
    base = f"link/{robot.body_names[0]}/"
    assert [name for name in basis.names if name.startswith(base)] == [n for n in basis.columns if n.startswith(base)]


def test_the_base_rows_alone_tell_everything_and_the_joints_alone_do_not(tmp_path):
    """Ayusawa, Venture, Nakamura 2014: the wrench on the base identifies all base parameters, joint torques fewer."""
    robot = Robot.from_urdf(robots.write(tmp_path, "branching"), floating=True)
    model = Model(robot, (RigidBody(),))
    whole = base_parameters(model)
    Y = model.regressor(random_states(model, 200, seed=2))
    assert rank(Y[:, :6].reshape(-1, Y.shape[2]))[0] == whole.count
    joints_only = base_parameters(model, wrench=False)
    assert joints_only.count == rank(Y[:, 6:].reshape(-1, Y.shape[2]))[0]
    assert joints_only.count < whole.count


def test_information_holds_the_wrench_and_finds_the_parameters_again(example_robots):
    """Torque made from known parameters: the misfit of those is rounding, row by row, friction in its own rows only."""
    robot = Robot.from_urdf(example_robots / SOLO, floating=True)
    model = Model(robot, (RigidBody(), RotorInertia(), Viscous(), Coulomb()))
    theta = model.nominal + np.array(["actuator/" in name for name in model.names]) * 0.3
    motion = motion_of(robot, 400)
    torque = model.torque(theta, motion)
    recording = replace(motion, base=replace(motion.base, wrench=torque[:, :6]), tau=torque[:, 6:], source="")
    info = model.absorb([recording])
    assert info.joints == robot.row_names
    assert info.rows == (400,) * len(robot.row_names)
    np.testing.assert_allclose(info.energy, (torque**2).sum(axis=0), rtol=1e-12)
    assert np.all(info.misfit(theta) < 1e-20 * info.energy)
    friction = [k for k, name in enumerate(model.names) if name.endswith("viscous_friction")]
    assert [model.columns[k].joints for k in friction] == [(6 + j,) for j in range(len(robot.joint_names))]
    assert not set(friction) & {c for row in range(6) for c in info.support[row]}


def test_filtered_rows_fit_as_well(example_robots):
    """F tau = (F Y) theta also for the rows of the base: the filter works on rows, and orientation enters before it."""
    robot = Robot.from_urdf(example_robots / SOLO, floating=True)
    model = Model(robot, (RigidBody(), Viscous()))
    motion = motion_of(robot, 600)
    torque = model.torque(model.nominal, motion)
    recording = replace(motion, base=replace(motion.base, wrench=torque[:, :6]), tau=torque[:, 6:], source="")
    for threads in (1, 2):
        info = model.absorb([recording], lowpass=LowPass(cutoff=10.0, keep_every=2), threads=threads)
        assert info.rows == (300,) * len(robot.row_names)
        assert np.all(info.misfit(model.nominal) < 1e-20 * info.energy)


def test_an_unknown_wrench_leaves_the_base_rows_out(example_robots):
    robot = Robot.from_urdf(example_robots / SOLO, floating=True)
    model = Model(robot, (RigidBody(),))
    motion = motion_of(robot, 60)
    valid = np.ones(motion.q.shape, dtype=bool)
    valid[:10], valid[10:20, 0] = False, False
    known = model.absorb([replace(motion, valid=valid, source="")])
    unknown = model.absorb([replace(motion, valid=valid, base=replace(motion.base, wrench=None), source="")])
    assert known.rows == (*(50,) * 6, 40, *(50,) * 11)  # a sample without any valid joint is left out of the base too
    assert unknown.rows == (*(0,) * 6, 40, *(50,) * 11)
    np.testing.assert_array_equal(unknown.energy[:6], 0.0)
    np.testing.assert_allclose(unknown.energy[6:], known.energy[6:], rtol=1e-12)


def test_locking_keeps_mass_and_wrench(example_robots):
    path = example_robots / TALOS
    whole = Robot.from_urdf(path, floating=True)
    at = {name: 0.3 for name in whole.joint_names if "arm" in name}
    robot = whole.locked(at)
    assert robot.floating
    assert robot.moving_mass == pytest.approx(whole.moving_mass, rel=1e-14)
    motion = motion_of(robot)
    full = {name: (motion.q[:, k], motion.dq[:, k], motion.ddq[:, k]) for k, name in enumerate(robot.joint_names)}
    still = np.zeros(len(motion))
    columns = [full.get(name, (still + 0.3, still, still)) for name in whole.joint_names]
    spread = Trajectory(
        motion.time, whole.joint_names, *(np.column_stack(c) for c in zip(*columns, strict=True)), base=motion.base
    )
    kept = [whole.row_names.index(name) for name in robot.row_names]
    theirs = Model(whole, (RigidBody(),)).torque(whole.parameters, spread)[:, kept]
    assert robots.relative(Model(robot, (RigidBody(),)).torque(robot.parameters, motion), theirs) < AGREEMENT


def test_motion_and_robot_must_agree_about_the_base(tmp_path):
    path = robots.write(tmp_path, "branching")
    floating, fixed = Robot.from_urdf(path, floating=True), Robot.from_urdf(path)
    motion = motion_of(floating)
    model = Model(floating, (RigidBody(),))
    with pytest.raises(DataError, match="does not say how it moves"):
        model.torque(floating.parameters, replace(motion, base=None))
    with pytest.raises(DataError, match="the base of the robot is fixed"):
        Model(fixed, (RigidBody(),)).torque(fixed.parameters, motion)


def test_an_mjcf_without_a_free_body_does_not_float(repository):
    with pytest.raises(ModelError, match="no body of this MJCF is free"):
        Robot.from_file(repository / "examples" / "robots" / "arm6.xml", floating=True)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"orientation": [[2.0, 0, 0, 0]]}, "no unit quaternion"),
        ({"orientation": [[0.0, 0, 1.0]]}, r"orientation of the base must have shape \(1, 4\)"),
        ({"twist": np.zeros((2, 6))}, r"twist of the base must have shape \(1, 6\)"),
        ({"acceleration": np.full((1, 6), np.nan)}, "acceleration of the base is not finite at sample 0"),
        ({"wrench": np.zeros((1, 3))}, "wrench of the base must have shape"),
    ],
)
def test_a_base_motion_that_cannot_be(change, message):
    parts = {"orientation": [[0.0, 0, 0, 1]], "twist": np.zeros((1, 6)), "acceleration": np.zeros((1, 6))}
    with pytest.raises(DataError, match=message):
        BaseMotion(**{**parts, **change})


def test_a_base_motion_travels_with_its_samples(tmp_path):
    robot = Robot.from_urdf(robots.write(tmp_path, "planar"), floating=True)
    motion = motion_of(robot, 20)
    cut = motion.samples(5, 9).ordered(motion.joint_names[::-1])
    np.testing.assert_allclose(cut.base.orientation, motion.base.orientation[5:9], rtol=1e-15)
    np.testing.assert_array_equal(cut.base.wrench, motion.base.wrench[5:9])
    with pytest.raises(DataError, match="base must have 20 samples"):
        replace(motion, base=cut.base)
    other = replace(motion, base=replace(motion.base, wrench=None), source="")
    assert other.source != replace(motion, source="").source


def test_a_rounded_quaternion_is_brought_to_norm_one():
    base = BaseMotion([[0.7071, 0.0, 0.0, 0.7071]], np.zeros((1, 6)), np.zeros((1, 6)))
    assert np.linalg.norm(base.orientation) == pytest.approx(1.0, abs=1e-15)
