"""Values are checked against the robot before anything is written: names, numbers, bodies that can exist."""

from __future__ import annotations

import numpy as np
import pytest

from odd_urdf import ODD, PLAIN
from steelyard.errors import ModelError
from steelyard.formats.export_check import check_export, new_findings, torque_difference
from steelyard.formats.export_mapping import DESTINATIONS, TARGETS, destination, mapping_table, not_held
from steelyard.formats.export_values import JointDynamics, JointQuantity, export_values, joint_dynamics
from steelyard.formats.link_values import link_parameters
from steelyard.formats.model_text import description_of
from steelyard.formats.urdf_patch import patch_urdf
from steelyard.robot.inertia import transform
from steelyard.robot.load import build_robot
from steelyard.robot.robot import STANDARD_GRAVITY


def robot_of(text):
    data = text if isinstance(text, bytes) else text.encode()
    return build_robot(description_of(data, "x"), np.array(STANDARD_GRAVITY), mimic="lock")


@pytest.fixture(scope="module")
def robot():
    return robot_of(PLAIN)


@pytest.fixture(scope="module")
def own():
    return {name: v for name, v in link_parameters(description_of(PLAIN.encode(), "x")).items() if v is not None}


def test_values_come_in_the_order_of_the_robot(robot, own):
    joints = {"j2": JointDynamics(1.0), "j1": JointDynamics(friction=2.0)}
    values = export_values(robot, links=dict(reversed(own.items())), joints=joints)
    assert list(values.links) == ["arm", "slide"]
    assert list(values.joints) == ["j1", "j2"]
    assert [(axis.damping, axis.friction) for axis in values.identified.axes] == [(0.5, 2.0), (1.0, 3.0)]
    assert values.findings == ()


def test_columns_of_a_result_become_joints():
    found = joint_dynamics(
        [
            ("link/arm/mass", 1.0, "kg"),
            ("actuator/j1/viscous_friction", 0.25, "N m s/rad"),
            ("actuator/j1/coulomb_friction", 0.41, "N m"),
            ("actuator/j1/bias", -0.06, "N m"),
            ("actuator/a/b/rotor_inertia", 0.1, "kg m2"),
            ("actuator/j1/stiffness", 3.0, "N m/rad"),
        ]
    )
    assert found == {
        "j1": JointDynamics(0.25, 0.41, None, -0.06, (JointQuantity("stiffness", 3.0, "N m/rad"),)),
        "a/b": JointDynamics(rotor_inertia=0.1),
    }


def flat(mass, ixx, iyy, izz):
    return np.array([mass, 0, 0, 0, ixx, 0, iyy, 0, 0, izz])


@pytest.mark.parametrize(
    ("links", "joints", "message"),
    [
        ({"arms": flat(1, 1, 1, 1)}, {}, "no link"),
        ({}, {"j9": JointDynamics(1.0)}, "no moving joint"),
        ({"arm": np.ones(9)}, {}, "ten parameters"),
        ({"arm": flat(np.nan, 1, 1, 1)}, {}, "not a finite number"),
        ({"arm": flat(-1, 1, 1, 1)}, {}, "no body has this mass"),
        ({"arm": flat(0, 1, 1, 1)}, {}, "no body has this mass"),
        ({"arm": flat(1, 1, 1, 3)}, {}, "no body has this inertia"),
        ({"arm": flat(1, -1e-6, 1, 1)}, {}, "no body has this inertia"),
        ({}, {"j1": JointDynamics(damping=-1e-3)}, "damping is negative"),
        ({}, {"j1": JointDynamics(rotor_inertia=-1e-3)}, "rotor_inertia is negative"),
        ({}, {"j1": JointDynamics(bias=np.inf)}, "bias is not a finite"),
    ],
)
def test_what_no_robot_can_be_is_refused(robot, links, joints, message):
    with pytest.raises(ModelError, match=message):
        export_values(robot, links=links, joints=joints)


def test_the_edge_of_what_can_be_is_accepted(robot):
    """A thin plate has I3 = I1 + I2, a point mass no moments at all."""
    plate, point = flat(1.0, 0.1, 0.2, 0.3), transform(flat(2.0, 0, 0, 0), np.eye(3), np.array([0.3, -0.2, 0.7]))
    values = export_values(robot, links={"arm": plate, "slide": point}, joints={})
    assert (values.links["arm"] == plate).all()


def test_a_link_that_is_impossible_in_the_file_may_stay_as_it_is():
    robot = robot_of(PLAIN.replace('izz="0.0240"', 'izz="0.9"'))
    own = next(link.parameters for link in robot.links if link.name == "arm")
    assert export_values(robot, links={"arm": own}, joints={}).links["arm"] is not None
    with pytest.raises(ModelError, match="no body has this inertia"):
        export_values(robot, links={"arm": 1.1 * own}, joints={})


