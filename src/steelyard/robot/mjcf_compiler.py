"""What ``<compiler>`` and ``<option>`` of an MJCF say about the numbers in the rest of the file."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lxml import etree

from steelyard.robot.finding_log import FindingLog
from steelyard.robot.mjcf_defaults import Resolved
from steelyard.robot.strict_number import shown
from steelyard.robot.urdf_description import Vector3
from steelyard.robot.urdf_elements import Owner, children

_STANDARD: Vector3 = (0.0, 0.0, -9.81)  # MuJoCo's own default
_GROUPS = (0, 5)
_SCALING = ("settotalmass", "boundmass", "boundinertia")


@dataclass(frozen=True)
class Compiler:
    """How the file is to be read.

    Attributes:
        angle: [rad] of one unit of angle: a degree unless the file says radian.
        eulerseq: three letters; small ones turn about the axes that move along, capitals about those that stand.
        autolimits: whether a range limits a joint that does not say whether it is limited.
        inertiafromgeom: "auto", "true" or "false".
        groups: first and last geom group that counts as mass.
        gravity: (3,) [m/s2] in the world.
    """

    angle: float
    eulerseq: str
    autolimits: bool
    inertiafromgeom: str
    groups: tuple[int, int]
    gravity: Vector3


def read_compiler(root: etree._Element, log: FindingLog) -> Compiler:
    """The settings of all ``<compiler>`` and ``<option>`` sections, the last one that states a setting."""
    settings = _section(root, "compiler", log)
    _refuse(settings)
    eulerseq = settings.text("eulerseq") or "xyz"
    if len(eulerseq) != 3 or not set(eulerseq) <= set("xyzXYZ"):
        message = f"eulerseq is {shown(eulerseq)}"
        cure = "write three letters of x y z X Y Z, such as xyz"
        settings.owner.log.add(
            "error", "model.word_unknown", message, settings.owner.at(settings.own), value=eulerseq[:60], cure=cure
        )
        eulerseq = "xyz"
    groups = settings.numbers("inertiagrouprange", 2, default=_GROUPS) or _GROUPS
    return Compiler(
        angle=math.pi / 180 if settings.choice("angle", ("degree", "radian")) == "degree" else 1.0,
        eulerseq=eulerseq,
        autolimits=settings.choice("autolimits", ("true", "false")) == "true",
        inertiafromgeom=settings.choice("inertiafromgeom", ("auto", "true", "false")),
        groups=(int(groups[0]), int(groups[1])),
        gravity=_gravity(root, log),
    )


def _section(root: etree._Element, tag: str, log: FindingLog) -> Resolved:
    sections = children(root, tag)
    return Resolved(tuple(reversed(sections)) or (etree.Element(tag),), Owner(f"<{tag}>", log))


def _refuse(settings: Resolved) -> None:
    """Settings that would change every number of the file after it has been read."""
    log, owner = settings.owner.log, settings.owner
    if settings.text("coordinate") not in (None, "local"):
        message = "coordinate is global: positions and axes are then given in the world, which is not read"
        cure = "convert the model: load and save it with MuJoCo 2.3.3 or older"
        log.add("error", "model.unsupported", message, owner.at(settings.own), value="global", cure=cure)
    for name in _SCALING:
        value = settings.number(name, default=0.0)
        if value is not None and value > 0.0:
            message = (
                f"{name} is {value:g}: masses and inertias would be changed after reading, and the file not say how"
            )
            cure = "write the masses and inertias that are meant, and delete the attribute"
            log.add("error", "model.unsupported", message, owner.at(settings.own), value=value, cure=cure)


def _gravity(root: etree._Element, log: FindingLog) -> Vector3:
    option = _section(root, "option", log)
    values = option.numbers("gravity", 3, default=_STANDARD) or _STANDARD
    flags = [flag for section in reversed(children(root, "option")) for flag in children(section, "flag")]
    if flags and Resolved(tuple(flags), option.owner).choice("gravity", ("enable", "disable")) == "disable":
        message = "gravity is switched off by <flag gravity='disable'/>, and taken as zero"
        cure = "delete the flag for a robot that stands on earth, or give another gravity"
        log.add("warning", "model.gravity_off", message, option.owner.at(flags[0]), value="disable", cure=cure)
        return (0.0, 0.0, 0.0)
    return (values[0], values[1], values[2])
