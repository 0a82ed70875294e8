"""Numbers as XML files spell them, read strictly: a text is one finite decimal number, or it is not a number at all."""

from __future__ import annotations

import math
import re

_BLANK = " \t\r\n"  # XML's white space, not Unicode's: a no-break space is a fault, not a separator
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_LONGEST = 400  # characters; a double needs at most 24, and long digit strings are a way to waste time
_SHOWN = 60  # characters of a foreign text that a message repeats


def read_number(text: str) -> float | None:
    """The one finite number that `text` spells, or None.

    Accepted: ``[+-] digits [. digits] [e [+-] digits]`` in ASCII, surrounded by XML white space at most. Everything
    that ``float`` or ``strtod`` would take besides (nan, inf, hexadecimal, ``1_0``, other scripts' digits, a locale's
    comma) is None, and so is a number that a double cannot hold: overflow, or a non-zero number that underflows to 0.
    """
    text = text.strip(_BLANK)
    if len(text) > _LONGEST or not _DECIMAL.fullmatch(text):
        return None
    value = float(text)
    if not math.isfinite(value) or (value == 0.0 and _mantissa_is_nonzero(text)):
        return None
    return value


def read_numbers(text: str, count: int) -> tuple[float, ...] | None:
    """Exactly `count` numbers separated by XML white space, or None."""
    if len(text) > count * _LONGEST:
        return None
    values = [read_number(part) for part in _split(text)]
    if len(values) != count:
        return None
    numbers = tuple(value for value in values if value is not None)
    return numbers if len(numbers) == count else None


def number_fault(text: str, count: int = 1) -> str:
    """Why `read_number` (or `read_numbers`, for `count` > 1) refuses `text`: the likely cause, in words."""
    if len(text) > count * _LONGEST:
        return "too long for a number" if count == 1 else f"too long for {count} numbers"
    parts = _split(text)
    if not parts:
        return "it is empty"
    bad = [part for part in parts if read_number(part) is None]
    if not bad:
        return f"it holds {len(parts)} numbers instead of {count}"
    if count > 1 and "," in text and all(read_number(part) is not None for part in _split(text.replace(",", " "))):
        return "a decimal comma, or commas between the numbers; write a point, and spaces between numbers"
    if count == 1 and len(parts) > 1 and len(bad) < len(parts):
        return "more than a number: a unit or a second value after it"
    return _fault(bad[0])


def shown(text: str) -> str:
    """`text` quoted for a message: shortened, and with control and direction characters escaped."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")


def _split(text: str) -> list[str]:
    return [part for part in re.split(f"[{_BLANK}]+", text) if part]


def _mantissa_is_nonzero(text: str) -> bool:
    return any(digit in "123456789" for digit in re.split("[eE]", text)[0])


def _fault(text: str) -> str:
    plain = text.lower().lstrip("+-")
    if "${" in text or "$(" in text:
        return "an unexpanded xacro expression"
    if plain.startswith(("nan", "inf", "1.#")):
        return "not a finite number: the exporter divided by zero or had no mass to work with"
    if not text.isascii():
        odd = next(character for character in text if not character.isascii())
        return f"the character U+{ord(odd):04X} is not an ASCII digit, sign or point"
    if _DECIMAL.fullmatch(text):
        return "outside the range of a double"
    if re.fullmatch(r"[+-]?[0-9.]+,[0-9.]*(?:[eE][+-]?[0-9]+)?|[+-]?[0-9]*,[0-9]+(?:[eE][+-]?[0-9]+)?", text):
        return "a decimal comma"
    if plain.startswith("0x"):
        return "a hexadecimal number"
    if re.fullmatch(r"[0-9]+(?:[_'][0-9]+)+(?:\..*)?", plain):
        return "a digit separator"
    if (head := _DECIMAL.match(text)) and text[head.end() :].isalpha():
        return f"a unit or suffix {text[head.end() :][:20]!r} after the number"
    return "not a number"
