"""Zero-phase low-pass filtering, the same for signals, regressor columns and predictions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError

Array = NDArray[np.float64]
ORDER = 4
SETTLE = 8.0  # periods of the cut-off after which the forward-backward response has fallen below 1e-8


@dataclass(frozen=True)
class LowPass:
    """Butterworth filter of order 4 run forwards and backwards, then every k-th sample kept.

    The same linear filter on both sides of `tau = Y theta` leaves theta as it is (parallel filtering).

    Attributes:
        cutoff: [Hz]; the gain there is one half (two passes of -3 dB).
        keep_every: one sample of this many is kept afterwards.
    """

    cutoff: float
    keep_every: int = 1

    def __post_init__(self) -> None:
        if not (self.cutoff > 0.0 and self.keep_every >= 1):
            raise StudyError(
                "a low-pass needs a positive cut-off [Hz] and a positive number of samples to keep one of",
                value=(self.cutoff, self.keep_every),
            )

    def apply(self, values: Array, step: float) -> Array:
        """Filter along the last axis of values sampled every `step` seconds; nothing is dropped here."""
        return zero_phase(values, step, self.cutoff)

    def settling(self, step: float) -> int:
        """Samples after which a disturbance is forgotten."""
        return int(np.ceil(SETTLE / (self.cutoff * step)))


def zero_phase(values: Array, step: float, cutoff: float, *, axis: int = -1) -> Array:
    """Low-pass filtered values, without delay (uses future samples: for recordings, not for controllers).

    Args:
        values: any shape, uniform in time along `axis`.
        step: sampling interval [s].
        cutoff: [Hz], below half the sampling rate; at or above it the values come back as they are.

    Raises:
        StudyError: a cut-off that is not positive.
    """
    from scipy.signal import butter, sosfiltfilt

    if not cutoff > 0.0:
        raise StudyError("the cut-off frequency must be positive [Hz]", value=cutoff)
    if values.shape[axis] < 2 or cutoff * 2.0 * step >= 1.0:
        return np.array(values)
    sections = butter(ORDER, cutoff * 2.0 * step, output="sos")
    padding = min(3 * (2 * len(sections) + 1), values.shape[axis] - 1)
    return np.ascontiguousarray(sosfiltfilt(sections, values, axis=axis, padlen=padding))
