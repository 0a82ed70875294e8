"""The CSV contract: hostile files are refused with place, value and cure; good ones come back to the bit."""

from __future__ import annotations

import errno
import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.data.contract import REFERENCE_STEPS, segment_breaks
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.formats import csv_cells, csv_source
from steelyard.formats.csv import iterate_csv, read_csv, write_csv, write_prediction
from steelyard.formats.study import parse_study

HEAD = "time_s,q/a,q/b,tau/a,tau/b\n"
GOOD = HEAD + "0.0,1,2,3,4\n0.1,1,2,3,4\n0.2,1,2,3,4\n"


def row(cell: str, *, line: int = 4) -> str:
    """Good rows with `cell` as tau/a in the given line."""
    rows = [f"{0.1 * k:.1f},1,2,{cell if k + 2 == line else '3'},4" for k in range(5)]
    return HEAD + "\n".join(rows) + "\n"


CELL = "line 4, column tau/a"
HOSTILE: dict[str, tuple[str | bytes, tuple[str, ...]]] = {
    # the file as a whole
    "empty file": (b"", ("the file is empty",)),
    "header only": (HEAD, ("line 2", "not one sample")),
    "header only, no line end": (HEAD.strip(), ("not one sample",)),
    "blank first line": ("\n" + GOOD, ("line 1", "blank")),
    "xlsx": (b"PK\x03\x04\x14\x00\x06\x00xl/workbook.xml", ("Excel", "CSV UTF-8")),
    "xls": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ("old Excel",)),
    "gzip": (b"\x1f\x8b\x08\x00abc\n", ("gzip", "gunzip")),
    "bzip2": (b"BZh91AY&SY", ("bzip2",)),
    "xz": (b"\xfd7zXZ\x00\x00", ("xz",)),
    "zstd": (b"\x28\xb5\x2f\xfd\x24", ("zstd",)),
    "parquet": (b"PAR1\x15\x04", ("Parquet",)),
    "hdf5": (b"\x89HDF\r\n\x1a\n", ("HDF5",)),
    "matlab": (b"MATLAB 5.0 MAT-file, Platform", ("MATLAB",)),
    "numpy": (b"\x93NUMPY\x01\x00v\x00", ("numpy",)),
    "mcap": (b"\x89MCAP0\r\n", ("MCAP",)),
    "sqlite": (b"SQLite format 3\x00", ("SQLite",)),
    "utf-16": (GOOD.encode("utf-16"), ("UTF-16", "UTF-8")),
    "utf-16 big endian": (b"\xfe\xff" + GOOD.encode("utf-16-be"), ("UTF-16",)),
    "latin-1 header": (GOOD.replace("q/a", "q/\xe4").encode("latin-1"), ("line 1", "not UTF-8")),
    "binary": (bytes(range(256)) * 20, ("line 1", "NUL")),
    "nothing but NUL": (b"\0" * 5000, ("line 1", "NUL")),
    "elf": (b"\x7fELF\x02\x01\x01\n" + b"\x01" * 90, ("line 1", "control characters")),
    "lone CR line ends": (GOOD.replace("\n", "\r"), ("line 1", "carriage return")),
    "huge first line": ("time_s," + "q/a" * 400_000, ("line 1", "does not end")),
    "huge line": (HEAD + "0.0,1,2,3," + "4" * 6_000_000 + "\n", ("line 2",)),
    "endless last line": (GOOD + "0.3," * 400_000, ("line 5",)),
    "too many columns": (",".join(f"q/j{k}" for k in range(5000)) + "\n", ("line 1", "5000")),
    # the header
    "no header": ("0.0,1,2\n0.1,1,2\n", ("line 1", "no header", "0.0,1,2", "time_s,q/joint_1")),
    "no header, one gap": ("0.0,1,2,\n0.1,1,2,3\n", ("line 1", "no header")),
    "semicolons": (GOOD.replace(",", ";"), ("line 1", '";"', "time_s;q/a")),
    "semicolons, decimal commas": ("time_s;q/a\n0,5;1,25\n", ("line 1", '";"', "decimals by a comma")),
    "tabs": (GOOD.replace(",", "\t"), ("line 1", "tabs")),
    "bars": (GOOD.replace(",", "|"), ("line 1", '"|"')),
    "blanks": (GOOD.replace(",", " "), ("line 1", "blanks")),
    "foreign header": (
        "timestamp,position_a,velocity_a,effort_a\n0,1,2,3\n",
        (
            "line 1, column timestamp: ",
            "timestamp, position_a",
            "[recording.columns]",
            '"timestamp" = "time_s"',
            '"position_a" = "q/<joint>"',
            '"velocity_a" = "dq/<joint>"',
            '"effort_a" = "tau/<joint>"',
        ),
    ),
    "no time": ("q/a,tau/a\n1,2\n", ("line 1", "time_s is missing", '"<column of the stamps>" = "time_s"')),
    "time in capitals": ("Time_s,q/a\n0,2\n", ("line 1, column Time_s", '"Time_s" = "time_s"')),
    "no position": ("time_s,tau/a\n0,2\n", ("line 1", "q/<joint>")),
    "a prediction": ("time_s,q/a,tau_hat/a\n0,1,2\n", ("line 1, column tau_hat/a", 'ignore = ["tau_hat/a"]')),
    "one column too many": ("time_s,q/a,mode\n0,1,2\n", ("line 1, column mode", 'ignore = ["mode"]')),
    "column without joint": ("time_s,q/a,q/\n0,1,2\n", ("line 1, column q/",)),
    "column without name": ("time_s,q/a,\n0,1,\n", ("line 1, column 3", "no name")),
    "duplicate column": ("time_s,q/a,q/b,q/a\n0,1,2,3\n", ("line 1, column 4", "'q/a'", "twice")),
    "duplicate time": ("time_s,time_s,q/a\n0,1,2\n", ("line 1, column 2", "time_s", "twice")),
    "quoted header": ('"time_s","q/a"\n0,1\n', ("line 1, column 1", "quotation")),
    "blank before a name": ("time_s, q/a\n0,1\n", ("line 1, column 2", "' q/a'", "blanks")),
    "blank before a joint": ("time_s,q/ a\n0,1\n", ("line 1, column 2", "'q/ a'", "blanks")),
    "control character in a name": ("time_s,q/a\x07\n0,1\n", ("line 1", "control")),
    "tau for another joint": ("time_s,q/a,q/b,tau/a\n0,1,2,3\n", ("line 1", "tau lacks joint b", "tau/b")),
    "dq for one joint only": ("time_s,q/a,q/b,dq/b\n0,1,2,3\n", ("line 1", "dq lacks joint a", "dq/a")),
    "tau without q": ("time_s,q/a,tau/a,tau/b\n0,1,2,3\n", ("line 1", "q lacks joint b", "q/b")),
    "ddq for a joint that is not there": ("time_s,q/a,ddq/c\n0,1,2\n", ("line 1", "lacks joint")),
    "header after a preamble": ("# robot: demo\n# rate: 1 kHz\n" + GOOD, ("line 1", "line 3", "delete the 2 lines")),
    # the lines
    "units row": (HEAD + "s,rad,rad,N m,N m\n0,1,2,3,4\n", ("line 2", "units", "s,rad,rad", "[recording.unit]")),
    "units row in brackets": (HEAD + "[s],[rad],[rad],[Nm],[Nm]\n", ("line 2", "units")),
    "header again": (GOOD + HEAD + "0.3,1,2,3,4\n", ("line 5", "header stands here again", "split")),
    "short row": (GOOD + "0.3,1,2,3\n0.4,1,2,3,4\n", ("line 5, column tau/b", "4 cells, the header 5", "0.3,1,2,3")),
    "long row": (GOOD + "0.3,1,2,3,4,5\n", ("line 5, column after tau/b", "6 cells, the header 5")),
    "trailing comma": (GOOD + "0.3,1,2,3,4,\n", ("line 5", "6 cells")),
    "decimal commas": (HEAD + "0,0,1,5,2,5,3,5,4,5\n", ("line 2", "10 cells", "decimal commas")),
    "semicolons from line 5 on": (GOOD + "0.3;1;2;3;4\n", ("line 5", "1 cells", '","')),
    "blank line": (GOOD + "\n0.3,1,2,3,4\n", ("line 5", "blank")),
    "line of blanks": (GOOD + "   \n0.3,1,2,3,4\n", ("line 5", "blank")),
    "blank line at the end": (GOOD + "\n", ("line 5", "blank")),
    "comment": (GOOD + "# pause\n0.3,1,2,3,4\n", ("line 5", "# pause")),
    "only commas": (GOOD + ",,,,\n", ("line 5, column time_s", "empty")),
    "NUL in a line": (GOOD + "0.3,1,2,3,4\0\n", ("line 5", "NUL")),
    "block of NUL at the end": (GOOD.encode() + b"\0" * 4096, ("line 5", "NUL")),
    "cut in the last line": (GOOD + "0.3,1,2", ("line 5", "cut off", "0.3,1,2", "delete the last line")),
    "cut after a point": (GOOD + "0.3,1,2,3,4.", ("line 5, column tau/b", "cut off")),
    "cut in an exponent": (GOOD + "0.3,1,2,3,4e-", ("line 5, column tau/b", "cut off", "4e-")),
    "cut after a sign": (GOOD + "0.3,1,2,3,-", ("line 5, column tau/b", "cut off")),
    "stray CR in a line": (GOOD + "0.3,1\r,2,3,4\n", ("line 5, column q/a",)),
    # the cells
    "empty cell": (row(""), (CELL, "empty")),
    "minus sign": (row("-"), (CELL, "'-'", "missing value")),
    "NA": (row("NA"), (CELL, "'NA'", "missing value")),
    "null": (row("null"), (CELL, "missing value")),
    "NaN": (row("NaN"), (CELL, "'NaN'", "not finite")),
    "nan with sign": (row("-nan"), (CELL, "not finite")),
    "Windows NaN": (row("-1.#IND"), (CELL, "not finite")),
    "Inf": (row("Inf"), (CELL, "'Inf'", "not finite")),
    "-inf": (row("-inf"), (CELL, "not finite")),
    "infinity": (row("infinity"), (CELL, "not finite")),
    "1e999": (row("1e999"), (CELL, "'1e999'", "double precision")),
    "denormal": (row("6.9e-310"), (CELL, "6.9e-310", "too small")),
    "absurd effort": (row("1.3e+237"), (CELL, "1.3e+237", "too large")),
    "absurd position": (GOOD + "0.3,1e10,2,3,4\n", ("line 5, column q/a", "10000000000.0", "too large")),
    "hexadecimal": (row("0x10"), (CELL, "'0x10'", "hexadecimal")),
    "hexadecimal float": (row("0x1.8p3"), (CELL, "hexadecimal")),
    "underscore": (row("1_000"), (CELL, "'1_000'", "underscore")),
    "thousands blank": (row("1 000"), (CELL, "'1 000'", "not a number")),
    "blank before": (row(" 3"), (CELL, "' 3'", "blanks")),
    "blank after": (row("3 "), (CELL, "'3 '", "blanks")),
    "tab before": (row("\t3"), (CELL, "blanks")),
    "quoted number": (row('"3"'), (CELL, "quotation")),
    "unit in the cell": (row("3Nm"), (CELL, "'3Nm'", "unit")),
    "Fortran exponent": (row("1d5"), (CELL, "'1d5'")),
    "exponent without digits": (row("1e"), (CELL, "'1e'")),
    "two points": (row("1.2.3"), (CELL, "'1.2.3'")),
    "two signs": (row("--3"), (CELL, "'--3'")),
    "a lone point": (row("."), (CELL, "'.'")),
    "true": (row("true"), (CELL, "'true'")),
    "full-width digits": (row("３"), (CELL, "'３'", "no digits")),
    "arabic digits": (row("٣"), (CELL, "no digits")),
    "not UTF-8": (row("X").encode().replace(b"X", b"\xff3"), (CELL, "\\xff3")),
    "complex": (row("1+2j"), (CELL, "'1+2j'")),
    "formula": (row("=A1"), (CELL, "'=A1'")),
    "stamp as date": (HEAD + "2026-09-03T10:00:00,1,2,3,4\n", ("line 2, column time_s", "2026-09-03T10:00:00")),
    # the clock
    "clock back": (GOOD + "0.15,1,2,3,4\n", ("line 5, column time_s", "goes back", "0.2 s then 0.15 s")),
    "stamp twice": (GOOD + "0.2,1,2,3,4\n", ("line 5, column time_s", "twice", "0.2 s then 0.2 s")),
    "constant clock": (HEAD + "0,1,2,3,4\n0,1,2,3,4\n", ("line 3", "0.0 s then 0.0 s")),
    "stamp zero in between": (GOOD + "0,1,2,3,4\n", ("line 5", "0.2 s then 0.0 s")),
    "nanoseconds undeclared": (HEAD + "1756893600000000000,1,2,3,4\n", ("line 2, column time_s", 'time_s = "ns"')),
    "denormal stamp": (HEAD + "1e-310,1,2,3,4\n", ("line 2, column time_s", "too small")),
    "stamp nan": (HEAD + "nan,1,2,3,4\n0.1,1,2,3,4\n", ("line 2, column time_s", "not finite")),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused_and_left_alone(case: str, tmp_path: Path) -> None:
    content, parts = HOSTILE[case]
    data = content if isinstance(content, bytes) else content.encode()
    file = tmp_path / "run one.csv"
    file.write_bytes(data)
    for read in (read_csv, lambda path: list(iterate_csv(path, rows=2))):
        with pytest.raises(DataError) as caught:
            read(file)
        message = str(caught.value)
        assert "run one.csv" in message
        for part in parts:
            assert part in message
        assert len(message) < 1500, "a message is read, not scrolled"
    assert file.read_bytes() == data
    assert os.listdir(tmp_path) == ["run one.csv"]


