"""Nominal torque of a motion, and a bound on how fast it can change between two instants at which it was computed.

The bound follows Newton and Euler's recursion with lengths in place of vectors: for each body the largest angular
velocity, angular acceleration, acceleration and their rates, then the forces and moments they need, carried back to
the base. A component of a vector in the frame of a joint that turns at v changes by its own rate and by v times its
length. Nothing is lost but tightness, which a finer grid buys back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.excite.cells import Cells
from steelyard.excite.fourier import Kinematics
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.robot.tree import PRISMATIC, Tree
from steelyard.terms.rigid_body import RigidBody

Array = NDArray[np.float64]
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
    q, dq, ddq, _ = cells.center
    middle = Trajectory(
        time=cells.middle, joint_names=robot.joint_names, q=q, dq=dq, ddq=ddq, source="certificate", name="motion"
    )
    bodies = Model(robot, (RigidBody(),)).torque(nominal.parameters, middle)
    most = cells.most
    drive = nominal.viscous * most.dq + nominal.rotor * most.ddq + nominal.coulomb + np.abs(nominal.offset)
    return np.abs(bodies) + cells.half[:, None] * rate_bound(robot, most, nominal.parameters) + np.abs(drive)


@dataclass(frozen=True)
class _Motion:
    """Bounds of one body, each (M,): lengths of w, a, d of `robot/motion.py` and of the rates of a and d."""

    w: Array
    a: Array
    a_rate: Array
    d: Array
    d_rate: Array


def rate_bound(robot: Robot, most: Kinematics, parameters: Array) -> Array:
    """(M, n) bound of the rate of the bodies' torque [N m/s or N/s] in motions whose values are below `most`."""
    tree = robot.tree
    zero = np.zeros(len(most.q))
    base = _Motion(zero, zero, zero, zero + np.linalg.norm(tree.base_acceleration), zero)
    motions: list[_Motion] = []
    for i in range(tree.bodies):
        above = motions[tree.parent[i]] if tree.parent[i] >= 0 else base
        motions.append(_moved(tree, i, above, most))
    force, moment = np.zeros((tree.bodies, 2, len(zero))), np.zeros((tree.bodies, 2, len(zero)))
    rates = np.zeros(most.q.shape)
    for i in reversed(range(tree.bodies)):
        own_force, own_moment = _needed(motions[i], parameters[10 * i : 10 * i + 10])
        force[i] += own_force
        moment[i] += own_moment
        prismatic, j = tree.kind[i] == PRISMATIC, int(tree.row[i])
        ratio = abs(float(tree.ratio[i]))
        rates[:, j] += ratio * (force[i, 1] if prismatic else moment[i, 1])
        if tree.parent[i] >= 0:
            speed = ratio * most.dq[:, j]
            turn, slide = (0.0, speed) if prismatic else (speed, 0.0)
            carried = force[i, 1] + turn * force[i, 0]
            lever = _lever(tree, i, most)
            force[tree.parent[i]] += np.stack([force[i, 0], carried])
            moment[tree.parent[i]] += np.stack([
                moment[i, 0] + lever * force[i, 0],
                moment[i, 1] + turn * moment[i, 0] + lever * carried + slide * force[i, 0],
            ])  # fmt: skip
    return rates


def _moved(tree: Tree, i: int, up: _Motion, most: Kinematics) -> _Motion:
    """Bounds of a body from those of the body before it."""
    j, ratio = int(tree.row[i]), abs(float(tree.ratio[i]))
    v, acc, jerk = (ratio * x[:, j] for x in (most.dq, most.ddq, most.dddq))
    lever = _lever(tree, i, most)
    origin = up.d + (up.a + up.w**2) * lever
    origin_rate = up.d_rate + (up.a_rate + 2.0 * up.w * up.a) * lever
    if tree.kind[i] == PRISMATIC:
        slid = origin + 2.0 * up.w * v + acc
        rate = origin_rate + (3.0 * up.a + up.w**2) * v + 2.0 * up.w * acc + jerk
        return _Motion(up.w, up.a, up.a_rate, slid, rate)
    return _Motion(
        w=up.w + v,
        a=up.a + up.w * v + acc,
        a_rate=up.a_rate + v * up.a + (up.a + v * up.w) * v + up.w * acc + jerk,
        d=origin,
        d_rate=origin_rate + v * origin,
    )


def _lever(tree: Tree, i: int, most: Kinematics) -> Array | float:
    """How far the joint's origin can be from that of the body before it [m]."""
    fixed = float(np.linalg.norm(tree.translation[i]))
    if tree.kind[i] != PRISMATIC:
        return fixed
    return fixed + abs(float(tree.ratio[i])) * most.q[:, int(tree.row[i])] + abs(float(tree.offset[i]))


def _needed(motion: _Motion, parameters: Array) -> tuple[Array, Array]:
    """Force and moment of one body, each with its rate, (2, M)."""
    m, first = abs(float(parameters[0])), float(np.linalg.norm(parameters[1:4]))
    xx, xy, yy, xz, yz, zz = parameters[4:]
    second = float(np.linalg.norm([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], 2))
    turning, turning_rate = motion.a + motion.w**2, motion.a_rate + 2.0 * motion.w * motion.a
    force = np.stack([m * motion.d + first * turning, m * motion.d_rate + first * turning_rate])
    moment = np.stack([second * turning + first * motion.d, second * turning_rate + first * motion.d_rate])
    return force, moment
