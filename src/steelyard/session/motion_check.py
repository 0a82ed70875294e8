"""Certifying a motion that is there already: from elsewhere, or an excitation written earlier."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.excite.certificate import Certificate
from steelyard.excite.fourier import Rest
from steelyard.finding import Finding
from steelyard.formats.csv import read_csv
from steelyard.formats.excitation_file import StoredMotion, certificate_table, is_excitation, parse_excitation
from steelyard.formats.joint_trajectory_read import LARGEST, parse_joint_trajectory
from steelyard.session.disk import spoken
from steelyard.session.excitation import certified_versions
from steelyard.session.excitation_store import EXCITATION, folder_of
from steelyard.session.excite_subject import Subject


@dataclass(frozen=True)
class CheckedMotion:
    """A motion and what came of its check.

    Attributes:
        file: as given.
        subject: robot and limits.
        certificates: by name: the file's, or one for each speed of an excitation.
        note: what the reader should know of the file; empty for nothing.
    """

    file: str
    subject: Subject
    certificates: dict[str, Certificate]
    note: str = ""

    @property
    def passed(self) -> bool:
        """Whether the motion may be run, as far as was checked."""
        return all(certificate.passed for certificate in self.certificates.values())

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every failure."""
        return tuple(finding for certificate in self.certificates.values() for finding in certificate.findings)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return {
            "file": self.file,
            "passed": self.passed,
            "note": self.note,
            "certificates": {name: certificate_table(c) for name, c in self.certificates.items()},
            "findings": [finding.as_dict() for finding in self.findings],
        }


def check_motion(
    path: Path, subject_for: Callable[[tuple[str, ...]], Subject], *, rest: Rest | None = None
) -> CheckedMotion:
    """Read a motion and certify it.

    Args:
        path: CSV with dq (and ddq), JointTrajectory in JSON or YAML, or excitation.yaml or its directory.
        subject_for: the subject for the joints that the motion has.
        rest: what must be zero at both ends; when not given, what an excitation was designed for, otherwise velocity
            and acceleration.

    Raises:
        SteelyardError: a file that is none of these; a robot, limits or joints that do not fit it.
    """
    path = path / EXCITATION if path.is_dir() else path
    motion = read_motion(path)
    if isinstance(motion, Trajectory):
        subject = subject_for(motion.joint_names)
        return CheckedMotion(
            str(path), subject, {path.name: subject.certify_samples(motion, rest=rest or "acceleration")}
        )
    subject = subject_for(motion.motion.joint_names)
    versions = certified_versions(subject, motion.motion, rest=rest)
    same = motion.model_digest == subject.model.robot.digest
    return CheckedMotion(
        str(path),
        subject,
        {folder_of(version.speed): version.certificate for version in versions},
        "" if same else f"it was designed for another model file (SHA-256 {motion.model_digest[:12]})",
    )


def read_motion(path: Path) -> Trajectory | StoredMotion:
    """The motion in a file; which kind of file it is, its content says.

    Raises:
        DataError: no such file, or none of the kinds.
        StudyError: an excitation file that cannot be understood.
    """
    where = str(path)
    if not path.is_file():
        raise DataError("there is no such file", where=where, cure="check the path")
    with spoken(path, doing="read"), open(path, "rb") as file:
        head = file.read(4096)
        if head.lstrip(b"\xef\xbb\xbf").startswith(b"time_s") or path.suffix.lower() == ".csv":
            return read_csv(path)
        data = head + file.read(LARGEST)
    text = head.decode("utf-8", errors="replace")
    if is_excitation(text):
        return parse_excitation(data.decode("utf-8", errors="replace"), where=where)
    return parse_joint_trajectory(data, where=where)
