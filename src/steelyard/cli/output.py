"""Printing: one JSON object alone on stdout, or lines for a person; messages to stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from steelyard.finding import Finding


def print_json(value: Mapping[str, Any]) -> None:
    """Write one JSON object to stdout; what is not finite becomes null."""
    print(json.dumps(_finite(value), indent=2, allow_nan=False))


def print_findings(findings: Iterable[Finding], *, stream: Any = None) -> None:
    """One finding a paragraph: level, code, place, sentence, cure."""
    for finding in findings:
        print(str(finding), file=stream or sys.stdout)
        if finding.cure:
            print(f"    cure: {finding.cure}", file=stream or sys.stdout)


def say(message: str, *, quiet: bool = False) -> None:
    """A line of progress on stderr."""
    if not quiet:
        print(message, file=sys.stderr, flush=True)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if hasattr(value, "tolist"):
        return _finite(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
