"""The bodies that really move: a link together with every link that fixed joints hold to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.robot.inertia import rotation_rpy
from steelyard.robot.urdf_description import UrdfDescription, UrdfInertial, UrdfJoint, UrdfLink

Array = NDArray[np.float64]

_SHARE = 0.01


@dataclass(frozen=True)
class CompositeBody:
    """Links that move as one.

    Attributes:
        joint: the joint that moves it, None for the body that holds the root link.
        members: its links, the one that the joint moves first.
        mass: [kg] of all of them.
        inertia: (3, 3) about their common centre of mass, in the first link's frame [kg m2].
        carries: whether another body moves relative to it.
        mass_beyond: [kg] of all bodies further out.
    """

    joint: UrdfJoint | None
    members: tuple[UrdfLink, ...]
    mass: float
    inertia: Array
    carries: bool
    mass_beyond: float

    @property
    def moves(self) -> bool:
        """Whether a joint moves it; the root body stands, unless the base floats."""
        return self.joint is not None

    def feels(self, inertial: UrdfInertial) -> bool:
        """Whether a member's inertial makes up a hundredth of the whole, by mass or by moment."""
        moment = float(np.abs(inertial.inertia).max())
        return inertial.mass >= _SHARE * self.mass or moment >= _SHARE * float(np.abs(self.inertia).max())


def composite_bodies(description: UrdfDescription) -> tuple[CompositeBody, ...]:
    """All bodies, each after the one that carries it, the root's first."""
    links = {link.name: link for link in description.links}
    below: dict[str, list[UrdfJoint]] = {}
    for joint in description.joints:
        below.setdefault(joint.parent, []).append(joint)
    heads: list[tuple[UrdfJoint | None, str, int]] = [(None, description.root, -1)]
    found: list[tuple[UrdfJoint | None, list[UrdfLink], float, Array]] = []
    carriers: list[int] = []
    while len(found) < len(heads):
        mover, head, carrier = heads[len(found)]
        members, mass, inertia, outward = _gather(head, links, below)
        heads.extend((joint, joint.child, len(found)) for joint in outward)
        found.append((mover, members, mass, inertia))
        carriers.append(carrier)
    beyond = [0.0] * len(found)
    carries = [False] * len(found)
    for index in range(len(found) - 1, 0, -1):  # a body stands after its carrier, so backwards is inwards
        beyond[carriers[index]] += beyond[index] + found[index][2]
        carries[carriers[index]] = True
    return tuple(
        CompositeBody(mover, tuple(members), mass, inertia, carries[index], beyond[index])
        for index, (mover, members, mass, inertia) in enumerate(found)
    )


def inertia_in_link(inertial: UrdfInertial) -> Array:
    """(3, 3) about the centre of mass in the link frame: R I R', R from the inertial's own rpy [kg m2]."""
    inertia = np.array(inertial.inertia)
    if inertial.origin_rpy == (0.0, 0.0, 0.0):
        return inertia
    rotation = rotation_rpy(np.array(inertial.origin_rpy))
    return rotation @ inertia @ rotation.T


def _gather(
    head: str, links: Mapping[str, UrdfLink], below: Mapping[str, list[UrdfJoint]]
) -> tuple[list[UrdfLink], float, Array, list[UrdfJoint]]:
    """The links held to `head`, their mass, their inertia about its centre, and the joints that lead on."""
    members, outward = [], []
    points: list[tuple[float, Array, Array]] = []
    queue = [(head, np.eye(3), np.zeros(3))]
    while queue:
        name, rotation, translation = queue.pop()
        link = links[name]
        members.append(link)
        inertial = link.inertial
        if inertial is not None and (inertial.mass > 0.0 or any(map(any, inertial.inertia))):
            center = rotation @ inertial.origin_xyz + translation
            points.append((inertial.mass, center, rotation @ inertia_in_link(inertial) @ rotation.T))
        for joint in below.get(name, ()):
            if joint.kind == "fixed":
                offset = rotation @ joint.origin_xyz + translation
                queue.append((joint.child, rotation @ rotation_rpy(np.array(joint.origin_rpy)), offset))
            else:
                outward.append(joint)
    mass = sum(point[0] for point in points)
    common = sum((m * center for m, center, _ in points), np.zeros(3)) / mass if mass > 0.0 else np.zeros(3)
    inertia = np.zeros((3, 3))
    for m, center, own in points:
        arm = center - common
        inertia += own + m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return members, mass, inertia, outward
