"""Arguments that several verbs share: intervals and quiet progress."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from steelyard.errors import StudyError

Paths = Annotated[list[Path], Parameter(consume_multiple=True, negative=())]
"""One or more files behind one flag, `--train a.csv b.csv`."""
Names = Annotated[list[str], Parameter(consume_multiple=True, negative=())]
"""One or more names behind one flag, `--term viscous offset`."""
Numbers = Annotated[list[float], Parameter(consume_multiple=True, negative=())]
"""One or more numbers behind one flag, `--noise 0.5 0.2`."""


def interval(text: str | None) -> tuple[float, float] | None:
    """`A:B` in seconds of recording time as (A, B).

    Raises:
        StudyError: not two numbers with A before B.
    """
    if text is None:
        return None
    first, colon, last = text.partition(":")
    try:
        low, high = float(first), float(last)
    except ValueError:
        low, high = 0.0, -1.0
    plain = text.isascii() and "_" not in text  # float() takes digits of every script, and 1_0 for 10
    if not plain or not colon or not low < high or low in (float("inf"), float("-inf")) or high == float("inf"):
        raise StudyError(
            "an interval is two times in seconds, the earlier one first",
            value=text,
            cure="for example --train-interval 0:9.3",
        )
    return low, high


def required(verb: str, **arguments: object) -> None:
    """Raise StudyError when an argument that the verb needs was not given."""
    for name, value in arguments.items():
        if not value:
            raise StudyError(
                f"{verb} needs --{name.replace('_', '-')}, or the directory of a session",
                cure=f"steelyard {verb} --help",
            )


def excluded(what: str, **arguments: object) -> None:
    """Raise StudyError for an argument that goes with files of one's own, given beside a session."""
    for name, value in arguments.items():
        if value:
            raise StudyError(f"--{name} and the directory of {what} exclude each other: it has its own")


def outside(output: Path, inputs: Iterable[Path]) -> Path:
    """The output directory, absolute.

    Raises:
        StudyError: an input lies in it, and would be replaced with it.
    """
    target = Path(os.path.abspath(output))
    for path in inputs:
        if target == Path(os.path.abspath(path)) or target in Path(os.path.realpath(path)).parents:
            raise StudyError(
                "an input lies inside the output directory, and would be replaced with it",
                where=str(target),
                value=str(path),
                cure="name another --output",
            )
    return target


def seed_of(value: int) -> int:
    """A seed, checked; raises StudyError for a negative one."""
    if value < 0:
        raise StudyError("a seed is a whole number from 0", value=value)
    return value
