"""The bytes of a recording: opened with suspicion, read once, handed on in blocks of whole lines, hashed on the way."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np

from steelyard.errors import DataError

BLOCK = 4 * 2**20
"""Bytes read at a time: large enough for the parser, small enough to stay a footnote in memory."""
LONGEST_LINE = 2**20
"""Bytes in a line; ten thousand columns of full precision fit, a file without line ends does not."""

_BOM = b"\xef\xbb\xbf"
_FOREIGN = (
    (b"PK\x03\x04", "a zip archive or an Excel workbook (.xlsx)", 'open it and save it as "CSV UTF-8"'),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook (.xls)", 'open it and save it as "CSV UTF-8"'),
    (b"\x1f\x8b", "compressed with gzip", "unpack it first: gunzip FILE"),
    (b"BZh", "compressed with bzip2", "unpack it first: bunzip2 FILE"),
    (b"\xfd7zXZ\x00", "compressed with xz", "unpack it first: unxz FILE"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd", "unpack it first: unzstd FILE"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive", "unpack it first"),
    (b"PAR1", "a Parquet file", "export the table as CSV"),
    (b"ARROW1", "an Arrow file", "export the table as CSV"),
    (b"\x89HDF", "an HDF5 file (or MATLAB 7.3)", "export the table as CSV"),
    (b"MATLAB 5.0 MAT", "a MATLAB file", "export it with writetable, names in the first line"),
    (b"\x93NUMPY", "a numpy array", "write it as CSV with column names"),
    (b"\x89MCAP", "an MCAP bag", "export the joint states as CSV"),
    (b"#ROSBAG", "a ROS 1 bag", "export the joint states as CSV"),
    (b"SQLite format 3", "an SQLite database or a ROS 2 bag", "export the joint states as CSV"),
    (b"%PDF", "a PDF", "export the table as CSV"),
    (b"\xff\xfe", "text in UTF-16", 'save it as UTF-8 ("CSV UTF-8" in Excel)'),
    (b"\xfe\xff", "text in UTF-16", 'save it as UTF-8 ("CSV UTF-8" in Excel)'),
)


class Digest(Protocol):
    """What is needed of a running hash."""

    def update(self, data: bytes, /) -> None: ...


@dataclass(frozen=True)
class Block:
    """Whole lines of a file.

    Attributes:
        data: the bytes, every line ended by a line feed.
        first_line: number of the first line, counted from 1.
        lines: how many there are.
        unfinished: the very last line of the file came without its line feed.
    """

    data: bytes
    first_line: int
    lines: int
    unfinished: bool


@contextmanager
def open_recording(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A regular file opened for reading, with every reason why it cannot be said as a DataError."""
    where = os.fspath(path)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe or device would block or never end
            kind = "a directory" if Path(path).is_dir() else "a pipe, socket or device"
            raise DataError(f"this is {kind}, not a file", where=where, cure="name the CSV file itself")
        file = open(path, "rb")  # noqa: SIM115  (closed below; opening apart keeps the caller's errors out of this try)
    except FileNotFoundError:
        raise DataError("there is no such file", where=where, cure=_neighbours(Path(path))) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise DataError(f"the file cannot be read: {reason}", where=where, cure="check path and permissions") from None
    with file:
        yield file


def _neighbours(path: Path) -> str:
    try:
        near = sorted(p.name for p in path.parent.iterdir() if p.suffix.lower() == ".csv")[:5]
    except OSError:
        return "check the path"
    return "the folder holds " + ", ".join(near) if near else "check the path; the folder holds no .csv"


def read_header(file: BinaryIO, digest: Digest, *, where: str) -> str:
    """The first line as text, without byte order mark and line end.

    Raises:
        DataError: an empty, binary, compressed or foreign file, a line without end, text that is not UTF-8.
    """
    line = _guarded(file.readline, LONGEST_LINE + 1, where)
    digest.update(line)
    if not line:
        raise DataError("the file is empty", where=where, cure="record again, or check the export")
    for magic, kind, cure in _FOREIGN:
        if line.startswith(magic):
            raise DataError(f"this is {kind}, not CSV text", where=where, value=line[:8], cure=cure)
    place = f"{where}, line 1"
    if b"\0" in line:
        raise DataError(
            "this is a binary file: it holds NUL bytes", where=place, value=line[:16], cure="export CSV text"
        )
    text_bytes = line.removeprefix(_BOM).removesuffix(b"\n").removesuffix(b"\r")
    if len(line) > LONGEST_LINE or b"\r" in text_bytes:
        raise DataError(
            f"the line does not end within {LONGEST_LINE} bytes"
            if len(line) > LONGEST_LINE
            else "carriage returns stand inside the line",
            where=place,
            value=text_bytes[:40],
            cure="end every line with a line feed (LF or CR LF); a lone CR is not a line end",
        )
    try:
        text = text_bytes.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"byte {error.start + 1} of the line is not UTF-8", where=place, value=text_bytes[:40], cure="save as UTF-8"
        ) from None
    if not text.isprintable() and not text.replace("\t", "").isprintable():
        raise DataError("the line holds control characters", where=place, value=text[:40], cure="export CSV text")
    return text


def whole_lines(file: BinaryIO, digest: Digest, *, where: str, first_line: int = 2) -> Iterator[Block]:
    """The rest of the file in blocks of whole lines; the digest has seen every byte when the iteration ends.

    Raises:
        DataError: a line longer than `LONGEST_LINE`, or the disk fails.
    """
    rest = b""
    while data := _guarded(file.read, BLOCK, where):
        digest.update(data)
        cut = data.rfind(b"\n") + 1
        if cut == 0:
            rest += data
        else:
            block = Block(rest + data[:cut], first_line, _line_feeds(data), unfinished=False)
            rest = data[cut:]
            first_line += block.lines
            yield block
        if len(rest) > LONGEST_LINE:
            raise DataError(
                f"the line does not end within {LONGEST_LINE} bytes",
                where=f"{where}, line {first_line}",
                value=rest[:40],
                cure="end every line with a line feed",
            )
    if rest:
        yield Block(rest + b"\n", first_line, 1, unfinished=True)


def _line_feeds(data: bytes) -> int:
    return int(np.count_nonzero(np.frombuffer(data, dtype=np.uint8) == 10))


def _guarded(read: Read, size: int, where: str) -> bytes:
    try:
        return read(size)
    except OSError as error:
        raise DataError(f"the file cannot be read: {error.strerror}", where=where, cure="check the disk") from None


class Read(Protocol):
    """A bounded read of a binary file."""

    def __call__(self, size: int, /) -> bytes: ...
