"""What sections of a page are made of, before it is HTML: text is text, and is escaped when the page is written."""

from __future__ import annotations

from dataclasses import dataclass

STRONGEST_SHADE = 0.45


@dataclass(frozen=True)
class Cell:
    """One cell of a table: its text, a class of the style sheet, a hint when hovering, a shade from 0 to 1."""

    text: str
    kind: str = ""
    hint: str = ""
    strength: float = 0.0

    @property
    def shade(self) -> float:
        """Opacity of the background."""
        return round(STRONGEST_SHADE * min(max(self.strength, 0.0), 1.0), 2)


@dataclass(frozen=True)
class Table:
    """Head and rows of one length."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def heads(self) -> tuple[Cell, ...]:
        """The head as cells, aligned like the columns under it."""
        kinds = [cell.kind.split() for cell in self.rows[0]] if self.rows else [[]] * len(self.head)
        return tuple(
            Cell(text, "text" if {"text", "wrap"} & set(kind) else "")
            for text, kind in zip(self.head, kinds, strict=True)
        )


@dataclass(frozen=True)
class FindingCard:
    """A finding in the words of the page."""

    level: str
    title: str
    tag: str
    message: str
    cures: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """A heading, a note, and a table, findings or a plot under it (`figure` is HTML made by plotly)."""

    heading: str = ""
    note: str = ""
    table: Table | None = None
    findings: tuple[FindingCard, ...] = ()
    figure: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the page."""

    key: str
    title: str
    blocks: tuple[Block, ...]
