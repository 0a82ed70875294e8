"""What the model file says of its links, as a prior: links that no body could be are replaced by the nearest one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import ModelError
from steelyard.finding import Finding, Level
from steelyard.robot.inertia import parameters_about_origin, tensor
from steelyard.robot.robot import Link

Array = NDArray[np.float64]
THINNEST = 1e-3  # [m] deviation of the mass from its centre along any axis; no link of a robot is thinner
DENSITY = 2700.0  # [kg/m3] aluminium: how large a body is of which only the mass is known
WIDEST = 0.3  # [m] beyond which a typed inertia, equal about every axis, is not believed
USUAL = 0.1  # [m] radius of gyration that takes its place
ROUNDING = 1e-9


def feasible_prior(link: Link) -> tuple[Array, Finding | None]:
    """The link's parameters (10,), made those of a body that can exist, and what was changed.

    The mass and the centre of mass are kept. The spread of mass along each axis, the eigenvalues of
    `tr(I_C)/2 E - I_C`, must be positive; where one is not, or less than THINNEST allows, those smaller than a solid
    ball's are raised to the ball's. An inertia that was typed rather than computed (equal about every axis, one digit)
    and too large for the mass becomes that of a body with a usual radius of gyration.
    """
    given = link.parameters
    if given is None or not given[0] > 0.0:
        raise ModelError("only a link with mass has a prior", where=f"link {link.name}")
    mass, moment = float(given[0]), given[1:4]
    centre, inertia = moment / mass, about_centre(given)
    spread, axes = np.linalg.eigh(0.5 * np.trace(inertia) * np.eye(3) - inertia)
    if is_typed(inertia) and spread.max() > mass * WIDEST**2:
        fixed = parameters_about_origin(mass, centre, mass * USUAL**2 * np.eye(3))
        return fixed, _finding(link, f"is {inertia[0, 0]:g} kg m2 about every axis, a placeholder", "warning")
    if spread.min() >= mass * THINNEST**2:
        return given, None
    radius = (3.0 * mass / (4.0 * np.pi * DENSITY)) ** (1.0 / 3.0)
    raised = (axes * np.maximum(spread, mass * radius**2 / 5.0)) @ axes.T
    fixed = parameters_about_origin(mass, centre, np.trace(raised) * np.eye(3) - raised)
    point = np.abs(inertia).max() <= ROUNDING * mass
    impossible = spread.min() < -ROUNDING * max(float(np.abs(spread).max()), mass * THINNEST**2)
    words = "is zero" if point else "is that of no possible body" if impossible else "is that of a line or a plane"
    return fixed, _finding(link, words, "warning" if impossible else "info")


def about_centre(parameters: Array) -> Array:
    """(3, 3) inertia about the centre of mass of parameters (10,) with mass [kg m2]."""
    mass, centre = float(parameters[0]), parameters[1:4] / parameters[0]
    return np.asarray(tensor(parameters[4:]) - mass * ((centre @ centre) * np.eye(3) - np.outer(centre, centre)))


def is_typed(inertia: Array) -> bool:
    """Equal about every axis, nothing beside it, one digit: typed, not computed."""
    value = float(inertia[0, 0])
    size = max(abs(value), ROUNDING)
    return bool(
        value > 0.0
        and np.abs(inertia - value * np.eye(3)).max() <= ROUNDING * size
        and abs(float(f"{value:.0e}") - value) <= ROUNDING * size
    )


def _finding(link: Link, words: str, level: Level) -> Finding:
    return Finding(
        "fit.placeholder_prior",
        level,
        f"the inertia of link {link.name} in the model file {words}; "
        "the nearest possible one about the same centre of mass stands in for it as prior",
        where=f"link {link.name}",
        cure="give the CAD values; where the motion does not show this link, its result is only this prior",
    )
