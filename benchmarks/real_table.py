"""Accuracy on recordings of real robots: what a default run reaches on unseen motion, beside plain least squares.

    STEELYARD_REAL_DATA=folder python benchmarks/real_table.py

Figures by the definition of score.py, computed from the prediction files that the tool writes. The bar is what ordinary
and weighted least squares reach with a hand-made preparation on the same split.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from score import read, score

from steelyard.formats.csv import write_prediction
from steelyard.session.run import Request, run


@dataclass(frozen=True)
class Case:
    """One row: files, split, cut-off [Hz], and the relative errors [%] of plain and weighted least squares."""

    name: str
    robot: str
    train: str
    validate: str
    cutoff: float
    bar: tuple[float, float]
    train_interval: tuple[float, float] | None = None
    validate_interval: tuple[float, float] | None = None


CASES = (
    Case("panda_gaz", "panda_gaz/panda.urdf", "panda_gaz/raw.csv", "panda_gaz/raw.csv", 10.0, (1.82, 1.65),
         (0.0, 9.3), (9.3, 13.3)),
    Case("panda_gaz -> panda_unisa", "panda_gaz/panda.urdf", "panda_gaz/raw.csv", "panda_unisa/raw.csv", 4.0,
         (4.20, 4.20)),
    Case("ur10_unisa", "ur10_unisa/ur10.urdf", "ur10_unisa/raw.csv", "ur10_unisa/raw.csv", 8.0, (8.45, 8.05),
         (0.0, 19.264), (19.264, 27.52)),
    Case("tx40, no wrist columns", "tx40/tx40.urdf", "tx40/joint_side.csv", "tx40/joint_side.csv", 10.0,
         (16.7, 16.8), (0.0, 5.0), (5.0, 7.3)),
)  # fmt: skip


def main() -> None:
    """Print the table."""
    folder = os.environ.get("STEELYARD_REAL_DATA", "")
    if not Path(folder, "panda_gaz").is_dir():
        sys.exit("set STEELYARD_REAL_DATA to the folder with the recordings")
    print(f"{'run':26} {'filtered':>9} {'unfiltered':>10} {'OLS':>6} {'WLS':>6} {'URDF+friction':>13} {'CPU s':>6}")
    for case in CASES:
        started = time.process_time()
        outcome = run(
            Request(
                model=Path(folder, case.robot),
                train=(Path(folder, case.train),),
                validate=(Path(folder, case.validate),),
                train_interval=case.train_interval,
                validate_interval=case.validate_interval,
                score_cutoff=case.cutoff,
            )
        )
        spent = time.process_time() - started
        validation = outcome.validations[0]
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch, "prediction.csv")
            write_prediction(
                file, validation.prediction.time, validation.score.joint_names, validation.prediction.torque
            )
            judged = score(
                read(str(Path(folder, case.validate)), "tau"),
                read(str(file), "tau_hat"),
                cutoff=case.cutoff,
                interval=case.validate_interval,
            )
        if abs(judged["relative_error"] - validation.score.relative_error) > 1e-6:
            sys.exit(f"{case.name}: the tool says {validation.score.relative_error}, score.py {judged}")
        print(
            f"{case.name:26} {100 * judged['relative_error']:8.2f}% {100 * judged['relative_error_unfiltered']:9.2f}% "
            f"{case.bar[0]:6.2f} {case.bar[1]:6.2f} {100 * validation.baseline_urdf_friction:12.1f}% {spent:6.2f}"
        )


if __name__ == "__main__":
    main()
