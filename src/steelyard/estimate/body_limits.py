"""What is known of a robot's bodies beside the data: its weight, the range of a link's mass, where a centre can be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.estimate.link_map import LinkMap
from steelyard.robot.inertia import parameters_about_origin, tensor

Array = NDArray[np.float64]
INSIDE = 0.02  # share of a limit, or of the range, that a prior keeps from it
NARROW = 0.05  # [m] boxes for centres as if no wider
Range = tuple[float, float]


@dataclass(frozen=True)
class BodyLimits:
    """Limits on moving links; what is not named is free.

    Attributes:
        total_mass: least and greatest mass of all moving links together [kg].
        mass: by link name, least and greatest mass [kg].
        centre: by link name, two corners (3,) of the box in the link frame that holds the centre of mass [m].
    """

    total_mass: Range | None = None
    mass: Mapping[str, Range] = field(default_factory=dict)
    centre: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)


class LimitRows(NamedTuple):
    """`G y >= g`, (k, u) and (k,), and the name of each row."""

    G: Array
    g: Array
    names: tuple[str, ...]


def limit_rows(limits: BodyLimits, links: LinkMap) -> LimitRows:
    """The limits as rows over the coordinates of a LinkMap, each scaled to a range of one.

    Raises:
        StudyError: a link that does not move or has no mass, or a range that is empty.
    """
    rows: list[Array] = []
    names: list[str] = []
    bounds: list[float] = []

    def between(row: Array, low: float, high: float, name: str) -> None:
        width = high - low if np.isfinite(high - low) else 1.0
        for sign, bound, word in ((1.0, low, "least"), (-1.0, high, "greatest")):
            if np.isfinite(bound):
                rows.append(sign * row / width)
                bounds.append(sign * bound / width)
                names.append(f"{word} {name}")

    masses = links.mass_rows()
    if limits.total_mass is not None:
        between(masses.sum(axis=0), *_checked(limits.total_mass, "total mass"), "total mass")
    for name, given in limits.mass.items():
        between(masses[_index(links, name)], *_checked(given, f"mass of link {name}"), f"mass of link {name}")
    for name, (low, high) in limits.centre.items():
        k = _index(links, name)
        for axis in range(3):
            a, b = _checked((float(low[axis]), float(high[axis])), f"centre of mass of link {name}, {'xyz'[axis]}")
            moment = np.zeros(masses.shape[1])
            moment[10 * k : 10 * k + 10] = links.ten[k, 1 + axis]
            scale = float(links.priors[k, 0]) * (b - a)
            label = f"centre of mass of link {name}, {'xyz'[axis]}"
            for row, word in ((moment - a * masses[k], "least"), (b * masses[k] - moment, "greatest")):
                rows.append(row / scale)
                bounds.append(0.0)
                names.append(f"{word} {label}")
    return LimitRows(np.array(rows).reshape(len(rows), masses.shape[1]), np.array(bounds), tuple(names))


def priors_inside(limits: BodyLimits, links: LinkMap) -> tuple[Array, tuple[str, ...]]:
    """(L, 10) priors moved inside the limits, and the links that had to be moved.

    A mass out of range is brought into it with the shape kept; a centre outside its box is moved into it with the
    inertia about the centre kept; for the total all links are scaled alike, as far as their own ranges allow.

    Raises:
        StudyError: the limits contradict one another.
    """
    names = [link.name for link in links.links]
    low, high = np.zeros(len(names)), np.full(len(names), np.inf)
    for name, given in limits.mass.items():
        a, b = _checked(given, f"mass of link {name}")
        low[_index(links, name)], high[_index(links, name)] = _kept_inside((a, b))
    masses = np.clip(links.priors[:, 0], low, high)
    if limits.total_mass is not None:
        masses = _scaled_to(masses, low, high, _checked(limits.total_mass, "total mass"))
    moved = []
    priors = np.array(links.priors)
    for k, name in enumerate(names):
        if masses[k] != priors[k, 0]:
            priors[k] *= masses[k] / priors[k, 0]
            moved.append(name)
        if name in limits.centre:
            corners = np.array(limits.centre[name], dtype=np.float64)
            margin = INSIDE * np.minimum(corners[1] - corners[0], NARROW)
            centre = priors[k, 1:4] / priors[k, 0]
            inside = np.clip(centre, corners[0] + margin, corners[1] - margin)
            if np.any(inside != centre):
                priors[k] = _recentred(priors[k], inside)
                moved.append(name)
    return priors, tuple(dict.fromkeys(moved))


def _scaled_to(masses: Array, low: Array, high: Array, total: Range) -> Array:
    least, greatest = _kept_inside(total)
    if not (low.sum() < greatest and high.sum() > least):
        raise StudyError(
            "the limits of the links and of the total mass contradict one another",
            value=f"links {low.sum():g} to {high.sum():g} kg, total {least:g} to {greatest:g} kg",
        )
    wanted = float(np.clip(masses.sum(), least, greatest))
    if wanted == masses.sum():
        return masses
    small, large = 1e-6, 1e6
    for _ in range(200):
        factor = np.sqrt(small * large)
        small, large = (factor, large) if np.clip(factor * masses, low, high).sum() < wanted else (small, factor)
    return np.asarray(np.clip(factor * masses, low, high))


def _kept_inside(limit: Range) -> Range:
    """The part of a range of masses that a prior may take."""
    low, high = max(limit[0], 0.0), limit[1]
    top = high - INSIDE * (high - low) if np.isfinite(high) else np.inf
    return low + INSIDE * min(high - low, max(low, 1e-3)), top


def _recentred(parameters: Array, centre: Array) -> Array:
    mass = float(parameters[0])
    old = parameters[1:4] / mass
    about = tensor(parameters[4:]) - mass * ((old @ old) * np.eye(3) - np.outer(old, old))
    return parameters_about_origin(mass, centre, about)


def _checked(given: Range, name: str) -> Range:
    low, high = float(given[0]), float(given[1])
    if not low < high:
        raise StudyError(f"the range of the {name} is empty", value=(low, high), cure="give (least, greatest)")
    return low, high


def _index(links: LinkMap, name: str) -> int:
    names = [link.name for link in links.links]
    if name not in names:
        raise StudyError("not a moving link with mass", value=name, choices=names)
    return names.index(name)
