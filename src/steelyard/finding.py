"""A finding: something a person should know about a model, a recording or a fit, with a stable code and a cure."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

Level = Literal["info", "warning", "error"]


@dataclass(frozen=True)
class Finding:
    """One observation with its cure.

    Attributes:
        code: dotted, stable name, e.g. ``data.gap`` (the list is in docs/interface.md).
        level: ``info``, ``warning`` or ``error``.
        message: one sentence a tired engineer understands, with units in brackets.
        where: file, line, joint or link.
        value: the number or text found.
        cure: what to do next.
    """

    code: str
    level: Level
    message: str
    where: str = ""
    value: float | int | str | None = None
    cure: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The finding as plain values, for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        place = f" [{self.where}]" if self.where else ""
        return f"{self.level}: {self.code}{place}: {self.message}"
