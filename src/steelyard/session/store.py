"""A session is a directory: made at once, opened with suspicion, added to without ever rewriting what was recorded.

raw.csv | raw/<name>.csv                 training recordings, byte for byte, read-only
validation.csv | validation/<name>.csv   recordings that are never fitted
model/<file>, model/digest, study.toml   what was used
session.json                             what the data mean, SHA-256 of each file
processed.csv | processed/<name>.csv     q, dq, ddq, tau as they were fitted
result.json, prediction/<name>.csv       what was found, and what it predicts
ledger.jsonl                             what happened, with the hash of every file
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, SessionError
from steelyard.formats.csv_write import write_csv, write_prediction
from steelyard.session.amending import Writer, commit, write_all
from steelyard.session.contents import Results, SessionContents, TorquePrediction, session_file
from steelyard.session.disk import copy_hashed, file_digest, locked, spoken, write_new
from steelyard.session.layout import (
    ADDED_LATER,
    LEDGER,
    MODEL_DIGEST,
    RESULT,
    SESSION,
    comes_from_fit,
    model_digest_text,
    prediction_path,
    present,
    processed_path,
    strangers,
)
from steelyard.session.ledger import extended, latest, parse
from steelyard.session.opening import Session, check_result, open_session, read_session
from steelyard.session.schema import RESULT_KIND, SESSION_KIND, SessionFile
from steelyard.session.strict_json import load_strictly, read_bytes, to_json, validated
from steelyard.session.swap import checked_target, install

__all__ = ["Session", "add_files", "add_results", "check_target", "create", "is_session", "open_session"]


def create(
    directory: str | os.PathLike[str], contents: SessionContents, *, results: Results | None = None, force: bool = False
) -> Session:
    """Make a session; whatever fails, `directory` is as it was before.

    Args:
        directory: new or empty, or a session that `force` allows to replace.
        contents: recordings, model, study and what they mean.
        results: what was identified, when it was.
        force: replace a session of ours, as a whole. A directory that holds anything else is never replaced.

    Raises:
        SessionError: a directory that may not be replaced, results of other data, a file that changed since it was
            read, a disk that refuses.
    """
    manifest = session_file(contents)
    files = _sources(contents, manifest)
    if results is not None:
        manifest = _prepared(manifest, results)
        files |= _result_files(manifest, results)
    files[SESSION] = _text(to_json(manifest))
    where = os.fspath(directory)

    def fill(building: Path) -> None:
        digests = write_all(building, files)
        line = extended(
            b"",
            "created" if results is None else "identified",
            time=contents.created,
            actor=_actor(contents.software_version),
            payloads=digests,
            where=LEDGER,
        )
        write_new(building / LEDGER, line)
        read_session(building)  # nothing is put in place that cannot be opened

    with spoken(where):
        target = checked_target(where)
        install(target, fill, lambda place: _check_replaceable(place, force=force))
        return read_session(target)


def add_results(
    directory: str | os.PathLike[str], results: Results, *, time: str, software_version: str, force: bool = False
) -> Session:
    """Add what was identified to a session that has the recordings already.

    Args:
        directory: of the session.
        results: result, processed recordings, predictions.
        time: UTC, e.g. 2026-09-03T08:15:00Z.
        software_version: of this package.
        force: replace earlier results and all that follows from it; the ledger keeps its hashes.

    Raises:
        SessionError: as `open_session`; results that are there already; results of other data; a disk that refuses.
    """
    root = Path(directory)
    open_session(root)  # says in words what is wrong, and finishes what a crash has left
    with spoken(root), locked(root):
        session = read_session(root)
        if session.result is not None and not force:
            raise SessionError(
                "the session has a result, and a result is never changed",
                where=str(root / RESULT),
                cure="--force puts a new one in its place; or make a new session",
            )
        manifest = _prepared(session.manifest, results)
        files = {**_result_files(manifest, results), SESSION: _text(to_json(manifest))}
        void = [inside for inside in present(root) if comes_from_fit(inside) and inside not in files]
        commit(root, files, void, event="identified", time=time, actor=_actor(software_version))
        return read_session(root)


def add_files(
    directory: str | os.PathLike[str],
    files: Mapping[str, bytes | TorquePrediction],
    *,
    event: str,
    time: str,
    software_version: str,
) -> Session:
    """Add a report, a review, a rollback, an excitation or more predictions; one that was there is replaced.

    Args:
        directory: of the session.
        files: path inside the session -> content.
        event: what happened, for the ledger, e.g. ``reported``.
        time: UTC, e.g. 2026-09-03T08:15:00Z.
        software_version: of this package.

    Raises:
        SessionError: as `open_session`; a path that is not one of these; a disk that refuses.
    """
    for inside in files:
        name = inside.removeprefix("prediction/")
        if inside not in ADDED_LATER and (name == inside or "/" in name or not name.endswith(".csv")):
            raise SessionError(
                "not a file that is added to a session",
                where=os.fspath(directory),
                value=inside,
                choices=(*sorted(ADDED_LATER), "prediction/<name>.csv"),
            )
    root = Path(directory)
    open_session(root)
    with spoken(root), locked(root):
        read_session(root)
        writers = {i: _bytes(f) if isinstance(f, bytes) else _prediction(f, i) for i, f in files.items()}
        commit(root, writers, (), event=event, time=time, actor=_actor(software_version))
        return read_session(root)


def check_target(directory: str | os.PathLike[str], *, force: bool) -> None:
    """Raise SessionError when `create` would refuse `directory`: to be asked before hours of work, not after."""
    with spoken(directory):
        _check_replaceable(checked_target(directory), force=force)


def is_session(directory: str | os.PathLike[str]) -> bool:
    """Whether session.json, result.json or the ledger says that the directory is ours, sound or not."""
    root = Path(directory)
    for name, kind in ((SESSION, SESSION_KIND), (RESULT, RESULT_KIND)):
        try:
            table = load_strictly(read_bytes(root / name), where=name)
        except SessionError:
            continue
        if isinstance(table, dict) and table.get("kind") == kind:
            return True
    try:
        parse(read_bytes(root / LEDGER), where=LEDGER)
    except SessionError:
        return False
    return True


def _recorded(target: Path) -> tuple[str, ...]:
    """Paths that the ledger of a session knows; none when it cannot be read."""
    try:
        return tuple(latest(parse(read_bytes(target / LEDGER), where=LEDGER)))
    except SessionError:
        return ()


def _check_replaceable(target: Path, *, force: bool) -> None:
    if not os.path.lexists(target) or not any(target.iterdir()):
        return
    where = str(target)
    if not is_session(target):
        raise SessionError(
            "the directory is not empty and not a session", where=where, cure="name a new or an empty directory"
        )
    if not force:
        raise SessionError(
            "there is a session already", where=where, cure="--force replaces it; or name another directory"
        )
    foreign = strangers(target, _recorded(target))
    if foreign:
        raise SessionError(
            "the session holds what is not ours, and would be lost",
            where=where,
            value=", ".join(foreign[:5]),
            cure="move it elsewhere first",
        )


def _sources(contents: SessionContents, manifest: SessionFile) -> dict[str, Writer]:
    """The files that are copied."""
    files: dict[str, Writer] = {MODEL_DIGEST: _bytes(model_digest_text(manifest), read_only=True)}
    files[manifest.model.path] = _copy(contents.model_path, manifest.model.sha256)
    if manifest.study is not None and contents.study_path is not None:
        files[manifest.study.path] = _copy(contents.study_path, manifest.study.sha256)
    for given, entry in zip(contents.recordings, manifest.recordings, strict=True):
        files[entry.path] = _copy(given.path, entry.sha256)
    return files


def _result_files(manifest: SessionFile, results: Results) -> dict[str, Writer]:
    check_result(results.result, manifest, where=RESULT)
    train = _known(results.processed, manifest, "train")
    unseen = _known(results.predictions, manifest, "validation")
    files: dict[str, Writer] = {RESULT: _text(to_json(results.result))}
    for name in train:
        path = processed_path(manifest, name)
        files[path] = _table(results.processed[name], path)
    for name in unseen:
        path = prediction_path(name)
        files[path] = _prediction(results.predictions[name], path)
    return files


def _prepared(manifest: SessionFile, results: Results) -> SessionFile:
    """session.json with how each training recording was prepared, and nothing of an earlier preparation."""
    _known(results.preparations, manifest, "train")
    recordings = tuple(
        entry.model_copy(
            update={"preparation": results.preparations.get(entry.name) if entry.role == "train" else None}
        )
        for entry in manifest.recordings
    )
    return validated(SessionFile, {**dict(manifest), "recordings": recordings}, where=SESSION)


def _known(table: Mapping[str, object], manifest: SessionFile, role: str) -> tuple[str, ...]:
    names = tuple(entry.name for entry in manifest.recordings if entry.role == role)
    for name in table:
        if name not in names:
            raise SessionError(f"not a {role} recording of the session", where=SESSION, value=name, choices=names)
    return tuple(table)


def _actor(software_version: str) -> str:
    return f"steelyard {software_version}"


def _copy(source: Path, expected: str) -> Writer:
    return lambda path: copy_hashed(source, path, expected=expected)


def _text(text: str) -> Writer:
    return _bytes(text.encode())


def _bytes(data: bytes, *, read_only: bool = False) -> Writer:
    return lambda path: write_new(path, data, read_only=read_only)


def _table(trajectory: Trajectory, inside: str) -> Writer:
    def write(path: Path) -> str:
        try:
            write_csv(path, trajectory)
        except DataError as error:
            raise _moved(error, inside) from None
        return file_digest(path)

    return write


def _prediction(prediction: TorquePrediction, inside: str) -> Writer:
    def write(path: Path) -> str:
        try:
            write_prediction(path, prediction.time, prediction.joint_names, prediction.torque)
        except DataError as error:
            raise _moved(error, inside) from None
        return file_digest(path)

    return write


def _moved(error: DataError, inside: str) -> SessionError:
    """An error about the place where a file was built, said of the place where it was to go."""
    return SessionError(error.what, where=inside, value=error.value, choices=error.choices, cure=error.cure)
