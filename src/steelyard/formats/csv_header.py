"""The first line of a CSV: which column is what, and a ready mapping where the names are somebody else's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

from steelyard.data.contract import CONTRACT, TIME, Layout, check_joint_names, layout, split_name
from steelyard.errors import DataError
from steelyard.formats.column_names import ColumnNames
from steelyard.formats.csv_cells import Table, is_number
from steelyard.formats.csv_source import LONGEST_LINE
from steelyard.suggest import closest

MOST_COLUMNS = 4096
_SEARCHED = 100
"""Lines searched for the real header, or for the decimal mark, once the first line is known to be wrong."""

_GUESSES = (
    (r"hat|pred|model|cmd|command|target|desired|setpoint|temp", ""),
    (r"time|stamp|^t$|^t[_ ]|clock", TIME),
    (r"acc|ddq|qdd", "ddq/<joint>"),
    (r"vel|speed|dq|qd", "dq/<joint>"),
    (r"eff|torq|tau|curr|force|moment", "tau/<joint>"),
    (r"pos|angle|^q|[_/.]q|enc", "q/<joint>"),
)
"""What a foreign name probably means; "" is left out, as what was commanded or predicted is not a measurement."""


@dataclass(frozen=True)
class Header:
    """What the first line says.

    Attributes:
        table: every column of the file and which of them are read.
        layout: time and channels, as indices into the columns that are read.
        renamed: columns that go by another name than the file's, as (file's, ours).
        ignored: columns left out because the study says so.
    """

    table: Table
    layout: Layout
    renamed: tuple[tuple[str, str], ...]
    ignored: tuple[str, ...]


def parse_header(
    text: str, file: BinaryIO, *, where: str, columns: ColumnNames, joint_names: Sequence[str] | None
) -> Header:
    """Understand the first line, `text`; `file` stands behind it and is read on only to explain an error.

    Raises:
        DataError: another delimiter, no header, blank, quoted, doubled or foreign names, incomplete groups, joints the
            robot does not have.
        StudyError: a mapping of the study that matches nothing here.
    """
    place = f"{where}, line 1"
    _check_delimiter(text, file, place)
    names = text.split(",")
    _check_spelling(names, columns, place)
    ours = columns.translate(names, where=place)
    foreign = [name for name, own in zip(names, ours, strict=True) if own and own != TIME and split_name(own) is None]
    if foreign or TIME not in ours:
        _raise_foreign(names, foreign, file, where)
    kept = tuple(k for k, own in enumerate(ours) if own)
    found = layout([ours[k] for k in kept], where=place)
    if joint_names is not None:
        check_joint_names(found.joint_names, joint_names, where=place)
    return Header(
        Table(tuple(names), kept, where),
        found,
        tuple((name, own) for name, own in zip(names, ours, strict=True) if own and own != name),
        tuple(name for name, own in zip(names, ours, strict=True) if not own),
    )


def _check_delimiter(text: str, file: BinaryIO, place: str) -> None:
    if not text.strip():
        raise DataError("the line is blank", where=place, value=text, cure="the first line holds the column names")
    marks = {";": '";"', "\t": "tabs", "|": '"|"'}
    name = next((shown for mark, shown in marks.items() if text.count(mark) > text.count(",")), None)
    if name is None and "," not in text and len(text.split()) > 1:
        name = "blanks"
    if name is None:
        return
    _check_not_below(text, file, place)
    decimal_comma = re.search(rb"[0-9],[0-9]", file.readline(LONGEST_LINE)) is not None
    raise DataError(
        f"the columns are separated by {name}" + (" and the decimals by a comma" if decimal_comma else ""),
        where=place,
        value=text[:60],
        cure='export with "," between columns and "." in decimals (a spreadsheet: set the language to English first)',
    )


def _check_spelling(names: Sequence[str], columns: ColumnNames, place: str) -> None:
    if len(names) > MOST_COLUMNS:
        raise DataError(f"more than {MOST_COLUMNS} columns", where=place, value=len(names), cure="is this a recording?")
    numbers = sum(is_number(name.strip()) and name not in columns.rename for name in names)
    if 2 * numbers >= len(names):
        raise DataError(
            "there is no header: the first line holds numbers",
            where=place,
            value=",".join(names)[:60],
            choices=CONTRACT,
            cure=f'put the names in the first line, e.g. "{TIME},q/joint_1,tau/joint_1"',
        )
    seen: set[str] = set()
    for k, name in enumerate(names):
        column = f"{place}, column {k + 1}"
        if not name.strip():
            raise DataError("the column has no name", where=column, value=name, cure="name it, or delete the comma")
        if name[0] in "\"'":
            raise DataError(
                "the name stands in quotation marks", where=column, value=name, cure="export without quotes"
            )
        if any(part != part.strip() for part in (name, *name.split("/", 1))):
            raise DataError("blanks stand around the name", where=column, value=name, cure='write "," without blanks')
        if name in seen:
            raise DataError("the column stands twice", where=column, value=name, cure="keep the one that is right")
        seen.add(name)


def _raise_foreign(names: Sequence[str], foreign: Sequence[str], file: BinaryIO, where: str) -> None:
    _check_not_below(",".join(names), file, f"{where}, line 1")
    shown = ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
    place = f"{where}, line 1" + (f", column {foreign[0]}" if foreign else "")
    what = "the column is not part of the contract" if foreign else f"the column {TIME} is missing"
    raise DataError(f"{what}; the file has the columns {shown}", where=place, choices=CONTRACT, cure=_example(names))


def _check_not_below(first: str, file: BinaryIO, place: str) -> None:
    """The first line is not a header; say so if one of the next lines is."""
    real = _line_of_header(file)
    if real is not None:
        raise DataError(
            f"the header stands in line {real}, not in the first line",
            where=place,
            value=first[:60],
            cure=f"delete the {real - 1} lines above it",
        )


def _line_of_header(file: BinaryIO) -> int | None:
    start = file.tell()
    for number in range(2, _SEARCHED + 2):
        line = file.readline(LONGEST_LINE)
        if TIME.encode() in line.strip().split(b","):
            file.seek(start)
            return number
    file.seek(start)
    return None


def _example(names: Sequence[str]) -> str:
    """A study file for the names found, to be completed by the user."""
    foreign = [name for name in names if name != TIME and split_name(name) is None]
    guesses = {name: _guess(name) for name in foreign}
    mapped = [f'    "{name}" = "{own}"' for name, own in guesses.items() if own][:8]
    if TIME not in (*names, *guesses.values()):
        mapped.insert(0, f'    "<column of the stamps>" = "{TIME}"')
    rest = ", ".join([f'"{name}"' for name, own in guesses.items() if not own][:4]) or '"name", "group/*"'
    first = "map the names in a study file (--config STUDY.toml), with your joints for <joint>:"
    last = f"  and leave out what is not needed:  [recording] ignore = [{rest}]"
    return "\n".join([first, "    [recording.columns]", *mapped, last] if mapped else [last.strip()])


def _guess(name: str) -> str:
    near = closest(name, (TIME,))
    return near or next((own for pattern, own in _GUESSES if re.search(pattern, name.casefold())), "")
