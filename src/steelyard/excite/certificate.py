"""Proof, before anything moves, that a motion keeps its limits at every instant.

Independent of how the motion was designed: it is cut into cells, values in the middle of each are extended to bounds
over all of it (`cells`, `torque_bound`), and those bounds are held against the limits. What was not checked is said.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.excite.cells import Cells, fourier_cells
from steelyard.excite.fourier import FourierMotion, Kinematics, Rest
from steelyard.excite.limits import MotionLimits
from steelyard.excite.piecewise import ends_of, sampled_cells
from steelyard.excite.torque_bound import NominalTorque, nominal_torque, torque_bound
from steelyard.finding import Finding
from steelyard.model import Model

Array = NDArray[np.float64]
STEP = 5e-4  # [s] of a cell: half a period of the fastest controllers in use
LEAST = 2000  # cells a motion, however short
AT_REST = (1e-9, 1e-9, 1e-9)  # what counts as zero at both ends: speed, acceleration, jerk in SI
ROUNDED = (1e-6, 1e-6, 1e-2)  # the same for decimal numbers, whose jerk is a difference over one step


class Clearance(Protocol):
    """Answers how close a robot comes to itself and to obstacles."""

    @property
    def required(self) -> float:
        """Distance to keep [m]."""

    @property
    def lever(self) -> Array:
        """(n,) how far any point moves at most per unit of each joint [m/rad or 1]."""

    def distance(self, q: Array) -> Array:
        """(M,) smallest distance at positions q (M, n) [m]."""


@dataclass(frozen=True)
class Check:
    """One quantity of one joint against its limit.

    Attributes:
        quantity: position, velocity, acceleration, jerk or torque; distance for collisions.
        joint: name; the two ends of a range are two checks.
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


@dataclass(frozen=True)
class Certificate:
    """What was checked, how closely, and what was not.

    Attributes:
        motion_digest: SHA-256 of the motion.
        model_digest: SHA-256 of the model file.
        cells: how many cells a period was cut into.
        step: their width [s], the widest one.
        uncertainty: share by which torques were taken larger than nominal.
        rest: what had to be zero at both ends.
        checks: one a joint and quantity.
        ends: largest speed, acceleration and jerk at both ends, in SI.
        still: what counts as zero there.
        not_checked: in words.
    """

    motion_digest: str
    model_digest: str
    cells: int
    step: float
    uncertainty: float
    rest: Rest
    checks: tuple[Check, ...]
    ends: tuple[float, float, float]
    still: tuple[float, float, float]
    not_checked: tuple[str, ...]

    @property
    def at_rest(self) -> bool:
        """Whether the motion starts and ends as it has to."""
        wanted = {"free": 0, "acceleration": 2, "jerk": 3}[self.rest]
        return all(end <= zero for end, zero in zip(self.ends[:wanted], self.still, strict=False))

    @property
    def passed(self) -> bool:
        """Whether the motion may be run as far as was checked."""
        return self.at_rest and all(check.passed for check in self.checks)

    @property
    def closest(self) -> Check:
        """The check that comes nearest to its limit."""
        return max(self.checks, key=lambda check: check.use)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every failure."""
        found = [_failure(check) for check in self.checks if not check.passed]
        if not self.at_rest:
            found.append(
                Finding(
                    code="excite.rest",
                    level="error",
                    message="the motion does not start and end at rest: a controller would be asked for a jump",
                    value=max(self.ends),
                    cure="design it with rest at both ends, or blend it in and out",
                )
            )
        return tuple(found)

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for files."""
        return {**asdict(self), "passed": self.passed}


def certify(
    motion: FourierMotion,
    model: Model,
    limits: MotionLimits,
    *,
    rest: Rest = "acceleration",
    theta: Array | None = None,
    uncertainty: float = 0.0,
    step: float = STEP,
    clearance: Clearance | None = None,
) -> Certificate:
    """Check a series over one period.

    Args:
        motion: to be run.
        model: its robot, and the terms that `theta` belongs to.
        limits: all of them, not the share that a design used.
        rest: what has to be zero at both ends.
        theta: (p,) parameters for the torque; those of the model file when not given.
        uncertainty: share by which the real torque may exceed the nominal one.
        step: width of a cell [s]; only tightness depends on it.
        clearance: distances to keep; None leaves collisions unchecked, and says so.

    Raises:
        StudyError: other joints, or options that make no sense.
    """
    if motion.joint_names != model.robot.joint_names:
        raise StudyError("the motion is for other joints", value=motion.joint_names, choices=model.robot.joint_names)
    if not step > 0.0:
        raise StudyError("the step of the certificate must be a positive time [s]", value=step)
    cells = fourier_cells(motion, max(LEAST, int(np.ceil(motion.period / step))))
    digest = hashlib.sha256(repr((motion.joint_names, motion.family.harmonics, motion.period)).encode())
    digest.update(motion.coefficients.tobytes())
    return certify_cells(
        cells,
        motion.at(np.array([0.0, motion.period])),
        model,
        limits,
        rest=rest,
        nominal=nominal_torque(model, theta),
        uncertainty=uncertainty,
        clearance=clearance,
        digest=digest.hexdigest(),
        still=AT_REST,
    )


