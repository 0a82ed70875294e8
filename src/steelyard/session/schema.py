"""What session.json and result.json hold: models that refuse unknown keys, NaN, infinity and paths that lead out.

JSON Schemas of both are published in docs/schemas.  A number that is infinite (the deviation of a parameter that the
motion does not show) is null, and a finding says so.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

SESSION_KIND: Final = "robot_identification_session"
RESULT_KIND: Final = "robot_identification_result"
LONGEST_TEXT = 10_000
"""Characters in a name or message."""


def utc(moment: datetime) -> str:
    """A moment as text in UTC, e.g. 2026-09-03T08:15:00Z, with microseconds where it has some."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"


def _moment(text: str) -> str:
    try:
        datetime.fromisoformat(text.removesuffix("Z"))
    except ValueError:
        raise PydanticCustomError("utc", "should be a moment in UTC, e.g. 2026-09-03T08:15:00Z") from None
    return text


def _inside(path: str) -> str:
    """A path that stays in the session's directory, in the same words on every system."""
    parts = path.split("/")
    if {"", ".", ".."} & set(parts) or "\\" in path or not path.isprintable():
        raise PydanticCustomError("inside", "should be a path inside the session, e.g. raw/run.csv")
    return path


def _ascending(interval: tuple[float, float]) -> tuple[float, float]:
    if interval[0] > interval[1]:
        raise PydanticCustomError("ascending", "should be an interval [from, to]")
    return interval


Text = Annotated[str, Field(max_length=LONGEST_TEXT)]
Name = Annotated[str, Field(min_length=1, max_length=1000)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="SHA-256, 64 hexadecimal digits")]
Utc = Annotated[
    str,
    Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,6})?Z$"),
    AfterValidator(_moment),
]
InsidePath = Annotated[
    str, Field(min_length=1, max_length=1000, description="inside the session's directory"), AfterValidator(_inside)
]
Count = Annotated[int, Field(ge=0)]
Length = Annotated[float, Field(ge=0)]
Interval = Annotated[tuple[float, float], AfterValidator(_ascending)]
Side = Literal["joint", "motor"]
Role = Literal["train", "validation"]


