"""A bar on stderr while an excitation is searched; nothing where stderr is not a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from steelyard.excite.search import Progress


@contextmanager
def search_bar(budget: float, *, quiet: bool) -> Iterator[Callable[[Progress], None]]:
    """Gives the function that a search tells its progress to.

    Args:
        budget: CPU seconds.
        quiet: no bar, whatever stderr is.
    """
    if quiet or not sys.stderr.isatty():
        yield lambda told: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("searching (Ctrl-C keeps the best so far)", total=1.0)

        def show(told: Progress) -> None:
            share = max(told.done / told.planned, told.seconds / budget)
            bar.update(task, completed=share, description=f"search {told.done}, best {told.value:.4g}")

        yield show
