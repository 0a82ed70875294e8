"""The tables of a study file: how a recording was made, which drives and mount the robot has, how it is to be fitted.

Everything goes by joint name.  Defaults describe the plain recording: SI units, joint side, nothing to convert.
Every key is defined in docs/formats.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, sin
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, model_validator

from steelyard.data.contract import TIME, split_name
from steelyard.data.trajectory import CHANNELS
from steelyard.errors import StudyError
from steelyard.formats.column_names import ColumnNames
from steelyard.preparation.drive import coupled
from steelyard.suggest import did_you_mean
from steelyard.units import UNITS, unit

Number = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-1e9, le=1e9)]
Positive = Annotated[float, Field(strict=True, allow_inf_nan=False, gt=0)]
Flag = Annotated[bool, Field(strict=True)]
Count = Annotated[int, Field(strict=True, ge=1)]
Text = Annotated[str, Field(strict=True, min_length=1)]
Vector = tuple[Number, Number, Number]
Matrix = tuple[tuple[Number, ...], ...]
Side = Literal["joint", "motor"]

DIMENSIONS: dict[str, tuple[str, ...]] = {
    TIME: ("time",),
    "q": ("angle", "length"),
    "dq": ("angular velocity", "velocity"),
    "ddq": ("angular acceleration", "acceleration"),
    "tau": ("torque", "force", "current"),
}
"""What a column of each group can measure."""

STANDARD_GRAVITY = 9.81
"""Magnitude used with a mount alone [m/s2]: the value Pinocchio and the model files of the field assume."""


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class RecordingTable(_Table):
    """`[recording]`: what the columns of the file hold."""

    columns: dict[Text, Text] = {}
    ignore: tuple[Text, ...] = ()
    unit: dict[Text, Text] = {}
    sign: dict[Text, Number] = {}
    position_offset: dict[Text, Number] = {}

    @model_validator(mode="after")
    def _means_something(self) -> RecordingTable:
        self.names()
        for key, name in self.unit.items():
            group = TIME if key == TIME else _group(key, "[recording.unit]")
            if unit(name).dimension not in DIMENSIONS[group]:
                raise StudyError(
                    f"{group} cannot be measured in this unit, a unit of {unit(name).dimension}",
                    where=f"[recording.unit] {key}",
                    value=name,
                    choices=[n for n, u in UNITS.items() if u.dimension in DIMENSIONS[group]],
                )
        if TIME in self.sign:
            raise StudyError("time has no sign", where="[recording.sign]", value=TIME)
        for key, sign in self.sign.items():
            if sign not in (1.0, -1.0):
                raise StudyError("a sign is 1 or -1", where=f"[recording.sign] {key}", value=sign, choices=("1", "-1"))
        return self

    def names(self) -> ColumnNames:
        """The mapping of column names."""
        return ColumnNames(self.columns, self.ignore)

    def unit_of(self, channel: str, joint: str) -> str:
        """The unit declared for a column, else for its group, else "" (SI)."""
        return self.unit.get(f"{channel}/{joint}", self.unit.get(channel, ""))

    def sign_of(self, channel: str, joint: str) -> float:
        """The sign declared for a column, else for the joint, else for the group, else +1."""
        for key in (f"{channel}/{joint}", joint, channel):
            if key in self.sign:
                return self.sign[key]
        return 1.0


class DriveTable(_Table):
    """`[drive]`: what stands between the sensors and the joints."""

    position_side: Side = "joint"
    torque_side: Side = "joint"
    ratio: dict[Text, Number] = {}
    joints: tuple[Text, ...] = ()
    position_matrix: Matrix | None = None
    torque_matrix: Matrix | None = None
    torque_constant: dict[Text, Number] = {}
    current_offset: dict[Text, Number] = {}
    efficiency: dict[Text, Annotated[float, Field(strict=True, gt=0, le=1)]] = {}

    @property
    def coupled(self) -> bool:
        """Whether full matrices are given."""
        return self.position_matrix is not None or self.torque_matrix is not None

    def matrices(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """R and T in the order of `joints`, (n, n) each; the one not given is the other's transpose."""
        r, t = self.position_matrix, self.torque_matrix
        position = np.array(t).T if r is None else np.array(r)
        return position, position.T if t is None else np.array(t)

    @model_validator(mode="after")
    def _hangs_together(self) -> DriveTable:
        geared = bool(self.ratio) or self.coupled
        motor = "motor" in (self.position_side, self.torque_side)
        if self.ratio and self.coupled:
            raise StudyError("ratio and matrices exclude each other", where="[drive]", cure="keep the matrices")
        if motor and not geared:
            raise StudyError(
                "signals of the motor side need ratio, or joints with position_matrix", where="[drive]", value="motor"
            )
        if geared and not motor:
            raise StudyError(
                "a gear is given, but all signals are said to be joint side",
                where="[drive]",
                cure='say which signals are taken at the motor: position_side = "motor", torque_side = "motor"',
            )
        if self.efficiency and self.torque_side == "joint":
            raise StudyError(
                "an efficiency applies to torque of the motor side only",
                where="[drive.efficiency]",
                cure='torque_side = "motor", or delete it',
            )
        for joint, value in (*self.ratio.items(), *self.torque_constant.items()):
            if value == 0:
                raise StudyError("a ratio or torque constant cannot be 0", where=f"[drive] {joint}", value=value)
        for joint in self.current_offset:
            if joint not in self.torque_constant:
                raise StudyError(
                    "a current offset needs a torque constant", where="[drive.current_offset]", value=joint
                )
        self._check_matrices()
        return self

    def _check_matrices(self) -> None:
        n = len(self.joints)
        if len(set(self.joints)) != n:
            raise StudyError("a joint stands twice", where="[drive] joints", value=list(self.joints))
        if self.coupled != bool(n):
            raise StudyError(
                "joints and matrices belong together: joints names the rows and columns",
                where="[drive] joints",
                value=list(self.joints),
            )
        for name, matrix in (("position_matrix", self.position_matrix), ("torque_matrix", self.torque_matrix)):
            if matrix is not None and [len(row) for row in matrix] != [n] * n:
                raise StudyError(
                    f"the matrix must have {n} rows of {n} numbers, one for each of joints",
                    where=f"[drive] {name}",
                    value=f"rows of {[len(row) for row in matrix]}",
                )
        if self.coupled:
            coupled(*self.matrices())  # refuses a singular coupling here, where the study can be named


