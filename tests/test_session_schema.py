"""session.json and result.json: what is refused, what comes back, and that the published schemas are the code's."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from session_files import BASIS, COLUMNS, JOINTS, VERDICT, contents, estimate, results, score
from steelyard.errors import SessionError
from steelyard.finding import Finding
from steelyard.session.contents import RecordingFile, session_file
from steelyard.session.published import schemas
from steelyard.session.result_file import (
    UNBOUNDED,
    build_result,
    estimate_from_result,
    finding_entry,
    inputs_of,
    read_result,
    validation_entry,
)
from steelyard.session.schema import ResultFile, SessionFile, VerdictEntry, utc
from steelyard.session.strict_json import LARGEST, parse_json, to_json


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return contents(tmp_path_factory.mktemp("in"), train=2, unseen=1, study=True)


@pytest.fixture(scope="module")
def manifest(made):
    return session_file(made)


@pytest.fixture(scope="module")
def result(made):
    return results(made).result


def changed(model, path, value):
    """The JSON of a model with one value changed, as bytes; `path` is dotted."""
    document = json.loads(to_json(model))
    node = document
    *parents, last = path.split(".")
    for part in parents:
        node = node[int(part) if part.isdigit() else part]
    node[int(last) if last.isdigit() else last] = value
    return json.dumps(document).encode()


# --- session.json


def test_the_session_says_what_the_interface_promises(manifest):
    table = json.loads(to_json(manifest))
    assert table["schema_version"] == 1
    assert table["kind"] == "robot_identification_session"
    assert [r["path"] for r in table["recordings"]] == ["raw/run0.csv", "raw/run1.csv", "validation.csv"]
    assert [r["role"] for r in table["recordings"]] == ["train", "train", "validation"]
    assert (table["torque_side"], table["locked"]) == ("joint", {"wrist": 0.25})
    first = table["recordings"][0]
    assert (first["samples"], first["start_s"]) == (30, 0.0)
    assert first["median_step_s"] == pytest.approx(0.01, rel=1e-9)  # differences of stamps that were rounded
    assert first["gaps"] == [[0.14, 1.15]]
    assert first["duration_s"] == first["stop_s"] - first["start_s"]
    assert table["model"]["path"] == "model/arm.urdf"
    assert table["study"]["path"] == "study.toml"


def test_equal_names_get_numbers_whatever_their_capitals(made):
    one = made.recordings[0]
    given = [replace(one, name=name) for name in ("run.csv", "RUN.csv", "run-2.csv", "run.csv")]
    names = [entry.name for entry in session_file(replace(made, recordings=given)).recordings]
    assert names == ["run.csv", "RUN-2.csv", "run-2-2.csv", "run-3.csv"]


@pytest.mark.parametrize("name", [".hidden.csv", "a\nb.csv", "a\x1bb.csv", "\udcff.csv"])
def test_a_file_name_that_cannot_stand_there_is_refused(made, name):
    with pytest.raises(SessionError, match="name cannot stand"):
        session_file(replace(made, recordings=[replace(made.recordings[0], name=name)]))


def test_a_session_without_training_recording_is_refused(made):
    with pytest.raises(SessionError, match="no training recording"):
        session_file(replace(made, recordings=made.recordings[2:]))


def test_a_single_sample_has_no_step(made):
    one = RecordingFile(
        path=made.recordings[0].path, role="train", sha256="0" * 64, samples=1, start=0, stop=0, step=np.nan
    )
    (entry,) = session_file(replace(made, recordings=[one])).recordings
    assert entry.median_step_s is None
    assert '"median_step_s": null' in to_json(entry)


SESSION_FAULTS = {
    "schema_version": 2,
    "kind": "something_else",
    "created": "2026-13-03T08:15:00Z",
    "software_version": "",
    "joint_names": ["a", "a"],
    "torque_side": "both",
    "gravity": [0, 0],
    "gravity.2": "down",
    "locked": {"shoulder": 0.0},
    "model.path": "../robot.urdf",
    "model.sha256": "abc",
    "study.path": "/etc/passwd",
    "recordings.0.path": "raw/../../x.csv",
    "recordings.1.path": "raw/RUN0.csv",
    "recordings.0.samples": -1,
    "recordings.0.samples ": 3,
    "recordings.0.start_s": None,
    "recordings.0.role": "test",
}


@pytest.mark.parametrize("path", SESSION_FAULTS)
def test_a_wrong_value_in_the_session_is_refused_with_its_place(manifest, path):
    with pytest.raises(SessionError) as caught:
        parse_json(changed(manifest, path, SESSION_FAULTS[path]), SessionFile, where="session.json")
    assert caught.value.where.startswith("session.json")
    assert caught.value.cure


@pytest.mark.parametrize("path", ["a/../b", "/a", "a//b", "a/", "./a", "..", "a\\b", "a\nb", "", "a/\x00", "C:\\x"])
def test_paths_that_lead_out_are_refused(manifest, path):
    with pytest.raises(SessionError):
        parse_json(changed(manifest, "recordings.0.path", path), SessionFile, where="session.json")


def test_a_moment_is_said_in_utc():
    berlin = timezone(timedelta(hours=2))
    assert utc(datetime(2026, 9, 3, 10, 15, tzinfo=berlin)) == "2026-09-03T08:15:00Z"


# --- result.json


def test_the_result_has_the_keys_of_the_interface(result):
    table = json.loads(to_json(result))
    assert list(table) == [
        "schema_version", "status", "kind", "software_version", "model_digest", "inputs", "joint_names", "terms",
        "estimator", "prior", "parameters", "full_parameters", "consistent", "base", "diagnostics", "validation",
        "findings", "verdict",
    ]  # fmt: skip
    assert table["status"] == "candidate"
    assert list(table["parameters"][0]) == [
        "name", "value", "unit", "deviation", "interval_95", "class", "correlated_with", "prior_share",
    ]  # fmt: skip
    assert list(table["diagnostics"]) == [
        "samples", "rows", "rank", "condition", "condition_scaled", "noise_per_joint", "mass_matrix_positive",
        "weak_directions",
    ]  # fmt: skip
    assert list(table["validation"][0]) == [
        "file", "interval_s", "cutoff_hz", "relative_error", "relative_error_unfiltered",
        "relative_error_unconstrained", "rmse_per_joint", "peak_per_joint", "relative_error_per_joint",
        "baseline_urdf", "baseline_urdf_friction",
    ]  # fmt: skip
    assert list(table["findings"][0]) == ["code", "level", "message", "where", "value", "cure"]
    assert list(table["verdict"]) == ["feed_forward", "gravity_compensation", "sentence"]
    assert list(table["base"]) == ["count", "names", "map"]
    assert list(table["inputs"][0]) == ["path", "sha256", "interval_s"]


def test_a_full_set_and_how_it_was_found_belong_together(result):
    assert (result.full_parameters, result.consistent) == ((), None)
    entry = json.loads(to_json(result))["parameters"][0]
    with pytest.raises(SessionError, match="together, or neither"):
        parse_json(changed(result, "full_parameters", [entry]), ResultFile, where="result.json")


def test_samples_and_rows_are_told_apart(result):
    """200 samples of two joints are 400 equations."""
    assert (result.diagnostics.samples, result.diagnostics.rows) == (200, 400)


def test_rows_cannot_exceed_samples_times_joints(result):
    with pytest.raises(SessionError, match="more rows than samples times joints"):
        parse_json(changed(result, "diagnostics.rows", 401), ResultFile, where="result.json")


def test_a_parameter_is_identified_where_the_data_determine_it_alone(result):
    assert {p.name: p.class_ for p in result.parameters} == {
        "link/arm/first_moment_x": "combined",
        "actuator/shoulder/bias": "identified",
        "actuator/肘/bias": "identified",
    }
    assert [p.unit for p in result.parameters] == ["kg m", "N m", "N m"]


def test_values_deviations_and_intervals_are_those_of_the_estimate(result):
    known = estimate()
    np.testing.assert_array_equal([p.value for p in result.parameters], known.theta)
    np.testing.assert_array_equal([p.deviation for p in result.parameters], known.deviation)
    np.testing.assert_array_equal([p.interval_95 for p in result.parameters], known.interval())


def test_what_is_infinite_is_null_and_a_finding_says_so(made):
    result = results(made, lost=True).result
    gone = result.parameters[-1]
    assert (gone.deviation, gone.interval_95, gone.class_) == (None, None, "combined")
    assert result.diagnostics.condition_scaled is None or result.diagnostics.condition_scaled > 1e10
    assert result.diagnostics.rank == 2
    (finding,) = [f for f in result.findings if f.code == UNBOUNDED]
    assert "deviation of actuator/肘/bias" in finding.message
    text = to_json(result)
    assert "NaN" not in text
    assert "Infinity" not in text
    assert parse_json(text.encode(), ResultFile, where="result.json") == result


def test_a_bounded_result_has_no_such_finding(result):
    assert UNBOUNDED not in {finding.code for finding in result.findings}


def test_a_joint_without_torque_has_no_relative_error(result):
    assert result.validation[0].relative_error_per_joint == {"shoulder": 0.03, "肘": None}


def test_a_parameter_that_is_not_a_number_is_refused(manifest):
    broken = replace(estimate(), theta=np.array([np.nan, 1.0, 1.0]))
    with pytest.raises(SessionError, match=r"parameters\.0\.value"):
        _result(manifest, broken)


def test_a_parameter_that_is_no_column_is_refused(manifest):
    with pytest.raises(SessionError, match="no column of the model"):
        _result(manifest, estimate(), columns=COLUMNS[:2])


def _result(manifest, value, columns=COLUMNS):
    return build_result(
        value, BASIS, columns, model_digest="0" * 64, inputs=inputs_of(manifest), terms=("rigid_body",),
        verdict=VerdictEntry.model_validate(VERDICT), software_version="0",
    )  # fmt: skip


def test_the_same_finding_is_told_once(manifest):
    finding = Finding("fit.trend", "info", "twice")
    twice = estimate().noting(finding, finding)
    assert [f.code for f in _result(manifest, twice).findings].count("fit.trend") == 1


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (np.float64(2.5), 2.5),
        (np.int64(3), 3),
        (3, 3),
        (np.inf, "inf"),
        (np.nan, "nan"),
        (True, "True"),
        ("x", "x"),
        (None, None),
    ],
)
def test_the_value_of_a_finding_is_a_number_or_text(value, stored):
    entry = finding_entry(Finding("data.gap", "info", "m", value=value))
    assert (entry.value, type(entry.value)) == (stored, type(stored))


def test_inputs_name_the_part_that_was_fitted(manifest):
    entries = inputs_of(manifest, {"run1.csv": (0.1, 0.2)})
    assert [e.interval_s for e in entries] == [(0.0, pytest.approx(1.29)), (0.1, 0.2)]
    assert [e.sha256 for e in entries] == [e.sha256 for e in manifest.role("train")]
    with pytest.raises(SessionError, match="not a training recording"):
        inputs_of(manifest, {"unseen0.csv": (0.0, 1.0)})
    with pytest.raises(SessionError, match="interval"):
        inputs_of(manifest, {"run1.csv": (0.2, 0.1)})


RESULT_FAULTS = {
    "status": "approved",
    "schema_version": 2,
    "schema_version ": 1,
    "model_digest": "G" * 64,
    "inputs": [],
    "inputs.0.path": "/raw.csv",
    "inputs.0.interval_s": [2.0, 1.0],
    "joint_names": ["shoulder"],
    "parameters.0.value": None,
    "parameters.0.value ": 1.0,
    "parameters.0.class": "guessed",
    "parameters.0.name": "actuator/shoulder/bias",
    "parameters.1.name": "link/unknown/mass",
    "parameters.0.deviation": -1.0,
    "parameters.0.unit": 3,
    "base.count": 2,
    "base.names.0": "link/unknown/mass",
    "base.map.matrix.0": [1.0],
    "diagnostics.noise_per_joint": {"shoulder": 1.0},
    "diagnostics.samples": 1.5,
    "diagnostics.mass_matrix_positive": "yes",
    "validation.0.rmse_per_joint": {"shoulder": 1.0, "elbow": 1.0},
    "validation.0.cutoff_hz": 0.0,
    "findings.0.level": "fatal",
    "findings.0.code": "Gap!",
    "verdict.sentence": None,
}


@pytest.mark.parametrize("path", RESULT_FAULTS)
def test_a_wrong_value_in_the_result_is_refused(result, path):
    with pytest.raises(SessionError) as caught:
        parse_json(changed(result, path, RESULT_FAULTS[path]), ResultFile, where="result.json")
    assert caught.value.where.startswith("result.json")


# --- JSON that could mean two things


HOSTILE = {
    "empty": b"",
    "not json": b"{",
    "not utf-8": b'{"kind": "\xff"}',
    "utf-16": '{"kind": 1}'.encode("utf-16"),
    "byte order mark": b"\xef\xbb\xbf{}",
    "a list": b"[]",
    "a number": b"3",
    "key twice": b'{"schema_version": 1, "schema_version": 1}',
    "key twice, deep": b'{"base": {"map": {"columns": [], "columns": []}}}',
    "NaN": b'{"prior": NaN}',
    "infinity": b'{"prior": -Infinity}',
    "1e999": b'{"prior": 1e999}',
    "deep list": b"[" * 100_000 + b"]" * 100_000,
    "deep table": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "a hundred levels": b'{"prior": ' + b"[" * 100 + b"]" * 100 + b"}",
    "five thousand digits": b'{"prior": ' + b"1" * 5000 + b"}",
    "trailing text": b"{} {}",
    "unknown key": b'{"surprise": 1}',
    "lone surrogate": b'{"software_version": "\\ud800"}',
    "control character": b'{"software_version": "\x01"}',
    "comment": b"{} // no",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("model", [SessionFile, ResultFile])
def test_hostile_json_is_refused_in_words(name, model):
    with pytest.raises(SessionError) as caught:
        parse_json(HOSTILE[name], model, where="file.json")
    assert "file.json" in str(caught.value)
    assert len(str(caught.value)) < 600


@given(st.binary(max_size=200) | st.text(alphabet='{}[]":,0123456789.eE+-truefalsn\\u ', max_size=200).map(str.encode))
def test_no_bytes_give_a_traceback(data):
    with pytest.raises(SessionError):
        parse_json(data, ResultFile, where="file.json")


@given(st.data())
def test_no_bit_of_a_result_can_flip_into_another_exception(result, data):
    text = bytearray(to_json(result).encode())
    bit = data.draw(st.integers(0, 8 * len(text) - 1))
    text[bit // 8] ^= 1 << (bit % 8)
    try:
        again = parse_json(bytes(text), ResultFile, where="file.json")
    except SessionError:
        return
    assert isinstance(again, ResultFile)


def test_links_directories_and_giants_are_refused(tmp_path, result):
    file = tmp_path / "result.json"
    file.write_text(to_json(result), encoding="utf-8")
    assert read_result(file) == result
    (tmp_path / "link.json").symlink_to(file)
    for path in (tmp_path / "link.json", tmp_path, tmp_path / "absent.json", tmp_path / "a\0b"):
        with pytest.raises(SessionError):
            read_result(path)
    with open(file, "r+b") as giant:
        giant.truncate(LARGEST + 1)
    with pytest.raises(SessionError, match="larger than"):
        read_result(file)


# --- what comes back


def test_a_result_comes_back_to_the_bit(result):
    text = to_json(result)
    again = parse_json(text.encode(), ResultFile, where="result.json")
    assert again == result
    assert to_json(again) == text


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=3, max_size=3))
def test_every_double_comes_back(manifest, values):
    written = to_json(_result(manifest, replace(estimate(), theta=np.array(values))))
    again = parse_json(written.encode(), ResultFile, where="result.json")
    assert [p.value for p in again.parameters] == values


def test_json_is_for_people_too(result):
    lines = to_json(result).splitlines()
    assert any('"noise_per_joint": {"shoulder": ' in line for line in lines)  # scalars share a line
    assert any("肘" in line for line in lines)  # letters, not escapes
    assert lines[0] == "{"
    assert to_json(result).endswith("}\n")


def test_the_stored_estimate_predicts_as_the_estimate_did(result):
    stored = estimate_from_result(result)
    names = tuple(column.name for column in COLUMNS)
    np.testing.assert_array_equal(stored.full(names), estimate().full(names))
    np.testing.assert_array_equal(stored.matrix, BASIS.matrix)
    np.testing.assert_array_equal(stored.deviation, estimate().deviation)
    assert (stored.columns, stored.base_names) == (BASIS.columns, BASIS.names)


@pytest.mark.parametrize("columns", [("link/arm/mass",), tuple(c.name for c in COLUMNS)[::-1]])
def test_a_stored_estimate_refuses_another_model(result, columns):
    with pytest.raises(SessionError, match="other columns"):
        estimate_from_result(result).full(columns)


def test_validation_entries_take_infinite_scores():
    entry = validation_entry("a.csv", replace(score(), relative_error=np.inf), baseline_urdf=np.nan)
    assert (entry.relative_error, entry.baseline_urdf, entry.baseline_urdf_friction) == (None, None, None)
    assert set(entry.rmse_per_joint) == set(JOINTS)


def test_the_published_schemas_are_those_of_the_code(repository):
    for name, text in schemas().items():
        path = repository / "docs" / "schemas" / name
        assert path.read_text(encoding="utf-8") == text, (
            f"docs/schemas/{name} is old: write steelyard.session.published.schemas()[{name!r}] to it"
        )


def test_the_published_schema_forbids_what_the_code_forbids():
    for text in schemas().values():
        schema = json.loads(text)
        objects = [schema, *schema["$defs"].values()]
        assert all(part["additionalProperties"] is False for part in objects)
        assert all(part.get("description") for part in objects)
