"""What the linter says of a robot whose file could be read: dynamics that stand out, and whether it can be used."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.errors import ModelError
from steelyard.finding import Finding
from steelyard.robot.composite_body import composite_bodies
from steelyard.robot.finding_log import FindingLog
from steelyard.robot.inertial_lint import check_inertials
from steelyard.robot.inertial_plausibility import check_plausibility
from steelyard.robot.joint_lint import check_joints
from steelyard.robot.mirror_lint import check_pairs
from steelyard.robot.urdf_description import UrdfDescription


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

    def usable(self) -> UrdfDescription:
        """The robot.

        Raises:
            ModelError: the first error, and how many more there are.
        """
        if self.description is not None:
            return self.description
        first, *more = self.errors
        hint = f" ({len(more)} more errors: `steelyard lint` lists them)" if len(more) > 1 else ""
        hint = " (1 more error: `steelyard lint` lists it)" if len(more) == 1 else hint
        raise ModelError(first.message + hint, where=first.where, value=first.value, cure=first.cure)


def judged(description: UrdfDescription, log: FindingLog) -> LintReport:
    """The report on a description, with what reading it has logged; one that could not be read is not judged."""
    if log.has_errors:
        return LintReport(None, log.findings())
    check_joints(description, log)
    bodies = composite_bodies(description)
    check_inertials(bodies, log, format=description.format)
    check_plausibility(description, bodies, log)
    check_pairs(description.links, log)
    return LintReport(None if log.has_errors else description, log.findings())