class RobotTable(_Table):
    """`[robot]`: how the robot stands, and joints that did not move."""

    gravity: Vector | None = None
    mount: Vector | None = None
    locked: dict[Text, Number] = {}
    mimic: Literal["lock", "project"] = "lock"

    @model_validator(mode="after")
    def _one_gravity(self) -> RobotTable:
        if self.gravity is not None and self.mount is not None:
            raise StudyError("gravity and mount exclude each other", where="[robot]", cure="keep gravity")
        return self

    def gravity_in_base(self) -> tuple[float, float, float] | None:
        """Gravity in the base frame [m/s2]: as given, or R' (0, 0, -9.81) for a mount R = Rz Ry Rx; None if unsaid."""
        if self.gravity is not None or self.mount is None:
            return self.gravity
        roll, pitch, _ = self.mount
        g = STANDARD_GRAVITY
        return (g * sin(pitch), -g * cos(pitch) * sin(roll), -g * cos(pitch) * cos(roll))


class PrepareTable(_Table):
    """`[prepare]`: how the recording is filtered before the fit."""

    cutoff_hz: Literal["auto"] | Positive | dict[Text, Positive] = "auto"
    decimate: Literal["auto"] | Count = "auto"
    dead_band: Literal["auto"] | Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] = "auto"
    use_recorded_dq: Literal["auto"] | Flag = "auto"
    exclude: tuple[tuple[Number, Number], ...] = ()
    delay_s: Literal["estimate"] | Annotated[float, Field(strict=True, ge=-0.5, le=0.5, allow_inf_nan=False)] = 0.0

    @model_validator(mode="after")
    def _runs_forward(self) -> PrepareTable:
        for first, last in self.exclude:
            if not first < last:
                raise StudyError(
                    "an interval to leave out is two times [s], the earlier one first",
                    where="[prepare] exclude",
                    value=[first, last],
                )
        return self


