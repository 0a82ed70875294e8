"""What of an excitation.yaml is read again: the motion and what it was made for."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

KIND: Literal["robot_excitation"] = "robot_excitation"
SCHEMA_VERSION: Literal[1] = 1

Number = Annotated[float, Field(allow_inf_nan=False)]


class _Table(BaseModel):
    """Strict in what it reads; the rest of the file is for people."""

    model_config = ConfigDict(frozen=True, strict=True)


class JointSeries(_Table):
    """The series of one joint."""

    harmonics: Annotated[tuple[int, ...], Field(strict=False)]
    center: Number
    sine: Annotated[tuple[Number, ...], Field(strict=False)]
    cosine: Annotated[tuple[Number, ...], Field(strict=False)]


class MotionTable(_Table):
    """One period."""

    period_s: Number
    rest: Literal["free", "acceleration", "jerk"]
    joints: Annotated[dict[str, JointSeries], Field(min_length=1)]


class ExcitationTable(_Table):
    """The file."""

    schema_version: Literal[1]
    kind: Literal["robot_excitation"]
    model_sha256: str
    motion: MotionTable
