"""Designs for real arms: a few searches reach what the field's optimisers take many seconds for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.excite.certificate import certify
from steelyard.excite.criteria import condition_number
from steelyard.excite.design import design_motion
from steelyard.excite.limits import motion_limits
from steelyard.formats.joint_limits import read_joint_limits
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous

ARMS = {"panda": "panda_gaz/panda.urdf", "ur10": "ur10_unisa/ur10.urdf"}
FEW = {"harmonics": 5, "period": 10.0, "samples": 200, "starts": 2, "changes": 0, "budget": 600.0}


def load(real_data, name):
    robot = Robot.from_urdf(real_data / ARMS[name])
    robot = robot.locked([joint for joint in robot.joint_names if "finger" in joint])
    limits = motion_limits(robot, read_joint_limits(real_data / "limits" / f"{name}_joint_limits.yaml"))
    return Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset())), limits


def unloaded(limits):
    return replace(limits, effort=np.full(len(limits.joint_names), np.inf))


@pytest.mark.parametrize(("name", "target"), [("panda", 9.4), ("ur10", 8.4)])
def test_condition_of_the_rigid_columns(real_data, name, target):
    model, limits = load(real_data, name)
    design = design_motion(model, unloaded(limits), criterion="condition", columns="rigid", rest="free", **FEW)
    assert condition_number(design.information) <= target


@pytest.mark.parametrize(("name", "target"), [("panda", 418.0), ("ur10", 365.0)])
def test_log_det_of_the_rigid_part(real_data, name, target):
    """With friction and offsets in the objective; the full search reaches 370 for the second arm."""
    model, limits = load(real_data, name)
    design = design_motion(model, unloaded(limits), rest="free", **FEW)
    rigid = [k for k, column in enumerate(design.names) if column.startswith("link/")]
    assert np.linalg.slogdet(design.information[np.ix_(rigid, rigid)])[1] >= target


@pytest.mark.parametrize("name", sorted(ARMS))
def test_a_design_at_rest_inside_the_torque_limits_is_certified(real_data, name):
    model, limits = load(real_data, name)
    design = design_motion(model, limits, rest="jerk", **FEW)
    certificate = certify(design.motion, model, limits, rest="jerk")
    assert certificate.passed
    assert certificate.closest.use > 0.9
