"""Which frequencies a motion has, and which it leaves out on purpose to listen for what the model does not know.

A periodic motion and a smooth, time-invariant joint answer at multiples of 1 / period only. Odd lines alone
(1, 3, 5 ..., `fourier.shared_harmonics`) leave the even ones to even effects, as a torque that grows with the square of
speed; dry friction is odd and never shows there. Odd lines left out at random, the detection lines, show it. Lines at a
constant ratio are moved to the next multiple: off the multiples they would leak into all of them.
Source: Pintelon & Schoukens, System Identification: A Frequency Domain Approach, 2012, ch. 4.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError

Array = NDArray[np.float64]
GROUP = 4  # odd lines of which one is left out


class DetectionLines(NamedTuple):
    """Odd harmonics that are excited, and odd and even ones that are not."""

    excited: tuple[int, ...]
    odd: tuple[int, ...]
    even: tuple[int, ...]


def logarithmic_lines(count: int, highest: int) -> tuple[int, ...]:
    """At most `count` harmonics from 1 to `highest`, each about the same ratio above the one before.

    Low ones, where the ratio is less than one line, fall together. The resolution is fine at the low end.

    Raises:
        StudyError: more harmonics than there are.
    """
    if not 1 <= count <= highest:
        raise StudyError("so many harmonics do not exist", value=count, choices=[f"1 to {highest}"])
    return tuple(int(line) for line in np.unique(np.rint(np.geomspace(1.0, highest, count))))


def detection_lines(highest: int, *, seed: int = 0) -> DetectionLines:
    """Odd harmonics up to `highest` with one in each GROUP of them left out at random.

    Raises:
        StudyError: too few harmonics for one group.
    """
    odd = np.arange(1, highest + 1, 2)
    groups = len(odd) // GROUP
    if groups < 1 or seed < 0:
        raise StudyError(
            "too few harmonics to leave one out", value=highest, cure=f"at least {2 * GROUP - 1}, a seed from 0"
        )
    silent = odd[GROUP * np.arange(groups) + np.random.default_rng(seed).integers(1, GROUP, groups)]
    excited = np.setdiff1d(odd, silent)
    even = np.arange(2, highest + 1, 2)
    return DetectionLines(*(tuple(int(line) for line in lines) for lines in (excited, silent, even)))


def share_of_lines(signal: Array, lines: tuple[int, ...], *, periods: int = 1) -> Array:
    """(n,) root mean square of some harmonics over that of all of a signal.

    Args:
        signal: (K, n) whole periods, evenly sampled, without the first sample of the next; its mean does not count.
        lines: multiples of 1 / period.
        periods: how many there are.
    """
    energy = np.abs(np.fft.rfft(signal, axis=0)) ** 2
    total = energy[1:].sum(axis=0)
    some = energy[[periods * line for line in lines if periods * line < len(energy)]].sum(axis=0)
    share: Array = np.sqrt(some / np.where(total > 0.0, total, 1.0))
    return share
