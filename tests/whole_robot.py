"""Pinocchio's inverse dynamics of a whole model file, base fixed or free, for a robot that has some joints locked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin

import robots
from steelyard.basis import random_states
from steelyard.data.trajectory import Trajectory
from steelyard.model import Model
from steelyard.robot.robot import Robot

State = tuple[np.ndarray, np.ndarray, np.ndarray]


def motion_of(robot: Robot, count: int = 30) -> Trajectory:
    """Random states, torques and wrenches, wilder than a robot's; with a base motion where the base floats."""
    rng = np.random.default_rng(11)
    motion = robots.states(robot.joint_names, count)
    base = random_states(Model(robot, ()), count, seed=7).base
    if base is not None:
        base = replace(base, wrench=rng.normal(size=(count, 6)))
    return replace(motion, base=base, tau=rng.normal(size=(count, len(robot.joint_names))), source="")


def oracle(path: Path, gravity: tuple[float, ...] | np.ndarray, *, floating: bool = True) -> pin.Model:
    """Pinocchio's model without the armature it makes up; every mimic joint is free in it."""
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    model = pin.buildModelFromUrdf(str(path), *root)
    model.gravity.linear = np.array(gravity)
    model.armature[:] = 0.0
    return model


def pinocchio_states(model: pin.Model, robot: Robot, motion: Trajectory) -> Iterator[State]:
    """(q, v, a) of each sample for Pinocchio, joints by name; what the robot has locked stands still."""
    free = motion.base is not None
    held = dict(robot.locked_at)
    for k in range(len(motion)):
        q, v, a = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
        if free:
            q[3:7], v[:6], a[:6] = motion.base.orientation[k], motion.base.twist[k], motion.base.acceleration[k]
        moving = {
            name: (motion.q[k, j], motion.dq[k, j], motion.ddq[k, j]) for j, name in enumerate(motion.joint_names)
        }
        for joint in range(2 if free else 1, model.njoints):
            kind, name = model.joints[joint], model.names[joint]
            x, v[kind.idx_v], a[kind.idx_v] = moving.get(name, (held.get(name, 0.0), 0.0, 0.0))
            q[kind.idx_q : kind.idx_q + kind.nq] = [x] if kind.nq == 1 else [np.cos(x), np.sin(x)]
        yield q, v, a


def pinocchio_torque(model: pin.Model, robot: Robot, motion: Trajectory) -> np.ndarray:
    """(T, rows) wrench on a free base and torque of the joints that the robot has, in its order."""
    data = model.createData()
    base = [] if motion.base is None else list(range(6))
    rows = [*base, *(model.joints[model.getJointId(name)].idx_v for name in robot.joint_names)]
    return np.array([pin.rnea(model, data, *state)[rows] for state in pinocchio_states(model, robot, motion)])
