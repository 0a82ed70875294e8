"""Information of the same columns, merged whatever columns each joint has rows for."""

from __future__ import annotations

from dataclasses import replace

from steelyard.information import SquareRootInformation, triangle


def merged(one: SquareRootInformation, other: SquareRootInformation) -> SquareRootInformation:
    """The information of both, of the same columns, whatever columns each joint has rows for.

    Raises:
        InformationError: other columns or joints, or samples that both have absorbed.
    """
    if one.support == other.support:
        return one.merge(other)
    support = tuple(tuple(sorted({*a, *b})) for a, b in zip(one.support, other.support, strict=True))
    return _supported(one, support).merge(_supported(other, support))


def _supported(info: SquareRootInformation, support: tuple[tuple[int, ...], ...]) -> SquareRootInformation:
    factors = tuple(triangle(info.spread(j)[:, [*columns, -1]]) for j, columns in enumerate(support))
    return replace(info, support=support, factors=factors)
