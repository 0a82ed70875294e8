"""The `steelyard` command: its verbs, and what happens to errors.

Exit status: 0 the work was done, 1 a gate failed, 2 usage, 3 input that cannot be used, 130 interrupted.
Verbs are imported when they are called, so that `--help` answers at once.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cyclopts import App, CycloptsError
from rich.console import Console

from steelyard.cli import (
    base,
    check,
    compare,
    demo,
    doctor,
    excite,
    export,
    identify,
    info,
    init,
    lint,
    payload,
    report,
    validate,
)
from steelyard.cli.output import say
from steelyard.errors import SteelyardError
from steelyard.version import __version__

USAGE, INPUT, INTERRUPTED = 2, 3, 130

app = App(
    name="steelyard",
    help="Identify a robot's dynamics from recordings of joint positions and torques.",
    version=__version__,
    error_console=Console(stderr=True),
    result_action="return_value",
)
for verb in (
    demo.demo,
    lint.lint,
    info.info,
    base.base,
    excite.excite,
    check.check,
    init.init,
    identify.identify,
    validate.validate,
    compare.compare,
    report.report,
    doctor.doctor,
    export.export,
    payload.payload,
):
    app.command(verb)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command and leave with its exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter is no reason to fail
    try:
        status = app(sys.argv[1:] if arguments is None else list(arguments), exit_on_error=False, print_error=True)
    except CycloptsError:
        sys.exit(USAGE)
    except SteelyardError as error:
        say(f"steelyard: {error}")
        sys.exit(INPUT)
    except KeyboardInterrupt:
        print("steelyard: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            print(f"steelyard: {error}", file=sys.stderr)
            sys.exit(INPUT)
        sys.stderr.close()
        sys.exit(0)
    sys.exit(status if isinstance(status, int) else 0)
