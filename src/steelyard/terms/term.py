"""What a term is: one physical effect, linear in its columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.robot.robot import Robot

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """One linear parameter.

    Attributes:
        name: stable path, e.g. ``actuator/<joint>/viscous_friction``.
        unit: SI unit, e.g. ``N m s/rad``.
        joints: the rows of the equations of motion (indices into robot.row_names) that it can change; of a robot
            with a fixed base these are its joints, a floating base has six rows before them.
        nonnegative: whether physics forbids a negative value.
    """

    name: str
    unit: str
    joints: tuple[int, ...]
    nonnegative: bool = False


@runtime_checkable
class Term(Protocol):
    """A physical effect: `tau = sum_c block[:, :, c] theta_c`.

    Dataclass fields of a term are its nonlinear shape parameters.
    """

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        """The k parameters of this term for a robot."""

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        """Torque per unit parameter, (T, rows, k) with one row for each of robot.row_names (n joints, or six more);

        or (T, k) when each column acts on its one joint alone.
        """


def selected(robot: Robot, joints: Sequence[str] | None) -> tuple[int, ...]:
    """Indices of the named joints, all of them for None.

    Raises:
        StudyError: a name that is not a joint of the robot.
    """
    if joints is None:
        return tuple(range(len(robot.joint_names)))
    unknown = [name for name in joints if name not in robot.joint_names]
    if unknown:
        raise StudyError("not a joint of the robot", value=unknown[0], choices=robot.joint_names)
    return tuple(robot.joint_names.index(name) for name in joints)


def joint_columns(
    robot: Robot, joints: Sequence[str] | None, quantity: str, units: tuple[str, str], *, nonnegative: bool = False
) -> tuple[Column, ...]:
    """One column a joint, ``actuator/<joint>/<quantity>``; units for (revolute, prismatic) joints."""
    return tuple(
        Column(
            f"actuator/{robot.joint_names[j]}/{quantity}",
            units[int(robot.prismatic[j])],
            (robot.base_rows + j,),
            nonnegative,
        )
        for j in selected(robot, joints)
    )
