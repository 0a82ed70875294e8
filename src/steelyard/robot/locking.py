"""Freezing a coordinate: the bodies that it moves become part of those before them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from steelyard.robot.inertia import rotation_about
from steelyard.robot.tree import PRISMATIC, TreeJoint

if TYPE_CHECKING:
    from steelyard.robot.robot import Axis, Robot


def without(robot: Robot, axis: Axis, position: float) -> Robot:
    """The robot with every body that `axis` drives merged into its parent, the joint held at `position` [rad or m]."""
    dof = robot.axes.index(axis)
    place = [(-1, np.eye(3), np.zeros(3))]  # where each old body goes: new body, rotation, translation; base first
    joints: list[TreeJoint] = []
    names: list[str] = []
    for i, joint in enumerate(robot.joints):
        body, R, p = place[joint.parent + 1]
        rotation, translation = R @ joint.rotation, p + R @ joint.translation
        if joint.dof == dof:
            x = joint.ratio * position + joint.offset
            if joint.kind == PRISMATIC:
                translation = translation + rotation @ (joint.axis * x)
            else:
                rotation = rotation @ rotation_about(joint.axis, x)
            place.append((body, rotation, translation))
            continue
        lower = joint.dof - 1 if joint.dof > dof else joint.dof
        joints.append(replace(joint, parent=body, rotation=rotation, translation=translation, dof=lower))
        names.append(robot.body_names[i])
        place.append((len(joints) - 1, np.eye(3), np.zeros(3)))
    links = []
    for link in robot.links:
        body, R, p = place[link.body + 1]
        links.append(replace(link, body=body, rotation=R @ link.rotation, translation=p + R @ link.translation))
    return replace(
        robot,
        axes=tuple(a for a in robot.axes if a is not axis),
        joints=tuple(joints),
        body_names=tuple(names),
        links=tuple(links),
        locked_at=(*robot.locked_at, (axis.name, position)),
    )
