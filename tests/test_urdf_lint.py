"""Each fault that a URDF was seen with: its finding, its place, the text found and the cure."""

from __future__ import annotations

import pytest

from steelyard.errors import ModelError
from steelyard.robot.urdf_lint import lint_urdf, load_urdf_description
from urdf_text import INERTIAL, LIMIT, arm, codes, inertial, joint, link, write


@pytest.fixture
def lint(tmp_path):
    """Lint a robot made of parts."""
    return lambda *parts: lint_urdf(write(tmp_path, *parts))


@pytest.fixture
def only(lint):
    """Lint, expect exactly one finding, and return it."""

    def run(*parts):
        report = lint(*parts)
        assert len(report.findings) == 1, [str(finding) for finding in report.findings]
        finding = report.findings[0]
        assert (report.description is None) == (finding.level == "error")
        return finding

    return run


# ---- what a sound file becomes ----


def test_a_sound_robot_has_no_findings_and_every_number_in_its_place(lint):
    moved = '<dynamics damping="0.5" friction="0.25"/>' + LIMIT
    report = lint(
        link("base", ""),
        link("arm", inertial("2", "1 2e-3 -3e-3 1.5 4e-3 1.25", '<origin xyz="1 -2 3.5" rpy="0.1 0.2 0.3"/>')),
        '<joint name="j" type="revolute"><origin xyz="0 0 0.5" rpy="0 1 0"/><parent link="base"/><child link="arm"/>'
        f'<axis xyz="0 -1 0"/>{moved}</joint>',
    )
    assert report.findings == ()
    robot = report.description
    assert (robot.name, robot.root, [part.name for part in robot.links]) == ("r", "base", ["base", "arm"])
    assert len(robot.digest) == 64
    base, body = robot.links
    assert (base.inertial, base.line, body.line) == (None, 2, 3)
    assert (body.inertial.mass, body.inertial.origin_xyz, body.inertial.origin_rpy) == (
        2.0,
        (1, -2, 3.5),
        (0.1, 0.2, 0.3),
    )
    assert body.inertial.inertia == ((1.0, 2e-3, -3e-3), (2e-3, 1.5, 4e-3), (-3e-3, 4e-3, 1.25))
    (j,) = robot.joints
    assert (j.name, j.line, j.kind, j.parent, j.child) == ("j", 4, "revolute", "base", "arm")
    assert (j.origin_xyz, j.origin_rpy, j.axis) == ((0, 0, 0.5), (0, 1, 0), (0, -1, 0))
    assert (j.lower, j.upper, j.velocity, j.effort, j.damping, j.friction, j.mimic) == (-1, 2, 3, 4, 0.5, 0.25, None)


def test_what_is_absent_is_none_and_not_zero(lint):
    report = lint(link("base", ""), link("arm"), joint("j", "base", "arm", "", kind="continuous"))
    assert report.findings == ()
    j = report.description.joints[0]
    assert (j.lower, j.upper, j.velocity, j.effort, j.damping, j.friction) == (None,) * 6


def test_foreign_elements_and_prefixes_are_left_alone(lint):
    gazebo = (
        '<gazebo><link name="arm"/><joint name="j1"/></gazebo><transmission name="t"><joint name="j1"/></transmission>'
    )
    foreign = '<s:joint xmlns:s="urn:x" name="j1"/><material name="m"/>'
    assert lint(*arm(INERTIAL + "<contact/><gravity/>"), gazebo, foreign).findings == ()


# ---- numbers ----

TEXTS = ["1,5", "nan", "inf", "-inf", "1e400", "1e-400", "${m}", "1e3kg", "0x10", "1_0", "１２", "", "abc", "1 2"]


@pytest.mark.parametrize("text", TEXTS)
def test_an_unreadable_mass_is_an_error_and_never_zero(only, text):
    finding = only(*arm(inertial(mass=text)))
    assert (finding.level, finding.code, finding.value) == ("error", "model.mass_unreadable", text)
    assert finding.where == "robot.urdf:3, link 'arm'"
    assert "link 'arm'" in finding.message
    assert repr(text) in finding.message
    assert finding.cure


