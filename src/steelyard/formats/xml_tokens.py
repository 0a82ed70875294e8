"""Where everything stands in an XML text: a lossless tokenizer over its bytes, so that a few can be changed in place.

A parser that writes its tree back normalises quotes, white space and entities. Here nothing is interpreted but the
borders of the tokens: joined again, they are the file, byte for byte. Borders are ASCII, so UTF-8 needs no decoding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from steelyard.errors import ModelError

Kind = Literal["text", "comment", "instruction", "cdata", "open", "close", "empty"]

_FENCED: tuple[tuple[bytes, bytes, Kind], ...] = (
    (b"<!--", b"-->", "comment"),
    (b"<![CDATA[", b"]]>", "cdata"),
    (b"<?", b"?>", "instruction"),
)
_CLOSE = re.compile(rb"</([^\s<>/=\"']+)[ \t\r\n]*>")
_START = re.compile(rb"<([^\s<>/=\"'!?]+)")
_ATTRIBUTE = re.compile(rb"[ \t\r\n]+([^\s<>/=\"']+)[ \t\r\n]*=[ \t\r\n]*(?:\"([^\"<]*)\"|'([^'<]*)')")
_END = re.compile(rb"[ \t\r\n]*(/?)>")
_LINE_BREAK = re.compile(r"\r\n|[\r\n\t]")
_REFERENCE = re.compile(r"&(?:#x([0-9a-fA-F]+)|#([0-9]+)|(amp|lt|gt|quot|apos));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class Attribute(NamedTuple):
    """One attribute of a tag.

    Attributes:
        name: with its prefix, as written.
        name_start, value_start, value_end, end: byte offsets; the value lies between its quotation marks.
        gap: start of the white space before the name.
    """

    name: str
    gap: int
    name_start: int
    value_start: int
    value_end: int
    end: int


class Token(NamedTuple):
    """A stretch `start`..`end` of the file: a tag with its name and attributes, or anything between tags."""

    kind: Kind
    start: int
    end: int
    name: str = ""
    attributes: tuple[Attribute, ...] = ()


def tokens(data: bytes, file: str) -> Iterator[Token]:
    """The tokens of a well-formed XML text without DTD, in order and without gaps.

    Args:
        data: UTF-8, with or without byte order mark.
        file: its name, for messages.

    Raises:
        ModelError: a tag, comment or attribute that never ends.
    """
    at = 0
    while at < len(data):
        if data[at] != 0x3C:  # <
            end = data.find(b"<", at)
            end = len(data) if end < 0 else end
            yield Token("text", at, end)
        else:
            token = _markup(data, at, file)
            yield token
            end = token.end
        at = end


def attribute_text(data: bytes, attribute: Attribute) -> str:
    """The value of an attribute as an XML reader gives it: line ends and tabs are blanks, references resolved."""
    raw = data[attribute.value_start : attribute.value_end].decode("utf-8")
    raw = _LINE_BREAK.sub(" ", raw)  # literal ones only: a written &#10; stays a line break
    return _REFERENCE.sub(_resolved, raw)


def line_of(data: bytes, offset: int) -> int:
    """The line, counted from one, that holds a byte."""
    return data.count(b"\n", 0, offset) + 1


def _resolved(reference: re.Match[str]) -> str:
    hexadecimal, decimal, name = reference.groups()
    return _NAMED[name] if name else chr(int(hexadecimal, 16) if hexadecimal else int(decimal))


def _markup(data: bytes, at: int, file: str) -> Token:
    for opening, closing, kind in _FENCED:
        if data.startswith(opening, at):
            end = data.find(closing, at + len(opening))
            if end < 0:
                raise _unfinished(data, at, file)
            return Token(kind, at, end + len(closing))
    if close := _CLOSE.match(data, at):
        return Token("close", at, close.end(), close.group(1).decode("utf-8"))
    start = _START.match(data, at)
    if start is None:
        raise _unfinished(data, at, file)
    attributes = []
    end = start.end()
    while found := _ATTRIBUTE.match(data, end):
        value = 2 if found.start(2) >= 0 else 3
        attributes.append(
            Attribute(
                found.group(1).decode("utf-8"), end, found.start(1), found.start(value), found.end(value), found.end()
            )
        )
        end = found.end()
    finish = _END.match(data, end)
    if finish is None:
        raise _unfinished(data, at, file)
    kind = "empty" if finish.group(1) else "open"
    return Token(kind, at, finish.end(), start.group(1).decode("utf-8"), tuple(attributes))


def _unfinished(data: bytes, at: int, file: str) -> ModelError:
    return ModelError(
        "a tag or comment is not well-formed XML",
        where=f"{file}:{line_of(data, at)}",
        value=data[at : at + 40].decode("utf-8", errors="replace"),
        cure="export the model again",
    )
