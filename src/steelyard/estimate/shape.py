"""Shape parameters of terms by variable projection: the linear parameters are solved for at every trial.

A term with one nonlinear shape parameter a joint (the Stribeck speed) is given as a family. Trial values become columns
of their own, absorbed together in one pass; the misfit of every choice, all linear parameters optimal, is then read
from the triangles (Golub & Pereyra 1973). A pass or three narrow the trials down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis, base_parameters
from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.estimate.least_squares import weighted
from steelyard.estimate.result import Estimate
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.stribeck import Stribeck
from steelyard.terms.term import Column, Term

Array = NDArray[np.float64]
TRIALS = 9  # values tried in one pass, evenly spaced in their logarithm
PASSES = 4
NARROW = 0.25  # what a pass leaves of the range on either side of the best
SWEEPS = 4  # over the joints, whose choices depend on one another through the rigid bodies
SHOWN = 16.0  # likelihood ratio (log, twice) from which a joint shows the effect at all: four deviations
DIFFERENCE = 0.01  # relative step by which the term is differentiated by its shape
SPEEDS = (0.003, 1.0)  # [rad/s or m/s] Stribeck speeds that are looked for


@dataclass(frozen=True)
class ShapeFit:
    """A model with its shape parameters found.

    Attributes:
        model: with the term at its best shape, for the joints that show it; the model without it where none does.
        estimate: weighted least squares of that model, the shape taken as known.
        shape: (n,) shape parameter of each joint; nan where a joint does not show the effect.
        deviation: (n,) its standard deviation, all linear parameters free.
        ratio: (n,) twice the logarithm of the likelihood ratio of the term in that joint.
    """

    model: Model
    estimate: Estimate
    shape: Array
    deviation: Array
    ratio: Array

    def __post_init__(self) -> None:
        for array in (self.shape, self.deviation, self.ratio):
            array.setflags(write=False)


Family = Callable[[tuple[float, ...], tuple[str, ...]], Term]


def fit_stribeck(
    model: Model,
    trajectories: Sequence[Trajectory],
    *,
    exponent: float = 2.0,
    speeds: tuple[float, float] = SPEEDS,
    lowpass: LowPass | None = None,
) -> ShapeFit:
    """Add Stribeck friction to a model, with the speed of each joint that shows it found from the data.

    Args:
        model: with `Viscous` and `Coulomb`, without `Stribeck`.
        trajectories: prepared recordings, as for `Model.absorb`; the slow motion must not be masked away.
        exponent: of `Stribeck`.
        speeds: range of the speeds [rad/s or m/s].
        lowpass: as for `Model.absorb`.

    Raises:
        StudyError: a range that is none.
        DataError: no rows at all, or a channel is missing.
    """

    def family(values: tuple[float, ...], joints: tuple[str, ...]) -> Term:
        return Stribeck(values, exponent, joints)

    return fit_shape(model, trajectories, family, within=speeds, lowpass=lowpass)


def fit_shape(
    model: Model,
    trajectories: Sequence[Trajectory],
    family: Family,
    *,
    within: tuple[float, float],
    lowpass: LowPass | None = None,
) -> ShapeFit:
    """Find the shape parameter of a term for each joint by variable projection.

    Args:
        model: robot and terms without the one looked for.
        trajectories: prepared recordings, as for `Model.absorb`.
        family: makes the term from shape values, one for each of the joints named; one column a joint, (T, k) block.
        within: smallest and largest value, both positive.
        lowpass: as for `Model.absorb`.

    Raises:
        StudyError: a range that is none.
        DataError: no rows at all, or a channel is missing.
    """
    low, high = within
    if not 0.0 < low < high < np.inf:
        raise StudyError("a range of shape parameters: positive, the smaller first", value=within)
    basis = base_parameters(model)
    names = model.robot.joint_names
    centre, reach = np.full(len(names), np.log(np.sqrt(low * high))), 0.5 * np.log(high / low)
    for _ in range(PASSES):
        trials = np.exp(np.clip(centre[:, None] + reach * np.linspace(-1.0, 1.0, TRIALS), np.log(low), np.log(high)))
        info = _absorb_trials(model, basis, trajectories, family, trials, lowpass)
        misfit = _Misfit.of(info, basis, len(names), TRIALS)
        chosen, ratio, place = misfit.choose()
        spacing = 2.0 * reach / (TRIALS - 1)
        centre = np.clip(np.log(trials[np.arange(len(names)), chosen]) + place * spacing, np.log(low), np.log(high))
        reach = max(NARROW * reach, 1e-6)
    shape = np.where(ratio >= SHOWN, np.exp(centre), np.nan)
    return _finished(model, trajectories, family, shape, ratio, lowpass)


def _finished(
    model: Model,
    trajectories: Sequence[Trajectory],
    family: Family,
    shape: Array,
    ratio: Array,
    lowpass: LowPass | None,
) -> ShapeFit:
    names = model.robot.joint_names
    shown = tuple(name for name, value in zip(names, shape, strict=True) if np.isfinite(value))
    values = tuple(float(v) for v in shape if np.isfinite(v))
    best = Model(model.robot, (*model.terms, family(values, shown))) if shown else model
    basis = base_parameters(best)
    estimate = weighted(best.absorb(trajectories, names=basis.names, lowpass=lowpass), basis=basis)
    deviation = np.full(len(names), np.inf)
    if shown:
        slopes = Model(best.robot, (*best.terms, _Slope(family, values, shown)))
        columns = tuple(c.name for c in slopes.terms[-1].columns(slopes.robot))
        tangent = weighted(slopes.absorb(trajectories, names=(*basis.names, *columns), lowpass=lowpass))
        size = {c.joints[0]: estimate.value(c.name) for c in best.terms[-1].columns(best.robot)}
        for column, s in zip(columns, tangent.deviation[-len(columns) :], strict=True):
            row = next(c.joints[0] for c in slopes.columns if c.name == column)
            deviation[row - model.robot.base_rows] = s / max(abs(size[row]), 1e-300)
    findings = [] if len(shown) == len(names) else [_unseen([name for name in names if name not in shown])]
    return ShapeFit(best, estimate.noting(*findings), shape, deviation, ratio)


def _unseen(names: Sequence[str]) -> Finding:
    return Finding(
        "fit.shape_not_shown",
        "info",
        f"the data do not show the effect in {', '.join(names)}: its term is left out there",
        cure="record slow reversals of these joints, if it matters, and do not mask them",
    )


@dataclass(frozen=True)
class _Trials:
    """All trial values of all joints as columns of one term."""

    family: Family
    values: tuple[tuple[float, ...], ...]  # of each joint

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        rows = [robot.base_rows + j for j in range(len(self.values))]
        return tuple(Column(f"trial/{j}/{k}", "", (row,)) for j, row in enumerate(rows) for k in range(TRIALS))

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        tried = [self.family(v, robot.joint_names).block(robot, trajectory) for v in zip(*self.values, strict=True)]
        return np.stack(tried, axis=-1).reshape(len(trajectory), -1)


@dataclass(frozen=True)
class _Slope:
    """The term differentiated by its shape: what a small change of the shape would look like."""

    family: Family
    values: tuple[float, ...]
    joints: tuple[str, ...]

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        own = self.family(self.values, self.joints).columns(robot)
        return tuple(replace(column, name=f"slope/{column.name}", nonnegative=False) for column in own)

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        values = np.array(self.values)
        above, below = (
            self.family(tuple(values * factor), self.joints).block(robot, trajectory)
            for factor in (1.0 + DIFFERENCE, 1.0 - DIFFERENCE)
        )
        return np.asarray((above - below) / (2.0 * DIFFERENCE * values))


def _absorb_trials(
    model: Model,
    basis: ParameterBasis,
    trajectories: Sequence[Trajectory],
    family: Family,
    trials: Array,
    lowpass: LowPass | None,
) -> SquareRootInformation:
    term = _Trials(family, tuple(tuple(float(v) for v in row) for row in trials))
    wider = Model(model.robot, (*model.terms, term))
    names = (*basis.names, *(column.name for column in term.columns(model.robot)))
    return wider.absorb(trajectories, names=names, lowpass=lowpass)


@dataclass(frozen=True)
class _Misfit:
    """The weighted triangle of base columns, trial columns (joint after joint) and torque."""

    R: Array
    base: int
    joints: int
    trials: int

    @classmethod
    def of(cls, info: SquareRootInformation, basis: ParameterBasis, joints: int, trials: int) -> _Misfit:
        """Weights are those of a fit with the middle trial of every joint."""
        middle = tuple(f"trial/{j}/{trials // 2}" for j in range(joints))
        weights = weighted(info.select((*basis.names, *middle))).weights
        return cls(info.scale(weights).stacked(), len(basis.names), joints, trials)

    def choose(self) -> tuple[NDArray[np.int64], Array, Array]:
        """For each joint the best trial, its likelihood ratio, and where between the trials the minimum lies."""
        chosen = np.full(self.joints, self.trials // 2)
        gains = np.zeros((self.joints, self.trials))
        for _ in range(SWEEPS):
            before = chosen.copy()
            for j in range(self.joints):
                gains[j] = self._gains(j, chosen)
                chosen[j] = int(np.argmax(gains[j]))
            if np.array_equal(before, chosen):
                break
        place = np.array([_top(gains[j], chosen[j]) for j in range(self.joints)])
        return chosen, gains[np.arange(self.joints), chosen], place

    def _gains(self, joint: int, chosen: NDArray[np.int64]) -> Array:
        """(trials,) weighted sum of squares that each trial of a joint takes away, the others as chosen."""
        own = [self.base + self.trials * joint + k for k in range(self.trials)]
        others = [self.base + self.trials * j + int(chosen[j]) for j in range(self.joints) if j != joint]
        fixed = self.R[:, [*range(self.base), *others]]
        lengths = np.linalg.norm(fixed, axis=0)
        Q = np.linalg.svd(fixed / np.where(lengths > 0.0, lengths, 1.0), full_matrices=False)
        held = Q[0][:, Q[1] > 1e-10 * Q[1].max(initial=0.0)]
        rest = self.R[:, [*own, -1]]
        rest = rest - held @ (held.T @ rest)
        columns, torque = rest[:, :-1], rest[:, -1]
        energy = np.sum(columns**2, axis=0)
        size = np.sum(self.R[:, own] ** 2, axis=0)
        along = columns.T @ torque
        gains = np.divide(along**2, energy, out=np.zeros(self.trials), where=energy > 1e-16 * size)
        # Friction that grows on breaking away: where the opposite fits better, it is another effect.
        wrong = gains[along < 0.0].max(initial=0.0)
        return np.where((along > 0.0) & (gains > wrong), gains, 0.0)


def _top(gains: Array, k: int) -> float:
    """Where the parabola through the best gain and its neighbours has its top, in spacings from the best."""
    if not 0 < k < gains.size - 1:
        return 0.0
    before, here, after = gains[k - 1 : k + 2]
    curvature = 2.0 * here - before - after
    return float(np.clip(0.5 * (after - before) / curvature, -1.0, 1.0)) if curvature > 0.0 else 0.0
