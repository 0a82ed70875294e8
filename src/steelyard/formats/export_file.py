"""One target of an export: the file for it, what it changes, and what reading it again showed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.errors import ModelError
from steelyard.finding import Finding
from steelyard.formats.export_check import ExportCheck, check_export
from steelyard.formats.export_mapping import Target, not_held
from steelyard.formats.export_values import ExportValues
from steelyard.formats.mjcf_patch import patch_mjcf
from steelyard.formats.mjcf_write import write_mjcf
from steelyard.formats.model_text import description_of
from steelyard.formats.profile import profile_text
from steelyard.formats.review_diff import unified_diff
from steelyard.formats.simulator_tables import drake_table, isaac_lab_table
from steelyard.formats.urdf_patch import patch_urdf

ENDINGS: Mapping[Target, str] = {
    "urdf": ".candidate.urdf",
    "mjcf": ".candidate.xml",
    "profile": ".candidate.profile.yaml",
    "drake": ".candidate.drake.yaml",
    "isaac_lab": ".candidate.isaac_lab.yaml",
}
_NOTHING = ExportCheck({}, ())


@dataclass(frozen=True)
class ExportFile:
    """A file for one target.

    Attributes:
        target: one of TARGETS.
        name: of the file.
        content: of the file.
        difference: from the model file, as `diff -u` prints it; empty for what is no changed model file.
        check: torque and new findings of the linter when a model file was read again.
        findings: what the target cannot hold, and what the linter says of the new file and not of the old one.
    """

    target: Target
    name: str
    content: bytes
    difference: bytes
    check: ExportCheck
    findings: tuple[Finding, ...]


def export_file(
    target: Target,
    source: bytes,
    *,
    name: str,
    exact: ExportValues,
    simple: ExportValues,
    provenance: Mapping[str, str],
) -> ExportFile:
    """The file for a target; a model file is read again by the linter, and its torque compared.

    Args:
        target: one of TARGETS.
        source: model file that the values were identified with.
        name: of that file.
        exact: values as identified, for the profile.
        simple: the same with friction that model files can hold; see `simple_friction`.
        provenance: digests and versions that bind a profile to its result.

    Raises:
        ModelError: a target that cannot be made of this model file, or a file that would not say what it should.
    """
    stem = name.rpartition(".")[0] or name
    written = f"{stem}{ENDINGS[target]}"
    if target in ("urdf", "mjcf"):
        content, changed = _model_file(target, source, simple, name)
        check = check_export(source, content, simple, name=written)
        difference = unified_diff(source, content, old=name, new=written) if changed else b""
    else:
        tables = {"drake": drake_table, "isaac_lab": isaac_lab_table}
        text = tables[target](simple) if target in tables else profile_text(exact, provenance=provenance)
        content, check, difference = text.encode(), _NOTHING, b""
    held = exact if target == "profile" else simple
    return ExportFile(target, written, content, difference, check, (*not_held(held, target), *check.new_findings))


def _model_file(target: Target, source: bytes, values: ExportValues, name: str) -> tuple[bytes, bool]:
    """The file, and whether it is the old one with other numbers."""
    kind = description_of(source, name).format
    if target == kind:
        patch = patch_urdf if target == "urdf" else patch_mjcf
        return patch(source, values.links, values.joints, name=name), True
    if target == "urdf":
        raise ModelError(
            "the session's model is an MJCF, and no URDF is made of one",
            where=name,
            cure="--mjcf; or identify with a URDF of the robot",
        )
    return write_mjcf(source, values, name=name), False