class Entry(BaseModel):
    """A part of one of the files: immutable, no unknown keys, no NaN, nothing converted."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        serialize_by_alias=True,  # "class" in every dump
        use_attribute_docstrings=True,
    )


def _refuse(what: str) -> None:
    raise PydanticCustomError("contradiction", "{what}", {"what": what})


def _unique(names: tuple[str, ...], what: str) -> None:
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        _refuse(f"holds the {what} {twice} twice")


# --- session.json ----------------------------------------------------------------------------------------------------


class PreparationEntry(Entry):
    """How a recording was filtered and differentiated before the fit: with the raw file it gives the processed one."""

    cutoff_hz: Annotated[float, Field(gt=0)]
    """Of the zero-phase low-pass."""
    cutoff_reason: Text
    keep_every: Annotated[int, Field(ge=1)]
    """One sample of this many goes into the fit."""
    velocity: Literal["recorded", "position"]
    """Whether the recorded velocity was used or that of the positions."""
    velocity_reason: Text
    steps: tuple[Text, ...] = ()
    """What was done since the recording, one line a step."""


class RecordingEntry(Entry):
    """One recording: where its copy stands, what it is for, and how it was sampled."""

    path: InsidePath
    name: Name
    """Name of the file it was copied from; a number is added where two have one name."""
    role: Role
    sha256: Sha256
    samples: Count
    """Time samples in the file."""
    rejected_count: Count
    """Time samples that were left out of the fit."""
    start_s: float
    stop_s: float
    duration_s: Length
    median_step_s: Length | None
    """Null for a single sample."""
    gaps: tuple[tuple[float, float], ...]
    """Last stamp before and first stamp after each gap [s]."""
    preparation: PreparationEntry | None = None


class ModelEntry(Entry):
    """The robot description as it was used."""

    path: InsidePath
    sha256: Sha256


class StudyEntry(Entry):
    """The study file as it was used."""

    path: InsidePath
    sha256: Sha256


class SessionFile(Entry):
    """session.json: where the data come from and what they mean."""

    schema_version: Literal[1] = 1
    kind: Literal["robot_identification_session"] = SESSION_KIND
    created: Utc
    software_version: Name
    joint_names: Annotated[tuple[Name, ...], Field(min_length=1)]
    """Joints that moved, in the order of the model."""
    torque_source: Name
    """What the torque is: measured at the joint, motor current times torque constant, commanded, simulated ..."""
    torque_side: Side
    """Where it was taken; what is stored is at the joint."""
    gravity: tuple[float, float, float]
    """In the base frame [m/s2]."""
    mount: Text | None
    tool: Text | None
    locked: dict[Name, float]
    """Joints held still, and where [rad or m]."""
    mimic: Literal["lock", "project"] = "lock"
    """Whether joints that follow another were held still, or moved with it."""
    model: ModelEntry
    study: StudyEntry | None
    recordings: tuple[RecordingEntry, ...]

    @model_validator(mode="after")
    def _hangs_together(self) -> SessionFile:
        _unique(self.joint_names, "joint")
        _unique(tuple(r.path.casefold() for r in self.recordings), "path")
        _unique(tuple(f"{r.role} {r.name}".casefold() for r in self.recordings), "recording")
        if not self.role("train"):
            _refuse("holds no training recording")
        both = sorted(set(self.locked) & set(self.joint_names))
        if both:
            _refuse(f"says that joint {both[0]} moved and was locked")
        return self

    def role(self, role: Role) -> tuple[RecordingEntry, ...]:
        """The recordings of one role."""
        return tuple(r for r in self.recordings if r.role == role)

    @property
    def cutoff_hz(self) -> float | None:
        """The lowest torque cut-off of the training recordings [Hz]; None before they were prepared."""
        cutoffs = [r.preparation.cutoff_hz for r in self.role("train") if r.preparation is not None]
        return min(cutoffs, default=None)


# --- result.json -----------------------------------------------------------------------------------------------------


class InputEntry(Entry):
    """A recording that was fitted, and the part of it that was used."""

    path: InsidePath
    sha256: Sha256
    interval_s: Interval


class ParameterEntry(Entry):
    """One parameter; `class` says what the number means.

    identified: the data determine it alone.  combined: the data determine it together with others, see the base map;
    a base parameter's value is that of the combination, a full parameter's that of the member nearest to the model
    file.  prior: it rests on what was known beforehand.
    """

    name: Name
    value: float
    unit: Text
    deviation: Length | None
    """Standard deviation; null when the data do not bound it."""
    interval_95: Interval | None
    class_: Annotated[Literal["identified", "combined", "prior"], Field(alias="class")]
    correlated_with: Name | None
    """The parameter that it can hardly be told from."""
    prior_share: Annotated[float, Field(ge=0, le=1)] | None = None
    """Part of the prior's variance that is left after the data; null where nothing was believed before."""


class MapEntry(Entry):
    """The base map: base parameters are `matrix` times the parameters named in `columns`."""

    columns: tuple[Name, ...]
    matrix: tuple[tuple[float, ...], ...]


class BaseEntry(Entry):
    """The combinations that torque can tell apart, whatever the motion."""

    count: Count
    names: tuple[Name, ...]
    map: MapEntry

    @model_validator(mode="after")
    def _has_one_shape(self) -> BaseEntry:
        _unique(self.names, "base parameter")
        _unique(self.map.columns, "column")
        wide = len(self.map.columns)
        if self.count != len(self.names) or [len(row) for row in self.map.matrix] != [wide] * self.count:
            _refuse(f"must be a matrix of {len(self.names)} names by {wide} columns, count {len(self.names)}")
        lost = [name for name in self.names if name not in self.map.columns]
        if lost:
            _refuse(f"names a base parameter that is no column: {lost[0]}")
        return self


class ConsistentEntry(Entry):
    """How the full parameters were found: the pseudo-inertia of every link is positive definite about its origin."""

    solver: Name
    residual_ratio: Length
    """Weighted residual on the training torque over that of the unconstrained optimum, at least 1."""
    kkt_residual: Length
    """Largest violation of the optimality conditions, computed from problem and solution alone: 0 at the optimum."""
    least_eigenvalue: Length | None
    """Of the pseudo-inertias; null when no link has mass."""
    total_mass_kg: Length
    """Of the moving links."""
    prior_weight: Length
    """Of the divergence from the model file's links, against the noise of the residual."""
    at_limit: tuple[Name, ...]
    """Friction and rotor inertia held at zero, limits reached."""
    at_edge: tuple[Name, ...]
    """Links that only being possible holds: as flat as a body can be."""