def test_the_page_shows_the_message_for_a_foreign_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parent.parent / "docs" / "formats.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    Path("log.csv").write_text("timestamp,position_elbow,effort_elbow,mode\n0,1,2,RUN\n")
    with pytest.raises(DataError) as caught:
        read_csv("log.csv")
    assert str(caught.value) in page


def test_there_are_enough_hostile_files() -> None:
    assert len(HOSTILE) >= 60


def test_the_fault_is_found_far_into_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_source, "BLOCK", 1000)
    lines = [f"{0.1 * k:.1f},1,2,3,4" for k in range(1000)]
    lines[777] = lines[777].replace(",3,", ",3x,")
    file = tmp_path / "run.csv"
    file.write_text(HEAD + "\n".join(lines) + "\n")
    with pytest.raises(DataError, match=r"line 779, column tau/a.*'3x'"):
        read_csv(file)
    lines[777] = lines[776]
    file.write_text(HEAD + "\n".join(lines) + "\n")
    with pytest.raises(DataError, match="line 779"):
        read_csv(file)
    lines[777], lines[778] = "77.7,1,2,3,4", "77.7,1,2,3,4"
    file.write_text(HEAD + "\n".join(lines) + "\n")
    with pytest.raises(DataError, match=r"line 780, column time_s.*twice"):
        read_csv(file)


