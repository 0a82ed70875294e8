"""Position, velocity and acceleration by Kalman smoothing with a white-jerk model, on any clock.

    d/dt (q, dq, ddq) = (dq, ddq, w),   w white of density g,   y_k = q(t_k) + v_k,   v_k of deviation s.

The state is carried over whatever time lies between two samples, so that irregular stamps and lost packets need no
interpolation. On a uniform clock of step h it is the low-pass `1 / (1 + (w / w_c)^6)`, `w_c^6 = g / (s^2 h)`: one number,
the bandwidth, which the recording itself chooses by maximum likelihood.
Source: Rauch, Tung & Striebel, Maximum likelihood estimates of linear dynamic systems, AIAA Journal 3(8), 1965.
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
VAGUE = 1e3  # by how much the first state is less known than later ones, as a factor on its variance


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
    step = rate * trajectory.step
    misfit, middle = 0.0, np.zeros(3)
    units = np.array([1.0, rate, rate**2])
    for segment in trajectory.segments:
        t = rate * trajectory.time[segment]
        length = segment.stop - segment.start
        found, variance, sums = np.zeros((length, 3)), np.zeros((length, 3)), np.zeros(2)
        _pass(t - t[0], y[segment], step, VAGUE, True, found, variance, sums)
        states[segment] = found * units
        misfit += float(sums[0])
        middle = variance[length // 2]
    noise = float(np.sqrt(misfit / len(y)))
    return noise, noise * np.sqrt(middle) * units


def _likeliest(trajectory: Trajectory, y: Array) -> float:
    """The bandwidth [Hz] of greatest likelihood, the noise taken out (concentrated)."""
    from scipy.optimize import minimize_scalar

    if np.ptp(y) == 0.0:
        return LOWEST
    none = np.zeros((0, 3))

    def misfit(logarithm: float) -> float:
        rate = 2.0 * np.pi * float(np.exp(logarithm))
        total = np.zeros(2)
        for segment in trajectory.segments:
            sums = np.zeros(2)
            t = rate * trajectory.time[segment]
            _pass(t - t[0], y[segment], rate * trajectory.step, VAGUE, False, none, none, sums)
            total += sums
        return float(len(y) * np.log(max(total[0], 1e-300)) + total[1])

    bounds = np.log([LOWEST, max(1.1 * LOWEST, HIGHEST / trajectory.step)])
    trials = np.linspace(*bounds, 12)
    best = trials[int(np.argmin([misfit(x) for x in trials]))]
    width = trials[1] - trials[0]
    found = minimize_scalar(
        misfit, bounds=(max(bounds[0], best - width), min(bounds[1], best + width)), method="bounded",
        options={"xatol": 1e-2},
    )  # fmt: skip
    return float(np.exp(found.x))


@numba.njit(cache=True, nogil=True)
def _pass(t: Any, y: Any, step: Any, vague: Any, smooth: Any, found: Any, variance: Any, sums: Any) -> None:
    """One pass over a segment in time units of 1 / w_c, where g / s^2 = step; s = 1.

    sums: sum of squared innovations over their variances, sum of the logarithms of those variances.
    """
    K = t.shape[0]
    x, P = _begin(t, y, step, vague)
    F, Q = np.eye(3), np.zeros((3, 3))
    ahead, covers = np.zeros((K if smooth else 0, 3)), np.zeros((K if smooth else 0, 3, 3))
    filtered, filtered_P = np.zeros_like(ahead), np.zeros_like(covers)
    for k in range(K):
        if k > 0:
            _step(t[k] - t[k - 1], step, F, Q)
            x = F @ x
            P = F @ P @ F.T + Q
        if smooth:
            ahead[k], covers[k] = x, P
        S = P[0, 0] + 1.0
        e = y[k] - x[0]
        gain = P[:, 0].copy() / S
        x = x + gain * e
        P = P - np.outer(gain, P[0].copy())
        P = 0.5 * (P + P.T)
        sums[0] += e * e / S
        sums[1] += np.log(S)
        if smooth:
            filtered[k], filtered_P[k] = x, P
    if smooth:
        for k in range(K - 1, -1, -1):
            if k < K - 1:
                _step(t[k + 1] - t[k], step, F, Q)
                back = np.linalg.solve(covers[k + 1], F @ filtered_P[k]).T
                x = filtered[k] + back @ (x - ahead[k + 1])
                P = filtered_P[k] + back @ (P - covers[k + 1]) @ back.T
            found[k] = x
            for e3 in range(3):
                variance[k, e3] = max(P[e3, e3], 0.0)


@numba.njit(cache=True, nogil=True)
def _step(h: Any, density: Any, F: Any, Q: Any) -> None:
    """Transition over h, and what white jerk adds meanwhile: integrals of (s^2 / 2, s, 1)."""
    F[0, 1], F[0, 2], F[1, 2] = h, 0.5 * h * h, h
    Q[0, 0] = density * h**5 / 20.0
    Q[0, 1] = Q[1, 0] = density * h**4 / 8.0
    Q[0, 2] = Q[2, 0] = density * h**3 / 6.0
    Q[1, 1] = density * h**3 / 3.0
    Q[1, 2] = Q[2, 1] = density * h**2 / 2.0
    Q[2, 2] = density * h


@numba.njit(cache=True, nogil=True)
def _begin(t: Any, y: Any, step: Any, vague: Any) -> Any:
    """A parabola through the first unit of time, and a covariance vague beside that of later states."""
    many = 6
    while many < t.shape[0] and t[many] < 1.0:
        many += 1
    many = min(many, t.shape[0])
    A = np.ones((many, 3))
    for k in range(many):
        A[k, 1] = t[k]
        A[k, 2] = 0.5 * t[k] * t[k]
    x = np.linalg.solve(A.T @ A, A.T @ y[:many].copy())
    P = np.zeros((3, 3))
    for e in range(3):
        P[e, e] = vague * max(step, 1e-6)
    return x, P
