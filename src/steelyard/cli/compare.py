"""`steelyard compare`: two results, or a result and a model file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.cli.arguments import Names, seed_of
from steelyard.cli.output import only_ours_on_stdout, print_json, show

if TYPE_CHECKING:
    from steelyard.session.compare import Difference

SHOWN = 25


def compare(
    first: Path, second: Path, /, *, grid: bool = False, seed: int = 0, term: Names | None = None, json: bool = False
) -> None:
    """Two results beside one another, or a result and a model file: where they disagree, and by how much.

    Args:
        first: Directory of a session with a result.
        second: Another one, or a URDF or MJCF file.
        grid: Also compare gravity torques and mass matrices over random poses inside the limits.
        seed: Of the poses.
        term: Terms of the results, repeated when one of them is code of your own.
        json: One JSON object on stdout.
    """
    from steelyard.session.compare import compare as compared

    with only_ours_on_stdout():
        found = compared(first, second, grid=grid, seed=seed_of(seed), terms=tuple(term or ()))
    if json:
        print_json(found.as_dict())
        return
    show(f"{found.first} against {found.second}")
    _print_rows(found.rows, "parameters")
    if found.full:
        _print_rows(found.full, "full parameters")
    if found.grid is not None:
        show(f"over poses: mass matrices differ by up to {100 * found.grid.mass_matrix:.1f} %, least eigenvalues "
              f"{found.grid.least_eigenvalues[0]:.3g} and {found.grid.least_eigenvalues[1]:.3g}")  # fmt: skip
        for name, rms, peak, size in zip(
            found.grid.joint_names,
            found.grid.gravity_rms,
            found.grid.gravity_peak,
            found.grid.gravity_size,
            strict=True,
        ):
            show(f"  {name}: gravity torque differs by {rms:.3g} N m rms, {peak:.3g} peak, of {size:.3g}")


def _print_rows(rows: Sequence[Difference], what: str) -> None:
    apart = sum((row.deviations or 0.0) > 2.0 for row in rows)
    show(f"{apart} of {len(rows)} {what} differ by over two deviations")
    width = max(len(row.name) for row in rows)
    show(f"{'parameter':{width}}  {'first':>11} {'second':>11}  difference in deviations")
    for row in rows[:SHOWN]:
        away = "-" if row.deviations is None else f"{row.deviations:.1f}"
        show(f"{row.name:{width}}  {row.first:11.5g} {row.second:11.5g}  {away:>8} {row.unit}")
    if len(rows) > SHOWN:
        show(f"... and {len(rows) - SHOWN} that agree better (--json has all)")
