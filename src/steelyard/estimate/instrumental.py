"""Instrumental variables: columns of a motion without noise take the place of the noisy ones where it matters.

With Z the regressor along a motion that has no measurement noise (commanded, or simulated with the current parameters:
IDIM-IV, Janot, Vandanjon & Gautier 2014) and P the projection on its columns,

    theta = argmin sum_j w_j |P_j (tau_j - Y_j theta)|^2.

Noise in positions makes Y wrong, but not in the directions of Z. The triangle of `[Z | Y | tau]` holds all of it: its
first rows are `P Y` and `P tau`, which are solved as ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.estimate.closed_loop import Controller, simulate
from steelyard.estimate.least_squares import data_findings, solve, weighted
from steelyard.estimate.result import Estimate
from steelyard.estimate.scores import hat_trace
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation, triangle
from steelyard.model import Model
from steelyard.preparation.cutoff import choose_cutoff
from steelyard.preparation.differentiate import differentiate
from steelyard.preparation.smooth import smooth
from steelyard.robot.robot import Robot
from steelyard.terms.term import Column

Array = NDArray[np.float64]
SLOW = 0.05  # share of a joint's top speed under which its rows are left out: there noise turns the sign of friction
SETTLING = 0.3  # periods of the cut-off by which such a stretch is widened, since filters carry it on
OVERSAMPLE = 2.5  # samples kept a period of the cut-off
WEAK = 0.5  # least share of the information that instruments should keep; those of the right motion keep 0.99
ITERATIONS = 20


def instrumental(
    model: Model,
    trajectories: Sequence[Trajectory],
    motions: Sequence[Trajectory] | None = None,
    *,
    basis: ParameterBasis | None = None,
    lowpass: LowPass | None = None,
    slow: float = SLOW,
) -> Estimate:
    """Two-stage least squares with the columns of a motion without noise as instruments.

    Args:
        model: robot and terms.
        trajectories: prepared recordings, as for `Model.absorb`.
        motions: for each its motion without noise, q, dq and ddq at the same stamps: commanded, or of `simulate`; None
            for the measured one low-passed at the cut-off of `lowpass`, whose slow noise stays in.
        basis: base parameters of the model; None to estimate the columns as they are.
        lowpass: parallel filter of all columns and the torque; None to choose it from the motion without noise, so
            that the estimate depends little on the filter of the derivatives.
        slow: share of a joint's top speed (without noise) under which its rows are left out.

    Raises:
        DataError: no rows at all, motions that do not fit the recordings, a channel is missing.
    """
    own = [t.ordered(model.robot.joint_names) for t in trajectories]
    if not own:
        raise DataError("there is no recording to fit", cure="give at least one trajectory")
    if motions is None:
        quiet = [_smoothed(t, lowpass) for t in own]
    else:
        quiet = [m.ordered(model.robot.joint_names) for m in motions]
    for k, t in enumerate(own):
        if len(quiet) != len(own) or len(quiet[k]) != len(t) or np.abs(quiet[k].time - t.time).max() > 0.5 * t.step:
            raise DataError(
                "every recording needs its motion without noise, at the same stamps",
                where=t.name,
                value=[len(m) for m in quiet],
                cure="evaluate the reference, or simulate it, at the recording's stamps",
            )
    chosen = lowpass or _chosen(quiet)
    names = model.names if basis is None else basis.names
    info = None
    for t, m in zip(own, quiet, strict=True):
        part = _absorbed(model, _moving(t, m, slow, chosen), m, names, chosen)
        info = part if info is None else info.merge(part)
    if info is None or not any(info.rows):
        raise DataError("there is no sample to fit", cure="check the interval and the masks")
    return _two_stages(info, basis, names)


def instrumental_by_simulation(
    model: Model,
    trajectories: Sequence[Trajectory],
    references: Sequence[Trajectory],
    controller: Controller,
    *,
    basis: ParameterBasis | None = None,
    start: Array | None = None,
    simulations: int = 2,
    lowpass: LowPass | None = None,
) -> Estimate:
    """IDIM-IV: the instruments are the motion of the model itself, simulated behind the robot's controller.

    Args:
        model: robot and terms.
        trajectories: prepared recordings, as for `Model.absorb`.
        references: for each what the controller was asked to follow: q, dq (and ddq) on a uniform clock.
        controller: of the robot, in the order of the model's joints; roughly will do.
        basis: base parameters of the model; None to estimate the columns as they are.
        start: (p,) parameters to simulate first; None for the model file's.
        simulations: number of rounds.
        lowpass: as for `instrumental`.

    Raises:
        DataError: as for `instrumental`, or parameters that cannot be simulated.
    """
    theta = model.nominal if start is None else np.asarray(start, dtype=np.float64)
    for _ in range(max(1, simulations)):
        motions = [simulate(model, theta, reference, controller) for reference in references]
        at = [_at(motion, t) for motion, t in zip(motions, trajectories, strict=True)]
        estimate = instrumental(model, trajectories, at, basis=basis, lowpass=lowpass)
        theta = estimate.full(model.names)
    return replace(estimate, estimator="instrumental by simulation")


def _at(motion: Trajectory, recording: Trajectory) -> Trajectory:
    """A simulated motion at the stamps of a recording, by linear interpolation where they differ."""
    if len(motion) == len(recording) and np.allclose(motion.time, recording.time, atol=1e-9):
        return motion
    inside = (recording.time >= motion.time[0] - 1e-9) & (recording.time <= motion.time[-1] + 1e-9)
    if not inside.all():
        raise DataError(
            "the reference does not cover the recording", where=recording.name,
            value=f"{motion.time[0]:.13g} to {motion.time[-1]:.13g} s",
            cure="give the reference on the recording's clock",
        )  # fmt: skip
    q, dq, ddq = (
        np.column_stack([np.interp(recording.time, motion.time, c) for c in motion.channel(name).T])
        for name in ("q", "dq", "ddq")
    )
    return Trajectory(recording.time, motion.joint_names, q, dq, ddq, breaks=recording.breaks, name=motion.name)


def _chosen(motions: Sequence[Trajectory]) -> LowPass:
    cutoff = max(choose_cutoff(m).cutoff for m in motions)
    return LowPass(cutoff, max(1, int(1.0 / (motions[0].step * OVERSAMPLE * cutoff))))


def _smoothed(recording: Trajectory, lowpass: LowPass | None) -> Trajectory:
    cutoff = choose_cutoff(recording).cutoff if lowpass is None else lowpass.cutoff
    return differentiate(smooth(recording, cutoff, channels=("q",)))


def _moving(recording: Trajectory, motion: Trajectory, slow: float, lowpass: LowPass) -> Trajectory:
    """The recording with the rows of slow stretches left out, judged by the motion without noise."""
    from scipy.ndimage import binary_erosion

    speed = np.abs(motion.channel("dq"))
    moving = speed >= slow * speed.max(axis=0)
    wide = int(np.ceil(SETTLING / (lowpass.cutoff * recording.step)))
    keep = np.column_stack([binary_erosion(m, iterations=wide, border_value=1) for m in moving.T])
    keep |= ~keep.any(axis=0)
    return replace(recording, valid=keep if recording.valid is None else keep & recording.valid)


@dataclass(frozen=True, eq=False)
class _Instruments:
    """The columns of a model along another motion."""

    model: Model
    motion: Trajectory
    names: tuple[str, ...]

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        own = {column.name: column for column in self.model.columns}
        return tuple(replace(own[name], name=f"instrument/{name}", nonnegative=False) for name in self.names)

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        first = int(np.argmin(np.abs(self.motion.time - trajectory.time[0])))
        part = self.motion.samples(first, first + len(trajectory))
        place = {name: k for k, name in enumerate(self.model.names)}
        return self.model.regressor(part)[:, :, [place[name] for name in self.names]]


def _absorbed(
    model: Model, recording: Trajectory, motion: Trajectory, names: Sequence[str], lowpass: LowPass
) -> SquareRootInformation:
    """Information of `[Z | Y | tau]`."""
    term = _Instruments(model, motion, tuple(names))
    wider = Model(model.robot, (term, *model.terms))
    instruments = tuple(column.name for column in term.columns(model.robot))
    return wider.absorb([recording], names=(*instruments, *names), lowpass=lowpass)


def _two_stages(info: SquareRootInformation, basis: ParameterBasis | None, names: Sequence[str]) -> Estimate:
    """Least squares of what the instruments see; the noise is that of all rows."""
    count = len(names)
    support = tuple(tuple(c - count for c in columns[len(columns) // 2 :]) for columns in info.support)
    seen, whole = [], []
    for columns, factor in zip(info.support, info.factors, strict=True):
        half = len(columns) // 2
        seen.append(triangle(factor[:half, half:]))
        whole.append(triangle(factor[:, half:]))
    projected = replace(info, names=tuple(names), support=support, factors=tuple(seen))
    everything = replace(projected, factors=tuple(whole))
    estimate = replace(weighted(everything, basis=basis), information=projected, estimator="instrumental", findings=())
    rows = np.array(info.rows, dtype=np.float64)
    for _ in range(ITERATIONS):
        theta = solve(projected, estimate.weights)
        estimate = replace(estimate, theta=theta)
        noise = np.sqrt(everything.misfit(theta) / np.maximum(rows - hat_trace(estimate), 1.0))
        settled = np.allclose(noise, estimate.noise, rtol=1e-8, atol=0.0)
        floor = 1e-13 * np.sqrt(info.energy / np.maximum(rows, 1.0)).max()
        estimate = replace(estimate, noise=noise, weights=np.maximum(noise, floor) ** -2.0)
        if settled:
            break
    share = _least_share(projected, everything, estimate.weights)
    found = data_findings(estimate)
    return estimate.noting(*found) if share >= WEAK else estimate.noting(*found, _weak(share))


def _least_share(projected: SquareRootInformation, everything: SquareRootInformation, weights: Array) -> float:
    """The least share of a direction's information that is left after projecting on the instruments."""
    seen, whole = (info.scale(weights).stacked()[:-1, :-1] for info in (projected, everything))
    lengths = np.linalg.norm(whole, axis=0)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    _, values, Vt = np.linalg.svd(whole / lengths)
    held = values > 1e-8 * values.max(initial=0.0)
    ratio = np.linalg.svd((seen / lengths) @ (Vt[held].T / values[held]), compute_uv=False)
    return float(ratio[min(int(held.sum()), len(ratio)) - 1] ** 2) if held.any() else 1.0


def _weak(share: float) -> Finding:
    return Finding(
        "fit.weak_instruments",
        "warning",
        f"of some combination of parameters the instruments see {100.0 * share:.1f} % of what the recording shows",
        value=share,
        cure="check that the reference is the one that was followed, on the same clock; without instruments the noise "
        "of the positions biases the estimate",
    )