@pytest.mark.parametrize(
    ("text", "cause", "cure"),
    [
        ("1,5", "decimal comma", "plain decimal"),
        ("${m}", "xacro", "xacro robot.urdf.xacro"),
        ("1e3kg", "'kg'", "SI units"),
    ],
)
def test_the_likely_cause_and_its_cure_are_named(only, text, cause, cure):
    finding = only(*arm(inertial(mass=text)))
    assert cause in finding.message
    assert cure in finding.cure


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "content",
    [
        INERTIAL.replace('ixy="0"', 'ixy="@"'),
        INERTIAL.replace('xyz="0 0 0.1"', 'xyz="0 @ 0.1"'),
        INERTIAL.replace("<origin", '<origin rpy="@ 0 0"'),
    ],
)
def test_an_unreadable_number_of_a_link_is_an_error(only, content, text):
    finding = only(*arm(content.replace("@", text)))
    assert (finding.level, finding.code) == ("error", "model.number_unreadable")
    assert finding.where == "robot.urdf:3, link 'arm'"


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize(
    "content",
    [
        LIMIT.replace('lower="-1"', 'lower="@"'),
        LIMIT.replace('effort="4"', 'effort="@"'),
        LIMIT + '<dynamics damping="@"/>',
        LIMIT + '<dynamics friction="@"/>',
        LIMIT + '<mimic joint="j2" multiplier="@"/>',
        LIMIT + '<mimic joint="j2" offset="@"/>',
    ],
)
def test_an_unreadable_number_of_a_joint_is_an_error(only, content, text):
    finding = only(*arm(limit=content.replace("@", text)))
    assert (finding.level, finding.code) == ("error", "model.number_unreadable")
    assert finding.where == "robot.urdf:5, joint 'j1'"


@pytest.mark.parametrize("option", ["axis", "origin"])
@pytest.mark.parametrize("text", ["0 0", "0 0 1 0", "", "0,0,1", "0 0 1,5", "0 0 nan", "0 0 1e400", "0 0 ${z}"])
def test_a_vector_has_exactly_three_numbers(only, option, text):
    finding = only(*arm(**{option: text}))
    assert (finding.level, finding.code, finding.value) == ("error", "model.number_unreadable", text)
    assert "joint 'j1'" in finding.message


@pytest.mark.parametrize(
    ("content", "code", "named"),
    [
        (INERTIAL.replace('<mass value="2"/>', ""), "model.mass_unreadable", "without <mass>"),
        (INERTIAL.replace(' value="2"', ""), "model.mass_unreadable", "'value'"),
        (INERTIAL.replace(' iyz="0"', ""), "model.number_unreadable", "'iyz'"),
        ('<inertial><mass value="2"/></inertial>', "model.inertia_missing", "without <inertia>"),
    ],
)
def test_a_missing_number_is_not_filled_in(only, content, code, named):
    finding = only(*arm(content))
    assert (finding.level, finding.code) == ("error", code)
    assert named in finding.message


@pytest.mark.parametrize(
    "content",
    [inertial("1e308"), inertial(origin='<origin xyz="1e308 0 0"/>'), inertial(tensor="1e300 0 0 1e300 0 1e300")],
)
def test_numbers_that_would_overflow_are_errors(lint, content):
    assert set(codes(lint(*arm(content)))) == {("error", "model.number_out_of_range")}


@pytest.mark.parametrize("mass", ["-1", "-1e-9"])
@pytest.mark.parametrize("place", ["moving", "fixed"])
def test_a_negative_mass_is_an_error(only, mass, place):
    extra = (link("flange", inertial(mass)), joint("f", "tip", "flange", kind="fixed"))
    finding = only(*(arm(inertial(mass)) if place == "moving" else (*arm(), *extra)))
    assert (finding.level, finding.code, finding.value) == ("error", "model.negative_mass", float(mass))


def test_an_orientation_that_would_be_dropped_is_an_error(only):
    finding = only(*arm(inertial(origin='<origin xyz="0 0 0" quat_xyzw="0 0 1 0"/>')))
    assert finding.code == "model.orientation_unsupported"


# ---- names ----


