"""Lines of a CSV to numbers: a fast parser for the good case, and a strict reading that names the first bad cell."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import DataError
from steelyard.formats.csv_source import Block

Array = NDArray[np.float64]

_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_BLANK_BEFORE = re.compile(rb"(?:^|[,\n])[ \t]+[-+.0-9]")
_CUT_SHORT = re.compile(rb"[-+.eE]$")


@dataclass(frozen=True)
class Table:
    """The header as far as cells are concerned.

    Attributes:
        names: every column of the file, as written there.
        kept: indices of the columns that are read as numbers, ascending.
        where: the file, for messages.
    """

    names: tuple[str, ...]
    kept: tuple[int, ...]
    where: str


def read_numbers(table: Table, block: Block) -> Array:
    """The kept columns of a block of lines, (lines, len(kept)).

    Raises:
        DataError: names the line, the column and the text of the first cell that is not one plain decimal number.
    """
    fast = _fast(table, block)
    return _strict(table, block) if fast is None else fast


def is_number(text: str) -> bool:
    """Whether a cell is one plain decimal number by the grammar of the contract."""
    return _NUMBER.fullmatch(text.encode()) is not None


def _fast(table: Table, block: Block) -> Array | None:
    """The numbers by way of polars; None where anything is not as plain as it should be."""
    import polars as pl

    data = block.data
    everything = len(table.kept) == len(table.names)
    # the parser takes blanks before a number and a carriage return after it; text in ignored columns may hold blanks
    blanks = (b" " in data or b"\t" in data) if everything else _BLANK_BEFORE.search(data) is not None
    if blanks or b"\0" in data or (b"\r" in data and data.count(b"\r\n") != data.count(b"\r")):
        return None
    if block.unfinished and _CUT_SHORT.search(data[-64:].rstrip(b"\r\n")):
        return None
    kept = frozenset(table.kept)
    try:
        frame = pl.read_csv(
            data,
            has_header=False,
            schema={str(k): pl.Float64 if k in kept else pl.String for k in range(len(table.names))},
            quote_char=None,
        )
    except pl.exceptions.PolarsError:
        return None
    numbers = (frame if everything else frame.select([str(k) for k in table.kept])).to_numpy()
    if numbers.shape != (block.lines, len(table.kept)) or not np.isfinite(numbers).all():
        return None  # a missing cell arrives as nan
    return numbers


def _strict(table: Table, block: Block) -> Array:
    """The numbers cell by cell; this reading decides what is valid."""
    numbers = np.empty((block.lines, len(table.kept)))
    for row, line in enumerate(block.data.split(b"\n")[:-1]):
        last = block.unfinished and row == block.lines - 1
        cells = _cells(table, line.removesuffix(b"\r"), block.first_line + row, last)
        numbers[row] = [float(cells[k]) for k in table.kept]
    return numbers


def _cells(table: Table, line: bytes, number: int, unfinished: bool) -> list[bytes]:
    where = f"{table.where}, line {number}"
    cells = line.split(b",")
    _check_line(table, line, cells, where, unfinished)
    if unfinished and _CUT_SHORT.search(cells[-1]):
        raise _truncated(f"{where}, column {table.names[-1]}", cells[-1])
    bad = [k for k in table.kept if not _NUMBER.fullmatch(cells[k])]
    if len(bad) > 1 and number == 2 and not any(_looks_numeric(cells[k]) for k in bad):
        raise DataError(
            "the line after the header holds words, not numbers: a row of units or descriptions",
            where=f"{where}, column {table.names[bad[0]]}",
            value=_shown(line),
            cure="delete the line; units are declared in the study file, [recording.unit]",
        )
    for k in bad:
        what, cure = _diagnose(cells[k])
        raise DataError(what, where=f"{where}, column {table.names[k]}", value=_shown(cells[k]), cure=cure)
    for k in table.kept:
        if not np.isfinite(float(cells[k])):
            raise DataError(
                "the number is beyond the range of double precision",
                where=f"{where}, column {table.names[k]}",
                value=_shown(cells[k]),
                cure="cut the interval out of the recording or record again; values are never filled in",
            )
    return cells


def _check_line(table: Table, line: bytes, cells: Sequence[bytes], where: str, unfinished: bool) -> None:
    names = table.names
    if b"\0" in line:
        raise DataError(
            "the line holds NUL bytes: the logger died, or the file is binary",
            where=where,
            value=_shown(line),
            cure="cut the file before this line, or record again",
        )
    if not line.strip():
        raise DataError("the line is blank", where=where, value=_shown(line), cure="delete it; one line is one sample")
    if cells[0] == names[0].encode() and not is_number(names[0]):
        raise DataError(
            "the header stands here again: two recordings were joined",
            where=where,
            value=_shown(line),
            cure="split the file here; commands take several recordings",
        )
    if len(cells) == len(names):
        return
    if unfinished and len(cells) < len(names):
        raise _truncated(where, line)
    if b";" in line:
        cure = 'separate columns with "," and write decimals with "."'
    elif len(cells) > len(names):
        cure = "write one cell per column; if the file uses decimal commas, export it with decimal points"
    else:
        cure = "complete or delete the line; cells are never filled in"
    raise DataError(
        f"the line has {len(cells)} cells, the header {len(names)}",
        where=f"{where}, column {names[len(cells)] if len(cells) < len(names) else 'after ' + names[-1]}",
        value=_shown(line),
        cure=cure,
    )


def _truncated(where: str, found: bytes) -> DataError:
    return DataError(
        "the last line is cut off: the recording stopped in the middle of it",
        where=where,
        value=_shown(found),
        cure="delete the last line",
    )


def _diagnose(cell: bytes) -> tuple[str, str]:
    """What is wrong with a cell that is not a number, and the cure."""
    text = cell.strip().lower().strip(b"\"'")
    cut = "cut the interval out of the recording or record again; values are never filled in"
    if not cell.strip():
        return "the cell is empty", cut
    if text in (b"-", b"--", b"na", b"n/a", b"null", b"none", b"#n/a", b"missing", b"?"):
        return "the cell holds a mark for a missing value", cut
    if text.lstrip(b"+-") in (b"nan", b"inf", b"infinity", b"1.#inf", b"1.#ind", b"1.#qnan", b"nan(ind)"):
        return "the value is not finite", cut
    if b"\xff" in cell or not cell.isascii():
        return "the cell holds characters that are no digits", "write plain decimal numbers in ASCII"
    if cell[:1] in b"\"'":
        return "the cell stands in quotation marks", "export numbers without quotation marks"
    if _NUMBER.fullmatch(cell.strip()):
        return "blanks stand around the number", 'write the cells without blanks: only "," separates them'
    if text.lstrip(b"+-").startswith(b"0x"):
        return "the cell is a hexadecimal number", "write plain decimal numbers"
    if b"_" in cell:
        return "the cell holds an underscore", "write plain decimal numbers"
    if b";" in cell:
        return 'the cell holds ";"', 'separate columns with ","'
    return "the cell is not a number", "write one plain decimal number, without unit; units go to the study file"


def _looks_numeric(cell: bytes) -> bool:
    return not cell.strip() or cell[:1] in b"+-.0123456789" or cell.lower() in (b"nan", b"inf", b"na", b"null")


def _shown(found: bytes) -> str:
    text = found.decode("utf-8", errors="backslashreplace")
    return text if len(text) <= 60 else text[:57] + "..."
