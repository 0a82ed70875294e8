"""The default preparation: what is done to a recording before it is fitted or predicted, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.preparation.align import is_uniform, resample
from steelyard.preparation.cutoff import CutoffChoice, choose_cutoff
from steelyard.preparation.differentiate import differentiate
from steelyard.preparation.smooth import smooth
from steelyard.preparation.velocity import VelocityChoice, choose_velocity
from steelyard.robot.robot import Robot

MINIMUM_SAMPLES = 20


@dataclass(frozen=True)
class Prepared:
    """A recording ready for the regressor, and the choices made for it.

    Attributes:
        trajectory: q, dq, ddq, tau on a uniform grid, low-passed, joints in the robot's order.
        lowpass: the filter of torque and regressor columns, with its decimation.
        cutoff: how the cut-off was chosen.
        velocity: which velocity was used and why.
    """

    trajectory: Trajectory
    lowpass: LowPass
    cutoff: CutoffChoice
    velocity: VelocityChoice


def prepare(trajectory: Trajectory, robot: Robot, *, cutoff: float | None = None) -> Trajectory:
    """Uniform clock, zero-phase low-pass, derivatives: the default pipeline; `steps` of the result says what was done.

    Args:
        trajectory: as recorded: q, and where present dq and tau.
        robot: its joints, all of which the recording must have (`robot.for_joints` locks the others).
        cutoff: of the low-pass [Hz]; None to choose it from the spectra.

    Raises:
        DataError: a joint is missing, or a segment is too short to filter.
    """
    return prepare_recording(trajectory, robot, cutoff=cutoff).trajectory


def prepare_recording(
    trajectory: Trajectory, robot: Robot, *, cutoff: float | None = None, use_recorded_dq: bool | None = None
) -> Prepared:
    """As `prepare`, with the choices.

    Args:
        trajectory: as recorded.
        robot: its joints.
        cutoff: [Hz]; None to choose.
        use_recorded_dq: keep the recorded velocity; None to judge it against the positions.

    Raises:
        DataError: as for `prepare`.
    """
    trajectory = _long_segments(trajectory.ordered(robot.joint_names))
    grid = trajectory if is_uniform(trajectory) else resample(trajectory)
    chosen = choose_cutoff(grid) if cutoff is None else CutoffChoice(cutoff, "given")
    velocity = choose_velocity(grid, chosen.cutoff, wanted=use_recorded_dq)
    smoothed = smooth(grid, chosen.cutoff, channels=("q", "dq"))
    prepared = differentiate(smoothed, velocity_from="recorded" if velocity.recorded else "position")
    rate = 1.0 / prepared.step
    keep_every = max(1, int(rate / (OVERSAMPLE * chosen.cutoff)))
    return Prepared(prepared, LowPass(chosen.cutoff, keep_every), chosen, velocity)


OVERSAMPLE = 2.5  # samples kept a period of the cut-off: the filtered noise of closer ones is the same noise


def _long_segments(trajectory: Trajectory) -> Trajectory:
    """Leave out segments too short to filter; they are named in the steps."""
    kept = [s for s in trajectory.segments if s.stop - s.start >= MINIMUM_SAMPLES]
    if not kept:
        raise DataError(
            f"no stretch without a gap has {MINIMUM_SAMPLES} samples", where=trajectory.name, value=len(trajectory),
            cure="record longer, or find out why the recorder drops samples",
        )  # fmt: skip
    if len(kept) == len(trajectory.segments):
        return trajectory
    parts = [trajectory.samples(s.start, s.stop) for s in kept]
    lengths = np.cumsum([len(p) for p in parts])
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(p, name) for p in parts])
        for name in ("time", "q", "dq", "ddq", "tau", "valid")
        if getattr(trajectory, name) is not None
    }
    note = f"{len(trajectory) - lengths[-1]} samples in stretches under {MINIMUM_SAMPLES} samples left out"
    return replace(trajectory, breaks=tuple(lengths[:-1]), steps=(*trajectory.steps, note), **joined)