def test_a_duplicate_link_gives_both_lines(only):
    finding = only(*arm(), link("arm"))
    assert (finding.level, finding.code, finding.where) == ("error", "model.duplicate", "robot.urdf:7, link 'arm'")
    assert "line 3 and again on line 7" in finding.message


def test_a_duplicate_joint_gives_both_lines(only):
    finding = only(*arm(), joint("j2", "base", "tip"))
    assert (finding.level, finding.code, finding.where) == ("error", "model.duplicate", "robot.urdf:7, joint 'j2'")
    assert "line 6 and again on line 7" in finding.message


@pytest.mark.parametrize(
    ("content", "limit", "tag"),
    [
        (INERTIAL * 2, LIMIT, "inertial"),
        (INERTIAL.replace('<mass value="2"/>', '<mass value="2"/>\n<mass value="3"/>'), LIMIT, "mass"),
        (INERTIAL, LIMIT * 2, "limit"),
        (INERTIAL, LIMIT + '<axis xyz="1 0 0"/>', "axis"),
        (INERTIAL, LIMIT + '<child link="tip"/>', "child"),
    ],
)
def test_an_element_given_twice_is_ambiguous(only, content, limit, tag):
    finding = only(*arm(content, limit=limit))
    assert (finding.level, finding.code) == ("error", "model.duplicate")
    assert f"2 <{tag}> elements" in finding.message


def test_a_joint_may_be_named_like_a_link(only):
    finding = only(link("base", ""), link("arm"), joint("arm", "base", "arm"))
    assert (finding.level, finding.code) == ("info", "model.name_clash")


@pytest.mark.parametrize("part", ['<link name=""/>', "<link/>", '<link name=" "/>', joint("", "base", "tip")])
def test_a_part_without_name_is_an_error(only, part):
    assert (only(*arm(), part).level, only(*arm(), part).code) == ("error", "model.name_missing")


@pytest.mark.parametrize("name", ["tool ", "a,b", "a\u200bb"])
def test_a_name_that_breaks_column_names_is_said(only, name):
    finding = only(*arm(), link(name, ""), joint("f", "tip", name, kind="fixed"))
    assert (finding.level, finding.code) == ("warning", "model.name_suspect")


def test_a_robot_needs_a_name_elsewhere(tmp_path):
    path = tmp_path / "r.urdf"
    path.write_text('<robot><link name="base"/></robot>')
    assert codes(lint_urdf(path)) == [("warning", "model.name_missing")]


@pytest.mark.parametrize(
    ("part", "meant"),
    [("intertial", "inertial"), ("Inertial", "inertial"), ("colision", "collision"), ("visuals", "visual")],
)
def test_a_misspelt_element_is_not_silently_ignored(lint, part, meant):
    report = lint(*arm(INERTIAL + f"<{part}/>"))
    assert codes(report) == [("warning", "model.unknown_element")]
    assert f"<{meant}>" in report.findings[0].cure


def test_expressions_outside_dynamics_are_warnings(lint):
    mesh = '<visual><geometry><mesh filename="$(find pkg)/a.stl"/></geometry></visual>'
    report = lint(*arm(INERTIAL + mesh), "<gazebo><plugin>${x}</plugin></gazebo>")
    assert codes(report) == [("warning", "model.xacro")] * 2
    assert report.description is not None


# ---- the tree ----


@pytest.mark.parametrize(
    ("closing", "named"),
    [
        (joint("j3", "base", "tip"), "second parent, 'base', besides 'arm' by joint 'j2' on line 6"),
        (joint("j3", "tip", "base"), "closes a loop: its child 'base' already carries its parent 'tip'"),
        (joint("j3", "tip", "tip"), "second parent"),
        (joint("j3", "base", "base"), "joins link 'base' to itself"),
    ],
)
def test_a_loop_names_the_joint_that_closes_it(only, closing, named):
    finding = only(*arm(), closing)
    assert (finding.level, finding.code, finding.value) == ("error", "model.loop", "j3")
    assert finding.where == "robot.urdf:7, joint 'j3'"
    assert named in finding.message


def test_two_roots_are_both_named(only):
    finding = only(*arm(), link("table"))
    assert (finding.level, finding.code) == ("error", "model.two_roots")
    assert "'base' (line 2), 'table' (line 7)" in finding.message


