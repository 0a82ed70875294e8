"""`steelyard export`: the files for model formats and simulators, from the full parameters of a session's result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

import numpy as np

from steelyard.data.trajectory import Trajectory
from steelyard.errors import SessionError, StudyError
from steelyard.finding import Finding
from steelyard.formats.csv import read_csv
from steelyard.formats.export_file import ExportFile, export_file
from steelyard.formats.export_mapping import TARGETS, Target
from steelyard.formats.export_table import Standing, export_sheet
from steelyard.formats.export_values import ExportValues, JointQuantity, export_values, joint_dynamics
from steelyard.formats.simple_friction import Simplified, simple_friction
from steelyard.session.export_record import EXPORT, EXPORT_KIND, ExportedFile, ExportRecord
from steelyard.session.folder import write_folder
from steelyard.session.full_set import FullParameters, full_parameters
from steelyard.session.layout import RESULT, processed_path
from steelyard.session.opening import Session, open_session
from steelyard.session.result_file import finding_entry
from steelyard.session.strict_json import to_json, validated
from steelyard.terms.rigid_body import RigidBody
from steelyard.version import __version__

SHEET = "mapping.md"


@dataclass(frozen=True)
class Export:
    """What came of a request.

    Attributes:
        files: one for each target.
        sheet: where each number went, as Markdown.
        full: the parameters.
        record: export.json.
        findings: all of them.
    """

    files: tuple[ExportFile, ...]
    sheet: str
    full: FullParameters
    record: ExportRecord
    findings: tuple[Finding, ...]

    @property
    def sentence(self) -> str:
        """What was exported, and how well the files say it."""
        checked = [file for file in self.files if file.check.torque_difference]
        worst = max((file.check.worst for file in checked), default=0.0)
        verb = "gives" if len(checked) == 1 else "give"
        again = f" Read again, {' and '.join(f.name for f in checked)} {verb} that torque to {worst:.1e}."
        return (
            f"Exported as a candidate: {len(self.full.links)} links and the dynamics of "
            f"{len(self.full.model.robot.joint_names)} joints. {_origin(self.full)}{again if checked else ''}"
        )

    @property
    def contents(self) -> dict[str, bytes]:
        """Every file of the directory."""
        made = {SHEET: self.sheet.encode(), EXPORT: to_json(self.record).encode()}
        for file in self.files:
            made[file.name] = file.content
            if file.difference:
                made[f"{file.name}.diff"] = file.difference
        return made


def export(directory: Path, targets: Sequence[Target], *, terms: Sequence[str] = ()) -> Export:
    """Files for the targets; nothing is written. A model file brings the profile along, for what it cannot hold.

    Args:
        directory: of a session with a result; its files, the model among them, must be those that were recorded.
        targets: at least one of TARGETS.
        terms: names of the result's terms, to be given when one of them is code of one's own.

    Raises:
        SteelyardError: a session that is damaged or has no result, base parameters that no robot can have, a target
            that cannot be made of the session's model, a file that would not say what it should.
    """
    if not targets:
        raise StudyError("an export needs a target", choices=TARGETS, cure="for example --urdf")
    session = open_session(directory)
    full = full_parameters(session, terms=terms)
    exact = values_of(full)
    simple = simple_friction(full.model, full.theta, _motions(session), exact)
    wanted = {*targets, *(("profile",) if {"urdf", "mjcf"} & set(targets) else ())}
    provenance = {
        "result_sha256": session.digests[RESULT],
        "software_version": __version__,
        "full_parameters": full.origin,
    }
    source = session.model.read_bytes()
    files = tuple(
        export_file(
            target, source, name=session.model.name, exact=exact, simple=simple.values, provenance=provenance
        )
        for target in TARGETS
        if target in wanted
    )  # fmt: skip
    findings = tuple(
        dict.fromkeys(
            (*full.findings, *exact.findings, *simple.findings, *(found for file in files for found in file.findings))
        )
    )
    standing = {name: Standing(entry.deviation, entry.class_) for name, entry in full.entries.items()}
    sheet = export_sheet(simple.values, files, standing, said=[_origin(full), *(f.message for f in simple.findings)])
    record = _record(session, full, simple, files, sheet, findings)
    return Export(files, sheet, full, record, findings)


def write_export(done: Export, output: Path, *, force: bool) -> Path:
    """Write the files of an export into a directory of their own.

    Raises:
        SessionError: a directory that is not an export of ours, or is one and `force` does not say to replace it.
    """
    return write_folder(output, done.contents, record=EXPORT, kind=EXPORT_KIND, force=force)


def values_of(full: FullParameters) -> ExportValues:
    """The values by link and joint, checked to add up to the bodies that were identified.

    A moving link that has moments but no mass in the model file was fitted as one without: it is exported so.

    Raises:
        ModelError: a link that could not exist, links that do not add up.
    """
    robot = full.model.robot
    units = {column.name: column.unit for column in full.model.columns}
    links = dict(full.links)
    bodies = None
    rigid = [column.name for column in RigidBody().columns(robot)]
    if set(rigid) <= set(full.model.names):
        known = dict(zip(full.model.names, full.theta.tolist(), strict=True))
        bodies = np.array([known[name] for name in rigid])
        links |= {
            link.name: np.zeros(10)
            for link in robot.links
            if link.body >= 0 and link.name not in links and link.parameters is not None and link.parameters.any()
        }
    of_joints = tuple(f"actuator/{joint}/" for joint in robot.joint_names)
    joints = joint_dynamics((n, value, units[n]) for n, value in full.scalars.items() if n.startswith(of_joints))
    others = tuple(JointQuantity(n, v, units[n]) for n, v in full.scalars.items() if not n.startswith(of_joints))
    return replace(export_values(robot, links=links, joints=joints, bodies=bodies), others=others)


def _motions(session: Session) -> list[Trajectory]:
    """The training recordings as they were fitted."""
    paths = [processed_path(session.manifest, entry.name) for entry in session.manifest.role("train")]
    lost = [path for path in paths if path not in session.digests]
    if lost:
        raise SessionError("the session lacks the recording as it was fitted", where=str(session.directory),
                           value=lost[0], cure="identify again")  # fmt: skip
    return [read_csv(session.path(path)) for path in paths]


def _origin(full: FullParameters) -> str:
    torque = f"They give the torque of the base parameters to {full.torque_change:.1e} of the largest."
    if full.origin == "consistent":
        return f"The full parameters were fitted as those of a robot that can exist. {torque}"
    return (
        "The result holds base parameters alone. They were completed to the parameters nearest to the model file among "
        f"those of robots that can exist: single values of links rest on the model file. {torque}"
    )


def _record(
    session: Session,
    full: FullParameters,
    simple: Simplified,
    files: Sequence[ExportFile],
    sheet: str,
    findings: Sequence[Finding],
) -> ExportRecord:
    entries = []
    for file in files:
        entries.append(_entry(file.name, file.target, file.content, file.check.torque_difference))
        if file.difference:
            entries.append(_entry(f"{file.name}.diff", "difference", file.difference, {}))
    entries.append(_entry(SHEET, "sheet", sheet.encode(), {}))
    fields = {
        "software_version": __version__,
        "model_digest": session.manifest.model.sha256,
        "result_digest": session.digests[RESULT],
        "origin": full.origin,
        "torque_change": full.torque_change,
        "friction_missed": simple.missed,
        "files": tuple(entries),
        "findings": tuple(finding_entry(finding) for finding in findings),
    }
    return validated(ExportRecord, fields, where=EXPORT)


def _entry(path: str, target: str, content: bytes, difference: dict[str, float]) -> ExportedFile:
    fields = {
        "path": path,
        "target": target,
        "sha256": sha256(content).hexdigest(),
        "torque_difference": difference,
    }
    return validated(ExportedFile, fields, where=EXPORT)
