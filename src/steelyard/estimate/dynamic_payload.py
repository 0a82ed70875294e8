"""A payload from motion: the difference of loaded and unloaded runs, or what a known body model leaves over.

With `theta_b = B (theta + C payload)`, C the payload's columns in those of the body that carries it, a loaded run is
information about theta_b and the payload together, an unloaded one about theta_b alone; they merge and are solved at
once, so that the uncertainty of the body is in that of the payload, and the runs need not follow one another's motion.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.errors import DataError, StudyError
from steelyard.estimate.payload import Payload
from steelyard.estimate.payload_fit import fit_payload, payload_columns, with_payload, without_payload
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.robot.tool import frame

Array = NDArray[np.float64]


def difference(
    model: Model,
    basis: ParameterBasis,
    unloaded: Sequence[SquareRootInformation],
    loaded: Sequence[SquareRootInformation],
    *,
    link: str | None = None,
    same_friction: bool = False,
    gain_uncertainty: float = 0.0,
) -> Payload:
    """The payload that tells loaded from unloaded runs.

    Args:
        model: robot and terms.
        basis: its base parameters.
        unloaded, loaded: information of the base columns over consecutive stretches of either kind of run.
        link: in whose frame the payload is; None for the last link.
        same_friction: whether friction and offsets are the same in both; usually they are not, as they change with
            load and temperature.
        gain_uncertainty: of the torque scale, a fraction.

    Raises:
        ModelError: no such link.
        DataError: no run of a kind.
        StudyError: information of other columns than the base parameters.
        InformationError: a run that is in both.
    """
    place = frame(model.robot, link)
    blocks = both_kinds(model, basis, unloaded, loaded, link=link, same_friction=same_friction)
    return fit_payload(blocks, place, gain_uncertainty=gain_uncertainty)


def residual(
    model: Model,
    basis: ParameterBasis,
    base: Array,
    loaded: Sequence[SquareRootInformation],
    *,
    link: str | None = None,
    same_friction: bool = False,
    gain_uncertainty: float = 0.0,
    same_scale: bool = True,
    doubt: Array | None = None,
) -> Payload:
    """The payload that a known body model leaves over.

    Args:
        model: robot and terms.
        basis: its base parameters.
        base: (b,) their values without payload.
        loaded: information of the base columns over consecutive stretches of loaded runs.
        link: in whose frame the payload is; None for the last link.
        same_friction: whether friction and offsets are those of the body model; else they are fitted again.
        gain_uncertainty: of the torque scale, a fraction.
        same_scale: whether the body model was identified from the same torque signals, so that an error of their scale
            is in it as well; else (CAD values) such an error counts in full.
        doubt: (b, b) covariance of the base parameters; None takes the body model as exact.

    Raises:
        ModelError: no such link.
        DataError: no run.
        StudyError: information of other columns, or another number of base parameters.
    """
    _check(basis, loaded)
    base = np.asarray(base, dtype=np.float64)
    if base.shape != (basis.count,):
        raise StudyError("these are not base parameters of this model", value=base.shape)
    place = frame(model.robot, link)
    columns = payload_columns(model, place)
    kept = [k for k, name in enumerate(basis.names) if same_friction or not drifts(name)]
    return fit_payload(
        [with_payload(info, basis, columns) for info in loaded],
        place,
        known={basis.names[k]: float(base[k]) for k in kept},
        doubt=None if doubt is None else np.asarray(doubt)[np.ix_(kept, kept)],
        gain_uncertainty=gain_uncertainty,
        same_scale=same_scale,
    )


def drifts(name: str) -> bool:
    """Whether a column is friction or an offset, which change with load, temperature and time."""
    quantity = name.rsplit("/", 1)[-1]
    return "friction" in quantity or quantity == "bias"


def both_kinds(
    model: Model,
    basis: ParameterBasis,
    unloaded: Sequence[SquareRootInformation],
    loaded: Sequence[SquareRootInformation],
    *,
    link: str | None,
    same_friction: bool,
) -> list[SquareRootInformation]:
    """Information of base and payload columns over both kinds of runs, arguments as of `difference`."""
    _check(basis, unloaded)
    _check(basis, loaded)
    columns = payload_columns(model, frame(model.robot, link))
    empty = [without_payload(info, basis) for info in unloaded]
    full = [with_payload(info, basis, columns) for info in loaded]
    return [*empty, *full] if same_friction else _apart(empty, full)


def _apart(
    empty: Sequence[SquareRootInformation], full: Sequence[SquareRootInformation]
) -> list[SquareRootInformation]:
    """Give the loaded runs friction columns of their own."""
    plain = full[0].names
    drifting = [name for name in plain if drifts(name)]
    names = (*plain, *(f"loaded/{name}" for name in drifting))
    own = np.eye(len(plain))
    at = [plain.index(name) for name in drifting]
    turned = own.copy()
    turned[at, at] = 0.0
    return [
        *(info.project(names, np.hstack([own, np.zeros((len(own), len(at)))])) for info in empty),
        *(info.project(names, np.hstack([turned, own[:, at]])) for info in full),
    ]


def _check(basis: ParameterBasis, infos: Sequence[SquareRootInformation]) -> None:
    if not infos:
        raise DataError("there is no run", cure="give at least one loaded and, for a difference, one unloaded run")
    for info in infos:
        if info.names != basis.names:
            raise StudyError("the information is not of the base columns", value=info.names[:5],
                             cure="absorb with names=basis.names")  # fmt: skip
