"""Friction that grows with the load on the joint, as in gears."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.data.trajectory import Trajectory
from steelyard.robot.robot import Robot
from steelyard.terms.term import Array, Column, joint_columns, selected


@dataclass(frozen=True)
class LoadFriction:
    """`tau_j = fl_j |tau_rigid,j| sign(dq_j)`, with the torque of the rigid bodies as the load.

    The load is that of the parameters given, not the measured torque: that has the friction and its own noise in it.
    Source: Bittencourt & Gunnarsson, Static friction in a robot joint, 2012; Hamon, Gautier & Garrec, 2010.

    Attributes:
        joints: names of the joints that have it; None for all.
        parameters: (10 N,) of the bodies, e.g. of an earlier fit; None for the model file's.
    """

    joints: tuple[str, ...] | None = None
    parameters: tuple[float, ...] | None = None

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        """One column a joint, newton metre of friction per newton metre of load."""
        return joint_columns(robot, self.joints, "load_friction", ("N m/(N m)", "N/N"), nonnegative=True)

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        """(T, k) size of the load, with the sign of the motion."""
        from steelyard.robot.rigid_torque import rigid_torque

        joints = selected(robot, self.joints)
        given = None if self.parameters is None else np.array(self.parameters)
        load = rigid_torque(robot, trajectory, given)[:, joints]
        return np.abs(load) * np.sign(trajectory.channel("dq")[:, joints])
