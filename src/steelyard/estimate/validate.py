"""Validation of a model on recordings that it has not seen, beside the model one had before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.validation import Score, check_score_cutoff, gaps_inside, score
from steelyard.basis import ParameterBasis
from steelyard.data.trajectory import Trajectory
from steelyard.estimate.predict import Prediction, along
from steelyard.estimate.prior import Prior
from steelyard.estimate.regularised import with_prior
from steelyard.estimate.result import Estimate
from steelyard.estimate.training import Recording
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.preparation.cutoff import choose_cutoff
from steelyard.preparation.pipeline import prepare_recording

Array = NDArray[np.float64]
FEED_FORWARD, GRAVITY_COMPENSATION = 0.05, 0.20


@dataclass(frozen=True)
class Baselines:
    """What the model file can do: its parameters as they stand, and with friction fitted to the training data.

    Attributes:
        urdf: (p,) columns of the model, nominal values.
        friction: (p,) the same with friction and offset columns fitted; None without training data.
        unconstrained: (p,) the identified model before it was made consistent; None where it was not.
    """

    urdf: Array
    friction: Array | None
    unconstrained: Array | None = None


@dataclass(frozen=True)
class Validation:
    """Errors on one unseen recording, and the relative errors of other models, nan for those that there are not.

    Attributes:
        name: of the recording.
        score, prediction: of the model.
        baseline_urdf, baseline_urdf_friction: what the model file alone would have reached.
        unconstrained: what the estimate reaches that need not be that of a possible robot.
        findings: what a person should know.
    """

    name: str
    score: Score
    prediction: Prediction
    baseline_urdf: float
    baseline_urdf_friction: float
    unconstrained: float
    findings: tuple[Finding, ...]


def baselines(model: Model, basis: ParameterBasis, info: SquareRootInformation) -> Baselines:
    """Fit friction (none negative) and offset alone, the rigid bodies held at the model file's values.

    Args:
        model: robot and terms.
        basis: its base parameters.
        info: of the base columns over the training data.
    """
    nominal = model.nominal
    friction = [n for n in basis.names if not n.startswith("link/") and not n.endswith("/rotor_inertia")]
    known = dict(zip(basis.names, basis.regroup(nominal), strict=True))
    for name in friction:
        del known[name]
    fitted = nominal.copy()
    if friction:
        free = np.full(len(friction), np.inf)
        bound = [column.name for column in model.columns if column.nonnegative]
        estimate = with_prior(
            info.given(known), Prior(tuple(friction), np.zeros(len(friction)), free), nonnegative=bound
        )
        place = {name: k for k, name in enumerate(model.names)}
        for name, value in zip(estimate.names, estimate.theta, strict=True):
            fitted[place[name]] = value
    return Baselines(nominal, fitted)


def validate_recording(
    model: Model,
    theta: Array,
    recording: Recording,
    *,
    cutoff: float,
    baseline: Baselines | None = None,
) -> Validation:
    """Predict one unseen recording and score it.

    Args:
        model: robot and terms.
        theta: (p,) values of the model's columns.
        recording: with torque, whole, and the interval to score.
        cutoff: [Hz] of the torque it is scored against.
        baseline: other models, to compare with.

    Raises:
        DataError: no torque, an interval without samples, a cut-off above half the sampling rate.
    """
    measured = recording.trajectory.ordered(model.robot.joint_names)
    motion = prepare_recording(measured, model.robot).trajectory
    check_score_cutoff(measured, cutoff)
    prediction = along(model, theta, motion, cutoff=cutoff)
    result = _scored(measured, prediction, recording.interval)
    old = []
    for values in () if baseline is None else (baseline.urdf, baseline.friction, baseline.unconstrained):
        guess = None if values is None else along(model, values, motion, cutoff=cutoff)
        old.append(float("nan") if guess is None else _scored(measured, guess, recording.interval).relative_error)
    urdf, friction, free = old or [float("nan")] * 3
    findings = (*_findings(measured.name, result, urdf, friction), *_in_pieces(measured, result.interval))
    return Validation(measured.name, result, prediction, urdf, friction, free, findings)


def validate(
    model: Model,
    estimate: Estimate,
    recordings: Sequence[Trajectory | Recording],
    *,
    cutoff: float | None = None,
) -> list[Validation]:
    """Errors of an estimate on recordings it has not seen.

    Args:
        model: robot and terms.
        estimate: of this model.
        recordings: Trajectory or Recording, as recorded.
        cutoff: [Hz] of the torque they are scored against; None to choose it from each recording's spectra.

    Raises:
        DataError: as for `validate_recording`.
    """
    theta = estimate.full(model.names)
    whole = [r if isinstance(r, Recording) else Recording(r) for r in recordings]
    cutoffs = [choose_cutoff(r.trajectory).cutoff if cutoff is None else cutoff for r in whole]
    return [validate_recording(model, theta, r, cutoff=c) for r, c in zip(whole, cutoffs, strict=True)]


def _scored(measured: Trajectory, prediction: Prediction, interval: tuple[float, float] | None) -> Score:
    return score(measured, prediction.time, prediction.torque, cutoff=prediction.cutoff, interval=interval)


def _findings(name: str, result: Score, urdf: float, friction: float) -> list[Finding]:
    found = []
    for error, label in ((urdf, "the model file alone"), (friction, "the model file with fitted friction")):
        if np.isfinite(error) and error < result.relative_error:
            found.append(
                Finding(
                    "validation.worse_than_model",
                    "warning",
                    f"on this motion {label} is better: {100 * error:.1f} % "
                    f"against {100 * result.relative_error:.1f} %",
                    where=name,
                    value=error,
                    cure="the training motion does not show what this one needs: train on a richer motion",
                )
            )
    return found


def _in_pieces(measured: Trajectory, interval: tuple[float, float]) -> list[Finding]:
    gaps = gaps_inside(measured, interval)
    if not gaps:
        return []
    first, last = gaps[0]
    return [
        Finding(
            "validation.in_pieces",
            "warning",
            f"scored in {len(gaps) + 1} pieces: the recording has no samples from {first:.13g} to {last:.13g} s"
            + (f", nor in {len(gaps) - 1} other gap(s)" if len(gaps) > 1 else ""),
            where=measured.name,
            value=len(gaps),
            cure="find out why the recorder drops samples; --validate-interval takes one piece",
        )
    ]


def verdict(validations: Sequence[Validation]) -> tuple[bool | None, bool | None, str]:
    """Whether the model is good enough for feed-forward (< 5 %) and gravity compensation (< 20 %), in a sentence.

    The worst recording decides; without one the answer is None.
    """
    if not validations:
        return None, None, "Not validated: give a recording of another motion with --validate before using this model."
    worst = max(validations, key=lambda v: v.score.relative_error)
    error, joints = worst.score.relative_error, worst.score.relative_error_per_joint
    forward: bool | None = error < FEED_FORWARD
    gravity: bool | None = error < GRAVITY_COMPENSATION
    use = (
        "good enough for torque feed-forward and model-based control"
        if forward
        else "good enough for gravity compensation, not for feed-forward"
        if gravity
        else "not good enough for control"
    )
    limit = FEED_FORWARD if forward else GRAVITY_COMPENSATION
    weak = [f"{worst.score.joint_names[j]} ({100 * joints[j]:.0f} %)" for j in np.argsort(-joints) if joints[j] > limit]
    but = f", but not for {', '.join(weak)}" if gravity and weak else ""
    repeated = any(f.code == "validation.repeats_training" for f in worst.findings)
    if repeated:
        forward, gravity = None, None
        use, but = "that proves nothing, since the motion was fitted: validate on another one", ""
    missed = f"the model misses {100 * error:.1f} % of the torque below {worst.score.cutoff:.3g} Hz"
    return forward, gravity, f"On {'repeated' if repeated else 'unseen'} motion ({worst.name}) {missed}: {use}{but}."
