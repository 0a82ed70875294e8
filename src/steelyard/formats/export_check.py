"""What an exported model file really says: read again, its torque against the torque that was identified."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import ModelError
from steelyard.finding import Finding
from steelyard.formats.export_values import ExportValues
from steelyard.formats.model_text import description_of, findings_of
from steelyard.robot.load import build_robot
from steelyard.robot.robot import Robot

Array = NDArray[np.float64]
TOLERANCE = 1e-12
"""Largest torque difference, relative to the largest torque of the joint."""
SAMPLES = 32
_WIDEST = np.pi  # [rad or m] around the middle of the range


@dataclass(frozen=True)
class ExportCheck:
    """What reading an exported file again showed.

    Attributes:
        torque_difference: by joint, largest difference over random motions relative to the joint's largest torque [-].
        new_findings: what the linter says of the new file and did not say of the old one.
    """

    torque_difference: dict[str, float]
    new_findings: tuple[Finding, ...]

    @property
    def worst(self) -> float:
        """The largest torque difference [-]."""
        return max(self.torque_difference.values(), default=0.0)


def check_export(source: bytes, patched: bytes, values: ExportValues, *, name: str) -> ExportCheck:
    """Read a patched or converted URDF or MJCF with the linter and compare its torque with the identified values.

    ``tau = M(q) ddq + h(q, dq) + rotor_inertia ddq + damping dq + friction sign(dq)`` of every coordinate of the file
    (joints that the identification locked move too), at `SAMPLES` random states inside the limits, the same each
    time, on a base that stands. A URDF has no rotor inertia, so there it is left out.

    Args:
        source: the file that was patched or converted.
        patched: what came of it.
        values: what it should say.
        name: of the file, for messages.

    Raises:
        ModelError: the linter refuses the file, or a torque differs by more than `TOLERANCE`.
    """
    gravity = np.asarray(values.robot.gravity)
    before, after = description_of(source, name), description_of(patched, name)
    held = _held(values, rotor=after.format == "mjcf")
    wanted = _with_values(build_robot(before, gravity, mimic="project", floating=False), held)
    found = build_robot(after, gravity, mimic="project", floating=False)
    difference = torque_difference(wanted, found)
    for joint, error in difference.items():
        if not error <= TOLERANCE:
            raise ModelError(
                f"read again, the exported file gives another torque: difference relative to the largest {error:.2g}",
                where=f"{name}, joint {joint}",
                value=error,
                cure="report the file: this should not happen",
            )
    return ExportCheck(difference, new_findings(findings_of(source, name), findings_of(patched, name)))


def torque_difference(wanted: Robot, found: Robot, *, samples: int = SAMPLES, seed: int = 0) -> dict[str, float]:
    """By joint, the largest torque difference of two robots over random motions, relative to its largest torque.

    Args:
        wanted, found: robots with the same joints.
        samples: random states.
        seed: of the states.

    Raises:
        ModelError: the robots have other joints.
    """
    if wanted.joint_names != found.joint_names:
        raise ModelError(
            "the robots have other joints", where=found.name, value=found.joint_names, choices=wanted.joint_names
        )
    rng = np.random.default_rng(seed)
    n = len(wanted.joint_names)
    low, high = np.maximum(wanted.lower, -_WIDEST), np.minimum(wanted.upper, _WIDEST)
    low, high = np.minimum(low, high), np.maximum(low, high)
    q = rng.uniform(low, high, (samples, n))
    v, a = rng.normal(0.0, 1.0, (samples, n)), rng.normal(0.0, 3.0, (samples, n))
    ours, theirs = _torque(wanted, q, v, a), _torque(found, q, v, a)
    scale = np.abs(ours).max(axis=0)
    error = np.abs(ours - theirs).max(axis=0)
    relative = np.divide(error, scale, out=np.where(error > 0.0, np.inf, 0.0), where=scale > 0.0)
    return {name: float(relative[j]) for j, name in enumerate(wanted.joint_names)}


def new_findings(before: Sequence[Finding], after: Sequence[Finding]) -> tuple[Finding, ...]:
    """Findings of the new file that the old one does not have about the same link or joint (lines may have moved)."""
    seen = Counter(_subject(finding) for finding in before)
    fresh = []
    for finding in after:
        if seen[_subject(finding)] > 0:
            seen[_subject(finding)] -= 1
        else:
            fresh.append(finding)
    return tuple(fresh)


def _subject(finding: Finding) -> tuple[str, str, str]:
    return finding.code, finding.level, finding.where.partition(",")[2]


def _held(values: ExportValues, *, rotor: bool) -> ExportValues:
    """The values that the format has a field for."""
    if rotor:
        return values
    joints = {name: replace(joint, rotor_inertia=None) for name, joint in values.joints.items()}
    return replace(values, joints=joints)


def _with_values(robot: Robot, values: ExportValues) -> Robot:
    joints = {name: joint for name, joint in values.joints.items() if name in robot.joint_names}
    return ExportValues(robot, values.links, joints, ()).identified


def _torque(robot: Robot, q: Array, v: Array, a: Array) -> Array:
    from steelyard.robot.regressor import dense_regressor  # compiled code: imported when it is needed

    rigid = dense_regressor(robot.tree, q, v, a) @ robot.parameters if robot.joints else np.zeros_like(v)
    return rigid + robot.rotor_inertia * a + robot.damping * v + robot.friction * np.sign(v)
