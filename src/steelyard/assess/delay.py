"""The delay between torque and motion.

Torque that is d older than its stamp fits the motion best when it is read d later. Cross-correlation of measured torque
with the torque of a fit gives a start; around it the misfit of a fit of all parameters is scanned: every delay is a
torque column of its own, so that one pass over the data tells the misfit of all of them. Rows near standstill are left
out: friction that turns its sign over a few samples looks like a delay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.lag import follow
from steelyard.assess.reduced_motion import ReducedMotion
from steelyard.basis import ParameterBasis
from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.term import Column

Array = NDArray[np.float64]
COARSE, FINE = np.linspace(-0.06, 0.06, 13), np.linspace(-0.006, 0.006, 7)  # [s]
FAR = 0.03  # [s] that a joint's own minimum may lie outside the fine scan: beyond, the joint does not tell
WIDEST = 4  # times the coarse scan is moved when its best delay lies at an end
SETTLES = 3  # re-weightings of the joints
SAMPLES = 10_000  # looked at: the first ones
ALONE = 3.0  # times its own deviation, where no other joint can contradict
UNEXPLAINED = 0.1  # share of the torque's variance beyond which a joint has nothing to say
WORTH, CERTAIN = 1e-3, 6.0  # [s], and deviations, from which a delay is told: 1 ms already moves friction by a tenth


@dataclass(frozen=True)
class DelayEstimate:
    """How much older the torque is than its stamp.

    Attributes:
        delay: [s], positive when the torque is late.
        deviation: from the disagreement of the joints [s].
        cross_correlation: the start [s], median of the joints.
        per_joint: one entry a joint [s]; nan for joints that do not tell.
    """

    delay: float
    deviation: float
    cross_correlation: float
    per_joint: tuple[float, ...]


@dataclass(frozen=True)
class _ReadLater:
    """Torque read later by each of several delays, as columns: what a fit leaves of each is that delay's misfit."""

    time: Array
    torque: Array  # (delays, T, n)

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        return tuple(
            Column(f"read later/{k}/{joint}", "", (j,))
            for k in range(self.torque.shape[0])
            for j, joint in enumerate(robot.joint_names)
        )

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        rows = np.searchsorted(self.time, trajectory.time)
        return np.concatenate(list(self.torque[:, rows]), axis=1)


def estimate_delay(
    model: Model, basis: ParameterBasis, reduced: ReducedMotion, again: ReducedMotion | None = None
) -> DelayEstimate | None:
    """Delay of the torque against the motion, with its uncertainty; None where the rows do not suffice.

    Each joint's misfit has its own minimum; their mean is the delay, and its deviation counts their scatter, so that a
    wrong friction model shows as doubt and not as a delay. So does a delay that depends on the filter.

    Args:
        model: rigid bodies, rotor inertia and friction, all free.
        basis: its base parameters.
        reduced: the recording.
        again: the same recording with another cut-off; None to leave that doubt out.
    """
    reduced = reduced.first(SAMPLES)
    if not _suffices(reduced, basis):
        return None
    centre = start = _by_cross_correlation(model, basis, reduced)
    for _ in range(WIDEST):
        misfit = _scan(model, basis, reduced, centre + COARSE)
        at = int(np.argmin(np.sum(np.log(misfit), axis=0)))
        centre = float(centre + COARSE[at])
        if 0 < at < COARSE.size - 1:
            break
    own, deviation = _own_delays(model, basis, reduced, centre + FINE)
    told = np.isfinite(deviation)
    if not told.any():
        return None
    mean, spread = _common(own[told], deviation[told])
    again = None if again is None else again.first(SAMPLES)
    if again is not None and _suffices(again, basis):
        other, doubt = _own_delays(model, basis, again, centre + FINE)
        both = np.isfinite(doubt)
        if both.any():
            spread = float(np.hypot(spread, mean - _common(other[both], doubt[both])[0]))
    return DelayEstimate(mean, spread, start, tuple(float(d) for d in np.where(told, own, np.nan)))


def _suffices(reduced: ReducedMotion, basis: ParameterBasis) -> bool:
    """Whether every joint has twice its share of the parameters in rows."""
    valid = reduced.thin.valid
    return valid is not None and valid.sum(axis=0).min() >= 2 * len(basis.names) / valid.shape[1]


def _own_delays(model: Model, basis: ParameterBasis, reduced: ReducedMotion, delays: Array) -> tuple[Array, Array]:
    """(n,) minimum of each joint's misfit and its deviation by the curvature of the likelihood `rows/2 log misfit`.

    Rows within half a period of the cut-off repeat one another and count as one. The deviation is infinite for a joint
    whose misfit has no minimum near the scan, or whose torque the model does not explain at any delay.
    """
    misfit, centre = _scan(model, basis, reduced, delays), delays.mean()
    tau = reduced.thin.channel("tau")
    size = np.sum(
        (tau - tau.mean(axis=0)) ** 2, axis=0, where=True if reduced.thin.valid is None else reduced.thin.valid
    )
    rows = np.ones(len(misfit)) if reduced.thin.valid is None else reduced.thin.valid.sum(axis=0)
    bend, slope, level = np.polyfit(delays - centre, misfit.T, 2)
    repeated = max(1.0, 1.0 / (2.0 * reduced.cutoff * reduced.thin.step))
    with np.errstate(divide="ignore", invalid="ignore"):
        own = centre - 0.5 * slope / bend
        least = np.maximum(level - 0.25 * slope**2 / bend, 0.1 * misfit.min(axis=1))
        deviation = np.sqrt(repeated * least / (rows * bend))
    told = (bend > 0.0) & (np.abs(own - centre) < FAR) & (misfit.min(axis=1) < UNEXPLAINED * size)
    return np.where(told, own, np.nan), np.where(told, deviation, np.inf)


