"""Where things stand in the directory of a session."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from pathlib import Path

from steelyard.session.schema import Role, SessionFile

SESSION, RESULT, LEDGER, REPORT, STUDY = "session.json", "result.json", "ledger.jsonl", "report.html", "study.toml"
MODEL, MODEL_DIGEST = "model", "model/digest"
RAW: dict[Role, str] = {"train": "raw", "validation": "validation"}
PENDING = ".pending"
"""Files on their way into the session; see `amending`."""

ADDED_LATER = frozenset({REPORT, "review.json", "rollback.json", "excitation.yaml"})
_FILES = frozenset({SESSION, RESULT, LEDGER, STUDY, "raw.csv", "validation.csv", "processed.csv"}) | ADDED_LATER
_FOLDERS = frozenset({*RAW.values(), MODEL, "processed", "prediction"})
_LITTER = re.compile(rf"{re.escape(PENDING)}|[.]DS_Store|[.].+[.][0-9a-f]{{8}}[.]tmp")


def recording_path(role: Role, name: str, *, alone: bool) -> str:
    """Where the copy of a recording stands; `alone`: the only one of its role."""
    return f"{RAW[role]}.csv" if alone else f"{RAW[role]}/{name}"


def processed_path(manifest: SessionFile, name: str) -> str:
    """Where the processed form of a training recording stands."""
    return "processed.csv" if len(manifest.role("train")) == 1 else f"processed/{name}"


def prediction_path(name: str) -> str:
    """Where the predicted torque of a validation recording stands."""
    return f"prediction/{name}"


def model_digest_text(manifest: SessionFile) -> bytes:
    """model/digest: a line that `sha256sum -c` reads."""
    return f"{manifest.model.sha256}  {manifest.model.path.removeprefix(MODEL + '/')}\n".encode()


def comes_from_fit(inside: str) -> bool:
    """Whether a file follows from the fit, so that another fit makes it void."""
    return inside in (RESULT, REPORT, "processed.csv") or inside.startswith(("processed/", "prediction/"))


def strangers(root: Path, recorded: Collection[str]) -> tuple[str, ...]:
    """What lies in a session's directory, at any depth, and is neither recorded nor written beside the record."""
    top = [e for e in os.listdir(root) if e not in _FILES | _FOLDERS and not _LITTER.fullmatch(e)]
    below = [inside for inside in present(root) if "/" in inside and inside not in recorded]
    return tuple(sorted({*top, *below}))


def present(root: Path) -> tuple[str, ...]:
    """Paths of all files in a session's directory that have a place in one."""
    found = [name for name in _FILES if os.path.lexists(root / name)]
    for folder in _FOLDERS:
        for place, _, files in os.walk(root / folder):
            found += [
                (Path(place) / name).relative_to(root).as_posix() for name in files if not _LITTER.fullmatch(name)
            ]
    return tuple(sorted(found))
