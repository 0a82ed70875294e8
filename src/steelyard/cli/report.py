"""`steelyard report`: the page about a session."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.arguments import Names
from steelyard.cli.output import only_ours_on_stdout, print_json, say


def report(
    directory: Path, /, *, lang: str = "en", term: Names | None = None, json: bool = False, quiet: bool = False
) -> None:
    """Write report.html into a session: one page that needs no network, with the verdict first.

    Nothing is fitted again; recordings, result and model of the session are read and their hashes checked.

    Args:
        directory: A session with a result.
        lang: Language of the page, en or zh.
        term: Terms of the result, repeated when one of them is code of your own.
        json: Where the page is, as one JSON object on stdout.
        quiet: No messages on stderr.
    """
    from steelyard.report.page import add_report
    from steelyard.session.layout import REPORT
    from steelyard.session.workflow import now

    with only_ours_on_stdout():
        add_report(directory, time=now(), lang=lang, terms=tuple(term or ()))
    if json:
        print_json({"report": str(directory / REPORT), "lang": lang})
    say(f"written: {directory / REPORT}", quiet=quiet)
