"""Printing: one JSON object alone on stdout, or lines for a person; messages to stderr."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from steelyard.finding import Finding


def printable(text: str) -> str:
    """The text with control characters spelled out: names in files may hold escapes that drive a terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape").decode("ascii") for c in text)


def show(text: str = "") -> None:
    """A line of the result on stdout."""
    print(printable(text))


@contextlib.contextmanager
def only_ours_on_stdout() -> Iterator[None]:
    """What a user's own term prints goes to stderr: stdout is the result's alone."""
    with contextlib.redirect_stdout(sys.stderr):
        yield


def print_json(value: Mapping[str, Any]) -> None:
    """Write one JSON object to stdout; what is not finite becomes null."""
    print(json.dumps(_finite(value), indent=2, allow_nan=False))


def print_findings(findings: Iterable[Finding], *, stream: Any = None) -> None:
    """One finding a paragraph: level, code, place, sentence, cure."""
    for finding in findings:
        print(printable(str(finding)), file=stream or sys.stdout)
        if finding.cure:
            print(printable(f"    cure: {finding.cure}"), file=stream or sys.stdout)


def say(message: str, *, quiet: bool = False) -> None:
    """A line of progress on stderr."""
    if not quiet:
        print(printable(message), file=sys.stderr, flush=True)


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
