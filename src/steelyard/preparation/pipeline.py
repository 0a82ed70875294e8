"""The default preparation: what is done to a recording before it is fitted or predicted, and why."""

from __future__ import annotations

from collections.abc import Mapping
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
from steelyard.suggest import did_you_mean

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
    cutoff: float | Mapping[str, float] | None = None,
    use_recorded_dq: bool | None = None,
    decimate_by: int | None = None,
    thin: bool = False,
) -> Prepared:
    """As `prepare`, with the choices.

    Args:
        trajectory: as recorded.
        robot: its joints.
        cutoff: [Hz]; None to choose; by joint for the positions and velocities of these joints, the others chosen, and
            torque and regressor at the lowest of all.
        use_recorded_dq: keep the recorded velocity; None to judge it against the positions.
        decimate_by: one of this many recorded samples is fitted; None for OVERSAMPLE a period of the cut-off.
        thin: for fitting: keep DENSE samples a period of the cut-off, torque low-passed far above it before, since
            denser ones cost time and say nothing more. A prediction wants all of them.

    Raises:
        DataError: as for `prepare`.
    """
    trajectory = _long_segments(trajectory.ordered(robot.joint_names))
    grid = trajectory if is_uniform(trajectory) else resample(trajectory)
    chosen, cutoffs = _cutoffs(grid, cutoff)
    lowest, highest = LEAST_PERIODS / (grid.time[-1] - grid.time[0]), 0.5 / grid.step
    if not lowest <= chosen.cutoff <= max(cutoffs.values()) < highest:
        raise DataError(
            f"the cut-off must lie between {lowest:.3g} Hz (the length of the recording) and {highest:.4g} Hz "
            "(half its sampling rate)",
            where=trajectory.name,
            value=chosen.cutoff if chosen.cutoff < lowest else max(cutoffs.values()),
            cure="leave cutoff_hz out, or give one in between",
        )
    velocity = choose_velocity(grid, chosen.cutoff, wanted=use_recorded_dq)
    source = "recorded" if velocity.recorded else "position"
    thin = thin and grid.base is None and decimate_by is None
    every = int(1.0 / (grid.step * DENSE * max(cutoffs.values()))) if thin else 1
    prepared = _filtered(grid, cutoffs, source) if every <= 1 else _thinned(grid, cutoffs, source, every)
    keep_every = decimate_by or max(1, int(1.0 / (prepared.step * OVERSAMPLE * chosen.cutoff)))
    return Prepared(prepared, LowPass(chosen.cutoff, keep_every), chosen, velocity)


def _cutoffs(grid: Trajectory, wanted: float | Mapping[str, float] | None) -> tuple[CutoffChoice, dict[str, float]]:
    """The cut-off of torque and regressor, and that of each joint's position and velocity."""
    if isinstance(wanted, float | int):
        return CutoffChoice(float(wanted), "given"), dict.fromkeys(grid.joint_names, float(wanted))
    chosen = choose_cutoff(grid)
    by_joint = dict.fromkeys(grid.joint_names, chosen.cutoff)
    for joint in wanted or ():
        if joint not in by_joint:
            raise DataError(
                "a cut-off is given for a joint that is not there", where=grid.name, value=joint,
                choices=grid.joint_names, cure=did_you_mean(joint, grid.joint_names, otherwise="name a joint"),
            )  # fmt: skip
    by_joint.update(wanted or {})
    lowest = min(by_joint, key=lambda joint: by_joint[joint])
    if wanted and by_joint[lowest] != chosen.cutoff:
        chosen = CutoffChoice(by_joint[lowest], f"the lowest of all joints, that of {lowest}")
    return chosen, by_joint


DENSE, CLEAR = (
    25.0,
    5.0,
)  # the second low-pass takes 3e-6 of the torque at the cut-off and leaves 7e-4 at the new Nyquist
OVERSAMPLE = 2.5  # samples kept a period of the cut-off: the filtered noise of closer ones is the same noise


def _filtered(grid: Trajectory, cutoff: Mapping[str, float], velocity_from: str) -> Trajectory:
    """Low-passed motion and its derivatives; the torque stays as it is."""
    return differentiate(smooth(grid, cutoff, channels=("q", "dq")), velocity_from=velocity_from)


def _thinned(grid: Trajectory, cutoff: Mapping[str, float], velocity_from: str, every: int) -> Trajectory:
    """As `_filtered`, one of `every` samples kept; joint after joint, since a long recording fills the memory."""
    kept = []
    for joint in grid.joint_names:
        alone = _filtered(grid.ordered([joint]), cutoff, velocity_from)
        torque = ("tau",) if alone.tau is not None else ()
        kept.append(decimate(smooth(alone, CLEAR * cutoff[joint], channels=torque), every))
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
    rows = np.concatenate([np.arange(s.start, s.stop) for s in kept])
    lengths = np.cumsum([s.stop - s.start for s in kept])
    note = f"{len(trajectory) - rows.size} samples in stretches under {MINIMUM_SAMPLES} samples left out"
    return replace(trajectory.picked(rows, [int(length) for length in lengths[:-1]]), steps=(*trajectory.steps, note))
