"""The directory of an excitation: written whole with everything in it certified again, or not at all.

excitation.yaml                      motion, limits, certificates, expected deviations
preview.html                         plots and replay
speed_025/ speed_050/ speed_100/     the motion at each speed, in the forms that controllers take
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from steelyard.errors import SessionError, StudyError
from steelyard.excite.certificate import Certificate
from steelyard.excite.fourier import Rest
from steelyard.excite.motion import Motion
from steelyard.excite.pace import SLOW_FIRST, Version
from steelyard.finding import Finding
from steelyard.formats.excitation_file import (
    COMMENT,
    certificate_digest,
    certificate_table,
    limits_table,
    motion_table,
    parse_excitation,
)
from steelyard.formats.excitation_schema import KIND, SCHEMA_VERSION
from steelyard.formats.yaml_text import yaml_text
from steelyard.session.disk import flush_folder, spoken, write_new
from steelyard.session.excitation import Excitation, Wish
from steelyard.session.excite_subject import Subject
from steelyard.session.motion_forms import FILES, write_forms
from steelyard.session.swap import checked_target, install
from steelyard.version import __version__

EXCITATION, PREVIEW = "excitation.yaml", "preview.html"
COARSE = (
    "the motion passes, but not the polynomials between the samples of this file: a higher --rate, a longer --period, "
    "fewer --harmonics, or another --format"
)


class RefusedMotion(StudyError):
    """A motion that fails its certificate, and hence is not written; `findings` say why."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        super().__init__("the motion fails its certificate; nothing was written", value=len(findings))
        self.findings = findings


def folder_of(speed: float) -> str:
    """Where the files of a speed stand."""
    return f"speed_{round(100 * speed):03d}"


def write_excitation(
    excitation: Excitation, directory: str | os.PathLike[str], *, pages: Mapping[str, bytes], force: bool = False
) -> Path:
    """Write the directory; whatever fails, what stood there stands.

    Args:
        excitation: certified.
        directory: new or empty, or an excitation that `force` allows to replace.
        pages: further files, name -> content.
        force: replace an excitation of ours, as a whole.

    Raises:
        RefusedMotion: a motion, or a file read back, fails its certificate.
        SessionError: a directory that may not be replaced, a disk that refuses.
    """
    require_passed(version.certificate for version in excitation.versions)

    def fill(building: Path) -> None:
        files: dict[str, Any] = {}
        for version in excitation.versions:
            files[folder_of(version.speed)] = _write_version(building, excitation, version)
        text = yaml_text(document(excitation, files), comment=COMMENT)
        parse_excitation(text, where=EXCITATION)  # nothing is put in place that cannot be read again
        for name, data in ((EXCITATION, text.encode()), *pages.items()):
            write_new(building / name, data)

    with spoken(directory):
        target = checked_target(directory)
        install(target, fill, lambda place: _check_replaceable(place, force=force))
    return target


def check_target(directory: str | os.PathLike[str], *, force: bool) -> None:
    """Raise SessionError when the directory would be refused: to be asked before the search, not after."""
    with spoken(directory):
        _check_replaceable(checked_target(directory), force=force)


