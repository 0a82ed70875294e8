"""The MJCF linter: each fault is named with its line and a cure, and nothing that cannot be read becomes a zero."""

from __future__ import annotations

import re

import pytest

from steelyard.errors import ModelError
from steelyard.robot.load import lint_model
from steelyard.robot.mjcf_lint import lint_mjcf
from steelyard.robot.robot import Robot
from steelyard.robot.urdf_lint import lint_urdf

INERTIAL = '<inertial pos="0 0 0.1" mass="2" fullinertia="0.02 0.03 0.04 0 0 0"/>'
SPEED = '<custom><numeric name="velocity_limit" data="3 3"/></custom>'
RANGE = 'range="-90 90" actuatorfrcrange="-4 4"'
JOINT = f'<joint name="j1" {RANGE}/>'


def model(arm="", *, joint=JOINT, inertial=INERTIAL, attributes="", top="", bottom="", speed=SPEED):
    """world - j1 - arm - j2 - tip; the elements of the arm from line 5 on."""
    return "\n".join(
        (
            '<mujoco model="r">',
            top + speed,
            "<worldbody>",
            f'<body name="arm" {attributes}>',
            joint,
            inertial,
            arm,
            f'<body name="tip" pos="0 0 0.4"><joint name="j2" {RANGE}/>',
            '<inertial pos="0 0 0.1" mass="1" diaginertia="0.01 0.02 0.025"/></body>',
            "</body>",
            "</worldbody>",
            bottom,
            "</mujoco>",
        )
    )


@pytest.fixture
def lint(tmp_path):
    def _lint(text):
        path = tmp_path / "robot.xml"
        path.write_text(text, encoding="utf-8")
        return lint_mjcf(path)

    return _lint


@pytest.fixture
def only(lint):
    """The one finding about a model."""

    def _only(text):
        findings = lint(text).findings
        assert len(findings) == 1, [str(f) for f in findings]
        return findings[0]

    return _only


def test_a_sound_model_has_no_findings(lint):
    assert lint(model()).findings == ()


def test_what_the_description_holds(lint):
    description = lint(model()).description
    assert description.format == "mjcf"
    assert [link.name for link in description.links] == ["world", "arm", "tip"]
    first = description.joints[0]
    assert (first.name, first.kind, first.parent, first.child) == ("j1", "revolute", "world", "arm")
    assert (first.lower, first.upper) == pytest.approx((-1.5707963267948966, 1.5707963267948966), rel=1e-15)
    assert (first.velocity, first.effort, first.armature, first.damping) == (3.0, 4.0, None, None)
    assert re.fullmatch("[0-9a-f]{64}", description.digest)


def arm_joint(more, *, speeds=2):
    """The model with more attributes of its first joint."""
    return model(joint=JOINT.replace("/>", f" {more}/>"), speed=speed(speeds))


def changed(old, new):
    """The model with another inertial of the arm."""
    assert old in INERTIAL
    return model(inertial=INERTIAL.replace(old, new))


def geom(attributes):
    """The model with a geom in place of the arm's inertial."""
    return model(inertial=f"<geom {attributes}/>")


def speed(count):
    return SPEED.replace("3 3", " ".join("3" * count))


def coupled(constraint):
    return model(bottom=f"<equality>{constraint}</equality>")


LOOSE = '<body name="frame"><joint name="loose" range="0 1" actuatorfrcrange="-1 1"/></body>'
CUBE = '<body name="cube"><freejoint/><geom size="0.1"/></body>'
UNNAMED = JOINT.replace('name="j1"', "")
UNCLEAR = f"<compiler autolimits='false'/>{speed(2)}"

