"""Strict access to elements and numbers of a URDF: whatever cannot be read is noted with its place, never guessed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from lxml import etree

from steelyard.robot.finding_log import FindingLog, Place
from steelyard.robot.strict_number import number_fault, read_number, read_numbers, shown
from steelyard.robot.urdf_description import Vector3
from steelyard.robot.xml_reader import local_name

LARGEST = 1e9  # no mass, length or inertia of a robot reaches it, and products of larger ones overflow
_WRITE = "write one plain decimal number in SI units, such as 1.5"
_WRITES = "write {} plain decimal numbers in SI units with spaces between them, such as '0 0 1.5'"
_EXPAND = "expand the file first: `xacro robot.urdf.xacro > robot.urdf`"
_WORDS = ("no", "one", "two", "three", "four", "five", "six")


@dataclass(frozen=True)
class Owner:
    """The link or joint whose parts are being read."""

    subject: str
    log: FindingLog

    def at(self, element: etree._Element) -> Place:
        """The place of one of its elements."""
        return Place(element.sourceline or 0, self.subject)


def children(element: etree._Element, tag: str) -> list[etree._Element]:
    """The child elements called `tag`, without those of a foreign namespace prefix (``<joint:slider>``)."""
    return [child for child in element if child.prefix is None and local_name(child) == tag]


def only(element: etree._Element, tag: str, owner: Owner) -> etree._Element | None:
    """The one child called `tag`, None where there is none; a second one is an error."""
    found = children(element, tag)
    if len(found) > 1:
        lines = " and ".join(str(child.sourceline) for child in found[:4])
        owner.log.add(
            "error",
            "model.duplicate",
            f"{owner.subject} has {len(found)} <{tag}> elements in one <{local_name(element)}>, on lines {lines}",
            owner.at(found[1]),
            value=len(found),
            cure="keep the right one and delete the others",
        )
    return found[0] if found else None


def number(
    element: etree._Element,
    attribute: str,
    owner: Owner,
    *,
    code: str = "model.number_unreadable",
    default: float | None = None,
    bounded: bool = True,
) -> float | None:
    """A number attribute; `default` where it is absent (None makes it required); None, and an error, if unreadable."""
    text = element.get(attribute)
    if text is None:
        if default is None:
            _missing(element, attribute, owner, code)
        return default
    value = read_number(text)
    if value is None:
        _unreadable(element, attribute, owner, code, number_fault(text), _WRITE)
    elif bounded and abs(value) > LARGEST:
        _absurd(element, attribute, owner, value)
        return None
    return value


def optional_number(element: etree._Element, attribute: str, owner: Owner) -> float | None:
    """A number attribute of any finite size, None where it is absent, or unreadable (an error)."""
    if element.get(attribute) is None:
        return None
    return number(element, attribute, owner, bounded=False)


def vector(element: etree._Element, attribute: str, owner: Owner, *, default: Vector3 | None) -> Vector3 | None:
    """Three numbers; `default` where the attribute is absent (None: it is required); None, and an error, if not."""
    if element.get(attribute) is None and default is not None:
        return default
    return cast("Vector3 | None", numbers(element, attribute, owner, count=3))


def numbers(
    element: etree._Element, attribute: str, owner: Owner, *, count: int, code: str = "model.number_unreadable"
) -> tuple[float, ...] | None:
    """Exactly `count` numbers (at most six) of an attribute that is required; None, and an error, if there are not."""
    text = element.get(attribute)
    if text is None:
        _missing(element, attribute, owner, code)
        return None
    values = read_numbers(text, count)
    if values is None:
        write = _WRITE if count == 1 else _WRITES.format(_WORDS[count])
        _unreadable(element, attribute, owner, code, number_fault(text, count), write)
        return None
    largest = max(values, key=abs)
    if abs(largest) > LARGEST:
        _absurd(element, attribute, owner, largest)
        return None
    return values


def reference(element: etree._Element, tag: str, attribute: str, owner: Owner) -> str | None:
    """The name in ``<tag attribute="name"/>`` below `element`; None, and an error, without one."""
    child = only(element, tag, owner)
    name = None if child is None else child.get(attribute)
    if name:
        return str(name)
    owner.log.add(
        "error",
        "model.unknown_link",
        f"{owner.subject} does not say its {tag}: <{tag} {attribute}=.../> is missing or empty",
        owner.at(element if child is None else child),
        cure=f"name the {tag} {attribute}",
    )
    return None


def name_of(element: etree._Element, log: FindingLog) -> str | None:
    """The name of a link or joint; None, and an error, without one."""
    tag, name = local_name(element), str(element.get("name") or "")
    at = Place(element.sourceline or 0, tag)
    if not name.strip():
        log.add("error", "model.name_missing", f"a <{tag}> has no name", at, cure=f'write <{tag} name="...">')
        return None
    if "${" in name or "$(" in name:
        message = f"the name of a <{tag}> is {shown(name)}, an unexpanded xacro expression"
        log.add("error", "model.xacro", message, at, value=name[:60], cure="expand the file: `xacro robot.urdf.xacro`")
    elif name != name.strip() or not name.isprintable() or "," in name:
        message = f"the {tag} name {shown(name)} has a comma, blank ends or invisible characters in it"
        log.add(
            "warning", "model.name_suspect", message, at, value=name[:60], cure="column names are built from it: rename"
        )
    return name


def _missing(element: etree._Element, attribute: str, owner: Owner, code: str) -> None:
    tag = local_name(element)
    owner.log.add(
        "error",
        code,
        f"<{tag}> of {owner.subject} has no attribute {attribute!r}",
        owner.at(element),
        cure=f"write {attribute}, 0 included: nothing is filled in",
    )


def _unreadable(element: etree._Element, attribute: str, owner: Owner, code: str, fault: str, cure: str) -> None:
    text = str(element.get(attribute))
    owner.log.add(
        "error",
        code,
        f"<{local_name(element)} {attribute}> of {owner.subject} is {shown(text)}: {fault}",
        owner.at(element),
        value=text[:60],
        cure=_EXPAND if "$" in text else cure,
    )


def _absurd(element: etree._Element, attribute: str, owner: Owner, value: float) -> None:
    owner.log.add(
        "error",
        "model.number_out_of_range",
        f"<{local_name(element)} {attribute}> of {owner.subject} is {value:g}, beyond anything a robot is made of",
        owner.at(element),
        value=value,
        cure="write the value in SI units: kg, m, kg m2, rad",
    )