class TermsTable(_Table):
    """`[terms]`: the effects in the model; None is the default set."""

    names: tuple[Text, ...] | None = None


class EstimateTable(_Table):
    """`[estimate]`: how parameters are found; None is the default of the command."""

    name: Text | None = None
    prior: Flag | None = None
    consistent: Flag | None = None
    bootstrap: Annotated[int, Field(strict=True, ge=100, le=100_000)] | None = None

    @model_validator(mode="after")
    def _one_estimator(self) -> EstimateTable:
        if self.name is not None and self.prior is not None and self.prior != (self.name == "prior"):
            raise StudyError(
                "name and prior contradict each other", where="[estimate]", value=f"{self.name}, prior = {self.prior}",
                cure="keep name",
            )  # fmt: skip
        return self


class ObstacleTable(_Table):
    """`[excite.obstacles.NAME]`: something that stands around the robot, in the frame of its base."""

    kind: Literal["box", "sphere", "cylinder", "plane"]
    size: tuple[Positive, ...] = ()
    position: Vector = (0.0, 0.0, 0.0)
    rpy: Vector = (0.0, 0.0, 0.0)


class FrameTable(_Table):
    """`[excite.frames.LINK]`: how fast a point of a link may be, and the box it stays in."""

    point: Vector = (0.0, 0.0, 0.0)
    speed: Positive | None = None
    lower: Vector | None = None
    upper: Vector | None = None


class ExciteTable(_Table):
    """`[excite]`: what a motion has to keep clear of."""

    distance: Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)] | None = None
    meshes: tuple[Text, ...] = ()
    allowed: tuple[tuple[Text, Text], ...] = ()
    checked: tuple[tuple[Text, Text], ...] = ()
    obstacles: dict[Text, ObstacleTable] = {}
    frames: dict[Text, FrameTable] = {}


class StageTable(_Table):
    """`[stages.NAME]`: what an experiment settles, and its recordings among those given to fit."""

    settle: Text
    train: tuple[Text, ...]


class Study(_Table):
    """A study file, table by table; every table may be absent."""

    recording: RecordingTable = RecordingTable()
    drive: DriveTable = DriveTable()
    robot: RobotTable = RobotTable()
    prepare: PrepareTable = PrepareTable()
    terms: TermsTable = TermsTable()
    estimate: EstimateTable = EstimateTable()
    excite: ExciteTable = ExciteTable()
    stages: dict[Text, StageTable] = {}


def _group(key: str, where: str) -> str:
    """The group a unit is declared for: `q` or `q/<joint>`."""
    parts = split_name(key)
    group = key if parts is None else parts[0]
    if group not in CHANNELS:
        raise StudyError(
            "a unit is declared for a group or for a column",
            where=where,
            value=key,
            choices=(TIME, *CHANNELS, *(f"{channel}/<joint>" for channel in CHANNELS)),
            cure=did_you_mean(key, (TIME, *CHANNELS), otherwise='e.g. q = "deg" or "q/elbow" = "deg"'),
        )
    return group


def joints_named(table: Mapping[str, object]) -> tuple[str, ...]:
    """The joints that the keys of a `unit` or `sign` table speak of; groups and time speak of none."""
    parts = {key: split_name(key) for key in table if key not in (*CHANNELS, TIME)}
    return tuple(key if pair is None else pair[1] for key, pair in parts.items())
