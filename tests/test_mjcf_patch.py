"""Identified values written into MJCFs of every style: the attributes meant, not one byte more, and MuJoCo agrees."""

from __future__ import annotations

import re
from xml.parsers import expat

import mujoco
import numpy as np
import pytest

from steelyard.errors import ModelError
from steelyard.formats.export_check import check_export
from steelyard.formats.export_values import JointDynamics, export_values
from steelyard.formats.link_values import link_parameters
from steelyard.formats.mjcf_inertial import principal_axes, quaternion_of
from steelyard.formats.mjcf_patch import patch_mjcf
from steelyard.formats.model_text import description_of
from steelyard.robot.inertia import parameters_about_origin, parameters_of, pseudo_inertia, rotation_rpy, tensor
from steelyard.robot.load import build_robot
from steelyard.robot.robot import STANDARD_GRAVITY

EXACT = 1e-12  # of the values: a rotation, a parallel-axis shift and an eigenvalue problem of three by three
MUJOCO = 1e-9  # of the torques: its own decomposition and its recursion, both in double precision

PLAIN = """\
<mujoco model="odd">
  <!-- two bodies -->
  <compiler angle="radian"/>
  <worldbody>
    <body name="arm" pos="0 0 0.3">
      <joint name="j1" axis="0 0 1" damping="0.5" frictionloss="0.10" armature="0.2"/>
      <inertial pos="0.01 -0.02 0.1" mass="2.50" diaginertia="0.02 0.03 0.0240"/>
      <geom type="box" size="0.05 0.05 0.1"/>
      <body name="tool" pos="0.1 0 0.2">
        <joint name="j2" type="slide" axis="1 0 0" damping="20" frictionloss="3" armature="1"/>
        <inertial mass="1" pos="0 0 0.05" fullinertia="0.003 0.004 0.005 1e-4 0 -2e-4"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""
ARM = '<inertial pos="0.01 -0.02 0.1" mass="2.50" diaginertia="0.02 0.03 0.0240"/>'
J1 = '<joint name="j1" axis="0 0 1" damping="0.5" frictionloss="0.10" armature="0.2"/>'


def changed(*pairs: str) -> str:
    text = PLAIN
    for old, new in zip(pairs[::2], pairs[1::2], strict=True):
        assert old in text, old
        text = text.replace(old, new)
    return text


def turned(orientation: str, compiler: str = "") -> str:
    return changed(ARM, ARM.replace("/>", f" {orientation}/>"), '<compiler angle="radian"/>', f"<compiler {compiler}/>")


ODD = {
    "plain": PLAIN,
    "CR LF": PLAIN.replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + PLAIN,
    "declaration and single quotes": "<?xml version='1.0' encoding='utf-8'?>\n" + PLAIN.replace('"', "'"),
    "one line": re.sub(r">\s+<", "><", PLAIN),
    "tabs": PLAIN.replace("  ", "\t"),
    "attributes on lines of their own": changed(ARM, ARM.replace(' mass="', '\n                mass = "')),
    "blanks in values": changed('pos="0.01 -0.02 0.1"', 'pos="  0.01   -0.02\n 0.1 "'),
    "comments": changed(ARM, f"<!-- {ARM} -->{ARM}<!-- weighed -->"),
    "quaternion": turned('quat="0.9 0.1 -0.2 0.3"'),
    "quaternion not of length one": turned('quat="9 1 -2 3"'),
    "angle and axis in degrees": turned('axisangle="1 2 3 40"'),
    "angle and axis in radian": turned('axisangle="1 2 3 0.7"', 'angle="radian"'),
    "Euler angles": turned('euler="10 20 30"'),
    "Euler angles about standing axes": turned('euler="0.1 0.2 0.3"', 'angle="radian" eulerseq="XYZ"'),
    "two axes": turned('xyaxes="1 2 3 -1 0 1"'),
    "one axis": turned('zaxis="1 -2 3"'),
    "defaults": changed(
        '<compiler angle="radian"/>',
        '<compiler angle="radian"/>\n  <default><joint damping="7"/>'
        '<default class="big"><joint armature="9"/></default></default>',
        J1,
        '<joint class="big" name="j1" axis="0 0 1" damping="0.5" frictionloss="0.10" armature="0.2"/>',
    ),
    "a frame around a body": changed(
        '<body name="tool" pos="0.1 0 0.2">', '<frame euler="0 0.2 0"><body name="tool" pos="0.1 0 0.2">',
        '-2e-4"/>\n      </body>', '-2e-4"/>\n      </body></frame>',
    ),
    "joint off the origin": changed(J1, J1.replace("axis=", 'pos="0.05 0.02 -0.1" axis=')),
    "two joints in a body": changed(
        J1, J1 + '\n      <joint name="j3" axis="0 1 0" pos="0 0 0.1" damping="1" frictionloss="2" armature="3"/>'
    ),
    "actuators and sensors": changed(
        "</worldbody>",
        '</worldbody>\n  <actuator><motor name="j1" joint="j1"/></actuator>\n'
        '  <keyframe><key name="home" qpos="0 0"/></keyframe>',
    ),
    "references in names": PLAIN.replace('"arm"', '"a &amp; &quot;m&quot;"'),
    "characters beyond ASCII": PLAIN.replace('"arm"', '"臂"').replace("two bodies", "两个"),
}  # fmt: skip
MEANT = {"inertial": rb"pos|mass|diaginertia|fullinertia", "joint": rb"damping|frictionloss|armature"}
TAG = re.compile(rb"(?:\"[^\"]*\"|'[^']*'|[^\"'>]+)*>")
ORIENTATION = re.compile(rb"\s+(?:quat|euler|axisangle|xyaxes|zaxis)\s*=\s*(?:\"[^\"]*\"|'[^']*')")


def masked(data: bytes, *, orientations: bool) -> bytes:
    """The file with every value that an export may change blotted out, found by another parser."""
    found: list[tuple[int, str]] = []
    path: list[str] = []
    parser = expat.ParserCreate()

    def start(name, _):
        path.append(name)
        if name in MEANT and "body" in path:
            found.append((parser.CurrentByteIndex, name))

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: path.pop()
    parser.Parse(data, True)
    pieces, at = [], 0
    for index, name in found:
        end = TAG.match(data, index).end()
        tag = re.sub(rb"(\s(?:" + MEANT[name] + rb")\s*=\s*[\"'])[^\"']*", rb"\1?", data[index:end])
        pieces += [data[at:index], ORIENTATION.sub(b"", tag) if orientations and name == "inertial" else tag]
        at = end
    return b"".join([*pieces, data[at:]])


def moved(parameters: dict, seed: int = 5) -> dict:
    """Bodies that could exist, a little off the ones given."""
    rng = np.random.default_rng(seed)
    found = {}
    for name, values in parameters.items():
        if values is not None and values[0] > 0.0:
            T = np.eye(4) + rng.uniform(-0.04, 0.04, (4, 4))
            found[name] = parameters_of(T @ pseudo_inertia(values) @ T.T)
    return found


def parts_of(data: bytes):
    description = description_of(data, "odd.xml")
    gravity = np.array(STANDARD_GRAVITY if description.gravity is None else description.gravity)
    robot = build_robot(description, gravity, mimic="project", floating=False)
    joints = {name: JointDynamics(0.1 + k / 3, 0.2 + k / 7, 0.3 + k / 11) for k, name in enumerate(robot.joint_names)}
    return robot, moved(link_parameters(description)), joints


def read_by_mujoco(data: bytes):
    """The model without stops, contacts and the soft band of dry friction, and (10,) of each body."""
    model = mujoco.MjModel.from_xml_string(data.decode("utf-8-sig"))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    found = {}
    for k in range(1, model.nbody):
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, model.body_iquat[k])
        R = turn.reshape(3, 3)
        own = R @ np.diag(model.body_inertia[k]) @ R.T
        found[model.body(k).name] = parameters_about_origin(model.body_mass[k], model.body_ipos[k], own)
    return model, found


def worst(found, wanted) -> float:
    parts = (slice(0, 1), slice(1, 4), slice(4, 10))
    return max(np.abs(found[p] - wanted[p]).max() / np.abs(wanted[p]).max() for p in parts)


def torque_error(model, robot) -> float:
    """Inverse dynamics of MuJoCo against the kernel's, relative to each joint's largest torque; dry friction apart."""
    from steelyard.robot.regressor import dense_regressor

    rng = np.random.default_rng(2)
    n = len(robot.joint_names)
    order = [model.joint(name).qposadr[0] for name in robot.joint_names]
    q, v, a = rng.uniform(-0.5, 0.5, (25, n)), rng.normal(0, 1, (25, n)), rng.normal(0, 3, (25, n))
    ours = dense_regressor(robot.tree, q, v, a) @ robot.parameters + robot.damping * v + robot.rotor_inertia * a
    model.dof_frictionloss[:] = 0.0
    data = mujoco.MjData(model)
    theirs = np.zeros_like(ours)
    for k in range(len(q)):
        data.qpos[order], data.qvel[order], data.qacc[order] = q[k], v[k], a[k]
        mujoco.mj_inverse(model, data)
        theirs[k] = data.qfrc_inverse[order]
    return float((np.abs(ours - theirs).max(axis=0) / np.abs(theirs).max(axis=0)).max())


@pytest.fixture(params=sorted(ODD))
def odd(request) -> bytes:
    return ODD[request.param].encode()


def test_what_the_file_says_already_changes_nothing(odd):
    description = description_of(odd, "odd.xml")
    bodies = {name: values for name, values in link_parameters(description).items() if values is not None}
    joints = {j.name: JointDynamics(j.damping, j.friction, j.armature) for j in description.joints if j.moves}
    assert patch_mjcf(odd, bodies, joints) == odd


def test_only_the_attributes_meant_change(odd):
    _, bodies, joints = parts_of(odd)
    patched = patch_mjcf(odd, bodies, joints)
    assert patched != odd
    assert masked(patched, orientations=True) == masked(odd, orientations=True)


def test_bodies_that_only_grow_keep_their_orientation(odd):
    bodies = {k: 1.25 * v for k, v in link_parameters(description_of(odd, "x")).items() if v is not None}
    patched = patch_mjcf(odd, bodies, {})
    assert patched != odd
    assert masked(patched, orientations=False) == masked(odd, orientations=False)


def test_mujoco_reads_what_was_asked_for(odd):
    robot, bodies, joints = parts_of(odd)
    model, found = read_by_mujoco(patch_mjcf(odd, bodies, joints))
    assert max(worst(found[name], wanted) for name, wanted in bodies.items()) < EXACT
    for name, wanted in joints.items():
        dof = model.joint(name).dofadr[0]
        told = (model.dof_damping[dof], model.dof_frictionloss[dof], model.dof_armature[dof])
        assert told == (wanted.damping, wanted.friction, wanted.rotor_inertia)
    values = export_values(robot, links=bodies, joints=joints)
    assert torque_error(model, values.identified) < MUJOCO
    assert torque_error(read_by_mujoco(odd)[0], values.identified) > 1e-3  # of the old file it is another robot


def test_the_torque_is_the_identified_one(odd):
    robot, bodies, joints = parts_of(odd)
    values = export_values(robot, links=bodies, joints=joints)
    check = check_export(odd, patch_mjcf(odd, values.links, values.joints), values, name="odd.xml")
    assert check.worst < EXACT
    assert set(check.torque_difference) == set(robot.joint_names)


@pytest.mark.parametrize("arm", ["arm6", "arm7"])
def test_our_arms_agree_with_mujoco(repository, arm):
    source = (repository / "examples" / "robots" / f"{arm}.xml").read_bytes()
    robot, bodies, joints = parts_of(source)
    patched = patch_mjcf(source, bodies, joints)
    assert masked(patched, orientations=False) == masked(source, orientations=False)
    model, found = read_by_mujoco(patched)
    assert max(worst(found[name], wanted) for name, wanted in bodies.items()) < EXACT
    assert torque_error(model, export_values(robot, links=bodies, joints=joints).identified) < MUJOCO


PLATE = np.array([2.0, 0.25, 0.0, -1.0, 0.75, 0.0, 0.78125, 0.125, 0.0, 0.53125])
"""2 kg at 0.125 0 -0.5 m with moments of 0.25, 0.25 and 0.5 kg m2 about it: numbers that are exact in binary."""


def test_a_body_weighed_by_its_geoms_gets_an_inertial():
    source = changed(f"      {ARM}\n", "").encode()
    expected = changed(
        f"      {ARM}\n",
        "",
        f"      {J1}",
        f'      <inertial pos="0.125 0.0 -0.5" mass="2.0" diaginertia="0.25 0.25 0.5"/>\n      {J1}',
    )
    assert patch_mjcf(source, {"arm": PLATE}, {}) == expected.encode()
    own = link_parameters(description_of(source, "x"))["arm"]
    assert patch_mjcf(source, {"arm": own}, {}) == source  # the geoms say it already


def test_an_inertial_that_is_written_is_turned_to_its_axes():
    wanted = moved({"arm": np.add(PLATE, [0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1])})["arm"]
    patched = patch_mjcf(changed(f"      {ARM}\n", "").encode(), {"arm": wanted}, {})
    assert patched.count(b"quat=") == 1
    assert worst(read_by_mujoco(patched)[1]["arm"], wanted) < EXACT


@pytest.mark.parametrize(
    ("old", "wanted", "new"),
    [
        (J1, (0.5, 0.1, 0.2), J1),
        (J1, (0.5, 1.0, 0.2), J1.replace("0.10", "1.0")),
        (J1, (None, None, 4.0), J1.replace("0.2", "4.0")),
        ('<joint name="j1"/>', (2, None, 4), '<joint name="j1" damping="2.0" armature="4.0"/>'),
        ("<joint name='j1'/>", (0, 1, None), "<joint name='j1' damping='0.0' frictionloss='1.0'/>"),
    ],
)
def test_joint_attributes_are_changed_or_written(old, wanted, new):
    assert patch_mjcf(changed(J1, old).encode(), {}, {"j1": JointDynamics(*wanted)}) == changed(J1, new).encode()


def test_a_class_is_beaten_and_not_touched():
    source = ODD["defaults"].replace(' armature="0.2"', "").encode()
    patched = patch_mjcf(source, {}, {"j1": JointDynamics(rotor_inertia=0.75)})
    assert patched == source.replace(b'frictionloss="0.10"', b'frictionloss="0.10" armature="0.75"')
    assert read_by_mujoco(patched)[0].dof_armature[0] == 0.75


BY_GEOMS = changed(
    'angle="radian"', 'inertiafromgeom="true"', "      </body>", '        <geom size="0.1"/>\n      </body>'
)


@pytest.mark.parametrize(
    ("source", "bodies", "joints", "message"),
    [
        (PLAIN, {"arms": PLATE}, {}, "no body of this name"),
        (PLAIN, {}, {"j9": JointDynamics(1.0)}, "no joint of this name"),
        (PLAIN, {"arm": -PLATE}, {}, "negative mass"),
        (PLAIN, {"arm": np.full(10, np.inf)}, {}, "ten finite"),
        ("<robot name='r'><link name='a'/></robot>", {}, {}, "root element is <robot>"),
        ("<mujoco><worldbody>", {}, {}, "not well-formed"),
        (BY_GEOMS, {"arm": PLATE}, {}, "inertiafromgeom"),
        (changed('angle="radian"', 'settotalmass="3"'), {"arm": PLATE}, {}, "settotalmass"),
        (changed(ARM, f"<frame>{ARM}</frame>"), {"arm": PLATE}, {}, "stands in a <frame>"),
    ],
)
def test_what_cannot_be_written_is_refused(source, bodies, joints, message):
    with pytest.raises(ModelError, match=message):
        patch_mjcf(source.encode(), bodies, joints)


def test_friction_alone_does_not_mind_how_bodies_are_weighed():
    source = BY_GEOMS.encode()
    assert patch_mjcf(source, {}, {"j1": JointDynamics(0.75)}) == source.replace(b'"0.5"', b'"0.75"')


def test_principal_axes_stay_near_the_old_ones():
    """A tensor turned by a little has its axes turned by as little, in the same order, whatever the moments."""
    R = rotation_rpy(np.array([0.05, -0.08, 0.03]))
    for moments in ([0.1, 0.3, 0.2], [0.3, 0.2, 0.1], [0.2, 0.2, 0.3]):
        inertia = R @ np.diag(moments) @ R.T
        found, axes = principal_axes(inertia)
        np.testing.assert_allclose(axes @ np.diag(found) @ axes.T, inertia, atol=1e-16)
        assert np.linalg.det(axes) == pytest.approx(1.0)
        if len(set(moments)) == 3:
            np.testing.assert_allclose(axes, R, atol=1e-14)
            np.testing.assert_allclose(found, moments, rtol=1e-14)
    assert (principal_axes(tensor(np.array([0.1, 0, 0.2, 0, 0, 0.3])))[1] == np.eye(3)).all()


@pytest.mark.parametrize("rpy", [(0, 0, 0), (np.pi, 0, 0), (0, np.pi, 0), (0, 0, np.pi), (3, -1, 2), (1e-9, 0, 0)])
def test_quaternions_lose_no_digits(rpy):
    R = rotation_rpy(np.array(rpy, dtype=float))
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, quaternion_of(R))
    np.testing.assert_allclose(turn.reshape(3, 3), R, atol=5e-16)
    assert quaternion_of(R)[0] >= 0.0
