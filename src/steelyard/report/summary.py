"""The terminal summary: verdict first, then the numbers behind it."""

from __future__ import annotations

import numpy as np

from steelyard.estimate.validate import Validation
from steelyard.finding import Finding
from steelyard.session.run import Run

SHOWN_PARAMETERS = 12


def summary(run: Run) -> str:
    """What a tired engineer needs to read, as text: verdict, errors per joint, parameters, findings with cures."""
    parts = [run.sentence, "", *_data(run), *_friction_lines(run)]
    for validation in run.validations:
        parts += ["", *validation_lines(validation)]
    parts += ["", *_parameter_lines(run), *_consistent_lines(run)]
    parts += ["", *finding_lines(run.findings)]
    parts += ["", "Status: candidate. Nothing was changed on any robot; a person decides whether it is used."]
    return "\n".join(parts)


def finding_lines(findings: tuple[Finding, ...]) -> list[str]:
    """Warnings and errors in full, notes counted."""
    loud = [f for f in findings if f.level != "info"]
    notes = len(findings) - len(loud)
    lines = [f"Findings: {len(loud) or 'no'} warning(s), {notes} note(s), all of them in report.html and --json"]
    for finding in loud:
        lines.append(f"  {finding}")
        if finding.cure:
            lines.append(f"      cure: {finding.cure}")
    return lines


def _data(run: Run) -> list[str]:
    info = run.identification.estimate.information
    read = sum(len(r.trajectory) for r in run.recordings)
    lines = [
        f"Fitted: {info.samples} samples of {read} read (closer ones say the same after the low-pass), "
        f"{sum(info.rows)} rows, {len(info.joints)} joints."
    ]
    for recording, prepared in zip(run.recordings, run.identification.prepared, strict=True):
        low, high = recording.interval or (recording.trajectory.time[0], recording.trajectory.time[-1])
        lines.append(
            f"  {recording.trajectory.name}, {low:.13g} to {high:.13g} s: low-pass {prepared.cutoff.cutoff:.3g} Hz "
            f"({prepared.cutoff.reason}); "
            f"velocity: {prepared.velocity.reason}"
        )
    if run.robot.locked_at:
        held = ", ".join(f"{name} at {position:g}" for name, position in run.robot.locked_at)
        lines.append(f"  not recorded, held still: {held}")
    return lines


def _friction_lines(run: Run) -> list[str]:
    """Which friction the data asked for, what came second, and what was left out."""
    found = run.identification.friction
    if found is None:
        return []
    chosen, *more = found.parts
    return [f"Friction, as the data ask for it: {chosen}", *(f"  {part}" for part in more)]


def validation_lines(validation: Validation) -> list[str]:
    """Errors on one unseen recording, as lines."""
    result = validation.score
    low, high = result.interval
    lines = [
        f"Unseen motion {validation.name}, {low:.13g} to {high:.13g} s, torque below {result.cutoff:.3g} Hz:",
        f"  relative error {100 * result.relative_error:.2f} % (against unfiltered torque "
        f"{100 * result.relative_error_unfiltered:.2f} %)",
    ]
    if np.isfinite(validation.unconstrained):
        lines.append(f"  before it was made consistent {100 * validation.unconstrained:.2f} %")
    if np.isfinite(validation.baseline_urdf):
        friction = validation.baseline_urdf_friction
        fitted = f", with friction fitted {100 * friction:.1f} %" if np.isfinite(friction) else ""
        lines.append(f"  the model file as it stands misses {100 * validation.baseline_urdf:.1f} %{fitted}")
    width = max(map(len, result.joint_names))
    lines.append(f"  {'joint':{width}}  {'rms [N m]':>10} {'peak [N m]':>10} {'relative':>9}")
    for name, rms, peak, ratio in zip(
        result.joint_names, result.rmse, result.peak, result.relative_error_per_joint, strict=True
    ):
        lines.append(f"  {name:{width}}  {rms:10.3f} {peak:10.3f} {100 * ratio:8.1f}%")
    return lines


def _parameter_lines(run: Run) -> list[str]:
    estimate = run.identification.estimate
    lines = [
        f"Parameters: {len(estimate.names)} base parameters, rank {estimate.rank}, condition {estimate.condition:.3g} "
        f"(columns scaled: {estimate.condition_scaled:.3g})."
    ]
    size = np.abs(estimate.theta) / np.maximum(estimate.deviation, np.finfo(float).tiny)
    order = np.argsort(-np.where(np.isfinite(size), size, 0.0))[:SHOWN_PARAMETERS]
    width = max((len(estimate.names[k]) for k in order), default=0)
    lines.append(f"  the {len(order)} best known (value +- deviation):")
    units = {column.name: column.unit for column in run.identification.model.columns}
    for k in order:
        name = estimate.names[k]
        mark = "" if run.identification.basis.classes[name] == "alone" else "  (combined)"
        lines.append(f"  {name:{width}}  {estimate.theta[k]:11.5g} +- {estimate.deviation[k]:.2g} {units[name]}{mark}")
    return lines


def _consistent_lines(run: Run) -> list[str]:
    """What being possible cost, and what the full set rests on."""
    found = run.identification.consistent
    if found is None:
        return []
    kinds = list(found.standing.values())
    return [
        f"Consistent: {len(kinds)} full parameters of {len(found.links.links)} links that could exist, {found.solver}; "
        f"training residual, each joint by its noise, {100 * (found.ratio - 1.0):.2g} % above the unconstrained "
        f"optimum; {found.total_mass:.4g} kg of moving links.",
        f"  {kinds.count('identified')} rest on the data alone, {kinds.count('combined')} in combination, "
        f"{kinds.count('prior')} on the model file.",
    ]
