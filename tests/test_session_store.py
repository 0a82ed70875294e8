"""A session on disk: what goes in comes out to the byte, what changed is refused, no failure leaves a half of one."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from faults import failing_disk, in_killed_child
from session_files import CREATED, JOINTS, contents, motion, results, tree
from steelyard.data.lowpass import LowPass
from steelyard.errors import SessionError
from steelyard.formats.csv import read_csv
from steelyard.preparation.cutoff import CutoffChoice
from steelyard.preparation.pipeline import Prepared
from steelyard.preparation.velocity import VelocityChoice
from steelyard.session import swap
from steelyard.session.contents import TorquePrediction, preparation, session_file
from steelyard.session.disk import hold
from steelyard.session.ledger import append
from steelyard.session.store import add_files, add_results, check_target, create, is_session, open_session

LATER = "2026-09-04T08:15:00Z"
STAMP = {"time": LATER, "software_version": "0.1.0"}
ONE = {
    "ledger.jsonl", "model/arm.urdf", "model/digest", "prediction/unseen0.csv", "processed.csv", "raw.csv",
    "result.json", "session.json", "study.toml", "validation.csv",
}  # fmt: skip


@pytest.fixture
def given(tmp_path):
    return contents(tmp_path / "in", study=True)


@pytest.fixture
def place(tmp_path):
    return tmp_path / "out"


def litter(place: Path) -> list[str]:
    return [entry.name for entry in place.parent.iterdir() if entry.name.startswith(".")]


# --- what goes in comes out


def test_a_session_holds_what_the_design_says(given, place):
    session = create(place, given, results=results(given))
    assert set(tree(place)) == ONE
    for recording in given.recordings:
        copy = place / ("raw.csv" if recording.role == "train" else "validation.csv")
        assert copy.read_bytes() == recording.path.read_bytes()
    assert (place / "model/arm.urdf").read_bytes() == given.model_path.read_bytes()
    assert (place / "model/digest").read_text() == f"{given.model_sha256}  arm.urdf\n"
    assert session.manifest == session_file(given)
    assert session.result == results(given).result
    assert litter(place) == []


def test_several_recordings_go_into_folders(tmp_path, place):
    given = contents(tmp_path / "in", train=2, unseen=2)
    session = create(place, given, results=results(given))
    assert set(tree(place)) == {
        "ledger.jsonl", "model/arm.urdf", "model/digest", "prediction/unseen0.csv", "prediction/unseen1.csv",
        "processed/run0.csv", "processed/run1.csv", "raw/run0.csv", "raw/run1.csv", "result.json", "session.json",
        "validation/unseen0.csv", "validation/unseen1.csv",
    }  # fmt: skip
    assert [path.name for _, path in session.recordings("train")] == ["run0.csv", "run1.csv"]
    assert (session.model, session.study) == (place / "model/arm.urdf", None)


def test_files_of_one_name_are_kept_apart(tmp_path, place):
    first = contents(tmp_path / "monday", unseen=0)
    second = contents(tmp_path / "tuesday", unseen=0)
    both = replace(first, recordings=[*first.recordings, *second.recordings])
    create(place, both)
    assert {"raw/run0.csv", "raw/run0-2.csv"} < set(tree(place))


def test_what_was_recorded_is_read_only(given, place):
    create(place, given, results=results(given))
    writable = {p for p in tree(place) if os.stat(place / p).st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)}
    assert writable == {"ledger.jsonl", "processed.csv", "prediction/unseen0.csv", "result.json", "session.json"}


def test_the_same_input_gives_the_same_bytes(given, tmp_path):
    create(tmp_path / "one", given, results=results(given))
    create(tmp_path / "two", given, results=results(given))
    assert tree(tmp_path / "one") == tree(tmp_path / "two")


def test_processed_and_predicted_samples_come_back(given, place):
    create(place, given, results=results(given))
    np.testing.assert_array_equal(read_csv(place / "processed.csv").q, motion(0).q)
    lines = (place / "prediction/unseen0.csv").read_text(encoding="utf-8").splitlines()
    assert lines == ["time_s,tau_hat/shoulder,tau_hat/肘", "0.0,1.0,1.0", "0.01,1.0,1.0"]


def test_results_may_come_later(given, place, tmp_path):
    assert create(place, given).result is None
    session = add_results(place, results(given), **STAMP)
    assert set(tree(place)) == ONE
    assert session.result == results(given).result
    assert [event.event for event in session.events] == ["created", "identified"]
    assert [event.time for event in session.events] == [CREATED, LATER]
    assert session.events[1].actor == "steelyard 0.1.0"


def test_how_a_recording_was_prepared_is_kept(given, place, tmp_path):
    prepared = Prepared(
        replace(motion(0), steps=("resampled",)),
        LowPass(7.5, 3),
        CutoffChoice(7.5, "five times the motion"),
        VelocityChoice(False, float("nan"), "no recorded dq"),
    )
    create(place, given)
    found = replace(results(given), preparations={"run0.csv": preparation(prepared)})
    manifest = add_results(place, found, **STAMP).manifest
    assert manifest.cutoff_hz == 7.5
    entry = manifest.recordings[0].preparation
    assert (entry.keep_every, entry.velocity, entry.steps) == (3, "position", ("resampled",))
    assert session_file(given).cutoff_hz is None


def test_reports_reviews_and_predictions_are_added_and_replaced(given, place):
    create(place, given, results=results(given))
    prediction = TorquePrediction(np.array([0.0]), JOINTS, np.zeros((1, 2)))
    add_files(place, {"report.html": b"<p>1", "prediction/other.csv": prediction}, event="reported", **STAMP)
    session = add_files(place, {"report.html": b"<p>2"}, event="reported", **STAMP)
    assert (place / "report.html").read_bytes() == b"<p>2"
    assert session.path("prediction/other.csv").exists()
    assert [event.event for event in session.events] == ["identified", "reported", "reported"]


def test_new_results_void_what_followed_from_the_old(given, place):
    create(place, given, results=results(given))
    add_files(place, {"report.html": b"old", "prediction/other.csv": b"old", "review.json": b"{}"}, event="x", **STAMP)
    with pytest.raises(SessionError, match="a result is never changed"):
        add_results(place, results(given), **STAMP)
    session = add_results(place, results(given, lost=True), **STAMP, force=True)
    assert set(tree(place)) == ONE | {"review.json"}
    assert session.events[-1].payloads["report.html"] is None
    assert session.result.diagnostics.rank == 2


@pytest.mark.parametrize(
    "inside", ["raw.csv", "session.json", "ledger.jsonl", "../x", "prediction/../raw.csv", "prediction/a.txt", "x.md"]
)
def test_nothing_else_is_added(given, place, inside):
    create(place, given)
    before = tree(place)
    with pytest.raises(SessionError, match="not a file that is added"):
        add_files(place, {inside: b"x"}, event="x", **STAMP)
    assert tree(place) == before


# --- what changed is refused


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """A session with every kind of file."""
    folder = tmp_path_factory.mktemp("sound")
    given = contents(folder / "in", train=2, unseen=1, study=True)
    create(folder / "out", given, results=results(given))
    add_files(folder / "out", {"report.html": b"<p>report</p>\n", "review.json": b"{}\n"}, event="reported", **STAMP)
    return folder / "out"


@contextmanager
def altered(path: Path, data: bytes):
    before, mode = path.read_bytes(), path.stat().st_mode
    path.chmod(0o644)
    path.write_bytes(data)
    try:
        yield
    finally:
        path.write_bytes(before)
        path.chmod(mode)


def test_one_flipped_bit_in_any_file_is_found(sound):
    rng = np.random.default_rng(0)
    files = tree(sound)
    assert len(files) == 14
    for name, data in files.items():
        for at in {0, len(data) - 1, *rng.integers(0, len(data), size=6).tolist()}:
            flipped = bytearray(data)
            flipped[at] ^= 1 << int(rng.integers(0, 8))
            with altered(sound / name, bytes(flipped)), pytest.raises(SessionError) as caught:
                open_session(sound)
            assert name in caught.value.where, (name, at)
    assert open_session(sound).result is not None


def test_the_refusal_names_file_expected_and_found_hash(sound):
    data = (sound / "raw/run1.csv").read_bytes()
    expected = open_session(sound).digests["raw/run1.csv"]
    with altered(sound / "raw/run1.csv", data + b"\n"), pytest.raises(SessionError) as caught:
        open_session(sound)
    assert caught.value.where == str(sound / "raw/run1.csv")
    assert expected in caught.value.value
    assert caught.value.value.count("SHA-256") == 1
    assert "backup" in caught.value.cure


def test_a_missing_file_is_found(sound, tmp_path):
    for name in tree(sound):
        (sound / name).rename(tmp_path / "aside")
        with pytest.raises(SessionError) as caught:
            open_session(sound)
        (tmp_path / "aside").rename(sound / name)
        assert name in caught.value.where


@pytest.mark.parametrize("name", ["prediction/new.csv", "raw.csv", "processed.csv", "rollback.json", "model/b.urdf"])
def test_a_file_that_nobody_recorded_is_found(sound, name):
    (sound / name).write_bytes(b"x")
    with pytest.raises(SessionError, match="no event of the ledger"):
        open_session(sound)
    (sound / name).unlink()


def test_lines_taken_off_the_end_of_the_ledger_are_found(sound):
    first = (sound / "ledger.jsonl").read_bytes().splitlines(keepends=True)[0]
    with altered(sound / "ledger.jsonl", first), pytest.raises(SessionError, match="no event of the ledger"):
        open_session(sound)


def test_notes_of_people_do_no_harm(sound):
    (sound / "notes.md").write_text("the arm squeaks\n")
    assert "notes.md" not in open_session(sound).digests
    (sound / "notes.md").unlink()


def test_links_are_refused(sound, tmp_path):
    for name in ("raw/run0.csv", "raw", "model", "session.json", "ledger.jsonl"):
        (sound / name).rename(tmp_path / "aside")
        (sound / name).symlink_to(tmp_path / "aside")
        with pytest.raises(SessionError, match="symbolic link"):
            open_session(sound)
        (sound / name).unlink()
        (tmp_path / "aside").rename(sound / name)


def rewritten(place: Path, name: str, change: Callable[[dict], None]) -> None:
    """Change a JSON file of a session and tell the ledger, as a careful forger would."""
    document = json.loads((place / name).read_text(encoding="utf-8"))
    change(document)
    data = json.dumps(document).encode()
    (place / name).write_bytes(data)
    append(
        place / "ledger.jsonl", "edited", time=LATER, actor="forger", payloads={name: hashlib.sha256(data).hexdigest()}
    )


FORGERIES = {
    "other model": ("result.json", lambda d: d.update(model_digest="0" * 64), "not of this session"),
    "other data": ("result.json", lambda d: d["inputs"][0].update(sha256="0" * 64), "not of this session"),
    "unknown data": ("result.json", lambda d: d["inputs"][0].update(path="raw/other.csv"), "not of this session"),
    "unseen as data": ("result.json", lambda d: d["inputs"][0].update(path="validation.csv"), "not of this session"),
    "unknown validation": ("result.json", lambda d: d["validation"][0].update(file="x.csv"), "not of this session"),
    "approved by itself": ("result.json", lambda d: d.update(status="approved"), "candidate"),
    "way out": ("session.json", lambda d: d["recordings"][0].update(path="../../secret"), "inside the session"),
    "absolute": ("session.json", lambda d: d["model"].update(path="/secret"), "inside the session"),
    "other hash": ("session.json", lambda d: d["recordings"][0].update(sha256="0" * 64), "not what it was"),
    "other model hash": ("session.json", lambda d: d["model"].update(sha256="0" * 64), "not what it was"),
    "unrecorded place": ("session.json", lambda d: d["recordings"][0].update(path="raw/x.csv"), "not what it was"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_files_that_contradict_each_other_are_refused(given, place, name):
    create(place, given, results=results(given))
    file, change, says = FORGERIES[name]
    rewritten(place, file, change)
    with pytest.raises(SessionError, match=says):
        open_session(place)


def test_a_ledger_cannot_point_outside(given, place):
    create(place, given)
    with pytest.raises(SessionError, match="inside the session"):
        append(place / "ledger.jsonl", "x", time=LATER, actor="a", payloads={"../secret": "0" * 64})


@pytest.mark.parametrize("name", ["absent", "file", "empty", "a\0b"])
def test_what_is_no_session_is_refused(tmp_path, name):
    (tmp_path / "file").write_text("x")
    (tmp_path / "empty").mkdir()
    with pytest.raises(SessionError):
        open_session(tmp_path / name)
    assert not is_session(tmp_path / name)


def test_results_of_other_data_are_refused_before_anything_is_written(given, place, tmp_path):
    other = contents(tmp_path / "other", train=1, unseen=1, study=True)
    found = results(replace(other, model_sha256="1" * 64))
    with pytest.raises(SessionError, match="not of this session"):
        create(place, given, results=found)
    assert not place.exists()
    create(place, given)
    before = tree(place)
    for wrong in (
        found,
        replace(results(given), processed={"unseen0.csv": motion(0)}),
        replace(results(given), predictions={"run0.csv": TorquePrediction(np.zeros(1), JOINTS, np.zeros((1, 2)))}),
        replace(
            results(given), predictions={"unseen0.csv": TorquePrediction(np.zeros(1), JOINTS, np.full((1, 2), np.nan))}
        ),
    ):
        with pytest.raises(SessionError):
            add_results(place, wrong, **STAMP)
        assert tree(place) == before


@pytest.mark.parametrize("which", ["model_path", "study_path", "recording"])
def test_a_file_that_changed_since_it_was_read_is_refused(given, place, which):
    path = given.recordings[0].path if which == "recording" else getattr(given, which)
    with open(path, "ab") as file:
        file.write(b"\n")
    with pytest.raises(SessionError, match="changed since it was read") as caught:
        create(place, given)
    assert caught.value.where == str(path)
    assert not place.exists()
    assert litter(place) == []


# --- which directories may be replaced


def test_a_foreign_directory_is_never_replaced(given, place):
    place.mkdir()
    (place / "thesis.tex").write_text("ten years")
    for force in (False, True):
        with pytest.raises(SessionError, match="not a session"):
            create(place, given, force=force)
        with pytest.raises(SessionError, match="not a session"):
            check_target(place, force=force)
    assert tree(place) == {"thesis.tex": b"ten years"}


def test_an_empty_directory_is_taken(given, place):
    place.mkdir()
    create(place, given)
    assert open_session(place).result is None


def test_a_missing_parent_is_made(given, tmp_path):
    create(tmp_path / "a" / "b" / "c", given)
    assert is_session(tmp_path / "a" / "b" / "c")


def test_a_session_is_replaced_on_demand_only(given, place, tmp_path):
    create(place, given, results=results(given))
    before = tree(place)
    with pytest.raises(SessionError, match="there is a session already") as caught:
        create(place, given)
    assert "--force" in caught.value.cure
    assert tree(place) == before
    other = contents(tmp_path / "other", train=2, unseen=0)
    create(place, other, force=True)
    assert set(tree(place)) == {
        "ledger.jsonl", "model/arm.urdf", "model/digest", "raw/run0.csv", "raw/run1.csv", "session.json"
    }  # fmt: skip
    assert litter(place) == []


def test_a_session_replaced_from_its_own_files_keeps_them(given, place):
    create(place, given)
    raw, model = (place / "raw.csv").read_bytes(), place / "model/arm.urdf"
    own = [replace(r, path=p, name=e.name) for r, (e, p) in zip(
        given.recordings, [*open_session(place).recordings("train"), *open_session(place).recordings("validation")],
        strict=True,
    )]  # fmt: skip
    session = create(place, replace(given, recordings=own, model_path=model), force=True)
    assert (place / "raw.csv").read_bytes() == raw
    assert session.manifest.recordings[0].name == "run0.csv"


@pytest.mark.parametrize("damage", ["session.json", "result.json", "raw.csv"])
def test_a_damaged_session_can_be_replaced(given, place, damage):
    create(place, given, results=results(given))
    (place / damage).chmod(0o644)
    (place / damage).write_bytes(b"\0")
    create(place, given, force=True)
    assert open_session(place).result is None


def test_without_its_ledger_nothing_in_a_session_is_known_to_be_ours(given, place):
    create(place, given, results=results(given))
    (place / "ledger.jsonl").chmod(0o644)
    (place / "ledger.jsonl").write_bytes(b"\0")
    with pytest.raises(SessionError, match="would be lost"):
        create(place, given, force=True)
    assert (place / "result.json").exists()


@pytest.mark.parametrize("inside", ["raw/precious.csv", "model/mesh.stl", "prediction/mine.csv"])
def test_files_put_into_a_session_s_folders_are_not_thrown_away(given, place, inside):
    create(place, given)
    (place / inside).parent.mkdir(exist_ok=True)
    (place / inside).write_text("mine")
    with pytest.raises(SessionError, match="would be lost"):
        create(place, given, force=True)
    assert (place / inside).read_text() == "mine"


def test_what_is_not_ours_inside_a_session_is_not_thrown_away(given, place):
    create(place, given)
    (place / "notes.md").write_text("the arm squeaks")
    with pytest.raises(SessionError, match=r"would be lost.*notes\.md"):
        create(place, given, force=True)
    assert (place / "notes.md").read_text() == "the arm squeaks"


def test_links_files_and_the_working_directory_are_no_targets(given, tmp_path, monkeypatch):
    (tmp_path / "dir").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "dir")
    (tmp_path / "file").write_text("x")
    monkeypatch.chdir(tmp_path / "dir")
    for target in (tmp_path / "link", tmp_path / "file", tmp_path / "file" / "x", ".", "..", "", "/", "a\0b"):
        with pytest.raises(SessionError):
            create(target, given, force=True)
    assert sorted(os.listdir(tmp_path)) == ["dir", "file", "in", "link"]


# --- disks that fail

SCENARIOS = ("new", "force", "add_results", "add_files")


class Trial:
    """One change of a session: what stands there before and after, and in how many steps that can fail."""

    def __init__(self, scenario: str, folder: Path) -> None:
        self.scenario = scenario
        self.given = contents(folder / "in", study=True)
        self.first, self.second = results(self.given), results(self.given, lost=True)
        self.template = folder / "template"
        if scenario != "new":
            create(self.template, self.given, results=self.first)
            add_files(self.template, {"report.html": b"1", "prediction/x.csv": b"1"}, event="r", **STAMP)
        self.old = self.state(self.template)
        place = self.prepare(folder / "reference")
        with failing_disk(lambda step: False) as disk:
            self.change(place)
        self.calls = disk.calls
        self.new = self.state(place)
        assert self.old != self.new

    def prepare(self, place: Path) -> Path:
        if self.template.exists():
            shutil.copytree(self.template, place, copy_function=os.link)  # a write in place would show in all
        return place

    def change(self, place: Path) -> None:
        if self.scenario == "add_results":
            add_results(place, self.second, **STAMP, force=True)
        elif self.scenario == "add_files":
            add_files(place, {"report.html": b"2", "review.json": b"2"}, event="r", **STAMP)
        else:
            create(place, self.given, results=self.second, force=self.scenario == "force")

    def state(self, place: Path) -> dict[str, bytes]:
        """What a person finds who opens the session."""
        if not place.exists():
            return {}
        open_session(place)
        return tree(place)


@pytest.mark.parametrize(
    ("scenario", "lasting"),
    [*((scenario, False) for scenario in SCENARIOS), ("force", True), ("add_results", True)],
)
def test_a_full_disk_at_any_step_leaves_old_or_new(scenario, lasting, tmp_path):
    trial = Trial(scenario, tmp_path)
    seen = set()
    for at in range(1, len(trial.calls) + 1):
        place = trial.prepare(tmp_path / f"out{at}")
        with failing_disk(lambda step, at=at: step >= at if lasting else step == at) as disk, suppress(SessionError):
            trial.change(place)
        assert disk.failed
        found = trial.state(place)
        assert found in (trial.old, trial.new), at
        seen.add(found == trial.new)
        if found == trial.old and not lasting:
            assert litter(tmp_path / "out") == [], at
    assert False in seen
    assert trial.state(trial.template) == trial.old


def test_the_reason_of_a_failure_is_said(tmp_path):
    trial = Trial("new", tmp_path)
    messages = {}
    for at in range(1, len(trial.calls) + 1):
        place = tmp_path / f"out{at}"
        try:
            with failing_disk(lambda step, at=at: step == at):
                trial.change(place)
        except SessionError as error:
            messages[at] = str(error)
        else:
            assert trial.state(place) == trial.new, at  # only clearing up has failed
    assert len(messages) > len(trial.calls) - 10
    assert [at for at, message in messages.items() if "No space left on device" not in message] == []


@pytest.mark.parametrize("scenario", ["force", "add_results"])
def test_a_kill_at_any_step_leaves_old_or_new(scenario, tmp_path):
    trial = Trial(scenario, tmp_path)
    seen = set()
    for at in range(1, len(trial.calls) + 1):
        place = trial.prepare(tmp_path / "out")
        assert in_killed_child(lambda place=place: trial.change(place), at)
        found = trial.state(place)
        assert found in (trial.old, trial.new), at
        seen.add(found == trial.new)
        if place.exists():
            shutil.rmtree(place)
    assert seen == {False, True}
    create(tmp_path / "out", trial.given)
    assert litter(tmp_path / "out") == []


def test_a_child_that_is_not_killed_says_so(tmp_path):
    assert not in_killed_child(lambda: None, 1)


def around_renames(trial: Trial) -> list[int]:
    """Steps at and next to those that rename: before them only the new directory is built."""
    renames = [at for at, call in enumerate(trial.calls, start=1) if call == "rename"]
    assert len(renames) == 3
    return list(range(renames[0] - 1, renames[-1] + 3))


def test_without_an_exchange_of_names_a_failure_leaves_old_or_new(tmp_path, monkeypatch):
    monkeypatch.setattr(swap, "exchange", lambda one, other: False)
    trial = Trial("force", tmp_path)
    for at in around_renames(trial):
        place = trial.prepare(tmp_path / f"out{at}")
        with failing_disk(lambda step, at=at: step == at), suppress(SessionError):
            trial.change(place)
        assert trial.state(place) in (trial.old, trial.new), at


def test_without_an_exchange_of_names_a_kill_between_is_put_right(tmp_path, monkeypatch):
    monkeypatch.setattr(swap, "exchange", lambda one, other: False)
    trial = Trial("force", tmp_path)
    gone = 0
    for at in around_renames(trial):
        place = trial.prepare(tmp_path / f"out{at}")
        assert in_killed_child(lambda place=place: trial.change(place), at)
        if not place.exists():
            gone += 1
            with pytest.raises(SessionError, match="interrupted: rename"):
                open_session(place)
            with pytest.raises(SessionError, match="there is a session already"):
                create(place, trial.given)
            assert trial.state(place) == trial.old
        assert trial.state(place) in (trial.old, trial.new), at
    assert gone == 1


def test_a_living_builder_is_not_swept_away(given, place):
    alive = place.with_name(f".{place.name}.01234567.building")
    alive.mkdir(parents=True)
    other = place.with_name(f".{place.name}.89abcdef.building")
    other.mkdir()
    lock = hold(alive)
    create(place, given)
    assert litter(place) == [alive.name]
    os.close(lock)
    create(place, given, force=True)
    assert litter(place) == []


@contextmanager
def without_rights():
    """As a person who is not root, in a folder of their own."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    root = os.geteuid() == 0
    if root:
        os.chown(folder, 65534, -1)
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        for path in (folder, *(p for p in folder.rglob("*") if p.is_dir())):
            path.chmod(0o755)
        shutil.rmtree(folder)


def test_a_read_only_place_is_refused_and_can_be_read():
    with without_rights() as folder:
        given = contents(folder / "in")
        create(folder / "out", given)
        before = tree(folder)
        for path in (folder, folder / "out"):
            path.chmod(0o555)
        for work in (
            lambda: create(folder / "new", given),
            lambda: create(folder / "out", given, force=True),
            lambda: add_results(folder / "out", results(given), **STAMP),
            lambda: add_files(folder / "out", {"report.html": b""}, event="r", **STAMP),
        ):
            with pytest.raises(SessionError, match="Permission denied"):
                work()
        assert tree(folder) == before
        assert open_session(folder / "out").result is None


def test_a_file_that_cannot_be_read_is_named():
    with without_rights() as folder:
        given = contents(folder / "in")
        create(folder / "out", given)
        (folder / "out/raw.csv").chmod(0)
        with pytest.raises(SessionError, match="Permission denied"):
            open_session(folder / "out")
        given.model_path.chmod(0)
        with pytest.raises(SessionError, match="Permission denied") as caught:
            create(folder / "new", given)
        assert caught.value.where == str(given.model_path)