def test_links_must_add_up_to_the_identified_bodies():
    text = ODD["joints of every kind"].replace(
        b'<link name="flange"/>',
        b'<link name="flange"><inertial><mass value="0.2"/>'
        b'<inertia ixx="1e-3" ixy="0" ixz="0" iyy="1e-3" iyz="0" izz="1e-3"/></inertial></link>',
    )
    robot = robot_of(text)
    own = {link.name: link.parameters for link in robot.links if link.parameters is not None}
    bodies = 1.1 * robot.parameters
    values = export_values(robot, links={name: 1.1 * v for name, v in own.items()}, joints={}, bodies=bodies)
    assert np.allclose(values.identified.parameters, bodies, rtol=1e-12)
    # the body's values given to its first link, with the flange still in the file: 0.2 kg too much
    lumped = dict(zip(robot.body_names, bodies.reshape(-1, 10), strict=True))
    with pytest.raises(ModelError, match="do not add up") as caught:
        export_values(robot, links=lumped, joints={}, bodies=bodies)
    assert caught.value.where == "body slide"


def test_links_that_keep_the_files_values_are_named(robot, own):
    (finding,) = export_values(robot, links={"arm": own["arm"]}, joints={}).findings
    assert (finding.code, finding.level) == ("export.link_kept", "warning")
    assert "slide" in finding.message
    heavy_base = robot_of(ODD["plain"].replace(b'<link name="base"/>', b'<link name="base"><inertial><mass value="9"/>'
        b'<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>'))  # fmt: skip
    (finding,) = export_values(heavy_base, links=own, joints={}).findings
    assert (finding.code, finding.level) == ("export.base_kept", "info")
    assert "base" in finding.message


def test_a_file_that_says_something_else_is_refused(robot, own):
    """The check reads the file, not the intention: 1 part in 1e9 of one mass is found, 1e-15 is not."""
    source = PLAIN.encode()
    values = export_values(robot, links={"arm": 1.25 * own["arm"]}, joints={})
    assert check_export(source, patch_urdf(source, values.links, {}), values, name="x").worst < 1e-12
    off = patch_urdf(source, {"arm": 1.25 * (1 + 1e-9) * own["arm"]}, {})
    with pytest.raises(ModelError, match="another torque"):
        check_export(source, off, values, name="x")
    with pytest.raises(ModelError, match="another torque") as caught:
        check_export(source, source, export_values(robot, links={}, joints={"j2": JointDynamics(21.0)}), name="x")
    assert "joint j2" in caught.value.where


def test_rotor_inertia_is_no_fault_of_a_urdf(robot):
    values = export_values(robot, links={}, joints={"j1": JointDynamics(rotor_inertia=1.0)})
    assert check_export(PLAIN.encode(), PLAIN.encode(), values, name="x").worst == 0.0
    assert [f.code for f in not_held(values, "urdf")] == ["export.not_held"]
    assert not_held(values, "mjcf") == ()


def test_new_findings_of_the_linter_are_told(robot):
    """A patched body that the linter finds implausible: 0.1 m of gyration radius become 10 m."""
    source = PLAIN.encode()
    values = export_values(robot, links={"slide": flat(1.0, 100.0, 100.0, 100.0)}, joints={})
    check = check_export(source, patch_urdf(source, values.links, {}), values, name="x")
    assert check.new_findings
    assert all("slide" in finding.where for finding in check.new_findings)
    assert new_findings(check.new_findings, check.new_findings) == ()


def test_robots_with_other_joints_cannot_be_compared(robot):
    with pytest.raises(ModelError, match="other joints"):
        torque_difference(robot, robot.locked(["j1"]))


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_says_where_every_quantity_goes(target):
    quantities = [entry.quantity for entry in DESTINATIONS if entry.target == target]
    assert len(quantities) == len(set(quantities)) == 9
    for quantity in quantities:
        entry = destination(target, quantity)
        assert entry.unit
        assert entry.place or entry.note, "what a target cannot hold needs a way out"
    table = mapping_table(target).splitlines()
    assert len(table) == 11
    assert all(line.count("|") == 5 for line in table)


def test_what_a_target_cannot_hold_is_said(robot, own):
    joint = JointDynamics(1.0, 2.0, 3.0, 4.0, (JointQuantity("stiffness", 5.0, "N m/rad"),))
    values = export_values(robot, links=own, joints={"j1": joint})
    told = {target: [finding.message.split(" of ")[0] for finding in not_held(values, target)] for target in TARGETS}
    assert told["urdf"] == ["the rotor inertia", "the torque bias", "the other joint terms"]
    assert told["mjcf"] == ["the torque bias", "the other joint terms"]
    assert told["profile"] == ["masses, centres"]
    assert told["drake"] == ["the Coulomb friction", "the torque bias", "the other joint terms"]
    assert told["isaac_lab"] == ["the torque bias", "the other joint terms", "masses, centres"]
