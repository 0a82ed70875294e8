"""Sections about the model: findings, terms, parameters, weak directions, the old model, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from steelyard.estimate.least_squares import WEAK
from steelyard.report.arrays import number, percent, rounded
from steelyard.report.blocks import Block, Cell, FindingCard, Section, Table
from steelyard.report.chinese import CURES
from steelyard.report.figures import comparison_figure, singular_figure
from steelyard.report.gathered import Gathered
from steelyard.report.html_page import plot
from steelyard.report.parameters import ParameterRow, parameter_rows
from steelyard.report.verdict import by_gravity, finding_title
from steelyard.session.schema import FindingEntry

Words = Mapping[str, str]
WEAKEST = 5  # directions listed, weak or not
PAIRS = 6  # cancelling parameters listed


def findings_section(gathered: Gathered, words: Words) -> Section:
    """All findings, the gravest first, each with its cure."""
    cards = tuple(_card(finding, words) for finding in by_gravity(gathered.result.findings))
    note = " ".join(filter(None, (words["findings_note"], words["findings_language"])))
    return Section(
        "findings", words["findings_title"], (Block(note=note if cards else words["findings_none"], findings=cards),)
    )


def _card(finding: FindingEntry, words: Words) -> FindingCard:
    own = CURES.get(finding.code, "") if words["lang"] == "zh" else ""
    tag = " · ".join(filter(None, (words[f"level_{finding.level}"], finding.code, finding.where)))
    return FindingCard(
        finding.level,
        finding_title(finding.code, words),
        tag,
        finding.message,
        tuple(filter(None, (own, finding.cure))),
    )


def terms_section(gathered: Gathered, words: Words) -> Section:
    """Root mean square torque of each effect in each joint."""
    effects = gathered.judgement.effects
    rms = effects.rms
    total = np.sqrt(np.mean(effects.torque.sum(axis=0) ** 2, axis=0))
    rows = tuple(
        (
            Cell(joint),
            *(
                Cell(number(rms[e, j]), strength=float(rms[e, j] / total[j]) if total[j] > 0.0 else 0.0)
                for e in range(len(effects.effects))
            ),
            Cell(f"{number(total[j])} {gathered.units[j]}", "strong"),
        )
        for j, joint in enumerate(effects.joint_names)
    )
    table = Table((words["joint"], *(words[effect] for effect in effects.effects), words["torque"]), rows)
    opposed = gathered.judgement.columns.opposed
    pairs = "; ".join(f"{joint}: {a} / {b} ({number(by)} ×)" for joint, a, b, by in opposed[:PAIRS])
    note = words["terms_cancel"].format(pairs=pairs) if pairs else words["terms_fine"]
    return Section("terms", words["terms_title"], (Block(note=words["terms_note"], table=table), Block(note=note)))


def parameters_section(gathered: Gathered, words: Words) -> Section:
    """The parameter table."""
    keys = (
        "parameter", "value", "deviation", "relative", "interval_95", "effect", "prior_share", "class", "partner",
    )  # fmt: skip
    rows = tuple(_parameter_cells(row, words) for row in parameter_rows(gathered))
    table = Table(tuple(words[key] for key in keys), rows)
    return Section("parameters", words["parameters_title"], (Block(note=words["parameters_note"], table=table),))


def _parameter_cells(row: ParameterRow, words: Words) -> tuple[Cell, ...]:
    interval = "–" if row.interval is None else " … ".join(rounded(end, row.deviation) for end in row.interval)
    effect = "–" if row.effect is None else number(row.effect, 2) if row.doubt is None else (
        f"{number(row.effect, 2)} ± {number(row.doubt, 1)}"
    )  # fmt: skip
    return (
        Cell(row.name, hint=row.meaning),
        Cell(f"{rounded(row.value, row.deviation)} {row.unit}", "" if row.relative is not None else "quiet"),
        Cell(number(row.deviation, 2)),
        Cell(percent(row.relative)),
        Cell(interval),
        Cell(effect),
        Cell(_share(row.prior_share), strength=row.prior_share or 0.0),
        Cell(words[f"class_{row.kind}"], "text"),
        Cell(row.partner or "", "wrap quiet"),
    )


def _share(share: float | None) -> str:
    return "< 1 %" if share is not None and share < 0.01 else percent(share)


def directions_section(gathered: Gathered, words: Words) -> Section:
    """Singular values, and the combinations behind the smallest."""
    diagnostics = gathered.result.diagnostics
    note = words["directions_note"].format(
        scaled=number(diagnostics.condition_scaled), condition=number(diagnostics.condition), rank=diagnostics.rank,
        count=gathered.result.base.count,
    )  # fmt: skip
    listed = [(entry.ratio, dict(entry.parts)) for entry in diagnostics.weak_directions]
    figure = ""
    if gathered.estimate is not None:
        listed = gathered.estimate.weak_directions(ratio=2.0)
        names = [_combination(parts) for _, parts in reversed(listed)]
        figure = plot(singular_figure(gathered.estimate.singular_values, names, WEAK, words), "directions")
    rows = tuple(
        (
            Cell(number(ratio, 2)),
            Cell(words["directions_weak"] if ratio < WEAK else "", "bad text"),
            Cell(_combination(parts), "wrap"),
        )
        for ratio, parts in listed[: max(WEAKEST, len(diagnostics.weak_directions))]
    )
    table = Table((words["ratio"], "", words["combination"]), rows)
    blocks = [Block(note=note, figure=figure)]
    if rows:
        blocks.append(Block(words["directions_weakest"], table=table))
    return Section("directions", words["directions_title"], tuple(blocks))


def _combination(parts: Mapping[str, float]) -> str:
    return "  ".join(f"{factor:+.2f} {name}" for name, factor in parts.items())


def old_section(gathered: Gathered, words: Words) -> Section:
    """The model file against what was identified."""
    made = gathered.credibility
    comparison = gathered.judgement.comparison
    joints = comparison.motion.joint_names
    size = np.linalg.norm(comparison.filtered, axis=0)
    old = np.linalg.norm(comparison.filtered - gathered.old_torque, axis=0)
    error = np.divide(old, size, out=np.zeros_like(size), where=size > 0.0)
    new = np.array([gathered.quality.errors[joint] for joint in joints])
    bars = {
        "panel_error": (100.0 * error, 100.0 * np.where(np.isfinite(new), new, 0.0)),
        "panel_gravity": (made.gravity_old, made.gravity_new),
        "panel_inertia": (made.inertia_old, made.inertia_new),
    }
    note = words["old_note"].format(
        poses=len(made.poses), change=percent(made.mass_matrix), old=number(made.least_old), new=number(made.least_new)
    )
    figure = plot(comparison_figure(joints, bars, words), "old")
    return Section("old", words["old_title"], (Block(note=note, figure=figure),))


def provenance_section(gathered: Gathered, words: Words) -> Section:
    """Files, digests, preparation, versions."""
    manifest, result = gathered.session.manifest, gathered.result
    note = words["provenance_note"].format(
        created=manifest.created, identified=gathered.identified, version=result.software_version,
        terms=", ".join(result.terms), estimator=result.estimator, rows=result.diagnostics.rows,
        samples=result.diagnostics.samples,
    )  # fmt: skip
    fitted = {entry.path: entry.interval_s for entry in result.inputs}
    shown = {entry.file: entry.interval_s for entry in result.validation}
    rows = []
    for entry in manifest.recordings:
        interval = fitted.get(entry.path) if entry.role == "train" else shown.get(entry.name)
        steps = () if entry.preparation is None else entry.preparation.steps
        rows.append(
            (
                Cell(entry.name),
                Cell(words[entry.role], "text"),
                Cell("–" if interval is None else " – ".join(number(t, 5) for t in interval)),
                Cell(str(entry.samples)),
                Cell("; ".join(steps), "wrap"),
                Cell(entry.sha256[:12], "text quiet", hint=entry.sha256),
            )
        )
    rows.append(
        (
            Cell(manifest.model.path.rpartition("/")[2]), Cell(words["model_file"], "text"), Cell("–"), Cell("–"),
            Cell("", "wrap"), Cell(manifest.model.sha256[:12], "text quiet", hint=manifest.model.sha256),
        )
    )  # fmt: skip
    keys = ("file", "role", "interval", "samples", "preparation", "digest")
    blocks = [Block(note=note, table=Table(tuple(words[key] for key in keys), tuple(rows)))]
    if manifest.locked:
        held = ", ".join(f"{joint} = {number(position)}" for joint, position in manifest.locked.items())
        blocks.append(Block(note=words["held"].format(joints=held)))
    return Section("provenance", words["provenance_title"], tuple(blocks))
