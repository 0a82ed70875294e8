"""What a URDF says about dynamics, as typed values: links with inertials, joints with axes and limits, one tree."""

from __future__ import annotations

from dataclasses import dataclass

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
    """

    name: str
    line: int
    inertial: UrdfInertial | None
    balls: tuple[Ball, ...] = ()


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
    """

    name: str
    links: tuple[UrdfLink, ...]
    joints: tuple[UrdfJoint, ...]
    root: str
    digest: str
