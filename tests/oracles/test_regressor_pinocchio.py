"""The regressor against Pinocchio's recursion, for every kind of joint, mount, branch, lock and mimic.

Both carry double precision through a dozen bodies: 1e-12 of the largest torque leaves a factor of a thousand.
"""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import robots
from steelyard.model import Model
from steelyard.robot.regressor import dense_regressor
from steelyard.robot.robot import Robot
from steelyard.robot.tree import FLOATING, PRISMATIC, REVOLUTE, TreeJoint, build_tree
from steelyard.terms.rigid_body import RigidBody

AGREEMENT = 1e-12
OURS = ("arm6", "arm7", "planar2r", "prismatic_continuous")
THEIRS = {
    "panda": "panda_description/urdf/panda.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "kinova": "kinova_description/robots/kinova.urdf",
    "z1": "z1_description/urdf/z1.urdf",
    "xarm7": "xarm_description/urdf/xarm7.urdf",
    "so101": "so_arm_description/urdf/so101.urdf",
    "baxter": "baxter_description/urdf/baxter.urdf",
    "allegro": "allegro_hand_description/urdf/allegro_left_hand.urdf",
    "pendulum": "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "tiago": "tiago_description/robots/tiago_no_hand.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
    "hextilt": "hextilt_description/urdf/hextilt_flying_arm_5.urdf",
}
LEGGED = {
    "solo12": "solo_description/robots/solo12.urdf",
    "talos": "talos_data/robots/talos_reduced.urdf",
    "bolt": "bolt_description/robots/bolt.urdf",
}
REAL = ("panda_gaz/panda.urdf", "ur10_unisa/ur10.urdf", "tx40/tx40.urdf")


def reference(path: Path, robot: Robot) -> pin.Model:
    """Pinocchio's model of the file, with our robot's gravity, and what it has locked locked."""
    model = pin.buildModelFromUrdf(str(path))
    model.gravity.linear = robot.gravity
    model.armature[:] = 0.0
    if not robot.locked_at:
        return model
    displacement = np.zeros(model.nv)
    for name, position in robot.locked_at:
        displacement[model.joints[model.getJointId(name)].idx_v] = position
    at = pin.integrate(model, pin.neutral(model), displacement)
    return pin.buildReducedModel(model, [model.getJointId(name) for name, _ in robot.locked_at], at)


def check(path: Path, robot: Robot, *, count: int = 40) -> None:
    """Regressor times parameters, and the model's torque, are Pinocchio's inverse dynamics."""
    model = reference(path, robot)
    assert set(list(model.names)[1:]) == set(robot.joint_names)
    motion = robots.states(robot.joint_names, count)
    theirs = robots.pinocchio_torque(model, motion)
    dense = dense_regressor(robot.tree, motion.q, motion.dq, motion.ddq)
    assert robots.relative(dense @ robot.parameters, theirs) < AGREEMENT
    assert robots.relative(Model(robot, (RigidBody(),)).torque(robot.parameters, motion), theirs) < AGREEMENT


@pytest.mark.parametrize("gravity", [(0.0, 0.0, -9.81), robots.TILTED])
@pytest.mark.parametrize("name", robots.TEXTS)
def test_inline_robots(tmp_path, name, gravity):
    path = robots.write(tmp_path, name)
    check(path, Robot.from_urdf(path, gravity=gravity))


@pytest.mark.parametrize("name", OURS)
def test_our_examples(repository, name):
    path = repository / "examples" / "robots" / f"{name}.urdf"
    check(path, Robot.from_urdf(path, gravity=robots.TILTED))


@pytest.mark.parametrize("name", THEIRS)
def test_robots_of_others(example_robots, name):
    path = example_robots / THEIRS[name]
    check(path, Robot.from_urdf(path, gravity=robots.TILTED), count=20)


@pytest.mark.parametrize("place", REAL)
def test_robots_of_the_recordings(real_data, place):
    path = real_data / place
    check(path, Robot.from_urdf(path, gravity=robots.TILTED))