# what is written; then level, code and line of the finding, and words of its message
FAULTS = {
    "mass_comma": (changed('"2"', '"1,5"'), "error model.mass_unreadable 6", "decimal comma"),
    "mass_nan": (changed('"2"', '"nan"'), "error model.mass_unreadable 6", "not a finite"),
    "mass_xacro": (changed('"2"', '"${m}"'), "error model.mass_unreadable 6", "xacro"),
    "mass_missing": (changed('mass="2"', ""), "error model.mass_unreadable 6", "mass"),
    "mass_negative": (changed('"2"', '"-2"'), "error model.negative_mass 6", "-2 kg"),
    "pos_missing": (changed('pos="0 0 0.1"', ""), "error model.number_unreadable 6", "pos"),
    "no_moments": (model(inertial='<inertial pos="0 0 0" mass="1"/>'), "error model.inertia_missing 6", "moments"),
    "two_moments": (changed("/>", ' diaginertia="1 1 1"/>'), "error model.duplicate 6", "both"),
    "turned_moments": (changed("/>", ' quat="1 1 0 0"/>'), "error model.orientation_unreadable 6", "quat"),
    "five_moments": (changed('0 0 0"/>', '0 0"/>'), "error model.number_unreadable 6", "5 numbers"),
    "two_inertials": (model(INERTIAL), "error model.duplicate 7", "2 <inertial>"),
    "impossible": (changed("0.04 0 0 0", "0.4 0 0 0"), "warning model.inertia_inconsistent 4", "belongs to no body"),
    "massless": (model(LOOSE, speed=speed(3)), "error model.zero_inertial_moving 7", "'frame'"),
    "mesh": (geom('name="shape" type="mesh" mesh="m"'), "error model.inertia_from_mesh 6", "'shape'"),
    "shell": (geom('size="0.1" shellinertia="true"'), "error model.inertia_from_mesh 6", "a shell"),
    "geom_size": (geom('type="box" size="0.1 0.1"'), "error model.number_unreadable 6", "3 positive"),
    "geom_kind": (geom('type="cube" size="0.1"'), "error model.word_unknown 6", "'cube'"),
    "geom_mass": (geom('size="0.1" mass="-1"'), "error model.negative_mass 6", "-1"),
    "geom_speck": (geom('size="0.1" type="capsule" fromto="0 0 0 0 0 1e-300"'), "error model.geometry 6", "no length"),
    "geom_span": (geom('size="0.1" fromto="0 0 0 0 0 1"'), "error model.geometry 6", "no length"),
    "axis": (arm_joint('axis="0 0 0"'), "error model.zero_axis 5", "no direction"),
    "axis_two": (arm_joint('axis="0 1"'), "error model.number_unreadable 5", "2 numbers"),
    "damping": (arm_joint('damping="0.1Nms"'), "error model.number_unreadable 5", "unit"),
    "armature": (arm_joint('armature="-0.1"'), "warning model.armature_negative 5", "armature"),
    "friction": (arm_joint('frictionloss="-0.1"'), "warning model.friction_negative 5", "friction"),
    "ball": (arm_joint('type="ball"', speeds=1), "error model.joint_type 5", "ball"),
    "kind": (arm_joint('type="hing"'), "error model.word_unknown 5", "'hing'"),
    "misspelt": (arm_joint('dampin="1"'), "warning model.unknown_attribute 5", "'dampin'"),
    "class": (arm_joint('class="elbow"'), "error model.unknown_class 5", "'elbow'"),
    "spring": (arm_joint('stiffness="5"'), "warning model.not_modelled 5", "spring"),
    "joint_name": (model(joint=UNNAMED, speed=speed(1)), "error model.name_missing 5", "no name"),
    "joint_twice": (model(joint=JOINT.replace("j1", "j2")), "error model.duplicate 8", "line 5 and again on line 8"),
    "body_twice": (model('<body name="arm"/>'), "error model.duplicate 7", "'arm'"),
    "world_twice": (model('<body name="world"/>'), "error model.duplicate 7", "'world'"),
    "body_name": (model("<body/>"), "warning model.name_missing 7", "'body_2'"),
    "element": (model("<inertail/>"), "warning model.unknown_element 7", "<inertail>"),
    "rule": (model("<replicate count='2'/>"), "error model.unsupported 7", "<replicate>"),
    "include": (model('<include file="hand.xml"/>'), "error model.include 7", "hand.xml"),
    "turns": (model(attributes='quat="1 0 0 0" euler="0 0 9"'), "error model.orientation_unreadable 4", "2 times"),
    "no_turn": (model(attributes='quat="0 0 0 0"'), "error model.orientation_unreadable 4", "no direction"),
    "no_plane": (model(attributes='xyaxes="1 0 0 2 0 0"'), "error model.orientation_unreadable 4", "no direction"),
    "class_twice": (
        model(top='<default><default class="a"/><default class="a"/></default>'),
        "error model.duplicate 2",
        "twice",
    ),
    "class_unnamed": (model(top="<default><default/></default>"), "error model.name_missing 2", "no class"),
    "global": (model(top='<compiler coordinate="global"/>'), "error model.unsupported 2", "global"),
    "total": (model(top='<compiler settotalmass="9"/>'), "error model.unsupported 2", "settotalmass"),
    "angle": (model(top='<compiler angle="radians"/>'), "error model.word_unknown 2", "'radians'"),
    "eulerseq": (model(top='<compiler eulerseq="xy"/>'), "error model.word_unknown 2", "'xy'"),
    "autolimits": (
        model(joint='<joint name="j1" range="-9 9"/>', speed=UNCLEAR).replace('"j2"', '"j2" limited="true"'),
        "error model.limits_unclear 5",
        "whether it is limited",
    ),
    "limitless": (
        arm_joint('limited="true"').replace('range="-90 90"', "", 1),
        "error model.limits_unclear 5",
        "range",
    ),
    "inverted": (model().replace("-90 90", "90 -90", 1), "warning model.limit_inverted 5", "above the upper"),
    "degrees": (
        model(top='<compiler angle="radian"/>').replace('"-90 90"', '"-1 1"', 1),
        "warning model.units_suspect 8",
        "degrees",
    ),
    "gravity_off": (model(top='<option><flag gravity="disable"/></option>'), "warning model.gravity_off 2", "zero"),
    "gravity": (model(top='<option gravity="0 0 -9,81"/>'), "error model.number_unreadable 2", "comma"),
    "compensated": (model(attributes='gravcomp="1"'), "warning model.not_modelled 4", "compensated"),
    "tendon": (model(bottom='<tendon><fixed name="t"/></tendon>'), "warning model.not_modelled 12", "tendons"),
    "motor": (
        model(bottom='<actuator><motor name="m" joint="j1" armature="0.1"/></actuator>'),
        "warning model.not_modelled 12",
        "armature",
    ),
    "speeds": (model(speed=speed(1)), "error model.number_unreadable 2", "each of the 2 joints"),
    "no_speeds": (model(speed=""), "warning model.no_limits 5", "velocity"),
    "no_effort": (model(joint='<joint name="j1" range="-9 9"/>'), "warning model.no_limits 5", "no actuatorfrcrange"),
    "loop": (coupled('<connect body1="arm" body2="tip"/>'), "error model.loop 12", "closes a loop"),
    "held": (coupled('<joint joint1="j1"/>'), "error model.unsupported 12", "at one place"),
    "ratio": (
        coupled('<joint joint1="j1" joint2="j2" polycoef="0 1e300"/>'),
        "error model.number_unreadable 12",
        "five",
    ),
    "six": (
        coupled('<joint joint1="j1" joint2="j2" polycoef="0 1 0 0 0 0"/>'),
        "error model.number_unreadable 12",
        "five",
    ),
    "curve": (coupled('<joint joint1="j1" joint2="j2" polycoef="0 1 2"/>'), "error model.unsupported 12", "curve"),
    "follows": (coupled('<joint joint1="j1" joint2="j3"/>'), "error model.mimic_unknown 12", "'j3'"),
    "itself": (coupled('<joint joint1="j1" joint2="j1"/>'), "error model.mimic_loop 5", "mimics itself"),
    "free_inside": (model(CUBE), "error model.joint_type 7", "is floating"),
    "free_beside": (
        model().replace("<worldbody>", f"<worldbody>{CUBE}"),
        "error model.joint_type 5",
        "floats beside it",
    ),
    "free_and_not": (model(joint="<freejoint/>" + JOINT), "error model.joint_type 4", "other joints besides"),
    "in_the_world": (
        model().replace("<worldbody>", '<worldbody><joint name="x"/>'),
        "error model.unsupported 3",
        "in the world",
    ),
    "empty": ("<mujoco>\n<worldbody/>\n</mujoco>", "error model.no_links 1", "no bodies"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_with_its_line_and_a_cure(lint, name):
    """One finding about it, and no other of its level."""
    text, expected, words = FAULTS[name]
    level, code, line = expected.split()
    found = [f for f in lint(text).findings if f.level == level]
    assert [f.code for f in found] == [code], [str(f) for f in found]
    assert found[0].where.startswith(f"robot.xml:{line}, ")
    assert words in found[0].message
    assert found[0].cure


def test_a_default_is_read_where_it_stands(lint):
    """A number that a class holds is wrong on the line of the class."""
    text = model(top='<default><joint armature="much"/></default>')
    finding = lint(text).errors[0]
    assert finding.where.startswith("robot.xml:2, ")
    assert "'much'" in finding.message


NUMBERS = (
    'pos="0 0 0.1"', 'mass="2"', 'fullinertia="0.02 0.03 0.04 0 0 0"', 'range="-90 90"', 'actuatorfrcrange="-4 4"',
    'axis="0 1 0"', 'ref="0.1"', 'armature="0.1"', 'damping="0.1"', 'frictionloss="0.1"', 'euler="0 0 0"',
)  # fmt: skip
UNREADABLE = ("nan", "1,5", "${m}", "", "x", "1e999", "0x10", "1_0", "1 2 3 4 5 6 7 8", "١", "1e-400")
FULL = model(
    joint=f'<joint name="j1" {RANGE} axis="0 1 0" ref="0.1" armature="0.1" damping="0.1" frictionloss="0.1"/>',
    attributes='euler="0 0 0"',
)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize(
    "text", ["nan", "1,5", "${m}", "", "x", "1e999", "0x10", "1_0", "1 2 3 4 5 6 7 8", "١", "1e-400"]
)
def test_no_unreadable_number_is_read_as_anything(lint, number, text):
    assert lint(FULL).errors == ()
    assert number in FULL
    attribute = number.split("=")[0]
    report = lint(FULL.replace(number, f'{attribute}="{text}"', 1))
    assert report.description is None
    assert attribute in report.errors[0].message


def test_the_kind_of_file_is_told_by_its_root(tmp_path, repository):
    folder = repository / "examples" / "robots"
    with pytest.raises(ModelError, match="a URDF is expected, this is an MJCF"):
        lint_urdf(folder / "arm6.xml")
    with pytest.raises(ModelError, match="an MJCF is expected, this is a URDF"):
        Robot.from_mjcf(folder / "arm6.urdf")
    for name in ("arm6.urdf", "arm6.xml", "arm7.urdf", "arm7.xml"):
        assert lint_model(folder / name).errors == ()
    disguised = tmp_path / "robot.urdf"
    disguised.write_bytes((folder / "arm6.xml").read_bytes())
    assert Robot.from_file(disguised).joint_names == Robot.from_file(folder / "arm6.urdf").joint_names


def test_a_free_joint_with_armature_is_told(lint):
    text = model(joint='<joint name="j1" type="free" armature="2"/>', speed=speed(1))
    assert [(f.level, f.code) for f in lint(text).findings] == [("warning", "model.not_modelled")]


def test_the_mass_of_what_stands_still_does_not_matter(lint):
    """A base of meshes alone: never weighed, so that no inertial is asked for."""
    text = model().replace("<worldbody>", '<worldbody><body name="base"><geom type="mesh" mesh="m"/></body>')
    assert lint(text).findings == ()
