"""Torque channels without a signal: zero or constant throughout, or nothing where gravity must be felt."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.rigid_body import RigidBody

Array = NDArray[np.float64]
NO_TORQUE = 0.01  # of the gravity torque expected: what is left is noise of a channel without signal
EXPECTED = 0.5  # [N m or N] of gravity that must show
POSES = 2000  # looked at


def zero_torque_findings(trajectory: Trajectory, robot: Robot | None = None) -> list[Finding]:
    """Torque that is zero throughout, constant, or nothing where gravity must be felt."""
    tau = trajectory.channel("tau")
    zero = [joint for j, joint in enumerate(trajectory.joint_names) if not tau[:, j].any()]
    constant = [
        joint
        for j, joint in enumerate(trajectory.joint_names)
        if joint not in zero and len(tau) > 2 and np.ptp(tau[:, j]) == 0.0
    ]
    silent = [] if robot is None else _silent(trajectory, robot, zero)
    findings = []
    if zero:
        findings.append(
            Finding(
                "data.torque_zero",
                "error",
                f"the torque of {_listed(zero, trajectory)} is zero in every sample",
                _listed(zero, trajectory),
                0.0,
                "the driver does not fill in this signal: record torque or motor current, or leave the joint out",
            )
        )
    if silent:
        joint, size, expected = max(silent, key=lambda item: item[2])
        findings.append(
            Finding(
                "data.torque_zero",
                "error",
                f"the torque of {', '.join(item[0] for item in silent)} never exceeds {size:.3g} N m under gravity: "
                f"{joint} alone should hold {expected:.3g} N m",
                joint,
                size,
                "find out what the driver publishes as effort; zero under gravity is no joint torque",
            )
        )
    if constant:
        findings.append(
            Finding(
                "data.torque_constant",
                "error",
                f"the torque of {_listed(constant, trajectory)} has one value in every sample",
                _listed(constant, trajectory),
                float(tau[0, trajectory.joint_names.index(constant[0])]),
                "a measured torque is never constant: check the driver and the export",
            )
        )
    return findings


def _silent(trajectory: Trajectory, robot: Robot, zero: list[str]) -> list[tuple[str, float, float]]:
    """(joint, largest torque, gravity torque expected) where there is next to no torque but gravity."""
    gravity = np.abs(gravity_torque(robot, trajectory)).max(axis=0)
    size = np.abs(trajectory.ordered(robot.joint_names).channel("tau")).max(axis=0)
    return [
        (joint, float(s), float(g))
        for joint, s, g in zip(robot.joint_names, size, gravity, strict=True)
        if joint not in zero and g > EXPECTED and s < NO_TORQUE * g
    ]


def gravity_torque(robot: Robot, trajectory: Trajectory, *, most: int = POSES) -> Array:
    """(K, n) gravity torque of the model file at up to `most` positions of the recording, joints in the robot's order.

    Args:
        robot: with a fixed base and the joints of the recording.
        trajectory: with q.
        most: positions, evenly picked.

    Returns:
        [N m or N].
    """
    model = Model(robot, (RigidBody(),))
    ordered = trajectory.ordered(robot.joint_names)
    rows = np.linspace(0, len(ordered) - 1, min(len(ordered), most)).astype(int)
    q = ordered.channel("q")[rows]
    still = np.zeros_like(q)
    poses = Trajectory(np.arange(rows.size, dtype=np.float64), robot.joint_names, q=q, dq=still, ddq=still)
    return model.torque(model.nominal, poses)


def _listed(joints: list[str], trajectory: Trajectory) -> str:
    return "all joints" if len(joints) == len(trajectory.joint_names) > 1 else ", ".join(joints)
