"""All breaches of the contract in a recording, where reading stops at the first: what, how often and where."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from steelyard.data.contract import LARGEST, LATEST, SMALLEST, TIME
from steelyard.errors import DataError
from steelyard.finding import Finding
from steelyard.formats.column_names import ColumnNames
from steelyard.formats.csv_header import Header, parse_header
from steelyard.formats.csv_source import Block, open_recording, read_header, whole_lines
from steelyard.formats.study_schema import Study

Array = NDArray[np.float64]
_CUT = "cut the interval out of the recording or record again; values are never filled in"


@dataclass
class _Tally:
    """How often something happened, and in which lines first and last."""

    count: int = 0
    first: int = 0
    last: int = 0
    example: str = ""

    def add(self, lines: NDArray[np.intp], example: str = "") -> None:
        if lines.size:
            if not self.count:
                self.first, self.example = int(lines[0]), example
            self.count += lines.size
            self.last = int(lines[-1])

    def where(self, path: str, column: str) -> str:
        lines = f"line {self.first}" if self.count == 1 else f"lines {self.first} to {self.last}"
        return f"{path}, {lines}, column {column}"


@dataclass
class _Survey:
    """What was seen so far."""

    samples: int = 0
    bad: dict[str, _Tally] = field(default_factory=dict)
    absurd: dict[str, _Tally] = field(default_factory=dict)
    backward: _Tally = field(default_factory=_Tally)
    twice: _Tally = field(default_factory=_Tally)
    before: float = float("nan")


def survey_csv(path: str | os.PathLike[str], *, study: Study | None = None) -> list[Finding]:
    """Findings on cells without a usable number and on stamps that do not advance, each with count and lines.

    Args:
        path: a file with a valid header; what follows it may be anything.
        study: for the names of its columns.

    Returns:
        One finding for each column or clock fault; none where lines cannot be told apart as cells.

    Raises:
        DataError, StudyError: a header that cannot be understood.
    """
    where = os.fspath(path)
    digest = hashlib.sha256()
    seen = _Survey()
    with open_recording(path) as file:
        text = read_header(file, digest, where=where)
        columns = ColumnNames() if study is None else study.recording.names()
        header = parse_header(text, file, where=where, columns=columns, joint_names=None)
        try:
            for block in whole_lines(file, digest, where=where):
                numbers = _numbers(header, block)
                if numbers is None:
                    break
                _count(seen, numbers, header, block, seconds=study is None or not study.recording.unit.get(TIME))
        except DataError:
            pass  # a line without end: what was seen before it stands
    return _told(seen, where)


def _numbers(header: Header, block: Block) -> Array | None:
    """The kept columns of a block, nan where a cell is no number; None where lines have other numbers of cells."""
    import polars as pl

    names = [str(k) for k in range(len(header.table.names))]
    try:
        frame = pl.read_csv(
            block.data, has_header=False, schema=dict.fromkeys(names, pl.String), quote_char=None, encoding="utf8-lossy"
        )
        kept = frame.select([pl.col(names[k]).cast(pl.Float64, strict=False) for k in header.table.kept])
    except pl.exceptions.PolarsError:
        return None
    numbers = kept.fill_null(float("nan")).to_numpy()
    return numbers if numbers.shape == (block.lines, len(header.table.kept)) else None


def _count(seen: _Survey, numbers: Array, header: Header, block: Block, *, seconds: bool) -> None:
    lines = block.first_line + np.arange(block.lines)
    finite = np.isfinite(numbers)
    for k, index in enumerate(header.table.kept):
        name, values = header.table.names[index], numbers[:, k]
        seen.bad.setdefault(name, _Tally()).add(lines[~finite[:, k]])
        largest = (LATEST if seconds else np.inf) if k == header.layout.time else LARGEST
        size = np.abs(values)
        odd = finite[:, k] & ((size >= largest) | ((size > 0.0) & (size < SMALLEST)))
        seen.absurd.setdefault(name, _Tally()).add(lines[odd], f"{values[odd][0]:.3g}" if odd.any() else "")
    good = finite[:, header.layout.time]
    time, at = numbers[good, header.layout.time], lines[good]
    steps = np.diff(time, prepend=seen.before)
    for tally, wrong in ((seen.backward, steps < 0.0), (seen.twice, steps == 0.0)):
        first = np.flatnonzero(wrong)
        if first.size:
            now = float(time[first[0]])
            tally.add(at[wrong], f"{now - float(steps[first[0]]):.9g} s then {now:.9g} s")
    if time.size:
        seen.before = float(time[-1])
    seen.samples += block.lines


def _told(seen: _Survey, where: str) -> list[Finding]:
    findings = []
    for name, tally in seen.bad.items():
        if tally.count:
            message = f"{name} holds no finite number in {tally.count} of {seen.samples} samples"
            findings.append(Finding("data.nan", "error", message, tally.where(where, name), tally.count, _CUT))
    for name, tally in seen.absurd.items():
        if tally.count:
            message = (
                f"{name} holds a value that nothing measures in {tally.count} of {seen.samples} samples, "
                f"the first {tally.example}"
            )
            cure = f"{_CUT}; check that the driver fills this signal"
            findings.append(Finding("data.absurd", "error", message, tally.where(where, name), tally.count, cure))
    cure = "export the stamps of one monotonic clock with all their digits, or split the recording there"
    for code, tally, what in (
        ("data.clock_backward", seen.backward, "the clock goes back in"),
        ("data.duplicate_stamp", seen.twice, "the same stamp stands twice in"),
    ):
        if tally.count:
            message = f"{what} {tally.count} place(s), first {tally.example}"
            findings.append(Finding(code, "error", message, tally.where(where, TIME), tally.count, cure))
    return findings
