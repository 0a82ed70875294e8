"""Identified values written into URDFs of every style: the attributes meant, and not one byte more."""

from __future__ import annotations

import re
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from odd_urdf import ODD, PLAIN, changed, masked
from steelyard.errors import ModelError
from steelyard.formats.export_check import check_export, torque_difference
from steelyard.formats.export_values import JointDynamics, export_values
from steelyard.formats.link_values import link_parameters
from steelyard.formats.model_text import description_of
from steelyard.formats.review_diff import unified_diff
from steelyard.formats.urdf_patch import patch_urdf
from steelyard.robot.inertia import parameters_of, pseudo_inertia
from steelyard.robot.load import build_robot
from steelyard.robot.robot import STANDARD_GRAVITY

# Both sides of each comparison are one product of rotations and one parallel-axis shift away from each other.
EXACT = 1e-12


def events(data: bytes) -> list[tuple]:
    """Everything another parser sees in a file, in order, with the attributes in order."""
    seen: list[tuple] = []
    parser = expat.ParserCreate()
    parser.ordered_attributes = True
    parser.buffer_text = True
    parser.StartElementHandler = lambda name, attributes: seen.append(("start", name, *attributes))
    parser.EndElementHandler = lambda name: seen.append(("end", name))
    parser.CharacterDataHandler = lambda text: seen.append(("text", text))
    parser.CommentHandler = lambda text: seen.append(("comment", text))
    parser.ProcessingInstructionHandler = lambda target, text: seen.append(("instruction", target, text))
    parser.StartCdataSectionHandler = lambda: seen.append(("cdata",))
    parser.XmlDeclHandler = lambda *parts: seen.append(("declaration", *parts))
    parser.Parse(data, True)
    return seen


def other_bodies(parameters: dict, seed: int = 5) -> dict:
    """Bodies that could exist, a little off the ones given: J -> T J T' keeps a pseudo-inertia positive."""
    rng = np.random.default_rng(seed)
    moved = {}
    for name, values in parameters.items():
        if values is not None and values[0] > 0.0:
            T = np.eye(4) + rng.uniform(-0.04, 0.04, (4, 4))
            moved[name] = parameters_of(T @ pseudo_inertia(values) @ T.T)
    return moved


def other_joints(description) -> dict:
    complete = [joint for joint in description.joints if joint.damping is not None and joint.friction is not None]
    return {joint.name: JointDynamics(0.1 + k / 3, 0.2 + k / 7) for k, joint in enumerate(complete) if joint.moves}


def worst(found, wanted) -> float:
    parts = (slice(0, 1), slice(1, 4), slice(4, 10))
    scale = [max(np.abs(wanted[p]).max(), np.finfo(float).tiny) for p in parts]
    return max(np.abs(found[p] - wanted[p]).max() / s for p, s in zip(parts, scale, strict=True))


@pytest.fixture(params=sorted(ODD))
def odd(request) -> bytes:
    return ODD[request.param]


def test_there_are_at_least_thirty():
    assert len(ODD) >= 30
    assert len(set(ODD.values())) == len(ODD)


def test_what_the_file_says_already_changes_nothing(odd):
    description = description_of(odd, "odd.urdf")
    links = {name: values for name, values in link_parameters(description).items() if values is not None}
    joints = {joint.name: JointDynamics(joint.damping, joint.friction) for joint in description.joints if joint.moves}
    assert patch_urdf(odd, links, joints) == odd


def test_only_the_attributes_meant_change(odd):
    description = description_of(odd, "odd.urdf")
    links, joints = other_bodies(link_parameters(description)), other_joints(description)
    assert len(links) >= 2
    assert len(joints) >= 2
    patched = patch_urdf(odd, links, joints)
    assert patched != odd
    assert masked(patched) == masked(odd)
    kinds = [[event[:2] + event[2::2] if event[0] == "start" else event for event in events(x)] for x in (odd, patched)]
    assert kinds[0] == kinds[1]


def test_read_again_it_is_what_was_asked_for(odd):
    description = description_of(odd, "odd.urdf")
    before = link_parameters(description)
    links, joints = other_bodies(before), other_joints(description)
    after = description_of(patch_urdf(odd, links, joints), "odd.urdf")
    for name, found in link_parameters(after).items():
        if name in links:
            assert worst(found, links[name]) < EXACT, name
        else:
            assert np.array_equal(found, before[name]), name
    for joint in after.joints:
        if joint.name in joints:
            assert (joint.damping, joint.friction) == (joints[joint.name].damping, joints[joint.name].friction)
    # the frames that the tensors are written in stay
    turns = [[None if x.inertial is None else x.inertial.origin_rpy for x in d.links] for d in (description, after)]
    assert turns[0] == turns[1]


