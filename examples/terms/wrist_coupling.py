"""A term of one's own in one file: the wrist of the Staubli TX40, where one motor turns joint 5 and 6 together.

The third actuator of such a wrist turns with the sum of both speeds, and what it needs is felt at both joints:

    tau_5 += Ia (ddq_5 + ddq_6) + fv (dq_5 + dq_6) + fc sign(dq_5 + dq_6), and the same on tau_6.

Use: `steelyard identify ... --term rigid_body rotor_inertia viscous coulomb offset wrist_coupling:wrist`, with the
folder of this file on PYTHONPATH.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard import Column, Robot, Trajectory


@dataclass(frozen=True)
class WristCoupling:
    """Rotor inertia, viscous and Coulomb friction of the sum of two joint speeds, acting on both joints."""

    first: str
    second: str

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        """Three columns, each with an effect on both joints."""
        both = (robot.joint_names.index(self.first), robot.joint_names.index(self.second))
        name = f"coupling/{self.first}+{self.second}"
        return (
            Column(f"{name}/rotor_inertia", "kg m2", both, nonnegative=True),
            Column(f"{name}/viscous_friction", "N m s/rad", both, nonnegative=True),
            Column(f"{name}/coulomb_friction", "N m", both, nonnegative=True),
        )

    def block(self, robot: Robot, trajectory: Trajectory) -> np.ndarray:
        """(T, n, 3) torque per unit parameter."""
        both = [robot.joint_names.index(self.first), robot.joint_names.index(self.second)]
        speed = trajectory.channel("dq")[:, both].sum(axis=1)
        acceleration = trajectory.channel("ddq")[:, both].sum(axis=1)
        block = np.zeros((len(trajectory), len(robot.joint_names), 3))
        block[:, both] = np.column_stack([acceleration, speed, np.sign(speed)])[:, None]
        return block


wrist = WristCoupling("joint_5", "joint_6")
