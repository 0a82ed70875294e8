"""Stages of an identification: which parameters an experiment may settle, and its data.

Gravity shows at rest, friction at steady speed, one joint alone while the others stand still. A stage frees the
parameters its experiment was made for; the others keep what earlier stages, or the model file, say of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.estimate.training import DEAD_BAND, Recording, training_blocks, worth_fitting
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.preparation.pipeline import Prepared, prepare_recording
from steelyard.suggest import did_you_mean

PARTS = ("gravity", "friction", "inertia", "all")


@dataclass(frozen=True)
class Preparation:
    """How recordings are made ready, as for `identify`."""

    cutoff: float | Mapping[str, float] | None = None
    use_recorded_dq: bool | None = None
    decimate_by: int | None = None
    dead_band: float = DEAD_BAND
    exclude: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Stage:
    """One experiment.

    Attributes:
        name: for messages.
        blocks: information of the base columns over consecutive stretches, ten or more; see `training_blocks`.
        free: base parameters that it may settle.
        prepared: the recordings as they were fitted.
    """

    name: str
    blocks: tuple[SquareRootInformation, ...]
    free: tuple[str, ...]
    prepared: tuple[Prepared, ...] = ()


def stage_columns(model: Model, basis: ParameterBasis, part: str) -> tuple[str, ...]:
    """Base parameters of a kind.

    Args:
        model: robot and terms.
        basis: its base parameters.
        part: ``gravity`` (masses, first moments and torque offsets), ``friction`` (all of the actuators but rotor
            inertia), ``inertia`` (of links and rotors), ``all``, or the name of a joint: its actuator and the body
            behind it.

    Raises:
        StudyError: another word.
    """
    joints = model.robot.joint_names
    if part in joints:
        axis = joints.index(part)
        bodies = {model.robot.body_names[k] for k, joint in enumerate(model.robot.joints) if joint.dof == axis}
        owners = {f"actuator/{part}", *(f"link/{body}" for body in bodies)}
        return tuple(name for name in basis.names if name.rsplit("/", 1)[0] in owners)
    if part not in PARTS:
        raise StudyError("not a part of a model", value=part, choices=(*PARTS, *joints),
                         cure=did_you_mean(part, (*PARTS, *joints), otherwise="see stage_columns"))  # fmt: skip
    return tuple(name for name in basis.names if part == "all" or part in _kinds(name))


def stage_of(
    model: Model,
    basis: ParameterBasis,
    part: str,
    recordings: Sequence[Recording],
    *,
    name: str = "",
    preparation: Preparation | None = None,
) -> Stage:
    """A stage from recordings.

    Args:
        model: robot and terms.
        basis: its base parameters.
        part: see `stage_columns`. Of a joint only its own rows are used; for gravity only rest counts, where neither
            inertia nor speed act; otherwise slow rows do not, since friction has no direction there.
        recordings: with torque.
        name: for messages; the part when empty.
        preparation: None for what is chosen from each recording.

    Raises:
        StudyError: an unknown part.
        DataError: no recording, or nothing left of one.
    """
    free, how = stage_columns(model, basis, part), preparation or Preparation()
    if not recordings:
        raise DataError("there is no recording to fit", where=f"stage {name or part}", cure="name at least one file")
    prepared, fitted = [], []
    for recording in recordings:
        ready = prepare_recording(
            recording.trajectory, model.robot, cutoff=how.cutoff, use_recorded_dq=how.use_recorded_dq,
            decimate_by=how.decimate_by, thin=True,
        )  # fmt: skip
        band = 0.0 if part == "gravity" else how.dead_band
        rows = worth_fitting(ready.trajectory, band, how.exclude, ready.lowpass.cutoff)
        if part == "gravity":
            rows = _at_rest(rows, how.dead_band, ready.lowpass.cutoff)
        elif part in model.robot.joint_names:
            rows = _masked(rows, np.array([name == part for name in rows.joint_names])[None])
        prepared.append(ready)
        fitted.append(replace(ready, trajectory=rows))
    return Stage(name or part, tuple(training_blocks(model, basis, recordings, fitted)), free, tuple(prepared))


def _kinds(name: str) -> tuple[str, ...]:
    owner, quantity = name.split("/", 1)[0], name.rsplit("/", 1)[1]
    if quantity == "rotor_inertia" or quantity.startswith("inertia"):
        return ("inertia",)
    if owner == "link":
        return ("gravity",)
    return ("gravity", "friction") if quantity == "bias" else ("friction",)


def _at_rest(trajectory: Trajectory, speed: float, cutoff: float) -> Trajectory:
    """Only while every joint stands, and has for a period of the low-pass, as far as that carries torque; then at rest.

    What is left of the velocity is noise, and no reason for friction: which way it holds a standing joint nobody knows.
    """
    from scipy.ndimage import minimum_filter1d

    still = (np.abs(trajectory.channel("dq")) < max(speed, DEAD_BAND)).all(axis=1)
    reach = 2 * int(np.ceil(1.0 / (cutoff * trajectory.step))) + 1
    none = np.zeros_like(trajectory.q)
    return _masked(replace(trajectory, dq=none, ddq=none), minimum_filter1d(still, reach)[:, None])


def _masked(trajectory: Trajectory, keep: NDArray[np.bool_]) -> Trajectory:
    """The trajectory with only those rows valid; `keep` is spread over samples and joints."""
    own = np.broadcast_to(keep, (len(trajectory), len(trajectory.joint_names)))
    return replace(trajectory, valid=own.copy() if trajectory.valid is None else own & trajectory.valid)
