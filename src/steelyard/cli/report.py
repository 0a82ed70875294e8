"""`steelyard report`: the page about a session."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.output import say


def report(directory: Path, /, *, lang: str = "en", term: list[str] | None = None, quiet: bool = False) -> None:
    """Write report.html into a session: one page that needs no network, with the verdict first.

    Nothing is fitted again; recordings, result and model of the session are read and their hashes checked.

    Args:
        directory: A session with a result.
        lang: Language of the page, en or zh.
        term: Terms of the result, repeated when one of them is code of your own.
        quiet: No messages on stderr.
    """
    from steelyard.report.page import add_report
    from steelyard.session.layout import REPORT
    from steelyard.session.workflow import now

    add_report(directory, time=now(), lang=lang, terms=tuple(term or ()))
    say(f"written: {directory / REPORT}", quiet=quiet)
