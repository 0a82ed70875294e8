"""The default preparation: what is done to a recording before it is fitted or predicted, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import CHANNELS, Trajectory
from steelyard.errors import DataError
from steelyard.preparation.align import is_uniform, resample
from steelyard.preparation.cutoff import CutoffChoice, choose_cutoff
from steelyard.preparation.decimate import decimate
from steelyard.preparation.differentiate import differentiate
from steelyard.preparation.smooth import smooth
from steelyard.preparation.velocity import VelocityChoice, choose_velocity
from steelyard.robot.robot import Robot

MINIMUM_SAMPLES = 20
LEAST_PERIODS = 1.0  # of the cut-off in a recording


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
    trajectory: Trajectory,
    robot: Robot,
    *,
    cutoff: float | None = None,
    use_recorded_dq: bool | None = None,
    thin: bool = False,
) -> Prepared:
    """As `prepare`, with the choices.

    Args:
        trajectory: as recorded.
        robot: its joints.
        cutoff: [Hz]; None to choose.
        use_recorded_dq: keep the recorded velocity; None to judge it against the positions.
        thin: for fitting: keep DENSE samples a period of the cut-off, torque low-passed far above it before, since
            denser ones cost time and say nothing more. A prediction wants all of them.

    Raises:
        DataError: as for `prepare`.
    """
    trajectory = _long_segments(trajectory.ordered(robot.joint_names))
    grid = trajectory if is_uniform(trajectory) else resample(trajectory)
    chosen = choose_cutoff(grid) if cutoff is None else CutoffChoice(cutoff, "given")
    lowest, highest = LEAST_PERIODS / (grid.time[-1] - grid.time[0]), 0.5 / grid.step
    if not lowest <= chosen.cutoff < highest:
        raise DataError(
            f"the cut-off must lie between {lowest:.3g} Hz (the length of the recording) and {highest:.4g} Hz "
            "(half its sampling rate)",
            where=trajectory.name,
            value=chosen.cutoff,
            cure="leave cutoff_hz out, or give one in between",
        )
    velocity = choose_velocity(grid, chosen.cutoff, wanted=use_recorded_dq)
    source = "recorded" if velocity.recorded else "position"
    every = int(1.0 / (grid.step * DENSE * chosen.cutoff)) if thin and grid.base is None else 1
    prepared = _filtered(grid, chosen.cutoff, source) if every <= 1 else _thinned(grid, chosen.cutoff, source, every)
    rate = 1.0 / prepared.step
    keep_every = max(1, int(rate / (OVERSAMPLE * chosen.cutoff)))
    return Prepared(prepared, LowPass(chosen.cutoff, keep_every), chosen, velocity)


DENSE, CLEAR = (
    25.0,
    5.0,
)  # the second low-pass takes 3e-6 of the torque at the cut-off and leaves 7e-4 at the new Nyquist
OVERSAMPLE = 2.5  # samples kept a period of the cut-off: the filtered noise of closer ones is the same noise


def _filtered(grid: Trajectory, cutoff: float, velocity_from: str) -> Trajectory:
    """Low-passed motion and its derivatives; the torque stays as it is."""
    return differentiate(smooth(grid, cutoff, channels=("q", "dq")), velocity_from=velocity_from)


def _thinned(grid: Trajectory, cutoff: float, velocity_from: str, every: int) -> Trajectory:
    """As `_filtered`, one of `every` samples kept; joint after joint, since a long recording fills the memory."""
    kept = []
    for joint in grid.joint_names:
        alone = _filtered(grid.ordered([joint]), cutoff, velocity_from)
        torque = ("tau",) if alone.tau is not None else ()
        kept.append(decimate(smooth(alone, CLEAR * cutoff, channels=torque), every))
    channels: dict[str, Any] = {
        name: np.column_stack([getattr(part, name) for part in kept])
        for name in (*CHANNELS, "valid", "weight")
        if getattr(kept[0], name) is not None
    }
    for values in channels.values():
        values.setflags(write=False)
    return replace(kept[0], joint_names=grid.joint_names, **channels)


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