def _common(own: Array, deviation: Array) -> tuple[float, float]:
    """Mean of the joints' delays and its deviation when each joint also errs by its own friction model.

    The variance of those errors is estimated from the scatter (DerSimonian & Laird 1986), so that joints with little
    noise and a wrong model do not outvote the others.
    """
    if own.size == 1:
        return float(own[0]), ALONE * float(deviation[0])
    weight = deviation**-2.0
    mean = float(np.sum(weight * own) / weight.sum())
    excess = float(np.sum(weight * (own - mean) ** 2)) - (own.size - 1)
    between = max(0.0, excess / (weight.sum() - np.sum(weight**2) / weight.sum()))
    weight = 1.0 / (deviation**2 + between)
    return float(np.sum(weight * own) / weight.sum()), float(1.0 / np.sqrt(weight.sum()))


def delay_findings(found: DelayEstimate | None, trajectory: Trajectory) -> list[Finding]:
    """A delay that is certain and large enough to bias friction."""
    if found is None or abs(found.delay) < WORTH or abs(found.delay) < CERTAIN * found.deviation:
        return []
    side = "later" if found.delay > 0 else "earlier"
    return [
        Finding(
            "data.delay",
            "warning",
            f"the torque comes {1e3 * abs(found.delay):.2f} +- {1e3 * found.deviation:.2f} ms {side} than the motion "
            "it belongs to",
            trajectory.name,
            found.delay,
            "shift the torque by this time, the same in training and validation, or take both from one message",
        )
    ]


def _by_cross_correlation(model: Model, basis: ParameterBasis, reduced: ReducedMotion) -> float:
    """Median lag of measured torque behind the torque of a fit at no delay [s]."""
    base, _, weights = _factors(_absorbed(model, basis, reduced, np.zeros(1)), len(basis.names))
    theta = _solution(*base, weights)[:, 0]
    full = np.zeros(len(model.names))
    full[[model.names.index(name) for name in basis.names]] = theta
    thin = reduced.thin
    longest = max(thin.segments, key=lambda s: s.stop - s.start)
    both = (model.torque(full, thin)[longest], thin.channel("tau")[longest])
    expected, measured = (reduced.lowpass.apply(values.T, thin.step).T for values in both)
    lags = []
    for j in range(expected.shape[1]):
        e, m = expected[:, j], measured[:, j]
        lag = follow(e - e.mean(), m - m.mean(), thin.step, most=min(0.25, 0.1 * len(e) * thin.step))
        if lag is not None:
            lags.append(lag.delay)
    return float(np.median(lags)) if lags else 0.0


def _scan(model: Model, basis: ParameterBasis, reduced: ReducedMotion, delays: Array) -> Array:
    """(n, delays) sum of squares that a fit of all parameters leaves at each delay."""
    (rows, later), size, weights = _factors(_absorbed(model, basis, reduced, delays), len(basis.names))
    for _ in range(SETTLES):
        theta = _solution(rows, later, weights)
        left = np.array([np.sum((t - y @ theta) ** 2, axis=0) for y, t in zip(rows, later, strict=True)])
        left = np.maximum(left, 1e-12 * size[:, None])
        weights = 1.0 / left.min(axis=1)
    return left


def _solution(rows: list[Array], later: list[Array], weights: Array) -> Array:
    """(b, delays) weighted least-squares parameters for every delay."""
    root = np.sqrt(weights)
    Y = np.vstack([w * y for w, y in zip(root, rows, strict=True)])
    T = np.vstack([w * t for w, t in zip(root, later, strict=True)])
    scale = np.linalg.norm(Y, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    return np.asarray(np.linalg.lstsq(Y / scale, T, rcond=1e-9)[0] / scale[:, None])


def _absorbed(model: Model, basis: ParameterBasis, reduced: ReducedMotion, delays: Array) -> SquareRootInformation:
    from scipy.interpolate import CubicSpline

    full, thin = reduced.full, reduced.thin
    torque = np.zeros((delays.size, *thin.channel("tau").shape))
    for segment, small in zip(full.segments, thin.segments, strict=True):
        t = full.time[segment]
        spline = CubicSpline(t, full.channel("tau")[segment])
        for k, delay in enumerate(delays):
            torque[k, small] = spline(np.clip(thin.time[small] + delay, t[0], t[-1]))
    term = _ReadLater(thin.time, torque)
    wider = Model(model.robot, (*model.terms, term))
    names = (*basis.names, *(column.name for column in term.columns(model.robot)))
    return wider.absorb([replace(thin, source="")], names=names, lowpass=reduced.lowpass)


def _factors(info: SquareRootInformation, base: int) -> tuple[tuple[list[Array], list[Array]], Array, Array]:
    """Regressor and torque columns of each joint's factor, the energy of its torque, and first weights."""
    rows, later = [], []
    for j in range(len(info.joints)):
        wide = info.spread(j)[:, :-1]
        rows.append(wide[:, :base])
        later.append(wide[:, base + j :: len(info.joints)])
    size = np.array([max(float(np.max(np.sum(t**2, axis=0))), 1e-300) for t in later])
    return (rows, later), size, 1.0 / size
