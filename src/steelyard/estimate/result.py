"""What an estimator returns: values with everything needed to say how sure they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.errors import StudyError
from steelyard.estimate.prior import Prior
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation, column_lengths

Array = NDArray[np.float64]
DEPENDENT = 1e-10  # relative singular value under which a direction is not in the data at all
ALIKE = 0.9  # correlation from which two parameters can hardly be told apart


@dataclass(frozen=True)
class Estimate:
    """Estimated parameters and the information they came from; deviations and intervals are derived.

    Attributes:
        names: b parameters.
        theta: (b,) their values.
        basis: map from standard parameters to these; None when the columns were estimated as they are.
        information: of these columns, from the data alone.
        weights: (n,) weight of each joint's rows in the fit, 1/(N m)^2 or 1.
        noise: (n,) standard deviation of the residual of each joint [N m or N].
        correlation_time: (n,) number of samples that count as one independent sample (1 for white residuals).
        estimator: name of the method.
        findings: what a person should know.
        prior: what was believed before the data, on all p standard parameters; None for plain least squares.
        standard: (p,) all standard parameters, where a prior made them estimable; `theta = B standard`.
        drawn_covariance: (b, b) of a bootstrap, in place of the one derived; None otherwise.
        drawn_freedom: (b,) degrees of freedom of its deviations.
    """

    names: tuple[str, ...]
    theta: Array
    basis: ParameterBasis | None
    information: SquareRootInformation
    weights: Array
    noise: Array
    correlation_time: Array
    estimator: str
    findings: tuple[Finding, ...] = ()
    prior: Prior | None = None
    standard: Array | None = None
    drawn_covariance: Array | None = None
    drawn_freedom: Array | None = None

    def __post_init__(self) -> None:
        for array in (self.theta, self.weights, self.noise, self.correlation_time):
            array.setflags(write=False)

    @cached_property
    def _decomposition(self) -> tuple[Array, Array, Array]:
        """Column lengths d, singular values s and right vectors V of `R D^-1`, R the weighted factor."""
        return _scaled_directions(self.information.scale(self.weights).stacked()[:-1, :-1])

    @property
    def singular_values(self) -> Array:
        """(b,) singular values of the weighted regressor with columns scaled to unit length, falling."""
        return self._decomposition[1]

    @property
    def rank(self) -> int:
        """Number of directions that the data determine."""
        values = self.singular_values
        return int(np.sum(values > DEPENDENT * values.max(initial=0.0)))

    @property
    def condition_scaled(self) -> float:
        """Ratio of the largest to the smallest singular value, columns scaled to unit length."""
        values = self.singular_values
        return float(values[0] / values[-1]) if values.size and values[-1] > 0.0 else float("inf")

    @property
    def condition(self) -> float:
        """Condition number of the weighted regressor in SI units (it depends on the units)."""
        R = self.information.scale(self.weights).stacked()[:-1, :-1]
        values = np.linalg.svd(R, compute_uv=False)
        return float(values[0] / values[-1]) if values.size and values[-1] > 0.0 else float("inf")

    @cached_property
    def covariance(self) -> Array:
        """(b, b) covariance `A^-1 B A^-1`, `A = sum w_j R_j'R_j`, `B = sum w_j^2 s_j^2 t_j R_j'R_j`.

        s_j is the noise and t_j the correlation time of joint j; for weights 1/(s_j^2 t_j) this is `A^-1`. Directions
        that the data do not hold have infinite variance. A prior adds its information to both A and B.
        """
        if self.drawn_covariance is not None:
            return self.drawn_covariance
        if self.prior is None:
            return _sandwich(self.information, self.weights, self._spread, None)
        return self.standard_covariance if self.basis is None else _mapped(self.basis.matrix, self.standard_covariance)

    @cached_property
    def standard_covariance(self) -> Array:
        """(p, p) covariance of all standard parameters under the prior; raises StudyError without one."""
        if self.prior is None:
            raise StudyError("standard parameters have a covariance only under a prior", value=self.estimator)
        info = self.information
        whole = info if self.basis is None else info.project(self.prior.names, self.basis.matrix)
        return _sandwich(whole, self.weights, self._spread, self.prior.rows()[:, :-1])

    @property
    def _spread(self) -> Array:
        return (self.weights * self.noise) ** 2 * self.correlation_time

    @property
    def deviation(self) -> Array:
        """(b,) standard deviation of each parameter, in its unit."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def freedom(self) -> float:
        """Degrees of freedom of the residual: independent samples less the rank, at least 1."""
        independent = np.sum(np.array(self.information.rows) / self.correlation_time)
        return float(max(1.0, independent - self.rank))

    def reach(self, level: float = 0.95) -> float:
        """Half a two-sided Student interval, in deviations; raises StudyError for a level that is no probability."""
        return float(_student(self.freedom, level))

    def interval(self, level: float = 0.95) -> Array:
        """(b, 2) two-sided Student intervals; raises StudyError for a level that is no probability."""
        freedom = self.freedom if self.drawn_freedom is None else self.drawn_freedom
        half = _student(freedom, level) * self.deviation
        return np.column_stack([self.theta - half, self.theta + half])

    def partners(self) -> list[str | None]:
        """For each parameter the one most correlated with it; see `most_correlated`."""
        return most_correlated(self.names, self.covariance)

    def weak_directions(self, *, ratio: float = 1e-3) -> list[tuple[float, dict[str, float]]]:
        """Combinations that the motion barely shows: relative singular value and the main parts of the direction.

        Parts are in units of each parameter's own effect on the torque; parts under a fifth of the largest are left
        out.
        """
        _, values, V = self._decomposition
        top = values.max(initial=0.0)
        weak = []
        for k in np.flatnonzero(values < ratio * top)[::-1]:
            parts = V[:, k]
            main = np.flatnonzero(np.abs(parts) > 0.2 * np.abs(parts).max())
            main = main[np.argsort(-np.abs(parts[main]))][:6]
            weak.append((float(values[k] / top), {self.names[i]: float(parts[i]) for i in main}))
        return weak

    def full(self, columns: tuple[str, ...]) -> Array:
        """(p,) a vector of all model columns that gives this estimate's torque: the others are zero.

        For prediction only: the values of single standard parameters in it have no physical meaning.

        Raises:
            StudyError: a parameter of the estimate is not a column of the model.
        """
        place = {name: k for k, name in enumerate(columns)}
        unknown = [name for name in self.names if name not in place]
        if unknown:
            raise StudyError("the model lacks a column of the estimate", value=unknown[0], choices=columns)
        theta = np.zeros(len(columns))
        theta[[place[name] for name in self.names]] = self.theta
        return theta

    def value(self, name: str) -> float:
        """One parameter by name; raises StudyError for a name that was not estimated."""
        if name not in self.names:
            raise StudyError("not an estimated parameter", value=name, choices=self.names)
        return float(self.theta[self.names.index(name)])

    def noting(self, *findings: Finding) -> Estimate:
        """A copy with findings added."""
        return replace(self, findings=(*self.findings, *findings))

    def table(self) -> str:
        """Value, deviation, 95 % interval and strongest partner of each parameter, as text."""
        interval = self.interval()
        width = max(map(len, self.names), default=0)
        lines = [f"{'parameter':{width}}  {'value':>12} {'deviation':>10}   95 % interval"]
        for k, (name, partner) in enumerate(zip(self.names, self.partners(), strict=True)):
            low, high = interval[k]
            tail = f"   moves with {partner}" if partner else ""
            lines.append(
                f"{name:{width}}  {self.theta[k]:12.5g} {self.deviation[k]:10.2g}   [{low:.5g}, {high:.5g}]{tail}"
            )
        return "\n".join(lines)


