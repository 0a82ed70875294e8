"""The parameters a simulated robot really has, under the names of the regressor's columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from steelyard.simulate.arm import import_mujoco

if TYPE_CHECKING:
    import mujoco

INERTIAL = (
    "mass",
    *(f"first_moment_{axis}" for axis in "xyz"),
    *(f"inertia_{pair}" for pair in ("xx", "xy", "yy", "xz", "yz", "zz")),
)


def true_parameters(
    model: mujoco.MjModel, joint_names: Sequence[str], torque_offset: NDArray[np.float64]
) -> dict[str, float]:
    """Column name -> value, for the ten inertial numbers of every moving body and the four of every actuator.

    A body without a joint of its own is rigidly part of the body that carries it and is added to that one.
    Inertias are about the origin of the joint frame, in its axes.

    Args:
        model: the simulated robot, one joint a body.
        joint_names: names in joint order.
        torque_offset: (n,) offset of the torque sensors [N m or N].
    """
    mj = import_mujoco()
    data = mj.MjData(model)
    mj.mj_kinematics(model, data)
    truth: dict[str, float] = {}
    for joint in range(model.njnt):
        carrier = int(model.jnt_bodyid[joint])
        total = np.zeros(10)
        for body in np.flatnonzero(model.body_weldid == carrier):
            total += _inertial(model, data, joint, int(body))
        name = model.body(carrier).name
        truth |= {f"link/{name}/{part}": float(value) for part, value in zip(INERTIAL, total, strict=True)}
    for joint, name in enumerate(joint_names):
        truth[f"actuator/{name}/viscous_friction"] = float(model.dof_damping[joint])
        truth[f"actuator/{name}/coulomb_friction"] = float(model.dof_frictionloss[joint])
        truth[f"actuator/{name}/bias"] = float(torque_offset[joint])
        truth[f"actuator/{name}/rotor_inertia"] = float(model.dof_armature[joint])
    return truth


def _inertial(model: mujoco.MjModel, data: mujoco.MjData, joint: int, body: int) -> NDArray[np.float64]:
    """(10,) m, mc, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of one body about the joint's anchor, in the carrier's axes."""
    axes = data.xmat[model.jnt_bodyid[joint]].reshape(3, 3)
    mass = model.body_mass[body]
    c = axes.T @ (data.xipos[body] - data.xanchor[joint])
    principal = axes.T @ data.ximat[body].reshape(3, 3)
    about_com = principal @ np.diag(model.body_inertia[body]) @ principal.T
    inertia = about_com + mass * (c @ c * np.eye(3) - np.outer(c, c))
    return np.concatenate([[mass], mass * c, inertia[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]])
