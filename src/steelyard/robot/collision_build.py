"""From a model file, its meshes and obstacles to what can collide."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from steelyard.errors import ModelError, StudyError
from steelyard.finding import Finding
from steelyard.robot.allowed_pairs import AllowedPair, Names, allowed_pairs
from steelyard.robot.collision import CollisionModel
from steelyard.robot.collision_file import CollisionGeometry, read_collision_geometry
from steelyard.robot.collision_shape import Obstacle
from steelyard.robot.robot import Robot
from steelyard.robot.solid import Solid, solid_of

MARGIN = 0.01  # [m] distance to keep where none is given
SAMPLES = 1000


def collision_model(
    robot: Robot,
    path: str | Path,
    *,
    search: Sequence[str | Path] = (),
    obstacles: Sequence[Obstacle] = (),
    required: float = MARGIN,
    allowed: Iterable[tuple[str, str]] = (),
    checked: Iterable[tuple[str, str]] = (),
    samples: int = SAMPLES,
    seed: int = 0,
) -> CollisionModel:
    """What of a robot can collide, with itself and with obstacles.

    Args:
        robot: with the joints that move; what is locked is rigid here, too.
        path: the file it was read from.
        search: folders for meshes besides that of the file; for `package://NAME/...` one that is NAME or holds it.
        obstacles: in the frame of the base.
        required: distance to keep [m].
        allowed: pairs of links, or of a link and an obstacle, that may touch besides those found by themselves.
        checked: pairs that may not touch, whatever sampling says.
        samples: poses tried for the pairs that may touch.
        seed: of the draws.

    Raises:
        ModelError: a file that is not the robot's, a base that floats, no shapes at all.
        StudyError: options that make no sense, names that are not there.
    """
    if not required >= 0.0 or samples < 1 or seed < 0:
        raise StudyError("a distance to keep and a seed from 0 on, and poses to try", value=(required, samples, seed))
    if robot.floating:
        raise ModelError("collisions are checked for robots whose base stands", where=robot.name)
    found = read_collision_geometry(robot, Path(path), [Path(folder) for folder in search])
    solids = [*_solids(robot, found), *(solid_of(obstacle.shape, 0) for obstacle in obstacles)]
    if not solids:
        raise ModelError(
            "the file has no collision geometry", where=str(path), cure="add <collision> shapes, or give another file"
        )
    names = [solid.name for solid in solids]
    own = len(solids) - len(obstacles)
    for obstacle in obstacles:
        if names.count(obstacle.name) > 1:
            raise StudyError("a name is given twice", where="obstacles", value=obstacle.name)
    may, must = (_known(pairs, names) for pairs in (allowed, checked))
    apart = [(a, b) for a in range(len(solids)) for b in range(a + 1, len(solids)) if solids[a].body != solids[b].body]
    pairs = np.array(apart, dtype=np.int64).reshape(-1, 2)
    mine = pairs[(pairs < own).all(axis=1)]
    matrix, folded = allowed_pairs(robot, solids, mine, found.joined, stated=may, samples=samples, seed=seed)
    matrix = [pair for pair in matrix if frozenset((pair.first, pair.second)) not in must]
    free = {frozenset((pair.first, pair.second)) for pair in matrix} | may
    kept = [k for k, (a, b) in enumerate(pairs) if frozenset((names[a], names[b])) not in free]
    return CollisionModel(
        robot=robot,
        solids=tuple(solids),
        pairs=pairs[kept],
        required=required,
        allowed=(*matrix, *_stated(may, names[own:])),
        findings=(*found.findings, *(_folded(pair) for pair in folded if pair not in must)),
        unchecked=tuple(found.unchecked),
    )


def _solids(robot: Robot, found: CollisionGeometry) -> list[Solid]:
    """The shapes of all links, each in the frame of its body."""
    links = {link.name: link for link in robot.links}
    solids = []
    for shape in found.shapes:
        R, p, body = np.eye(3), np.zeros(3), -1
        if shape.link in links:
            R, p, body = links[shape.link].rotation, links[shape.link].translation, links[shape.link].body
        placed = replace(shape, rotation=R @ shape.rotation, translation=p + R @ shape.translation)
        try:
            solids.append(solid_of(placed, body + 1))
        except ValueError as error:
            found.unchecked.append(f"{shape.link}: one of its meshes ({error})")
            found.findings.append(
                Finding("excite.mesh_missing", "warning", f"a mesh of link {shape.link!r} cannot be used: {error}",
                        where=f"link {shape.link}", cure="export the mesh again, as a closed surface")
            )  # fmt: skip
    return solids


def _known(pairs: Iterable[tuple[str, str]], names: Sequence[str]) -> set[Names]:
    known = set()
    for pair in pairs:
        for name in pair:
            if name not in names:
                raise StudyError("no link or obstacle with a shape", value=name, choices=tuple(dict.fromkeys(names)))
        known.add(frozenset(pair))
    return known


def _stated(may: set[Names], obstacles: Sequence[str]) -> list[AllowedPair]:
    """Pairs with an obstacle, for which no poses were tried."""
    touching = [sorted(names) for names in may if names & set(obstacles)]
    return [AllowedPair(pair[0], pair[-1], "stated", None) for pair in sorted(touching)]


def _folded(names: Names) -> Finding:
    first, second = sorted(names)
    return Finding(
        code="excite.neutral_touches",
        level="info",
        message=f"links {first!r} and {second!r} touch at neutral, and seldom elsewhere: neutral counts as a collision",
        where=f"{first}, {second}",
        cure="allow the pair if its shapes are only coarse there: the collisions of the two are then not seen",
    )
