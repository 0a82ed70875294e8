"""The bounds of a motion held against its limits, quantity by quantity; what has no limit is said, not passed over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.excite.cells import Cells
from steelyard.excite.closest import Clearance, closest_approach
from steelyard.excite.frame_limit import FrameLimit, point_bounds
from steelyard.excite.limits import MotionLimits
from steelyard.excite.torque_bound import NominalTorque, torque_bound, torque_rate_bound
from steelyard.finding import Finding
from steelyard.robot.robot import Robot

Array = NDArray[np.float64]
CURES = {
    "distance": "design it with collisions in mind, shift it, or make it smaller",
    "workspace": "make the motion smaller, or shift it into the box",
}
CURE = "slow the motion down, make it smaller, or design it with a smaller share of the limits"
OUTSIDE = (
    "what the controller adds to the motion, cables and hoses, people, and things that were not given as obstacles"
)


@dataclass(frozen=True)
class Check:
    """One quantity against its limit.

    Attributes:
        quantity: position, velocity, acceleration, jerk, torque or torque_rate of a joint; cartesian_speed or workspace
            of a link; distance of two links or obstacles.
        joint: name of the joint, the link with the axis, or the two; the ends of a range are two checks.
        limit: in SI.
        bound: what the motion reaches at most (at least, for lower limits and distances).
        time: where [s].
        passed: whether the bound keeps the limit.
        use: share of the limit that is used, of a range measured from its middle.
    """

    quantity: str
    joint: str
    limit: float
    bound: float
    time: float
    passed: bool
    use: float

    @property
    def failure(self) -> Finding:
        """What to say of a check that did not pass."""
        what = self.quantity.replace("_", " ")
        return Finding(
            code=f"excite.{self.quantity}",
            level="error",
            message=f"{what} reaches {self.bound:.6g} at {self.time:.4g} s, the limit is {self.limit:.6g}",
            where=self.joint,
            value=self.bound,
            cure=CURES.get(self.quantity, CURE),
        )


@dataclass(frozen=True)
class Checked:
    """Checks, and in words what could not be checked."""

    checks: tuple[Check, ...] = ()
    missed: tuple[str, ...] = ()

    def __add__(self, other: Checked) -> Checked:
        return Checked(self.checks + other.checks, self.missed + other.missed)


def joint_checks(robot: Robot, cells: Cells, limits: MotionLimits, nominal: NominalTorque, factor: float) -> Checked:
    """Every limit of every joint; torques and their rates are multiplied by `factor` first."""
    most, t = cells.most, cells.middle
    rated = bool(np.isfinite(limits.torque_rate).any())
    rate = torque_rate_bound(robot, cells, nominal) * factor if rated else most.q
    quantities = (
        ("velocity", most.dq, limits.velocity),
        ("acceleration", most.ddq, limits.acceleration),
        ("jerk", most.dddq, limits.jerk),
        ("torque", torque_bound(robot, cells, nominal) * factor, limits.effort),
        ("torque_rate", rate, limits.torque_rate),
    )
    checks: list[Check] = []
    missed = ["torque rate: jumps of dry friction where a joint turns round"] if rated and nominal.coulomb.any() else []
    for j, name in enumerate(robot.joint_names):
        span = (float(limits.lower[j]), float(limits.upper[j]))
        checks += _range("position", name, cells.low.q[:, j], cells.high.q[:, j], span, t)
        for quantity, bound, limit in quantities:
            if np.isfinite(limit[j]):
                checks.append(_below(quantity, name, bound[:, j], float(limit[j]), t))
            else:
                missed.append(f"{quantity} of {name}: it has no limit")
    return Checked(tuple(checks), (*missed, *(f"torque of {name}" for name in nominal.ignored)))


def frame_checks(robot: Robot, cells: Cells, frames: Sequence[FrameLimit]) -> Checked:
    """Speeds and boxes of chosen points.

    Raises:
        StudyError: no such link.
    """
    if not frames:
        return Checked(missed=("Cartesian speed and workspace: no frame was given",))
    checks: list[Check] = []
    for frame in frames:
        speed, low, high = point_bounds(robot, cells, frame)
        if np.isfinite(frame.speed):
            checks.append(_below("cartesian_speed", frame.link, speed, frame.speed, cells.middle))
        for k, axis in enumerate("xyz"):
            span = (frame.lower[k], frame.upper[k])
            checks += _range("workspace", f"{frame.link} {axis}", low[:, k], high[:, k], span, cells.middle)
    return Checked(tuple(checks))


def distance_check(cells: Cells, clearance: Clearance | None) -> Checked:
    """The closest approach to itself and to obstacles."""
    if clearance is None:
        return Checked(missed=("collisions of the robot with itself and with obstacles",))
    distance, time, names = closest_approach(clearance, cells)
    required = clearance.required
    use = required / distance if distance > 0.0 else float("inf")
    missed = [f"collisions of {pair}" for pair in clearance.allowed] + [f"shape of {it}" for it in clearance.unchecked]
    if not np.isfinite(distance):
        return Checked(missed=(*missed, "collisions: no two shapes can meet but those that may touch"))
    return Checked((Check("distance", names, required, distance, time, distance >= required, use),), tuple(missed))


def _below(quantity: str, name: str, bound: Array, limit: float, times: Array) -> Check:
    k = int(np.argmax(bound))
    top = float(bound[k])
    return Check(quantity, name, limit, top, float(times[k]), top <= limit, top / limit)


def _range(quantity: str, name: str, low: Array, high: Array, span: tuple[float, float], times: Array) -> list[Check]:
    """The two ends of a range, those that are finite."""
    lower, upper = span
    bottom, top = int(np.argmin(low)), int(np.argmax(high))
    least, most = float(low[bottom]), float(high[top])
    center, reach = 0.5 * (lower + upper), 0.5 * (upper - lower)
    both = np.isfinite(reach)
    checks = []
    if np.isfinite(lower):
        use = (center - least) / reach if both else float(least < lower)
        checks.append(Check(quantity, name, lower, least, float(times[bottom]), least >= lower, use))
    if np.isfinite(upper):
        use = (most - center) / reach if both else float(most > upper)
        checks.append(Check(quantity, name, upper, most, float(times[top]), most <= upper, use))
    return checks
