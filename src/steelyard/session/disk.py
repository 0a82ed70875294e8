"""The disk as a session sees it: hashed copies, flushed files, one writer at a time, and failures said in words."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from steelyard.errors import SessionError

BLOCK = 2**20
_NO_LOCKS = (errno.EBADF, errno.EINVAL, errno.ENOLCK, errno.EOPNOTSUPP)


@contextmanager
def spoken(where: str | os.PathLike[str], *, doing: str = "written") -> Iterator[None]:
    """Says an OSError as a SessionError about `where`, which could not be `doing`."""
    try:
        yield
    except OSError as error:
        raise SessionError(
            f"cannot be {doing}: {error.strerror or error}",
            where=os.fspath(where),
            cure="check that the place exists, that you have the rights, and that the disk has room",
        ) from None


@contextmanager
def locked(directory: Path, *, shared: bool = False) -> Iterator[None]:
    """Alone among all that lock `directory` (or, shared, among readers), also when another takes its place meanwhile.

    A file system without locks (some network drives) has none; there, one writer at a time is up to the people.
    """
    while True:
        descriptor = hold(directory, shared=shared)
        try:
            if os.path.samestat(os.fstat(descriptor), os.stat(directory)):
                yield
                return
        finally:
            os.close(descriptor)


def hold(directory: Path, *, shared: bool = False, wait: bool = True) -> int:
    """A descriptor that holds the lock of `directory` until it is closed.

    Raises:
        BlockingIOError: another holds it and `wait` is false.
    """
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            os.close(descriptor)
            raise
    return descriptor


def copy_hashed(source: Path, target: Path, *, expected: str) -> str:
    """Copy a regular file byte by byte, read-only, and return its SHA-256.

    Raises:
        SessionError: `source` cannot be read, or its SHA-256 is not the `expected` one.
        OSError: `target` cannot be written.
    """
    digest = hashlib.sha256()
    with spoken(source, doing="read"):
        if not stat.S_ISREG(os.stat(source).st_mode):
            raise SessionError("this is not a regular file", where=str(source), cure="name the file itself")
        reading = open(source, "rb")  # noqa: SIM115  (closed below; apart, so that errors of writing are not said of it)
    with reading, open(target, "xb") as writing:
        while block := _read(reading, source):
            digest.update(block)
            writing.write(block)
        os.fchmod(writing.fileno(), 0o444)
        flush(writing)
    found = digest.hexdigest()
    if found != expected:
        raise SessionError(
            "the file has changed since it was read",
            where=str(source),
            value=f"SHA-256 {found}, then {expected}",
            cure="close the program that writes it, and start again",
        )
    return found


def _read(file: BinaryIO, source: Path) -> bytes:
    with spoken(source, doing="read"):
        return file.read(BLOCK)


def write_new(path: Path, data: bytes, *, read_only: bool = False) -> str:
    """Write a new file, flush it to the disk, and return its SHA-256."""
    with open(path, "xb") as file:
        file.write(data)
        if read_only:
            os.fchmod(file.fileno(), 0o444)
        flush(file)
    return hashlib.sha256(data).hexdigest()


def confined(root: Path, inside: str) -> Path:
    """The path of a file inside `root`; raises SessionError where a symbolic link would lead elsewhere."""
    path = root
    for part in inside.split("/"):
        path = path / part
        if path.is_symlink():
            raise SessionError("this is a symbolic link", where=str(path), cure="put the file itself there")
    return path


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def flush(file: BinaryIO) -> None:
    """What was written is on the disk, not only on its way."""
    file.flush()
    os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """The names in a folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
