"""Links whose inertials in the model file were filled in rather than measured or computed: no news about the robot."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.estimate.prior_links import ROUNDING, about_centre, feasible_prior, is_typed
from steelyard.finding import Finding
from steelyard.robot.robot import Link, Robot

Array = NDArray[np.float64]
COPIES = 3  # links on one chain with the same inertial
FELT = 0.01  # of the mass of its body, under which a link is passed over
ALONE_MASS = 1.0  # [kg] of a body without mass in a file that gives no body any


@dataclass(frozen=True)
class DoubtedLink:
    """A link of which the file says little.

    Attributes:
        link: as in the file.
        body: index of its body.
        parameters: (10,) what stands in for the file's, about the link's origin: those of a possible body.
        mass: [kg] that sizes what it may be: the file's, or that of a usual link of this robot where it has none.
        whole: whether mass and centre of mass are doubted as well as the inertia.
        words: what is wrong.
    """

    link: Link
    body: int
    parameters: Array
    mass: float
    whole: bool
    words: str


def doubted_links(robot: Robot) -> tuple[DoubtedLink, ...]:
    """Links with an inertia of one digit about every axis, with none, with the inertial of two others on their chain;

    and moving bodies without any mass.
    """
    copied = _copied(robot)
    found = []
    for link in robot.links:
        if link.body < 0 or link.parameters is None or not link.parameters[0] > 0.0:
            continue
        mass = float(link.parameters[0])
        if mass < FELT * robot.parameters[10 * link.body]:
            continue
        inertia = about_centre(link.parameters)
        if is_typed(inertia):
            words = f"{inertia[0, 0]:g} kg m2 about every axis"
        elif np.abs(inertia).max() <= ROUNDING * mass:
            words = "no inertia"
        elif _key(link) in copied:
            words = "copied"
        else:
            continue
        found.append(DoubtedLink(link, link.body, feasible_prior(link)[0], mass, _key(link) in copied, words))
    return (*found, *_massless(robot))


def doubt_findings(robot: Robot) -> tuple[Finding, ...]:
    """One finding that names the links; none where nothing is doubted."""
    doubted = doubted_links(robot)
    if not doubted:
        return ()
    names = ", ".join(f"{one.link.name} ({one.words})" for one in doubted)
    return (
        Finding(
            "fit.placeholder_prior",
            "info",
            f"inertials in the model file look filled in; they are hardly believed, and the data decide: {names}",
            where=f"link {doubted[0].link.name}",
            value=len(doubted),
            cure="give the CAD values; where the motion does not show these links, their parameters are guesses",
        ),
    )


def _massless(robot: Robot) -> list[DoubtedLink]:
    masses = robot.parameters[::10]
    usual = float(masses[masses > 0.0].mean()) if np.any(masses > 0.0) else ALONE_MASS
    links = {link.name: link for link in robot.links}
    return [
        DoubtedLink(links[name], body, np.zeros(10), usual, whole=True, words="no mass")
        for body, name in enumerate(robot.body_names)
        if not masses[body] > 0.0 and name in links
    ]


def _key(link: Link) -> tuple[float, ...]:
    return () if link.parameters is None else tuple(link.parameters.tolist())


def _copied(robot: Robot) -> set[tuple[float, ...]]:
    """Parameters that COPIES or more links with mass on one chain share."""
    on_body: dict[int, list[Link]] = {}
    for link in robot.links:
        if link.parameters is not None and link.parameters[0] > 0.0:
            on_body.setdefault(link.body, []).append(link)
    counts: list[Counter[tuple[float, ...]]] = []
    copied: set[tuple[float, ...]] = set()
    for body, joint in enumerate(robot.joints):
        before = counts[joint.parent] if joint.parent >= 0 else Counter[tuple[float, ...]]()
        counts.append(before + Counter(_key(link) for link in on_body.get(body, ())))
        copied |= {key for key, count in counts[-1].items() if count >= COPIES}
    return copied
