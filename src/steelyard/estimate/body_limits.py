"""What is known of a robot's parameters beside the data: masses, where a centre can be, how far a body reaches.

All of it is linear in the pseudo-inertia. A centre of mass in a convex set, `a'c <= b`, is `b m - a'h >= 0`; mass that
lies nowhere outside the ellipsoid `(x - c)'A(x - c) <= 1` has `tr(J Q) >= 0`, `Q = -[E; -c']A[E, -c]`, plus one for the
mass (Wensing, Kim, Slotine 2018).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.estimate.link_map import LinkMap
from steelyard.estimate.symmetry import Symmetry
from steelyard.robot.inertia import pseudo_inertia
from steelyard.terms.rigid_body import QUANTITIES

Array = NDArray[np.float64]
Range = tuple[float, float]
WIDE = 0.05  # [m] a centre of mass keeps no more from the edge of a larger box than of one of this size
LEAST_SIZE = 1e-3  # [m] a hull thinner than this has no inside


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid in a link frame.

    Attributes:
        centre: (3,) [m].
        axes: (3, 3) half axes [m], one a column.
    """

    centre: Array
    axes: Array


@dataclass(frozen=True)
class BodyLimits:
    """Limits on moving links and on the other columns; what is not named is free.

    Attributes:
        total_mass: least and greatest mass of all moving links together [kg].
        mass: by link name, least and greatest mass [kg].
        centre: by link name, two corners (3,) of the box in the link frame that holds the centre of mass [m].
        hull: by link name, points (k, 3) in the link frame whose convex hull holds the centre of mass [m]; see
            `hull_points` for those of the collision geometry.
        ellipsoid: by link name, the ellipsoid that holds all of the mass.
        value: by name of a full parameter, e.g. ``actuator/<joint>/viscous_friction``, its least and greatest value.
        symmetry: links and joints that are alike, left and right.
    """

    total_mass: Range | None = None
    mass: Mapping[str, Range] = field(default_factory=dict)
    centre: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    hull: Mapping[str, Array] = field(default_factory=dict)
    ellipsoid: Mapping[str, Ellipsoid] = field(default_factory=dict)
    value: Mapping[str, Range] = field(default_factory=dict)
    symmetry: Symmetry | None = None


class Row(NamedTuple):
    """`row @ y >= bound` over the coordinates of a LinkMap, in units of the prior's size or of the range."""

    row: Array
    bound: float
    name: str


class LimitRows(NamedTuple):
    """`G y >= g`, (k, u) and (k,), and the name of each row."""

    G: Array
    g: Array
    names: tuple[str, ...]


def limit_rows(limits: BodyLimits, links: LinkMap) -> LimitRows:
    """The limits as rows over the coordinates of a LinkMap.

    Raises:
        StudyError: a link that does not move or has no mass, a name that is no parameter, a range that is empty, a
            hull or ellipsoid without inside.
    """
    rows = [*_of_masses(limits, links), *_of_centres(limits, links), *_of_ellipsoids(limits, links)]
    rows += _of_values(limits, links)
    G = np.array([row.row for row in rows]).reshape(len(rows), links.matrix.shape[1])
    return LimitRows(G, np.array([row.bound for row in rows]), tuple(row.name for row in rows))


def _of_masses(limits: BodyLimits, links: LinkMap) -> Iterator[Row]:
    masses, priors = links.mass_rows(), links.priors[:, 0]
    if limits.total_mass is not None:
        yield from _between(masses.sum(axis=0), limits.total_mass, "total mass", float(priors.sum()))
    for name, given in limits.mass.items():
        k = _index(links, name)
        yield from _between(masses[k], given, f"mass of link {name}", float(priors[k]))


