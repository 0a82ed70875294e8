"""Ten parameters of links on their way into a model file: what it says now, what it can hold, whether it does."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import ModelError
from steelyard.robot.inertia import parameters_about_origin, rotation_rpy
from steelyard.robot.urdf_description import UrdfDescription

Array = NDArray[np.float64]
REREAD = 1e-12
"""Largest relative difference between a value that was asked for and the one the new file holds."""


def link_parameters(description: UrdfDescription) -> dict[str, Array | None]:
    """(10,) parameters of each link about its own origin, None where it has no inertial.

    The tensor is turned by the inertial's rpy, then moved to the origin.
    """
    found: dict[str, Array | None] = {}
    for link in description.links:
        if link.stand_in:
            continue
        found[link.name] = None
        if link.inertial is not None:
            R = rotation_rpy(np.array(link.inertial.origin_rpy))
            centre = np.array(link.inertial.origin_xyz) - np.array(link.offset)
            own = R @ np.array(link.inertial.inertia) @ R.T
            found[link.name] = parameters_about_origin(link.inertial.mass, centre, own)
    return found


def check_writable(parameters: Array, where: str) -> Array:
    """Ten parameters that a model file can hold.

    Raises:
        ModelError: not ten finite numbers, a negative mass, or first moments without a mass.
    """
    values = np.asarray(parameters, dtype=np.float64)
    if values.shape != (10,) or not np.isfinite(values).all():
        raise ModelError("ten finite parameters describe a link", where=where, value=values.tolist())
    if values[0] < 0.0 or (values[0] == 0.0 and values[1:4].any()):
        raise ModelError(
            "no model file can hold a negative mass, or first moments without a mass",
            where=where,
            value=float(values[0]),
            cure="export physically consistent values: estimate.consistent of the library",
        )
    return values


def compare_links(after: UrdfDescription, before: UrdfDescription, wanted: Mapping[str, Array], file: str) -> None:
    """Every link asked for is what was asked for to `REREAD`, every other one exactly what it was.

    Raises:
        ModelError: one is not.
    """
    was, now = link_parameters(before), link_parameters(after)
    for name, old in was.items():
        new = now.get(name)
        if name in wanted:
            same = _agree(np.zeros(10) if new is None else new, np.asarray(wanted[name], dtype=np.float64))
        else:
            same = old is new is None or (old is not None and new is not None and np.array_equal(old, new))
        if not same:
            raise differs(f"link {name}", file)


def differs(what: str, file: str) -> ModelError:
    """The error for a patched file that would not say what it should."""
    return ModelError(
        f"the patched file would not say of {what} what was asked for, so it is not written",
        where=file,
        cure="report the file: this should not happen",
    )


def _agree(found: Array, wanted: Array) -> bool:
    parts = (slice(0, 1), slice(1, 4), slice(4, 10))
    return all(np.abs(found[p] - wanted[p]).max() <= REREAD * np.abs(wanted[p]).max() for p in parts)
