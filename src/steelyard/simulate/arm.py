"""The arm to simulate: a MuJoCo model that has passed our checks, with what a motion needs to know of it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import ModelError, SteelyardError
from steelyard.simulate.reference import MotionLimits

if TYPE_CHECKING:
    import mujoco

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Arm:
    """A chain or tree of hinges and slides, one a body.

    Attributes:
        model: the MuJoCo model (MuJoCo owns it and can change it).
        joint_names: n names in MuJoCo's order.
        limits: of the joints, about the home pose.
        force: (n, 2) least and greatest actuator torque [N m or N].
        prismatic: (n,) which joints are slides.
        label: name of the file, for messages.
    """

    model: mujoco.MjModel
    joint_names: tuple[str, ...]
    limits: MotionLimits
    force: Array
    prismatic: NDArray[np.bool_]
    label: str


def import_mujoco() -> ModuleType:
    """The package mujoco; raises SteelyardError with the cure where it is not installed."""
    try:
        import mujoco
    except ImportError as problem:
        raise SteelyardError("simulation needs MuJoCo", cure="pip install steelyard[sim]") from problem
    return mujoco


def load_arm(path: str | Path) -> Arm:
    """Read an MJCF file.

    Args:
        path: of a file as `steelyard.simulate.mujoco.simulate_run` describes it.

    Raises:
        ModelError: the file cannot be read, or is not such an arm.
        SteelyardError: MuJoCo is not installed.
    """
    mj = import_mujoco()
    label = str(path)
    if not os.path.isfile(path):
        raise ModelError("no such model file", where=label)
    try:
        model = mj.MjModel.from_xml_path(label)
    except ValueError as problem:
        raise ModelError("MuJoCo cannot read the model", where=label, value=str(problem)) from problem
    prismatic = model.jnt_type == int(mj.mjtJoint.mjJNT_SLIDE)
    hinged = model.jnt_type == int(mj.mjtJoint.mjJNT_HINGE)
    names = tuple(model.joint(j).name for j in range(model.njnt))
    _check_joints(model, names, prismatic | hinged, label)
    home = mj.mj_name2id(model, mj.mjtObj.mjOBJ_KEY, "home")
    pose = None if home < 0 else model.key_qpos[home].copy()
    rates = [_numeric(mj, model, f"{kind}_limit", label) for kind in ("velocity", "acceleration")]
    span, centre = _span(model, names, prismatic, pose, label)
    limits = MotionLimits(centre, span[:, 0], span[:, 1], *rates)
    force = np.where(model.jnt_actfrclimited[:, None] > 0, model.jnt_actfrcrange, [-np.inf, np.inf])
    return Arm(model, names, limits, force, prismatic, label)


def _check_joints(model: mujoco.MjModel, names: Sequence[str], simple: NDArray[np.bool_], label: str) -> None:
    if not names:
        raise ModelError("the model has no joint", where=label)
    if model.neq:
        raise ModelError("loops closed by equality constraints are not simulated", where=label, value=model.neq)
    for j, name in enumerate(names):
        where = f"{label}, joint {name or j}"
        if not name:
            raise ModelError("a joint has no name", where=where, cure="name every joint: signals travel by name")
        if not simple[j]:
            raise ModelError("only hinges and slides are simulated", where=where, choices=("hinge", "slide"))
        if model.body_jntnum[model.jnt_bodyid[j]] != 1:
            raise ModelError("a body has more than one joint", where=where, cure="give each joint a body of its own")


def _span(
    model: mujoco.MjModel, names: Sequence[str], prismatic: NDArray[np.bool_], home: Array | None, label: str
) -> tuple[Array, Array]:
    """Range (n, 2) and the pose (n,) inside it to move about; a hinge without a range gets half a turn each way."""
    limited = model.jnt_limited.astype(bool)
    for j in map(int, np.flatnonzero(prismatic & ~limited)):
        raise ModelError("a slide has no range", where=f"{label}, joint {names[j]}", cure='range="lower upper"')
    free = np.zeros(len(names)) if home is None else home
    span = np.where(limited[:, None], model.jnt_range, free[:, None] + np.array([-np.pi, np.pi]))
    centre = span.mean(1) if home is None else home
    for j in map(int, np.flatnonzero((centre <= span[:, 0]) | (centre >= span[:, 1]))):
        raise ModelError(
            "the pose to move about must lie inside the range",
            where=f"{label}, joint {names[j]}",
            value=f"{centre[j]:g} in {span[j, 0]:g} .. {span[j, 1]:g}",
        )
    return span, centre


def _numeric(mj: ModuleType, model: mujoco.MjModel, name: str, label: str) -> Array:
    found = mj.mj_name2id(model, mj.mjtObj.mjOBJ_NUMERIC, name)
    values = np.array([]) if found < 0 else np.array(model.numeric(name).data)
    if values.size != model.njnt or not (np.isfinite(values).all() and (values > 0).all()):
        raise ModelError(
            f"the model needs {name}: one positive value per joint",
            where=label,
            value=values.tolist(),
            cure=f'<custom><numeric name="{name}" data="{" ".join(["2"] * model.njnt)}"/></custom>',
        )
    return values
