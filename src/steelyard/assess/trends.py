"""Whether residuals go with time, position, velocity, acceleration or temperature: statistics, not yet words.

A residual r is sorted by a variable x into bins of equal count. `share = sum n_k m_k^2 / sum r^2` is the part of its
power that the bin means m_k hold (r with its mean taken off). Residuals are correlated in time, so that F tables claim
far too much: here blocks of r, long against its correlation, are exchanged against an x that stays, which keeps the
colour of both and breaks what ties them. `p = (1 + #{share of exchanged >= share}) / (1 + exchanges)`.
Sources: Good, Permutation Tests, 2000; block permutation as in Kunsch 1989 for the bootstrap.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
EXCHANGES = 999
PER_BIN, FEWEST_BINS, MOST_BINS = 20, 4, 12
FEWEST_BLOCKS, MOST_BLOCKS = 8, 40
LONG = 3.0  # correlation times a block


@dataclass(frozen=True)
class Trend:
    """One joint's residual against one variable.

    Attributes:
        joint: its name.
        against: the variable, e.g. ``velocity``.
        share: part of the residual's power that the bin means hold, less what chance gives.
        linear: part of its power that a straight line holds.
        slope: of that line [N m or N per unit of the variable].
        size: root mean square of the bin means [N m or N].
        p_value: of `share` under exchange of blocks.
        bins: (K,) mean of the variable in each bin.
        means: (K,) mean residual in each bin [N m or N].
    """

    joint: str
    against: str
    share: float
    linear: float
    slope: float
    size: float
    p_value: float
    bins: Array
    means: Array


def correlation_length(residual: Array) -> float:
    """Samples after which a residual (T,) is forgotten: `1 + 2 sum rho_k` to the first rho_k that is not positive."""
    centred = residual - residual.mean()
    power = float(centred @ centred)
    if power <= 0.0:
        return 1.0
    size = 2 * len(centred)
    rho = np.fft.irfft(np.abs(np.fft.rfft(centred, size)) ** 2, size)[: len(centred)] / power
    end = np.flatnonzero(rho <= 0.0)
    return float(1.0 + 2.0 * rho[1 : end[0] if end.size else len(rho)].sum())


def trend(joint: str, against: str, residual: Array, x: Array, *, seed: int = 0) -> Trend | None:
    """Test one residual (T,) against one variable (T,); None where there is too little of either.

    Args:
        joint, against: names.
        residual: [N m or N] on a uniform clock, thinned to what its filter leaves independent.
        x: the variable at the same samples.
        seed: of the exchanges.
    """
    count = len(residual)
    if count < FEWEST_BINS * PER_BIN:
        return None
    length = int(np.ceil(LONG * correlation_length(residual)))
    blocks = int(np.clip(count // max(length, 1), FEWEST_BLOCKS, MOST_BLOCKS))
    length = count // blocks
    used = blocks * length
    r, x = residual[:used] - residual[:used].mean(), x[:used]
    power, spread = float(r @ r), float(np.sum((x - x.mean()) ** 2))
    if used < FEWEST_BINS * PER_BIN or power <= 0.0 or spread <= 0.0:
        return None
    number = int(np.clip(used // PER_BIN, FEWEST_BINS, MOST_BINS))
    bins = np.empty(used, dtype=np.intp)
    bins[np.argsort(x, kind="stable")] = np.arange(used) * number // used
    sizes = np.bincount(bins, minlength=number)
    means = np.bincount(bins, r, number) / sizes
    held = float(sizes @ means**2)
    chance = _exchanged(r.reshape(blocks, length), bins.reshape(blocks, length), sizes, seed)
    expected = float(chance.mean())
    slope = float((x - x.mean()) @ r / spread)
    return Trend(
        joint=joint,
        against=against,
        share=float(max(0.0, (held - expected) / (power - expected))) if power > expected else 0.0,
        linear=slope**2 * spread / power,
        slope=slope,
        size=float(np.sqrt(held / used)),
        p_value=float((1 + np.sum(chance >= held)) / (1 + len(chance))),
        bins=np.bincount(bins, x, number) / sizes,
        means=means + float(residual[:used].mean()),
    )


def _exchanged(r: Array, bins: NDArray[np.intp], sizes: NDArray[np.intp], seed: int) -> Array:
    """(EXCHANGES,) power held by the bin means when the blocks (rows) of r change places at random."""
    blocks, number = len(r), len(sizes)
    # the sum of block i, put in the place of block p, over each bin: exchanges only add such sums up
    member = np.zeros((blocks, r.shape[1], number))
    np.put_along_axis(member, bins[:, :, None], 1.0, axis=2)
    sums = np.einsum("il,plk->ipk", r, member, optimize=True)
    rng = np.random.default_rng(seed)
    order = rng.permuted(np.tile(np.arange(blocks), (EXCHANGES, 1)), axis=1)
    means = sums[order, np.arange(blocks)].sum(axis=1) / sizes
    return np.asarray(means**2 @ sizes)
