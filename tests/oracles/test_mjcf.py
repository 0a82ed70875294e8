"""MJCF: the same robot as from the URDF of the same arm, and the same inverse dynamics as MuJoCo's."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import robots
from steelyard.basis import base_parameters
from steelyard.data.base_motion import BaseMotion
from steelyard.data.trajectory import Trajectory
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia

# MuJoCo diagonalises every tensor on loading, and takes it apart again with a quaternion.
AGREEMENT = 1e-9

INERTIAL = '<inertial pos="0.02 -0.01 0.1" mass="1.5" fullinertia="0.02 0.03 0.015 0.001 -0.002 0.003"/>'

MODELS = {
    # every orientation spelling, degrees, an Euler sequence of its own, branches, a slide, a turned inertial
    "spellings": f"""
        <compiler eulerseq="zYx"/>
        <option gravity="1.3 -2.1 -9.4"/>
        <worldbody>
          <geom type="plane" size="1 1 1"/>
          <body name="floor" pos="0.1 0.2 0.3" euler="20 -30 40">
            <body name="a" axisangle="1 2 3 50">
              <joint name="a" axis="0 3 4" range="-170 170"/>{INERTIAL}
              <body name="b" pos="0.1 0 0.3" xyaxes="1 0.2 0 0.3 1 0.5">
                <joint name="b" type="slide" axis="1 0 1" range="-3 3"/>
                <inertial pos="0 0 0.1" mass="2" diaginertia="0.02 0.03 0.04" euler="10 50 -70"/>
              </body>
              <body name="c" pos="0 0.2 0.1" zaxis="0.3 -0.4 -0.8">
                <joint name="c"/>{INERTIAL}
                <body name="tool" quat="1 2 3 4" pos="0 0 0.4">
                  <inertial pos="0.1 0 0" mass="0.4" diaginertia="0.001 0.002 0.0025" axisangle="0 1 1 30"/>
                </body>
              </body>
            </body>
          </body>
        </worldbody>""",
    # mass from geoms, by classes: every primitive, fromto, groups, a geom that is only seen
    "geoms": """
        <compiler angle="radian" inertiagrouprange="0 2"/>
        <default>
          <geom density="700"/>
          <joint armature="0.1" damping="2"/>
          <default class="thin">
            <geom type="capsule" size="0.03"/>
            <default class="thick"><geom size="0.05" group="1"/><joint armature="0.3"/></default>
          </default>
          <default class="seen"><geom type="mesh" mesh="shell" group="4"/></default>
        </default>
        <asset><mesh name="shell" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>
        <worldbody>
          <body name="one" childclass="thin">
            <joint name="one" axis="0 1 0"/>
            <geom fromto="0 0 0 0.1 0.2 0.5"/><geom class="seen"/>
            <body name="two" pos="0.1 0.2 0.5">
              <joint name="two" class="thick" axis="1 0 0"/>
              <geom class="thick" fromto="0 0 0 -0.2 0.1 0.3"/>
              <geom type="box" size="0.1 0.05 0.02" pos="0 0.1 0" quat="1 0.3 0.2 0.1" mass="0.7"/>
              <geom type="ellipsoid" size="0.1 0.05 0.07" pos="0.1 0 0" euler="0.3 0.2 0.1" density="2000"/>
              <body name="three" pos="0 0 0.3" childclass="thick">
                <joint name="three"/>
                <geom type="cylinder" size="0.04 0.1" zaxis="1 1 0"/>
                <geom type="sphere" size="0.06" pos="0.1 0 0.1"/>
                <geom type="box" size="0.02 0.05" fromto="0 0 0 0.1 -0.1 0.2"/>
                <geom type="ellipsoid" size="0.03" fromto="0 0.1 0 0.1 -0.1 0.2"/>
                <geom type="cylinder" size="0.02" fromto="0 0 0 0 0 -0.2"/>
              </body>
            </body>
          </body>
        </worldbody>""",
    # several joints in one body, joints off the body's origin, readings that are not zero, frames
    "anchors": f"""
        <compiler angle="radian"/>
        <worldbody>
          <frame pos="0.1 0 0" euler="0.4 0 0">
            <body name="hip" pos="0 0 1">
              <joint name="roll" axis="1 0 0" pos="0 0.05 0.1" ref="0.4"/>
              <joint name="pitch" axis="0 1 0" pos="0.02 0 -0.1"/>
              <joint name="push" type="slide" axis="0 0.6 0.8" pos="0.1 0.1 0.1" ref="-0.2"/>
              {INERTIAL}
              <frame pos="0 0.1 0" quat="1 1 0 0">
                <body name="knee" pos="0 0 -0.4">
                  <frame euler="0.1 0.2 0.3" pos="0 0.1 0">
                    <joint name="knee" axis="0 1 0" pos="0.05 0 0.03"/>
                    <inertial pos="0 0 0.1" mass="2" diaginertia="0.02 0.03 0.04"/>
                  </frame>
                </body>
              </frame>
            </body>
          </frame>
        </worldbody>""",
    # a base that floats, with two legs
    "floating": f"""
        <option gravity="0.5 1 -9.5"/>
        <worldbody>
          <body name="trunk" pos="0 0 1" euler="10 20 30">
            <freejoint name="root"/>
            <inertial pos="0.02 -0.01 0.03" mass="6" fullinertia="0.1 0.2 0.25 0.01 -0.02 0.03"/>
            <body name="left" pos="0 0.2 0" euler="0 0 30">
              <joint name="left" axis="1 0 0"/>{INERTIAL}
              <body name="left_foot" pos="0 0 -0.3"><joint name="left_push" type="slide"/>{INERTIAL}</body>
            </body>
            <body name="right" pos="0 -0.2 0"><joint name="right" axis="0 1 0" pos="0 0 0.1"/>{INERTIAL}</body>
          </body>
        </worldbody>""",
}


@pytest.fixture
def load(tmp_path):
    """A model of MODELS (or a text) as our Robot and as MuJoCo's model without passive and constraint forces."""

    def _load(name, **options):
        path = tmp_path / "model.xml"
        path.write_text(f'<mujoco model="test">{MODELS.get(name, name)}</mujoco>', encoding="utf-8")
        model = mujoco.MjModel.from_xml_path(str(path))
        return Robot.from_mjcf(path, **options), quiet(model)

    return _load


