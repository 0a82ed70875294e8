"""JSON as this project writes and reads it: the same bytes for the same values, and nothing that could mean two things.

Refused on reading: symbolic links, more than `LARGEST` bytes, text that is not UTF-8, a key that stands twice, NaN and
infinity (also written as 1e999), nesting without end, and whatever the schema of the file does not know.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from steelyard.errors import SessionError

File = TypeVar("File", bound=BaseModel)
LARGEST = 64 * 2**20
"""Bytes in a file."""
_FOREIGN = "this file was not written by steelyard, or was changed afterwards"


def to_json(model: BaseModel) -> str:
    """A model as JSON text: keys in the order of the schema, numbers by their shortest exact digits, one final newline.

    Raises:
        SessionError: a number that is not finite.
    """
    return _written(model.model_dump(mode="json", by_alias=True), "") + "\n"


def _written(value: Any, indent: str) -> str:
    """Lists and tables of scalars on one line, others one entry a line."""
    if not isinstance(value, (dict, list)):
        return _scalar(value)
    inner = value.values() if isinstance(value, dict) else value
    flat = not any(isinstance(part, (dict, list)) for part in inner)
    deeper = "" if flat else indent + "  "
    parts = (
        [f"{_scalar(str(key))}: {_written(part, deeper)}" for key, part in value.items()]
        if isinstance(value, dict)
        else [_written(part, deeper) for part in value]
    )
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if flat:
        return opening + ", ".join(parts) + closing
    return f"{opening}\n{deeper}" + f",\n{deeper}".join(parts) + f"\n{indent}{closing}"


def _scalar(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:
        raise SessionError("a number is not finite", value=value, cure="state null, with a finding") from None


def read_json(path: str | os.PathLike[str], model: type[File]) -> File:
    """The file at `path` as a `model`.

    Raises:
        SessionError: any reason to refuse it, with the key where there is one.
    """
    where = os.fspath(path)
    return parse_json(read_bytes(path), model, where=where)


def parse_json(data: bytes, model: type[File], *, where: str) -> File:
    """`data` as a `model`; `where` names it in messages.

    Raises:
        SessionError: as `read_json`.
    """
    load_strictly(data, where=where)
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        raise refusal(error, where=where) from None


def validated(model: type[File], fields: Mapping[str, Any], *, where: str) -> File:
    """A `model` of `fields`.

    Raises:
        SessionError: fields that break the schema, with the key.
    """
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        raise refusal(error, where=where) from None


def read_bytes(path: str | os.PathLike[str], *, largest: int = LARGEST) -> bytes:
    """The content of a regular file that is no symbolic link.

    Raises:
        SessionError: another kind of file, one that cannot be read or is larger than `largest` bytes.
    """
    where = os.fspath(path)
    if Path(path).is_symlink():
        raise SessionError("this is a symbolic link", where=where, cure="put the file itself there")
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb") as file:
            regular = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
            data = file.read(largest + 1) if regular else None
    except FileNotFoundError:
        raise SessionError("there is no such file", where=where, cure="check the path") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise SessionError(f"the file cannot be read: {reason}", where=where, cure="check path and rights") from None
    if data is None:
        raise SessionError("this is not a regular file", where=where, cure=_FOREIGN)
    if len(data) > largest:
        raise SessionError(f"the file is larger than {largest} bytes", where=where, cure=_FOREIGN)
    return data


def load_strictly(data: bytes, *, where: str) -> Any:
    """JSON of `data`, every table with unique keys, every number finite.

    Raises:
        SessionError: anything else, with the line where it is known.
    """
    try:
        return json.loads(
            data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite
        )
    except json.JSONDecodeError as error:
        place, what = f"{where}, line {error.lineno}", f"this is not JSON: {error.msg}"
    except UnicodeDecodeError as error:
        place, what = f"{where}, byte {error.start + 1}", "the text is not UTF-8"
    except RecursionError:
        place, what = where, "tables or lists are nested too deep"
    except ValueError as error:  # ours below, and integers of more digits than Python converts
        place, what = where, str(error)[:200]
    raise SessionError(what, where=place, cure=_FOREIGN)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for k, key in enumerate(keys) if key in keys[:k])
        raise ValueError(f"the key {twice[:80]!r} stands twice")
    return table


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a number that JSON has")


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"the number {text[:40]} is too large")
    return value


def refusal(error: ValidationError, *, where: str) -> SessionError:
    """The first complaint of pydantic as one of ours."""
    first = error.errors(include_url=False)[0]
    key = ".".join(str(part) for part in first["loc"])
    said = {"extra_forbidden": "unknown key", "missing": "the key is missing"}
    value = first["input"]
    return SessionError(
        said.get(first["type"], f"the value {first['msg'].removeprefix('Input ')}"),
        where=f"{where}, {key}" if key else where,
        value=None if isinstance(value, (Mapping, Sequence)) and not isinstance(value, str) else str(value)[:80],
        cure=_FOREIGN,
    )
