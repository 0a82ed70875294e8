"""Public conformance suites: what a term, an estimator or a reader of one's own must keep to.

Each `check_...` returns nothing when all is well and raises `NotConforming` with the law that was broken and numbers.
Our own terms, estimators and readers pass the same suites in `tests/`.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import random_states
from steelyard.data.trajectory import Trajectory
from steelyard.errors import SteelyardError
from steelyard.estimate.result import Estimate
from steelyard.information import SquareRootInformation, triangle
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.term import Column, Term

Array = NDArray[np.float64]
EXACT = 1e-8  # relative: least squares on noise-free data of condition under 1e3, with room for any stable method
ROUNDING = 1e-12  # relative: products of matrices round otherwise where they are cut into other blocks
SAMPLES = 64
RUNS = 300
LEVEL = (0.92, 0.975)  # coverage of 95 % intervals over RUNS x 6 values: four standard errors either side


class NotConforming(AssertionError):
    """A law of the suite does not hold."""


def check_term(term: Term, robot: Robot, *, seed: int = 0) -> None:
    """A term's columns are named, unique and placed; its block is finite, local in time and blind to torque.

    Args:
        term: the term.
        robot: one it is meant for.
        seed: of the random states it is tried on.

    Raises:
        NotConforming: with the law that is broken.
    """
    columns = term.columns(robot)
    n, k = len(robot.row_names), len(columns)
    _require(k > 0, "a term has columns", "columns(robot) is empty")
    _require(all(isinstance(column, Column) for column in columns), "columns(robot) gives Columns", columns)
    names = [column.name for column in columns]
    _require(len(set(names)) == k, "column names are unique", names)
    for column in columns:
        _require(bool(column.name) and bool(column.unit), "a column has a name and a unit", column)
        _require(
            bool(column.joints) and set(column.joints) <= set(range(n)),
            "a column says its joints, as rows of the robot",
            column,
        )
    motion = random_states(Model(robot, ()), SAMPLES, seed=seed)
    block = term.block(robot, motion)
    _require(isinstance(block, np.ndarray), "block is an array", type(block).__name__)
    _require(block.shape in ((SAMPLES, k), (SAMPLES, n, k)), "block is (T, k) or (T, n, k)", block.shape)
    _require(block.dtype == np.float64 and bool(np.isfinite(block).all()), "block is finite and float64", block.dtype)
    if block.ndim == 2:
        _require(all(len(c.joints) == 1 for c in columns), "a (T, k) block has one joint a column", columns)
    else:
        for c, column in enumerate(columns):
            rest = [j for j in range(n) if j not in column.joints]
            _require(not block[:, rest, c].any(), "a column acts on the joints it names", column)
    pieces = np.concatenate([term.block(robot, motion.samples(a, a + 16)) for a in range(0, SAMPLES, 16)])
    apart = float(np.abs(pieces - block).max())
    _require(apart <= ROUNDING * float(np.abs(block).max()), "samples do not depend on one another", apart)
    other = replace(motion, tau=motion.channel("q") + 7.0)
    _require(np.array_equal(term.block(robot, other), block), "a block does not look at torque", "it changed")
    _require(np.array_equal(term.block(robot, motion), block), "the same states give the same block", "it changed")


def check_estimator(
    fit: Callable[[SquareRootInformation], Estimate], *, truth_is_prior: bool = False, seed: int = 0
) -> None:
    """The laws of least squares on triangles.

    Exact on noise-free data; invariant to how the data were cut and merged; equivariant to the scale of columns;
    95 % intervals that cover; an honest finding when the data lack a direction.

    Args:
        fit: from information of the columns ``c0`` to ``c5`` to an estimate of them.
        truth_is_prior: the estimator holds the values `TRUTH` as its prior: it must then be exact, and the laws that
            speak of the data alone are not asked of it.
        seed: of all data.

    Raises:
        NotConforming: with the law that is broken.
    """
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((2, 120, len(TRUTH)))
    clean = fit(_information(rows, rows @ TRUTH))
    _close(clean.theta, TRUTH, "exact on noise-free data")
    if truth_is_prior:
        return
    noisy = rows @ TRUTH + np.array([[0.1], [0.5]]) * rng.standard_normal((2, 120))
    whole = fit(_information(rows, noisy))
    parts = [_information(rows[:, a:b], noisy[:, a:b]) for a, b in ((70, 120), (0, 7), (7, 70))]
    merged = fit(parts[0].merge(parts[1]).merge(parts[2]))
    _close(merged.theta, whole.theta, "invariant to chunks and their order")
    scale = 10.0 ** np.linspace(-3, 3, len(TRUTH))
    scaled = fit(_information(rows / scale, noisy))
    _close(scaled.theta / scale, whole.theta, "equivariant to the scale of columns")
    _close(scaled.deviation / scale, whole.deviation, "deviations equivariant to the scale of columns")
    covered = 0
    for _ in range(RUNS):
        sample = rows @ TRUTH + np.array([[0.1], [0.5]]) * rng.standard_normal((2, 120))
        low, high = fit(_information(rows, sample)).interval().T
        covered += int(np.sum((low <= TRUTH) & (high >= TRUTH)))
    share = covered / (RUNS * len(TRUTH))
    _require(LEVEL[0] <= share <= LEVEL[1], "95 % intervals cover", f"{share:.3f}")
    blind = rows.copy()
    blind[:, :, 3] = 2.0 * blind[:, :, 1]
    lost = fit(_information(blind, blind @ TRUTH))
    codes = [finding.code for finding in lost.findings]
    _require("fit.rank_deficient" in codes, "a lost direction is a finding", codes)
    _require(bool(np.isinf(lost.deviation[[1, 3]]).all()), "a lost direction has no deviation", lost.deviation)


TRUTH = np.array([1.0, -2.0, 0.5, 3.0, -0.25, 4.0])
"""What `check_estimator` asks for."""


def check_reader(read: Callable[[Path], Trajectory], path: str | Path) -> None:
    """A reader returns the same trajectory each time, bound to the file's bytes, and refuses what is broken.

    Args:
        read: from a file to a Trajectory.
        path: a sound file of its format.

    Raises:
        NotConforming: with the law that is broken.
    """
    path = Path(path)
    before = path.read_bytes()
    first, again = read(path), read(path)
    _require(path.read_bytes() == before, "a reader changes nothing", str(path))
    _require(first.source == hashlib.sha256(before).hexdigest(), "source is the SHA-256 of the file", first.source)
    _require(first.name == path.name, "name is the name of the file", first.name)
    _require(bool(first.joint_names) and len(first) > 0, "there are joints and samples", first.joint_names)
    _require(
        np.array_equal(first.time, again.time) and np.array_equal(first.channel("q"), again.channel("q")),
        "the same file gives the same samples",
        str(path),
    )
    with tempfile.TemporaryDirectory() as folder:
        broken = Path(folder, path.name)
        cases = {
            "a missing file": None,
            "an empty file": b"",
            "other bytes": bytes(range(256)) * 8,
        }
        for what, data in cases.items():
            broken.unlink(missing_ok=True)
            if data is not None:
                broken.write_bytes(data)
            _refuses(read, broken, what)
        _refuses(read, Path(folder), "a directory")


def _refuses(read: Callable[[Path], Trajectory], path: Path, what: str) -> None:
    try:
        read(path)
    except SteelyardError as error:
        _require(path.name in str(error), f"the refusal of {what} names the file", str(error))
        return
    raise NotConforming(f"{what} is refused with one of our errors: it was read")


def _information(rows: Array, torque: Array) -> SquareRootInformation:
    """Information of two joints with rows (2, T, k) and torque (2, T)."""
    k = rows.shape[2]
    return SquareRootInformation(
        names=tuple(f"c{i}" for i in range(k)),
        joints=("first", "second"),
        support=(tuple(range(k)),) * 2,
        factors=tuple(triangle(np.column_stack([y, tau])) for y, tau in zip(rows, torque, strict=True)),
        rows=(rows.shape[1],) * 2,
        samples=rows.shape[1],
    )


def _close(found: Array, expected: Array, law: str) -> None:
    error = float(np.max(np.abs(found - expected) / np.maximum(np.abs(expected), 1e-12)))
    _require(error <= EXACT, law, f"relative error {error:.2e}")


def _require(holds: bool, law: str, found: object) -> None:
    if not holds:
        raise NotConforming(f"{law}: {found}")
