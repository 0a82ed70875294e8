"""From square-root information to a payload: its ten columns beside whatever else the data have to settle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from steelyard.basis import ParameterBasis
from steelyard.errors import StudyError
from steelyard.estimate.coloured import score_correlation_time, with_correlation
from steelyard.estimate.held_out import held_out_rms
from steelyard.estimate.least_squares import ordinary, weighted
from steelyard.estimate.merging import merged
from steelyard.estimate.payload import Payload
from steelyard.estimate.result import Estimate
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.robot.inertia import transform
from steelyard.robot.robot import Link
from steelyard.terms.rigid_body import QUANTITIES

Array = NDArray[np.float64]
COLUMNS = tuple(f"payload/{quantity}" for quantity, _ in QUANTITIES)
STRETCHES = 4  # from which the correlation of residuals can be told
FOLDS = 5  # parts that are left out in turn
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


def fit_payload(
    blocks: Sequence[SquareRootInformation],
    link: Link,
    *,
    known: Mapping[str, float] | None = None,
    doubt: Array | None = None,
    gain_uncertainty: float = 0.0,
    same_scale: bool = True,
    findings: tuple[Finding, ...] = (),
    method: str = "dynamic",
    pooled: bool = False,
    parts: Sequence[SquareRootInformation] = (),
) -> Payload:
    """The payload from information of its ten columns (COLUMNS) and of any others, which are settled with it.

    Args:
        blocks: consecutive stretches; from several of them the correlation of the residual is found as well.
        link: in whose frame the payload is.
        known: columns with a value, whose torque is taken off.
        doubt: (k, k) covariance of those values, which is in the payload too; None where they are exact.
        gain_uncertainty: of the torque scale of each joint, a fraction.
        same_scale: whether the known values came from the same torque signals; else a wrong scale counts in full.
        findings: to pass on.
        method: its name.
        pooled: whether all joints have one noise, as when each has too few rows for its own.
        parts: the same rows in parts that are left out in turn; none to leave out every FOLDS-th of the blocks.

    Raises:
        DataError: no rows.
        StudyError: an uncertainty that is not a fraction.
    """
    if not (np.isfinite(gain_uncertainty) and 0.0 <= gain_uncertainty < 1.0):
        raise StudyError("the uncertainty of the torque scale is a fraction, at least 0 and less than 1",
                         value=gain_uncertainty, cure="--gain-uncertainty 0.1 for ten per cent")  # fmt: skip
    known = dict(known or {})
    parts = parts or [reduce(merged, blocks[k::FOLDS]) for k in range(min(FOLDS, len(blocks)))]
    whole = reduce(merged, blocks)
    info = whole.given(known)
    estimate = _pooled(ordinary(info)) if pooled else weighted(info)
    if not pooled and len(blocks) >= STRETCHES:
        left = [block.given(known) for block in blocks]
        estimate = with_correlation(estimate, score_correlation_time(left, estimate))
    at = [info.names.index(name) for name in COLUMNS]
    lost = lost_directions(info, estimate)
    theta = np.array(estimate.theta[at])
    covariance = np.array(estimate.covariance[np.ix_(at, at)])
    if doubt is not None:
        slopes = _slopes(whole, estimate, tuple(known))[at]
        covariance = covariance + slopes @ doubt @ slopes.T
    unknown = np.abs(lost).max(axis=1, initial=0.0) > 1e-6
    theta[unknown] = np.nan
    covariance[unknown, :] = covariance[:, unknown] = 0.0
    covariance[unknown, unknown] = np.inf
    shares = contributions(info if same_scale else whole.select(info.names), estimate)[:, at]
    total = shares.sum(axis=0)
    scale = np.outer(total, total) + shares.T @ shares
    payload = Payload(
        frame=link.name,
        parameters=theta,
        covariance=covariance,
        scale=np.where(np.outer(~unknown, ~unknown), scale, 0.0),
        gain_uncertainty=gain_uncertainty,
        freedom=estimate.freedom,
        lost=lost,
        method=method,
        rms=_rms(info, estimate.theta),
        held_out=held_out_rms(parts, known),
        findings=(*findings, *(f for f in estimate.findings if f.code == "fit.coloured_residual")),
    )
    return replace(payload, findings=(*payload.findings, *payload_findings(payload)))


def _rms(info: SquareRootInformation, theta: Array) -> dict[str, float]:
    """Residual of each joint [N m or N]; not a number without rows."""
    rows = np.array(info.rows, dtype=np.float64)
    mean = np.divide(info.misfit(theta), rows, out=np.full(len(rows), np.nan), where=rows > 0.0)
    return dict(zip(info.joints, np.sqrt(mean).tolist(), strict=True))


def _slopes(whole: SquareRootInformation, estimate: Estimate, known: Sequence[str]) -> Array:
    """(p, k) how the estimate moves with the values that were taken as known: `-(Y'WY)^-1 Y'W Y_known`."""
    R = whole.scale(estimate.weights).stacked()[:-1, :-1]
    place = {name: k for k, name in enumerate(whole.names)}
    own = R[:, [place[name] for name in estimate.names]]
    return -_inverse(own) @ (own.T @ R[:, [place[name] for name in known]])


def _inverse(R: Array) -> Array:
    """`(R'R)^-1` over the directions that R holds."""
    lengths = np.linalg.norm(R, axis=0)
    lengths = np.where(lengths > 0.0, lengths, 1.0)
    _, values, Vt = np.linalg.svd(R / lengths, full_matrices=False)
    held = values > 1e-10 * values.max(initial=0.0)
    return np.asarray((Vt[held].T / values[held] ** 2) @ Vt[held] / np.outer(lengths, lengths))


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
    inverse = _inverse(estimate.information.scale(estimate.weights).stacked()[:-1, :-1])
    parts = []
    for j, weight in enumerate(estimate.weights):
        wide = info.spread(j)
        parts.append(inverse @ (weight * (wide[:, :-1].T @ wide[:, -1])))
    return np.array(parts)


def payload_findings(payload: Payload) -> list[Finding]:
    """What does not look like a payload."""
    found = []
    low, high = payload.mass_interval()
    if payload.known[0] and high < 0.0:
        found.append(
            Finding(
                "payload.negative_mass",
                "error",
                f"the loaded robot weighs {-payload.mass:.3g} kg less than the bare one",
                where=payload.frame,
                value=payload.mass,
                cure="exchange the loaded and the unloaded recording; else check the sign of the torques, gravity, and "
                "whether the model holds a tool that the robot did not carry",
            )
        )
    elif payload.known[0] and low <= 0.0:
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
    elif not payload.possible:
        found.append(
            Finding(
                "payload.not_a_body",
                "info",
                "no body can have exactly these ten parameters; the inertia is less well known than it looks",
                where=payload.frame,
                cure="use mass and centre of mass; for the inertia move the wrist faster",
            )
        )
    return found
