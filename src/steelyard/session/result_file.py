"""result.json from an estimate, and an estimate to predict with from result.json; values in, values out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.validation import Score
from steelyard.basis import ParameterBasis
from steelyard.errors import SessionError
from steelyard.estimate.consistent_result import Consistent
from steelyard.estimate.result import Estimate
from steelyard.estimate.shares import prior_share
from steelyard.finding import Finding
from steelyard.session.full_parameters import consistent_entry, full_parameter_entries, prior_in_words
from steelyard.session.layout import RESULT
from steelyard.session.schema import (
    FindingEntry,
    InputEntry,
    ResultFile,
    SessionFile,
    ValidationEntry,
    VerdictEntry,
)
from steelyard.session.strict_json import read_json, validated
from steelyard.terms.term import Column

Array = NDArray[np.float64]
RESTS_ON_PRIOR = 0.5  # share of the prior's variance above which a value is the prior's more than the data's
UNBOUNDED = "fit.unbounded"
"""Code of the finding that names the numbers which are infinite and stand as null."""


def build_result(
    estimate: Estimate,
    basis: ParameterBasis,
    columns: Sequence[Column],
    *,
    model_digest: str,
    inputs: Sequence[InputEntry],
    terms: Sequence[str],
    verdict: VerdictEntry,
    software_version: str,
    validation: Sequence[ValidationEntry] = (),
    findings: Sequence[Finding] = (),
    mass_matrix_positive: bool | None = None,
    consistent: Consistent | None = None,
) -> ResultFile:
    """The result file of an estimate.

    Args:
        estimate: of the base parameters, or of all columns.
        basis: base parameters of the model.
        columns: of the model, with units (`Model.columns`).
        model_digest: SHA-256 of the model file (`Robot.digest`).
        inputs: what was fitted; see `inputs_of`.
        terms: names from which the model can be built again.
        verdict: what it is good for.
        software_version: of this package.
        validation: errors on recordings that were not fitted; see `validation_entry`.
        findings: those of model, recordings and validation; the estimate's own are added.
        mass_matrix_positive: over the workspace; None when not checked.
        consistent: the full set that the estimate was made of, when it was.

    Raises:
        SessionError: a parameter that is not finite or is no column, anything else the schema refuses.
    """
    lost: list[str] = []
    parameters = _parameters(estimate, basis, {column.name: column.unit for column in columns}, lost)
    diagnostics = {**_diagnostics(estimate, lost), "mass_matrix_positive": mass_matrix_positive}
    lost += [f"relative_error of {entry.file}" for entry in validation if entry.relative_error is None]
    told = [*estimate.findings, *findings, *_unbounded(lost)]
    fields = {
        "software_version": software_version,
        "model_digest": model_digest,
        "inputs": tuple(inputs),
        "joint_names": estimate.information.joints,
        "terms": tuple(terms),
        "estimator": estimate.estimator,
        "prior": None if consistent is None else prior_in_words(consistent),
        "parameters": parameters,
        "full_parameters": () if consistent is None else full_parameter_entries(consistent, reach=estimate.reach()),
        "consistent": None if consistent is None else consistent_entry(consistent),
        "base": {
            "count": basis.count,
            "names": basis.names,
            "map": {"columns": basis.columns, "matrix": tuple(map(tuple, basis.matrix.tolist()))},
        },
        "diagnostics": diagnostics,
        "validation": tuple(validation),
        "findings": tuple(dict.fromkeys(map(finding_entry, told))),
        "verdict": verdict,
    }
    return validated(ResultFile, fields, where=RESULT)


def inputs_of(
    manifest: SessionFile, intervals: Mapping[str, tuple[float, float]] | None = None
) -> tuple[InputEntry, ...]:
    """The training recordings of a session as inputs of a result.

    Args:
        manifest: session.json.
        intervals: name of a recording -> part that was fitted [s]; the whole of those not named.

    Raises:
        SessionError: a name that is no training recording, an interval that runs backwards.
    """
    train = manifest.role("train")
    parts = dict(intervals or {})
    unknown = sorted(set(parts) - {entry.name for entry in train})
    if unknown:
        raise SessionError(
            "not a training recording of the session", value=unknown[0], choices=[entry.name for entry in train]
        )
    return tuple(
        validated(
            InputEntry,
            {
                "path": entry.path,
                "sha256": entry.sha256,
                "interval_s": tuple(map(float, parts.get(entry.name, (entry.start_s, entry.stop_s)))),
            },
            where=entry.name,
        )
        for entry in train
    )


def validation_entry(
    file: str,
    score: Score,
    *,
    baseline_urdf: float | None = None,
    baseline_urdf_friction: float | None = None,
    unconstrained: float | None = None,
) -> ValidationEntry:
    """One score as it stands in the result.

    Args:
        file: name of the recording in session.json.
        score: of the identified model.
        baseline_urdf: relative error with the parameters of the model file, a fraction; None when it has none.
        baseline_urdf_friction: the same with identified friction added.
        unconstrained: the same of the estimate before it was made consistent.
    """

    def per_joint(values: Array) -> dict[str, float | None]:
        return {name: _finite(value) for name, value in zip(score.joint_names, values, strict=True)}

    fields = {
        "file": file,
        "interval_s": tuple(map(float, score.interval)),
        "cutoff_hz": float(score.cutoff),
        "relative_error": _finite(score.relative_error),
        "relative_error_unfiltered": _finite(score.relative_error_unfiltered),
        "relative_error_unconstrained": None if unconstrained is None else _finite(unconstrained),
        "rmse_per_joint": per_joint(score.rmse),
        "peak_per_joint": per_joint(score.peak),
        "relative_error_per_joint": per_joint(score.relative_error_per_joint),
        "baseline_urdf": None if baseline_urdf is None else _finite(baseline_urdf),
        "baseline_urdf_friction": None if baseline_urdf_friction is None else _finite(baseline_urdf_friction),
    }
    return validated(ValidationEntry, fields, where=file)


def finding_entry(finding: Finding) -> FindingEntry:
    """A finding as it stands in the result; a value that JSON has no number for becomes text."""
    value: Any = finding.value.item() if isinstance(finding.value, np.generic) else finding.value
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if value is not None and not (number and isfinite(value)):
        value = str(value)
    return validated(FindingEntry, {**finding.as_dict(), "value": value}, where=finding.code)


@dataclass(frozen=True)
class StoredEstimate:
    """What a result file holds of an estimate: enough to predict, not to estimate on.

    Attributes:
        names: b parameters.
        theta: (b,) their values.
        deviation: (b,) standard deviations, infinite where the data do not bound them.
        columns: p parameters of the model.
        matrix: (base parameters, p) base map.
        base_names: names of its rows.
    """

    names: tuple[str, ...]
    theta: Array
    deviation: Array
    columns: tuple[str, ...]
    matrix: Array
    base_names: tuple[str, ...]

    def full(self, columns: Sequence[str]) -> Array:
        """(p,) a vector of all model columns that gives the estimate's torque: the others are zero.

        For prediction only: the values of single standard parameters in it have no physical meaning.

        Raises:
            SessionError: the model does not have the columns of the result.
        """
        if tuple(columns) != self.columns:
            odd = sorted(set(columns) ^ set(self.columns)) or ["the same columns in another order"]
            raise SessionError(
                "the model has other columns than the result",
                where=RESULT,
                value=", ".join(odd[:5]),
                cure="build it from the session's own model, with the same terms and locked joints",
            )
        given = dict(zip(self.names, self.theta, strict=True))
        return np.array([given.get(name, 0.0) for name in self.columns])


def estimate_from_result(result: ResultFile) -> StoredEstimate:
    """The parameters of a result, to predict with."""
    entries = result.parameters
    return StoredEstimate(
        names=tuple(entry.name for entry in entries),
        theta=np.array([entry.value for entry in entries]),
        deviation=np.array([np.inf if entry.deviation is None else entry.deviation for entry in entries]),
        columns=result.base.map.columns,
        matrix=np.array(result.base.map.matrix).reshape(result.base.count, len(result.base.map.columns)),
        base_names=result.base.names,
    )


def read_result(path: str | Path) -> ResultFile:
    """The result file at `path`; raises SessionError for one that is damaged, foreign or contradicts itself."""
    return read_json(path, ResultFile)


def _parameters(
    estimate: Estimate, basis: ParameterBasis, units: Mapping[str, str], lost: list[str]
) -> tuple[dict[str, Any], ...]:
    """Entries of `parameters`; `lost` gains what is not finite."""
    names = ("deviation", "interval_95")
    bounds = np.column_stack([estimate.deviation, estimate.interval()])
    entries = []
    for name, value, (deviation, low, high), partner, share in zip(
        estimate.names, estimate.theta, bounds, estimate.partners(), prior_share(estimate), strict=True
    ):
        if name not in units:
            raise SessionError("a parameter is no column of the model", where=RESULT, value=name, choices=tuple(units))
        bounded = bool(np.isfinite([deviation, low, high]).all())
        if not bounded:
            lost += [f"{key} of {name}" for key in names]
        kind = {"alone": "identified" if bounded else "combined", "combined": "combined", "none": "prior"}
        entries.append(
            {
                "name": name,
                "value": float(value),
                "unit": units[name],
                "deviation": float(deviation) if bounded else None,
                "interval_95": (float(low), float(high)) if bounded else None,
                "class": "prior" if share > RESTS_ON_PRIOR else kind[basis.classes[name]],
                "prior_share": _finite(share),
                "correlated_with": partner,
            }
        )
    return tuple(entries)


def _diagnostics(estimate: Estimate, lost: list[str]) -> dict[str, Any]:
    condition = {"condition": _finite(estimate.condition), "condition_scaled": _finite(estimate.condition_scaled)}
    noise = {j: _finite(s) for j, s in zip(estimate.information.joints, estimate.noise, strict=True)}
    lost += [key for key, value in condition.items() if value is None]
    lost += [f"noise of {joint}" for joint, value in noise.items() if value is None]
    return {
        "samples": int(estimate.information.samples),
        "rows": int(sum(estimate.information.rows)),
        "rank": int(estimate.rank),
        **condition,
        "noise_per_joint": noise,
        "weak_directions": tuple({"ratio": ratio, "parts": parts} for ratio, parts in estimate.weak_directions()),
    }


def _unbounded(lost: Sequence[str]) -> list[Finding]:
    if not lost:
        return []
    named = ", ".join(lost[:6]) + (f" and {len(lost) - 6} more" if len(lost) > 6 else "")
    return [
        Finding(
            UNBOUNDED,
            "warning",
            f"not finite, therefore null in the result: {named}",
            value=len(lost),
            cure="a parameter without bound is not in the data: move the joints concerned, or leave its term out",
        )
    ]


def _finite(value: float) -> float | None:
    return float(value) if isfinite(value) else None