def test_joints_are_found_by_name_whatever_their_order(tmp_path):
    robot = robots.load(tmp_path, "branching", gravity=robots.TILTED)
    motion = robots.states(robot.joint_names)
    shuffled = motion.ordered(robot.joint_names[::-1])
    model = Model(robot, (RigidBody(),))
    np.testing.assert_array_equal(model.torque(robot.parameters, shuffled), model.torque(robot.parameters, motion))
    assert shuffled.q[0, 0] == motion.q[0, -1]


@pytest.mark.parametrize("count", [1, 63, 64, 65, 256, 257])
def test_any_number_of_samples(tmp_path, count):
    """The kernel works in blocks of 64 and panels of 256: no sample may be lost, repeated or padded at their edges."""
    robot = robots.load(tmp_path, "rail")
    whole = robots.states(robot.joint_names, 300)

    def dense(samples):
        return dense_regressor(robot.tree, samples.q, samples.dq, samples.ddq)

    alone = np.array([dense(whole.samples(k, k + 1))[0] for k in range(count)])
    together = dense(whole.samples(0, count))
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize("span", [1e2, 1e4, 9.9e5])
def test_many_turns_away(tmp_path, span):
    """The kernel's own sine and cosine stay exact up to the bound on positions: an endless joint may turn far."""
    path = robots.write(tmp_path, "tooled")
    robot = Robot.from_urdf(path)
    motion = robots.states(robot.joint_names, 200, span=span)
    theirs = robots.pinocchio_torque(reference(path, robot), motion)
    ours = dense_regressor(robot.tree, motion.q, motion.dq, motion.ddq) @ robot.parameters
    assert robots.relative(ours, theirs) < AGREEMENT


# Positions away from zero, prismatic joints too; a joint above a branch, in the middle and at the end of a chain.
LOCKS = {
    "tooled": {"pitch": 0.7},
    "rail": {"slide": 0.4, "bend": -1.1},
    "branching": {"waist": 1.2, "left_slide": 0.15, "neck": -2.0},
    "gripper": {"wrist": 0.8, "finger_a": 0.03},
}


@pytest.mark.parametrize("name", LOCKS)
def test_locked_joints_are_a_reduced_model(tmp_path, name):
    path = robots.write(tmp_path, name)
    whole = Robot.from_urdf(path, gravity=robots.TILTED)
    robot = whole.locked(LOCKS[name])
    check(path, robot)
    came_to_rest = [a.parameters[0] for a, b in zip(robot.links, whole.links, strict=True) if a.body == -1 < b.body]
    assert robot.moving_mass + sum(came_to_rest) == pytest.approx(whole.moving_mass, rel=1e-14)


@pytest.mark.parametrize(("place", "lock"), [("panda_gaz/panda.urdf", 2), ("ur10_unisa/ur10.urdf", 3)])
def test_a_locked_joint_of_a_real_arm(real_data, place, lock):
    path = real_data / place
    robot = Robot.from_urdf(path)
    check(path, robot.locked({robot.joint_names[lock]: -0.6}))


def test_joints_a_recording_lacks_are_held_at_the_limit_nearest_to_zero(example_robots):
    """Panda's fourth joint cannot reach zero."""
    path = example_robots / THEIRS["panda"]
    robot = Robot.from_urdf(path)
    kept = [name for name in robot.joint_names if name != "panda_joint4"]
    part = robot.for_joints(kept)
    assert part.joint_names == tuple(kept)
    assert dict(part.locked_at)["panda_joint4"] == robot.upper[3] < 0
    check(path, part)


