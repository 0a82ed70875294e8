"""Everything that one motion says about a model: residual tests and torque term by term, with their findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.comparison import Comparison, compare
from steelyard.assess.credibility import credibility
from steelyard.assess.decomposition import (
    ColumnTorque,
    Decomposition,
    cancellation_findings,
    column_torque,
    decompose,
)
from steelyard.assess.residuals import ResidualReport, residual_report
from steelyard.data.trajectory import Trajectory
from steelyard.estimate.predict import Prediction
from steelyard.finding import Finding
from steelyard.model import Model
from steelyard.preparation.pipeline import prepare_recording

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Judgement:
    """One motion against a model.

    Attributes:
        name: of the recording.
        comparison: measured and predicted torque.
        residuals: their tests.
        effects: torque of gravity, inertia, friction and the others.
        columns: torque of every parameter alone.
    """

    name: str
    comparison: Comparison
    residuals: ResidualReport
    effects: Decomposition
    columns: ColumnTorque

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Of the residuals, and of terms that cancel."""
        return (*self.residuals.findings, *cancellation_findings(self.effects, self.columns))


def judge(
    model: Model,
    theta: Array,
    recording: Trajectory,
    prediction: Prediction,
    *,
    interval: tuple[float, float] | None = None,
) -> Judgement:
    """Judge a model on one recording.

    Args:
        model: robot and terms.
        theta: (p,) values of the model's columns.
        recording: as recorded, with torque.
        prediction: of its torque, e.g. by `predict`.
        interval: part of the recording [s]; None for all.

    Raises:
        DataError: nothing is left of the recording.
    """
    motion = prepare_recording(recording, model.robot).trajectory
    beside = compare(motion, prediction.time, prediction.torque, cutoff=prediction.cutoff, interval=interval)
    return Judgement(
        recording.name,
        beside,
        residual_report(beside),
        decompose(model, theta, beside.motion),
        column_torque(model, theta, beside.motion),
    )


def judgement_findings(
    judgements: Sequence[Judgement], model: Model, theta: Array, *, known: Sequence[Finding] = ()
) -> tuple[Finding, ...]:
    """Findings of all motions and of the model beside its file, without codes that `known` says already.

    Args:
        judgements: of one model.
        model: robot and terms.
        theta: (p,) values of the model's columns.
        known: findings that were made elsewhere.
    """
    told = {finding.code for finding in known} & {"fit.coloured_residual"}
    several = len(judgements) > 1
    found = [
        replace(f, where=f"{judgement.name}, {f.where}") if several else f
        for judgement in judgements
        for f in judgement.findings
        if f.code not in told
    ]
    return (*found, *credibility(model, theta, model.nominal).findings)