@pytest.mark.parametrize(("parent", "child", "role"), [("bas", "arm", "parent"), ("base", "Arm", "child")])
def test_a_joint_to_nowhere_is_an_error_with_the_likely_name(only, parent, child, role):
    finding = only(link("base", ""), link("arm"), joint("j", parent, child))
    assert (finding.level, finding.code) == ("error", "model.unknown_link")
    assert f"the {role} of joint 'j'" in finding.message
    assert "did you mean" in finding.cure


@pytest.mark.parametrize("missing", ['<parent link="base"/>', '<child link="arm"/>'])
def test_a_joint_with_one_end_is_an_error(lint, missing):
    report = lint(link("base", ""), link("arm"), joint("j", "base", "arm").replace(missing, ""))
    assert ("error", "model.unknown_link") in codes(report)


def test_a_robot_without_links_is_an_error(only):
    assert only().code == "model.no_links"


@pytest.mark.parametrize(
    ("kind", "cure"),
    [
        ("planar", "two prismatic joints and one revolute"),
        ("Revolute", 'did you mean "revolute"?'),
        ("ball", "valid: revolute, continuous, prismatic, fixed, floating"),
        ("", "valid: revolute, continuous, prismatic, fixed, floating"),
    ],
)
def test_other_joint_types_are_errors(only, kind, cure):
    finding = only(*arm(kind=kind))
    assert (finding.level, finding.code, finding.value) == ("error", "model.joint_type", kind)
    assert "joint 'j1'" in finding.message
    assert cure in finding.cure


def test_a_floating_base_is_accepted(lint):
    report = lint(link("world", ""), link("hull"), joint("free", "world", "hull", "", kind="floating"))
    assert report.findings == ()
    assert not report.description.joints[0].moves


def test_a_floating_base_may_hang_on_fixed_frames(lint):
    frames = (link("world", ""), link("map", ""), joint("f", "world", "map", "", kind="fixed"))
    assert lint(*frames, link("hull"), joint("free", "map", "hull", "", kind="floating")).findings == ()


@pytest.mark.parametrize("parent", ["base", "tip"])
def test_a_floating_joint_elsewhere_is_an_error(only, parent):
    first = (link("ball"), joint("free", "base", "ball", kind="floating")) if parent == "base" else ()
    finding = only(*arm(), *first, link("cube"), joint("free2", parent, "cube", kind="floating"))
    assert (finding.level, finding.code) == ("error", "model.joint_type")
    assert "joint 'free2' is floating" in finding.message


def test_an_axis_of_any_length_is_normalised(lint, only):
    finding = only(*arm(axis="0 0 2"))
    assert (finding.level, finding.code, finding.value) == ("info", "model.axis_scaled", 2.0)
    assert lint(*arm(axis="0 0 2")).description.joints[0].axis == (0.0, 0.0, 1.0)


def test_a_rounded_unit_axis_is_normalised_without_a_word(lint):
    report = lint(*arm(axis="0.7071 0.7071 0"))
    assert report.findings == ()
    assert report.description.joints[0].axis == pytest.approx((0.5**0.5, 0.5**0.5, 0.0), abs=1e-15)


@pytest.mark.parametrize("axis", ["0 0 0", "0 1e-9 0", "-0.0 0 0"])
@pytest.mark.parametrize("kind", ["revolute", "prismatic", "continuous"])
def test_a_zero_axis_is_an_error(only, axis, kind):
    finding = only(*arm(axis=axis, kind=kind))
    assert (finding.level, finding.code, finding.where) == ("error", "model.zero_axis", "robot.urdf:5, joint 'j1'")


def test_a_fixed_joint_needs_no_axis(lint):
    assert lint(*arm(), link("tool0", ""), joint("f", "tip", "tool0", "", kind="fixed", axis="0 0 0")).findings == ()


def test_an_axis_left_out_is_said(only):
    finding = only(link("base", ""), link("arm"), joint("j", "base", "arm").replace('<axis xyz="0 0 1"/>', ""))
    assert (finding.level, finding.code) == ("info", "model.axis_default")


