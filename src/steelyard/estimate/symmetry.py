"""Links that are alike: the left leg is the right one in a mirror, and its joints rub as much.

With every coordinate at zero the mirror plane maps the frame of one link to that of the other by an affine T,
`x' = T x`, and `J' = T J T'`. Both are then one unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.estimate.link_map import LinkMap
from steelyard.estimate.symmetric import BASIS, vectors
from steelyard.robot.inertia import parameters_of, pseudo_inertia, rotation_about
from steelyard.robot.robot import Link, Robot
from steelyard.robot.tree import PRISMATIC, REVOLUTE

Array = NDArray[np.float64]
NEAR = 1e-3  # [m] how far apart mirrored joints may be


@dataclass(frozen=True)
class Symmetry:
    """What is alike.

    Attributes:
        links: pairs of names; of the model file, with mass.
        joints: pairs of names, whose friction and rotor inertia are the same.
        normal: axis of the base frame across the plane of the mirror.
    """

    links: tuple[tuple[str, str], ...] = ()
    joints: tuple[tuple[str, str], ...] = ()
    normal: Literal["x", "y", "z"] = "y"


def mirrored_priors(symmetry: Symmetry, links: LinkMap, robot: Robot) -> Array:
    """(L, 10) priors in which both of a pair are the mean of the two.

    Raises:
        StudyError: a link that does not move, is named twice, or is no mirror image of the other.
    """
    priors = np.array(links.priors)
    for a, b, T in _pairs(symmetry, links, robot):
        back = np.linalg.inv(T)
        mean = 0.5 * (pseudo_inertia(priors[a]) + back @ pseudo_inertia(priors[b]) @ back.T)
        priors[a], priors[b] = parameters_of(mean), parameters_of(T @ mean @ T.T)
    return priors


def tied(symmetry: Symmetry | None, links: LinkMap, robot: Robot) -> Array:
    """(u, v) E: coordinates of the map from those of what is not alike, `y = E x`; bodies come first in x too.

    The identity without symmetry. Priors must be those of `mirrored_priors`.

    Raises:
        StudyError: as there; a joint without such columns.
    """
    size = links.matrix.shape[1]
    source = np.eye(size)
    if symmetry is None:
        return source
    dropped: list[int] = []
    for a, b, T in _pairs(symmetry, links, robot):
        C_a, C_b = (np.linalg.cholesky(pseudo_inertia(links.priors[k])) for k in (a, b))
        turn = np.linalg.solve(C_b, T @ C_a)  # orthogonal, Y_b = turn Y_a turn'
        block = np.array([vectors(turn @ element @ turn.T) for element in BASIS]).T
        own, other = slice(10 * b, 10 * b + 10), slice(10 * a, 10 * a + 10)
        source[own] = 0.0
        source[own, other] = block
        dropped += range(10 * b, 10 * b + 10)
    for a, b in _scalars(symmetry, links):
        source[links.rigid + b] = 0.0
        source[links.rigid + b, links.rigid + a] = 1.0
        dropped.append(links.rigid + b)
    return np.asarray(np.delete(source, dropped, axis=1))


def _pairs(symmetry: Symmetry, links: LinkMap, robot: Robot) -> list[tuple[int, int, Array]]:
    names = [link.name for link in links.links]
    given = [name for pair in symmetry.links for name in pair]
    for name in given:
        if name not in names or given.count(name) > 1:
            raise StudyError("a pair needs two moving links with mass, each named once", value=name, choices=names)
    poses = _body_poses(robot)
    mirror = np.diag([-1.0 if axis == symmetry.normal else 1.0 for axis in "xyz"] + [1.0])
    found = []
    for pair in symmetry.links:
        a, b = (names.index(name) for name in pair)
        A, B = (poses[links.links[k].body] for k in (a, b))
        apart = float(np.linalg.norm((mirror @ A)[:3, 3] - B[:3, 3]))
        if apart > NEAR:
            raise StudyError(
                f"the joints of these links are not mirrored along {symmetry.normal}, with all joints at zero",
                where=f"links {pair[0]}, {pair[1]}", value=apart, choices=("x", "y", "z"),
                cure="give the axis across the mirror plane",
            )  # fmt: skip
        T = np.linalg.solve(B @ _placed(links.links[b]), mirror @ A @ _placed(links.links[a]))
        found.append((a, b, np.asarray(T, dtype=np.float64)))
    return found


def _scalars(symmetry: Symmetry, links: LinkMap) -> list[tuple[int, int]]:
    """Indices of columns that are the same: those of the pairs of joints that cannot be negative."""
    place = {column.name: s for s, column in enumerate(links.scalars) if column.nonnegative}
    found = []
    for first, second in symmetry.joints:
        kinds = [name.split("/", 2)[2] for name in place if name.startswith(f"actuator/{first}/")]
        others = [f"actuator/{second}/{kind}" for kind in kinds]
        if not kinds or first == second or any(name not in place for name in others):
            raise StudyError("these joints have no columns in common", value=(first, second),
                             choices=sorted({name.split("/")[1] for name in place}))  # fmt: skip
        found += [(place[f"actuator/{first}/{kind}"], place[name]) for kind, name in zip(kinds, others, strict=True)]
    return found


def _body_poses(robot: Robot) -> list[Array]:
    """(4, 4) frame of every body in that of the base (of the floating body, where there is one), coordinates at 0."""
    poses: list[Array] = []
    for joint in robot.joints:
        own = np.eye(4)
        if joint.kind in (REVOLUTE, PRISMATIC):
            turn = rotation_about(joint.axis, joint.offset) if joint.kind == REVOLUTE else np.eye(3)
            slide = joint.axis * joint.offset if joint.kind == PRISMATIC else np.zeros(3)
            own[:3, :3] = joint.rotation @ turn
            own[:3, 3] = joint.translation + joint.rotation @ slide
        poses.append(own if joint.parent < 0 else poses[joint.parent] @ own)
    return poses


def _placed(link: Link) -> Array:
    own = np.eye(4)
    own[:3, :3], own[:3, 3] = link.rotation, link.translation
    return own
