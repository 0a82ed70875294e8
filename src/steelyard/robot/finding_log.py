"""Findings gathered while one file is read, each with its place; sorted by severity and line at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from steelyard.finding import Finding, Level
from steelyard.suggest import did_you_mean

_RANK: dict[Level, int] = {"error": 0, "warning": 1, "info": 2}
_MOST_OF_A_KIND = 200  # findings with one code and level; a broken file could bring a hundred thousand
_MOST_LOOKUPS = 100  # did-you-mean searches, each over at most _MOST_CHOICES names
_MOST_CHOICES = 1000


@dataclass(frozen=True)
class Place:
    """A line of the file and what stands there, e.g. ``link 'arm'``."""

    line: int
    subject: str


class FindingLog:
    """The findings about one file, so far."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._entries: list[tuple[int, int, Finding]] = []
        self._count: Counter[tuple[str, Level]] = Counter()
        self._lookups = 0

    def add(
        self,
        level: Level,
        code: str,
        message: str,
        at: Place,
        *,
        value: float | int | str | None = None,
        cure: str = "",
    ) -> None:
        """Note one finding."""
        self._count[code, level] += 1
        if self._count[code, level] > _MOST_OF_A_KIND:
            return
        where = f"{self._file}:{at.line}" + (f", {at.subject}" if at.subject else "")
        finding = Finding(code=code, level=level, message=message, where=where, value=value, cure=cure)
        self._entries.append((_RANK[level], at.line, finding))

    def suggest(self, name: str, choices: Collection[str], *, otherwise: str) -> str:
        """A cure that names the closest choice; `otherwise` where none is close, or the file has asked too often."""
        self._lookups += 1
        if self._lookups > _MOST_LOOKUPS or len(choices) > _MOST_CHOICES:
            return otherwise
        return did_you_mean(name, choices, otherwise=otherwise)

    @property
    def has_errors(self) -> bool:
        """Whether an error is among them."""
        return any(rank == 0 for rank, _, _ in self._entries)

    def findings(self) -> tuple[Finding, ...]:
        """Errors first, then warnings, then infos, each by line; at most 200 of a kind, the rest counted."""
        entries = list(self._entries)
        for (code, level), count in self._count.items():
            if count > _MOST_OF_A_KIND:
                message = f"{count - _MOST_OF_A_KIND} more findings of this kind are not listed"
                entries.append((_RANK[level], 1 << 60, Finding(code, level, message, self._file, count)))
        return tuple(entry[2] for entry in sorted(entries, key=lambda entry: entry[:2]))
