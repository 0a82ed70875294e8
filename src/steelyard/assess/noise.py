"""Signals that are mostly noise: no filter gets back what the sensor did not see."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding

Array = NDArray[np.float64]
TORQUE = 0.5  # noise over the deviation of the torque
POSITION = 0.02  # noise or resolution over the deviation of the position


def noise_findings(
    trajectory: Trajectory, still: NDArray[np.bool_], position_grain: Array, torque_grain: Array | None
) -> list[Finding]:
    """Joints whose position or torque hardly rises out of its noise.

    Args:
        trajectory: with q, and tau where there is torque.
        still: (T, n); joints that never move are another finding.
        position_grain, torque_grain: (n,) the coarser of noise and resolution [rad or m], [N m or N].
    """
    findings = []
    for j, joint in enumerate(trajectory.joint_names):
        moving = ~still[:, j]
        if not moving.any():
            continue
        moved, grain = float(trajectory.channel("q")[:, j].std()), float(position_grain[j])
        if grain > POSITION * moved:
            findings.append(
                _finding(
                    joint, "position", grain, moved, "rad (m)", "move the joint further, or record finer positions"
                )
            )
        if torque_grain is None or trajectory.tau is None:
            continue
        felt, grain = float(trajectory.tau[moving, j].std()), float(torque_grain[j])
        if grain > TORQUE * felt > 0.0:
            findings.append(
                _finding(
                    joint, "torque", grain, felt, "N m (N)", "load the joint more, or record longer and filter lower"
                )
            )
    return findings


def _finding(joint: str, signal: str, grain: float, size: float, unit: str, cure: str) -> Finding:
    return Finding(
        "data.noise_dominated",
        "warning",
        f"the {signal} of {joint} is mostly noise: {grain:.3g} {unit} of it, in a signal of {size:.3g} {unit}",
        joint,
        grain / size,
        cure,
    )
