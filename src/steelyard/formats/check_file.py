"""Check a recording in a file: what the reader refuses becomes findings, the rest is judged as a recording."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

from steelyard.assess.recording import RecordingReport, check_recording
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.finding import Finding
from steelyard.formats.csv import read_csv
from steelyard.formats.csv_survey import survey_csv
from steelyard.formats.study_schema import Study
from steelyard.preparation.pipeline import MINIMUM_SAMPLES
from steelyard.robot.robot import Robot

_CODES = (
    ("the clock goes back", "data.clock_backward"),
    ("the same stamp stands twice", "data.duplicate_stamp"),
    ("not finite", "data.nan"),
    ("the cell is empty", "data.nan"),
    ("missing value", "data.nan"),
    ("double precision", "data.nan"),
    ("too small to be", "data.absurd"),
    ("too large to be", "data.absurd"),
)
"""What the reader says, and the code of it; the rest is a header or a corrupt file."""
_COUNTED = ("data.nan", "data.absurd", "data.clock_backward", "data.duplicate_stamp")


def check_file(path: str | os.PathLike[str], robot: Robot | None = None, study: Study | None = None) -> RecordingReport:
    """Everything that can be said about a recording in a CSV file; the file is only read.

    Args:
        path: a CSV file.
        robot: for limits, gravity and dynamics; joints that the recording lacks are held at neutral.
        study: what the file's columns mean where they are not SI at the joint side.

    Returns:
        The report; `usable` is False, and the findings of level error say why, where the file breaks the contract.

    Raises:
        DataError: there is no such file, or it cannot be opened.
        StudyError: a study that does not fit the recording.
    """
    try:
        trajectory = read_csv(path, study=study, joint_names=None if robot is None else robot.joint_names)
    except DataError as error:
        if not Path(path).is_file() or "cannot be read" in error.what:
            raise
        return RecordingReport(Path(path).name, None, tuple(_refused(path, error, study)))
    report = check_recording(trajectory, robot)
    return replace(report, findings=(*_scope_findings(trajectory), *report.findings))


def _refused(path: str | os.PathLike[str], error: DataError, study: Study | None) -> list[Finding]:
    """What the reader stumbled over, and how often it and its like occur."""
    first = _as_finding(error)
    if first.code not in _COUNTED:
        return [first]
    counted = survey_csv(path, study=study)
    return counted if first.code in {finding.code for finding in counted} else [first, *counted]


def _as_finding(error: DataError) -> Finding:
    code = next((code for phrase, code in _CODES if phrase in error.what), "")
    if not code:
        code = "data.header" if re.search(r", line 1(,|$)", error.where) else "data.corrupt"
    value = (
        error.value if isinstance(error.value, (int, float, str)) else None if error.value is None else str(error.value)
    )
    cure = " / ".join(line.strip() for line in error.cure.splitlines())
    choices = f" (valid: {', '.join(error.choices)})" if error.choices else ""
    found = "" if value is None else f" (found {value!r})"
    return Finding(code, "error", error.what + found + choices, error.where, value, cure)


def _scope_findings(trajectory: Trajectory) -> list[Finding]:
    """What the recording is too short for, or lacks, to identify anything."""
    findings, longest = [], max(s.stop - s.start for s in trajectory.segments)
    if longest < MINIMUM_SAMPLES:
        findings.append(
            Finding(
                "data.too_short",
                "error",
                f"no stretch without a gap has {MINIMUM_SAMPLES} samples: the longest has {longest}",
                trajectory.name,
                longest,
                "record longer, or find out why the recorder drops samples",
            )
        )
    if trajectory.tau is None:
        findings.append(
            Finding(
                "data.torque_missing",
                "warning",
                "there is no torque: nothing can be fitted to this recording, nor judged on it",
                trajectory.name,
                None,
                "record it, as columns tau/<joint> [N m or N]",
            )
        )
    return findings
