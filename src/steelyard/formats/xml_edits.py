"""Changes to an XML text in place: numbers in attributes, new attributes and new elements; all other bytes stay."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from steelyard.formats.xml_outline import Element, Outline
from steelyard.formats.xml_tokens import attribute_text
from steelyard.robot.strict_number import read_number, read_numbers

_WORD = re.compile(rb"[^ \t\r\n]+")
_BLANK = b" \t\r\n"


class Edit(NamedTuple):
    """Bytes `start`..`end` become `text`."""

    start: int
    end: int
    text: bytes


class Line(NamedTuple):
    """A line of a new element: how many steps deeper than its first line, and the text."""

    depth: int
    text: str


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The text with every edit made; edits at the same place in the order given."""
    pieces, at = [], 0
    for edit in sorted(edits, key=lambda edit: edit.start):
        pieces += [data[at : edit.start], edit.text]
        at = edit.end
    return b"".join([*pieces, data[at:]])


def number(value: float) -> str:
    """The shortest decimal that reads back to the same double; zero without a sign."""
    return repr(float(value) + 0.0)


def set_numbers(
    outline: Outline, element: Element, name: str, values: Sequence[float] | np.ndarray, *, slack: float = 0.0
) -> list[Edit]:
    """Write numbers into an attribute, which is added where it is absent.

    A number in the file that differs by no more than `slack` keeps its spelling, and so does the white space.

    Args:
        outline: the file.
        element: the tag to change.
        name: of the attribute.
        values: the numbers wanted.
        slack: difference that is only rounding, in the unit of the values.
    """
    found = element.attribute(name)
    wanted = " ".join(number(value) for value in values)
    if found is None:
        return [_new_attribute(outline, element, name, wanted)]
    present = read_numbers(attribute_text(outline.data, found), len(values))
    if present is not None and all(abs(a - b) <= slack for a, b in zip(present, values, strict=True)):
        return []
    raw = outline.data[found.value_start : found.value_end]
    words = list(_WORD.finditer(raw))
    if len(words) != len(values) or b"&" in raw:
        return [Edit(found.value_start, found.value_end, wanted.encode())]
    edits = []
    for word, value in zip(words, values, strict=True):
        current = read_number(word.group().decode("utf-8"))
        if current is None or abs(current - value) > slack:
            start = found.value_start + word.start()
            edits.append(Edit(start, start + len(word.group()), number(value).encode()))
    return edits


def rename_attribute(outline: Outline, element: Element, old: str, new: str, value: str) -> list[Edit]:
    """Put another attribute in the place of one, with its quotation marks."""
    found = element.attribute(old)
    if found is None:
        return [_new_attribute(outline, element, new, value)]
    return [
        Edit(found.name_start, found.name_start + len(old), new.encode()),
        Edit(found.value_start, found.value_end, value.encode()),
    ]


def add_child(outline: Outline, element: Element, lines: Sequence[Line]) -> list[Edit]:
    """Write a new element behind everything an element holds, indented as its neighbours are."""
    layout = outline.inner(element)
    step = outline.step(element)
    if layout is None:
        text = b"".join(line.text.encode() for line in lines)
    else:
        text = b"".join(layout.newline + layout.indent + line.depth * step + line.text.encode() for line in lines)
    own = outline.own_line(element)
    home = own.newline + own.indent if layout is not None and own is not None else b""
    if element.closing is None:
        end = element.opening.end
        start = len(outline.data[: end - 2].rstrip(_BLANK))
        return [Edit(start, end, b">" + text + home + f"</{element.name}>".encode())]
    end = element.closing.start
    content = outline.data[element.opening.end : end]
    kept = len(content.rstrip(_BLANK))
    start = element.opening.end + kept
    breaks = b"\n" in content[kept:] or b"\r" in content[kept:]
    return [Edit(start, start, text if breaks else text + home)]


def add_first_child(outline: Outline, element: Element, lines: Sequence[Line]) -> list[Edit]:
    """Write a new element before the first one that an element holds; behind everything where it holds none."""
    if not element.children:
        return add_child(outline, element, lines)
    first = element.children[0]
    layout = outline.own_line(first)
    step = outline.step(element)
    if layout is None:
        text = b"".join(line.text.encode() for line in lines)
    else:
        text = b"".join(line.depth * step + line.text.encode() + layout.newline + layout.indent for line in lines)
    return [Edit(first.opening.start, first.opening.start, text)]


def _new_attribute(outline: Outline, element: Element, name: str, value: str) -> Edit:
    """Behind the last attribute, with its quotation marks, and on a line of its own where it has one."""
    gap, quote = b" ", b'"'
    at = element.opening.start + 1 + len(element.name.encode())
    if element.opening.attributes:
        last = element.opening.attributes[-1]
        before = outline.data[last.gap : last.name_start]
        gap = before if b"\n" in before or b"\r" in before else gap
        quote = outline.data[last.value_end : last.value_end + 1]
        at = last.end
    return Edit(at, at, gap + name.encode() + b"=" + quote + value.encode() + quote)
