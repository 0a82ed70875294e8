"""Reading a study file: TOML to a `Study`, or an error that names the line, the key, the valid ones and the cure."""

from __future__ import annotations

import os
import re
import stat
import tomllib
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from steelyard.errors import StudyError
from steelyard.formats.study_schema import Study
from steelyard.suggest import did_you_mean

__all__ = ["Study", "parse_study", "read_study"]

LARGEST_STUDY = 2**18
"""Bytes in a study file; a page of text is meant."""
LONGEST_LINE = 4096
"""Bytes in a line of it: the time to read a dotted key grows with the square of its length."""
_HELP = "docs/formats.md defines every key"


def read_study(path: str | os.PathLike[str]) -> Study:
    """The study in the TOML file at `path`.

    Raises:
        StudyError: a file that cannot be read, broken TOML (with the line), an unknown or contradictory key.
    """
    where = os.fspath(path)
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe or device would block or never end
            raise StudyError("this is not a file", where=where, cure="name a TOML file")
        with open(path, "rb") as file:
            data = file.read(LARGEST_STUDY + 1)
    except FileNotFoundError:
        raise StudyError("there is no such file", where=where, cure="check the path") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise StudyError(f"the file cannot be read: {reason}", where=where, cure="name a TOML file") from None
    if len(data) > LARGEST_STUDY:
        raise StudyError(
            f"this is not a study file: it has more than {LARGEST_STUDY} bytes", where=where, cure="name a TOML file"
        )
    return parse_study(_load(data, where), where=where)


def parse_study(document: Mapping[str, Any], *, where: str = "study") -> Study:
    """The study in a TOML `document` that is already loaded; `where` names it in messages.

    Raises:
        StudyError: an unknown key, a value of the wrong kind, keys that contradict each other.
    """
    try:
        return Study.model_validate(document)
    except ValidationError as error:
        raise _translated(error, document, where) from None
    except StudyError as error:
        place = f"{where}, {error.where}" if error.where else where
        raise StudyError(
            error.what, where=place, value=error.value, choices=error.choices, cure=error.cure or _HELP
        ) from None


def _load(data: bytes, where: str) -> dict[str, Any]:
    long = next((k for k, line in enumerate(data.split(b"\n"), start=1) if len(line) > LONGEST_LINE), None)
    if long is not None:
        raise StudyError(
            f"the line has more than {LONGEST_LINE} bytes",
            where=f"{where}, line {long}",
            cure="give a matrix one line per row; is this a study file?",
        )
    try:
        return tomllib.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise StudyError(
            "the text is not UTF-8", where=f"{where}, line {line}", cure="save the file as UTF-8"
        ) from None
    except RecursionError:
        raise StudyError("tables or lists are nested too deep", where=where, cure=_HELP) from None
    except ValueError as error:  # TOMLDecodeError, and integers beyond what Python converts
        found = re.search(r"\(at line (\d+), column \d+\)", str(error))
        line = int(found[1]) if found else data.count(b"\n") + 1
        text = data.decode("utf-8-sig").splitlines()[line - 1 : line]
        raise StudyError(
            f"the TOML cannot be read: {str(error)[:100]}",
            where=f"{where}, line {line}" if found else where,
            value=text[0][:80] if found and text else None,
            cure='text stands in quotes, joints with odd characters too: "q/joint-1" = "deg"',
        ) from None


def _translated(error: ValidationError, document: Mapping[str, Any], where: str) -> StudyError:
    """The first complaint of pydantic as one of ours; the branches of a union are told together."""
    complaints = error.errors(include_url=False)
    paths = [_path(complaint["loc"], document) for complaint in complaints]
    path = max((p for p in paths if p[:2] == paths[0][:2]), key=len)  # the branch of a union that came furthest
    same = [c for c, p in zip(complaints, paths, strict=True) if p == path]
    place = f"{where}, [{'.'.join(path[:-1])}] {path[-1]}" if len(path) > 1 else f"{where}, [{path[0]}]"
    if same[0]["type"] == "extra_forbidden":
        valid = _keys(path[:-1])
        return StudyError(
            "unknown table" if len(path) == 1 else "unknown key",
            where=place,
            value=path[-1],
            choices=valid,
            cure=did_you_mean(path[-1], valid, otherwise=_HELP),
        )
    what = ", or ".join(dict.fromkeys(c["msg"].removeprefix("Input ") for c in same))
    return StudyError(f"the value {what}", where=place, value=_shown(same[0]["input"]), cure=_HELP)


def _path(loc: tuple[int | str, ...], document: Mapping[str, Any]) -> tuple[str, ...]:
    """The place in the document, without the names that pydantic adds for the branches of a union."""
    node: Any = document
    path: list[str] = []
    for part in loc:
        if isinstance(part, str) and isinstance(node, Mapping) and part in node:
            node = node[part]
            path.append(part)
        elif isinstance(part, int) and isinstance(node, list):
            node = node[part] if part < len(node) else None
            path.append(str(part + 1))
    return tuple(path) or ("document",)


def _keys(path: tuple[str, ...]) -> tuple[str, ...]:
    """The valid keys of the table at a path."""
    model: type[BaseModel] = Study
    for part in path:
        nested = model.model_fields[part].annotation
        if not (isinstance(nested, type) and issubclass(nested, BaseModel)):
            return ()
        model = nested
    return tuple(model.model_fields)


def _shown(value: object) -> str:
    """A scalar as text; tables and lists, which may be deep, by their kind only."""
    if isinstance(value, Mapping):
        return "a table"
    return "a list" if isinstance(value, (list, tuple)) else str(value)[:80]
