"""`steelyard check`: can this recording be trusted?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from steelyard.cli.output import print_findings, print_json, show

GATE = 1


def check(recording: Path, /, *, robot: Path | None = None, config: Path | None = None, json: bool = False) -> int:
    """Findings on a recording before a day is spent on it; nothing is changed. Exit status 1 when one is an error.

    Args:
        recording: CSV file.
        robot: URDF or MJCF file; without it only the signals are judged, not torque against gravity.
        config: Study file (TOML): units, signs, drives, mount.
        json: One JSON object on stdout.
    """
    from steelyard.formats.check_file import check_file
    from steelyard.formats.study import read_study
    from steelyard.formats.study_schema import Study
    from steelyard.robot.robot import Robot

    study = Study() if config is None else read_study(config)
    model = None
    if robot is not None:
        whole = Robot.from_file(robot, gravity=study.robot.gravity_in_base(), mimic=study.robot.mimic)
        model = whole.locked(study.robot.locked)
    report = check_file(recording, model, None if config is None else study)
    errors = report.count("error")
    if json:
        print_json(report.as_dict())
        return GATE if errors else 0
    if report.statistics is not None:
        for name, value in asdict(report.statistics).items():
            if isinstance(value, int | float):
                show(f"{name.replace('_', ' ')}: {value:.6g}")
    print_findings(report.findings)
    show(f"{recording}: {errors} error(s), {report.count('warning')} warning(s), {report.count('info')} note(s)")
    return GATE if errors else 0
