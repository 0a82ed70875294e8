"""Proof, before anything moves, that a motion keeps its limits at every instant.

Independent of how the motion was designed: it is cut into cells, values in the middle of each are extended to bounds
over all of it (`cells`, `torque_bound`), and those bounds are held against the limits. What was not checked is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.excite.cells import Cells
from steelyard.excite.checks import OUTSIDE, Check, distance_check, frame_checks, joint_checks
from steelyard.excite.closest import Clearance
from steelyard.excite.fourier import Rest
from steelyard.excite.frame_limit import FrameLimit
from steelyard.excite.kinematics import Kinematics
from steelyard.excite.limits import MotionLimits
from steelyard.excite.motion import Motion
from steelyard.excite.piecewise import ends_of, sampled_cells
from steelyard.excite.torque_bound import NominalTorque, nominal_torque
from steelyard.finding import Finding
from steelyard.model import Model

Array = NDArray[np.float64]
STEP = 5e-4  # [s] of a cell: half a period of the fastest controllers in use
LEAST = 2000  # cells a motion, however short
MOST = 120_000  # cells a motion: those of a long one are wider, which costs tightness and not truth
AT_REST = (1e-9, 1e-9, 1e-9)  # what counts as zero at both ends: speed, acceleration, jerk in SI
ROUNDED = (1e-6, 1e-6, 1e-2)  # the same for decimal numbers, whose jerk is a difference over one step


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
        found = [check.failure for check in self.checks if not check.passed]
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
    motion: Motion,
    model: Model,
    limits: MotionLimits,
    *,
    rest: Rest = "acceleration",
    theta: Array | None = None,
    uncertainty: float = 0.0,
    step: float = STEP,
    clearance: Clearance | None = None,
    frames: Sequence[FrameLimit] = (),
) -> Certificate:
    """Check a motion over its duration, of a series over one period.

    Args:
        motion: to be run.
        model: its robot, and the terms that `theta` belongs to.
        limits: all of them, not the share that a design used.
        rest: what has to be zero at both ends.
        theta: (p,) parameters for the torque; those of the model file when not given.
        uncertainty: share by which the real torque may exceed the nominal one.
        step: width of a cell [s]; only tightness depends on it.
        clearance: distances to keep; None leaves collisions unchecked, and says so.
        frames: speeds and boxes to keep by points of the robot.

    Raises:
        StudyError: other joints, or options that make no sense.
    """
    if motion.joint_names != model.robot.joint_names:
        raise StudyError("the motion is for other joints", value=motion.joint_names, choices=model.robot.joint_names)
    if not step > 0.0:
        raise StudyError("the step of the certificate must be a positive time [s]", value=step)
    cells = motion.cells(min(max(step, motion.duration / MOST), motion.duration / LEAST))
    return certify_cells(
        cells,
        motion.at(np.array([0.0, motion.duration])),
        model,
        limits,
        rest=rest,
        nominal=nominal_torque(model, theta),
        uncertainty=uncertainty,
        clearance=clearance,
        frames=frames,
        digest=motion.digest,
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
    frames: Sequence[FrameLimit] = (),
) -> Certificate:
    """Check a motion from elsewhere, as a trajectory controller runs it: polynomials between its samples.

    Args:
        trajectory: with q, dq and, for smooth accelerations, ddq; joints by name.
        model, limits, rest, theta, uncertainty, step, clearance, frames: as for `certify`.

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
    duration = float(ordered.time[-1] - ordered.time[0])
    certificate = certify_cells(
        sampled_cells(ordered, max(step, duration / MOST)),
        ends_of(ordered),
        model,
        limits,
        rest=rest,
        nominal=nominal_torque(model, theta),
        uncertainty=uncertainty,
        clearance=clearance,
        frames=frames,
        digest=trajectory.source,
        still=ROUNDED,
    )
    jumps = "acceleration" if trajectory.ddq is None else "jerk"
    if trajectory.ddq is None:  # torque jumps with the acceleration
        endless = float("inf")
        checks = [
            replace(check, bound=endless, passed=False, use=endless) if check.quantity == "torque_rate" else check
            for check in certificate.checks
        ]
        certificate = replace(certificate, checks=tuple(checks))
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
    frames: Sequence[FrameLimit],
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
    checked = joint_checks(robot, cells, limits, nominal, 1.0 + uncertainty)
    checked += frame_checks(robot, cells, frames)
    checked += distance_check(cells, clearance)
    return Certificate(
        motion_digest=digest,
        model_digest=robot.digest,
        cells=len(cells.middle),
        step=float(2.0 * cells.half.max()),
        uncertainty=uncertainty,
        rest=rest,
        checks=checked.checks,
        ends=(_most(ends.dq), _most(ends.ddq), _most(ends.dddq)),
        still=still,
        not_checked=(*checked.missed, OUTSIDE),
    )


def _most(x: Array) -> float:
    return float(np.abs(x).max())
