"""excitation.yaml: a motion by its exact coefficients, the limits it was made for, and the proof that it keeps them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.excite.certificate import Certificate
from steelyard.excite.fourier import FourierFamily, FourierMotion
from steelyard.excite.limits import MotionLimits
from steelyard.formats.excitation_schema import KIND, ExcitationTable
from steelyard.formats.yaml_aliases import has_aliases
from steelyard.formats.yaml_text import Value

Array = NDArray[np.float64]
LARGEST = 2**22
"""Bytes in a file."""

COMMENT = (
    "An excitation motion designed and certified by Steelyard. SI: rad or m, s, N m or N.",
    "q(t) = center + sum_l sine_l / (l w) sin(l w t) - cosine_l / (l w) cos(l w t), w = 2 pi / period_s",
)
_FOREIGN = "give the excitation.yaml that `steelyard excite --output` wrote"


@dataclass(frozen=True)
class StoredMotion:
    """What excitation.yaml says that a check needs.

    Attributes:
        motion: at full speed.
        model_digest: SHA-256 of the model file it was made for.
    """

    motion: FourierMotion
    model_digest: str


def motion_table(motion: FourierMotion) -> dict[str, Value]:
    """Period, rest, and for each joint its harmonics and coefficients: all that `stored_motion` needs."""
    count = len(motion.family.harmonics[0])
    joints: dict[str, Value] = {}
    for name, harmonics, row in zip(motion.joint_names, motion.family.harmonics, motion.coefficients, strict=True):
        values = [float(value) for value in row]
        joints[name] = {
            "harmonics": list(harmonics),
            "center": values[0],
            "sine": values[1 : count + 1],
            "cosine": values[count + 1 :],
        }
    return {"period_s": float(motion.period), "rest": motion.family.rest, "joints": joints}


def limits_table(limits: MotionLimits) -> dict[str, Value]:
    """For each joint its limits in SI; null where there is none."""
    names = ("lower", "upper", "velocity", "acceleration", "jerk", "effort", "torque_rate")
    return {
        joint: {name: _finite(float(getattr(limits, name)[j])) for name in names}
        for j, joint in enumerate(limits.joint_names)
    }


def certificate_table(certificate: Certificate) -> dict[str, Value]:
    """Every check, what was closest to its limit, and what was not checked."""
    rows = [
        [check.quantity, check.joint, check.limit, _finite(check.bound), check.time, _finite(check.use), check.passed]
        for check in certificate.checks
    ]
    speed, acceleration, jerk = certificate.ends
    return {
        **certificate_digest(certificate),
        "motion_sha256": certificate.motion_digest,
        "torque_uncertainty": certificate.uncertainty,
        "rest": certificate.rest,
        "ends": {"velocity": speed, "acceleration": acceleration, "jerk": jerk},
        "columns": ["quantity", "joint", "limit", "reached", "at_s", "share_used", "passed"],
        "checks": rows,
        "not_checked": list(certificate.not_checked),
    }


def certificate_digest(certificate: Certificate) -> dict[str, Value]:
    """The result alone, and what was closest to its limit."""
    closest = certificate.closest
    return {
        "passed": certificate.passed,
        "closest": f"{closest.quantity} of {closest.joint}",
        "share_used": _finite(closest.use),
        "cells": certificate.cells,
        "cell_s": certificate.step,
    }


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def parse_excitation(text: str, *, where: str) -> StoredMotion:
    """The motion in the text of an excitation.yaml.

    Args:
        text: the file.
        where: names it in messages.

    Raises:
        StudyError: a text that says something else than a motion; with the key.
    """
    from pydantic import ValidationError

    try:
        table = ExcitationTable.model_validate(_loaded(text, where))
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise StudyError(
            f"not an excitation file of this version: {first['msg']}", where=f"{where}, {key}",
            value=str(first["input"])[:60], cure=_FOREIGN,
        ) from None  # fmt: skip
    joints = table.motion.joints
    family = FourierFamily(table.motion.period_s, tuple(row.harmonics for row in joints.values()), table.motion.rest)
    rows = [(row.center, *row.sine, *row.cosine) for row in joints.values()]
    if len({len(row) for row in rows}) != 1:
        raise StudyError("the joints have different numbers of coefficients", where=where, cure=_FOREIGN)
    return StoredMotion(FourierMotion(tuple(joints), family, np.array(rows)), table.model_sha256)


def is_excitation(text: str) -> bool:
    """Whether a text claims to be an excitation file."""
    return f"\nkind: {KIND}\n" in text


def _loaded(text: str, where: str) -> object:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    if len(text) > LARGEST:
        raise StudyError("the file is too large for an excitation", where=where, cure=_FOREIGN)
    try:
        if has_aliases(text):
            raise StudyError("aliases stand for no motion", where=where, cure=_FOREIGN)
        table: object = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError) as error:
        raise StudyError(f"the YAML cannot be read: {str(error)[:100]}", where=where, cure=_FOREIGN) from None
    return table
