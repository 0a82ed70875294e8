"""The linter that stands before every use of a URDF: strict where a lenient reader would quietly put zero."""

from __future__ import annotations

import hashlib
from os import PathLike
from pathlib import Path

from steelyard.errors import ModelError
from steelyard.robot.finding_log import FindingLog
from steelyard.robot.lint_report import LintReport, judged
from steelyard.robot.urdf_description import UrdfDescription
from steelyard.robot.urdf_reader import read_parts
from steelyard.robot.urdf_structure import check_structure
from steelyard.robot.xml_reader import parse_model_xml


def lint_urdf(path: str | PathLike[str]) -> LintReport:
    """Everything that stands out in a URDF. Meshes are never opened, and nothing is repaired.

    Args:
        path: the file.

    Raises:
        ModelError: the file is not a URDF at all (`steelyard.robot.xml_reader.parse_model_xml` says why).
    """
    model = parse_model_xml(path)
    if model.kind != "urdf":
        raise ModelError(
            "a URDF is expected, this is an MJCF",
            where=f"{path}:{model.root.sourceline}",
            value="<mujoco>",
            choices=("<robot>",),
            cure="load it as an MJCF: Robot.from_mjcf, or Robot.from_file for either",
        )
    log = FindingLog(Path(path).name)
    parts = read_parts(model.root, log)
    root = check_structure(parts, log)
    digest = hashlib.sha256(model.data).hexdigest()
    return judged(UrdfDescription(parts.name, parts.links, parts.joints, root, digest), log)


def load_urdf_description(path: str | PathLike[str]) -> UrdfDescription:
    """The robot in a URDF that passes the linter.

    Raises:
        ModelError: the first error of `lint_urdf`, and how many more there are.
    """
    return lint_urdf(path).usable()
