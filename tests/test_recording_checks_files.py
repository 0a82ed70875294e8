"""What the reader refuses becomes findings with code, count, lines and cure; the file stays as it is."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from simulated_runs import run
from steelyard.assess.recording import check_recording
from steelyard.assess.units import unit_findings
from steelyard.errors import DataError
from steelyard.formats.check_file import check_file
from steelyard.formats.csv import write_csv
from steelyard.formats.study_schema import Study
from steelyard.simulate import faults


def rows(raw: faults.RawColumns) -> str:
    lines = [",".join(raw.names), *(",".join(map(repr, row)) for row in raw.values.tolist())]
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def clean():
    return run("arm6", 0).recording.interval(0.0, 1.0)


@pytest.fixture
def check(tmp_path):
    def checked(text: str | bytes, **options):
        path = tmp_path / "log.csv"
        data = text.encode() if isinstance(text, str) else text
        path.write_bytes(data)
        report = check_file(path, run("arm6", 0).robot, **options)
        assert path.read_bytes() == data
        return report

    return checked


def test_a_good_file(tmp_path):
    made = run("arm6", 0)
    write_csv(tmp_path / "good.csv", made.recording)
    report = check_file(tmp_path / "good.csv", made.robot)
    assert report.usable
    assert [f.level for f in report.findings] == ["info"]
    plain = json.loads(json.dumps(report.as_dict()))
    assert plain["statistics"]["joints"][0]["joint"] == "waist"
    assert len(plain["statistics"]["delay"]["per_joint"]) == 6


@pytest.mark.parametrize(
    ("fault", "code", "lines"),
    [
        (lambda t: faults.step_clock_back(t, 250, 0.02), "data.clock_backward", "line 252"),
        (lambda t: faults.repeat_stamp(t, 250), "data.duplicate_stamp", "line 252"),
        (lambda t: faults.put_nan(t, "elbow", 100, count=3), "data.nan", "lines 102 to 104"),
    ],
)
def test_faults_that_no_trajectory_can_hold(check, clean, fault, code, lines):
    report = check(rows(fault(clean)))
    assert not report.usable
    assert [(f.code, f.level) for f in report.findings] == [(code, "error")]
    assert lines in report.findings[0].where
    assert report.findings[0].cure


def test_all_faults_of_a_file_are_told_at_once(check, clean):
    raw = faults.put_nan(clean, "elbow", 100, count=3)
    values = raw.values.copy()
    values[300, raw.names.index("tau/waist")] = 1e237
    values[301, raw.names.index("q/waist")] = 1e-310
    values[350:, 0] -= 0.1
    values[400, 0] = values[399, 0]
    found = {(f.code, f.value) for f in check(rows(replace(raw, values=values))).findings}
    assert found == {
        ("data.nan", 3),
        ("data.absurd", 1),
        ("data.clock_backward", 1),
        ("data.duplicate_stamp", 1),
    }


def test_words_and_holes_are_no_numbers(check, clean):
    text = rows(faults.step_clock_back(clean, 500, 0.0)).splitlines()
    cells = text[40].split(",")
    text[40] = ",".join([*cells[:3], "-", *cells[4:]])
    text[41] = ",".join(["" if k == 3 else c for k, c in enumerate(text[41].split(","))])
    (finding,) = check("\n".join(text) + "\n").findings
    assert (finding.code, finding.value) == ("data.nan", 2)
    assert "lines 41 to 42" in finding.where


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda b: b[: len(b) // 2].rsplit(b",", 3)[0], "data.corrupt"),  # the logger died
        (lambda b: b[:3000] + b"\0" * 50 + b[3050:], "data.corrupt"),
        (lambda b: b"\x1f\x8b\x08" + b[:500], "data.corrupt"),
        (lambda b: b"", "data.corrupt"),
        (lambda b: b.split(b"\n")[0] + b"\n", "data.corrupt"),
        (lambda b: b.replace(b",", b";"), "data.header"),
        (lambda b: b.split(b"\n", 1)[1], "data.header"),
        (lambda b: b.replace(b"q/waist", b"position_waist"), "data.header"),
        (lambda b: b.replace(b"waist", b"hip"), "data.header"),
        (lambda b: b[:3000] + b"\nnew run\n" + b[3000:], "data.corrupt"),
    ],
)
def test_files_that_are_no_recording(check, clean, spoil, code):
    report = check(spoil(rows(faults.step_clock_back(clean, 500, 0.0)).encode()))
    assert not report.usable
    assert [(f.code, f.level) for f in report.findings] == [(code, "error")]
    assert "\n" not in report.findings[0].cure


def test_a_file_that_is_not_there_is_an_error(tmp_path):
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(DataError):
            check_file(path)


def test_names_and_units_of_a_study(check, clean):
    raw = faults.in_degrees(clean)
    text = rows(faults.step_clock_back(raw, 500, 0.0)).replace("q/", "pos_")
    study = Study.model_validate({"recording": {"columns": {"pos_*": "q/*"}, "unit": {"q": "deg"}}})
    assert check(text, study=study).usable
    assert check(text.replace("\n0.1,", "\nnan,"), study=study).findings[0].code == "data.nan"


def test_without_a_robot(tmp_path, clean):
    write_csv(tmp_path / "log.csv", replace(clean, q=clean.q, source=""))
    assert check_file(tmp_path / "log.csv").usable
    assert np.isfinite(check_file(tmp_path / "log.csv").statistics.sampling.rate)


@pytest.mark.parametrize(("factor", "unit"), [(1e3, "ms"), (1e6, "us"), (1e9, "ns")])
def test_stamps_in_a_smaller_unit_than_seconds(tmp_path, clean, factor, unit):
    """With recorded velocities it is proven, without them likely; at the right scale nothing is said."""
    moving = run("arm6", 1).noise_free.interval(0.0, 5.0)
    wrong = replace(moving, time=factor * (moving.time - moving.time[0]), ddq=None, source="")
    robot = run("arm6", 1).robot
    for trajectory, level in ((wrong, "error"), (replace(wrong, dq=None, source=""), "warning")):
        (found,) = [f for f in unit_findings(trajectory, robot) if "stamps" in f.message]
        assert (found.code, found.level, found.value) == ("data.units_suspect", level, unit)
        assert f'time_s = "{unit}"' in found.cure
    assert not [f for f in check_recording(wrong, robot).findings if f.code == "data.dq_mismatch"]
    assert not unit_findings(moving, robot)


def test_one_torque_that_no_drive_gives(check, clean):
    raw = faults.step_clock_back(clean, 500, 0.0)
    raw.values[100, raw.names.index("tau/elbow")] = -99999.0
    assert [(f.code, f.where) for f in check(rows(raw)).findings if f.level == "error"] == [("data.absurd", "elbow")]


def test_too_short_and_without_torque(check, clean):
    text = rows(faults.step_clock_back(clean, 500, 0.0)).splitlines()
    short = check("\n".join(text[:12]) + "\n")
    assert [(f.code, f.value) for f in short.findings if f.level == "error"] == [("data.too_short", 11)]
    keep = [k for k, name in enumerate(text[0].split(",")) if not name.startswith("tau/")]
    silent = check("\n".join(",".join(line.split(",")[k] for k in keep) for line in text) + "\n")
    assert [f.code for f in silent.findings if f.level == "warning"] == ["data.torque_missing"]


def test_the_value_found_is_told(check, clean):
    text = rows(faults.step_clock_back(clean, 500, 0.0)).splitlines()
    text[9] = "#DIV/0!," + text[9].split(",", 1)[1]
    (finding,) = check("\n".join(text) + "\n").findings
    assert "(found '#DIV/0!')" in finding.message
