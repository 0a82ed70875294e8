"""The parameter table: each value with everything that says how far to trust it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.report.gathered import Gathered

Array = NDArray[np.float64]
CLEAR = 3.0  # deviations from zero under which a relative deviation says nothing


@dataclass(frozen=True)
class ParameterRow:
    """One parameter.

    Attributes:
        name, unit: of the column.
        value, deviation: in that unit; the deviation is infinite where neither data nor prior bound it.
        relative: deviation over value, a fraction; None where the value is not clear of zero.
        interval: 95 % interval; None where it has no bound.
        effect: root mean square torque of the value in the joint it moves most, over the training motion [N m or N].
        doubt: the same of its deviation.
        partner: the parameter it can hardly be told from.
        prior_share: part of the prior's variance that is left after the data, a fraction; None without a prior on it.
        kind: ``identified``, ``combined`` or ``prior``.
        meaning: the combination it stands for, standard parameters with their factors.
    """

    name: str
    unit: str
    value: float
    deviation: float
    relative: float | None
    interval: tuple[float, float] | None
    effect: float | None
    doubt: float | None
    partner: str | None
    prior_share: float | None
    kind: str
    meaning: str


def parameter_rows(gathered: Gathered) -> list[ParameterRow]:
    """Rows in the order of the result."""
    result = gathered.result
    base = dict(zip(result.base.names, result.base.map.matrix, strict=True))
    unit_effect = _unit_effect(gathered)
    rows = []
    for entry in result.parameters:
        deviation = np.inf if entry.deviation is None else entry.deviation
        clear = abs(entry.value) >= CLEAR * deviation and deviation > 0.0
        effect = unit_effect.get(entry.name)
        rows.append(
            ParameterRow(
                name=entry.name,
                unit=entry.unit,
                value=entry.value,
                deviation=deviation,
                relative=deviation / abs(entry.value) if clear else None,
                interval=entry.interval_95,
                effect=None if effect is None else effect * abs(entry.value),
                doubt=None if effect is None or not np.isfinite(deviation) else effect * deviation,
                partner=entry.correlated_with,
                prior_share=entry.prior_share,
                kind=entry.class_,
                meaning=_meaning(entry.name, base.get(entry.name), result.base.map.columns),
            )
        )
    return rows


def _unit_effect(gathered: Gathered) -> dict[str, float]:
    """Torque of one unit of each base parameter, root mean square over the training motion, in its largest joint."""
    if gathered.estimate is None:
        return {}
    info = gathered.estimate.information
    sizes = np.zeros((len(info.joints), len(info.names)))
    for j, (columns, factor, rows) in enumerate(zip(info.support, info.factors, info.rows, strict=True)):
        sizes[j, list(columns)] = np.linalg.norm(factor[:, :-1], axis=0) / np.sqrt(max(rows, 1))
    return dict(zip(info.names, map(float, sizes.max(axis=0)), strict=True))


def _meaning(name: str, row: tuple[float, ...] | None, columns: tuple[str, ...]) -> str:
    others = (
        [] if row is None else [(c, factor) for c, factor in zip(columns, row, strict=True) if factor and c != name]
    )
    return " ".join([name, *(f"{factor:+.4g} {column}" for column, factor in others)]) if others else ""
