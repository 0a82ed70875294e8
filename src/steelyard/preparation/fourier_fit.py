"""Periodic motion as a Fourier series fitted to the positions: derivatives without differences.

A motion of H harmonics has 2 H + 1 numbers a joint; N samples of noise s leave in the acceleration

    s_ddq^2 = 2 s^2 / N sum_l (l w)^4,      w = 2 pi / period,

which a filter, that must let the motion's own band through, cannot reach. Source: Swevers, Verdonck, De Schutter,
Dynamic model identification for industrial robots, IEEE Control Systems Magazine 27(5), 2007.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.repetition import repetition
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.excite.fourier import FourierFamily, FourierMotion
from steelyard.finding import Finding

Array = NDArray[np.float64]
MOST_HARMONICS = 60
SAMPLES_A_HARMONIC = 8  # so that a series never follows the noise of single samples
SAMPLES_A_CYCLE = 4  # of the highest harmonic
NOT_NOISE = 10.0  # times the noise of neighbouring samples
SEARCH = 0.02  # share of the period by which it is corrected at most
CORRECTION_HARMONICS = 12  # enough of the motion to tell its period


@dataclass(frozen=True)
class FourierFit:
    """A periodic motion and how well it describes the positions.

    Attributes:
        motion: the series; its time begins at `origin`.
        origin: [s] of the recording.
        noise: (n,) standard deviation of what the series does not explain [rad or m].
        samples: number fitted.
        findings: whether the motion is as periodic as it should be.
    """

    motion: FourierMotion
    origin: float
    noise: Array
    samples: int
    findings: tuple[Finding, ...] = ()

    def __post_init__(self) -> None:
        self.noise.setflags(write=False)

    @property
    def harmonics(self) -> int:
        """Highest harmonic H."""
        return self.motion.family.highest

    @property
    def acceleration_noise(self) -> Array:
        """(n,) standard deviation that the noise leaves in the acceleration [rad/s2 or m/s2], if it is white."""
        rate = 2.0 * np.pi / self.motion.period * np.arange(1, self.harmonics + 1)
        return np.asarray(self.noise * np.sqrt(2.0 * np.sum(rate**4) / self.samples))

    def apply(self, trajectory: Trajectory) -> Trajectory:
        """The recording with q, dq and ddq of the series; torque and everything else as it was."""
        fitted = self.motion.at(trajectory.ordered(self.motion.joint_names).time - self.origin)
        worst = float(np.max(self.noise))
        note = (
            f"q, dq, ddq: Fourier series of {self.harmonics} harmonics of {self.motion.period:.6g} s fitted to q, "
            f"which leaves {worst:.2g} rad (m) in the worst joint"
        )
        ordered = trajectory.ordered(self.motion.joint_names)
        return replace(ordered, q=fitted.q, dq=fitted.dq, ddq=fitted.ddq, steps=(*ordered.steps, note))


def fourier_fit(
    trajectory: Trajectory, *, period: float | None = None, harmonics: int | None = None, correct: bool = True
) -> FourierFit:
    """Fit a Fourier series to the positions of a periodic motion, on any clock, gaps and all.

    Args:
        trajectory: positions in the steady state: cut the run-up off before.
        period: [s]; None to find it from the positions, which must repeat within the recording.
        harmonics: H; None for as many as the Bayesian information criterion wants (a controller's lag adds some to
            those that were asked for).
        correct: search for the period within 2 % of the one given: clocks differ.

    Raises:
        DataError: no positions, a motion that does not repeat, or less than a period of it.
        StudyError: a period or a number of harmonics that is not positive.
    """
    q = trajectory.channel("q")
    if period is not None and not (np.isfinite(period) and period > 0.0):
        raise StudyError("the period must be a positive time [s]", value=period)
    if harmonics is not None and (harmonics != int(harmonics) or harmonics < 1):
        raise StudyError("the number of harmonics must be a whole number above zero", value=harmonics)
    origin = float(trajectory.time[0])
    t = trajectory.time - origin
    found = _period(trajectory) if period is None else float(period)
    if t[-1] < (1.0 - SEARCH) * found or len(t) <= 2 * SAMPLES_A_HARMONIC:
        raise DataError(
            "the recording is shorter than a period of the motion",
            where=trajectory.name,
            value=f"{t[-1]:.4g} s of {found:.4g} s",
            cure="record at least one whole period, or give the right period",
        )
    cycle = SAMPLES_A_CYCLE * trajectory.step
    most = max(1, min(MOST_HARMONICS, len(t) // SAMPLES_A_HARMONIC, int(found / cycle)))
    if correct and t[-1] > 1.2 * found:
        found = _corrected(t, q, found, harmonics or min(most, CORRECTION_HARMONICS))
    count = _harmonics(t, q, found, most) if harmonics is None else int(harmonics)
    coefficients, left = _solve(t, q, found, count)
    family = FourierFamily(found, (tuple(range(1, count + 1)),) * q.shape[1])
    motion = FourierMotion(trajectory.joint_names, family, _swevers(coefficients, found), name=trajectory.name)
    noise = np.sqrt(left / max(1, len(t) - 2 * count - 1))
    return FourierFit(motion, origin, noise, len(t), tuple(_unexplained(trajectory, noise, found)))


def _unexplained(trajectory: Trajectory, noise: Array, period: float) -> list[Finding]:
    """A finding when the series leaves far more than the noise of neighbouring samples: third differences tell that."""
    q = trajectory.channel("q")
    if len(q) < 4:
        return []
    rough = np.median(np.abs(np.diff(q, 3, axis=0)), axis=0) / (0.6745 * np.sqrt(20.0))
    worst = int(np.argmax(noise / np.maximum(rough, 1e-9)))
    if noise[worst] <= NOT_NOISE * max(rough[worst], 1e-9):
        return []
    return [
        Finding(
            "data.not_periodic",
            "warning",
            f"the series of {period:.4g} s misses the positions of {trajectory.joint_names[worst]} by "
            f"{noise[worst]:.2g} rad (m), which is no noise",
            where=trajectory.name,
            value=float(noise[worst]),
            cure="cut off the run-up to the periodic motion, or filter instead of fitting a series",
        )
    ]


def _period(trajectory: Trajectory) -> float:
    found = repetition(trajectory)
    if found is None:
        raise DataError(
            "the motion does not repeat within the recording: a Fourier series needs a period",
            where=trajectory.name,
            cure="give the period, cut the recording to the periodic part, or filter instead",
        )
    return found.period


def _columns(t: Array, period: float, harmonics: int) -> Array:
    """(T, 2 H + 1): 1, cos w t, sin w t, cos 2 w t, ..."""
    phase = 2.0 * np.pi / period * t[:, None] * np.arange(1, harmonics + 1)
    columns = np.empty((len(t), 2 * harmonics + 1))
    columns[:, 0] = 1.0
    columns[:, 1::2], columns[:, 2::2] = np.cos(phase), np.sin(phase)
    return columns


def _solve(t: Array, q: Array, period: float, harmonics: int) -> tuple[Array, Array]:
    """(2 H + 1, n) coefficients and (n,) sums of squares left."""
    columns = _columns(t, period, harmonics)
    middle = q.mean(axis=0)
    coefficients = np.linalg.lstsq(columns, q - middle, rcond=None)[0]
    left = np.sum((q - middle - columns @ coefficients) ** 2, axis=0)
    coefficients[0] += middle
    return coefficients, left


def _harmonics(t: Array, q: Array, period: float, most: int) -> int:
    """The number of harmonics with the least `sum_j T log(rss_j) + (2 H + 1) n log T`, from one factorisation."""
    columns = _columns(t, period, most)
    Q = np.linalg.qr(columns)[0]
    taken = (Q.T @ (q - q.mean(axis=0))) ** 2
    total = np.sum((q - q.mean(axis=0)) ** 2, axis=0)
    left = np.maximum(total - np.cumsum(taken, axis=0)[::2], 1e-24 * np.maximum(total, 1e-300))
    moving = total > 0.0
    T, counts = len(t), 2 * np.arange(most + 1) + 1
    criterion = T * np.sum(np.log(left[:, moving]), axis=1) + counts * moving.sum() * np.log(T)
    return max(1, int(np.argmin(criterion)))


def _corrected(t: Array, q: Array, period: float, harmonics: int) -> float:
    """The period near the given one whose series leaves least of the positions."""
    from scipy.optimize import minimize_scalar

    spread = np.maximum(q.std(axis=0), 1e-12)
    every = max(1, len(t) // 4000)
    short, values = t[::every], (q / spread)[::every]
    # the misfit has many hollows; the widest reaches a tenth of a period's shift over the recording at the top harmonic
    width = 0.1 * period**2 / (harmonics * t[-1])
    trials = np.arange(-SEARCH * period, SEARCH * period + width, width) + period

    def misfit(guess: float) -> float:
        return float(np.sum(_solve(short, values, guess, harmonics)[1]))

    best = float(min(trials, key=misfit))
    found = minimize_scalar(misfit, bounds=(best - width, best + width), method="bounded", options={"xatol": 1e-9})
    return float(found.x)


def _swevers(coefficients: Array, period: float) -> Array:
    """(n, 2 H + 1) centre, a, b of `q_0 + sum a_l / (l w) sin - b_l / (l w) cos` from (2 H + 1, n) cos and sin."""
    rate = 2.0 * np.pi / period * np.arange(1, (len(coefficients) - 1) // 2 + 1)
    cosine, sine = coefficients[1::2].T, coefficients[2::2].T
    return np.hstack([coefficients[:1].T, sine * rate, -cosine * rate])
