"""Rows of a recording on their way from the file to a trajectory: gathered, joined and split."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import DataError

Array = NDArray[np.float64]

_GROWTH = 1.25
"""Room is made in these steps; the reallocation moves pages, not values, and at most a quarter stays unused."""


@dataclass(frozen=True)
class Samples:
    """Some rows: time (T,) and each channel (T, n), in the file's terms or in SI."""

    time: Array
    channels: Mapping[str, Array]


def gathered(parts: Iterable[Samples], *, where: str) -> Samples | None:
    """All parts as one, never holding them twice; None when there are none.

    Raises:
        DataError: the memory does not suffice.
    """
    whole: dict[str, Array] = {}
    count = 0
    try:
        for part in parts:
            rows = part.time.size
            for name, values in (("", part.time), *part.channels.items()):
                array = whole.setdefault(name, np.empty((0, *values.shape[1:])))
                if count + rows > array.shape[0]:
                    _resize(array, int(_GROWTH * (count + rows)))
                array[count : count + rows] = values
            count += rows
        for array in whole.values():
            _resize(array, count)
    except MemoryError:
        raise DataError(
            f"the recording does not fit into memory (stopped after {count} samples)",
            where=where,
            cure="read it in chunks: steelyard.iterate_csv(path)",
        ) from None
    return Samples(whole.pop(""), whole) if whole else None


def _resize(array: Array, rows: int) -> None:
    array.resize((rows, *array.shape[1:]), refcheck=False)  # no view of it exists outside `gathered`


def joined(parts: Sequence[Samples]) -> Samples:
    """Consecutive parts, at least one, as one."""
    if len(parts) == 1:
        return parts[0]
    channels = {c: np.concatenate([part.channels[c] for part in parts]) for c in parts[0].channels}
    return Samples(np.concatenate([part.time for part in parts]), channels)


def split(samples: Samples, rows: int) -> tuple[Samples, Samples]:
    """The first rows, with memory of their own, and the rest."""
    first = Samples(samples.time[:rows].copy(), {c: v[:rows].copy() for c, v in samples.channels.items()})
    return first, Samples(samples.time[rows:], {c: v[rows:] for c, v in samples.channels.items()})