def _student(freedom: float | Array, level: float) -> Array:
    """Half a two-sided Student interval, in deviations."""
    if not 0.0 < level < 1.0:
        raise StudyError("a level lies between 0 and 1", value=level, cure="0.95 for 95 %")
    from scipy.special import stdtrit

    return np.asarray(stdtrit(freedom, 0.5 + level / 2.0))


def _sandwich(info: SquareRootInformation, weights: Array, spread: Array, prior: Array | None) -> Array:
    """`A^-1 B A^-1` from factors; infinite variances where neither data nor prior speak."""
    rows, middle = info.scale(weights).stacked()[:-1, :-1], info.scale(spread).stacked()[:-1, :-1]
    if prior is not None:
        rows, middle = np.vstack([rows, prior]), np.vstack([middle, prior])
    lengths, values, V = _scaled_directions(rows)
    held = values > DEPENDENT * values.max(initial=0.0)
    inverse = (V[:, held] / values[held]) / lengths[:, None]  # A^-1 = inverse inverse'
    half = middle @ inverse @ inverse.T
    covariance = half.T @ half
    if not held.all():
        lost = np.abs(V[:, ~held]).max(axis=1) > 1e-6
        covariance[np.ix_(lost, lost)] = np.where(np.eye(int(lost.sum())) > 0, np.inf, 0.0)
    return covariance


def most_correlated(names: Sequence[str], covariance: Array, *, threshold: float = ALIKE) -> list[str | None]:
    """For each of b parameters the one most correlated with it, None under `threshold`.

    Args:
        names: b parameters.
        covariance: (b, b) of them; what is infinite or zero on the diagonal is correlated with nothing.
        threshold: of the correlation's magnitude.
    """
    deviation = np.sqrt(np.diag(covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        correlation = np.abs(covariance / np.outer(deviation, deviation))
    correlation = np.where(np.isfinite(correlation), correlation, 0.0)
    np.fill_diagonal(correlation, 0.0)
    best = correlation.argmax(axis=1) if len(names) > 1 else np.zeros(len(names), dtype=int)
    return [names[k] if correlation[i, k] >= threshold else None for i, k in enumerate(best)]


def _mapped(matrix: Array, covariance: Array) -> Array:
    """`B C B'`, with infinite variances kept to the rows that use them."""
    lost = ~np.isfinite(np.diag(covariance))
    finite = np.where(np.isfinite(covariance), covariance, 0.0)
    mapped = matrix @ finite @ matrix.T
    rows = np.any(matrix[:, lost] != 0.0, axis=1)
    mapped[np.ix_(rows, rows)] = np.where(np.eye(int(rows.sum())) > 0, np.inf, 0.0)
    return mapped


def _scaled_directions(R: Array) -> tuple[Array, Array, Array]:
    """Column lengths d, singular values and right vectors of `R D^-1`."""
    lengths = column_lengths(R)
    _, values, vectors = np.linalg.svd(R / lengths)
    return lengths, values, vectors.T
