"""Writing a file so that its readers see the old content or the new, never a part of it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from steelyard.errors import DataError


def write_atomically(path: str | os.PathLike[str], pieces: Iterable[bytes]) -> None:
    """Write `pieces` to a temporary file beside `path`, flush it to the disk and move it into place.

    A crash leaves at most a file `.<name>.<random>.tmp`; the file that stood there before is never touched.

    Raises:
        DataError: the file cannot be written (no folder, no permission, disk full); what stood there stands.
    """
    target = Path(path)
    if not target.name or "\0" in target.name or target.is_dir():
        raise DataError("this is not the name of a file", where=str(target), cure="name the file to write")
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        try:
            with open(temporary, "xb") as file:
                for piece in pieces:
                    file.write(piece)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        finally:
            temporary.unlink(missing_ok=True)
        _flush_folder(target.parent)
    except OSError as error:
        raise DataError(
            f"the file cannot be written: {error.strerror}",
            where=str(target),
            cure="check that the folder exists, may be written to and has room",
        ) from None


def _flush_folder(folder: Path) -> None:
    """The rename itself must survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
