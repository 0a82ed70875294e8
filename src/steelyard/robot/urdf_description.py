"""What a URDF says about dynamics, as typed values: links with inertials, joints with axes and limits, one tree.

An MJCF is told in the same words, so that one linter and one loader serve both; what URDF has no word for comes last
in each value, with a default.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Vector3 = tuple[float, float, float]
Matrix3 = tuple[Vector3, Vector3, Vector3]

MOVING_KINDS = ("revolute", "continuous", "prismatic")
KINDS = (*MOVING_KINDS, "fixed", "floating")


@dataclass(frozen=True)
class UrdfInertial:
    """The ``<inertial>`` of a link.

    Attributes:
        mass: [kg], never negative.
        origin_xyz: centre of mass in the link frame [m].
        origin_rpy: fixed-axis roll, pitch, yaw of the inertia frame in the link frame [rad].
        inertia: 3 x 3 symmetric, about the centre of mass, in the inertia frame [kg m2].
        line: line of the file.
    """

    mass: float
    origin_xyz: Vector3
    origin_rpy: Vector3
    inertia: Matrix3
    line: int


@dataclass(frozen=True)
class Ball:
    """A ball around a geometric primitive: centre in the link frame [m] and radius [m]."""

    center: Vector3
    radius: float


@dataclass(frozen=True)
class UrdfLink:
    """A link: its name, line, inertial (None where the file has none) and what its geometry tells without meshes.

    `balls` enclose the primitives of the collision geometry (or, without one, of the visual geometry), and are empty
    where there is none or where a mesh is part of it.

    "The link frame" here is the frame of the joint that moves it. An MJCF may put a joint elsewhere in the body:
    `offset` is the origin of the body's own frame, whose axes are the same, in the link frame [m]. Several joints in
    one MJCF body have links between them that are no bodies of their own: `stand_in`.
    """

    name: str
    line: int
    inertial: UrdfInertial | None
    balls: tuple[Ball, ...] = ()
    offset: Vector3 = (0.0, 0.0, 0.0)
    stand_in: bool = False


@dataclass(frozen=True)
class UrdfMimic:
    """Position = multiplier * position of `joint` + offset [rad or m]."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class UrdfJoint:
    """A joint.

    Attributes:
        name, line: as in the file.
        kind: one of ``KINDS``.
        parent, child: names of links.
        origin_xyz, origin_rpy: joint frame in the parent link frame [m], fixed-axis roll, pitch, yaw [rad].
        axis: unit vector in the joint frame (normalised; (1, 0, 0) where the file has none).
        lower, upper: position limits [rad or m]; None where absent.
        velocity, effort: limits [rad/s or m/s], [N m or N]; None where absent.
        damping, friction: viscous [N m s/rad or N s/m] and Coulomb [N m or N]; None where absent, which is not 0.
        mimic: the joint that this one follows, or None.
        armature: reflected rotor inertia [kg m2 or kg]; None where absent (a URDF has no field for it).
        reference: reading of the joint in the pose that the origin describes [rad or m].
    """

    name: str
    line: int
    kind: str
    parent: str
    child: str
    origin_xyz: Vector3
    origin_rpy: Vector3
    axis: Vector3
    lower: float | None
    upper: float | None
    velocity: float | None
    effort: float | None
    damping: float | None
    friction: float | None
    mimic: UrdfMimic | None
    armature: float | None = None
    reference: float = 0.0

    @property
    def moves(self) -> bool:
        """Whether the joint has one degree of freedom (a mimicking joint has, until it is locked)."""
        return self.kind in MOVING_KINDS


@dataclass(frozen=True)
class UrdfDescription:
    """A robot that passed the linter: unique names, one tree, finite numbers.

    Attributes:
        name: of the robot, empty where the file has none.
        links, joints: in file order.
        root: name of the link that no joint moves.
        digest: SHA-256 of the file's bytes, hexadecimal.
        gravity: (3,) in the frame of the root link [m/s2]; None where the file has none.
        format: of the file.
    """

    name: str
    links: tuple[UrdfLink, ...]
    joints: tuple[UrdfJoint, ...]
    root: str
    digest: str
    gravity: Vector3 | None = None
    format: Literal["urdf", "mjcf"] = "urdf"
