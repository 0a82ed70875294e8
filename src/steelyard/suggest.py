"""Did you mean: the closest valid name to a mistyped one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def closest(name: str, choices: Iterable[str]) -> str | None:
    """The choice most like `name` (capital letters ignored), or None when nothing comes near."""
    by_folded = {choice.casefold(): choice for choice in choices}
    match = get_close_matches(name.casefold()[:200], by_folded, n=1, cutoff=0.6)
    return by_folded[match[0]] if match else None


def did_you_mean(name: str, choices: Iterable[str], *, otherwise: str) -> str:
    """A cure that names the closest choice, or `otherwise` when nothing comes near."""
    match = closest(name, choices)
    return f'did you mean "{match}"?' if match else otherwise
