"""Numbers as a page carries them: few, short, and the same bytes every time."""

from __future__ import annotations

from html import escape
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
NOTHING = 1e-12


def telling_rows(values: Array, most: int) -> NDArray[np.intp]:
    """Rows of (T, k) signals to draw: all when there are few, else those with the extremes of every short stretch.

    A curve drawn through them has the peaks of the whole signal, which every k-th sample would miss.

    Args:
        values: (T, k) signals drawn over one axis.
        most: number of rows, about.
    """
    T, k = values.shape
    if most >= T:
        return np.arange(T)
    stretches = max(1, most // (2 * k))
    edges = np.linspace(0, T, stretches + 1).astype(np.intp)
    rows = [np.array([0, T - 1])]
    for a, b in pairwise(edges):
        part = values[a:b]
        rows.append(a + np.concatenate([part.argmin(axis=0), part.argmax(axis=0)]))
    return np.unique(np.concatenate(rows))


def spread_rows(count: int, most: int) -> NDArray[np.intp]:
    """At most `most` of `count` rows, evenly spread."""
    return np.unique(np.linspace(0, count - 1, min(count, most)).astype(np.intp)) if count else np.zeros(0, np.intp)


def short(values: Array) -> NDArray[np.float32]:
    """Single precision: more digits than a screen has pixels."""
    return np.asarray(values, dtype=np.float32)


def stamps(time: Array) -> Array:
    """Times to the tenth of a millisecond [s]."""
    return np.asarray(np.round(time, 4))


def number(value: float | None, digits: int = 3) -> str:
    """A number as text with a few significant digits; a dash for none, zero for what is rounding."""
    if value is None or not np.isfinite(value):
        return "–"
    if abs(value) < NOTHING:
        return "0"
    mantissa, e, exponent = f"{value:.{digits}g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if e else mantissa


def rounded(value: float, doubt: float) -> str:
    """A number as text to the second digit of its deviation: digits beyond it mean nothing."""
    if not np.isfinite(doubt) or doubt < NOTHING:
        return number(value, 4)
    places = 1 - int(np.floor(np.log10(doubt)))
    return f"{value:.{places}f}" if 0 <= places <= 6 else number(value, 3)


def percent(fraction: float | None, digits: int = 2) -> str:
    """A fraction as percent; a dash for none."""
    return "–" if fraction is None or not np.isfinite(fraction) else f"{number(100.0 * fraction, digits)} %"


def label(text: str) -> str:
    """Text of others for a plot, which reads a little HTML: made harmless."""
    return escape(text, quote=False)