class WeakDirectionEntry(Entry):
    """A combination that the motion barely shows."""

    ratio: Length
    """Its singular value relative to the largest."""
    parts: dict[Name, float]


class DiagnosticsEntry(Entry):
    """How well the data determine the parameters."""

    samples: Count
    """Time samples in the fit."""
    rows: Count
    """Equations in the fit, one for each sample and joint that was not masked: at most samples times joints."""
    rank: Count
    condition: Length | None
    """Of the weighted regressor in SI units; null when infinite."""
    condition_scaled: Length | None
    """With columns of unit length; null when infinite."""
    noise_per_joint: dict[Name, Length | None]
    """Standard deviation of the residual [N m or N]."""
    mass_matrix_positive: bool | None
    """Over the workspace; null when not checked."""
    weak_directions: tuple[WeakDirectionEntry, ...]


class ValidationEntry(Entry):
    """Errors on a recording that was not fitted; relative errors are fractions, null where the torque is zero."""

    file: Name
    interval_s: Interval
    cutoff_hz: Annotated[float, Field(gt=0)]
    relative_error: Length | None
    relative_error_unfiltered: Length | None
    relative_error_unconstrained: Length | None = None
    """Of the estimate before it was made consistent; null when it was not."""
    rmse_per_joint: dict[Name, Length]
    peak_per_joint: dict[Name, Length]
    relative_error_per_joint: dict[Name, Length | None]
    baseline_urdf: Length | None
    """Relative error of the model file's own parameters; null when it has none."""
    baseline_urdf_friction: Length | None
    """The same with identified friction added."""


class FindingEntry(Entry):
    """Something a person should know."""

    code: Annotated[str, Field(pattern="^[a-z0-9_]+([.][a-z0-9_]+)+$")]
    level: Literal["info", "warning", "error"]
    message: Text
    where: Text
    value: float | int | Text | None
    cure: Text


class VerdictEntry(Entry):
    """What the result is good for; null where nothing was validated."""

    feed_forward: bool | None
    gravity_compensation: bool | None
    sentence: Text


class ResultFile(Entry):
    """result.json: parameters, how sure they are, what they were tested on. Always a candidate: a person decides."""

    schema_version: Literal[1] = 1
    status: Literal["candidate"] = "candidate"
    kind: Literal["robot_identification_result"] = RESULT_KIND
    software_version: Name
    model_digest: Sha256
    inputs: Annotated[tuple[InputEntry, ...], Field(min_length=1)]
    joint_names: Annotated[tuple[Name, ...], Field(min_length=1)]
    terms: tuple[Name, ...]
    estimator: Name
    prior: Text | None
    parameters: tuple[ParameterEntry, ...]
    """Base parameters: each stands for the combination that its row of the base map has."""
    full_parameters: tuple[ParameterEntry, ...] = ()
    """Standard parameters of every link with mass, about the link's own origin, and of the joints; they give the same
    torque as the base parameters. Empty unless a consistent set was asked for."""
    consistent: ConsistentEntry | None = None
    base: BaseEntry
    diagnostics: DiagnosticsEntry
    validation: tuple[ValidationEntry, ...]
    findings: tuple[FindingEntry, ...]
    verdict: VerdictEntry

    @model_validator(mode="after")
    def _hangs_together(self) -> ResultFile:
        _unique(self.joint_names, "joint")
        _unique(tuple(p.name for p in self.parameters), "parameter")
        _unique(tuple(p.name for p in self.full_parameters), "full parameter")
        if bool(self.full_parameters) != (self.consistent is not None):
            _refuse("must hold full_parameters and consistent together, or neither")
        _unique(tuple(v.file for v in self.validation), "validation file")
        lost = [p.name for p in self.parameters if p.name not in self.base.map.columns]
        if lost:
            _refuse(f"holds a parameter that is no column of the base map: {lost[0]}")
        if self.diagnostics.rows > self.diagnostics.samples * len(self.joint_names):
            _refuse("states more rows than samples times joints")
        tables: list[tuple[str, dict[str, Any]]] = [("noise_per_joint", dict(self.diagnostics.noise_per_joint))]
        for entry in self.validation:
            tables += [(key, dict(getattr(entry, key))) for key in PER_JOINT]
        for key, table in tables:
            if set(table) != set(self.joint_names):
                _refuse(f"{key} does not name the joints {', '.join(self.joint_names)}")
        return self


PER_JOINT = ("rmse_per_joint", "peak_per_joint", "relative_error_per_joint")