def test_the_torque_is_the_identified_one(odd):
    description = description_of(odd, "odd.urdf")
    robot = build_robot(description, np.array(STANDARD_GRAVITY), mimic="project")
    values = export_values(
        robot, links=other_bodies(link_parameters(description)), joints=joints_of(robot, other_joints(description))
    )
    patched = patch_urdf(odd, values.links, values.joints)
    check = check_export(odd, patched, values, name="odd.urdf")
    assert set(check.torque_difference) == set(robot.joint_names)
    assert check.worst < EXACT
    assert check.new_findings == ()
    exported = build_robot(description_of(patched, "odd.urdf"), np.array(STANDARD_GRAVITY), mimic="project")
    assert max(torque_difference(values.identified, exported, seed=3).values()) < EXACT
    # and the values do differ from the old file's, or the comparison would show nothing
    assert max(torque_difference(robot, exported).values()) > 1e-3


def joints_of(robot, joints):
    return {name: joint for name, joint in joints.items() if name in robot.joint_names}


ROBOTS = 66
"""Files of example-robot-data that pass the linter; three are refused: an include, a mimic of nothing, a lost mass."""


def read_by_element_tree(data: bytes) -> dict:
    """(10,) of every inertial, by the standard library's parser and the definition of the ten parameters."""
    found = {}
    for link in ElementTree.fromstring(data).iter("link"):
        part = link.find("inertial")
        if part is None:
            continue
        origin, tensor = part.find("origin"), part.find("inertia")
        xyz, rpy = (
            np.array(((origin is not None and origin.get(key)) or "0 0 0").split(), float) for key in ("xyz", "rpy")
        )
        (xx, xy, xz, yy, yz, zz) = (float(tensor.get(key)) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
        R = Rotation.from_euler("xyz", rpy).as_matrix()
        m = float(part.find("mass").get("value"))
        I = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T + m * (
            xyz @ xyz * np.eye(3) - np.outer(xyz, xyz)
        )
        found[link.get("name")] = np.array([m, *(m * xyz), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])
    return found


def test_every_example_robot(example_robots):
    """Masses scaled by 1.001: parameters as asked for to 1e-12, every byte outside the attributes as it was."""
    count = 0
    for path in sorted(example_robots.rglob("*.urdf")):
        source = path.read_bytes()
        try:
            description = description_of(source, path.name)
        except ModelError:
            continue
        count += 1
        wanted = {name: 1.001 * v for name, v in link_parameters(description).items() if v is not None}
        patched = patch_urdf(source, wanted, {}, name=path.name)
        found = read_by_element_tree(patched)
        assert found.keys() == wanted.keys()
        assert max(worst(found[name], wanted[name]) for name in wanted) < EXACT, path.name
        assert masked(patched) == masked(source), path.name
        assert patched.count(b"\n") == source.count(b"\n")
    assert count >= ROBOTS


PLATE = [2.0, 0.25, 0.0, -1.0, 0.75, 0.0, 0.78125, 0.125, 0.0, 0.53125]
"""2 kg at 0.125 0 -0.5 m with moments of 0.25, 0.25 and 0.5 kg m2 about it: numbers that are exact in binary."""
INSERTED = [
    "<inertial>",
    '  <origin xyz="0.125 0.0 -0.5" rpy="0 0 0"/>',
    '  <mass value="2.0"/>',
    '  <inertia ixx="0.25" ixy="0.0" ixz="0.0" iyy="0.25" iyz="0.0" izz="0.5"/>',
    "</inertial>",
]


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ('  <link name="base"/>\n', '  <link name="base">\n@    @\n  </link>\n'),
        ('  <link name="base"  />\n', '  <link name="base">\n@    @\n  </link>\n'),
        ('  <link name="base"></link>\n', '  <link name="base">\n@    @\n  </link>\n'),
        ('  <link name="base">\n  </link>\n', '  <link name="base">\n@    @\n  </link>\n'),
        (
            '  <link name="base"><!-- a frame -->\n  </link>\n',
            '  <link name="base"><!-- a frame -->\n@    @\n  </link>\n',
        ),
        (
            '  <link name="base">\n   <visual/> <!-- v -->\n\n  </link>\n',
            '  <link name="base">\n   <visual/> <!-- v -->\n@   @\n\n  </link>\n',
        ),
        ('  <link name="base"><visual/></link>\n', '  <link name="base"><visual/>|</link>\n'),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_missing_inertial_is_written_like_its_neighbours(base, expected, newline):
    source = changed('  <link name="base"/>\n', base).replace("\n", newline).encode()
    step = re.search(r"@( *)@", expected)
    block = "\n".join((step.group(1) if step else "") + line for line in INSERTED)
    if step and base.count("<visual/>"):  # the children show a step of one blank there
        block = "\n".join("   " + line.replace("  <", " <") for line in INSERTED)
    expected = re.sub(r"@ *@", lambda _: block, expected).replace("|", "".join(line.strip() for line in INSERTED))
    wanted = changed('  <link name="base"/>\n', expected).replace("\n", newline).encode()
    assert patch_urdf(source, {"base": np.array(PLATE)}, {}) == wanted


def test_the_first_link_of_a_file_on_one_line_gets_no_line_breaks():
    source = ODD["no white space"]
    patched = patch_urdf(source, {"base": np.array(PLATE)}, {})
    assert patched.count(b"\n") == source.count(b"\n")
    assert b'<link name="base"><inertial><origin' in patched


def test_a_frame_without_mass_stays_a_frame():
    assert patch_urdf(PLAIN.encode(), {"base": np.zeros(10)}, {}) == PLAIN.encode()


BOTH = '<dynamics damping="0.5" friction="0.10"/>'


@pytest.mark.parametrize(
    ("old", "wanted", "new"),
    [
        (BOTH, (2.0, 3.0), '<dynamics damping="2.0" friction="3.0"/>'),
        (BOTH, (None, 3.0), '<dynamics damping="0.5" friction="3.0"/>'),
        (BOTH, (2, 0.1), '<dynamics damping="2.0" friction="0.10"/>'),
        ('<dynamics damping="0.5"/>', (0.5, 3.0), '<dynamics damping="0.5" friction="3.0"/>'),
        ("<dynamics friction='1'/>", (2.0, 1.0), "<dynamics friction='1' damping='2.0'/>"),
        ("<dynamics\n      friction='1'/>", (2.0, 1), "<dynamics\n      friction='1'\n      damping='2.0'/>"),
        ("<dynamics />", (2.0, None), '<dynamics damping="2.0" />'),
        ("", (2.0, 3.0), '<dynamics damping="2.0" friction="3.0"/>'),
        ("", (0.0, None), '<dynamics damping="0.0"/>'),
        ("<!-- none -->", (2.0, 3.0), '<!-- none -->\n    <dynamics damping="2.0" friction="3.0"/>'),
        ("", (None, None), ""),
    ],
)
def test_dynamics_are_changed_completed_or_written(old, wanted, new):
    place = f"    {BOTH}\n"
    source, expected = (changed(place, f"    {text}\n" if text else "").encode() for text in (old, new))
    assert patch_urdf(source, {}, {"j1": JointDynamics(*wanted)}) == expected


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<mass value="1"/>', '<mass value="1"/>'),
        ('      <origin xyz="0 0 0.05" rpy="0 0 0"/>\n', '      <origin xyz="0.25 0.0 0.5" rpy="0 0 0"/>\n'),
        ('<origin xyz="0 0 0.05" rpy="0 0 0"/>', '<origin rpy="0 0 0" xyz="0.25 0.0 0.5"/>'),
    ],
)
def test_a_missing_origin_or_xyz_is_written(old, new):
    """The centre moves from the link's origin to 0.25 0 0.5: mass 1, and the tensor about the centre as it was."""
    removed = {
        '      <origin xyz="0 0 0.05" rpy="0 0 0"/>\n': "",
        '<origin xyz="0 0 0.05" rpy="0 0 0"/>': '<origin rpy="0 0 0"/>',
    }
    source = changed(old, removed[old]).encode() if old in removed else PLAIN.encode()
    wanted = np.array([1.0, 0.25, 0.0, 0.5, 0.253, 0.0, 0.3165, -0.125, 0.0, 0.0675])
    patched = patch_urdf(source, {"slide": wanted}, {})
    found = link_parameters(description_of(patched, "x"))["slide"]
    assert worst(found, wanted) < EXACT
    if old in removed:
        assert new.strip().encode() in patched


