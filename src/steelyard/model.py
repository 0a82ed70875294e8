"""A model: a robot and the terms that make up its torque, `tau = Y(q, dq, ddq) theta`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, InformationError, StudyError
from steelyard.information import Source, SquareRootInformation
from steelyard.robot.filtered import FilteredReducer
from steelyard.robot.floating import usable_rows, with_wrench
from steelyard.robot.kernel import Plan
from steelyard.robot.reduction import Reducer, Samples
from steelyard.robot.regressor import NO_MASK, build_plan, torque_of
from steelyard.robot.robot import Robot
from steelyard.terms.asking import block_of, columns_of
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.term import Column, Term

Array = NDArray[np.float64]
BLOCK_SAMPLES = 8192  # what is evaluated at once: large enough to hide the interpreter, small enough to be forgotten


class Parameters(Protocol):
    """Anything that gives values for a model's columns."""

    def full(self, columns: tuple[str, ...]) -> Array:
        """(p,) values of the columns named."""


@dataclass(frozen=True)
class Model:
    """Robot and terms.

    Raises:
        StudyError: two columns have one name.
    """

    robot: Robot
    terms: tuple[Term, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "terms", tuple(self.terms))
        seen: set[str] = set()
        rows = range(len(self.robot.row_names))
        for column in self.columns:
            if not isinstance(column, Column) or not isinstance(column.name, str) or not column.name:
                raise StudyError("a term's columns are Column values with names", value=repr(column)[:200])
            if not column.joints or any(j not in rows for j in column.joints):
                raise StudyError(
                    "a column names the rows it acts on, by index",
                    where=column.name,
                    value=column.joints,
                    choices=[f"{j}: {name}" for j, name in enumerate(self.robot.row_names)],
                )
            if column.name in seen:
                raise StudyError("two terms have a column of the same name", value=column.name)
            seen.add(column.name)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """All p columns, term after term."""
        return tuple(column for term in self.terms for column in columns_of(term, self.robot))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the p columns."""
        return tuple(column.name for column in self.columns)

    @property
    def nominal(self) -> Array:
        """(p,) values of the model file, zero for what it does not hold."""
        rigid = dict(zip((c.name for c in RigidBody().columns(self.robot)), self.robot.parameters, strict=True))
        known = {**rigid}
        for axis in self.robot.axes:
            known[f"actuator/{axis.name}/viscous_friction"] = axis.damping
            known[f"actuator/{axis.name}/coulomb_friction"] = axis.friction
            known[f"actuator/{axis.name}/rotor_inertia"] = axis.rotor_inertia
        return np.array([known.get(name, 0.0) for name in self.names])

    def absorb(
        self,
        trajectories: Sequence[Trajectory],
        *,
        names: Iterable[str] | None = None,
        lowpass: LowPass | None = None,
        threads: int = 1,
    ) -> SquareRootInformation:
        """Square-root information of `[Y | tau]` over the valid rows of all trajectories, in constant memory.

        Args:
            trajectories: prepared (q, dq, ddq, tau) recordings; give a list, also for one.
            names: the columns wanted, e.g. those of a ParameterBasis; None for all.
            lowpass: filter and decimate torque and every regressor column alike (parallel filtering), which needs a
                uniform clock inside the segments.
            threads: kernels release the interpreter lock; results differ between thread counts in the last bits.

        Raises:
            DataError: a channel or joint is missing.
            InformationError: the same samples twice.
            StudyError: a number of threads that is none.
        """
        if isinstance(trajectories, Trajectory):
            raise DataError("recordings come as a list", where=trajectories.name, cure="write [trajectory]")
        if not isinstance(threads, int) or threads < 1:
            raise StudyError("threads are counted from one", value=threads)
        layout = Layout.of(self, names)
        cut = [w for trajectory in trajectories for w in _windows(trajectory, lowpass)]
        if threads > 1 and len(cut) > 1:
            shares = [cut[len(cut) * t // threads : len(cut) * (t + 1) // threads] for t in range(threads)]
            with ThreadPoolExecutor(threads) as pool:
                parts = list(pool.map(lambda share: _reduce(self, layout, share, lowpass), shares))
        else:
            parts = [_reduce(self, layout, cut, lowpass)]
        total = parts[0]
        for part in parts[1:]:
            total = total.merge(part)
        return total

    def torque(self, theta: Array, trajectory: Trajectory) -> Array:
        """(T, n) torque of the parameters theta (p,) along a trajectory with q, dq, ddq [N m or N].

        Of a robot whose base floats (T, 6 + n), the rows of `Robot.row_names`: force and torque on the base first.
        """
        if np.shape(theta) != (len(self.names),):
            raise StudyError(f"theta must have {len(self.names)} values, one a column", value=np.shape(theta))
        layout = Layout.of(self, None)
        weights = np.zeros(int(layout.plan.start[-1]))
        for j, columns in enumerate(layout.support):
            first = layout.plan.start[j]
            weights[first : first + len(columns)] = np.asarray(theta, dtype=np.float64)[list(columns)]
        parts = [
            torque_of(self.robot.tree, layout.plan, self._samples(block, layout, masked=False), weights)
            for block in _blocks(trajectory)
        ]
        return np.concatenate(parts)

    def predict(self, estimate: Parameters, trajectory: Trajectory) -> Array:
        """(T, n) torque of an estimate along a trajectory with q, dq, ddq [N m or N]."""
        return self.torque(estimate.full(self.names), trajectory)

    def regressor(self, trajectory: Trajectory) -> Array:
        """(T, n, p) regressor written out, for small data and tests; (T, 6 + n, p) where the base floats."""
        n = len(self.robot.row_names)
        parts = []
        for term in self.terms:
            columns = columns_of(term, self.robot)
            values = block_of(term, self.robot, trajectory.ordered(self.robot.joint_names), len(columns))
            dense = np.zeros((len(trajectory), n, len(columns)))
            for c, column in enumerate(columns):
                if values.ndim == 2:
                    dense[:, column.joints[0], c] = values[:, c]
                else:
                    dense[:, list(column.joints), c] = values[:, list(column.joints), c]
            parts.append(dense)
        return np.concatenate(parts, axis=2)

    def _samples(self, trajectory: Trajectory, layout: Layout, *, masked: bool) -> Samples:
        """Kernel inputs of one block; without `masked` every row counts and the torque is left at zero."""
        robot = self.robot
        trajectory = trajectory.ordered(robot.joint_names)
        T, n = len(trajectory), len(robot.row_names)
        extra = np.zeros((len(layout.extras) + n, T))
        row = 0
        for term, columns in layout.features:
            values = block_of(term, robot, trajectory, len(columns))
            for c, column in enumerate(columns):
                for joint in column.joints if column.name in layout.wanted else ():
                    extra[row] = values[:, c] if values.ndim == 2 else values[:, joint, c]
                    row += 1
        if masked:
            extra[row:] = with_wrench(trajectory, floating=robot.floating).T
        q = robot.positions(trajectory) if robot.joints else np.zeros((T, n))
        dq, ddq = robot.rates(trajectory) if robot.joints else (np.zeros((T, n)), np.zeros((T, n)))
        mask = _row_scale(trajectory, floating=robot.floating) if masked else NO_MASK
        return Samples(
            np.ascontiguousarray(q),
            np.ascontiguousarray(dq),
            np.ascontiguousarray(ddq),
            np.ascontiguousarray(mask),
            extra,
        )


@dataclass(frozen=True)
class Layout:
    """How a model's columns map to the kernel's panels."""

    names: tuple[str, ...]
    wanted: frozenset[str]
    support: tuple[tuple[int, ...], ...]
    features: tuple[tuple[Term, tuple[Column, ...]], ...]
    extras: tuple[tuple[int, int], ...]
    plan: Plan

    @classmethod
    def of(cls, model: Model, names: Iterable[str] | None) -> Layout:
        picked = model.names if names is None else tuple(names)
        unknown = [name for name in picked if name not in model.names]
        if unknown:
            raise StudyError("not a column of the model", value=unknown[0], choices=model.names)
        if len(set(picked)) != len(picked):
            raise StudyError("a column is named twice", value=next(n for n in picked if picked.count(n) > 1))
        place = {name: k for k, name in enumerate(picked)}
        columns = {column.name: column for column in model.columns}
        support: list[list[int]] = [[] for _ in model.robot.row_names]
        for k, name in enumerate(picked):
            for joint in columns[name].joints:
                support[joint].append(k)
        rigid = np.full(10 * len(model.robot.joints), -1, dtype=np.int64)
        features: list[tuple[Term, tuple[Column, ...]]] = []
        extras: list[tuple[int, int]] = []
        for term in model.terms:
            own = columns_of(term, model.robot)
            if isinstance(term, RigidBody):
                rigid = np.array([place.get(column.name, -1) for column in own], dtype=np.int64)
            elif any(column.name in place for column in own):
                features.append((term, own))
                extras += [(j, place[column.name]) for column in own if column.name in place for j in column.joints]
        return cls(
            names=picked,
            wanted=frozenset(picked),
            support=tuple(tuple(s) for s in support),
            features=tuple(features),
            extras=tuple(extras),
            plan=build_plan(model.robot.tree, support, rigid, extras),
        )


def _blocks(trajectory: Trajectory) -> Iterator[Trajectory]:
    for start in range(0, len(trajectory), BLOCK_SAMPLES):
        yield trajectory.samples(start, min(start + BLOCK_SAMPLES, len(trajectory)))


def _row_scale(trajectory: Trajectory, *, floating: bool) -> Array:
    """(T, rows) what each row is multiplied by: the root of its weight, 0 to leave it out; empty for ones."""
    valid = usable_rows(trajectory, floating=floating)
    if trajectory.weight is None:
        return NO_MASK if valid is None else valid.astype(np.float64)
    base = np.ones((len(trajectory), 6 if floating else 0))  # weights are of joints
    scale = np.hstack([base, np.sqrt(trajectory.weight)])
    return scale if valid is None else np.where(valid, scale, 0.0)


class _Window(NamedTuple):
    """Samples to evaluate at once, and which of them count (the others only let a filter settle)."""

    samples: Trajectory
    keep: NDArray[np.int64]


def _windows(trajectory: Trajectory, lowpass: LowPass | None) -> Iterator[_Window]:
    if lowpass is None or len(trajectory) < 2:
        for block in _blocks(trajectory):
            yield _Window(block, np.arange(len(block)))
        return
    settling = lowpass.settling(trajectory.step)
    for segment in trajectory.segments:
        for start in range(segment.start, segment.stop, BLOCK_SAMPLES):
            stop = min(start + BLOCK_SAMPLES, segment.stop)
            low, high = max(segment.start, start - settling), min(segment.stop, stop + settling)
            first = start + (segment.start - start) % lowpass.keep_every
            if first < stop:
                yield _Window(trajectory.samples(low, high), np.arange(first - low, stop - low, lowpass.keep_every))


def _reduce(model: Model, layout: Layout, windows: Sequence[_Window], lowpass: LowPass | None) -> SquareRootInformation:
    """Absorb windows in one thread."""
    rows = np.zeros(len(model.robot.row_names), dtype=np.int64)
    samples = 0
    sources: list[Source] = []
    plain = Reducer(model.robot.tree, layout.plan)
    filtered = None if lowpass is None else FilteredReducer(model.robot.tree, layout.plan, lowpass)
    for window in windows:
        data = model._samples(window.samples, layout, masked=True)
        if filtered is None:
            plain.absorb(data)
            rows += len(window.keep) if data.mask.size == 0 else np.count_nonzero(data.mask, axis=0)
        else:
            rows += filtered.absorb(data, window.samples.step, window.keep)
        used = window.keep if data.mask.size == 0 else window.keep[(data.mask[window.keep] > 0.0).any(axis=1)]
        samples += len(used)
        if used.size:
            first, last = (float(window.samples.time[k]) for k in used[[0, -1]])
            step = window.samples.step * (1 if lowpass is None else lowpass.keep_every)
            _note_source(sources, Source(window.samples.source, first, last), step=step)
    return SquareRootInformation(
        names=layout.names,
        joints=model.robot.row_names,
        support=layout.support,
        factors=tuple((plain if filtered is None else filtered).factors()),
        rows=tuple(int(r) for r in rows),
        samples=samples,
        sources=frozenset(sources),
    )


def _note_source(sources: list[Source], new: Source, *, step: float) -> None:
    """Keep the stretches of each recording apart, joining blocks that follow one another within a step."""
    for known in sources:
        if known.overlaps(new):
            raise InformationError(
                "the same samples were given twice",
                where=f"recording {new.digest[:12]}",
                value=f"{new.start:.13g} to {new.stop:.13g} s",
                cure="name each stretch of a recording once; runs in one file need clocks that do not start again",
            )
    last = sources[-1] if sources else None
    if last is not None and last.digest == new.digest and 0.0 < new.start - last.stop <= 1.5 * step:
        sources[-1] = Source(new.digest, last.start, new.stop)
    else:
        sources.append(new)