def certify_trajectory(
    trajectory: Trajectory,
    model: Model,
    limits: MotionLimits,
    *,
    rest: Rest = "acceleration",
    theta: Array | None = None,
    uncertainty: float = 0.0,
    step: float = STEP,
    clearance: Clearance | None = None,
) -> Certificate:
    """Check a motion from elsewhere, as a trajectory controller runs it: polynomials between its samples.

    Args:
        trajectory: with q, dq and, for smooth accelerations, ddq; joints by name.
        model, limits, rest, theta, uncertainty, step, clearance: as for `certify`.

    Raises:
        DataError: a joint or the velocities are missing, a gap.
        StudyError: as for `certify`.
    """
    if not step > 0.0:
        raise StudyError("the step of the certificate must be a positive time [s]", value=step)
    unknown = [name for name in trajectory.joint_names if name not in model.robot.joint_names]
    if unknown:
        raise StudyError("the motion is for other joints", value=unknown[0], choices=model.robot.joint_names)
    ordered = trajectory.ordered(model.robot.joint_names)
    certificate = certify_cells(
        sampled_cells(ordered, step),
        ends_of(ordered),
        model,
        limits,
        rest=rest,
        nominal=nominal_torque(model, theta),
        uncertainty=uncertainty,
        clearance=clearance,
        digest=trajectory.source,
        still=ROUNDED,
    )
    jumps = "acceleration" if trajectory.ddq is None else "jerk"
    return replace(certificate, not_checked=(*certificate.not_checked, f"the jumps of {jumps} at the samples"))


def certify_cells(
    cells: Cells,
    ends: Kinematics,
    model: Model,
    limits: MotionLimits,
    *,
    rest: Rest,
    nominal: NominalTorque,
    uncertainty: float,
    clearance: Clearance | None,
    digest: str,
    still: tuple[float, float, float],
) -> Certificate:
    """Hold the bounds of a motion that is cut into cells against the limits; arguments as for `certify`.

    Raises:
        StudyError: limits for other joints, or an uncertainty that is negative.
    """
    robot = model.robot
    if limits.joint_names != robot.joint_names:
        raise StudyError("the limits are for other joints", value=limits.joint_names, choices=robot.joint_names)
    if not uncertainty >= 0.0:
        raise StudyError("the uncertainty must be a share from 0 on", value=uncertainty)
    missed = [] if clearance else ["collisions of the robot with itself and with obstacles"]
    missed += ["torque rate, Cartesian speed, and what the controller adds to the motion"]
    missed += [f"torque of {name}" for name in nominal.ignored]
    checks: list[Check] = []
    most = cells.most
    torque = torque_bound(robot, cells, nominal) * (1.0 + uncertainty)
    for j, name in enumerate(robot.joint_names):
        checks += _range(name, cells, limits, j)
        for quantity, bound, limit in (
            ("velocity", most.dq, limits.velocity),
            ("acceleration", most.ddq, limits.acceleration),
            ("jerk", most.dddq, limits.jerk),
            ("torque", torque, limits.effort),
        ):
            if np.isfinite(limit[j]):
                checks.append(_check(quantity, name, bound[:, j], float(limit[j]), cells.middle))
            else:
                missed.append(f"{quantity} of {name}: it has no limit")
    if clearance is not None:
        checks.append(_distance(clearance, cells))
    return Certificate(
        motion_digest=digest,
        model_digest=robot.digest,
        cells=len(cells.middle),
        step=float(2.0 * cells.half.max()),
        uncertainty=uncertainty,
        rest=rest,
        checks=tuple(checks),
        ends=(_most(ends.dq), _most(ends.ddq), _most(ends.dddq)),
        still=still,
        not_checked=tuple(missed),
    )


def _failure(check: Check) -> Finding:
    reached = f"{check.quantity} reaches {check.bound:.6g} at {check.time:.4g} s"
    return Finding(
        code=f"excite.{check.quantity}",
        level="error",
        message=f"{reached}, the limit is {check.limit:.6g}",
        where=check.joint,
        value=check.bound,
        cure="slow the motion down, make it smaller, or design it with a smaller share of the limits",
    )


def _range(name: str, cells: Cells, limits: MotionLimits, j: int) -> list[Check]:
    """The two ends of the positions of one joint."""
    center, reach = float(limits.center[j]), float(limits.reach[j])
    low, high = int(np.argmin(cells.low.q[:, j])), int(np.argmax(cells.high.q[:, j]))
    bottom, top = float(cells.low.q[low, j]), float(cells.high.q[high, j])
    lower, upper, t = float(limits.lower[j]), float(limits.upper[j]), cells.middle
    return [
        Check("position", name, lower, bottom, float(t[low]), bottom >= lower, (center - bottom) / reach),
        Check("position", name, upper, top, float(t[high]), top <= upper, (top - center) / reach),
    ]


def _most(x: Array) -> float:
    return float(np.abs(x).max())


def _check(quantity: str, name: str, bound: Array, limit: float, times: Array) -> Check:
    k = int(np.argmax(bound))
    top = float(bound[k])
    return Check(quantity, name, limit, top, float(times[k]), top <= limit, top / limit)


def _distance(clearance: Clearance, cells: Cells) -> Check:
    """Smallest distance, less what the points can move within a cell."""
    moved = cells.half * (np.abs(clearance.lever) * cells.most.dq).sum(axis=1)
    bound = clearance.distance(cells.center.q) - moved
    k = int(np.argmin(bound))
    nearest = float(bound[k])
    passed = nearest >= clearance.required
    use = clearance.required / nearest if nearest > 0.0 else float("inf")
    return Check("distance", "robot", clearance.required, nearest, float(cells.middle[k]), passed, use)
