"""Default classes of an MJCF: what stands behind an attribute that an element leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lxml import etree

from steelyard.robot.finding_log import FindingLog, Place
from steelyard.robot.strict_number import shown
from steelyard.robot.urdf_elements import Owner, children, number, numbers, only

MAIN = "main"


@dataclass(frozen=True)
class Resolved:
    """An element with the default elements behind it, nearest class first; `own` is the first of `chain`."""

    chain: tuple[etree._Element, ...]
    owner: Owner

    @property
    def own(self) -> etree._Element:
        """The element itself."""
        return self.chain[0]

    def holder(self, attribute: str) -> etree._Element | None:
        """The element that states the attribute, None where none does."""
        return next((element for element in self.chain if element.get(attribute) is not None), None)

    def text(self, attribute: str) -> str | None:
        """The attribute as it stands in the file, None where it is absent."""
        holder = self.holder(attribute)
        return None if holder is None else str(holder.get(attribute))

    def number(self, attribute: str, *, default: float | None = None) -> float | None:
        """A number; `default` where it is absent; None, and an error, where it cannot be read."""
        holder = self.holder(attribute)
        return default if holder is None else number(holder, attribute, self.owner)

    def numbers(
        self, attribute: str, count: int, *, default: tuple[float, ...] | None = None
    ) -> tuple[float, ...] | None:
        """Exactly `count` numbers; `default` where they are absent; None, and an error, where they cannot be read."""
        holder = self.holder(attribute)
        return default if holder is None else numbers(holder, attribute, self.owner, count=count)

    def choice(self, attribute: str, choices: tuple[str, ...]) -> str:
        """One of some words, the first of them where the attribute is absent, or is none of them (an error)."""
        text = self.text(attribute)
        if text is None or text in choices:
            return text or choices[0]
        holder = self.holder(attribute)
        self.owner.log.add(
            "error",
            "model.word_unknown",
            f"{attribute} of {self.owner.subject} is {shown(text)}",
            self.owner.at(self.own if holder is None else holder),
            value=text[:60],
            cure=self.owner.log.suggest(text, choices, otherwise="valid: " + ", ".join(choices)),
        )
        return choices[0]


@dataclass(frozen=True)
class Defaults:
    """For each class the default elements of each tag, its own before those of the classes around it."""

    classes: Mapping[str, tuple[etree._Element, ...]]

    def behind(self, element: etree._Element, tag: str, childclass: str | None, owner: Owner) -> Resolved:
        """An element with its defaults: those of its own class, else of `childclass`, else of the main class."""
        name = element.get("class") or childclass or MAIN
        if name not in self.classes:
            cure = owner.log.suggest(str(name), self.classes, otherwise="write the class, or delete the attribute")
            message = f"the default class {shown(str(name))} of {owner.subject} does not exist"
            owner.log.add("error", "model.unknown_class", message, owner.at(element), value=str(name)[:60], cure=cure)
            name = MAIN
        behind = [child for default in self.classes[str(name)] for child in children(default, tag)[:1]]
        return Resolved((element, *behind), owner)


def read_defaults(root: etree._Element, log: FindingLog) -> Defaults:
    """All classes below ``<default>``; several top-level sections are one, the later ones first."""
    classes: dict[str, tuple[etree._Element, ...]] = {}
    main: tuple[etree._Element, ...] = ()
    for section in children(root, "default"):
        main = (section, *main)
        _check_unique(section, MAIN, log)
        name = str(section.get("class") or MAIN)
        if name != MAIN:
            classes[name] = main  # files for older versions give the top class a name of its own
    classes[MAIN] = main
    for section in children(root, "default"):
        _read_nested(section, main, classes, log)
    return Defaults(classes)


def _read_nested(
    element: etree._Element,
    around: tuple[etree._Element, ...],
    classes: dict[str, tuple[etree._Element, ...]],
    log: FindingLog,
) -> None:
    for nested in children(element, "default"):
        name, at = str(nested.get("class") or ""), Place(nested.sourceline or 0, "<default>")
        if not name:
            cure = 'write <default class="...">'
            log.add("error", "model.name_missing", "a nested <default> has no class", at, cure=cure)
            continue
        if name in classes:
            message = f"the default class {shown(name)} is defined twice"
            cure = "rename one of them, or put their contents together"
            log.add("error", "model.duplicate", message, at, value=name[:60], cure=cure)
            continue
        _check_unique(nested, name, log)
        classes[name] = (nested, *around)
        _read_nested(nested, classes[name], classes, log)


def _check_unique(default: etree._Element, name: str, log: FindingLog) -> None:
    for tag in ("joint", "geom", "equality"):
        only(default, tag, Owner(f"default class {shown(name)}", log))
