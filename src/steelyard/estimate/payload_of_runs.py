"""A payload straight from recordings: prepared alike, absorbed, and solved with whatever is known of the bare robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

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


def payload_of_runs(
    model: Model,
    loaded: Sequence[Recording],
    *,
    unloaded: Sequence[Recording] = (),
    theta: Array | None = None,
    doubt: Array | None = None,
    link: str | None = None,
    cutoff: float | None = None,
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
        cutoff: [Hz] of the low-pass, the same for all runs; None for the lowest that any of them asks for.
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
    blocks = absorbed_alike(model, basis, (loaded, unloaded) if unloaded else (loaded,), cutoff=cutoff)
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
    model: Model, basis: ParameterBasis, kinds: Sequence[Sequence[Recording]], *, cutoff: float | None = None
) -> list[list[SquareRootInformation]]:
    """Information of the base columns over stretches of each kind of run, all prepared with one cut-off.

    Rows of joints that hardly move are left out, as in `identify`: friction has no direction there.

    Args:
        model, basis: whose columns.
        kinds: for each kind of run at least one recording, with torque.
        cutoff: [Hz]; None for the lowest that any recording asks for.

    Raises:
        DataError: a recording without torque, or without motion.
    """
    prepared = [[_prepared(run, model.robot, cutoff) for run in runs] for runs in kinds]
    lowest = min(p.cutoff.cutoff for ready in prepared for p in ready)
    found = []
    for runs, first in zip(kinds, prepared, strict=True):
        ready = [
            p if p.cutoff.cutoff == lowest else _prepared(run, model.robot, lowest)
            for run, p in zip(runs, first, strict=True)
        ]
        if all(np.abs(p.trajectory.channel("dq")).max() < DEAD_BAND for p in ready):
            raise DataError(
                "nothing moves in this recording: torque at rest holds any friction",
                where=runs[0].trajectory.name,
                cure="record a motion; poses held still are weighed with --poses",
            )
        moving = [replace(p, trajectory=mask_dead_band(p.trajectory, DEAD_BAND)) for p in ready]
        found.append(training_blocks(model, basis, runs, moving))
    return found


def _prepared(run: Recording, robot: Robot, cutoff: float | None) -> Prepared:
    return prepare_recording(run.trajectory, robot, cutoff=cutoff, thin=True)
