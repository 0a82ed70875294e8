"""Plain values as YAML that every reader takes alike: no aliases, no tags, no word or number to be guessed at."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence

from steelyard.errors import StudyError

Scalar = str | float | int | bool | None
Value = Scalar | Sequence[Scalar] | Sequence[Sequence[Scalar]] | Mapping[str, "Value"]

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*")
# words that some version of YAML reads as a truth value, nothing or a number
_RESERVED = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "none", "nan", "inf"))


def yaml_text(value: Mapping[str, Value], *, comment: Sequence[str] = ()) -> str:
    """A mapping as a YAML document; the same value gives the same text, keys in the order given.

    Floats are the shortest decimals that read back to the same double, always with a point (``1.0e-05``: without it
    YAML 1.1 sees a word). Texts that are not plain words are in double quotes, as JSON has them.

    Args:
        value: mappings of texts, numbers, truth values, None, lists of those and lists of lists.
        comment: lines to put before it.

    Raises:
        StudyError: a number that is not finite, a key that is no text, or a value of another kind.
    """
    header = [f"# {line}".rstrip() for line in comment]
    return "\n".join([*header, *_mapping(value, "")]) + "\n"


def _mapping(value: Mapping[str, Value], indent: str) -> Iterator[str]:
    for key, entry in value.items():
        if not isinstance(key, str):
            raise StudyError("a key of a YAML file must be a text", value=key)
        name = f"{indent}{_scalar(key)}:"
        if isinstance(entry, Mapping):
            yield name if entry else f"{name} {{}}"
            yield from _mapping(entry, indent + "  ")
        elif isinstance(entry, Sequence) and not isinstance(entry, str):
            if any(isinstance(item, Sequence) and not isinstance(item, str) for item in entry):
                yield name
                yield from (f"{indent}  - {_flow(row)}" for row in entry)
            else:
                yield f"{name} {_flow(entry)}"
        else:
            yield f"{name} {_scalar(entry)}"


def _flow(items: object) -> str:
    if not isinstance(items, Sequence) or isinstance(items, str):
        raise StudyError("a list of lists holds something else", value=items)
    return "[" + ", ".join(_scalar(item) for item in items) + "]"


def _scalar(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(int(value))
    if isinstance(value, float):
        return _float(float(value))
    if isinstance(value, str):
        plain = _PLAIN.fullmatch(value) and value.casefold() not in _RESERVED
        # a line separator inside quotes would be folded to a blank; JSON leaves it, so it is escaped
        quoted = json.dumps(value, ensure_ascii=False).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
        return value if plain else quoted.replace("\x85", "\\x85").replace("\x7f", "\\x7f")
    raise StudyError("a YAML file cannot hold this", value=value)


def _float(value: float) -> str:
    if not math.isfinite(value):
        raise StudyError("a number that is not finite cannot be written", value=value)
    mantissa, exponent, power = repr(value).partition("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + exponent + power
