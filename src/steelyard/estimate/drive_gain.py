"""Drive gains from a part of known mass: what a joint's recorded torque must be multiplied by to be its true torque.

With a recorded torque `i = tau / k`, a joint's rows read `i = Y_j (theta / k) + (Y_j C part) / k` in the loaded runs
and lack the last term in the unloaded ones. Each joint is solved alone, with base parameters of its own, so that the
one coefficient of the known torque, 1/k, is free of every other joint's gain, and its regressor free of noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.errors import StudyError
from steelyard.estimate.coloured import score_correlation_time, with_correlation
from steelyard.estimate.dynamic_payload import both_kinds
from steelyard.estimate.least_squares import ordinary
from steelyard.estimate.merging import merged
from steelyard.estimate.payload_fit import COLUMNS, STRETCHES
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation
from steelyard.model import Model

Array = NDArray[np.float64]
LOAD = "load"
UNSEEN = 0.5  # relative deviation of 1/k above which a gain counts as not seen


@dataclass(frozen=True)
class DriveGains:
    """One gain a joint.

    Attributes:
        joints: n names.
        gain: (n,) true torque over recorded torque; not a number where the part's torque does not show.
        interval: (n, 2) two-sided, infinite where it does not show.
        findings: joints that need another motion.
    """

    joints: tuple[str, ...]
    gain: Array
    interval: Array
    findings: tuple[Finding, ...]

    def __post_init__(self) -> None:
        self.gain.setflags(write=False)
        self.interval.setflags(write=False)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; what is not finite becomes null there."""
        return {
            "drive_gain": dict(zip(self.joints, self.gain.tolist(), strict=True)),
            "drive_gain_interval": dict(zip(self.joints, self.interval.tolist(), strict=True)),
            "findings": [finding.as_dict() for finding in self.findings],
        }


def drive_gains(
    model: Model,
    basis: ParameterBasis,
    unloaded: Sequence[SquareRootInformation],
    loaded: Sequence[SquareRootInformation],
    part: Array,
    *,
    link: str | None = None,
    same_friction: bool = False,
    level: float = 0.95,
) -> DriveGains:
    """Gains of all joints from runs with and without a known part.

    Args:
        model: robot and terms.
        basis: its base parameters.
        unloaded, loaded: information of the base columns over either kind of run, with the recorded torque.
        part: (10,) parameters of the part in the frame of the link [kg, kg m, kg m2].
        link: that it is fixed to; None for the flange.
        same_friction: whether friction and offsets are the same in both kinds of run.
        level: of the intervals.

    Raises:
        ModelError: no such link.
        StudyError: a part without ten parameters, information of other columns.
        InformationError: a run that is in both.
    """
    part = np.asarray(part, dtype=np.float64)
    if part.shape != (10,) or not np.isfinite(part).all() or not part[0] > 0.0:
        raise StudyError("a known part has ten finite parameters and a mass", value=part.tolist())
    blocks = both_kinds(model, basis, unloaded, loaded, link=link, same_friction=same_friction)
    names = blocks[0].names
    others = [name for name in names if name not in COLUMNS]
    turn = np.zeros((len(names), len(others) + 1))
    for k, name in enumerate(others):
        turn[names.index(name), k] = 1.0
    turn[[names.index(name) for name in COLUMNS], -1] = part
    parts = [block.project((*others, LOAD), turn) for block in blocks]
    joints = blocks[0].joints
    rows = [_one(parts, j, level) for j in range(len(joints))]
    gain = np.array([g for g, _, _ in rows])
    return DriveGains(
        joints=joints,
        gain=gain,
        interval=np.array([(low, high) for _, low, high in rows]),
        findings=tuple(_unseen(name) for name, g in zip(joints, gain, strict=True) if not np.isfinite(g)),
    )


def _one(blocks: Sequence[SquareRootInformation], joint: int, level: float) -> tuple[float, float, float]:
    """Gain of one joint and its interval, from the rows of that joint alone."""
    used = {c for block in blocks for c in block.support[joint]}
    names = [name for c, name in enumerate(blocks[0].names) if c in used]
    if LOAD not in names:
        return np.nan, -np.inf, np.inf
    alone = [_alone(block, joint, names) for block in blocks]
    info = reduce(merged, alone)
    estimate = ordinary(info)
    if len(alone) >= STRETCHES:
        estimate = with_correlation(estimate, score_correlation_time(alone, estimate))
    at = names.index(LOAD)
    inverse, deviation = float(estimate.theta[at]), float(estimate.deviation[at])
    if not (np.isfinite(deviation) and deviation < UNSEEN * abs(inverse)):
        return np.nan, -np.inf, np.inf
    low, high = estimate.interval(level)[at]
    if low <= 0.0 <= high:
        return 1.0 / inverse, -np.inf, np.inf
    return 1.0 / inverse, float(1.0 / high), float(1.0 / low)


def _alone(info: SquareRootInformation, joint: int, names: Sequence[str]) -> SquareRootInformation:
    """The rows of one joint, with columns of these names."""
    return SquareRootInformation(
        names=tuple(names),
        joints=(info.joints[joint],),
        support=(tuple(names.index(info.names[c]) for c in info.support[joint]),),
        factors=(info.factors[joint],),
        rows=(info.rows[joint],),
        samples=info.samples,
    )


def _unseen(joint: str) -> Finding:
    return Finding(
        "payload.gain_unseen",
        "warning",
        f"the known part makes no torque on {joint} that tells its gain",
        where=joint,
        cure="move this joint faster, hold the arm so that the part weighs on it, or take a heavier part",
    )
