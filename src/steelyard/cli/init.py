"""`steelyard init`: a session directory from a model file and recordings."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.arguments import Paths
from steelyard.cli.output import print_json, say


def init(
    directory: Path,
    /,
    *,
    robot: Path,
    train: Paths,
    validate: Paths | None = None,
    config: Path | None = None,
    force: bool = False,
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Check a model file and recordings, and copy them into a session directory.

    Args:
        directory: The session to make; refused when it exists and is not one.
        robot: URDF or MJCF file.
        train: Recordings to fit (CSV), one or more.
        validate: Recordings of other motions, never used for fitting.
        config: Study file (TOML): units, signs, drives, mount.
        force: Replace a session.
        json: session.json on stdout.
        quiet: No messages on stderr.
    """
    from steelyard.session import workflow
    from steelyard.session.run import Request

    request = Request(model=robot, train=tuple(train), validate=tuple(validate or ()), study=config)
    session = workflow.start(request, directory, force=force)
    if json:
        print_json(session.manifest.model_dump(mode="json", by_alias=True))
        return
    print(f"{directory}: {len(session.manifest.recordings)} recording(s) of {len(session.manifest.joint_names)} joints")
    for entry in session.manifest.recordings:
        size = f"{entry.samples} samples, {entry.duration_s:.4g} s"
        print(f"  {entry.role:10} {entry.path}: {size}, sha256 {entry.sha256[:12]}")
    for joint, position in session.manifest.locked.items():
        print(f"  not recorded, held at {position:g}: {joint}")
    say(f"next: steelyard identify {directory}", quiet=quiet)
