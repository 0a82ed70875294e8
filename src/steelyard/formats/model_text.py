"""Model files held in memory, read by the linter as files on disk are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from steelyard.errors import ModelError
from steelyard.finding import Finding
from steelyard.robot.lint_report import LintReport
from steelyard.robot.load import lint_model
from steelyard.robot.urdf_description import UrdfDescription

_FILE = "model"
_ROOTS = {"urdf": "<robot>", "mjcf": "<mujoco>"}


def description_of(data: bytes, file: str, kind: Literal["urdf", "mjcf"] | None = None) -> UrdfDescription:
    """The robot in a model file that passes the linter.

    Args:
        data: a URDF or MJCF.
        file: its name, for messages.
        kind: which of them it must be; None for either.

    Raises:
        ModelError: the first error of the linter, or a file of the other kind.
    """
    report = _report(data, file)
    if report.description is None:
        first, *more = report.errors
        raise ModelError(
            first.message + (f" (and {len(more)} more)" if more else ""),
            where=file + first.where.removeprefix(_FILE),
            value=first.value,
            cure=first.cure,
        )
    if kind is not None and report.description.format != kind:
        raise ModelError(
            f"the root element is {_ROOTS[report.description.format]}", where=file, choices=(_ROOTS[kind],)
        )
    return report.description


def findings_of(data: bytes, file: str) -> tuple[Finding, ...]:
    """All that the linter says about a model file.

    Raises:
        ModelError: it is no URDF or MJCF at all.
    """
    return tuple(
        replace(finding, where=file + finding.where.removeprefix(_FILE)) for finding in _report(data, file).findings
    )


def _report(data: bytes, file: str) -> LintReport:
    """The readers take files, so that they can bound what they load; their messages name `file`, not the copy."""
    try:
        with TemporaryDirectory(prefix="steelyard-") as folder:
            path = Path(folder, _FILE)
            path.write_bytes(data)
            try:
                return lint_model(path)
            except ModelError as error:
                where = error.where.removeprefix(folder).removeprefix("/").removeprefix(_FILE)
                raise ModelError(
                    error.what, where=file + where, value=error.value, choices=error.choices, cure=error.cure
                ) from None
    except OSError as error:
        raise ModelError(
            f"no temporary file can be written: {error.strerror}", where=file, cure="set TMPDIR to a folder with room"
        ) from None