def quiet(model):
    for off in (model.dof_frictionloss, model.dof_damping, model.jnt_stiffness):
        off[:] = 0.0
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    return model


def floating_states(names, count=40):
    motion = robots.states(names, count)
    rng = np.random.default_rng(3)
    quaternion = rng.normal(size=(count, 4))
    base = BaseMotion(
        quaternion / np.linalg.norm(quaternion, axis=1)[:, None],
        rng.uniform(-3.0, 3.0, (count, 6)),
        rng.uniform(-10.0, 10.0, (count, 6)),
    )
    return Trajectory(motion.time, motion.joint_names, motion.q, motion.dq, motion.ddq, motion.tau, base=base)


def rotation(quaternion):
    matrix = np.zeros(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


def mujoco_torque(model, motion):
    """(T, rows) inverse dynamics by MuJoCo; of a free base in our terms.

    MuJoCo's linear velocity and force of a free joint are in the world, w x y z its quaternion; ours along the base.
    """
    data = mujoco.MjData(model)
    free = 6 if motion.base is not None else 0
    first = {model.joint(j).name: (model.jnt_qposadr[j], model.jnt_dofadr[j]) for j in range(model.njnt)}
    at, dof = (list(x) for x in zip(*(first[name] for name in motion.joint_names), strict=True))
    torque = np.zeros((len(motion), model.nv))
    for k in range(len(motion)):
        data.qpos[at], data.qvel[dof], data.qacc[dof] = motion.q[k], motion.dq[k], motion.ddq[k]
        if free:
            x, y, z, w = motion.base.orientation[k]
            R = rotation(np.array([w, x, y, z]))
            v, a = motion.base.twist[k], motion.base.acceleration[k]
            data.qpos[3:7] = w, x, y, z
            data.qvel[:6] = np.concatenate([R @ v[:3], v[3:]])
            data.qacc[:6] = np.concatenate([R @ (a[:3] + np.cross(v[3:], v[:3])), a[3:]])
        mujoco.mj_inverse(model, data)
        torque[k] = data.qfrc_inverse
        if free:
            torque[k, :3] = R.T @ torque[k, :3]
    return torque[:, [*range(free), *dof]]


@pytest.mark.parametrize("arm", ["arm6", "arm7"])
def test_an_arm_is_the_same_from_either_file(repository, arm):
    """Both files were written from one table, so that every number is the same text: rounding alone is allowed."""
    folder = repository / "examples" / "robots"
    ours, urdf = Robot.from_file(folder / f"{arm}.xml"), Robot.from_file(folder / f"{arm}.urdf")
    assert (ours.joint_names, ours.body_names) == (urdf.joint_names, urdf.body_names)
    np.testing.assert_allclose(ours.parameters, urdf.parameters, rtol=0, atol=1e-12)
    for quantity in ("lower", "upper", "velocity_limit", "effort_limit", "damping", "friction"):
        np.testing.assert_array_equal(getattr(ours, quantity), getattr(urdf, quantity), quantity)
    for left, right in zip(ours.joints, urdf.joints, strict=True):
        assert (left.parent, left.kind, left.dof) == (right.parent, right.kind, right.dof)
        for part in ("rotation", "translation", "axis"):
            np.testing.assert_allclose(getattr(left, part), getattr(right, part), rtol=0, atol=1e-15)
    armature = quiet(mujoco.MjModel.from_xml_path(str(folder / f"{arm}.xml"))).dof_armature
    np.testing.assert_array_equal(ours.rotor_inertia, armature)
    assert not urdf.rotor_inertia.any()  # a URDF has no field for it


@pytest.mark.parametrize("arm", ["arm6", "arm7"])
def test_an_arm_moves_as_in_mujoco(repository, arm):
    path = repository / "examples" / "robots" / f"{arm}.xml"
    robot, theirs = Robot.from_mjcf(path), quiet(mujoco.MjModel.from_xml_path(str(path)))
    model = Model(robot, (RigidBody(), RotorInertia()))
    motion = robots.states(robot.joint_names)
    assert robots.relative(model.torque(model.nominal, motion), mujoco_torque(theirs, motion)) < AGREEMENT


@pytest.mark.parametrize("name", MODELS)
def test_mujoco_agrees(load, name):
    robot, theirs = load(name)
    model = Model(robot, (RigidBody(), RotorInertia()))
    motion = (floating_states if robot.floating else robots.states)(robot.joint_names)
    expected = mujoco_torque(theirs, motion)
    assert robots.relative(model.torque(model.nominal, motion), expected) < AGREEMENT
    assert robots.relative(model.regressor(motion) @ model.nominal, expected) < AGREEMENT
    np.testing.assert_allclose(robot.rotor_inertia, theirs.dof_armature[robot.base_rows :])
    assert robot.moving_mass == pytest.approx(sum(theirs.body_mass[theirs.body_weldid > 0]), rel=1e-12)


def test_links_keep_the_frame_and_the_parameters_of_the_file(load):
    """A joint off the body's origin moves the body's frame of the model, and not that of the link."""
    robot, theirs = load("anchors")
    links = {link.name: link for link in robot.links}
    assert set(links) == {"world", "hip", "knee"}
    assert robot.body_names == ("hip:roll", "hip:pitch", "hip", "knee")
    np.testing.assert_allclose(links["hip"].translation, [-0.1, -0.1, -0.1])
    np.testing.assert_allclose(links["hip"].parameters[:4], [1.5, 0.03, -0.015, 0.15], rtol=1e-14)
    np.testing.assert_allclose(links["knee"].parameters[1:4] / 2.0, theirs.body("knee").ipos, atol=1e-15)


def test_the_base_parameters_of_a_body_with_three_joints_count_once(load):
    """Massless bodies between joints add columns, not parameters: 3 + 7 + 7 less 3 for gravity along nothing special.

    The count is that of the numerical rank of MuJoCo-checked regressors, by singular values with a clear gap.
    """
    robot, _ = load("anchors")
    model = Model(robot, (RigidBody(),))
    basis = base_parameters(model)
    Y = model.regressor(robots.states(robot.joint_names, 200)).reshape(-1, len(model.names))
    scale = np.linalg.norm(Y, axis=0)
    values = np.linalg.svd(Y / np.where(scale > 0, scale, 1.0), compute_uv=False)
    values /= values[0]
    assert basis.count == int(np.sum(values > 1e-10))
    assert values[basis.count - 1] > 1e3 * values[basis.count]


COUPLED = f"""
    <compiler angle="radian"/>
    <worldbody>
      <body name="arm"><joint name="arm" axis="0 1 0" range="-2 2" ref="0.1"/>{INERTIAL}
        <body name="a" pos="0 0 0.3"><joint name="a" type="slide" axis="0 1 0" range="-1 1"/>{INERTIAL}</body>
        <body name="b" pos="0 0 0.3"><joint name="b" type="slide" axis="0 -1 0" ref="0.05"/>{INERTIAL}</body>
      </body>
    </worldbody>
    <equality>
      <joint joint1="b" joint2="a" polycoef="0.02 -0.5"/>
      <joint joint1="a" joint2="arm" active="false"/>
    </equality>"""


def test_a_coupling_can_be_projected(load):
    """b = 0.05 + 0.02 - 0.5 a, so that the torque of a is tau_a - 0.5 tau_b of the free tree."""
    robot, theirs = load(COUPLED, mimic="project")
    assert robot.joint_names == ("arm", "a")
    motion = robots.states(robot.joint_names)
    b = [0.07 - 0.5 * motion.q[:, 1], -0.5 * motion.dq[:, 1], -0.5 * motion.ddq[:, 1]]
    full = Trajectory(
        motion.time, ("arm", "a", "b"),
        *(np.column_stack([left, right]) for left, right in zip((motion.q, motion.dq, motion.ddq), b, strict=True)),
    )  # fmt: skip
    free = mujoco_torque(theirs, full)
    expected = np.column_stack([free[:, 0], free[:, 1] - 0.5 * free[:, 2]])
    model = Model(robot, (RigidBody(),))
    assert robots.relative(model.torque(robot.parameters, motion), expected) < AGREEMENT


def test_a_coupling_is_locked_by_default(load):
    robot, theirs = load(COUPLED)
    assert robot.joint_names == ("arm", "a")
    assert dict(robot.locked_at) == {"b": pytest.approx(0.07)}
    assert [f.code for f in robot.findings if "'b' follows 'a'" in f.message] == ["model.mimic_locked"]
    motion = robots.states(robot.joint_names)
    still = np.zeros(len(motion))
    full = Trajectory(
        motion.time, ("arm", "a", "b"),
        *(np.column_stack([left, right]) for left, right in
          ((motion.q, still + 0.07), (motion.dq, still), (motion.ddq, still))),
    )  # fmt: skip
    model = Model(robot, (RigidBody(),))
    assert robots.relative(model.torque(robot.parameters, motion), mujoco_torque(theirs, full)[:, :2]) < AGREEMENT


def test_gravity_is_that_of_the_file_unless_another_is_given(load):
    assert load("spellings")[0].gravity.tolist() == [1.3, -2.1, -9.4]
    assert load("spellings", gravity=(0, 9.81, 0))[0].gravity.tolist() == [0, 9.81, 0]
    assert load("anchors")[0].gravity.tolist() == [0, 0, -9.81]
