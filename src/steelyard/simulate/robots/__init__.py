"""The arms that ship with the package: invented, mesh-free, each as URDF and as MJCF with the same numbers."""

from __future__ import annotations

from pathlib import Path

from steelyard.errors import StudyError

NAMES = ("arm6.urdf", "arm6.xml", "arm7.urdf", "arm7.xml")


def robot_file(name: str) -> Path:
    """Path of a model file that ships with the package, one of `NAMES`.

    Raises:
        StudyError: no file of that name ships.
    """
    if name not in NAMES:
        raise StudyError("no such robot ships with the package", value=name, choices=NAMES)
    return Path(__file__).with_name(name)
