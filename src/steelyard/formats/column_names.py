"""From the names in a file to the names of the contract, with one `*` for whatever follows a common prefix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from steelyard.data.contract import TIME, split_name
from steelyard.errors import StudyError
from steelyard.suggest import did_you_mean

NO_NAMES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class ColumnNames:
    """A mapping of column names.

    Attributes:
        rename: name in the file -> name of the contract; one `*` on both sides stands for the same text.
        ignore: names in the file that are left out; a `*` stands for any text.

    Raises:
        StudyError: a target outside the contract, or a `*` on one side only.
    """

    rename: Mapping[str, str] = field(default_factory=lambda: NO_NAMES)
    ignore: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for theirs, ours in self.rename.items():
            if ours != TIME and split_name(ours) is None:
                raise StudyError(
                    "a column can only be mapped to a column of the contract",
                    where=f'[recording.columns] "{theirs}"',
                    value=ours,
                    choices=(TIME, "q/<joint>", "dq/<joint>", "ddq/<joint>", "tau/<joint>"),
                    cure="the part before the slash says what the column measures, after it which joint",
                )
            if theirs.count("*") != ours.count("*") or theirs.count("*") > 1:
                raise StudyError(
                    "a mapping has one * on both sides, or none",
                    where="[recording.columns]",
                    value=f"{theirs} = {ours}",
                    cure='"position_*" = "q/*" maps position_elbow to q/elbow',
                )

        for pattern in self.ignore:
            if pattern.count("*") > 1:
                raise StudyError(
                    "a pattern has one * at most", where="[recording] ignore", value=pattern, cure='e.g. "debug/*"'
                )

    def translate(self, names: Sequence[str], *, where: str) -> tuple[str, ...]:
        """Our name for every name in the file; empty where the column is ignored.  An exact name beats a pattern.

        Raises:
            StudyError: a mapping that matches no column, two columns mapped to one name.
        """
        ours = tuple(self._ours(name) for name in names)
        for theirs in self.rename:
            if not any(_matched(theirs, name) is not None for name in names):
                raise StudyError(
                    "the study maps a column that the recording does not have",
                    where=where,
                    value=theirs,
                    choices=tuple(names[:40]),
                    cure=did_you_mean(theirs, names, otherwise="correct or delete the line in [recording.columns]"),
                )
        first: dict[str, str] = {}
        for name, own in zip(names, ours, strict=True):
            if own and own in first:
                raise StudyError(
                    f"two columns are read as {own}",
                    where=where,
                    value=f"{first[own]} and {name}",
                    cure="ignore one of them: [recording] ignore = [...]",
                )
            first[own] = name
        return ours

    def _ours(self, name: str) -> str:
        if name in self.rename:
            return self.rename[name]
        if name in self.ignore:
            return ""
        for theirs, ours in self.rename.items():
            rest = _matched(theirs, name)
            if rest is not None:
                return ours.replace("*", rest)
        return "" if any(_matched(pattern, name) is not None for pattern in self.ignore) else name


def _matched(pattern: str, name: str) -> str | None:
    """The text that `*` stands for ("" when the pattern has none), or None when the name does not match."""
    before, star, after = pattern.partition("*")
    if not star:
        return "" if pattern == name else None
    inside = len(name) > len(before) + len(after) and name.startswith(before) and name.endswith(after)
    return name[len(before) : len(name) - len(after)] if inside else None
