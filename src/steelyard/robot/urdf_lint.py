"""The linter that stands before every use of a URDF: strict where a lenient reader would quietly put zero."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from steelyard.errors import ModelError
from steelyard.finding import Finding
from steelyard.robot.composite_body import composite_bodies
from steelyard.robot.finding_log import FindingLog
from steelyard.robot.inertial_lint import check_inertials
from steelyard.robot.inertial_plausibility import check_plausibility
from steelyard.robot.joint_lint import check_joints
from steelyard.robot.mirror_lint import check_pairs
from steelyard.robot.urdf_description import UrdfDescription
from steelyard.robot.urdf_reader import read_parts
from steelyard.robot.urdf_structure import check_structure
from steelyard.robot.xml_reader import parse_model_xml


@dataclass(frozen=True)
class LintReport:
    """What the linter found.

    Attributes:
        description: the robot, None where a finding is an error.
        findings: errors first, then warnings, then infos, each in file order.
    """

    description: UrdfDescription | None
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that keep the model from being used."""
        return tuple(finding for finding in self.findings if finding.level == "error")


def lint_urdf(path: str | PathLike[str]) -> LintReport:
    """Everything that stands out in a URDF. Meshes are never opened, and nothing is repaired.

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
            cure="load it as an MJCF",
        )
    log = FindingLog(Path(path).name)
    parts = read_parts(model.root, log)
    root = check_structure(parts, log)
    if log.has_errors:
        return LintReport(None, log.findings())
    digest = hashlib.sha256(model.data).hexdigest()
    description = UrdfDescription(parts.name, parts.links, parts.joints, root, digest)
    check_joints(description, log)
    bodies = composite_bodies(description)
    check_inertials(bodies, log)
    check_plausibility(description, bodies, log)
    check_pairs(description.links, log)
    return LintReport(None if log.has_errors else description, log.findings())


def load_urdf_description(path: str | PathLike[str]) -> UrdfDescription:
    """The robot in a URDF that passes the linter.

    Raises:
        ModelError: the first error of `lint_urdf`, and how many more there are.
    """
    report = lint_urdf(path)
    if report.description is not None:
        return report.description
    first, *more = report.errors
    hint = f" ({len(more)} more errors: `steelyard lint` lists them)" if len(more) > 1 else ""
    hint = " (1 more error: `steelyard lint` lists it)" if len(more) == 1 else hint
    raise ModelError(first.message + hint, where=first.where, value=first.value, cure=first.cure)
