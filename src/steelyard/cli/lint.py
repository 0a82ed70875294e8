"""`steelyard lint`: what stands out in a model file."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.output import print_findings, print_json, show

GATE = 1


def lint(model: Path, *, json: bool = False) -> int:
    """Findings on a model file; exit status 1 when one of them is an error.

    Args:
        model: URDF or MJCF file.
        json: One JSON object on stdout.
    """
    from steelyard.robot.load import lint_model

    findings = lint_model(model).findings
    counts = {level: sum(f.level == level for f in findings) for level in ("error", "warning", "info")}
    if json:
        print_json({"model": str(model), "findings": [f.as_dict() for f in findings], "counts": counts})
    else:
        print_findings(findings)
        show(f"{model}: {counts['error']} error(s), {counts['warning']} warning(s), {counts['info']} note(s)")
    return GATE if counts["error"] else 0
