"""Nominal torque of a motion, and a bound on how fast it can change between two instants at which it was computed.

The bounds follow Newton and Euler's recursion with lengths in place of vectors (`jets`). Nothing is lost but tightness,
which a finer grid buys back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.excite.cells import Cells
from steelyard.excite.jets import torque_jets
from steelyard.excite.kinematics import Kinematics
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.rigid_body import RigidBody

Array = NDArray[np.float64]
SHORT = 1e-4  # [s] over which torque is differenced
DRIVE = ("viscous_friction", "coulomb_friction", "rotor_inertia", "bias")


@dataclass(frozen=True)
class NominalTorque:
    """Parameters that torque limits are checked with.

    Attributes:
        parameters: (10 N,) of the bodies.
        viscous, coulomb, rotor, offset: (n,) of the drives, in SI.
        ignored: columns with a value that are none of these, and hence are not in the torque.
    """

    parameters: Array
    viscous: Array
    coulomb: Array
    rotor: Array
    offset: Array
    ignored: tuple[str, ...] = ()


def nominal_torque(model: Model, theta: Array | None = None) -> NominalTorque:
    """The parameters of a model, or of its file: bodies, viscous and Coulomb friction, rotors, offsets.

    Args:
        model: robot and terms.
        theta: (p,) values of its columns; those of the model file where not given.

    Raises:
        StudyError: theta is not one finite number a column.
    """
    robot = model.robot
    n = len(robot.joint_names)
    if theta is None:
        return NominalTorque(robot.parameters, robot.damping, robot.friction, robot.rotor_inertia, np.zeros(n))
    theta = np.asarray(theta, dtype=np.float64)
    if theta.shape != (len(model.names),) or not np.isfinite(theta).all():
        raise StudyError("the parameters must be one finite number a column", value=theta.shape)
    value = dict(zip(model.names, theta.tolist(), strict=True))
    bodies = [value.pop(column.name, 0.0) for column in RigidBody().columns(robot)]
    viscous, coulomb, rotor, offset = (
        np.array([value.pop(f"actuator/{joint}/{quantity}", 0.0) for joint in robot.joint_names]) for quantity in DRIVE
    )
    ignored = tuple(name for name, v in value.items() if v != 0.0)
    return NominalTorque(np.array(bodies), viscous, coulomb, rotor, offset, ignored)


def torque_bound(robot: Robot, cells: Cells, nominal: NominalTorque) -> Array:
    """(M, n) bound of |torque| over each cell [N m or N]."""
    most = cells.most
    middle = _bodies(robot, cells.middle, cells.center, nominal)
    rate = torque_jets(robot, most.q, most[1:], nominal.parameters)[1]
    drive = nominal.viscous * most.dq + nominal.rotor * most.ddq + nominal.coulomb + np.abs(nominal.offset)
    return np.abs(middle) + cells.half[:, None] * rate + np.abs(drive)


def torque_rate_bound(robot: Robot, cells: Cells, nominal: NominalTorque) -> Array:
    """(M, n) bound of the rate of torque over each cell [N m/s or N/s], without the jumps of dry friction.

    The rate in the middle of a cell is that of the motion with the jerk of the middle, which is differenced over
    +-SHORT; what the difference leaves out is `SHORT^2 / 6` times the third derivative. Over the rest of the cell the
    rate changes by no more than h times the second derivative, to which the jerk adds as if it changed evenly.
    """
    t, zero = SHORT, np.zeros_like(cells.center.q)
    fore, back = _ahead(cells.center, t), _ahead(cells.center, -t)
    along = _ahead(Kinematics(*map(np.abs, cells.center)), t)
    left_out = torque_jets(robot, along.q, (*along[1:], zero, zero), nominal.parameters)[3]
    change = _bodies(robot, cells.middle, fore, nominal) - _bodies(robot, cells.middle, back, nominal)
    half = cells.half[:, None]
    most, jerk = cells.most, cells.center.dddq
    uneven = np.maximum(cells.high.dddq - jerk, jerk - cells.low.dddq) / half
    bend = torque_jets(robot, most.q, (*most[1:], uneven), nominal.parameters)[2]
    bodies = np.abs(change) / (2.0 * t) + t**2 / 6.0 * left_out + half * bend
    return bodies + np.abs(nominal.viscous) * most.ddq + np.abs(nominal.rotor) * most.dddq


def _ahead(at: Kinematics, s: float) -> Kinematics:
    """The motion a time s [s] later, if its jerk stays as it is."""
    q, dq, ddq, dddq = at
    return Kinematics(
        q + s * dq + s**2 / 2 * ddq + s**3 / 6 * dddq, dq + s * ddq + s**2 / 2 * dddq, ddq + s * dddq, dddq
    )


def _bodies(robot: Robot, times: Array, at: Kinematics, nominal: NominalTorque) -> Array:
    """(M, n) torque of the rigid bodies."""
    motion = Trajectory(
        time=times, joint_names=robot.joint_names, q=at.q, dq=at.dq, ddq=at.ddq, source="certificate", name="motion"
    )
    return Model(robot, (RigidBody(),)).torque(nominal.parameters, motion)
