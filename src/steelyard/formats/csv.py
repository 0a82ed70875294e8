"""Recordings as CSV: `time_s,q/<joint>...,dq/...,ddq/...,tau/...`, read strictly and written exactly.

The contract is in docs/formats.md.  A file that breaks it is refused with line, column, value and cure; nothing is
repaired, filled in or guessed.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from steelyard.data.contract import (
    LATEST,
    REFERENCE_STEPS,
    TIME,
    first_stall,
    first_unusable,
    reference_step,
    segment_breaks,
)
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.formats.column_names import ColumnNames
from steelyard.formats.csv_cells import read_numbers
from steelyard.formats.csv_header import Header, parse_header
from steelyard.formats.csv_source import Block, open_recording, read_header, whole_lines
from steelyard.formats.csv_write import write_csv, write_prediction
from steelyard.formats.joint_side import Conversion, conversion
from steelyard.formats.samples import Samples, gathered, joined, split

if TYPE_CHECKING:
    from steelyard.formats.study_schema import Study

__all__ = ["iterate_csv", "read_csv", "write_csv", "write_prediction"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _Meaning:
    """How one file is understood: its header, what the study adds, and the steps that leaves in the provenance."""

    header: Header
    conversion: Conversion | None
    steps: tuple[str, ...]


def read_csv(
    path: str | os.PathLike[str], *, study: Study | None = None, joint_names: Sequence[str] | None = None
) -> Trajectory:
    """A whole recording, SI units, joint side.

    Columns go by name in any order; the joints keep the order of their q columns.  time_s and q are required, dq, ddq
    and tau may be absent.  Steps longer than ten median steps start a new segment.

    Args:
        path: a CSV file in UTF-8.
        study: what the file's columns mean where they are not SI at the joint side.
        joint_names: the robot's joints; another name is an error, absent ones are not.

    Returns:
        A trajectory whose `source` is the SHA-256 of the file and whose `name` is the file name.

    Raises:
        DataError: the first breach of the contract, with file, line, column, value and cure.
        StudyError: a study that does not fit the recording.
    """
    where = os.fspath(path)
    digest = hashlib.sha256()
    with open_recording(path) as file:
        meaning = _understand(read_header(file, digest, where=where), file, where, study, joint_names)
        whole = gathered(_samples(whole_lines(file, digest, where=where), meaning, where), where=where)
    if whole is None:
        raise _no_samples(where)
    return _trajectory(whole, meaning, source=digest.hexdigest(), path=path, step=reference_step(whole.time))


def iterate_csv(
    path: str | os.PathLike[str],
    *,
    rows: int = 200_000,
    study: Study | None = None,
    joint_names: Sequence[str] | None = None,
) -> Iterator[Trajectory]:
    """The same recording in consecutive chunks of `rows` samples, in memory for a few chunks, however long the file.

    All chunks carry the digest of the whole file, which is read once beforehand to find it.  Samples, steps and gaps
    inside a chunk are those of `read_csv`; a gap between two chunks shows in their stamps.

    Args:
        path, study, joint_names: as for `read_csv`.
        rows: samples a chunk; the last one may be shorter.

    Raises:
        DataError, StudyError: as `read_csv`, when the iteration reaches the breach; also when the file changes
            between the two readings.
    """
    if rows < 1:
        raise DataError("a chunk needs at least one sample", where=os.fspath(path), value=rows, cure="rows=200_000")
    where = os.fspath(path)
    source, step = _survey(path, where, study, joint_names)
    digest = hashlib.sha256()
    with open_recording(path) as file:
        meaning = _understand(read_header(file, digest, where=where), file, where, study, joint_names)
        waiting: list[Samples] = []
        count = 0
        for part in _samples(whole_lines(file, digest, where=where), meaning, where):
            waiting.append(part)
            count += part.time.size
            while count >= rows:
                chunk, rest = split(joined(waiting), rows)
                waiting, count = [rest], count - rows
                yield _trajectory(chunk, meaning, source=source, path=path, step=step)
    if digest.hexdigest() != source:
        raise DataError("the file changed while it was read", where=where, cure="read it when the recording is closed")
    if count:
        yield _trajectory(joined(waiting), meaning, source=source, path=path, step=step)


def _survey(
    path: str | os.PathLike[str], where: str, study: Study | None, joint_names: Sequence[str] | None
) -> tuple[str, float]:
    """Digest of the file and its reference step [s], from the bytes of all and the stamps of the first samples."""
    digest = hashlib.sha256()
    times: list[Array] = []
    with open_recording(path) as file:
        meaning = _understand(read_header(file, digest, where=where), file, where, study, joint_names)
        blocks = whole_lines(file, digest, where=where)
        count = 0
        for part in _samples(blocks, meaning, where):
            times.append(part.time)
            count += part.time.size
            if count > REFERENCE_STEPS:
                break
        for _ in blocks:  # the rest is only hashed
            pass
    if not times:
        raise _no_samples(where)
    return digest.hexdigest(), reference_step(np.concatenate(times))


def _understand(
    text: str, file: BinaryIO, where: str, study: Study | None, joint_names: Sequence[str] | None
) -> _Meaning:
    columns = ColumnNames() if study is None else study.recording.names()
    header = parse_header(text, file, where=where, columns=columns, joint_names=joint_names)
    steps = []
    if header.renamed:
        steps.append("columns renamed: " + ", ".join(f"{theirs} -> {ours}" for theirs, ours in header.renamed))
    if header.ignored:
        steps.append("columns ignored: " + ", ".join(header.ignored))
    if study is None:
        return _Meaning(header, None, tuple(steps))
    applied = conversion(study, header.layout, where=where, joint_names=joint_names)
    return _Meaning(header, applied, (*steps, *applied.steps))


def _samples(blocks: Iterator[Block], meaning: _Meaning, where: str) -> Iterator[Samples]:
    """Checked samples in SI, block by block."""
    layout, before = meaning.header.layout, None
    for block in blocks:
        numbers = read_numbers(meaning.header.table, block)
        _check_magnitudes(numbers, meaning, block, where)
        channels = {c: np.ascontiguousarray(numbers[:, list(columns)]) for c, columns in layout.channels.items()}
        samples = Samples(np.ascontiguousarray(numbers[:, layout.time]), channels)
        if meaning.conversion is not None:
            samples = meaning.conversion.apply(samples)
        _check_clock(samples.time, before, block, where)
        before = float(samples.time[-1])
        yield samples


def _check_magnitudes(numbers: Array, meaning: _Meaning, block: Block, where: str) -> None:
    layout, table = meaning.header.layout, meaning.header.table
    signals = [k for k in range(len(table.kept)) if k != layout.time]
    bad = first_unusable(numbers[:, signals])
    if bad is not None:
        raise DataError(
            bad.reason,
            where=f"{where}, line {block.first_line + bad.row}, column {table.names[table.kept[signals[bad.column]]]}",
            value=bad.value,
            cure="cut the interval out of the recording or record again; check that the driver fills this signal",
        )
    in_seconds = meaning.conversion is None or meaning.conversion.time == 1.0
    late = first_unusable(numbers[:, [layout.time]], largest=LATEST if in_seconds else np.inf)
    if late is not None:
        raise DataError(
            late.reason.replace("measurement", "stamp in seconds"),
            where=f"{where}, line {block.first_line + late.row}, column {table.names[table.kept[layout.time]]}",
            value=late.value,
            cure=f'export stamps in seconds, or declare their unit in the study file: [recording.unit] {TIME} = "ns"',
        )


def _check_clock(time: Array, before: float | None, block: Block, where: str) -> None:
    stall = first_stall(time, before=before)
    if stall is None:
        return
    previous = before if stall == 0 else float(time[stall - 1])
    repeated = float(time[stall]) == previous
    raise DataError(
        "the same stamp stands twice" if repeated else "the clock goes back",
        where=f"{where}, line {block.first_line + stall}, column {TIME}",
        value=f"{previous!r} s then {float(time[stall])!r} s",
        cure="export the stamps of one monotonic clock with all their digits, or split the recording there",
    )


def _trajectory(
    samples: Samples, meaning: _Meaning, *, source: str, path: str | os.PathLike[str], step: float
) -> Trajectory:
    for array in (samples.time, *samples.channels.values()):
        array.setflags(write=False)  # ours alone: spares the trajectory a copy
    return Trajectory(
        time=samples.time,
        joint_names=meaning.header.layout.joint_names,
        q=samples.channels["q"],
        dq=samples.channels.get("dq"),
        ddq=samples.channels.get("ddq"),
        tau=samples.channels.get("tau"),
        breaks=segment_breaks(samples.time, step=step),
        source=source,
        name=Path(path).name,
        steps=meaning.steps,
    )


def _no_samples(where: str) -> DataError:
    return DataError("there is a header, but not one sample", where=f"{where}, line 2", cure="record again")
