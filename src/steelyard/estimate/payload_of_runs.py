"""A payload straight from recordings: prepared alike, absorbed, and solved with whatever is known of the bare robot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import base_parameters
from steelyard.errors import DataError
from steelyard.estimate.dynamic_payload import difference, residual
from steelyard.estimate.identify import Recording, absorb_blocks
from steelyard.estimate.payload import Payload
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.preparation.pipeline import prepare_recording

Array = NDArray[np.float64]


def payload_of_runs(
    model: Model,
    loaded: Sequence[Recording],
    *,
    unloaded: Sequence[Recording] = (),
    theta: Array | None = None,
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
        link: in whose frame the payload is; None for the flange.
        cutoff: [Hz] of the low-pass, the same for all runs; None for the lowest that any of them asks for.
        same_friction: whether friction and offsets have not changed with the load.
        gain_uncertainty: of the torque scale, a fraction.
        same_scale: whether theta came from the same torque signals.

    Raises:
        DataError: no loaded run, neither unloaded runs nor theta, a recording without torque.
        ModelError: no such link.
    """
    if not loaded or (not unloaded and theta is None):
        raise DataError("a payload needs a loaded run, and unloaded runs or a known robot to compare it with")
    basis = base_parameters(model)
    runs = [*loaded, *unloaded]
    if cutoff is None:
        cutoff = min(prepare_recording(run.trajectory, model.robot).cutoff.cutoff for run in runs)

    def absorbed(recordings: Sequence[Recording]) -> list[SquareRootInformation]:
        ready = [prepare_recording(run.trajectory, model.robot, cutoff=cutoff) for run in recordings]
        return absorb_blocks(model, basis, recordings, ready)

    full = absorbed(loaded)
    if unloaded:
        return difference(
            model, basis, absorbed(unloaded), full,
            link=link, same_friction=same_friction, gain_uncertainty=gain_uncertainty,
        )  # fmt: skip
    return residual(
        model, basis, basis.regroup(np.asarray(theta, dtype=np.float64)), full,
        link=link, same_friction=same_friction, gain_uncertainty=gain_uncertainty, same_scale=same_scale,
    )  # fmt: skip
