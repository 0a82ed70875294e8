"""Which few of many candidates tell most together: a greedy choice, then exchanges, by log det of the information.

Source: Fedorov, Theory of Optimal Experiments, 1972, ch. 3; Atkinson, Donev & Tobias, Optimum Experimental Designs,
2007, ch. 12.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError

Array = NDArray[np.float64]
FAINT = 1e-8  # information of each direction before anything is chosen, of what all candidates together give
BETTER = 1e-9  # gain of log det under which an exchange is none
PASSES = 50
STARTS = 8  # of the greedy choice, from the candidates that tell most alone
HELD = 1e-9  # relative singular value under which no candidate says anything of a direction


def d_optimal(rows: Array, count: int, *, prior: Array | None = None) -> list[int]:
    """Places of `count` different candidates whose information together has the largest determinant found.

    Args:
        rows: (C, m, b) noise-weighted rows of each candidate, of any b parameters; directions that no candidate and
            no prior says anything about are left out.
        count: how many.
        prior: (b, b) information that is there already.

    Raises:
        StudyError: more wanted than there are candidates, or candidates that say nothing.
    """
    if not 1 <= count <= len(rows):
        raise StudyError("not that many candidates to choose from", value=count, choices=[f"1 to {len(rows)}"])
    own = np.einsum("cmb,cmd->bd", rows, rows)
    known = np.zeros_like(own) if prior is None else np.asarray(prior, dtype=np.float64)
    told = np.diag(own) > 0.0
    if not told.any():
        raise StudyError("none of the candidates says anything about the parameters wanted")
    scale = np.where(told, 1.0 / np.sqrt(np.where(told, np.diag(own), 1.0)), 0.0)
    values, vectors = np.linalg.eigh(own * np.outer(scale, scale))
    kept = values > HELD * values[-1]
    map_ = scale[:, None] * vectors[:, kept] / np.sqrt(values[kept])  # in its columns all candidates together give I
    small = rows @ map_
    start = map_.T @ known @ map_ + FAINT * np.eye(small.shape[2])
    firsts = np.argsort(-_gains(small, start))[:STARTS]
    choices = [_exchanged(small, _greedy(small, int(first), count, start), start) for first in firsts]
    return max(choices, key=lambda chosen: float(np.linalg.slogdet(_information(small, chosen, start))[1]))


def _greedy(rows: Array, first: int, count: int, start: Array) -> list[int]:
    """The candidate given, then always the one that adds most."""
    chosen = [first]
    while len(chosen) < count:
        chosen.append(_best(rows, _information(rows, chosen, start), chosen)[0])
    return chosen


def _exchanged(rows: Array, chosen: list[int], start: Array) -> list[int]:
    """One after the other exchanged for a better one, until none is."""
    for _ in range(PASSES):
        before = list(chosen)
        for place in range(len(chosen)):
            others = chosen[:place] + chosen[place + 1 :]
            without = _information(rows, others, start)
            found, gain = _best(rows, without, others)
            if gain > _gains(rows[[chosen[place]]], without)[0] + BETTER:
                chosen[place] = found
        if chosen == before:
            break
    return chosen


def _information(rows: Array, chosen: list[int], start: Array) -> Array:
    total: Array = start + np.einsum("cmb,cmd->bd", rows[chosen], rows[chosen])
    return total


def _gains(rows: Array, information: Array) -> Array:
    """(C,) growth of log det by each candidate: `log det(I + Y_c G^-1 Y_c')`."""
    inverse = np.linalg.inv(information)
    gains: Array = np.linalg.slogdet(np.eye(rows.shape[1]) + rows @ inverse @ rows.transpose(0, 2, 1))[1]
    return gains


def _best(rows: Array, information: Array, taken: list[int]) -> tuple[int, float]:
    gains = _gains(rows, information)
    gains[taken] = -np.inf
    place = int(np.argmax(gains))
    return place, float(gains[place])