def document(excitation: Excitation, files: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What excitation.yaml holds, as plain values; the same excitation gives the same.

    Args:
        excitation: certified.
        files: of each folder, what is said of its files; none where nothing was written.
    """
    design, subject, wish = excitation.design, excitation.subject, excitation.wish
    told = excitation.forecast
    return {
        **heading(KIND, SCHEMA_VERSION, subject),
        "design": {
            "criterion": design.criterion,
            "value": design.value,
            "columns": design.columns,
            "optimiser": wish.optimiser,
            "seed": design.seed,
            "starts": wish.starts,
            "searches": design.outcome.searches,
            "stopped": design.outcome.stopped,
            "share_of_limits": design.share,
        },
        "motion": motion_table(design.motion),
        "limits": limits_table(subject.limits),
        "findings": [str(finding) for finding in subject.findings],
        "expected": {
            "periods": wish.periods,
            "rate_hz": wish.rate,
            "torque_noise_stated": bool(wish.noise),
            "torque_noise": dict(zip(subject.limits.joint_names, excitation.noise.tolist(), strict=True)),
            "deviations": {
                name: deviation if deviation < float("inf") else None
                for name, deviation in zip(told.basis.names, told.deviations.tolist(), strict=True)
            },
        },
        "certificates": {folder_of(v.speed): certificate_table(v.certificate) for v in excitation.versions},
        **({} if files is None else {"files": dict(files)}),
    }


def heading(kind: str, schema_version: int, subject: Subject) -> dict[str, Any]:
    """What a file says first: its kind, and the robot that it is for."""
    robot = subject.model.robot
    return {
        "schema_version": schema_version,
        "kind": kind,
        "software_version": __version__,
        "robot": robot.name,
        "model_sha256": robot.digest,
        "gravity_m_s2": robot.gravity.tolist(),
        "locked": dict(robot.locked_at),
        "terms": list(subject.terms),
    }


def require_passed(certificates: Iterable[Certificate]) -> None:
    """Raise RefusedMotion unless all passed."""
    findings = tuple(chain.from_iterable(c.findings for c in certificates if not c.passed))
    if findings:
        raise RefusedMotion(findings)


def _write_version(building: Path, excitation: Excitation, version: Version) -> dict[str, Any]:
    """The files of one speed, and what excitation.yaml says of them."""
    wish, robot = excitation.wish, excitation.subject.model.robot
    comment = (
        f"Written by steelyard {__version__} for {robot.name}, model SHA-256 {robot.digest}",
        f"Excitation at {100 * version.speed:g} % of its speed. Run the slower versions first.",
    )
    return write_certified(
        building / folder_of(version.speed), version.motion, excitation.subject, wish, rest=wish.rest, comment=comment
    )


def write_certified(
    folder: Path, motion: Motion, subject: Subject, wish: Wish, *, rest: Rest, comment: Sequence[str] = ()
) -> dict[str, Any]:
    """Write a motion in the forms wished for, read each file back, and certify what it holds.

    Args:
        folder: to be made.
        motion: one period of it.
        subject: what is to be kept.
        wish: forms, rate and periods.
        rest: what must be zero at both ends.
        comment: lines at the head of scripts.

    Returns:
        What is said of each file.

    Raises:
        RefusedMotion: a file that fails.
    """
    folder.mkdir()
    said: dict[str, Any] = {}
    forms = write_forms(folder, motion, wish.forms, rate=wish.rate, periods=wish.periods, comment=comment)
    for name, (digest, read) in forms.items():
        certificate = subject.certify_samples(read, rest=rest)
        if not certificate.passed:
            raise RefusedMotion(tuple(_of_file(f"{folder.name}/{name}", finding) for finding in certificate.findings))
        said[name] = {"sha256": digest, "samples": len(read), **certificate_digest(certificate)}
    flush_folder(folder)
    return said


def _of_file(name: str, finding: Finding) -> Finding:
    """What a file fails by, though its motion passed: between few samples it is another motion."""
    return replace(finding, where=", ".join(filter(None, (name, finding.where))), cure=COARSE)


def _check_replaceable(target: Path, *, force: bool) -> None:
    files = {f"{folder_of(speed)}/{name}" for speed in SLOW_FIRST for name in FILES}
    check_replaceable(target, record=EXCITATION, own={EXCITATION, PREVIEW} | files, force=force)


def check_replaceable(target: Path, *, record: str, own: Set[str], force: bool) -> None:
    """Raise SessionError for a directory that holds anything but `own` files, or is not to be replaced.

    Args:
        target: the place.
        record: the file without which the directory is not ours.
        own: paths inside it.
        force: replace one of ours.
    """
    if not os.path.lexists(target) or not any(target.iterdir()):
        return
    where = str(target)
    present = {path.relative_to(target).as_posix() for path in target.rglob("*") if not path.is_dir()}
    foreign = sorted(present - own)
    if foreign or record not in present:
        raise SessionError(
            f"the directory is not empty, and holds other things than those of {record}", where=where,
            value=", ".join(foreign[:5]) or None, cure="name a new or an empty directory",
        )  # fmt: skip
    if not force:
        raise SessionError(
            "the directory was written before", where=where, cure="--force replaces it; or name another directory"
        )
