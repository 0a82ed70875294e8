"""From square-root information to a payload: its ten columns beside whatever else the data have to settle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.errors import StudyError
from steelyard.estimate.coloured import score_correlation_time, with_correlation
from steelyard.estimate.least_squares import ordinary, weighted
from steelyard.estimate.payload import Payload
from steelyard.estimate.result import Estimate
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation, triangle
from steelyard.model import Model
from steelyard.robot.inertia import transform
from steelyard.robot.robot import Link
from steelyard.terms.rigid_body import QUANTITIES

Array = NDArray[np.float64]
COLUMNS = tuple(f"payload/{quantity}" for quantity, _ in QUANTITIES)
STRETCHES = 4  # from which the correlation of residuals can be told
HELD = 1e-9  # relative singular value under which a direction is not in the data


def payload_columns(model: Model, link: Link) -> Array:
    """(p, 10): what a payload in the frame of a link adds to the columns of a model.

    Raises:
        StudyError: the model has no rigid bodies.
    """
    first = f"link/{model.robot.body_names[link.body]}/mass"
    if first not in model.names:
        raise StudyError("a payload needs a model with rigid bodies", value=first, choices=model.names[:10])
    at = model.names.index(first)
    columns = np.zeros((len(model.names), 10))
    for e in range(10):
        columns[at : at + 10, e] = transform(np.eye(10)[e], link.rotation, link.translation)
    return columns


def with_payload(info: SquareRootInformation, basis: ParameterBasis, columns: Array) -> SquareRootInformation:
    """Information of base columns as that of base and payload columns: `theta_b = B (theta + columns @ payload)`."""
    return info.project((*info.names, *COLUMNS), np.hstack([np.eye(basis.count), basis.matrix @ columns]))


def without_payload(info: SquareRootInformation, basis: ParameterBasis) -> SquareRootInformation:
    """The same for a run without payload."""
    return info.project((*info.names, *COLUMNS), np.hstack([np.eye(basis.count), np.zeros((basis.count, 10))]))


def merged(one: SquareRootInformation, other: SquareRootInformation) -> SquareRootInformation:
    """The information of both, of the same columns, whatever columns each joint has rows for.

    Raises:
        InformationError: other columns or joints, or samples that both have absorbed.
    """
    support = tuple(tuple(sorted({*a, *b})) for a, b in zip(one.support, other.support, strict=True))
    return _supported(one, support).merge(_supported(other, support))


def _supported(info: SquareRootInformation, support: tuple[tuple[int, ...], ...]) -> SquareRootInformation:
    factors = tuple(triangle(info.spread(j)[:, [*columns, -1]]) for j, columns in enumerate(support))
    return replace(info, support=support, factors=factors)


def fit_payload(
    blocks: Sequence[SquareRootInformation],
    link: Link,
    *,
    gain_uncertainty: float = 0.0,
    torque: Sequence[SquareRootInformation] | None = None,
    findings: tuple[Finding, ...] = (),
    method: str = "dynamic",
    pooled: bool = False,
) -> Payload:
    """The payload from information of its ten columns (COLUMNS) and of any others, which are settled with it.

    Args:
        blocks: consecutive stretches; from several of them the correlation of the residual is found as well.
        link: in whose frame the payload is.
        gain_uncertainty: of the torque scale of each joint, a fraction.
        torque: the same columns with the torque that a wrong scale changes, where it is not the one fitted (a body
            model that did not come from this robot's own torque was taken off).
        findings: to pass on.
        method: its name.
        pooled: whether all joints have one noise, as when each has too few rows for its own.

    Raises:
        DataError: no rows.
        StudyError: an uncertainty that is not a fraction.
    """
    if not (np.isfinite(gain_uncertainty) and 0.0 <= gain_uncertainty < 1.0):
        raise StudyError("the uncertainty of the torque scale is a fraction, at least 0 and less than 1",
                         value=gain_uncertainty)  # fmt: skip
    info = reduce(merged, blocks)
    estimate = _pooled(ordinary(info)) if pooled else weighted(info)
    if not pooled and len(blocks) >= STRETCHES:
        estimate = with_correlation(estimate, score_correlation_time(blocks, estimate))
    at = [info.names.index(name) for name in COLUMNS]
    lost = lost_directions(info, estimate)
    theta = np.array(estimate.theta[at])
    covariance = np.array(estimate.covariance[np.ix_(at, at)])
    unknown = np.abs(lost).max(axis=1, initial=0.0) > 1e-6
    theta[unknown] = np.nan
    covariance[unknown, :] = covariance[:, unknown] = 0.0
    covariance[unknown, unknown] = np.inf
    parts = contributions(info if torque is None else reduce(merged, torque), estimate)[:, at]
    total = parts.sum(axis=0)
    scale = np.outer(total, total) + parts.T @ parts
    payload = Payload(
        frame=link.name,
        parameters=theta,
        covariance=covariance,
        scale=np.where(np.outer(~unknown, ~unknown), scale, 0.0),
        gain_uncertainty=gain_uncertainty,
        freedom=estimate.freedom,
        lost=lost,
        method=method,
        findings=(*findings, *(f for f in estimate.findings if f.code == "fit.coloured_residual")),
    )
    return replace(payload, findings=(*payload.findings, *payload_findings(payload)))


def _pooled(estimate: Estimate) -> Estimate:
    """Noise of each joint no less than that of all joints together, which is infinite without rows to spare."""
    left = sum(estimate.information.rows) - estimate.rank
    misfit = float(estimate.information.misfit(estimate.theta).sum())
    together = np.sqrt(misfit / left) if left > 0 else np.inf
    return replace(estimate, noise=np.maximum(estimate.noise, together))


def lost_directions(info: SquareRootInformation, estimate: Estimate) -> Array:
    """(10, k) orthonormal directions of the payload that the data do not show, beside the other columns.

    A direction is lost when the payload can move along it with the torque made up for by the other columns.
    """
    R = info.scale(estimate.weights).stacked()[:-1, :-1]
    at = [info.names.index(name) for name in COLUMNS]
    rest = [k for k in range(len(info.names)) if k not in at]
    lengths = np.linalg.norm(R, axis=0)
    scaled = R / np.where(lengths > 0.0, lengths, 1.0)
    if rest:
        U, values, _ = np.linalg.svd(scaled[:, rest], full_matrices=False)
        U = U[:, values > HELD * values.max(initial=0.0)]
        own = scaled[:, at] - U @ (U.T @ scaled[:, at])
    else:
        own = scaled[:, at]
    own = own * lengths[at]
    size = np.where(lengths[at] > 0.0, lengths[at], max(float(lengths[at].max()), 1.0))
    _, values, Vt = np.linalg.svd(own / size)
    lost = Vt[np.pad(values, (0, 10 - values.size)) <= HELD * 1e2 * max(float(values.max(initial=0.0)), 1e-300)].T
    return np.linalg.qr(lost / size[:, None])[0] if lost.size else np.zeros((10, 0))


def contributions(info: SquareRootInformation, estimate: Estimate) -> Array:
    """(n, p) what each joint's torque adds to the estimate: its rows sum up to the estimate, being linear in torque."""
    scaled = estimate.information.scale(estimate.weights).stacked()[:-1, :-1]
    lengths = np.linalg.norm(scaled, axis=0)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    _, values, Vt = np.linalg.svd(scaled / lengths)
    held = values > 1e-10 * values.max(initial=0.0)
    inverse = (Vt[held].T / values[held] ** 2) @ Vt[held] / np.outer(lengths, lengths)
    parts = []
    for j, weight in enumerate(estimate.weights):
        wide = info.spread(j)
        parts.append(inverse @ (weight * (wide[:, :-1].T @ wide[:, -1])))
    return np.array(parts)


def payload_findings(payload: Payload) -> list[Finding]:
    """What does not look like a payload."""
    found = []
    low, high = payload.mass_interval()
    if payload.known[0] and low <= 0.0 <= high:
        found.append(
            Finding(
                "payload.not_seen",
                "warning",
                f"the mass, {payload.mass:.3g} kg, is not different from zero within its interval",
                where=payload.frame,
                value=payload.mass,
                cure="check that the loaded run carried the payload, and move more, or in more poses",
            )
        )
    if not payload.possible:
        found.append(
            Finding(
                "payload.not_a_body",
                "info" if payload.mass > 0.0 else "warning",
                "no body can have exactly these ten parameters; the inertia is less well known than it looks",
                where=payload.frame,
                cure="use mass and centre of mass; for the inertia move the wrist faster",
            )
        )
    return found
