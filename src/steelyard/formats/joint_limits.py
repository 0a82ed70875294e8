"""Reading limits of joints in the form that MoveIt and ros2_control share: `joint_limits.yaml`.

    joint_limits:
      shoulder: {has_acceleration_limits: true, max_acceleration: 6.0, has_jerk_limits: false}

A limit counts when its `has_..._limits` is true. Said to be false, the joint has no such limit; left out, nothing is
known of it. Numbers are in SI; the tags !degrees and !radians of xacro files are understood. `torque_rate` [N m/s] is
a quantity of our own.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from steelyard.errors import StudyError
from steelyard.excite.limits import JointLimit
from steelyard.suggest import did_you_mean

if TYPE_CHECKING:
    from ruamel.yaml.nodes import MappingNode, Node

T = TypeVar("T")
LARGEST = 2**20
"""Bytes in a limits file; a page of text is meant."""

_QUANTITIES = ("position", "velocity", "acceleration", "deceleration", "jerk", "effort", "torque_rate")
_FLAGS = {q: f"has_{q}_limits" for q in _QUANTITIES}
_NUMBERS = {q: (f"max_{q}",) for q in _QUANTITIES} | {"position": ("min_position", "max_position")}
_OTHER = ("angle_wraparound", "has_soft_limits", "k_position", "k_velocity", "soft_lower_limit", "soft_upper_limit")
_KEYS = (*_FLAGS.values(), *(key for keys in _NUMBERS.values() for key in keys), *_OTHER)
_TOP = ("joint_limits", "default_velocity_scaling_factor", "default_acceleration_scaling_factor")
_YAML = "tag:yaml.org,2002:"
_CURE = "joint_limits: <joint>: {has_acceleration_limits: true, max_acceleration: 6.0}"


def read_joint_limits(path: str | os.PathLike[str]) -> dict[str, JointLimit]:
    """The limits in the file at `path`, by joint name.

    Raises:
        StudyError: a file that cannot be read, broken YAML, unknown or doubled keys, values that are no numbers; each
            with the line.
    """
    where = os.fspath(path)
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1) if Path(path).is_file() else None
    except FileNotFoundError:
        raise StudyError("there is no such file", where=where, cure="check the path") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise StudyError(f"the file cannot be read: {reason}", where=where, cure="name a YAML file") from None
    if data is None or len(data) > LARGEST:
        raise StudyError("this is not a limits file", where=where, cure="name a YAML file of at most 1 MB")
    try:
        return parse_joint_limits(data.decode("utf-8-sig"), where=where)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise StudyError(
            "the text is not UTF-8", where=f"{where}, line {line}", cure="save the file as UTF-8"
        ) from None


def parse_joint_limits(text: str, *, where: str = "joint_limits.yaml") -> dict[str, JointLimit]:
    """The limits in a YAML text; `where` names it in messages.

    Raises:
        StudyError: as `read_joint_limits`.
    """
    top = _entries(_compose(text, where), where, _TOP)
    if "joint_limits" not in top:
        raise StudyError("the file holds no joint_limits", where=where, choices=_TOP, cure=_CURE)
    joints = _entries(top["joint_limits"], where, None)
    return {name: _limit(_entries(node, where, _KEYS), node, where, name) for name, node in joints.items()}


def _compose(text: str, where: str) -> Node | None:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        node: Node | None = YAML(typ="safe", pure=True).compose(text)
    except RecursionError:
        raise StudyError("the file is nested too deep", where=where, cure=_CURE) from None
    except MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise StudyError(f"the YAML cannot be read: {error.problem}", where=where + line, cure=_CURE) from None
    except YAMLError as error:
        raise StudyError(f"the YAML cannot be read: {str(error)[:100]}", where=where, cure=_CURE) from None
    return node


def _place(node: Node, where: str) -> str:
    return f"{where}, line {node.start_mark.line + 1}"


def _entries(node: Node | None, where: str, valid: tuple[str, ...] | None) -> dict[str, Node]:
    """The entries of a mapping, each key once and, where `valid` is given, one of these."""
    from ruamel.yaml.nodes import MappingNode, ScalarNode

    if not isinstance(node, MappingNode):
        place = where if node is None else _place(node, where)
        raise StudyError("a table of names and values is expected here", where=place, cure=_CURE)
    mapping: MappingNode = node
    found: dict[str, Node] = {}
    for key, value in mapping.value:
        if not isinstance(key, ScalarNode):
            raise StudyError("a name is expected here", where=_place(key, where), cure=_CURE)
        if key.value in found:
            raise StudyError("a name is given twice", where=_place(key, where), value=key.value)
        if valid is not None and key.value not in valid:
            raise StudyError(
                "unknown key", where=_place(key, where), value=key.value, choices=valid,
                cure=did_you_mean(key.value, valid, otherwise=_CURE),
            )  # fmt: skip
        found[key.value] = value
    return found


def _limit(entries: dict[str, Node], node: Node, where: str, joint: str) -> JointLimit:
    """What the entries of one joint say."""
    values: dict[str, float | None] = {}
    for quantity, flag in _FLAGS.items():
        keys = _NUMBERS[quantity]
        if flag not in entries:
            for key in keys:
                if key in entries:
                    raise StudyError(
                        f"{key} without {flag}: whether it counts is not said", where=_place(entries[key], where),
                        value=joint, cure=f"add {flag}: true",
                    )  # fmt: skip
            continue
        counts = _scalar(entries[flag], where, "true or false", _flag)
        for key in keys:
            if counts and key not in entries:
                raise StudyError(
                    f"{flag} is true, but there is no {key}", where=_place(entries[flag], where), value=joint,
                    cure=f"add {key}, or say {flag}: false",
                )  # fmt: skip
            unlimited = -math.inf if key == "min_position" else math.inf
            values[key] = _scalar(entries[key], where, "a number in SI", _number) if counts else unlimited
    braking = values.get("max_deceleration")
    speeding = values.get("max_acceleration")
    if braking is not None and speeding is not None:
        speeding = min(speeding, braking)
    return JointLimit(
        lower=values.get("min_position"),
        upper=values.get("max_position"),
        velocity=values.get("max_velocity"),
        acceleration=speeding,
        jerk=values.get("max_jerk"),
        effort=values.get("max_effort"),
        torque_rate=values.get("max_torque_rate"),
    )


def _scalar(node: Node, where: str, expected: str, read: Callable[[str, str], T | None]) -> T:
    from ruamel.yaml.nodes import ScalarNode

    value = read(str(node.tag), str(node.value)) if isinstance(node, ScalarNode) else None
    if value is None:
        shown = str(node.value)[:40] if isinstance(node, ScalarNode) else "a table or list"
        raise StudyError(f"{expected} is expected here", where=_place(node, where), value=shown, cure=_CURE)
    return value


def _flag(tag: str, text: str) -> bool | None:
    return text.lower() == "true" if tag == f"{_YAML}bool" and text.lower() in ("true", "false") else None


def _number(tag: str, text: str) -> float | None:
    """A finite number; other tags than those of numbers and of xacro's angles are refused."""
    if "_" in text or tag not in (f"{_YAML}int", f"{_YAML}float", "!degrees", "!radians"):
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    return math.radians(value) if tag == "!degrees" else value
