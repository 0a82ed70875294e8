"""A payload straight from recordings: prepared alike, absorbed, and solved with whatever is known of the bare robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis, base_parameters
from steelyard.errors import DataError
from steelyard.estimate.dynamic_payload import difference, residual
from steelyard.estimate.payload import Payload
from steelyard.estimate.training import DEAD_BAND, Recording, training_blocks
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.preparation.mask import mask_dead_band
from steelyard.preparation.pipeline import Prepared, prepare_recording
from steelyard.robot.robot import Robot

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Preparing:
    """How runs are prepared, as by `prepare_recording`; None chooses.

    Attributes:
        cutoff: [Hz] of the low-pass, for all runs or by joint; None for the lowest that any run asks for.
        use_recorded_dq, decimate_by: as for `prepare_recording`.
        dead_band: rows of a joint slower than this [rad/s or m/s] are left out, as friction has no direction there.
    """

    cutoff: float | Mapping[str, float] | None = None
    use_recorded_dq: bool | None = None
    decimate_by: int | None = None
    dead_band: float = DEAD_BAND


DEFAULT = Preparing()


def payload_of_runs(
    model: Model,
    loaded: Sequence[Recording],
    *,
    unloaded: Sequence[Recording] = (),
    theta: Array | None = None,
    doubt: Array | None = None,
    link: str | None = None,
    how: Preparing = DEFAULT,
    same_friction: bool = False,
    gain_uncertainty: float = 0.0,
    same_scale: bool = True,
) -> Payload:
    """The payload of loaded runs, against unloaded ones or against a body model.

    Args:
        model: robot (with the joints of the recordings, without payload) and terms.
        loaded: at least one recording, with torque.
        unloaded: recordings of the bare robot; none to use theta instead.
        theta: (p,) values of the model's columns, of a result or of the model file.
        doubt: (b, b) covariance of the base parameters of theta; None takes them as exact.
        link: in whose frame the payload is; None for the flange.
        how: the runs are prepared, all alike.
        same_friction: whether friction and offsets have not changed with the load.
        gain_uncertainty: of the torque scale, a fraction.
        same_scale: whether theta came from the same torque signals.

    Raises:
        DataError: no loaded run, neither unloaded runs nor theta, a recording without torque or without motion.
        ModelError: no such link.
    """
    if not loaded or (not unloaded and theta is None):
        raise DataError("a payload needs a loaded run, and unloaded runs or a known robot to compare it with")
    basis = base_parameters(model)
    blocks = absorbed_alike(model, basis, (loaded, unloaded) if unloaded else (loaded,), how)
    if unloaded:
        return difference(
            model, basis, blocks[1], blocks[0],
            link=link, same_friction=same_friction, gain_uncertainty=gain_uncertainty,
        )  # fmt: skip
    return residual(
        model, basis, basis.regroup(np.asarray(theta, dtype=np.float64)), blocks[0],
        link=link, same_friction=same_friction, gain_uncertainty=gain_uncertainty, same_scale=same_scale, doubt=doubt,
    )  # fmt: skip


def absorbed_alike(
    model: Model, basis: ParameterBasis, kinds: Sequence[Sequence[Recording]], how: Preparing = DEFAULT
) -> list[list[SquareRootInformation]]:
    """Information of the base columns over stretches of each kind of run, all prepared with one cut-off.

    Args:
        model, basis: whose columns.
        kinds: for each kind of run at least one recording, with torque.
        how: they are prepared.

    Raises:
        DataError: a recording without torque, or without motion.
    """
    prepared = [[_prepared(run, model.robot, how) for run in runs] for runs in kinds]
    lowest = min(p.lowpass.cutoff for ready in prepared for p in ready)
    found = []
    for runs, first in zip(kinds, prepared, strict=True):
        ready = [
            p if p.lowpass.cutoff == lowest else _prepared(run, model.robot, replace(how, cutoff=lowest))
            for run, p in zip(runs, first, strict=True)
        ]
        if all(np.abs(p.trajectory.channel("dq")).max() < how.dead_band for p in ready):
            raise DataError(
                "nothing moves in this recording: torque at rest holds any friction",
                where=runs[0].trajectory.name,
                cure="record a motion; poses held still are weighed with --poses",
            )
        moving = [replace(p, trajectory=mask_dead_band(p.trajectory, how.dead_band)) for p in ready]
        found.append(training_blocks(model, basis, runs, moving))
    return found


def _prepared(run: Recording, robot: Robot, how: Preparing) -> Prepared:
    return prepare_recording(
        run.trajectory,
        robot,
        cutoff=how.cutoff,
        use_recorded_dq=how.use_recorded_dq,
        decimate_by=how.decimate_by,
        thin=True,
    )
