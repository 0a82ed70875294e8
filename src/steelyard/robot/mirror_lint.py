"""Left and right: links that are mirror images should weigh the same, and their tensors should be mirrored as well."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from steelyard.robot.composite_body import Array, inertia_in_link
from steelyard.robot.finding_log import FindingLog
from steelyard.robot.strict_number import shown
from steelyard.robot.urdf_description import UrdfInertial, UrdfLink
from steelyard.robot.urdf_structure import link_place

_TOLERANCE = 0.01  # relative: mirrored parts of one CAD assembly agree far better
_MOMENTS = 0.05
_RIGHT_OF = {
    "left": "right",
    "l": "r",
    "lf": "rf",
    "lh": "rh",
    "lr": "rr",
    "fl": "fr",
    "rl": "rr",
    "hl": "hr",
    "bl": "br",
}
_WORD = re.compile(r"[A-Za-z]+")
_CAPITAL = re.compile(r"^L(?=[A-Z][a-z])")  # LShoulder
_CURE = "compare both with the CAD values: a digit, a sign or a whole side may have slipped"


def check_pairs(links: Sequence[UrdfLink], log: FindingLog) -> None:
    """Note pairs whose masses or tensors disagree. Feasible is not correct: a wrong sign passes every other test."""
    by_name = {link.name: link for link in links}
    for left in links:
        right = next((by_name[name] for name in _right_names(left.name) if name in by_name), None)
        if right is None or left.inertial is None or right.inertial is None:
            continue
        fault = _pair_fault(left.inertial, right.inertial)
        if fault:
            message = (
                f"links {shown(left.name)} and {shown(right.name)} (line {right.line}) look like a pair, but {fault}"
            )
            log.add("info", "model.asymmetric_pair", message, link_place(left), cure=_CURE)


def _right_names(name: str) -> Iterator[str]:
    """The names that the right-hand twin of a left-hand link could have."""
    if len(name) > 200:
        return
    for word in _WORD.finditer(name):
        text = word.group()
        right = _RIGHT_OF.get(text.lower())
        if right is not None:
            cased = right.upper() if text.isupper() else right.capitalize() if text[0].isupper() else right
            yield name[: word.start()] + cased + name[word.end() :]
    if _CAPITAL.match(name):
        yield "R" + name[1:]


def _pair_fault(left: UrdfInertial, right: UrdfInertial) -> str:
    heavier = max(left.mass, right.mass)
    if heavier == 0.0:
        return ""
    if abs(left.mass - right.mass) > _TOLERANCE * heavier:
        return f"weigh {left.mass:g} kg and {right.mass:g} kg"
    tensors = (inertia_in_link(left), inertia_in_link(right))
    moments = [np.linalg.eigvalsh(tensor) for tensor in tensors]
    largest = max(float(np.abs(moment).max()) for moment in moments)
    if largest == 0.0:
        return ""
    if float(np.abs(moments[0] - moments[1]).max()) > _MOMENTS * largest:
        listed = [", ".join(f"{value:.3g}" for value in moment) for moment in moments]
        return f"have the principal moments {listed[0]} and {listed[1]} kg m2"
    centers = (np.array(left.origin_xyz), np.array(right.origin_xyz))
    if _is_reflected(centers, tensors, largest, signed=False) and not _is_reflected(
        centers, tensors, largest, signed=True
    ):
        return "the signs of their products of inertia fit no mirroring of their centres of mass"
    return ""


def _is_reflected(centers: tuple[Array, Array], tensors: tuple[Array, Array], largest: float, *, signed: bool) -> bool:
    """Whether flipping axes, s_i = +-1, turns one side into the other: c' = s c, I' = S I S; unsigned: up to signs."""
    scale = max(float(np.abs(centers).max()), 1e-6)
    for signs in product((1.0, -1.0), repeat=3):
        s = np.array(signs)
        center, tensor = s * centers[0], tensors[0] * np.outer(s, s)
        other = tensors[1]
        if not signed:
            tensor, other = np.abs(tensor), np.abs(other)
        if (
            np.abs(center - centers[1]).max() <= _TOLERANCE * scale
            and np.abs(tensor - other).max() <= _TOLERANCE * largest
        ):
            return True
    return False
