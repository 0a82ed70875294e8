"""`steelyard export`: an identified robot as model files, profiles and simulator tables."""

from __future__ import annotations

import sys
from pathlib import Path

from steelyard.cli.arguments import Names, outside
from steelyard.cli.output import print_findings, print_json, say


def export(
    directory: Path,
    /,
    *,
    urdf: bool = False,
    mjcf: bool = False,
    profile: bool = False,
    drake: bool = False,
    isaac: bool = False,
    output: Path | None = None,
    force: bool = False,
    term: Names | None = None,
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Write what was identified where others read it: the model file with only the numbers changed, or tables.

    Links get values that a body could have: those of `identify --consistent`; of a result without them the nearest to
    the model file with the same torque. Every model file is read again and its torque compared. Without --output
    nothing is written, and the files (of a changed model file the difference) go to stdout.

    Args:
        directory: A session with a result.
        urdf: The session's URDF with other inertials and joint dynamics, and the profile beside it.
        mjcf: The session's MJCF likewise, or one made of its URDF.
        profile: Joint dynamics as YAML with units, friction as it was identified.
        drake: A table of the arguments of Drake's setters.
        isaac: A table of the arguments of Isaac Lab's actuators.
        output: Directory for the files, their differences, mapping.md and export.json.
        force: Replace an output directory that is an export.
        term: Terms of the result, repeated when one of them is code of your own.
        json: export.json on stdout.
        quiet: No list of files on stderr.
    """
    from steelyard.formats.export_mapping import TARGETS
    from steelyard.session import export as exporting

    if output is not None:
        output = outside(output, [directory / "session.json"])
    asked = [t for t, wanted in zip(TARGETS, (urdf, mjcf, profile, drake, isaac), strict=True) if wanted]
    done = exporting.export(directory, asked, terms=tuple(term or ()))
    if output is not None:
        place = exporting.write_export(done, output, force=force)
        for name in done.contents:
            say(f"written: {place / name}", quiet=quiet)
    if json:
        print_json(done.record.model_dump(mode="json"))
    elif output is None:
        for file in (file for file in done.files if file.target in asked):
            sys.stdout.write((file.difference or file.content).decode("utf-8", "replace"))
        print_findings(done.findings, stream=sys.stderr)
    else:
        print(done.sentence)
        print_findings(done.findings)