def test_a_mimic_is_read_and_will_be_locked(lint, only):
    parts = arm(limit=LIMIT + '<mimic joint="j2" multiplier="-1" offset="0.5"/>')
    finding = only(*parts)
    assert (finding.level, finding.code, finding.value) == ("warning", "model.mimic_locked", "j2")
    mimic = lint(*parts).description.joints[0].mimic
    assert (mimic.joint, mimic.multiplier, mimic.offset) == ("j2", -1.0, 0.5)


@pytest.mark.parametrize(
    ("mimic", "code"),
    [
        ('<mimic joint="j3"/>', "model.mimic_unknown"),
        ('<mimic joint=""/>', "model.mimic_unknown"),
        ("<mimic/>", "model.mimic_unknown"),
        ('<mimic joint="j1"/>', "model.mimic_loop"),
    ],
)
def test_a_mimic_that_leads_nowhere_is_an_error(only, mimic, code):
    finding = only(*arm(limit=LIMIT + mimic))
    assert (finding.level, finding.code, finding.where) == ("error", code, "robot.urdf:5, joint 'j1'")


def test_joints_that_mimic_one_another_are_one_error(only):
    parts = arm(limit=LIMIT + '<mimic joint="j2"/>')
    finding = only(*parts[:-1], joint("j2", "arm", "tip", LIMIT + '<mimic joint="j1"/>'))
    assert finding.code == "model.mimic_loop"
    assert "'j1' -> 'j2' -> 'j1'" in finding.message


@pytest.mark.parametrize("kind", ["fixed", "floating"])
def test_a_mimic_of_what_has_no_position_is_an_error(lint, kind):
    report = lint(*arm(limit="", kind=kind)[:-1], joint("j2", "arm", "tip", LIMIT + '<mimic joint="j1"/>'))
    (finding,) = report.errors
    assert (finding.code, finding.where) == ("model.mimic_unknown", "robot.urdf:6, joint 'j2'")
    assert f"mimics 'j1', which is {kind}" in finding.message


@pytest.mark.parametrize("kind", ["revolute", "fixed"])
@pytest.mark.parametrize("count", [1000, 1001])
def test_a_chain_of_over_a_thousand_joints_is_refused(lint, kind, count):
    """Readers that recur fall off their stack at some three thousand."""
    names = ["base", *(f"l{k}" for k in range(count))]
    joints = [joint(f"j{k}", names[k], names[k + 1], kind=kind) for k in range(count)]
    errors = lint(link("base", ""), *joints, *map(link, names[1:])).errors
    assert [(f.code, f.value) for f in errors] == [("model.unsupported", 1001)] * (count > 1000)


# ---- all at once, and as an exception ----


def test_every_error_is_listed_errors_first_by_line(lint):
    report = lint(
        link("base", inertial(mass="1,5")),
        link("arm", inertial(mass="-1")),
        joint("j1", "base", "arm", axis="0 0 0"),
        joint("j2", "arm", "nowhere", kind="planar"),
    )
    assert [finding.code for finding in report.errors] == [
        "model.mass_unreadable",
        "model.negative_mass",
        "model.zero_axis",
        "model.joint_type",
        "model.unknown_link",
    ]
    assert report.description is None


def test_loading_raises_the_first_error_and_counts_the_others(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text(
        '<robot name="r">\n' + link("a", inertial(mass="1,5")) + link("b", inertial(mass="nan")) + "</robot>"
    )
    with pytest.raises(ModelError) as caught:
        load_urdf_description(path)
    error = caught.value
    assert (error.where, error.value) == ("robot.urdf:2, link 'a'", "1,5")
    assert "decimal comma (2 more errors" in error.what  # the second mass, and the second root


def test_loading_returns_the_description_despite_warnings(tmp_path):
    assert load_urdf_description(write(tmp_path, *arm(limit=""))).root == "base"


def test_a_flood_of_findings_is_counted(lint):
    report = lint(link("base", ""), *(joint(f"j{i}", "base", f"l{i}") for i in range(500)))
    assert len(report.findings) == 201
    assert report.findings[-1].value == 500
    assert "300 more" in report.findings[-1].message
