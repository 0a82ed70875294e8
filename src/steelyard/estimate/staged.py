"""Identification in stages, each on its own experiment, earlier ones locked and watched.

A stage estimates what it frees and what earlier stages settled; the rest is held at the model file's values. Earlier
stages are locked by their information: all their rows stay in the fit, as a Gaussian with its covariance. (Values held
exactly would hand their errors on to the next stage, whose intervals would not know.) So a later stage can move a
settled parameter only within what the earlier data allow, if noise is all there is; where model error moves it
further, the earlier experiment is fitted worse than chance allows, which is said.

With the weights of stage i, its misfit rises by `d'I d + 2 g'd`, d the move of its parameters. If one model explains
both stages, d has the covariance `C_i - C_k` that the later data took away (Hausman 1978).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.errors import StudyError
from steelyard.estimate.coloured import fit_blocks
from steelyard.estimate.least_squares import data_findings
from steelyard.estimate.prior import Prior, joint_prior, physical_prior, regrouped_rows
from steelyard.estimate.result import Estimate
from steelyard.estimate.stages import Stage
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation, column_lengths, triangle
from steelyard.model import Model

Array = NDArray[np.float64]
CHANCE = 1e-3  # of a false alarm
LEAST = 1.0  # of a noise variance: a smaller rise is not worth a word


@dataclass(frozen=True)
class StageFit:
    """What was known after a stage.

    Attributes:
        name: of the stage.
        estimate: of the base parameters settled so far.
        theta: (b,) all base parameters, those not settled as in the model file.
        held: names of the latter.
        information: of the stage's own data, all base columns.
    """

    name: str
    estimate: Estimate
    theta: Array
    held: tuple[str, ...]
    information: SquareRootInformation


@dataclass(frozen=True)
class Staged:
    """An identification in stages.

    Attributes:
        basis: base parameters of the model.
        fits: one entry a stage.
        findings: alarms, and what single stages had to say.
    """

    basis: ParameterBasis
    fits: tuple[StageFit, ...]
    findings: tuple[Finding, ...]

    @property
    def theta(self) -> Array:
        """(b,) base parameters after the last stage."""
        return self.fits[-1].theta

    def full(self, columns: tuple[str, ...]) -> Array:
        """(p,) a vector of all model columns that gives this torque; for prediction only."""
        full = np.zeros(len(columns))
        full[[columns.index(name) for name in self.basis.names]] = self.theta
        return full


def staged(model: Model, basis: ParameterBasis, stages: Sequence[Stage]) -> Staged:
    """Estimate stage by stage.

    Bodies start from the model file, with the deviations of `physical_prior`; friction starts from nothing.

    Args:
        model: robot and terms.
        basis: its base parameters.
        stages: in the order of the experiments.

    Raises:
        StudyError: no stage, one that frees nothing or is of another model, samples that two stages share.
        DataError: a stage without rows.
    """
    _checked(basis, stages)
    nominal = basis.regroup(model.nominal)
    fits: list[StageFit] = []
    findings: list[Finding] = []
    carried = np.zeros((0, basis.count + 1))
    settled: set[str] = set()
    for stage in stages:
        whole = reduce(SquareRootInformation.merge, stage.blocks)
        if not fits:
            carried = regrouped_rows(physical_prior(model, whole), basis)
        settled |= set(stage.free)
        free = np.array([name in settled for name in basis.names])
        known = {name: float(v) for name, v, own in zip(basis.names, nominal, free, strict=True) if not own}
        own = [block.given(known) for block in stage.blocks]
        estimate = _fitted(own, _belief(basis, carried, free, nominal))
        theta = nominal.copy()
        theta[free] = estimate.theta
        fit = StageFit(stage.name, estimate, theta, tuple(known), whole)
        findings += estimate.findings
        findings += [alarm for earlier in fits for alarm in _spoiled(earlier, fit)]
        fits.append(fit)
        carried = triangle(np.vstack([carried, whole.scale(estimate.weights).stacked()]))
    return Staged(basis, tuple(fits), tuple(findings))


def _fitted(blocks: Sequence[SquareRootInformation], belief: Prior) -> Estimate:
    """A stage's data and what was known before, `min sum_j w_j |tau_j - Y_j theta|^2 + |R theta - z|^2`.

    The weights are those of the data alone: were the noise taken from the residual beside a belief that contradicts
    the data, the data would seem noisy, and the contradiction would go unnoticed.
    """
    alone = fit_blocks(blocks)
    # few stretches tell the correlation time only roughly: shorter than one sample is luck, not information
    time = np.maximum(alone.correlation_time, 1.0)
    noise = np.where(alone.noise > 0.0, alone.noise, 1.0)
    alone = replace(alone, weights=np.minimum(alone.weights, 1.0 / (noise**2 * time)), correlation_time=time)
    rows = np.vstack([alone.information.scale(alone.weights).stacked(), belief.rows()])
    lengths = column_lengths(rows[:, :-1])
    theta = np.linalg.lstsq(rows[:, :-1] / lengths, rows[:, -1], rcond=1e-10)[0] / lengths
    estimate = replace(alone, theta=theta, estimator="staged", findings=(), prior=belief, standard=theta)
    return estimate.noting(*data_findings(estimate))


def _checked(basis: ParameterBasis, stages: Sequence[Stage]) -> None:
    if not stages:
        raise StudyError("there is no stage", cure="give at least one")
    for stage in stages:
        odd = [name for name in stage.free if name not in basis.names]
        if odd or not stage.free or not stage.blocks or any(b.names != basis.names for b in stage.blocks):
            raise StudyError(
                "a stage needs base parameters of this model to settle, and information on all of them",
                where=f"stage {stage.name}", value=odd or stage.free, choices=basis.names,
            )  # fmt: skip
    for one, other in combinations(stages, 2):
        if any(a.overlaps(b) for x in one.blocks for a in x.sources for y in other.blocks for b in y.sources):
            raise StudyError("the same samples would count in two stages", where=f"stages {one.name}, {other.name}",
                             cure="record each experiment by itself")  # fmt: skip


def _belief(basis: ParameterBasis, carried: Array, free: NDArray[np.bool_], nominal: Array) -> Prior:
    """What is known of the free parameters when the others are as in the model file."""
    right = carried[:, -1] - carried[:, :-1][:, ~free] @ nominal[~free]
    names = tuple(name for name, own in zip(basis.names, free, strict=True) if own)
    return joint_prior(names, np.column_stack([carried[:, :-1][:, free], right]))


def _spoiled(earlier: StageFit, later: StageFit) -> list[Finding]:
    """An alarm when the later stage fits the data of the earlier one worse than chance allows."""
    weights = earlier.estimate.weights
    before, after = (earlier.information.misfit(fit.theta) for fit in (earlier, later))
    rise, allowed = float(weights @ (after - before)), _allowed(earlier, later)
    if rise <= allowed:
        return []
    rows = np.maximum(np.array(earlier.information.rows, dtype=np.float64), 1.0)
    worst = int(np.argmax(weights * (after - before)))
    low, high = (float(np.sqrt(misfit[worst] / rows[worst])) for misfit in (before, after))
    joint = earlier.information.joints[worst]
    return [
        Finding(
            "fit.stage_spoiled",
            "warning",
            f"stage {later.name} spoils stage {earlier.name}: the residual of its data rises from {low:.3g} to "
            f"{high:.3g} N m (or N) in {joint}, {rise:.0f} noise variances in all where chance allows {allowed:.0f}; "
            f"moved most: {', '.join(_moved(earlier, later))}",
            where=joint,
            value=rise,
            cure="one model does not explain both: look for a missing term, a drifting torque sensor, another load or "
            "temperature; or settle fewer parameters in the later stage",
        )
    ]


def _step(earlier: StageFit, later: StageFit) -> tuple[Array, Array]:
    """d and `C_i - C_k` of the parameters that the earlier stage had settled."""
    names = earlier.estimate.names
    at = [earlier.information.names.index(name) for name in names]
    own = [later.estimate.names.index(name) for name in names]
    lost = earlier.estimate.covariance - later.estimate.covariance[np.ix_(own, own)]
    return later.theta[at] - earlier.theta[at], np.where(np.isfinite(lost), lost, 0.0)


def _allowed(earlier: StageFit, later: StageFit) -> float:
    """What the rise of the earlier misfit exceeds by chance with probability CHANCE, if one model explains both.

    The weighted sum of chi-squares is taken as the gamma distribution of the same mean and variance.
    """
    from scipy.special import gammaincinv

    _, lost = _step(earlier, later)
    names = earlier.estimate.names
    scaled = earlier.information.scale(earlier.estimate.weights)
    known = dict(zip(earlier.information.names, earlier.theta, strict=True))
    stacked = scaled.given({name: float(known[name]) for name in earlier.held}).select(names).stacked()
    R, z = stacked[:-1, :-1], stacked[:-1, -1]
    slope = R.T @ (R @ earlier.estimate.theta - z)
    spread = np.maximum(np.linalg.eigvalsh(R @ lost @ R.T), 0.0)
    mean = float(spread.sum())
    variance = 2.0 * float(np.sum(spread**2)) + 4.0 * max(float(slope @ lost @ slope), 0.0)
    if not mean > 0.0:
        return LEAST
    return max(LEAST, variance / mean * float(gammaincinv(mean**2 / variance, 1.0 - CHANCE)))


def _moved(earlier: StageFit, later: StageFit) -> list[str]:
    """The three parameters that moved most, in deviations of the earlier stage."""
    change, _ = _step(earlier, later)
    deviation = earlier.estimate.deviation
    share = np.where(deviation > 0.0, change / np.where(deviation > 0.0, deviation, 1.0), 0.0)
    return [f"{earlier.estimate.names[k]} by {share[k]:+.1f} deviations" for k in np.argsort(-np.abs(share))[:3]]
