"""Model files held in memory: read by the same strict readers as files on disk, and compared for review."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from steelyard.errors import ModelError
from steelyard.finding import Finding
from steelyard.robot.urdf_description import UrdfDescription
from steelyard.robot.urdf_lint import lint_urdf, load_urdf_description
from steelyard.robot.xml_reader import read_model_xml

Read = TypeVar("Read")
_FILE = "model"


def description_of(data: bytes, file: str) -> UrdfDescription:
    """The robot in a URDF that passes the linter.

    Args:
        data: the URDF.
        file: its name, for messages.

    Raises:
        ModelError: the first error of the linter.
    """
    return _from_disk(data, file, load_urdf_description)


def findings_of(data: bytes, file: str) -> tuple[Finding, ...]:
    """All that the linter says about a URDF.

    Raises:
        ModelError: it is no URDF at all.
    """
    return _from_disk(data, file, lint_urdf).findings


def require_mjcf(data: bytes, file: str) -> None:
    """Refuse what is no well-formed MJCF.

    Raises:
        ModelError: as `steelyard.robot.xml_reader.read_model_xml`, or the file is a URDF.
    """
    if _from_disk(data, file, read_model_xml).kind != "mjcf":
        raise ModelError("an MJCF is expected, this is a URDF", where=file, choices=("<mujoco>",))


def unified_diff(before: bytes, after: bytes, *, old: str, new: str) -> bytes:
    """The difference between two texts for review, as `diff -u` prints it; empty where there is none.

    Line ends are those of the files, so that ``patch --binary`` makes `after` from `before`.

    Args:
        before, after: the texts.
        old, new: names for the two header lines.
    """
    lines = difflib.diff_bytes(
        difflib.unified_diff,
        _lines(before),
        _lines(after),
        old.encode(),
        new.encode(),
    )
    return b"".join(line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in lines)


def _lines(data: bytes) -> list[bytes]:
    """Lines end with LF, as every diff tool has it; a CR before it belongs to the line."""
    parts = data.split(b"\n")
    return [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _from_disk(data: bytes, file: str, read: Callable[[Path], Read]) -> Read:
    """The readers take files, so that they can bound what they load; their messages name `file`, not the copy."""
    with TemporaryDirectory(prefix="steelyard-") as folder:
        path = Path(folder, _FILE)
        path.write_bytes(data)
        try:
            return read(path)
        except ModelError as error:
            where = error.where.removeprefix(folder).removeprefix("/").removeprefix(_FILE)
            raise ModelError(
                error.what, where=file + where, value=error.value, choices=error.choices, cure=error.cure
            ) from None
