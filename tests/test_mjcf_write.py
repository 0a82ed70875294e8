"""An MJCF made from a URDF is the same robot to MuJoCo, with the armature that the URDF could not hold."""

from __future__ import annotations

import re

import mujoco
import numpy as np
import pytest

from odd_urdf import ODD, PLAIN
from steelyard.errors import ModelError
from steelyard.formats.export_values import JointDynamics, export_values
from steelyard.formats.link_values import link_parameters
from steelyard.formats.mjcf_write import write_mjcf
from steelyard.formats.model_text import description_of
from steelyard.robot.inertia import parameters_of, pseudo_inertia
from steelyard.robot.load import build_robot
from steelyard.robot.regressor import dense_regressor
from steelyard.robot.robot import STANDARD_GRAVITY

# MuJoCo carries double precision through a dozen bodies; the frames are the same decimals in both files.
AGREEMENT = 1e-9


def identified(source: bytes, gravity=STANDARD_GRAVITY):
    description = description_of(source, "x")
    robot = build_robot(description, np.array(gravity), mimic="project", floating=False)
    rng = np.random.default_rng(11)
    links = {}
    for name, own in link_parameters(description).items():
        if own is not None and own[0] > 0.0 and np.linalg.eigvalsh(pseudo_inertia(own))[0] > 0.0:
            T = np.eye(4) + rng.uniform(-0.03, 0.03, (4, 4))
            links[name] = parameters_of(T @ pseudo_inertia(own) @ T.T)
    joints = {name: JointDynamics(0.1 + k / 3, 0.2 + k / 7, 0.3 + k / 11) for k, name in enumerate(robot.joint_names)}
    return export_values(robot, links=links, joints=joints)


def torque_error(text: bytes, robot, names=None) -> float:
    model = mujoco.MjModel.from_xml_string(text.decode())
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT | mujoco.mjtDisableBit.mjDSBL_EQUALITY
    dofs = [int(model.joint(name).dofadr[0]) for name in robot.joint_names]
    assert list(model.dof_damping[dofs]) == list(robot.damping)
    assert list(model.dof_frictionloss[dofs]) == list(robot.friction)
    assert list(model.dof_armature[dofs]) == list(robot.rotor_inertia)
    model.dof_frictionloss[:] = 0.0
    data = mujoco.MjData(model)
    rng = np.random.default_rng(4)
    q, v, a = (rng.uniform(-s, s, (20, len(dofs))) for s in (1.0, 2.0, 5.0))
    ours = dense_regressor(robot.tree, q, v, a) @ robot.parameters + robot.damping * v + robot.rotor_inertia * a
    theirs = np.zeros_like(ours)
    for k in range(len(q)):
        data.qpos[dofs], data.qvel[dofs], data.qacc[dofs] = q[k], v[k], a[k]
        mujoco.mj_inverse(model, data)
        theirs[k] = data.qfrc_inverse[dofs]
    return float((np.abs(ours - theirs).max(axis=0) / np.abs(ours).max(axis=0)).max())


@pytest.mark.parametrize("name", sorted(ODD.keys() - {"joints of every kind"}))
def test_mujoco_computes_the_identified_torque(name):
    values = identified(ODD[name])
    assert torque_error(write_mjcf(ODD[name], values), values.identified) < AGREEMENT


@pytest.mark.parametrize(
    "file", ["ur_description/urdf/ur10_robot.urdf", "xarm_description/urdf/xarm7.urdf", "z1_description/urdf/z1.urdf"]
)
def test_known_robots(example_robots, file):
    source = (example_robots / file).read_bytes()
    values = identified(source, gravity=(1.3, -2.1, -9.4))
    assert torque_error(write_mjcf(source, values), values.identified) < AGREEMENT


def test_limits_mimics_and_frames_are_taken_along():
    source = ODD["joints of every kind"]
    model = mujoco.MjModel.from_xml_string(write_mjcf(source, identified(source)).decode())
    assert model.joint("j1").range.tolist() == [-1.0, 2.0]
    assert model.jnt_actfrcrange[model.joint("j2").id].tolist() == [-40.0, 40.0]
    assert not model.jnt_limited[model.joint("w").id]
    assert model.eq_data[0, :2].tolist() == [0.1, -0.5]
    assert model.body("flange").mass == 0.0


def test_velocity_limits_are_read_again_by_their_joints(example_robots):
    """A hand branches, and the files list its joints in other orders."""
    source = (example_robots / "allegro_hand_description" / "urdf" / "allegro_right_hand.urdf").read_bytes()
    speeds = {j.name: 1.0 + k for k, j in enumerate(description_of(source, "x").joints) if j.moves}
    for name, speed in speeds.items():
        tag = b'<joint name="' + name.encode()
        head, _, tail = source.partition(tag)
        source = head + tag + re.sub(rb'velocity="[^"]*"', b'velocity="%g"' % speed, tail, count=1)
    written = write_mjcf(source, identified(source))
    assert {j.name: j.velocity for j in description_of(written, "x").joints if j.moves} == speeds
    branched = ODD["joints of every kind"]
    assert b"velocity_limit" not in write_mjcf(branched, identified(branched))  # one joint has none


def test_what_was_not_identified_comes_from_the_urdf():
    robot = build_robot(description_of(PLAIN.encode(), "x"), np.array(STANDARD_GRAVITY), mimic="lock")
    values = export_values(robot, links={}, joints={"j1": JointDynamics(friction=7.0)})
    model = mujoco.MjModel.from_xml_string(write_mjcf(PLAIN.encode(), values).decode())
    assert model.dof_damping.tolist() == [0.5, 20.0]
    assert model.dof_frictionloss.tolist() == [7.0, 3.0]
    assert model.dof_armature.tolist() == [0.0, 0.0]
    assert model.body_mass.tolist() == [0.0, 0.0, 2.5, 1.0]


def test_the_same_values_give_the_same_bytes():
    values = identified(PLAIN.encode())
    assert write_mjcf(PLAIN.encode(), values) == write_mjcf(PLAIN.encode(), values)


def test_a_floating_base_is_refused():
    floating = PLAIN.replace(
        '<link name="base"/>',
        '<link name="world"/><link name="base"/><joint name="free" type="floating"><parent link="world"/>'
        '<child link="base"/></joint>',
    ).encode()
    values = identified(PLAIN.encode())
    with pytest.raises(ModelError, match="floats is not converted"):
        write_mjcf(floating, values)
