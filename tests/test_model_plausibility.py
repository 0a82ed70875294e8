"""Limits and inertials that are readable but hardly meant: what they are told apart from, and what stays silent."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from steelyard.robot.inertia import rotation_rpy
from steelyard.robot.inertial_lint import inertia_defect, suspected_order
from steelyard.robot.urdf_lint import lint_urdf
from urdf_text import INERTIAL, LIMIT, arm, codes, inertial, joint, link, write

ZERO = "0 0 0 0 0 0"


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


# ---- limits ----


@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
@pytest.mark.parametrize("limit", ["", "<limit/>", '<limit velocity="1" effort="1"/>', '<limit lower="-1" upper="1"/>'])
def test_missing_limits_are_a_warning(only, kind, limit):
    finding = only(*arm(kind=kind, limit=limit))
    assert (finding.level, finding.code) == ("warning", "model.no_limits")
    assert "joint 'j1'" in finding.message


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (('velocity="3"', 'velocity="0"'), "velocity limit of joint 'j1' is 0 rad/s"),
        (('effort="4"', 'effort="0"'), "effort limit of joint 'j1' is 0 N m"),
        (('effort="4"', 'effort="-4"'), "effort limit of joint 'j1' is -4 N m"),
        (('lower="-1" upper="2"', 'lower="0" upper="0"'), "leave no motion"),
    ],
)
def test_limits_of_zero_are_a_warning(only, change, named):
    finding = only(*arm(limit=LIMIT.replace(*change)))
    assert (finding.level, finding.code) == ("warning", "model.limit_zero")
    assert named in finding.message


def test_limits_the_wrong_way_round_are_a_warning(only):
    assert only(*arm(limit=LIMIT.replace("-1", "5"))).code == "model.limit_inverted"


@pytest.mark.parametrize(
    ("kind", "upper", "cause"),
    [("prismatic", "500", "millimetres"), ("revolute", "180", "degrees"), ("prismatic", "20.1", "millimetres")],
)
def test_limits_in_other_units_are_suspected(only, kind, upper, cause):
    finding = only(*arm(kind=kind, limit=LIMIT.replace('upper="2"', f'upper="{upper}"')))
    assert (finding.level, finding.code, finding.value) == ("warning", "model.units_suspect", float(upper))
    assert cause in finding.message


@pytest.mark.parametrize(("kind", "upper"), [("prismatic", "20"), ("revolute", "12.56"), ("continuous", "180")])
def test_large_but_possible_limits_are_accepted(lint, kind, upper):
    assert lint(*arm(kind=kind, limit=LIMIT.replace('upper="2"', f'upper="{upper}"'))).findings == ()


def test_a_stand_in_for_no_limit_is_not_taken_for_degrees(only):
    assert only(*arm(limit=LIMIT.replace('upper="2"', 'upper="1e16"'))).code == "model.no_limits"


@pytest.mark.parametrize("key", ["damping", "friction"])
def test_friction_that_drives_is_a_warning(only, key):
    finding = only(*arm(limit=LIMIT + f'<dynamics {key}="-0.1"/>'))
    assert (finding.level, finding.code, finding.value) == ("warning", "model.friction_negative", -0.1)


def test_a_mount_in_millimetres_or_degrees_is_suspected(lint):
    report = lint(*arm(origin="0 0 333"))
    assert codes(report) == [("warning", "model.units_suspect")]
    turned = joint("j", "base", "arm").replace("<origin", '<origin rpy="0 0 90"')
    assert codes(lint(link("base", ""), link("arm"), turned)) == [("warning", "model.units_suspect")]


@pytest.mark.parametrize(
    ("angle", "found"),
    [
        ("1.5708", True),
        ("-3.1416", True),
        ("1.57", True),
        ("1.5707963267948966", False),
        ("0.7854", False),
        ("0", False),
        ("1.5", False),
        ("0.0005", False),
        ("6.1e-17", False),
    ],
)
def test_rounded_right_angles_are_said_once(lint, angle, found):
    mounts = [
        joint(f"j{i}", a, b).replace("<origin", f'<origin rpy="{angle} 0 0"')
        for i, a, b in ((1, "base", "arm"), (2, "arm", "tip"))
    ]
    report = lint(link("base", ""), link("arm"), link("tip", inertial("1")), *mounts)
    assert codes(report) == ([("info", "model.rounded_angle")] if found else [])
    if found:
        nearest = round(float(angle) / (np.pi / 2)) * np.pi / 2
        assert report.findings[0].value == pytest.approx(abs(float(angle) - nearest), rel=1e-9)
        assert report.findings[0].message.startswith("2 joints")


# ---- mass where something moves ----


def last(content):
    """An arm whose last link is `tool`, moved by j3."""
    return (*arm(), link("tool", content), joint("j3", "tip", "tool"))


def test_a_last_link_without_inertial_is_an_error_that_names_it(only):
    finding = only(*last(""))
    assert (finding.level, finding.code, finding.where) == (
        "error",
        "model.zero_inertial_moving",
        "robot.urdf:7, link 'tool'",
    )
    assert "link 'tool'" in finding.message
    assert "'j3'" in finding.message


def test_so_is_one_that_only_carries_frames(only):
    finding = only(*last(""), link("tcp", ""), joint("f", "tool", "tcp", "", kind="fixed"))
    assert (finding.level, finding.where) == ("error", "robot.urdf:7, link 'tool'")


def test_of_a_massless_chain_every_link_is_an_error(lint):
    report = lint(*last(""), link("tcp", ""), joint("j4", "tool", "tcp"))
    assert [finding.where[-6:] for finding in report.errors] == ["'tool'", " 'tcp'"]


@pytest.mark.parametrize("content", ["", inertial("0", ZERO)])
def test_massless_frames_on_fixed_joints_are_nothing(lint, content):
    assert lint(*arm(), link("tool0", content), joint("f", "tip", "tool0", "", kind="fixed")).findings == ()


def test_a_written_zero_is_a_poor_prior(only):
    finding = only(*last(inertial("0", ZERO)))
    assert (finding.level, finding.code) == ("warning", "model.zero_inertial_moving")
    assert "the mass matrix is singular" in finding.message


def test_a_zero_tensor_with_mass_is_a_poor_prior(only):
    finding = only(*last(inertial("0.2", ZERO)))
    assert (finding.level, finding.code) == ("warning", "model.zero_inertial_moving")
    assert "0.2 kg but a zero inertia tensor" in finding.message


@pytest.mark.parametrize("content", ["", inertial("0", ZERO)])
def test_mass_on_a_fixed_tool_counts_for_the_link_that_carries_it(lint, content):
    assert (
        lint(*last(content), link("gripper", inertial("1")), joint("f", "tool", "gripper", "", kind="fixed")).findings
        == ()
    )


def test_a_massless_link_between_two_joints_is_a_warning(only):
    """A universal joint made of two."""
    finding = only(*last(""), link("gripper", inertial("1")), joint("j4", "tool", "gripper"))
    assert (finding.level, finding.code, finding.where) == (
        "warning",
        "model.zero_inertial_moving",
        "robot.urdf:7, link 'tool'",
    )


def test_a_massless_link_that_follows_another_joint_is_a_warning(lint):
    parts = (*arm(), link("finger", ""), joint("j3", "tip", "finger", LIMIT + '<mimic joint="j2"/>'))
    assert codes(lint(*parts)) == [("warning", "model.zero_inertial_moving"), ("warning", "model.mimic_locked")]


def test_the_base_needs_no_mass(lint):
    assert lint(link("world", ""), link("base", ""), joint("f", "world", "base", "", kind="fixed")).findings == ()


# ---- tensors ----


@pytest.mark.parametrize(
    ("tensor", "fault"),
    [
        ("-0.01 0 0 0.02 0 0.02", "negative"),
        ("0.01 0.02 0 0.01 0 0.02", "negative"),
        ("0.01 0 0 0.01 0 0.1", "exceeds the sum"),
        ("1 0 0 1 0 10", "exceeds the sum"),
    ],
)
def test_an_inconsistent_tensor_of_a_moving_link_is_a_warning(lint, tensor, fault):
    report = lint(*arm(inertial(tensor=tensor)))
    assert report.description is not None
    finding = next(finding for finding in report.findings if finding.code == "model.inertia_inconsistent")
    assert (finding.level, finding.where) == ("warning", "robot.urdf:3, link 'arm'")
    assert fault in finding.message


def test_of_the_standing_base_it_is_information(lint):
    parts = (link("base", inertial(tensor="0.01 0 0 0.01 0 0.1")), link("arm"), joint("j1", "base", "arm"))
    assert codes(lint(*parts)) == [("info", "model.inertia_inconsistent")]


def test_made_up_for_by_a_fixed_link_it_is_information(lint):
    sensor = (link("sensor", inertial("0.1", "1e-3 0 0 1e-3 0 4e-3")), joint("f", "tip", "sensor", "", kind="fixed"))
    assert codes(lint(*arm(), *sensor)) == [("info", "model.inertia_inconsistent")]


@pytest.mark.parametrize(
    ("tensor", "defect"),
    [
        (np.diag([1.0, 1.0, 2.0]), 0.0),  # a plate
        (np.diag([0.0, 1.0, 1.0]), 0.0),  # a rod
        (np.zeros((3, 3)), 0.0),
        (np.diag([1.0, 1.0, 10.0]), 0.8),
        (np.diag([-0.1, 1.0, 1.0]), 0.1),
    ],
)
@pytest.mark.parametrize("rpy", [(0.0, 0.0, 0.0), (0.3, -1.1, 2.0)])
def test_the_defect_is_that_of_the_principal_moments(tensor, defect, rpy):
    rotation = rotation_rpy(np.array(rpy))
    assert inertia_defect(rotation @ tensor @ rotation.T) == pytest.approx(defect, abs=1e-14)


def test_random_bodies_are_physical():
    """20 point masses each make a tensor that the linter must accept; rounding leaves 1e-15."""
    draw = np.random.default_rng(0)
    for _ in range(100):
        points, masses = draw.normal(size=(20, 3)) * draw.uniform(0.001, 1.0, 3), draw.uniform(0.1, 1.0, 20)
        tensor = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points, strict=True))
        assert inertia_defect(tensor) < 1e-14


BODY = np.array([[0.020, 0.001, -0.002], [0.001, 0.030, 0.003], [-0.002, 0.003, 0.040]])


@pytest.mark.parametrize(
    ("order", "slots"),
    [
        ("ixx iyy izz ixy ixz iyz", [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]),
        ("ixx ixy iyy ixz iyz izz", [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)]),
        ("ixx ixy ixz iyx iyy iyz", [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]),
    ],
)
def test_moments_in_another_order_are_recognised(lint, order, slots):
    tensor = " ".join(repr(float(BODY[slot])) for slot in slots)
    report = lint(*arm(inertial(tensor=tensor)))
    assert [finding.code for finding in report.findings][:2] == [
        "model.inertia_inconsistent",
        "model.inertia_ordering_suspect",
    ]
    assert order in report.findings[1].message


def test_no_order_is_suspected_where_none_helps():
    assert suspected_order(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 10.0))) == ""


def test_a_missing_decimal_point_shows(lint):
    assert ("warning", "model.inertia_inconsistent") in codes(lint(*arm(inertial(tensor="0.0021 0 0 0.0022 0 23"))))


# ---- scale, placeholders, copies ----


@pytest.mark.parametrize(
    ("mass", "tensor"),
    [("2", "20000 0 0 30000 0 40000"), ("2", "2e-8 0 0 3e-8 0 4e-8"), ("1000", "0.02 0 0 0.03 0 0.04")],
)
def test_moments_out_of_scale_with_the_mass_are_a_warning(only, mass, tensor):
    """kg mm2 taken for kg m2, the reverse, and a tonne in ten centimetres of metal."""
    finding = only(*arm(inertial(mass, tensor)))
    assert (finding.level, finding.code) == ("warning", "model.inertia_scale")


def test_a_mass_in_grams_or_a_centre_in_millimetres_is_suspected(lint):
    assert ("warning", "model.units_suspect") in codes(lint(*arm(inertial("2500", "20 0 0 30 0 40"))))
    far = inertial(origin='<origin xyz="0 0 120"/>')
    assert codes(lint(*arm(far))) == [("warning", "model.units_suspect")]


def box(side):
    return f'<collision><geometry><box size="{side} {side} {side}"/></geometry></collision>'


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("", False),
        (box(0.3), False),
        (box(0.08), True),
        (box(1.0), False),
        (box(30.0), True),
        (box(0.001), False),
        (box(0.08) + '<collision><geometry><mesh filename="a.stl"/></geometry></collision>', False),
        ('<visual><geometry><sphere radius="0.04"/></geometry></visual>', True),
        ('<visual><geometry><cylinder radius="0.01" length="0.1"/></geometry></visual>', True),
        ('<visual><origin xyz="0 0 1"/><geometry><sphere radius="0.04"/></geometry></visual>', False),
        ('<visual><geometry><sphere radius="big"/></geometry></visual>', False),
    ],
)
def test_primitive_geometry_bounds_the_radius_of_gyration(lint, content, found):
    """sqrt(0.04 / 2) = 0.141 m; a box of 1 mm cannot hold 2 kg and is a marker, a mesh is not looked into."""
    report = lint(*arm(inertial() + content))
    assert codes(report) == ([("info", "model.inertia_scale")] if found else [])


@pytest.mark.parametrize(
    ("value", "level"), [("1", "warning"), ("0.01", "info"), ("5e-3", "info"), ("0.0123", None), ("0.011", None)]
)
def test_round_isotropic_tensors_are_placeholders(lint, value, level):
    report = lint(*arm(inertial("2", f"{value} 0 0 {value} 0 {value}")))
    assert codes(report) == ([(level, "model.inertia_placeholder")] if level else [])


def chain(*contents):
    names = ["base", *(f"l{i}" for i in range(len(contents)))]
    parts = [link("base", ""), *(link(name, content) for name, content in zip(names[1:], contents, strict=True))]
    return (*parts, *(joint(f"j{i}", a, b) for i, (a, b) in enumerate(pairwise(names))))


def test_an_inertial_copied_along_a_chain_is_said_once(only):
    finding = only(*chain(INERTIAL, inertial("1"), INERTIAL, INERTIAL))
    assert (finding.level, finding.code, finding.value) == ("info", "model.inertia_copied", 3)
    assert "'l0', 'l2', 'l3'" in finding.message


def test_equal_legs_are_no_copies(lint):
    legs = [(link(f"leg{i}"), joint(f"j{i}", "base", f"leg{i}")) for i in range(4)]
    assert lint(link("base", ""), *(part for leg in legs for part in leg)).findings == ()


# ---- left and right ----


def pair(left, right, names=("left_arm", "right_arm")):
    a, b = names
    return (link("base", ""), link(a, left), link(b, right), joint("j1", "base", a), joint("j2", "base", b))


def mirrored(tensor, y="-0.05", mass="2"):
    return inertial(mass, tensor, f'<origin xyz="0.02 {y} 0.1"/>')


LEFT = mirrored("0.02 0.001 -0.002 0.03 0.003 0.04", "0.05")


@pytest.mark.parametrize(
    ("right", "fault"),
    [
        pytest.param(mirrored("0.02 -0.001 -0.002 0.03 -0.003 0.04"), "", id="mirrored across y"),
        pytest.param(LEFT, "", id="same frames"),
        pytest.param(mirrored("0.02 0.001 -0.002 0.03 -0.003 0.04"), "signs|principal", id="one sign wrong"),
        pytest.param(mirrored("0.02 0.001 -0.002 0.03 0.003 0.04"), "signs", id="not mirrored"),
        pytest.param(mirrored("0.02 -0.001 -0.002 0.03 -0.003 0.04", mass="2.2"), "2 kg and 2.2 kg", id="mass"),
        pytest.param(mirrored("0.025 -0.001 -0.002 0.03 -0.003 0.04"), "principal", id="one moment"),
    ],
)
def test_the_two_sides_of_a_pair_are_compared(lint, right, fault):
    report = lint(*pair(LEFT, right))
    if not fault:
        assert report.findings == ()
        return
    assert codes(report) == [("info", "model.asymmetric_pair")]
    assert any(word in report.findings[0].message for word in fault.split("|"))
    assert "'left_arm' and 'right_arm' (line 4)" in report.findings[0].message


@pytest.mark.parametrize(
    ("names", "paired"),
    [
        (("left_arm", "right_arm"), True),
        (("arm_left_1", "arm_right_1"), True),
        (("LArm", "RArm"), True),
        (("l_arm", "r_arm"), True),
        (("FL_hip", "FR_hip"), True),
        (("Left-Arm", "Right-Arm"), True),
        (("arm_LF", "arm_RF"), True),
        (("Lever", "Rever"), False),
        (("upper_arm", "lower_arm"), False),
        (("link_1", "link_2"), False),
    ],
)
def test_pairs_are_told_by_their_names(lint, names, paired):
    report = lint(*pair(LEFT, mirrored("0.02 0 0 0.03 0 0.04", mass="3"), names))
    assert codes(report) == ([("info", "model.asymmetric_pair")] if paired else [])


# ---- robots as they are published ----


def test_the_published_robots_pass_but_for_those_with_a_reason(example_robots):
    """One whose mimics name joints without their prefix, one with massless grippers on joints, one empty file."""
    failing = {}
    for path in sorted(example_robots.rglob("*.urdf")):
        errors = lint_urdf(path).errors
        if errors:
            failing[path.name] = {(error.code, error.where.partition(", ")[2]) for error in errors}
    fingers = ("index", "middle", "ring", "pinky")
    assert failing == {
        "alex_psyonic_hands.urdf": {
            ("model.mimic_unknown", f"joint '{side}_{finger}_q2'") for side in ("Left", "Right") for finger in fingers
        },
        "romeo_laas_small.urdf": {("model.zero_inertial_moving", f"link '{side}_gripper'") for side in "lr"},
        "ur3.urdf": {("model.no_links", "robot")},
    }


@pytest.mark.parametrize(
    ("file", "code", "subject"),
    [
        ("panda.urdf", "model.mimic_locked", "joint 'panda_finger_joint2'"),
        ("simple_humanoid.urdf", "model.inertia_placeholder", "link 'BODY'"),
        ("icub.urdf", "model.inertia_scale", "link 'head'"),
        ("talos_reduced.urdf", "model.asymmetric_pair", "link 'arm_left_1_link'"),
        ("human.urdf", "model.zero_inertial_moving", "link 'left_upperleg_virtual'"),
        ("quadruped.urdf", "model.no_limits", None),
        ("double_pendulum.urdf", "model.limit_zero", None),
        ("z1.urdf", "model.name_clash", None),
        ("ur5_robot.urdf", "model.rounded_angle", None),
    ],
)
def test_known_faults_of_published_robots_are_found(example_robots, file, code, subject):
    (path,) = example_robots.rglob(file)
    found = [finding.where.partition(", ")[2] for finding in lint_urdf(path).findings if finding.code == code]
    assert found
    assert subject is None or subject in found