def test_a_number_that_stays_keeps_its_spelling():
    """2.5 kg stay 2.50; of the centre only z moves."""
    wanted = link_parameters(description_of(PLAIN.encode(), "x"))["arm"].copy()
    m, c, shifted = 2.5, np.array([0.01, -0.02, 0.1]), np.array([0.01, -0.02, 0.125])
    for sign, centre in ((-1, c), (1, shifted)):
        A = sign * m * ((centre @ centre) * np.eye(3) - np.outer(centre, centre))
        wanted[4:] += [A[0, 0], A[0, 1], A[1, 1], A[0, 2], A[1, 2], A[2, 2]]
    wanted[1:4] = m * shifted
    patched = patch_urdf(PLAIN.encode(), {"arm": wanted}, {})
    assert patched == changed('xyz="0.01 -0.02 0.1"', 'xyz="0.01 -0.02 0.125"').encode()


def test_shortest_digits_that_read_back():
    parameters = {
        "slide": np.array([1.0 / 3.0, 0.0, 0.0, 1.0 / 60.0, 0.003 + 1 / 1200, 0, 0.004 + 1 / 1200, 0, 0, 0.005])
    }
    patched = patch_urdf(PLAIN.encode(), parameters, {}).decode()
    assert f'<mass value="{1 / 3!r}"/>' in patched
    assert 'xyz="0 0 0.05"' in patched


