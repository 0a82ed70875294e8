#!/usr/bin/env python3
"""The judge: the one definition of every accuracy figure of this project. It knows nothing of the library.

    python benchmarks/score.py RECORDING.csv PREDICTION.csv --cutoff HZ [--interval A:B] [--json]

RECORDING has the columns time_s [s] and tau/<joint> [N m or N]; PREDICTION has time_s and tau_hat/<joint>, at any
sampling. The joints of the prediction are scored; each of them must be in the recording.

1. The measured torque is interpolated to a uniform grid over the whole recording, at the recording's median step dt.
2. On that grid it is low-passed: Butterworth of order 4 at the cut-off, forward and backward (scipy's filtfilt with its
   defaults). The prediction is not filtered.
3. The interval A..B [s, recording time; all of it by default] is cut out, then TRIM is taken off both its ends.
4. relative_error = |f - e| / |f|, a fraction, over all joints and grid points: f is the filtered measured torque, e the
   prediction interpolated to the grid. relative_error_unfiltered has the unfiltered torque in place of f.
5. A grid point is without a prediction when the nearest one is further away than max(2 dt, 0.1 / cut-off). Such points
   count, with the interpolated value, so that leaving samples out cannot hide an error; more than HOLES is refused.

Exit status: 0 scored, 2 usage, 3 a file that cannot be used.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass

import numpy as np
from scipy.signal import butter, filtfilt

ORDER = 4
TRIM = 0.3  # [s] at both ends of the interval
HOLES = 0.02  # share of the grid that may be without a prediction nearby


class Unusable(Exception):
    """A file or an interval that cannot be scored."""


@dataclass(frozen=True)
class Signals:
    """time (T,) [s] and one column of (T, n) values per name."""

    time: np.ndarray
    names: tuple[str, ...]
    values: np.ndarray

    def at(self, grid: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
        """Linear interpolation of the named columns to `grid`: (len(grid), len(names))."""
        columns = [self.values[:, self.names.index(name)] for name in names]
        return np.column_stack([np.interp(grid, self.time, column) for column in columns])


def read(path: str, prefix: str) -> Signals:
    """The columns time_s and <prefix>/<joint> of a CSV file."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            header = [cell.strip() for cell in file.readline().split(",")]
            rows = file.readlines()
        where = {cell.partition("/")[2]: k for k, cell in enumerate(header) if cell.startswith(f"{prefix}/")}
        if "time_s" not in header or not where:
            raise Unusable(f"{path}: needs the columns time_s and {prefix}/<joint>; found {', '.join(header)}")
        if len(rows) < 2:
            raise Unusable(f"{path}: needs at least two rows of numbers")
        table = np.loadtxt(rows, delimiter=",", ndmin=2)
    except (OSError, ValueError) as error:
        raise Unusable(f"{path}: {error}") from error
    if len(table) < 2 or table.shape[1] != len(header):
        raise Unusable(f"{path}: {table.shape[0]} rows of {table.shape[1]} numbers under {len(header)} names")
    signals = Signals(table[:, header.index("time_s")], tuple(where), table[:, list(where.values())])
    if not np.isfinite(signals.values).all() or not (np.diff(signals.time) >= 0).all():
        raise Unusable(f"{path}: every value must be finite and time must not go back")
    return signals


def score(
    measured: Signals, predicted: Signals, *, cutoff: float, interval: tuple[float, float] | None = None
) -> dict[str, object]:
    """Errors of a predicted torque, as defined at the top of this file.

    Args:
        measured: torque of the whole recording [N m or N].
        predicted: torque of the joints to score, at any sampling.
        cutoff: of the filter of the measured torque [Hz].
        interval: first and last second to score [s]; all of the recording by default.

    Raises:
        Unusable: a joint that was not recorded, a cut-off above half the sampling rate, an empty interval,
            or too many holes.
    """
    names = tuple(name for name in measured.names if name in predicted.names)
    if len(names) < len(predicted.names):
        raise Unusable(f"joints differ: recorded {sorted(names)}, predicted {sorted(predicted.names)}")
    step = float(np.median(np.diff(measured.time)))
    if not 0 < cutoff < 0.5 / step:
        raise Unusable(
            f"the cut-off must lie between 0 and {0.5 / step:g} Hz, half the sampling rate; found {cutoff:g}"
        )
    grid = np.arange(measured.time[0], measured.time[-1], step)
    raw = measured.at(grid, names)
    numerator, denominator = butter(ORDER, 2 * cutoff * step)
    if len(grid) <= 3 * (ORDER + 1):
        raise Unusable(f"the recording is too short to be filtered: {len(grid)} samples")
    smooth = filtfilt(numerator, denominator, raw, axis=0)

    first, last = interval if interval is not None else (measured.time[0], measured.time[-1])
    inside = (grid >= first + TRIM) & (grid <= last - TRIM)
    if not inside.any():
        raise Unusable(f"nothing is left of the interval {first:g}:{last:g} s after {TRIM} s off both ends")
    holes = float(np.mean(distance(grid[inside], predicted.time) > max(2 * step, 0.1 / cutoff)))
    if holes > HOLES:
        raise Unusable(f"the prediction is missing for {100 * holes:.1f} % of the interval")
    return errors(names, smooth[inside], raw[inside], predicted.at(grid[inside], names))


def distance(grid: np.ndarray, stamps: np.ndarray) -> np.ndarray:
    """From every grid point to the nearest stamp [s]."""
    after = np.clip(np.searchsorted(stamps, grid), 1, len(stamps) - 1)
    return np.minimum(np.abs(stamps[after - 1] - grid), np.abs(stamps[after] - grid))


def errors(names: tuple[str, ...], smooth: np.ndarray, raw: np.ndarray, predicted: np.ndarray) -> dict[str, object]:
    """The figures, from (T, n) filtered, unfiltered and predicted torque on one grid."""
    norm, missed = np.linalg.norm, smooth - predicted
    rmse = np.sqrt((missed**2).mean(axis=0)).round(4).tolist()
    relative = (norm(missed, axis=0) / norm(smooth, axis=0)).round(4).tolist()
    return {
        "relative_error": float(norm(missed) / norm(smooth)),
        "relative_error_unfiltered": float(norm(raw - predicted) / norm(raw)),
        "samples": len(smooth),
        "rmse_per_joint": dict(zip(names, rmse, strict=True)),
        "relative_error_per_joint": dict(zip(names, relative, strict=True)),
    }


def seconds(text: str) -> tuple[float, float]:
    """'A:B' as two numbers [s]."""
    first, _, last = text.partition(":")
    return float(first), float(last)


def main(arguments: list[str] | None = None) -> int:
    """Read both files, print the score; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording")
    parser.add_argument("prediction")
    parser.add_argument("--cutoff", type=float, required=True, metavar="HZ")
    parser.add_argument("--interval", type=seconds, metavar="A:B")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(arguments)
    try:
        measured, predicted = read(given.recording, "tau"), read(given.prediction, "tau_hat")
        result = score(measured, predicted, cutoff=given.cutoff, interval=given.interval)
    except Unusable as error:
        print(error, file=sys.stderr)
        return 3
    if given.json:
        print(json.dumps(result))
    else:
        filtered, unfiltered = result["relative_error"], result["relative_error_unfiltered"]
        print(f"{100 * filtered:.3f} % filtered, {100 * unfiltered:.3f} % unfiltered")
    return 0


if __name__ == "__main__":
    sys.exit(main())
