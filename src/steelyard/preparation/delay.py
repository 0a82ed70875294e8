"""Delay compensation: torque that is older than its stamp is read later, by one value for all runs.

One value, since the delay belongs to the recorder and not to the motion: fitted to each run by itself it would hide a
wrong friction model, and hide it in the validation run as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from steelyard.assess.delay import DelayEstimate
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.finding import Finding

LONGEST = 0.5  # [s]; beyond, stamps are not late but wrong
DISAGREE = 3.0  # deviations by which runs may differ


def compensate_delay(trajectories: Sequence[Trajectory], delay: float) -> tuple[Trajectory, ...]:
    """Training and validation runs with `tau(t) <- tau(t + delay)`, by cubic splines inside each segment.

    Where the torque would have to be read beyond a segment's end its last value is held and the row is not valid.

    Args:
        trajectories: all runs of one recorder.
        delay: how much older the torque is than its stamp [s]; negative when it is the motion that is late.

    Raises:
        StudyError: a delay that is not finite, or longer than half a second.
        DataError: a run has no torque.
    """
    if not (np.isfinite(delay) and abs(delay) <= LONGEST):
        raise StudyError(
            f"a delay must be finite and at most {LONGEST:g} s", value=delay, cure="give seconds, not milliseconds"
        )
    return tuple(_read_later(trajectory, float(delay)) for trajectory in trajectories)


def _read_later(trajectory: Trajectory, delay: float) -> Trajectory:
    from scipy.interpolate import CubicSpline

    tau = np.array(trajectory.channel("tau"))
    valid = np.ones(tau.shape, dtype=bool) if trajectory.valid is None else np.array(trajectory.valid)
    for segment in trajectory.segments:
        t = trajectory.time[segment]
        if len(t) < 2:
            valid[segment] = False
            continue
        at = t + delay
        tau[segment] = CubicSpline(t, tau[segment])(np.clip(at, t[0], t[-1]))
        valid[segment] &= ((at >= t[0]) & (at <= t[-1]))[:, None]
    note = f"tau read {1e3 * abs(delay):.4g} ms {'later' if delay >= 0 else 'earlier'}"
    return replace(trajectory, tau=tau, valid=valid, steps=(*trajectory.steps, note))


def common_delay(estimates: Sequence[DelayEstimate]) -> tuple[float, float, tuple[Finding, ...]]:
    """One delay for all runs: the mean weighted by certainty, its deviation [s], and a finding where runs disagree.

    Raises:
        DataError: no estimates.
    """
    if not estimates:
        raise DataError("no run tells the delay", cure="give recordings that move, with torque")
    values = np.array([e.delay for e in estimates])
    deviations = np.maximum([e.deviation for e in estimates], 1e-9)
    weights = deviations**-2.0
    mean = float(weights @ values / weights.sum())
    away = np.abs(values - mean) / deviations
    if len(values) > 1 and away.max() > DISAGREE:
        worst = int(np.argmax(away))
        finding = Finding(
            "data.delay_varies",
            "warning",
            f"run {worst + 1} has its torque {1e3 * values[worst]:.2f} ms late, all together {1e3 * mean:.2f} ms: "
            "the delay is not the recorder's alone",
            value=float(values[worst]),
            cure="record torque and position in one message; look for another recorder, bus or filter in that run",
        )
        return mean, float(weights.sum() ** -0.5 * away.max()), (finding,)
    return mean, float(weights.sum() ** -0.5), ()