@pytest.mark.parametrize(
    ("links", "joints", "message"),
    [
        ({"arms": np.ones(10)}, {}, "no link of this name"),
        ({}, {"j3": JointDynamics(1.0)}, "no joint that can move"),
        ({"arm": -np.ones(10)}, {}, "negative mass"),
        ({"arm": np.array([0, 1.0, *[0] * 8])}, {}, "first moments without a mass"),
        ({"arm": np.full(10, np.nan)}, {}, "ten finite"),
        ({"arm": np.ones(9)}, {}, "ten finite"),
    ],
)
def test_what_cannot_be_written_is_refused(links, joints, message):
    with pytest.raises(ModelError, match=message):
        patch_urdf(PLAIN.encode(), links, joints)


def test_a_fixed_joint_has_no_friction():
    with pytest.raises(ModelError, match="can move") as caught:
        patch_urdf(ODD["joints of every kind"], {}, {"f": JointDynamics(1.0)})
    assert "j1" in caught.value.choices


@pytest.mark.parametrize(
    ("source", "message", "where"),
    [
        (b"<robot><link", "not well-formed", "my.urdf:1"),
        (b"", "empty", "my.urdf"),
        (b"<mujoco><worldbody><body/></worldbody></mujoco>", "root element is <mujoco>", "my.urdf"),
        (changed('value="2.50"', 'value="2,50"').encode(), "decimal comma", "my.urdf:7"),
        (b"<!DOCTYPE robot [<!ENTITY x 'y'>]>" + PLAIN.encode().partition(b"?>")[2], "DTD", "my.urdf:1"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_its_name(source, message, where):
    with pytest.raises(ModelError, match=message) as caught:
        patch_urdf(source, {}, {}, name="my.urdf")
    assert caught.value.where.startswith(where)


@pytest.mark.parametrize("name", ["plain", "CR LF", "no last line end", "no white space"])
def test_the_difference_can_be_reviewed_and_applied(name):
    source = ODD[name]
    patched = patch_urdf(source, {}, {"j1": JointDynamics(9.0, 8.0)})
    difference = unified_diff(source, patched, old="a/odd.urdf", new="b/odd.urdf")
    removed = [line[1:] for line in difference.split(b"\n")[2:] if line.startswith(b"-")]
    added = [line[1:] for line in difference.split(b"\n")[2:] if line.startswith(b"+")]
    assert len(removed) == len(added) == 1
    assert source.replace(removed[0], added[0]) == patched
    assert difference.startswith(b"--- a/odd.urdf\n+++ b/odd.urdf\n@@ ")
    assert (b"\\ No newline at end of file" in difference) == (not source.endswith(b"\n") and name != "plain"
                                                              and source.count(b"\n") < 5)  # fmt: skip


def test_no_difference_is_empty():
    assert unified_diff(PLAIN.encode(), PLAIN.encode(), old="a", new="b") == b""
