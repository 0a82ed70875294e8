"""A robot as identification needs it: joints by name, a tree of bodies, nominal parameters, limits and gravity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, ModelError
from steelyard.finding import Finding
from steelyard.robot.floating import with_base_rates, with_orientation
from steelyard.robot.inertia import transform
from steelyard.robot.locking import without
from steelyard.robot.tree import FLOATING, POSITION_BOUND, Tree, TreeJoint, build_tree

Array = NDArray[np.float64]
STANDARD_GRAVITY = (0.0, 0.0, -9.81)
BASE_ROWS = tuple(f"base/{kind}_{axis}" for kind in ("force", "torque") for axis in "xyz")


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
    """A tree of bodies; data reach it by joint name only.

    The equations of motion have a row for each coordinate; where the base floats, six rows come before them: force [N]
    and torque [N m] on the base, along the axes of its own frame and about its origin. Base motion: `BaseMotion`.

    Attributes:
        name: of the robot.
        axes: one entry a coordinate, in model order.
        joints: one entry a body, parents first (several bodies may share a coordinate: mimic joints).
        body_names: one entry a body: the link behind its joint; the first is the base, where that floats.
        links: every link of the file.
        gravity: (3,) [m/s2] in the base frame; in the world frame where the base floats.
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
    def from_file(
        cls,
        path: str | Path,
        *,
        gravity: Iterable[float] | None = None,
        mimic: Literal["lock", "project"] = "lock",
        floating: bool | None = None,
    ) -> Robot:
        """Load a URDF or an MJCF behind the linter; which of them it is, the root element says.

        Args:
            path: the file.
            gravity: (3,) [m/s2] in the frame of the root link (a robot on a wall or ceiling has another one), or of
                the world where the base floats; None for that of the file, 9.81 downwards where it has none.
            mimic: lock joints that follow another (URDF mimic, MJCF equality) at the position their equation gives
                at neutral, or project them on the coordinate they follow.
            floating: whether the base floats; None for what the file says (a floating or free joint at its root).
                A URDF without such a joint can float by its root link.

        Raises:
            ModelError: the file cannot be read, or says something that cannot be a robot; names link, line and cure.
        """
        from steelyard.robot.load import load_model

        return load_model(Path(path), gravity=_triple(gravity), mimic=mimic, floating=floating)

    @classmethod
    def from_urdf(
        cls,
        path: str | Path,
        *,
        gravity: Iterable[float] | None = None,
        mimic: Literal["lock", "project"] = "lock",
        floating: bool | None = None,
    ) -> Robot:
        """Load a URDF behind the linter; arguments and errors as of `from_file`."""
        from steelyard.robot.load import load_urdf

        return load_urdf(Path(path), gravity=_triple(gravity), mimic=mimic, floating=floating)

    @classmethod
    def from_mjcf(
        cls,
        path: str | Path,
        *,
        gravity: Iterable[float] | None = None,
        mimic: Literal["lock", "project"] = "lock",
        floating: bool | None = None,
    ) -> Robot:
        """Load an MJCF behind the linter; arguments and errors as of `from_file`."""
        from steelyard.robot.load import load_mjcf

        return load_mjcf(Path(path), gravity=_triple(gravity), mimic=mimic, floating=floating)

    @classmethod
    def from_joints(cls, joint_names: Iterable[str]) -> Robot:
        """Joints without any bodies, for models made of joint terms alone; raises ModelError for a name twice."""
        names = tuple(joint_names)
        if len(set(names)) != len(names):
            raise ModelError("joint names must be unique", value=names)
        return cls("joints", tuple(Axis(name) for name in names), (), (), (), np.array(STANDARD_GRAVITY))

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the n coordinates, in model order."""
        return tuple(axis.name for axis in self.axes)

    @property
    def floating(self) -> bool:
        """Whether the base moves freely."""
        return bool(self.joints) and self.joints[0].kind == FLOATING

    @property
    def base_rows(self) -> int:
        """Number of rows before those of the joints: six where the base floats, else none."""
        return 6 if self.floating else 0

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows of the equations of motion: base/force_x ... base/torque_z if it floats, then joints."""
        return BASE_ROWS[: self.base_rows] + self.joint_names

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
        """For each body the rows (indices into row_names) that move it."""
        return self.tree.rows_of_bodies(turning=False)

    @cached_property
    def turning_rows(self) -> tuple[tuple[int, ...], ...]:
        """For each body the rows that turn it: only their torque depends on its inertia about its frame."""
        return self.tree.rows_of_bodies(turning=True)

    def positions(self, trajectory: Trajectory) -> Array:
        """(T, n) positions in model order, as the kernel reads them; of a floating base the quaternion goes before.

        Raises:
            DataError: a joint is missing, or turns further than the kernel's sine is exact for; a base that floats
                without a motion, or moves although the robot's is fixed.
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
        return with_orientation(trajectory, q, floating=self.floating)

    def rates(self, trajectory: Trajectory) -> tuple[Array, Array]:
        """Velocities and accelerations of all rows, (T, base_rows + n) each, as the kernel reads them.

        Raises:
            DataError: as `positions`, or the trajectory lacks dq or ddq.
        """
        return with_base_rates(trajectory.ordered(self.joint_names), floating=self.floating)

    def locked(self, joints: Iterable[str] | Mapping[str, float]) -> Robot:
        """Freeze coordinates: their bodies become part of the body before them.

        Args:
            joints: names, held at their neutral position (zero, or the limit nearest to it); or names with
                positions [rad or m].

        Raises:
            ModelError: a name that is not a joint (one that is locked already may be named again, without position or
                with the same).
        """
        at = dict(joints) if isinstance(joints, Mapping) else dict.fromkeys(joints)
        robot = self
        for name, position in at.items():
            if position is not None and not np.isfinite(position):
                raise ModelError("a joint is locked at a finite position", where=name, value=position)
            held = dict(self.locked_at)
            if name in held and position in (None, held[name]):
                continue
            if name not in robot.joint_names:
                raise ModelError("not a joint of the robot", where=self.name, value=name, choices=robot.joint_names)
            axis = robot.axes[robot.joint_names.index(name)]
            robot = without(robot, axis, axis.neutral if position is None else float(position))
        return robot

    def for_joints(self, joint_names: Iterable[str], *, where: str = "recording") -> Robot:
        """The robot with the joints that a recording lacks locked at neutral.

        Raises:
            DataError: the recording has a joint that the robot has not, or none of its joints.
        """
        recorded = tuple(joint_names)
        if not recorded:
            raise DataError("the recording has no joint", where=where, choices=self.joint_names)
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

    def chain(self, tip: str) -> Robot:
        """The sub-chain that ends in a link: every coordinate that does not move that link is locked at neutral.

        What hangs on the chain stays on it, as mass of its bodies; lock joints elsewhere with `locked` before.

        Raises:
            ModelError: no link of that name.
        """
        links = {link.name: link for link in self.links}
        if tip not in links:
            raise ModelError("not a link of the robot", where=self.name, value=tip, choices=tuple(links))
        body = links[tip].body
        moving = self.moving_rows[body] if body >= 0 else ()
        return self.locked([name for j, name in enumerate(self.joint_names) if j + self.base_rows not in moving])


STRONGEST_GRAVITY = 1000.0  # [m/s2]; on the Sun it is 274


def _triple(gravity: Iterable[float] | None) -> tuple[float, ...] | None:
    given = None if gravity is None else tuple(gravity)
    if given is not None and not all(abs(g) <= STRONGEST_GRAVITY for g in given):
        raise ModelError(
            f"gravity must be finite and at most {STRONGEST_GRAVITY:g} m/s2", value=given,
            cure="give m/s2 in the frame of the root link, for example 0 0 -9.81",
        )  # fmt: skip
    return given