@pytest.mark.parametrize("name", ["gripper", "knuckles"])
def test_projected_mimics_follow_their_leader(tmp_path, name):
    """With all joint positions `q = G x + b`, power and virtual work give `tau_x = G' tau_q`."""
    path = robots.write(tmp_path, name)
    robot = Robot.from_urdf(path, gravity=robots.TILTED, mimic="project")
    model = pin.buildModelFromUrdf(str(path))
    model.gravity.linear = robot.gravity
    names = list(model.names)[1:]
    equations = {  # joint: (leader, ratio, offset), chains worked out by hand from the text of the robots
        "gripper": {"finger_b": ("finger_a", -1.0, 0.015)},
        "knuckles": {
            "second": ("first", 0.7, 0.2),
            "third": ("first", -1.4 * 0.7, -1.4 * 0.2 + 0.1),
            "push": ("first", 0.05, 0.01),
        },
    }[name]
    assert robot.joint_names == tuple(n for n in names if n not in equations)
    G, b = np.zeros((len(names), len(robot.joint_names))), np.zeros(len(names))
    for row, joint in enumerate(names):
        leader, ratio, offset = equations.get(joint, (joint, 1.0, 0.0))
        G[row, robot.joint_names.index(leader)], b[row] = ratio, offset
    motion = robots.states(robot.joint_names)
    full = robots.states(names)
    full = type(full)(
        time=motion.time, joint_names=tuple(names), q=motion.q @ G.T + b, dq=motion.dq @ G.T, ddq=motion.ddq @ G.T
    )
    theirs = robots.pinocchio_torque(model, full) @ G
    dense = dense_regressor(robot.tree, motion.q, motion.dq, motion.ddq)
    assert robots.relative(dense @ robot.parameters, theirs) < AGREEMENT
    assert robots.relative(Model(robot, (RigidBody(),)).torque(robot.parameters, motion), theirs) < AGREEMENT


def floating_tree(model: pin.Model):
    """Our tree and parameters of a Pinocchio model whose first joint is free; the others revolute or prismatic."""
    joints, parameters = [], []
    for k in range(1, model.njoints):
        kind = model.joints[k].shortname()
        place = model.jointPlacements[k]
        data = model.joints[k].createData()
        model.joints[k].calc(data, pin.neutral(model))
        column = np.zeros(6) if k == 1 else np.asarray(data.S).reshape(6)
        slides = "P" in kind.removeprefix("JointModel")[0]
        axis = column[:3] if slides else column[3:]
        joints.append(
            TreeJoint(
                parent=model.parents[k] - 1,
                kind=FLOATING if k == 1 else PRISMATIC if slides else REVOLUTE,
                axis=axis,
                rotation=place.rotation,
                translation=place.translation,
                dof=max(0, model.joints[k].idx_v - 6),
            )
        )
        parameters.append(model.inertias[k].toDynamicParameters())
    return build_tree(joints, model.gravity.linear, model.nv - 6), np.concatenate(parameters)


@pytest.mark.parametrize("name", LEGGED)
def test_a_floating_base(example_robots, name):
    model = pin.buildModelFromUrdf(str(example_robots / LEGGED[name]), pin.JointModelFreeFlyer())
    model.gravity.linear = np.array(robots.TILTED)
    model.armature[:] = 0.0
    tree, parameters = floating_tree(model)
    rng = np.random.default_rng(5)
    count = 40
    q = rng.uniform(-2.0, 2.0, (count, model.nq))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    v, a = rng.uniform(-3.0, 3.0, (2, count, model.nv))
    data = model.createData()
    theirs = np.array([pin.rnea(model, data, *sample) for sample in zip(q, v, a, strict=True)])
    # the base's three position coordinates do not enter, its quaternion comes first in the kernel's positions
    ours = dense_regressor(tree, q[:, 3:], v, a) @ parameters
    assert robots.relative(ours, theirs) < AGREEMENT


@pytest.mark.parametrize("arm", ["arm6", "arm7"])
def test_mujoco_agrees_from_another_file_of_the_same_arm(repository, arm):
    """MJCF through MuJoCo against URDF through us; MuJoCo diagonalises each tensor on loading: 1e-9."""
    robot = Robot.from_urdf(repository / "examples" / "robots" / f"{arm}.urdf")
    model = mujoco.MjModel.from_xml_path(str(repository / "examples" / "robots" / f"{arm}.xml"))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    for off in (model.dof_frictionloss, model.dof_armature, model.dof_damping):
        off[:] = 0.0
    data = mujoco.MjData(model)
    motion = robots.states([model.joint(j).name for j in range(model.njnt)])
    theirs = np.zeros((len(motion), model.nv))
    for k in range(len(motion)):
        data.qpos[:], data.qvel[:], data.qacc[:] = motion.q[k], motion.dq[k], motion.ddq[k]
        mujoco.mj_inverse(model, data)
        theirs[k] = data.qfrc_inverse
    assert robots.relative(Model(robot, (RigidBody(),)).torque(robot.parameters, motion), theirs) < 1e-9
