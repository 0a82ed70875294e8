"""Position, velocity and acceleration by Kalman smoothing with a white-jerk model, on any clock.

    d/dt (q, dq, ddq) = (dq, ddq, w),   w white of density g,   y_k = q(t_k) + v_k,   v_k of deviation s.

The state is carried over whatever time lies between two samples, so that irregular stamps and lost packets need no
interpolation. On a uniform clock of step h it is the low-pass `1 / (1 + (w / w_c)^6)`, `w_c^6 = g / (s^2 h)`: one
number, the bandwidth, which the recording itself chooses by maximum likelihood.
Source: Rauch, Tung & Striebel, Maximum likelihood estimates of linear dynamic systems, AIAA Journal 3(8), 1965;
Bierman, Fixed interval smoothing with discrete measurements, International Journal of Control 18(1), 1973.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError

Array = NDArray[np.float64]
LOWEST = 0.2  # [Hz] least bandwidth that is tried
HIGHEST = 0.2  # of the sampling rate, the greatest
FEWEST = 6  # samples of a segment
VAGUE = 1e3  # variance of the first state over what a unit of time of white jerk adds


@dataclass(frozen=True)
class Smoothed:
    """What the smoother found.

    Attributes:
        trajectory: q, dq, ddq at the stamps of the recording.
        bandwidth: (n,) [Hz].
        noise: (n,) deviation s of a measured position [rad or m].
        deviation: (n, 3) of q, dq and ddq in the middle of the recording, as the model has it.
    """

    trajectory: Trajectory
    bandwidth: Array
    noise: Array
    deviation: Array

    def __post_init__(self) -> None:
        for array in (self.bandwidth, self.noise, self.deviation):
            array.setflags(write=False)


def rts_smooth(trajectory: Trajectory, *, bandwidth: float | None = None) -> Smoothed:
    """Smooth the positions of every joint and read velocity and acceleration off the state.

    A motion that is smoother than white jerk (a few harmonics) is followed more closely than need be: the most likely
    bandwidth is then two or three times the one with the least error in the acceleration.

    Args:
        trajectory: positions on any strictly increasing clock; segments are smoothed one by one.
        bandwidth: [Hz] for all joints, three times the highest frequency of a motion designed as a series; None for
            each joint's most likely one.

    Raises:
        DataError: no positions, or a segment with too few samples.
        StudyError: a bandwidth that is not positive.
    """
    q = trajectory.channel("q")
    if bandwidth is not None and not (np.isfinite(bandwidth) and bandwidth > 0.0):
        raise StudyError("the bandwidth must be positive [Hz]", value=bandwidth)
    for segment in trajectory.segments:
        if segment.stop - segment.start < FEWEST:
            raise DataError(
                f"smoothing needs {FEWEST} samples without a gap",
                where=f"{trajectory.name}, at {trajectory.time[segment.start]:.4g} s",
                value=segment.stop - segment.start,
                cure="cut the stretch out of the recording",
            )
    n = q.shape[1]
    bands, noise, deviation = np.zeros(n), np.zeros(n), np.zeros((n, 3))
    states = np.zeros((len(trajectory), n, 3))
    for j in range(n):
        bands[j] = _likeliest(trajectory, q[:, j]) if bandwidth is None else bandwidth
        noise[j], deviation[j] = _smooth(trajectory, q[:, j], bands[j], states[:, j])
    note = f"q, dq, ddq: white-jerk smoother of {bands.min():.3g} to {bands.max():.3g} Hz"
    smoothed = replace(
        trajectory, q=states[..., 0], dq=states[..., 1], ddq=states[..., 2], steps=(*trajectory.steps, note)
    )
    return Smoothed(smoothed, bands, noise, deviation)


def _smooth(trajectory: Trajectory, y: Array, bandwidth: float, states: Array) -> tuple[float, Array]:
    """Fill states (T, 3) of one joint; returns the noise s and the deviations in the middle."""
    rate = 2.0 * np.pi * bandwidth
    units = np.array([1.0, rate, rate**2])
    sums, middle = np.zeros(2), np.zeros(3)
    for segment in trajectory.segments:
        length = segment.stop - segment.start
        found, variance = np.zeros((length, 3)), np.zeros((length, 3))
        _run(trajectory, segment, y, rate, found, variance, sums)
        states[segment] = found * units
        middle = variance[length // 2]
    noise = float(np.sqrt(sums[0] / len(y)))
    return noise, noise * np.sqrt(middle) * units


def _likeliest(trajectory: Trajectory, y: Array) -> float:
    """The bandwidth [Hz] of greatest likelihood, the noise taken out (concentrated)."""
    from scipy.optimize import minimize_scalar

    if np.ptp(y) == 0.0:
        return LOWEST
    none = np.zeros((0, 3))

    def misfit(logarithm: float) -> float:
        sums = np.zeros(2)
        for segment in trajectory.segments:
            _run(trajectory, segment, y, 2.0 * np.pi * float(np.exp(logarithm)), none, none, sums)
        return float(len(y) * np.log(max(sums[0], 1e-300)) + sums[1])

    low, high = float(np.log(LOWEST)), float(np.log(max(1.1 * LOWEST, HIGHEST / trajectory.step)))
    trials = np.linspace(low, high, 12)
    best = float(min(trials, key=misfit))
    width = float(trials[1] - trials[0])
    bounds = (max(low, best - width), min(high, best + width))
    return float(np.exp(minimize_scalar(misfit, bounds=bounds, method="bounded", options={"xatol": 1e-2}).x))


def _run(
    trajectory: Trajectory, segment: slice, y: Array, rate: float, found: Array, variance: Array, sums: Array
) -> None:
    """A pass over one segment, begun on a parabola through the first unit of time."""
    t = rate * (trajectory.time[segment] - trajectory.time[segment.start])
    values = np.ascontiguousarray(y[segment])
    many = max(FEWEST, int(np.searchsorted(t, 1.0)))
    fitted = np.polynomial.polynomial.polyfit(t[:many], values[:many], 2)
    _pass(t, values, rate * trajectory.step, fitted * [1.0, 1.0, 2.0], found, variance, sums)


@numba.njit(cache=True, nogil=True)
def _pass(t: Any, y: Any, step: Any, first: Any, found: Any, variance: Any, sums: Any) -> None:
    """One pass over a segment in time units of 1 / w_c, where s = 1 and g = step.

    The way back is Bierman's form of the smoother, which inverts nothing: with the adjoint l and its covariance L,
    x = x_ahead - P l and P_smooth = P - P L P.

    Args:
        first: (3,) first state; it is taken to be vaguely known.
        found, variance: (K, 3) smoothed states and variances; (0, 3) for a pass forwards alone.
        sums: to which are added the squared innovations over their variances, and the logarithms of those.
    """
    K = t.shape[0]
    kept = found.shape[0]
    x, P, F, T = first.copy(), np.zeros((3, 3)), np.eye(3), np.zeros((3, 3))
    for e in range(3):
        P[e, e] = VAGUE * step
    ahead, covers, gains, errors, powers = (
        np.zeros((kept, 3)), np.zeros((kept, 3, 3)), np.zeros((kept, 3)), np.zeros(kept), np.zeros(kept)
    )  # fmt: skip
    for k in range(K):
        if k > 0:
            _transition(t[k] - t[k - 1], F)
            _product(F, P, T)
            _product_transposed(T, F, P)
            _add_jerk(t[k] - t[k - 1], step, P)
            x[0] += F[0, 1] * x[1] + F[0, 2] * x[2]
            x[1] += F[1, 2] * x[2]
        S, error = P[0, 0] + 1.0, y[k] - x[0]
        if kept:
            ahead[k], covers[k], errors[k], powers[k] = x, P, error, S
        a, b, c = P[0, 0] / S, P[1, 0] / S, P[2, 0] / S
        gain = (a, b, c)
        for e in range(3):
            x[e] += gain[e] * error
            if kept:
                gains[k, e] = gain[e]
        r = (P[0, 0], P[0, 1], P[0, 2])
        for e in range(3):
            for f in range(3):
                P[e, f] -= gain[e] * r[f]
        sums[0] += error * error / S
        sums[1] += np.log(S)
    if kept:
        _back(t, ahead, covers, gains, errors, powers, found, variance)


@numba.njit(cache=True, nogil=True)
def _back(t: Any, ahead: Any, covers: Any, gains: Any, errors: Any, powers: Any, found: Any, variance: Any) -> None:
    """The way back of `_pass`."""
    l, L, T, A, F = np.zeros(3), np.zeros((3, 3)), np.zeros((3, 3)), np.eye(3), np.eye(3)
    for k in range(t.shape[0] - 1, -1, -1):
        for e in range(3):  # A = I - gain (1, 0, 0)
            A[e, 0] = (1.0 if e == 0 else 0.0) - gains[k, e]
        l[0] = A[0, 0] * l[0] + A[1, 0] * l[1] + A[2, 0] * l[2] - errors[k] / powers[k]
        _sandwich(A, L, T)
        L[0, 0] += 1.0 / powers[k]
        P = covers[k]
        for e in range(3):
            found[k, e] = ahead[k, e] - (P[e, 0] * l[0] + P[e, 1] * l[1] + P[e, 2] * l[2])
            less = 0.0
            for f in range(3):
                for g in range(3):
                    less += P[e, f] * L[f, g] * P[g, e]
            variance[k, e] = max(P[e, e] - less, 0.0)
        if k > 0:
            _transition(t[k] - t[k - 1], F)
            l[2] += F[0, 2] * l[0] + F[1, 2] * l[1]
            l[1] += F[0, 1] * l[0]
            _sandwich(F, L, T)


@numba.njit(cache=True, nogil=True)
def _transition(h: Any, F: Any) -> None:
    F[0, 1], F[0, 2], F[1, 2] = h, 0.5 * h * h, h


@numba.njit(cache=True, nogil=True)
def _add_jerk(h: Any, density: Any, P: Any) -> None:
    """What white jerk adds over h: integrals of the products of s^2 / 2, s and 1."""
    P[0, 0] += density * h**5 / 20.0
    P[0, 1] += density * h**4 / 8.0
    P[0, 2] += density * h**3 / 6.0
    P[1, 1] += density * h**3 / 3.0
    P[1, 2] += density * h**2 / 2.0
    P[2, 2] += density * h
    P[1, 0], P[2, 0], P[2, 1] = P[0, 1], P[0, 2], P[1, 2]


@numba.njit(cache=True, nogil=True)
def _product(A: Any, B: Any, C: Any) -> None:
    """C = A B."""
    for e in range(3):
        for f in range(3):
            C[e, f] = A[e, 0] * B[0, f] + A[e, 1] * B[1, f] + A[e, 2] * B[2, f]


@numba.njit(cache=True, nogil=True)
def _product_transposed(A: Any, B: Any, C: Any) -> None:
    """C = A B'."""
    for e in range(3):
        for f in range(3):
            C[e, f] = A[e, 0] * B[f, 0] + A[e, 1] * B[f, 1] + A[e, 2] * B[f, 2]


@numba.njit(cache=True, nogil=True)
def _sandwich(A: Any, L: Any, T: Any) -> None:
    """L <- A' L A."""
    for e in range(3):
        for f in range(3):
            T[e, f] = A[0, e] * L[0, f] + A[1, e] * L[1, f] + A[2, e] * L[2, f]
    _product(T, A, L)
