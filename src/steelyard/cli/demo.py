"""`steelyard demo`: weigh a simulated arm and compare with the truth."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.arguments import seed_of
from steelyard.cli.output import print_json, say, show


def demo(
    *, output: Path | None = None, seed: int = 0, force: bool = False, json: bool = False, quiet: bool = False
) -> None:
    """Simulate an arm with friction, sensor noise and delay, record it, identify it, validate it, show the truth.

    Args:
        output: Directory for the session; none is kept without it.
        seed: Of the two motions and of all noise.
        force: Replace an output directory that is a session.
        json: The comparison as one JSON object on stdout.
        quiet: No progress on stderr.
    """
    from steelyard.report.page import add_report
    from steelyard.report.summary import summary
    from steelyard.session.demo import run_demo
    from steelyard.session.layout import REPORT
    from steelyard.session.store import check_target
    from steelyard.session.workflow import now

    if output is not None:
        check_target(output, force=force)
    shown = run_demo(output, seed=seed_of(seed), force=force, say=lambda line: say(line, quiet=quiet))
    if output is not None:
        add_report(output, time=now())
    if json:
        print_json({"run": shown.run.sentence, "truth": [row.as_dict() for row in shown.rows]})
        return
    show(summary(shown.run))
    show()
    show(shown.table())
    if output is not None:
        say(f"written: {output} (see {REPORT})", quiet=quiet)
