"""Numbers that are not in rad, m, N m or N: judged by the limits of the model, where it has them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding
from steelyard.robot.robot import Axis, Robot

Array = NDArray[np.float64]
DEGREES = 180.0 / np.pi
TURNS = 8.0 * np.pi  # [rad] of range that no joint with limits, and no arm without, goes through
FAST = 30.0  # [rad/s] where the model has no speed limit
COUNTS = 1e5  # [rad or m] that no recording of a robot goes through
METRES = 10.0  # [m] of a prismatic joint without limits
BEYOND = 0.05  # [rad], and share of the range, by which a limit may be passed: calibration differs that much
TOO_FAST = 2.0  # times the speed limit
TORQUE = 5.0  # times the effort limit
STEP = 0.5  # [s] between samples, from which the stamps may be in a smaller unit than seconds
CRAWL = 0.01  # times the speed limit, that no joint reaches when they are
TOLD = 100.0  # times the speed of the positions, from which recorded velocities prove it


def unit_findings(trajectory: Trajectory, robot: Robot | None = None) -> list[Finding]:
    """Joints in degrees or millimetres, torques in smaller units, and positions beyond the limits of the model."""
    axes = {axis.name: axis for axis in robot.axes} if robot is not None else {}
    groups: dict[str, list[str]] = {}
    findings = _time_unit(trajectory, axes)
    for j, joint in enumerate(trajectory.joint_names):
        axis = axes.get(joint, Axis(joint))
        q = trajectory.channel("q")[:, j]
        if np.abs(q).max() > COUNTS:
            findings.append(_counts(joint, q))
            continue
        unit = (_length if axis.prismatic else _angle)(q, _fastest(trajectory, j), axis)
        if unit:
            groups.setdefault(unit, []).append(joint)
        elif robot is not None:
            findings += _beyond(q, axis)
    for unit, joints in groups.items():
        findings.append(_position_unit(trajectory, joints, unit, axes))
    return findings + _torque_unit(trajectory, axes)


def suspected(findings: list[Finding]) -> bool:
    """Whether positions are in another unit, so that nothing about the model can be asked of them."""
    return any(f.code == "data.units_suspect" and "torque" not in f.message for f in findings)


def clock_suspected(findings: list[Finding]) -> bool:
    """Whether the stamps are in another unit, so that no speed can be asked of them."""
    return any(f.code == "data.units_suspect" and f.message.startswith("the stamps") for f in findings)


def _time_unit(trajectory: Trajectory, axes: dict[str, Axis]) -> list[Finding]:
    """Stamps in ms, us or ns: samples far apart along a motion that no joint would take so long for."""
    step = trajectory.step
    speeds = np.array([_fastest(trajectory, j) for j in range(len(trajectory.joint_names))])
    if not step >= STEP or not speeds.any():
        return []
    limits = np.array([axes.get(name, Axis(name)).velocity for name in trajectory.joint_names])
    if np.any(speeds > CRAWL * np.where((limits > 0.0) & np.isfinite(limits), limits, 1.0)):
        return []
    told = np.zeros_like(speeds) if trajectory.dq is None else np.quantile(np.abs(trajectory.dq), 0.99, axis=0)
    ratio = float(np.median(told[speeds > 0.0] / speeds[speeds > 0.0]))
    if trajectory.dq is not None and ratio < TOLD:
        return []  # they agree with the stamps, or differ by what is not a unit of time
    unit = "ms" if step < 500.0 else "us" if step < 5e5 else "ns"
    said = f"; recorded velocities are {ratio:.3g} times those of the positions" if trajectory.dq is not None else ""
    return [
        Finding(
            "data.units_suspect",
            "warning" if trajectory.dq is None else "error",
            f"the stamps are in {unit}, it seems, not in s: samples come {step:.4g} s apart, and no joint goes faster "
            f"than {speeds.max():.2g} rad/s (m/s){said}",
            trajectory.name,
            unit,
            f'declare the unit in the study file: [recording.unit] time_s = "{unit}"',
        )
    ]


def _counts(joint: str, q: Array) -> Finding:
    return Finding(
        "data.units_suspect",
        "error",
        f"the positions of {joint} are raw counts, it seems, not rad or m: they reach {np.abs(q).max():.4g}",
        joint,
        float(np.abs(q).max()),
        "convert counts to an angle before recording, or declare a gear ratio in the study file",
    )


def _angle(q: Array, fastest: float, axis: Axis) -> str:
    """``deg`` when the numbers are impossible in radians and possible in degrees."""
    bounded = np.isfinite(axis.lower) and np.isfinite(axis.upper) and axis.upper > axis.lower and not axis.continuous
    speed = axis.velocity if 0.0 < axis.velocity < np.inf else FAST
    if bounded:
        slack = max(BEYOND, BEYOND * (axis.upper - axis.lower))
        room = 2.0 * np.pi + slack  # a zero that is off by a turn is another fault
        impossible = q.max() > axis.upper + room or q.min() < axis.lower - room
        possible = _fits(q / DEGREES, axis.lower, axis.upper, slack)
        return "deg" if impossible and possible else ""
    usual = fastest < TOO_FAST * speed
    return "deg" if np.ptp(q) > TURNS and not usual and fastest / DEGREES < TOO_FAST * speed else ""


def _length(q: Array, fastest: float, axis: Axis) -> str:
    """``mm`` or ``cm`` when the numbers are impossible in metres and possible in that unit."""
    bounded = np.isfinite(axis.lower) and np.isfinite(axis.upper) and axis.upper > axis.lower
    span = axis.upper - axis.lower if bounded else METRES
    lower, upper = (axis.lower, axis.upper) if bounded else (-METRES, METRES)
    if q.max() <= upper + span and q.min() >= lower - span:
        return ""
    for unit, factor in (("cm", 1e-2), ("mm", 1e-3)):
        if _fits(q * factor, lower, upper, BEYOND * span):
            return unit
    return ""


def _fits(q: Array, lower: float, upper: float, slack: float) -> bool:
    return bool(q.max() <= upper + slack and q.min() >= lower - slack)


def _fastest(trajectory: Trajectory, j: int) -> float:
    """Usual top speed between samples [unit/s]."""
    steps = np.diff(trajectory.time)
    good = steps > 0.0
    if not good.any():
        return 0.0
    speed = np.abs(np.diff(trajectory.channel("q")[:, j])[good]) / steps[good]
    return float(np.quantile(speed, 0.99))


def _position_unit(trajectory: Trajectory, joints: list[str], unit: str, axes: dict[str, Axis]) -> Finding:
    q = trajectory.channel("q")[:, [trajectory.joint_names.index(joint) for joint in joints]]
    worst = joints[int(np.argmax(np.ptp(q, axis=0)))]
    low, high = (float(f(q[:, joints.index(worst)])) for f in (np.min, np.max))
    axis = axes.get(worst, Axis(worst))
    si = "m" if axis.prismatic else "rad"
    limits = f"; the model allows {axis.lower:.4g} to {axis.upper:.4g} {si}" if np.isfinite(axis.lower) else ""
    who = (
        f"all {len(joints)} joints" if len(joints) > 1 and joints == list(trajectory.joint_names) else ", ".join(joints)
    )
    words = {"deg": "degrees", "mm": "millimetres", "cm": "centimetres"}[unit]
    return Finding(
        "data.units_suspect",
        "error",
        f"the positions of {who} are in {words}, it seems, not in {si}: {worst} runs from {low:.4g} to {high:.4g}"
        f"{limits}",
        trajectory.name if len(joints) > 1 else worst,
        unit,
        f'declare the unit in the study file: [recording.unit] "q/{worst}" = "{unit}"',
    )


def _beyond(q: Array, axis: Axis) -> list[Finding]:
    if axis.continuous or not axis.upper > axis.lower:
        return []
    slack = min(max(BEYOND, BEYOND * (axis.upper - axis.lower)), 0.2)
    unit = "m" if axis.prismatic else "rad"
    over, under = float(q.max() - axis.upper), float(axis.lower - q.min())
    if max(over, under) <= slack:
        return []
    reached, limit = (float(q.max()), axis.upper) if over > under else (float(q.min()), axis.lower)
    return [
        Finding(
            "data.beyond_limits",
            "warning",
            f"{axis.name} reaches {reached:.4g} {unit}, {max(over, under):.3g} {unit} beyond the limit {limit:.4g} of "
            "the model: the zero, the sign, the unit or the joint is another one",
            axis.name,
            reached,
            "compare the recorded position with the model in one known pose; declare offset or sign in the study file",
        )
    ]


def _torque_unit(trajectory: Trajectory, axes: dict[str, Axis]) -> list[Finding]:
    if trajectory.tau is None:
        return []
    usual: Callable[[Array], float] = lambda values: float(np.quantile(np.abs(values), 0.9))  # noqa: E731
    beyond = {
        joint: usual(trajectory.tau[:, j]) / axes[joint].effort
        for j, joint in enumerate(trajectory.joint_names)
        if joint in axes and 0.0 < axes[joint].effort < np.inf
    }
    far = [joint for joint, ratio in beyond.items() if ratio > TORQUE]
    if not far:
        return []
    worst = max(far, key=lambda joint: beyond[joint])
    return [
        Finding(
            "data.units_suspect",
            "error",
            f"the torque of {', '.join(far)} is not in N m, it seems: a tenth of the time {worst} reads more than "
            f"{beyond[worst]:.3g} times the effort limit of {axes[worst].effort:g} N m",
            worst,
            beyond[worst],
            "declare the unit, a torque constant or the motor side in the study file",
        )
    ]
