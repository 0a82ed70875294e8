"""A robot as identification needs it: joints by name, a tree of bodies, nominal parameters, limits and gravity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, ModelError
from steelyard.finding import Finding
from steelyard.robot.inertia import rotation_about, transform
from steelyard.robot.tree import POSITION_BOUND, PRISMATIC, Tree, TreeJoint, build_tree

Array = NDArray[np.float64]
STANDARD_GRAVITY = (0.0, 0.0, -9.81)


@dataclass(frozen=True)
class Link:
    """A link of the model file, where it went, and its own parameters.

    Links joined by fixed joints move as one body; each keeps its own parameters here, so that what is found can be
    written back to the file it came from.

    Attributes:
        name: as in the file.
        body: index of the body it belongs to, -1 for the base.
        rotation, translation: (3, 3) and (3,) [m], the link frame in the body frame.
        parameters: (10,) about the link's own origin; None where the file has no inertial.
    """

    name: str
    body: int
    rotation: Array
    translation: Array
    parameters: Array | None


@dataclass(frozen=True)
class Axis:
    """One coordinate: what the file says of a joint.

    Attributes:
        name: of the joint.
        lower, upper: position limits [rad or m], infinite where the file has none.
        velocity, effort: limits [rad/s or m/s], [N m or N], infinite where the file has none.
        damping, friction: viscous [N m s/rad or N s/m] and Coulomb [N m or N] of the file, 0 where it has none.
        rotor_inertia: reflected [kg m2 or kg], 0 where the file has none.
        prismatic, continuous: kind of joint; revolute when neither.
    """

    name: str
    lower: float = -np.inf
    upper: float = np.inf
    velocity: float = np.inf
    effort: float = np.inf
    damping: float = 0.0
    friction: float = 0.0
    rotor_inertia: float = 0.0
    prismatic: bool = False
    continuous: bool = False

    @property
    def neutral(self) -> float:
        """Zero, or the limit nearest to zero."""
        return float(min(max(0.0, self.lower), self.upper))


@dataclass(frozen=True)
class Robot:
    """A fixed-base tree of bodies; data reach it by joint name only.

    Attributes:
        name: of the robot.
        axes: one entry a coordinate, in model order.
        joints: one entry a body, parents first (several bodies may share a coordinate: mimic joints).
        body_names: one entry a body: the link behind its joint.
        links: every link of the file.
        gravity: (3,) [m/s2] in the base frame.
        digest: SHA-256 of the model file.
        locked_at: coordinates that were frozen, and where [rad or m].
        findings: what the linter said.
    """

    name: str
    axes: tuple[Axis, ...]
    joints: tuple[TreeJoint, ...]
    body_names: tuple[str, ...]
    links: tuple[Link, ...]
    gravity: Array
    digest: str = ""
    locked_at: tuple[tuple[str, float], ...] = ()
    findings: tuple[Finding, ...] = ()

    @classmethod
    def from_urdf(
        cls,
        path: str | Path,
        *,
        gravity: Iterable[float] = STANDARD_GRAVITY,
        mimic: Literal["lock", "project"] = "lock",
    ) -> Robot:
        """Load a URDF behind the linter.

        Args:
            path: the file.
            mimic: lock joints that mimic another at the position their equation gives at neutral, or project them on
                the coordinate they follow.
            gravity: (3,) [m/s2] in the frame of the root link; a robot on a wall or ceiling has another one.

        Raises:
            ModelError: the file cannot be read, or says something that cannot be a robot; names link, line and cure.
        """
        from steelyard.robot.load import load_urdf

        return load_urdf(Path(path), gravity=tuple(gravity), mimic=mimic)

    @classmethod
    def from_joints(cls, joint_names: Iterable[str]) -> Robot:
        """Joints without any bodies: for models made of joint terms alone."""
        return cls("joints", tuple(Axis(name) for name in joint_names), (), (), (), np.array(STANDARD_GRAVITY))

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the n coordinates, in model order."""
        return tuple(axis.name for axis in self.axes)

    @property
    def prismatic(self) -> tuple[bool, ...]:
        """For each coordinate whether it is a length."""
        return tuple(axis.prismatic for axis in self.axes)

    @property
    def continuous(self) -> tuple[bool, ...]:
        """For each coordinate whether it turns without end."""
        return tuple(axis.continuous for axis in self.axes)

    @property
    def lower(self) -> Array:
        """(n,) lower position limits [rad or m]."""
        return np.array([axis.lower for axis in self.axes])

    @property
    def upper(self) -> Array:
        """(n,) upper position limits [rad or m]."""
        return np.array([axis.upper for axis in self.axes])

    @property
    def velocity_limit(self) -> Array:
        """(n,) [rad/s or m/s]."""
        return np.array([axis.velocity for axis in self.axes])

    @property
    def effort_limit(self) -> Array:
        """(n,) [N m or N]."""
        return np.array([axis.effort for axis in self.axes])

    @property
    def rotor_inertia(self) -> Array:
        """(n,) reflected rotor inertia of the file [kg m2 or kg]; never part of the rigid-body columns."""
        return np.array([axis.rotor_inertia for axis in self.axes])

    @property
    def damping(self) -> Array:
        """(n,) viscous friction of the file [N m s/rad or N s/m]."""
        return np.array([axis.damping for axis in self.axes])

    @property
    def friction(self) -> Array:
        """(n,) Coulomb friction of the file [N m or N]."""
        return np.array([axis.friction for axis in self.axes])

    @cached_property
    def tree(self) -> Tree:
        """The bodies as arrays for the kernel."""
        return build_tree(self.joints, self.gravity, len(self.axes))

    @cached_property
    def parameters(self) -> Array:
        """(10 N,) nominal parameters of the bodies, links joined by fixed joints added up."""
        total = np.zeros((len(self.joints), 10))
        for link in self.links:
            if link.body >= 0 and link.parameters is not None:
                total[link.body] += transform(link.parameters, link.rotation, link.translation)
        return total.ravel()

    @property
    def moving_mass(self) -> float:
        """Nominal mass of all moving bodies [kg]."""
        return float(self.parameters[::10].sum())

    @cached_property
    def moving_rows(self) -> tuple[tuple[int, ...], ...]:
        """For each body the coordinates that move it."""
        tree = self.tree
        return tuple(
            tuple(sorted(int(r) for r in tree.pair_row[tree.pair_start[i] : tree.pair_start[i + 1]]))
            for i in range(len(self.joints))
        )

    def positions(self, trajectory: Trajectory) -> Array:
        """(T, n) positions in model order, as the kernel reads them.

        Raises:
            DataError: a joint is missing, or turns further than the kernel's sine is exact for.
        """
        q = trajectory.ordered(self.joint_names).channel("q")
        if q.size and np.abs(q).max() > POSITION_BOUND:
            row, column = np.unravel_index(np.argmax(np.abs(q)), q.shape)
            raise DataError(
                f"position beyond {POSITION_BOUND:g}",
                where=f"{trajectory.name}, joint {self.joint_names[column]}, sample {row}",
                value=float(q[row, column]),
                cure="give positions in rad (or m); state another unit in the study file",
            )
        return q

    def locked(self, joints: Iterable[str] | Mapping[str, float]) -> Robot:
        """Freeze coordinates: their bodies become part of the body before them.

        Args:
            joints: names, held at their neutral position (zero, or the limit nearest to it); or names with
                positions [rad or m].

        Raises:
            ModelError: a name that is not a joint (one that is locked already may be named again without position).
        """
        at = dict(joints) if isinstance(joints, Mapping) else dict.fromkeys(joints)
        robot = self
        for name, position in at.items():
            if position is None and name in dict(self.locked_at):
                continue
            if name not in robot.joint_names:
                raise ModelError("not a joint of the robot", where=self.name, value=name, choices=robot.joint_names)
            axis = robot.axes[robot.joint_names.index(name)]
            robot = _without(robot, axis, axis.neutral if position is None else float(position))
        return robot

    def for_joints(self, joint_names: Iterable[str], *, where: str = "recording") -> Robot:
        """The robot with the joints that a recording lacks locked at neutral.

        Raises:
            DataError: the recording has a joint that the robot has not, or none of its joints.
        """
        recorded = tuple(joint_names)
        unknown = [name for name in recorded if name not in self.joint_names]
        if unknown:
            raise DataError(
                "the recording has a joint that the robot has not",
                where=where,
                value=unknown[0],
                choices=self.joint_names,
                cure="name the columns after the joints of the model, or map them in the study file",
            )
        return self.locked([name for name in self.joint_names if name not in recorded])


def _without(robot: Robot, axis: Axis, position: float) -> Robot:
    """Merge every body that `axis` drives into its parent, with the joint at `position`."""
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
