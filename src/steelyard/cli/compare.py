"""`steelyard compare`: two results, or a result and a model file."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.arguments import seed_of
from steelyard.cli.output import print_json

SHOWN = 25


def compare(first: Path, second: Path, /, *, grid: bool = False, seed: int = 0, json: bool = False) -> None:
    """Two results beside one another, or a result and a model file: where they disagree, and by how much.

    Args:
        first: Directory of a session with a result.
        second: Another one, or a URDF file.
        grid: Also compare gravity torques and mass matrices over random poses inside the limits.
        seed: Of the poses.
        json: One JSON object on stdout.
    """
    from steelyard.session.compare import compare as compared

    found = compared(first, second, grid=grid, seed=seed_of(seed))
    if json:
        print_json(found.as_dict())
        return
    apart = sum((row.deviations or 0.0) > 2.0 for row in found.rows)
    print(
        f"{found.first} against {found.second}: {apart} of {len(found.rows)} parameters differ by over two deviations"
    )
    width = max(len(row.name) for row in found.rows)
    print(f"{'parameter':{width}}  {'first':>11} {'second':>11}  difference in deviations")
    for row in found.rows[:SHOWN]:
        away = "-" if row.deviations is None else f"{row.deviations:.1f}"
        print(f"{row.name:{width}}  {row.first:11.5g} {row.second:11.5g}  {away:>8} {row.unit}")
    if len(found.rows) > SHOWN:
        print(f"... and {len(found.rows) - SHOWN} that agree better (--json has all)")
    if found.grid is not None:
        print(f"over poses: mass matrices differ by up to {100 * found.grid.mass_matrix:.1f} %, least eigenvalues "
              f"{found.grid.least_eigenvalues[0]:.3g} and {found.grid.least_eigenvalues[1]:.3g}")  # fmt: skip
        for name, rms, peak, size in zip(
            found.grid.joint_names,
            found.grid.gravity_rms,
            found.grid.gravity_peak,
            found.grid.gravity_size,
            strict=True,
        ):
            print(f"  {name}: gravity torque differs by {rms:.3g} N m rms, {peak:.3g} peak, of {size:.3g}")
