"""The difference between two versions of a file, for review."""

from __future__ import annotations

import difflib


def unified_diff(before: bytes, after: bytes, *, old: str, new: str) -> bytes:
    """The difference between two texts, as `diff -u` prints it; empty where there is none.

    Line ends are those of the files, so that ``patch --binary`` makes `after` from `before`.

    Args:
        before, after: the texts.
        old, new: names for the two header lines.
    """
    lines = difflib.diff_bytes(difflib.unified_diff, _lines(before), _lines(after), old.encode(), new.encode())
    return b"".join(line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines)


def _lines(data: bytes) -> list[bytes]:
    """Lines end with LF, as every diff tool has it; a CR before it belongs to the line."""
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
