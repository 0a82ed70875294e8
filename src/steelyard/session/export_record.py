"""export.json: which files an export wrote, from which result, and what reading them again showed."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field

from steelyard.session.schema import Entry, FindingEntry, Length, Name, Sha256

EXPORT_KIND: Final = "robot_dynamics_export"
EXPORT: Final = "export.json"


class ExportedFile(Entry):
    """A file beside the record."""

    path: Name
    target: Literal["urdf", "mjcf", "profile", "drake", "isaac_lab", "difference", "sheet"]
    sha256: Sha256
    torque_difference: dict[Name, Length]
    """By joint, read again, relative to the largest torque; empty for what is no model file."""


class ExportRecord(Entry):
    """export.json. What is exported of a candidate is a candidate."""

    schema_version: Literal[1] = 1
    kind: Literal["robot_dynamics_export"] = EXPORT_KIND
    status: Literal["candidate"] = "candidate"
    software_version: Name
    model_digest: Sha256
    """Of the model file that the values were identified with."""
    result_digest: Sha256
    origin: Literal["consistent", "base_to_full"]
    """Fitted as a full set, or completed from base parameters to the set nearest to the model file."""
    torque_change: Length
    """Largest difference of torque between the full set and the base parameters, relative to the largest torque."""
    friction_missed: dict[Name, Length]
    """By joint, share of an identified friction curve that the viscous and Coulomb friction of a model file misses."""
    files: Annotated[tuple[ExportedFile, ...], Field(min_length=1)]
    findings: tuple[FindingEntry, ...]
