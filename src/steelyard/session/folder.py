"""A directory of files that were made together, with a record of them: made at once, replaced only when it is ours."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from steelyard.errors import SessionError
from steelyard.session.disk import spoken, write_new
from steelyard.session.strict_json import load_strictly, read_bytes
from steelyard.session.swap import checked_target, install


def write_folder(
    directory: str | os.PathLike[str], files: Mapping[str, bytes], *, record: str, kind: str, force: bool = False
) -> Path:
    """Make a directory that holds `files` and nothing else; whatever fails, `directory` is as it was.

    Args:
        directory: new or empty, or one of the same kind that `force` allows to replace.
        files: name -> content; one of them is the record.
        record: name of the JSON file that says what the directory is: its ``kind``, and ``files`` with a ``path`` each.
        kind: of directory.
        force: replace one of this kind that holds only what its record lists.

    Returns:
        Where it is, absolute.

    Raises:
        SessionError: a directory that may not be replaced, a disk that refuses.
    """

    def fill(building: Path) -> None:
        for name, data in files.items():
            write_new(building / name, data)

    with spoken(directory):
        target = checked_target(directory)
        install(target, fill, lambda place: check_folder(place, record=record, kind=kind, force=force))
    return target


def check_folder(target: Path, *, record: str, kind: str, force: bool) -> None:
    """Raise SessionError when `write_folder` would refuse the place: to be asked before the work, not after."""
    if not os.path.lexists(target) or not any(target.iterdir()):
        return
    where = str(target)
    listed = _listed(target / record, kind)
    if listed is None:
        raise SessionError(
            f"the directory is not empty and holds no {record} of ours", where=where, cure="name a new directory"
        )
    if not force:
        raise SessionError(
            "the directory was written before", where=where, cure="--force replaces it; or name another directory"
        )
    own = listed | {record}
    foreign = sorted(name for name in os.listdir(target) if name not in own or (target / name).is_dir())
    if foreign:
        raise SessionError(
            "the directory holds what is not ours, and would be lost",
            where=where,
            value=", ".join(foreign[:5]),
            cure="move it elsewhere first",
        )


def _listed(record: Path, kind: str) -> set[str] | None:
    """Names that a record of this kind lists; None when there is no such record."""
    try:
        table = load_strictly(read_bytes(record), where=str(record))
    except SessionError:
        return None
    if not isinstance(table, dict) or table.get("kind") != kind or not isinstance(table.get("files"), list):
        return None
    return {entry["path"] for entry in table["files"] if isinstance(entry, dict) and isinstance(entry.get("path"), str)}
