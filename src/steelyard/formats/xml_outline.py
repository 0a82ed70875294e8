"""The elements of an XML text with their places in the file, and how the file is laid out around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from steelyard.errors import ModelError
from steelyard.formats.xml_tokens import Attribute, Token, attribute_text, line_of, tokens

_BLANK = b" \t"


@dataclass(frozen=True)
class Element:
    """An element in its file.

    Attributes:
        name: the tag with its prefix, as written.
        opening: its start tag, or the whole of it where it is written ``<.../>``.
        closing: its end tag; None for ``<.../>``.
        children: the elements directly inside, in file order.
    """

    name: str
    opening: Token
    closing: Token | None
    children: tuple[Element, ...]

    def attribute(self, name: str) -> Attribute | None:
        """The attribute called `name` (without prefix), or None."""
        return next((found for found in self.opening.attributes if found.name == name), None)

    def all(self, name: str) -> list[Element]:
        """The children called `name`; one with a prefix is another element."""
        return [child for child in self.children if child.name == name]

    def first(self, name: str) -> Element | None:
        """The first child called `name`, or None."""
        return next((child for child in self.children if child.name == name), None)


class Layout(NamedTuple):
    """How lines begin at some place: the line break that the file uses there, and the indentation."""

    newline: bytes
    indent: bytes


@dataclass(frozen=True)
class Outline:
    """A file and its elements.

    Attributes:
        data: the bytes.
        file: name for messages.
        root: the outermost element.
    """

    data: bytes
    file: str
    root: Element

    def text(self, element: Element, attribute: str) -> str | None:
        """The value of an attribute as an XML reader gives it, or None."""
        found = element.attribute(attribute)
        return None if found is None else attribute_text(self.data, found)

    def where(self, element: Element) -> str:
        """File and line of an element, for messages."""
        return f"{self.file}:{line_of(self.data, element.opening.start)}"

    def own_line(self, element: Element) -> Layout | None:
        """The layout of the line that an element begins, or None where something else stands before it."""
        start = element.opening.start
        line = max(self.data.rfind(b"\n", 0, start), self.data.rfind(b"\r", 0, start)) + 1
        indent = self.data[line:start]
        if indent.strip(_BLANK):
            return None
        newline = b"\r\n" if self.data[:line].endswith(b"\r\n") else self.data[line - 1 : line] if line else b"\n"
        return Layout(newline, indent)

    def inner(self, element: Element) -> Layout | None:
        """The layout for a new child: that of its siblings, else one step deeper; None where all is on one line."""
        if element.children:
            return next((layout for child in element.children if (layout := self.own_line(child))), None)
        own = self.own_line(element)
        return None if own is None else Layout(own.newline, own.indent + self.step(element))

    def step(self, element: Element) -> bytes:
        """One step of indentation, as the element's children show it, else as the root's do, else two blanks."""
        for parent in (element, self.root):
            own = self.own_line(parent)
            for child in parent.children if own else ():
                layout = self.own_line(child)
                if layout and own and layout.indent.startswith(own.indent) and len(layout.indent) > len(own.indent):
                    return layout.indent[len(own.indent) :]
        return b"  "


def outline(data: bytes, file: str) -> Outline:
    """The elements of a well-formed XML text without DTD.

    Args:
        data: UTF-8, with or without byte order mark.
        file: its name, for messages.

    Raises:
        ModelError: the text is not well-formed.
    """
    path: list[tuple[Token, list[Element]]] = []
    children: list[Element] = []  # of the innermost open element; at last the root alone
    for token in tokens(data, file):
        if token.kind == "empty":
            children.append(Element(token.name, token, None, ()))
        elif token.kind == "open":
            path.append((token, children))
            children = []
        elif token.kind == "close":
            if not path or path[-1][0].name != token.name:
                raise _unbalanced(data, token.start, token.name, file)
            opening, siblings = path.pop()
            siblings.append(Element(token.name, opening, token, tuple(children)))
            children = siblings
    if path or len(children) != 1:
        raise _unbalanced(data, len(data), path[-1][0].name if path else "", file)
    return Outline(data, file, children[0])


def descend(element: Element) -> Iterator[Element]:
    """An element and all below it, in file order."""
    waiting = [element]
    while waiting:
        found = waiting.pop()
        yield found
        waiting.extend(reversed(found.children))


def _unbalanced(data: bytes, at: int, name: str, file: str) -> ModelError:
    return ModelError(
        "start and end tags do not match",
        where=f"{file}:{line_of(data, at)}",
        value=name or None,
        cure="export the model again",
    )
