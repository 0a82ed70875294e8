"""Random motions of a given band of frequencies, at rest at both ends: other in every run, the same for a seed."""

from __future__ import annotations

import numpy as np

from steelyard.errors import StudyError
from steelyard.excite.envelope import envelope_of
from steelyard.excite.fourier import FourierFamily, FourierMotion, Rest
from steelyard.excite.limits import MotionLimits


def random_band(
    limits: MotionLimits,
    *,
    band: tuple[float, float],
    duration: float,
    rest: Rest = "acceleration",
    seed: int = 0,
    name: str = "random",
) -> FourierMotion:
    """Every harmonic of 1 / duration inside the band, with normal coefficients, up to the first limit each joint meets.

    The coefficients are amplitudes of the velocity: its spectrum is flat over the band but for what the rest takes
    away. About the middle of the positions.

    Args:
        limits: to be kept, e.g. `limits.share(0.95)`.
        band: lowest and highest frequency [Hz].
        duration: [s].
        rest: what is zero at both ends.
        seed: of the random draw.

    Raises:
        StudyError: a band with too few harmonics, a seed below zero.
    """
    low, high = band
    if not (0.0 < low < high and np.isfinite(high) and duration > 0.0):
        raise StudyError("a band runs from a positive frequency to a higher one [Hz]", value=band)
    if seed < 0:
        raise StudyError("a seed is a whole number from 0 on", value=seed)
    lines = tuple(range(max(1, int(np.ceil(low * duration - 1e-9))), int(np.floor(high * duration + 1e-9)) + 1))
    if len(lines) < 3:
        raise StudyError(
            "too few harmonics in the band", value=f"{len(lines)} between {low:g} and {high:g} Hz",
            cure=f"a wider band, or a duration of {3.0 / (high - low):.3g} s and more",
        )  # fmt: skip
    n = len(limits.joint_names)
    family = FourierFamily(duration, (lines,) * n, rest)
    x = np.random.default_rng(seed).standard_normal((n, family.variables))
    x[:, 0] = 0.0
    coefficients = family.coefficients(x / envelope_of(family, limits).gauge(x)[:, None])
    coefficients[:, 0] += limits.center
    return FourierMotion(limits.joint_names, family, coefficients, name)
