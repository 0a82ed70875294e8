"""What can go wrong with an input: each error says what, where, the value found, the valid choices and the cure."""

from __future__ import annotations

from collections.abc import Sequence


class SteelyardError(Exception):
    """Input that cannot be used.

    The parts stay readable on the exception, so that a caller can act on them and a message can be built
    in one place: `what` happened, `where` (file, line, joint, link), the `value` found, the valid `choices`
    and the `cure`.
    """

    def __init__(
        self,
        what: str,
        *,
        where: str = "",
        value: object = None,
        choices: Sequence[str] = (),
        cure: str = "",
    ) -> None:
        self.what, self.where, self.value = what, where, value
        self.choices, self.cure = tuple(choices), cure
        super().__init__(what, where, value, self.choices, cure)

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" if self.where else self.what
        if self.value is not None:
            text += f" (found {self.value!r})"
        if self.choices:
            text += "\n  valid: " + ", ".join(self.choices)
        if self.cure:
            text += f"\n  cure: {self.cure}"
        return text


class ModelError(SteelyardError):
    """A robot description that cannot be used."""


class DataError(SteelyardError):
    """A recording that cannot be used, or a request that does not fit it."""


class StudyError(SteelyardError):
    """A study file, an option or a term that cannot be understood."""


class InformationError(SteelyardError):
    """Information that cannot be combined: other names, other joints, or the same samples twice."""


class SessionError(SteelyardError):
    """A session directory or result that is damaged, foreign or contradictory."""
