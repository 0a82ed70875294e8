"""Inertials that a body could have, but probably has not: wrong units, placeholders, copies, the wrong size."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from steelyard.finding import Level
from steelyard.robot.composite_body import CompositeBody
from steelyard.robot.finding_log import FindingLog
from steelyard.robot.strict_number import shown
from steelyard.robot.urdf_description import UrdfDescription, UrdfInertial, UrdfLink
from steelyard.robot.urdf_structure import link_place

_HEAVIEST = 2000.0  # [kg] of one link
_LARGEST_GYRATION = 2.0  # [m]
_SMALLEST_GYRATION = 1e-3  # [m]
_DENSEST = 22_600.0  # [kg/m3] osmium; nothing is denser, so no body of that mass is smaller
_FARTHEST = 5.0  # [m] of a centre of mass from its link frame
_BEYOND_GEOMETRY = 1.5  # gyration radius over the reach of the geometry; at most 1 for mass inside it
_INSIDE_GEOMETRY = 0.02
_COPIES = 3  # links on one chain with the same inertial
_NAMED = 5


def check_plausibility(description: UrdfDescription, bodies: Iterable[CompositeBody], log: FindingLog) -> None:
    """Note inertials that are out of scale, placeholders or copies; none keeps the model from being used.

    Links that make up less than a hundredth of the body they belong to are passed over, and what stands on the
    root body is information only.
    """
    placeholders: list[UrdfLink] = []
    for body in bodies:
        for link in body.members:
            if link.inertial is None or link.inertial.mass == 0.0 or not body.feels(link.inertial):
                continue
            _check_size(link, link.inertial, "warning" if body.moves else "info", log)
            if _is_placeholder(link.inertial):
                placeholders.append(link)
    _note_placeholders(placeholders, log)
    _check_copies(description, log)


def gyration_radius(inertial: UrdfInertial) -> float:
    """sqrt(J / m) [m], J the largest principal moment in absolute value [kg m2], m the mass [kg]; m > 0."""
    return math.sqrt(float(np.abs(np.linalg.eigvalsh(np.array(inertial.inertia))).max()) / inertial.mass)


def _check_size(link: UrdfLink, inertial: UrdfInertial, level: Level, log: FindingLog) -> None:
    name, mass, radius = shown(link.name), inertial.mass, gyration_radius(inertial)
    at = link_place(link)
    if mass > _HEAVIEST:
        message = f"link {name} weighs {mass:g} kg: probably grams"
        log.add(level, "model.units_suspect", message, at, value=mass, cure="write kilograms")
    distance = math.hypot(*inertial.origin_xyz)
    if distance > _FARTHEST:
        message = f"the centre of mass of link {name} lies {distance:g} m from its frame: probably millimetres"
        log.add(level, "model.units_suspect", message, at, value=distance, cure="write metres")
    if radius == 0.0:
        return
    smallest = max(_SMALLEST_GYRATION, _densest_gyration(mass))
    if smallest <= radius <= _LARGEST_GYRATION:
        if link.balls:
            _check_geometry(link, inertial, radius, log)
        return
    fault = (
        f"above {_LARGEST_GYRATION:g} m: kg mm2 or g mm2 instead of kg m2, or a slipped decimal point?"
        if radius > _LARGEST_GYRATION
        else f"less than a solid ball of the densest metal has, {smallest:.1g} m: a slipped unit or decimal point?"
    )
    log.add(
        level,
        "model.inertia_scale",
        f"link {name} of {mass:g} kg has a radius of gyration of {radius:.3g} m, {fault}",
        at,
        value=radius,
        cure="write mass in kg and moments in kg m2 about the centre of mass",
    )


def _densest_gyration(mass: float) -> float:
    """sqrt(2/5) r of a solid ball of the densest material: no body of that mass has a smaller largest moment."""
    return math.sqrt(0.4) * (3.0 * mass / (4.0 * math.pi * _DENSEST)) ** (1.0 / 3.0)


def _check_geometry(link: UrdfLink, inertial: UrdfInertial, radius: float, log: FindingLog) -> None:
    reach = max(math.dist(ball.center, inertial.origin_xyz) + ball.radius for ball in link.balls)
    if _densest_gyration(inertial.mass) > math.sqrt(0.4) * reach:
        return  # the geometry cannot hold that mass: a marker
    if _INSIDE_GEOMETRY * reach <= radius <= _BEYOND_GEOMETRY * reach:
        return
    log.add(
        "info",
        "model.inertia_scale",
        f"link {shown(link.name)} has a radius of gyration of {radius:.3g} m, "
        f"while its geometry reaches {reach:.3g} m from the centre of mass",
        link_place(link),
        value=radius,
        cure="compare mass and moments with the CAD values",
    )


def _is_placeholder(inertial: UrdfInertial) -> bool:
    """Three equal moments of one digit (1, 0.01, 5e-4) and nothing beside them: typed, not computed."""
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = inertial.inertia
    return xx == yy == zz > 0.0 and xy == xz == yz == 0.0 and float(f"{xx:.0e}") == xx


def _note_placeholders(links: Sequence[UrdfLink], log: FindingLog) -> None:
    """One finding for each value, since whole robots are filled in this way."""
    by_value: dict[float, list[UrdfLink]] = {}
    for link in links:
        if link.inertial is not None:
            by_value.setdefault(link.inertial.inertia[0][0], []).append(link)
    for value, same in by_value.items():
        log.add(
            "warning" if value == 1.0 else "info",
            "model.inertia_placeholder",
            f"the inertia is {value:g} kg m2 about every axis, probably a placeholder, "
            f"on {_listed([link.name for link in same])}",
            link_place(same[0]),
            value=value,
            cure="do not trust it as a prior; take the CAD values or identify the links",
        )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ("link " if len(names) == 1 else "links ") + ", ".join(map(shown, names[:_NAMED])) + more


def _check_copies(description: UrdfDescription, log: FindingLog) -> None:
    """Equal legs or fingers may share an inertial; links that carry one another hardly do."""
    groups: dict[UrdfInertial, list[UrdfLink]] = {}
    for link in description.links:
        if link.inertial is not None and link.inertial.mass > 0.0:
            groups.setdefault(replace(link.inertial, line=0), []).append(link)
    copied = {link.name: key for key, links in groups.items() if len(links) >= _COPIES for link in links}
    if not copied:
        return
    links = {link.name: link for link in description.links}
    for names in _longest_chains(description, copied).values():
        if len(names) < _COPIES:
            continue
        log.add(
            "info",
            "model.inertia_copied",
            f"{len(names)} links of one chain have exactly the same inertial, as if copied: {_listed(names)}",
            link_place(links[names[0]]),
            value=len(names),
            cure="do not trust it as a prior; take the CAD values or identify them",
        )


def _longest_chains(
    description: UrdfDescription, group_of: Mapping[str, UrdfInertial]
) -> dict[UrdfInertial, tuple[str, ...]]:
    """Of each group of links, the most that lie on one path from the root, by one walk down the tree."""
    below: dict[str, list[str]] = {}
    for joint in description.joints:
        below.setdefault(joint.parent, []).append(joint.child)
    longest: dict[UrdfInertial, tuple[str, ...]] = {}
    path: dict[UrdfInertial, list[str]] = {}
    steps = [(description.root, True)]
    while steps:
        name, entering = steps.pop()
        group = group_of.get(name)
        if not entering and group is not None:
            path[group].pop()
        if not entering:
            continue
        if group is not None:
            so_far = path.setdefault(group, [])
            so_far.append(name)
            if len(so_far) > len(longest.get(group, ())):
                longest[group] = tuple(so_far)
        steps.append((name, False))
        steps.extend((child, True) for child in below.get(name, ()))
    return longest
