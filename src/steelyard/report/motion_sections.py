"""Sections about motions: torque, residuals, spectra, friction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from steelyard.assess.quality import use_of
from steelyard.assess.residual_findings import CERTAIN, TELLING
from steelyard.assess.trends import Trend
from steelyard.report.arrays import number, percent
from steelyard.report.blocks import Block, Cell, Section, Table
from steelyard.report.figures import distribution_figure, friction_figure, residual_figure, torque_figure
from steelyard.report.friction import friction_curves
from steelyard.report.gathered import Gathered
from steelyard.report.html_page import plot
from steelyard.report.spectra import spectra_figure

if TYPE_CHECKING:
    pass

Words = Mapping[str, str]
USE_KINDS = {"feed_forward": "good", "gravity_compensation": "fair", "none": "bad"}
AGAINST = ("time", "position", "velocity", "acceleration", "torque_rate", "temperature")


def torque_section(gathered: Gathered, words: Words) -> Section:
    """Measured against predicted torque, and what each joint is good for."""
    comparison = gathered.judgement.comparison
    time = comparison.motion.time
    note = words["torque_note" if gathered.validation is not None else "torque_note_training"].format(
        file=gathered.judgement.name, low=number(float(time[0]), 4), high=number(float(time[-1]), 4),
        cutoff=number(comparison.cutoff),
    )  # fmt: skip
    figure = torque_figure(comparison, gathered.old_torque, gathered.quality.errors, gathered.units, words)
    blocks = [
        Block(note=note, figure=plot(figure, "torque")),
        Block(words["quality_title"], words["quality_note"], _quality_table(gathered, words)),
    ]
    if len(gathered.result.validation) > 1:
        blocks.append(Block(words["runs_title"], table=_runs_table(gathered, words)))
    return Section("torque", words["torque_title"], tuple(blocks))


def _quality_table(gathered: Gathered, words: Words) -> Table:
    residual = gathered.judgement.comparison.residual
    rows = []
    for j, (joint, unit) in enumerate(zip(gathered.quality.errors, gathered.units, strict=True)):
        use = gathered.quality.joints[joint]
        rms, peak = float(np.sqrt(np.mean(residual[:, j] ** 2))), float(np.abs(residual[:, j]).max())
        rows.append(
            (
                Cell(joint),
                Cell(percent(gathered.quality.errors[joint])),
                Cell(f"{number(rms)} {unit}"),
                Cell(f"{number(peak)} {unit}"),
                Cell(words[f"use_{use}"], f"text {USE_KINDS[use]}"),
            )
        )
    return Table(tuple(words[key] for key in ("joint", "missed", "rms", "peak", "use")), tuple(rows))


def _runs_table(gathered: Gathered, words: Words) -> Table:
    rows = []
    for entry in gathered.result.validation:
        error = entry.relative_error
        use = use_of(float("inf") if error is None else error)
        numbers = (error, entry.relative_error_unfiltered, entry.baseline_urdf, entry.baseline_urdf_friction)
        rows.append(
            (
                Cell(entry.file),
                Cell(" – ".join(number(t, 5) for t in entry.interval_s)),
                *(Cell(percent(value)) for value in numbers),
                Cell(words[f"use_{use}"], f"text {USE_KINDS[use]}"),
            )
        )
    keys = ("file", "interval", "missed", "missed_unfiltered", "error_urdf", "error_urdf_friction", "use")
    return Table(tuple(words[key] for key in keys), tuple(rows))


def residual_section(gathered: Gathered, words: Words) -> Section:
    """Residuals against everything they may go with."""
    judged = gathered.judgement
    drawn = residual_figure(judged.comparison, judged.residuals, gathered.units, words)
    spread = distribution_figure(judged.comparison, judged.residuals, words)
    return Section(
        "residuals",
        words["residual_title"],
        (
            Block(note=words["residual_note"], figure=plot(drawn, "residuals")),
            Block(words["trend_title"], words["trend_note"], _trend_table(gathered, words)),
            Block(words["bands_title"], words["bands_note"], _band_table(gathered, words)),
            Block(note=words["distribution_note"], figure=plot(spread, "distribution")),
        ),
    )


def _trend_table(gathered: Gathered, words: Words) -> Table:
    known = {(t.joint, t.against): t for t in gathered.judgement.residuals.trends}
    used = [a for a in AGAINST if any(against == a for _, against in known)]
    rows = tuple(
        (Cell(joint), *(_trend_cell(known.get((joint, against))) for against in used))
        for joint in gathered.judgement.residuals.joint_names
    )
    return Table((words["joint"], *(words[a] for a in used)), rows)


def _trend_cell(trend: Trend | None) -> Cell:
    if trend is None:
        return Cell("–", "quiet")
    certain = trend.p_value <= CERTAIN and trend.share >= TELLING
    text = f"{percent(trend.share)} (p {number(trend.p_value, 2)})"
    return Cell(text, "strong" if certain else "quiet", strength=trend.share if certain else 0.0)


def _band_table(gathered: Gathered, words: Words) -> Table:
    bands = gathered.judgement.residuals.bands
    rows = tuple(
        (
            Cell(joint),
            *(
                Cell(
                    words["band_cell"].format(residual=number(bands.residual[b, j]), torque=number(bands.torque[b, j]))
                    + f" {gathered.units[j]}"
                )
                for b in range(3)
            ),
        )
        for j, joint in enumerate(gathered.judgement.residuals.joint_names)
    )
    return Table((words["joint"], words["band_low"], words["band_middle"], words["band_high"]), rows)


def spectra_section(gathered: Gathered, words: Words) -> Section | None:
    """Spectra of each training recording; None where the session does not say how it was prepared."""
    blocks = []
    for k, training in enumerate(gathered.training):
        if training.preparation is None:
            continue
        note = words["spectra_note"].format(
            file=training.entry.name, cutoff=number(training.preparation.cutoff_hz),
            reason=training.preparation.cutoff_reason, unseen=gathered.judgement.name,
        )  # fmt: skip
        figure = spectra_figure(training.recorded, gathered.judgement.comparison, training.preparation.cutoff_hz, words)
        blocks.append(Block(note=note, figure=plot(figure, f"spectra-{k}")))
    return Section("spectra", words["spectra_title"], tuple(blocks)) if blocks else None


def friction_section(gathered: Gathered, words: Words) -> Section | None:
    """Friction curves; None for a model without friction."""
    curves = friction_curves(gathered)
    if not curves:
        return None
    figure = friction_figure(curves, gathered.units, words)
    return Section(
        "friction", words["friction_title"], (Block(note=words["friction_note"], figure=plot(figure, "friction")),)
    )
