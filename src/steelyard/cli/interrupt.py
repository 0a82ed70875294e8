"""Ctrl-C during a search: the first is a wish, heeded where the best so far is whole; the next one ends the program."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_HEEDED = "steelyard: stopping after this step; the best motion so far is certified and kept (Ctrl-C again: at once)"


@contextmanager
def heeded() -> Iterator[Callable[[], bool]]:
    """Gives a function that says whether Ctrl-C was pressed; a second press raises KeyboardInterrupt as ever."""
    pressed: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if pressed:
            raise KeyboardInterrupt
        pressed.append(number)
        print(_HEEDED, file=sys.stderr, flush=True)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, before)