def _of_centres(limits: BodyLimits, links: LinkMap) -> Iterator[Row]:
    for name, corners in limits.centre.items():
        k = _index(links, name)
        low, high = (np.asarray(corner, dtype=np.float64) for corner in corners)
        for axis in range(3):
            label = f"centre of mass of link {name}, {'xyz'[axis]}"
            a, b = _checked((float(low[axis]), float(high[axis])), label)
            direction = np.eye(3)[axis]
            for normal, reach, word in ((direction, b, "greatest"), (-direction, -a, "least")):
                yield _half_space(links, k, normal, reach, b - a, f"{word} {label}")
    for name, points in limits.hull.items():
        k = _index(links, name)
        points = np.asarray(points, dtype=np.float64)
        for facet in _facets(points, name):
            size = float(np.ptp(points @ facet[:3]))
            yield _half_space(links, k, facet[:3], -facet[3], size, f"centre of mass of link {name}, hull")


def _of_ellipsoids(limits: BodyLimits, links: LinkMap) -> Iterator[Row]:
    for name, given in limits.ellipsoid.items():
        k = _index(links, name)
        axes = np.asarray(given.axes, dtype=np.float64)
        if axes.shape != (3, 3) or not np.linalg.svd(axes, compute_uv=False)[-1] > 0.0:
            raise StudyError("an ellipsoid needs three half axes [m]", where=f"link {name}", value=axes.tolist())
        half = np.linalg.solve(axes, np.column_stack([np.eye(3), -np.asarray(given.centre, dtype=np.float64)]))
        Q = -half.T @ half
        Q[3, 3] += 1.0
        row = np.zeros(links.matrix.shape[1])
        ten = [pseudo_inertia(column) for column in links.ten[k].T]
        row[10 * k : 10 * k + 10] = [float(np.sum(J * Q)) for J in ten]
        yield Row(row / links.priors[k, 0], 0.0, f"ellipsoid of link {name}")


def _of_values(limits: BodyLimits, links: LinkMap) -> Iterator[Row]:
    owner = {
        f"link/{link.name}/{q}": (k, e) for k, link in enumerate(links.links) for e, (q, _) in enumerate(QUANTITIES)
    }
    scalar = {column.name: links.rigid + s for s, column in enumerate(links.scalars)}
    for name, given in limits.value.items():
        row = np.zeros(links.matrix.shape[1])
        if name in owner:
            k, e = owner[name]
            row[10 * k : 10 * k + 10] = links.ten[k, e]
        elif name in scalar:
            row[scalar[name]] = 1.0
        else:
            raise StudyError("not a parameter of this model", value=name, choices=(*owner, *scalar))
        yield from _between(row, given, name, abs(float(row @ links.start)))


def _between(row: Array, given: Range, name: str, size: float) -> Iterator[Row]:
    low, high = _checked(given, name)
    unit = min(high - low, size or np.inf)
    unit = unit if np.isfinite(unit) else 1.0
    for sign, bound, word in ((1.0, low, "least"), (-1.0, high, "greatest")):
        if np.isfinite(bound):
            yield Row(sign * row / unit, sign * bound / unit, f"{word} {name}")


def _half_space(links: LinkMap, k: int, normal: Array, reach: float, size: float, name: str) -> Row:
    """`normal'c <= reach` of the centre of mass of link k."""
    row = np.zeros(links.matrix.shape[1])
    row[10 * k : 10 * k + 10] = reach * links.ten[k, 0] - normal @ links.ten[k, 1:4]
    return Row(row / (float(links.priors[k, 0]) * min(size, WIDE)), 0.0, name)


def _facets(points: Array, name: str) -> Array:
    """(f, 4) outward normals and offsets of the convex hull, `normal'x + offset <= 0`; coplanar facets once."""
    from scipy.spatial import ConvexHull, QhullError

    flat = points.ndim != 2 or points.shape[-1] != 3 or len(points) < 4 or not np.isfinite(points).all()
    if flat or np.linalg.svd(points - points.mean(axis=0), compute_uv=False)[-1] < LEAST_SIZE:
        raise StudyError("a hull needs points (k, 3) [m] that do not lie in a plane", where=f"link {name}",
                         value=points.shape)  # fmt: skip
    try:
        facets = ConvexHull(points).equations
    except QhullError as error:
        raise StudyError("the points have no hull", where=f"link {name}", value=str(error).splitlines()[0]) from error
    return np.asarray(np.unique(np.round(facets, 9), axis=0))


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
