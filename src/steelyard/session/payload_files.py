"""The directory of a weighed payload: payload.json with everything, tool.yaml for a controller."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

import numpy as np

from steelyard.estimate.payload import Payload
from steelyard.formats.profile import Tool, tool_profile_text
from steelyard.session.disk import spoken
from steelyard.session.folder import check_folder, write_folder
from steelyard.session.swap import checked_target
from steelyard.session.weighing import Weighed
from steelyard.version import __version__

PAYLOAD, TOOL = "payload.json", "tool.yaml"
PAYLOAD_KIND: Final = "robot_payload"


def payload_document(weighed: Weighed) -> dict[str, Any]:
    """What payload.json holds: that of the interface, and where it came from."""
    return {
        "schema_version": 1,
        "kind": PAYLOAD_KIND,
        "status": "candidate",
        "software_version": __version__,
        "model_digest": weighed.robot.digest,
        "inputs": [{"path": t.name, "sha256": t.source} for t in weighed.inputs],
        "against": weighed.against,
        **weighed.payload.as_dict(),
    }


def tool_of(payload: Payload, tool_id: str) -> Tool | None:
    """The payload as a tool; None unless mass and centre are known. The inertia is left out where no body has it."""
    if not np.isfinite(payload.centre).all():
        return None
    x, y, z = payload.centre.tolist()
    known = bool(payload.known.all()) and payload.possible
    return Tool(tool_id, payload.frame, payload.mass, (x, y, z), payload.inertia_about_centre if known else None)


def check_payload_target(directory: str | os.PathLike[str], *, force: bool) -> None:
    """Raise SessionError when `save_payload` would refuse `directory`: to be asked before the work."""
    with spoken(directory):
        check_folder(checked_target(directory), record=PAYLOAD, kind=PAYLOAD_KIND, force=force)


def save_payload(directory: str | os.PathLike[str], weighed: Weighed, *, tool_id: str, force: bool = False) -> Path:
    """Write payload.json, and tool.yaml where mass and centre are known; whatever fails, `directory` is as it was.

    Args:
        directory: new or empty, or one of ours that `force` allows to replace.
        weighed: the payload.
        tool_id: the name that the controller knows it by.
        force: replace a directory that an earlier call made.

    Returns:
        Where it is, absolute.

    Raises:
        SessionError: a directory that may not be replaced, a disk that refuses.
    """
    tool = tool_of(weighed.payload, tool_id)
    files: dict[str, bytes] = {}
    if tool is not None:
        provenance = {"software_version": __version__, **{f"sha256 of {t.name}": t.source for t in weighed.inputs}}
        files[TOOL] = tool_profile_text(tool, weighed.robot, provenance=provenance).encode()
    document = {**payload_document(weighed), "files": [{"path": name} for name in files]}
    files[PAYLOAD] = (json.dumps(document, indent=2, allow_nan=False) + "\n").encode()
    return write_folder(directory, files, record=PAYLOAD, kind=PAYLOAD_KIND, force=force)
