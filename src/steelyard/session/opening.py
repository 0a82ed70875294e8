"""Opening a session: every file it has recorded is read again and must be what it was, byte for byte."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import SessionError
from steelyard.session.amending import settle
from steelyard.session.disk import confined, file_digest, locked, spoken
from steelyard.session.layout import (
    LEDGER,
    MODEL_DIGEST,
    PENDING,
    REPORT,
    RESULT,
    SESSION,
    model_digest_text,
    present,
)
from steelyard.session.ledger import Event, latest, verify
from steelyard.session.schema import RecordingEntry, ResultFile, Role, SessionFile
from steelyard.session.strict_json import read_bytes, read_json
from steelyard.session.swap import interrupted

_RESTORE = "restore the file from a backup; what was found with it is void until then"


@dataclass(frozen=True)
class Session:
    """A session whose files were all found unchanged.

    Attributes:
        directory: where it is.
        manifest: session.json.
        result: result.json, None before identification.
        digests: path inside the session -> SHA-256 of every recorded file.
        events: the ledger.
    """

    directory: Path
    manifest: SessionFile
    result: ResultFile | None
    digests: Mapping[str, str]
    events: tuple[Event, ...]

    def path(self, inside: str) -> Path:
        """A recorded file; raises SessionError for a name that is not recorded."""
        if inside not in self.digests:
            raise SessionError(
                "not a file of this session", where=str(self.directory), value=inside, choices=tuple(self.digests)
            )
        return self.directory / inside

    @property
    def model(self) -> Path:
        """The robot description."""
        return self.path(self.manifest.model.path)

    @property
    def study(self) -> Path | None:
        """The study file."""
        return None if self.manifest.study is None else self.path(self.manifest.study.path)

    def recordings(self, role: Role) -> tuple[tuple[RecordingEntry, Path], ...]:
        """What is known of each recording of a role, and its copy."""
        return tuple((entry, self.path(entry.path)) for entry in self.manifest.role(role))


def open_session(directory: str | os.PathLike[str]) -> Session:
    """The session in a directory, after hashing all its files again.

    Raises:
        SessionError: no session; a file that is missing, changed (with expected and found SHA-256), a link or not
            recorded; a ledger whose chain is broken; a result of other data or of another model.
    """
    root = Path(directory)
    with spoken(root, doing="read"):
        if "\0" in str(root) or not root.is_dir():
            aside = interrupted(root)
            raise SessionError(
                "there is no such session",
                where=str(root),
                cure=f"a replacement was interrupted: rename {aside} back" if aside else "steelyard init makes one",
            )
        if os.path.lexists(root / PENDING):
            with locked(root):
                settle(root)
        with locked(root, shared=True):
            return read_session(root)


def read_session(root: Path) -> Session:
    """As `open_session`, for who holds the lock; OSError is not yet put into words."""
    if not (os.path.lexists(root / SESSION) or os.path.lexists(root / LEDGER)):
        raise SessionError("this is not a session", where=str(root), cure="steelyard init makes one")
    events = verify(root / LEDGER)
    digests = latest(events)
    for inside, expected in digests.items():
        _check_bytes(root, inside, expected)
    manifest = read_json(root / SESSION, SessionFile)
    _check_record(root, manifest, digests)
    result = None
    if RESULT in digests:
        result = read_json(root / RESULT, ResultFile)
        check_result(result, manifest, where=str(root / RESULT))
    return Session(root, manifest, result, digests, events)


def check_result(result: ResultFile, manifest: SessionFile, *, where: str) -> None:
    """Raise SessionError when a result is not of the model and the recordings of the session."""
    if result.model_digest != manifest.model.sha256:
        raise _foreign("model_digest", where, result.model_digest, manifest.model.sha256)
    if result.joint_names != manifest.joint_names:
        raise _foreign("joint_names", where, result.joint_names, manifest.joint_names)
    digests = {entry.path: entry.sha256 for entry in manifest.role("train")}
    for given in result.inputs:
        if given.path not in digests:
            raise _foreign("inputs", where, given.path, tuple(digests))
        if given.sha256 != digests[given.path]:
            raise _foreign(f"inputs, {given.path}", where, given.sha256, digests[given.path])
    names = tuple(entry.name for entry in manifest.role("validation"))
    for entry in result.validation:
        if entry.file not in names:
            raise _foreign("validation", where, entry.file, names)


def _foreign(key: str, where: str, found: object, expected: object) -> SessionError:
    return SessionError(
        "the result is not of this session",
        where=f"{where}, {key}",
        value=f"{found}, expected {expected}",
        cure="identify again from this session",
    )


def _check_bytes(root: Path, inside: str, expected: str) -> None:
    path = confined(root, inside)
    if not path.is_file():
        raise SessionError("a recorded file is missing", where=str(path), value=f"SHA-256 {expected}", cure=_RESTORE)
    found = file_digest(path)
    if found != expected:
        raise _changed(path, expected, found)


def _check_record(root: Path, manifest: SessionFile, digests: Mapping[str, str]) -> None:
    """session.json and the ledger speak of the same files, and no file of the session is left out."""
    stated = {entry.path: entry.sha256 for entry in manifest.recordings}
    stated[manifest.model.path] = manifest.model.sha256
    if manifest.study is not None:
        stated[manifest.study.path] = manifest.study.sha256
    for inside, expected in stated.items():
        if digests.get(inside) != expected:
            raise _changed(root / inside, expected, digests.get(inside, "none in the ledger"))
    if MODEL_DIGEST not in digests or read_bytes(root / MODEL_DIGEST) != model_digest_text(manifest):
        raise SessionError("this is not the digest of the model", where=str(root / MODEL_DIGEST), cure=_RESTORE)
    extra = [inside for inside in present(root) if inside not in digests and inside not in (LEDGER, REPORT)]
    if extra:
        raise SessionError(
            "no event of the ledger knows this file",
            where=str(root / extra[0]),
            cure="move it out of the session; if it belongs there, lines of the ledger are missing",
        )


def _changed(path: Path, expected: str, found: str) -> SessionError:
    return SessionError(
        "the file is not what it was", where=str(path), value=f"SHA-256 {found}, expected {expected}", cure=_RESTORE
    )
