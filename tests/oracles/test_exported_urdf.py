"""Exported URDFs in the hands of others: Pinocchio and MuJoCo compute the identified torque from the new file."""

from __future__ import annotations

import re

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from odd_urdf import ODD
from steelyard.formats.export_values import JointDynamics, export_values
from steelyard.formats.link_values import link_parameters
from steelyard.formats.model_text import description_of
from steelyard.formats.urdf_patch import patch_urdf
from steelyard.robot.inertia import parameters_of, pseudo_inertia
from steelyard.robot.load import build_robot
from steelyard.robot.regressor import dense_regressor
from steelyard.robot.robot import STANDARD_GRAVITY

# Both carry double precision through a dozen bodies; MuJoCo diagonalises each tensor, and fuses links, on loading.
AGREEMENT = 1e-9

# Pinocchio's reader splits vectors at blanks only: a tab or line end there makes it drop the whole inertial.
UNREAD_BY_PINOCCHIO = {"blanks in values", "line ends in values"}
# Its XML library, which is MuJoCo's too, knows no instructions inside the root element.
UNREAD = UNREAD_BY_PINOCCHIO | {"processing instructions"}
ROBOTS = (
    "panda_description/urdf/panda.urdf",
    "ur_description/urdf/ur10_robot.urdf",
    "xarm_description/urdf/xarm7.urdf",
    "kinova_description/robots/kinova.urdf",
    "z1_description/urdf/z1.urdf",
)


def exported(source: bytes):
    """A URDF with other bodies and friction in it, and the robot that it must be."""
    description = description_of(source, "x")
    robot = build_robot(description, np.array(STANDARD_GRAVITY), mimic="lock", floating=False)
    rng = np.random.default_rng(11)
    links = {}
    for name, own in link_parameters(description).items():
        if own is not None and own[0] > 0.0 and np.linalg.eigvalsh(pseudo_inertia(own))[0] > 0.0:
            T = np.eye(4) + rng.uniform(-0.03, 0.03, (4, 4))
            links[name] = parameters_of(T @ pseudo_inertia(own) @ T.T)
    joints = {name: JointDynamics(0.1 + k / 3, 0.2 + k / 7) for k, name in enumerate(robot.joint_names)}
    values = export_values(robot, links=links, joints=joints)
    return patch_urdf(source, values.links, values.joints), values.identified


def states(robot, count=20):
    rng = np.random.default_rng(4)
    n = len(robot.joint_names)
    low, high = np.maximum(robot.lower, -1.0), np.minimum(robot.upper, 1.0)
    return (
        rng.uniform(low, np.maximum(low, high), (count, n)),
        rng.normal(0, 1, (count, n)),
        rng.normal(0, 3, (count, n)),
    )


def rigid_torque(robot, q, v, a):
    return dense_regressor(robot.tree, q, v, a) @ robot.parameters


def relative(found, wanted) -> float:
    return float((np.abs(found - wanted).max(axis=0) / np.abs(wanted).max(axis=0)).max())


def pinocchio_error(text: bytes, robot) -> float:
    model = pin.buildModelFromXML(text.decode("utf-8-sig"), mimic=False)
    data = model.createData()
    columns = [model.joints[model.getJointId(name)].idx_v for name in robot.joint_names]
    q, v, a = states(robot)
    torque = []
    for k in range(len(q)):
        spread = np.zeros((3, model.nv))
        spread[:, columns] = q[k], v[k], a[k]
        torque.append(pin.rnea(model, data, pin.integrate(model, pin.neutral(model), spread[0]), *spread[1:])[columns])
    frictions = all(model.damping[columns] == robot.damping) and all(model.friction[columns] == robot.friction)
    return relative(np.array(torque), rigid_torque(robot, q, v, a)) if frictions else np.inf


def mujoco_error(text: bytes, robot) -> float:
    """Meshes are left out, as the dynamics need none; MuJoCo reads friction as well, and adds damping itself."""
    plain = re.sub(rb"<(visual|collision)\b.*?</\1>", b"", text, flags=re.DOTALL)
    model = mujoco.MjModel.from_xml_string(plain.decode("utf-8-sig"))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_EQUALITY  # mimic joints stand still here
    dofs = [int(model.joint(name).dofadr[0]) for name in robot.joint_names]
    assert list(model.dof_damping[dofs]) == list(robot.damping)
    assert list(model.dof_frictionloss[dofs]) == list(robot.friction)
    model.dof_frictionloss[:] = 0.0
    data = mujoco.MjData(model)
    q, v, a = states(robot)
    torque = []
    for k in range(len(q)):
        data.qpos[dofs], data.qvel[dofs], data.qacc[dofs] = q[k], v[k], a[k]
        mujoco.mj_inverse(model, data)
        torque.append(data.qfrc_inverse[dofs].copy())
    return relative(np.array(torque), rigid_torque(robot, q, v, a) + robot.damping * v)


@pytest.mark.parametrize("name", sorted(ODD.keys() - UNREAD - {"a long file", "joints of every kind"}))
def test_pinocchio_computes_the_identified_torque(name):
    text, robot = exported(ODD[name])
    assert pinocchio_error(text, robot) < AGREEMENT


@pytest.mark.parametrize(
    "name", ["plain", "CR LF", "inertials turned", "Gazebo", "transmissions", "ros2_control", "tabs"]
)
def test_mujoco_computes_the_identified_torque(name):
    text, robot = exported(ODD[name])
    assert mujoco_error(text, robot) < AGREEMENT


@pytest.mark.parametrize("file", ROBOTS)
def test_both_compute_the_identified_torque_of_known_robots(example_robots, file):
    source = (example_robots / file).read_bytes()
    text, robot = exported(source)
    assert pinocchio_error(text, robot) < AGREEMENT
    assert mujoco_error(text, robot) < AGREEMENT
