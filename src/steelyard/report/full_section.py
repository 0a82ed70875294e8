"""The full parameters of a consistent fit, and what being possible cost."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from steelyard.report.arrays import number, percent, rounded
from steelyard.report.blocks import Block, Cell, Section, Table
from steelyard.report.gathered import Gathered
from steelyard.session.schema import ParameterEntry


def full_section(gathered: Gathered, words: Mapping[str, str]) -> Section | None:
    """The full parameters; None for a result that has base parameters alone."""
    found = gathered.result.consistent
    if found is None:
        return None
    free = None if gathered.validation is None else gathered.validation.relative_error_unconstrained
    note = words["full_note"].format(
        solver=found.solver,
        cost=percent(max(0.0, found.residual_ratio - 1.0)),
        mass=number(found.total_mass_kg, 4),
        free="–" if free is None else percent(free),
        held=", ".join(found.at_limit) or "–",
    )
    head = tuple(words[key] for key in ("parameter", "value", "deviation", "interval_95", "class"))
    rows = tuple(_cells(entry, words) for entry in gathered.result.full_parameters)
    return Section("full", words["full_title"], (Block(note=note, table=Table(head, rows)),))


def _cells(entry: ParameterEntry, words: Mapping[str, str]) -> tuple[Cell, ...]:
    deviation = np.inf if entry.deviation is None else entry.deviation
    interval = "–" if entry.interval_95 is None else " … ".join(rounded(end, deviation) for end in entry.interval_95)
    return (
        Cell(entry.name),
        Cell(f"{rounded(entry.value, deviation)} {entry.unit}", "quiet" if entry.class_ == "prior" else ""),
        Cell(number(deviation, 2)),
        Cell(interval),
        Cell(words[f"class_{entry.class_}"], "text"),
    )
