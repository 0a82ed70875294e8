"""Whether recorded velocities and accelerations are those of the recorded positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.lag import Follow, follow
from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding
from steelyard.preparation.align import is_uniform, resample
from steelyard.preparation.cutoff import excitation_frequency
from steelyard.preparation.differentiate import derivative
from steelyard.preparation.smooth import smooth

Array = NDArray[np.float64]
ABOVE_MOTION = 20.0  # times the highest excitation frequency: the comparison needs the motion, not its noise
NYQUIST_SHARE = 0.27  # above which three-point differences lose amplitude
MOST_DELAY = 0.1  # [s] looked for
FEWEST = 40  # samples for a filter and a scan of delays
DIFFERENT = {"dq": 0.10, "ddq": 0.25}  # relative; filters of drives stay below, and accelerations are noisier
OFF = {"dq": 0.05, "ddq": 0.10}  # of the gain
LATE, LATE_STEPS = 2e-3, 0.5  # [s], and of a sampling step, from which a delay is worth a word
ALIKE, CLOCK = 0.01, 0.03  # spread of the gains of all joints, and their distance from 1, when the clock is wrong
NAMES = {"dq": ("velocity", "position"), "ddq": ("acceleration", "velocity")}


def derivative_fit(trajectory: Trajectory, channel: str) -> Mapping[str, Follow]:
    """How recorded dq follows dq/dt (or ddq follows the derivative of dq), joint by joint.

    Both are put on a uniform clock and low-passed alike first; joints that do not move are left out.

    Args:
        trajectory: with the channel, ``dq`` or ``ddq``.
        channel: which one to judge; ddq is judged against dq, or against q where dq is absent.
    """
    longest = max(trajectory.segments, key=lambda s: s.stop - s.start)
    part = trajectory.samples(longest.start, longest.stop)
    if len(part) < 3:
        return {}
    if len(part) < FEWEST:
        return _plain(part, channel)
    grid = replace(part if is_uniform(part) else resample(part), breaks=())
    cutoff = min(ABOVE_MOTION * max(excitation_frequency(grid)), NYQUIST_SHARE * 0.5 / grid.step)
    if cutoff <= 0.0:
        return {}
    signals = smooth(grid, cutoff, channels=("q", "dq", "ddq"))
    expected = _expected(signals, channel)
    recorded = signals.channel(channel)
    most = min(MOST_DELAY, 0.2 * len(grid) * grid.step)
    found = {}
    for j, joint in enumerate(grid.joint_names):
        fit = follow(expected[:, j], recorded[:, j], grid.step, most=most)
        if fit is None and np.any(expected[:, j]):
            fit = Follow(0.0, float("nan"), 1.0, 1.0)
        if fit is not None and _moves(expected[:, j], expected):
            found[joint] = fit
    return found


def derivative_findings(fits: Mapping[str, Follow], channel: str, trajectory: Trajectory) -> list[Finding]:
    """Wrong gains, delays and signals that are no derivative at all; one finding a joint, or one for the clock."""
    if not fits:
        return []
    gains = np.array([fit.gain for fit in fits.values()])
    middle = float(np.median(gains))
    remainders = max(fit.remainder for fit in fits.values())
    if (
        channel == "dq"
        and len(fits) > 1
        and np.ptp(gains) < ALIKE * abs(middle)
        and abs(middle - 1.0) > CLOCK
        and remainders < DIFFERENT["dq"]
        and not _known_factor(middle)
    ):
        return [
            Finding(
                "data.synthetic_stamps",
                "warning",
                f"recorded velocities are {middle:.3f} times those of the positions in every joint alike: "
                f"the clock runs {middle:.3f} times too slow or the stamps were made up",
                trajectory.name,
                middle,
                "record measured stamps; dividing time by this factor would make both agree",
            )
        ]
    late = max(LATE, LATE_STEPS * trajectory.step)
    told = [f for joint, fit in fits.items() if (f := _finding(joint, fit, channel, late)) is not None]
    if len(told) == len(fits) > 1 and all(f.level == "info" for f in told):
        return [_all_late(fits, channel, trajectory)]
    return told


def _all_late(fits: Mapping[str, Follow], channel: str, trajectory: Trajectory) -> Finding:
    delays = [1e3 * fit.delay for fit in fits.values()]
    name, source = NAMES[channel]
    return Finding(
        f"data.{channel}_mismatch",
        "info",
        f"the recorded {name} of every joint lies {min(delays):.2f} to {max(delays):.2f} ms behind the derivative "
        f"of its {source}",
        trajectory.name,
        1e-3 * float(np.median(delays)),
        f"use positions for the timing: the drive filters its {name}",
    )


def _finding(joint: str, fit: Follow, channel: str, late: float) -> Finding | None:
    name, source = NAMES[channel]
    wrong = fit.difference > DIFFERENT[channel] or abs(fit.gain - 1.0) > OFF[channel]
    delayed = abs(fit.delay) > late and fit.remainder < DIFFERENT[channel]
    if not wrong and not delayed:
        return None
    told = [f"gain {fit.gain:.3g}" + _known_factor(fit.gain)] if abs(fit.gain - 1.0) > OFF[channel] else []
    if delayed:
        told.append(f"{1e3 * abs(fit.delay):.2f} ms {'late' if fit.delay > 0 else 'early'}")
    if fit.remainder > DIFFERENT[channel]:
        told.append(f"{100 * min(fit.remainder, 9.99):.0f} % of it unexplained by any gain and delay")
    return Finding(
        f"data.{channel}_mismatch",
        "warning" if wrong else "info",
        f"the recorded {name} of {joint} is not the derivative of its {source}: "
        + (", ".join(told) or f"they differ by {100 * fit.difference:.0f} %"),
        joint,
        fit.difference,
        f"leave {channel}/{joint} out and let it be computed from the positions, or correct unit, joint and delay"
        if wrong
        else f"use positions for the timing: the drive filters its {name}",
    )


def _known_factor(gain: float) -> str:
    """Whether the gain is a known slip of units."""
    for factor, meaning in ((180.0 / np.pi, "degrees"), (60.0 / (2.0 * np.pi), "rpm"), (1e3, "thousandths")):
        if abs(abs(gain) / factor - 1.0) < 0.02:
            return f" (recorded in {meaning}?)"
    return ""


def _expected(signals: Trajectory, channel: str) -> Array:
    source = "dq" if channel == "ddq" and signals.dq is not None else "q"
    values = derivative(signals.channel(source), signals.time)
    return derivative(values, signals.time) if channel == "ddq" and source == "q" else values


def _plain(part: Trajectory, channel: str) -> Mapping[str, Follow]:
    """Too short to filter: the gain between the signals as they are."""
    expected, recorded = _expected(part, channel), part.channel(channel)
    found = {}
    for j, joint in enumerate(part.joint_names):
        e, r = expected[:, j], recorded[:, j]
        size = float(np.linalg.norm(e))
        if size > 0.0 and _moves(e, expected):
            gain = float(e @ r) / size**2
            found[joint] = Follow(
                gain, float("nan"), float(np.linalg.norm(r - gain * e)) / size, float(np.linalg.norm(r - e)) / size
            )
    return found


def _moves(signal: Array, all_signals: Array) -> bool:
    """A joint a hundred times slower than the fastest shows noise, not motion."""
    return float(np.std(signal)) > 0.01 * float(np.std(all_signals, axis=0).max())
