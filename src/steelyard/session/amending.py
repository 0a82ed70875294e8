"""Adding files to a session so that a crash leaves it as it was or as it should be.

New files are first written under .pending; the line in the ledger that names their hashes, written at once, is the
decision; then they are moved into place.  Whoever opens the session next finishes what a crash has left: files that the
ledger knows are moved, others are thrown away.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from steelyard.errors import SessionError
from steelyard.session.disk import confined, file_digest, flush_folder
from steelyard.session.layout import LEDGER, PENDING
from steelyard.session.ledger import extended, latest, rewrite, verify
from steelyard.session.strict_json import read_bytes

Writer = Callable[[Path], str]
"""Writes a new file, flushed, and returns its SHA-256."""
_TORN = re.compile(rf"[.]{re.escape(LEDGER)}[.][0-9a-f]{{8}}[.]tmp")


def commit(
    root: Path, files: Mapping[str, Writer], removed: Iterable[str], *, event: str, time: str, actor: str
) -> None:
    """Put `files` (path inside the session -> writer) in and take the `removed` ones out; the caller holds the lock.

    Raises:
        SessionError, OSError: the session is as it was or, past the decision, as it shall be when next opened.
    """
    settle(root)
    (root / PENDING).mkdir()
    try:
        payloads: dict[str, str | None] = dict.fromkeys(removed)
        payloads.update(write_all(root / PENDING, files))
        before = read_bytes(root / LEDGER)
        after = extended(before, event, time=time, actor=actor, payloads=payloads, where=str(root / LEDGER))
        rewrite(root / LEDGER, after)
    except BaseException:
        with suppress(OSError, SessionError):  # whoever opens the session next tries again
            settle(root)
        raise
    settle(root)


def write_all(folder: Path, files: Mapping[str, Writer]) -> dict[str, str]:
    """Write `files` (path -> writer) under `folder`, flushed with their folders; their SHA-256 by path."""
    digests = {}
    for inside, write in sorted(files.items()):
        path = folder / inside
        path.parent.mkdir(parents=True, exist_ok=True)
        digests[inside] = write(path)
    for place, _, _ in os.walk(folder, topdown=False):
        flush_folder(Path(place))
    return digests


def settle(root: Path) -> None:
    """Finish or undo what a crash has left; the caller holds the lock.

    Raises:
        SessionError: a broken ledger, a .pending that is no directory.
    """
    for name in os.listdir(root):
        if _TORN.fullmatch(name):
            os.unlink(root / name)
    pending = root / PENDING
    if not os.path.lexists(pending):
        return
    if pending.is_symlink() or not pending.is_dir():
        raise SessionError("this is not a directory of ours", where=str(pending), cure="remove it")
    events = verify(root / LEDGER)
    due = latest(events)
    touched = {root}
    for place, _, files in os.walk(pending):
        for name in files:
            path = Path(place) / name
            inside = path.relative_to(pending).as_posix()
            if not path.is_symlink() and inside in due and file_digest(path) == due[inside]:
                target = confined(root, inside)
                target.parent.mkdir(parents=True, exist_ok=True)
                os.replace(path, target)
                touched.add(target.parent)
    for inside in {inside for event in events for inside in event.payloads} - set(due):
        gone = confined(root, inside)
        gone.unlink(missing_ok=True)
        touched.add(gone.parent)
    for folder in touched:
        if folder.is_dir():
            flush_folder(folder)
    shutil.rmtree(pending)