@pytest.mark.parametrize("byte", [bytes([b]) for b in range(256)])
def test_the_fast_parser_takes_nothing_that_the_strict_one_refuses(byte: bytes, tmp_path: Path) -> None:
    table = csv_cells.Table(("time_s", "q/a"), (0, 1), "run.csv")
    for cell in (byte + b"4", b"4" + byte, b"4" + byte + b"5", byte):
        data = b"1,2\n3," + cell + b"\n5,6\n"
        block = csv_source.Block(data, 2, data.count(b"\n"), unfinished=False)
        try:
            strict = csv_cells._strict(table, block)
        except DataError:
            with pytest.raises(DataError):
                csv_cells.read_numbers(table, block)
        else:
            np.testing.assert_array_equal(csv_cells.read_numbers(table, block), strict)


# --- places that are no file -----------------------------------------------------------------------------------------


def test_missing_file_names_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text(GOOD)
    with pytest.raises(DataError, match=r"missing\.csv: there is no such file\s+cure: the folder holds other\.csv"):
        read_csv(tmp_path / "missing.csv")
    with pytest.raises(DataError, match="no such file"):
        read_csv(tmp_path / "no folder" / "missing.csv")


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="a directory"):
        read_csv(tmp_path)
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match="pipe"):
        read_csv(tmp_path / "pipe.csv")
    with pytest.raises(DataError, match="device"):
        read_csv("/dev/zero")
    with pytest.raises(DataError, match="cannot be read"):
        read_csv("run\0.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_csv("x" * 5000)
    (tmp_path / "file.csv").write_text(GOOD)
    with pytest.raises(DataError, match="cannot be read"):
        read_csv(tmp_path / "file.csv" / "inner.csv")


def test_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "run.csv"
    file.write_text(GOOD)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(DataError, match=r"run\.csv: the file cannot be read: Permission denied"):
        read_csv(file)


def test_symbolic_links(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text(GOOD)
    (tmp_path / "link.csv").symlink_to("run.csv")
    assert len(read_csv(tmp_path / "link.csv")) == 3
    (tmp_path / "dangling.csv").symlink_to("nowhere.csv")
    with pytest.raises(DataError, match="no such file"):
        read_csv(tmp_path / "dangling.csv")
    (tmp_path / "circle.csv").symlink_to("circle.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_csv(tmp_path / "circle.csv")


# --- good files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "data",
    [
        GOOD.encode(),
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace("\n", "\r\n").encode(),
        (HEAD + GOOD[len(HEAD) :].replace("\n", "\r\n")).encode(),
        GOOD.strip().encode(),
        GOOD.replace("\n", "\r\n").strip().encode(),
        GOOD.replace(",3,", ",+3.,").encode(),
        GOOD.replace(",3,", ",.3e1,").encode(),
        GOOD.replace(",3,", ",30E-1,").encode(),
        GOOD.replace(",3,", ",0000003.000,").encode(),
        b"tau/b,q/a,q/b,time_s,tau/a\n4,1,2,0.0,3\n4,1,2,0.1,3\n4,1,2,0.2,3\n",
        b"q/a,tau/b,time_s,tau/a,q/b\n1,4,0.0,3,2\n1,4,0.1,3,2\n1,4,0.2,3,2\n",
    ],
)
def test_accepted_spellings(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    file.write_bytes(data)
    run = read_csv(file)
    assert run.joint_names == ("a", "b")
    np.testing.assert_array_equal(run.time, [0.0, 0.1, 0.2])
    np.testing.assert_array_equal(run.q, [[1, 2]] * 3)
    np.testing.assert_array_equal(run.tau, [[3, 4]] * 3)
    assert (run.dq, run.ddq, run.breaks, run.steps) == (None, None, (), ())
    assert run.name == "run.csv"
    assert run.source == hashlib.sha256(data).hexdigest()


def test_joints_bind_by_name_in_every_group(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    file.write_text("tau/b,ddq/a,q/b,dq/b,time_s,q/a,tau/a,dq/a,ddq/b\n1,2,3,4,0,5,6,7,8\n")
    run = read_csv(file)
    assert run.joint_names == ("b", "a")
    got = {c: getattr(run, c).tolist() for c in ("q", "dq", "ddq", "tau")}
    assert got == {"q": [[3, 5]], "dq": [[4, 7]], "ddq": [[8, 2]], "tau": [[1, 6]]}


def test_a_recording_needs_no_torque_and_joint_names_may_hold_slashes(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    file.write_text("time_s,q/left/elbow,q/左 肘\n0,1,2\n")
    run = read_csv(file)
    assert run.joint_names == ("left/elbow", "左 肘")
    assert run.tau is None


def test_negative_zero_and_last_digits_survive(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    file.write_text("time_s,q/a\n0,-0\n1,0.1000000000000000055511151231257827\n2,-1.7976931348623157e-200\n")
    q = read_csv(file).q
    assert q is not None
    assert np.signbit(q[0, 0])
    assert q[1:, 0].tolist() == [0.1, -1.7976931348623157e-200]


def test_joint_names_of_the_robot(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    file.write_text("time_s,q/elbow,q/wrsit\n0,1,2\n")
    with pytest.raises(DataError) as caught:
        read_csv(file, joint_names=["shoulder", "elbow", "wrist"])
    for part in ("run.csv, line 1", "'wrsit'", "shoulder, elbow, wrist", 'did you mean "wrist"?'):
        assert part in str(caught.value)
    assert read_csv(file, joint_names=["wrsit", "shoulder", "elbow"]).joint_names == ("elbow", "wrsit")


def test_gaps_start_segments_and_nothing_is_filled_in(tmp_path: Path) -> None:
    time = np.concatenate([np.arange(100) * 0.01, 2.0 + np.arange(50) * 0.01, 2.59 + np.arange(5) * 0.01])
    file = tmp_path / "run.csv"
    write_csv(file, Trajectory(time=time, joint_names=("a",), q=np.zeros((time.size, 1))))
    run = read_csv(file)
    # steps are 0.01 s: 1.01 s is a gap, 0.1 s = ten steps is not more than ten
    assert run.breaks == (100,)
    assert [s.stop - s.start for s in run.segments] == [100, 55]
    assert len(run) == 155


def test_gap_rule_knows_no_seconds() -> None:
    time = np.array([0.0, 1, 2, 3, 13.0001, 14, 15])
    for scale in (1e-6, 1.0, 1e4):
        assert segment_breaks(scale * time) == (4,)
    assert segment_breaks(np.array([5.0])) == ()


# --- round trip, chunks, memory --------------------------------------------------------------------------------------


def recording(rows: int, seed: int = 0) -> Trajectory:
    rng = np.random.default_rng(seed)
    time = np.cumsum(rng.uniform(0.0005, 0.0015, rows))
    time[rows // 3 :] += 1.0
    q, dq, ddq, tau = rng.normal(size=(4, rows, 2)) * 10.0 ** rng.integers(-8, 6, (4, rows, 2))
    return Trajectory(time=time, joint_names=("a", "b"), q=q, dq=dq, ddq=ddq, tau=tau)


def same(one: Trajectory, other: Trajectory) -> None:
    assert one.joint_names == other.joint_names
    for channel in ("time", "q", "dq", "ddq", "tau"):
        np.testing.assert_array_equal(getattr(one, channel), getattr(other, channel))


def test_round_trip_is_exact_and_bytes_repeat(tmp_path: Path) -> None:
    run = recording(100_000)
    write_csv(tmp_path / "one.csv", run)
    write_csv(tmp_path / "two.csv", run)
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    back = read_csv(tmp_path / "one.csv")
    same(back, run)
    assert back.breaks == (33_333,)
    assert back.source == hashlib.sha256((tmp_path / "one.csv").read_bytes()).hexdigest()
    assert sorted(os.listdir(tmp_path)) == ["one.csv", "two.csv"]


@pytest.mark.parametrize("rows", [1, 7, 333, 1000, 1001, 5000])
def test_chunks_equal_the_whole(rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "run.csv"
    write_csv(file, recording(1000))
    whole = read_csv(file)
    monkeypatch.setattr(csv_source, "BLOCK", 5000)  # about thirty rows: chunks and blocks never coincide
    chunks = list(iterate_csv(file, rows=rows))
    assert [len(c) for c in chunks] == [rows] * (1000 // rows) + ([1000 % rows] if 1000 % rows else [])
    start = 0
    for chunk in chunks:
        same(chunk, whole.samples(start, start + len(chunk)))
        assert chunk.breaks == whole.samples(start, start + len(chunk)).breaks
        assert (chunk.source, chunk.name, chunk.steps) == (whole.source, whole.name, whole.steps)
        start += len(chunk)
    assert start == 1000


def test_chunks_see_the_gaps_of_the_whole_when_the_rate_changes_late(tmp_path: Path) -> None:
    time = np.concatenate([np.arange(REFERENCE_STEPS) * 1e-3, 200.0 + np.arange(30_000) * 2e-2])
    file = tmp_path / "run.csv"
    np.savetxt(file, np.column_stack([time, time]), fmt="%.3f", delimiter=",", header="time_s,q/a", comments="")
    whole = read_csv(file)
    assert len(whole.breaks) == 30_000, "by the rate of the first samples, a step of 20 ms is a gap"
    start, breaks = 0, []
    for chunk in iterate_csv(file, rows=40_000):
        breaks += [start + b for b in chunk.breaks]
        start += len(chunk)
    edges = {40_000 * k for k in range(1, 4)}
    assert breaks == [b for b in whole.breaks if b not in edges]


def test_clock_is_checked_across_chunks(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    file.write_text(HEAD + "0.0,1,2,3,4\n0.1,1,2,3,4\n0.1,1,2,3,4\n0.3,1,2,3,4\n")
    with pytest.raises(DataError, match="line 4"):
        list(iterate_csv(file, rows=2))


def test_a_file_that_changes_between_the_readings_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    write_csv(file, recording(1000))
    chunks = iterate_csv(file, rows=100)
    next(chunks)
    with open(file, "a") as more:
        more.write("99,1,1,1,1,1,1,1,1\n")
    with pytest.raises(DataError, match="changed while it was read"):
        list(chunks)


def test_chunk_of_nothing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text(GOOD)
    with pytest.raises(DataError, match="at least one sample"):
        list(iterate_csv(tmp_path / "run.csv", rows=0))


_PEAK = """
import resource, sys
from steelyard.formats.csv import iterate_csv
total = sum(len(chunk) for chunk in iterate_csv(sys.argv[1], rows=20_000))
print(total, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def test_chunks_bound_the_memory(tmp_path: Path) -> None:
    """Four times the rows may cost the slack of the allocator, not the 29 MB a whole copy of the rest would."""
    line = ",".join(["0.123456789"] * 12)
    names = ",".join(["time_s", *(f"q/j{k}" for k in range(12))])
    peak = []
    for rows in (100_000, 400_000):
        file = tmp_path / f"{rows}.csv"
        with open(file, "w") as out:
            out.write(names + "\n")
            out.writelines(f"{k},{line}\n" for k in range(rows))
        command = [sys.executable, "-c", _PEAK, str(file)]
        total, megabytes = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        assert int(total) == rows
        peak.append(int(megabytes))
    assert peak[1] - peak[0] < 25


NUMBER = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e8, max_value=1e8).filter(
    lambda x: x == 0 or abs(x) > 1e-290
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(NUMBER, NUMBER), min_size=1, max_size=20))
def test_every_double_comes_back(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[float, float]]) -> None:
    file = tmp_path_factory.mktemp("law") / "run.csv"
    run = Trajectory(time=np.arange(len(rows)), joint_names=("a", "b"), q=np.array(rows))
    write_csv(file, run)
    same(read_csv(file), run)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=60), st.integers(0, len(GOOD)))
def test_no_bytes_give_anything_but_a_trajectory_or_our_error(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, place: int
) -> None:
    file = tmp_path_factory.mktemp("noise") / "run.csv"
    file.write_bytes(GOOD[:place].encode() + noise + GOOD[place:].encode())
    try:
        run = read_csv(file)
    except DataError as error:
        assert "run.csv" in str(error)  # noqa: PT017  (either outcome is right)
    else:
        assert run.joint_names


# --- with a study ----------------------------------------------------------------------------------------------------


def test_columns_are_renamed_and_ignored_and_said(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    file.write_text("stamp,pos_a,pos_b,mode,torque_b,torque_a\n0,1,2,RUN now,4,3\n1,1,2,,4,3\n")
    study = parse_study(
        {"recording": {"columns": {"stamp": "time_s", "pos_*": "q/*", "torque_*": "tau/*"}, "ignore": ["mode"]}}
    )
    run = read_csv(file, study=study)
    assert run.joint_names == ("a", "b")
    np.testing.assert_array_equal(run.tau, [[3, 4]] * 2)
    assert any("pos_a -> q/a" in step for step in run.steps)
    assert any("ignored: mode" in step for step in run.steps)


def test_cells_stay_strict_beside_ignored_text(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    study = parse_study({"recording": {"ignore": ["mode"]}})
    for cell in (" 1", "1 ", "\t1", "nan", "0x1", "1\r2", ""):
        file.write_text(f"time_s,mode,q/a\n0,a b,1\n1,,{cell}\n2,c,1\n")
        with pytest.raises(DataError, match="line 3, column q/a"):
            read_csv(file, study=study)


def test_ignored_columns_may_hold_anything_but_commas_and_nul(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    study = parse_study({"recording": {"ignore": ["mode"]}})
    for text in (b"", b"-", b"nan", b"\xff\xfe", b'"on', b" 5", "关节".encode()):
        file.write_bytes(b"time_s,mode,q/a\n0," + text + b",1\n1,ok,2\n")
        np.testing.assert_array_equal(read_csv(file, study=study).q, [[1], [2]])
    for text, what in ((b"\0", "NUL"), (b"a,b", "4 cells")):
        file.write_bytes(b"time_s,mode,q/a\n0," + text + b",1\n1,ok,2\n")
        with pytest.raises(DataError, match=what):
            read_csv(file, study=study)


def test_a_recording_beyond_the_memory_is_our_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "run.csv"
    file.write_text(GOOD)

    def exhausted(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("steelyard.formats.samples._resize", exhausted)
    with pytest.raises(DataError, match=r"run\.csv: the recording does not fit into memory.*\n.*iterate_csv"):
        read_csv(file)


def test_messages_speak_of_the_columns_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    file.write_text("stamp,pos_a\n0,1\n1,x\n")
    study = parse_study({"recording": {"columns": {"stamp": "time_s", "pos_*": "q/*"}}})
    with pytest.raises(DataError, match="line 3, column pos_a"):
        read_csv(file, study=study)


def test_a_mapping_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    file.write_text("time_s,pos_a,pos_b\n0,1,2\n")
    with pytest.raises(StudyError, match=r"posn_a.*\n.*pos_a.*\n.*did you mean"):
        read_csv(file, study=parse_study({"recording": {"columns": {"posn_a": "q/a"}}}))
    with pytest.raises(StudyError, match="two columns are read as q/a"):
        read_csv(file, study=parse_study({"recording": {"columns": {"pos_a": "q/a", "pos_b": "q/a"}}}))


# --- writing ---------------------------------------------------------------------------------------------------------


def test_prediction(tmp_path: Path) -> None:
    write_prediction(tmp_path / "p.csv", np.array([0.0, 0.1]), ("a", "b"), np.array([[1.0, -2.5], [0.1, 1e-7]]))
    assert (tmp_path / "p.csv").read_text() == "time_s,tau_hat/a,tau_hat/b\n0.0,1.0,-2.5\n0.1,0.1,1e-07\n"
    for torque in (np.zeros((2, 3)), np.full((2, 2), np.nan)):
        with pytest.raises(DataError, match=r"p\.csv"):
            write_prediction(tmp_path / "p.csv", np.array([0.0, 0.1]), ("a", "b"), torque)
    assert os.listdir(tmp_path) == ["p.csv"]


@pytest.mark.parametrize("name", ["a,b", "a\nb", " a", "a ", ""])
def test_names_that_cannot_be_read_back_are_not_written(name: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot stand in a CSV header"):
        write_csv(tmp_path / "x.csv", Trajectory(time=[0.0], joint_names=(name,), q=[[1.0]]))
    assert not os.listdir(tmp_path)


def test_what_read_csv_would_refuse_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="positions"):
        write_csv(tmp_path / "x.csv", Trajectory(time=[0.0], joint_names=("a",), tau=[[1.0]]))
    two_runs = Trajectory(time=[0.0, 1.0, 0.0, 1.0], joint_names=("a",), q=np.zeros((4, 1)), breaks=(2,))
    with pytest.raises(DataError, match="overlap"):
        write_csv(tmp_path / "x.csv", two_runs)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("call", ["os.fsync", "os.replace"])
def test_a_failed_write_leaves_the_old_file(call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "x.csv"
    file.write_text("old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(call, full)
    with pytest.raises(DataError, match=r"x\.csv: the file cannot be written: No space left"):
        write_csv(file, recording(10))
    assert file.read_text() == "old"
    assert os.listdir(tmp_path) == ["x.csv"]


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    for place in (tmp_path / "no folder" / "x.csv", tmp_path, "/dev/null/x.csv", "bad\0name.csv", ""):
        with pytest.raises(DataError):
            write_csv(place, recording(5))
