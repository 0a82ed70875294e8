"""From parameters of links and joints to the columns of a model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import StudyError
from steelyard.model import Model
from steelyard.robot.inertia import transform
from steelyard.terms.rigid_body import RigidBody

Array = NDArray[np.float64]


def full_columns(model: Model, links: Mapping[str, Array], scalars: Mapping[str, float]) -> Array:
    """(p,) values of the model's columns; links joined by fixed joints are added up in the frame of their body.

    Args:
        model: robot and terms.
        links: (10,) parameters about each link's own origin, by link name; links left out count as massless.
        scalars: values of the columns that are no body's, by name.

    Raises:
        StudyError: a link that the robot does not have or that does not move, or a column without a value.
    """
    robot = model.robot
    known = {link.name: link for link in robot.links if link.body >= 0}
    unknown = [name for name in links if name not in known]
    if unknown:
        raise StudyError("no moving link has this name", where=robot.name, value=unknown[0], choices=tuple(known)[:60])
    bodies = np.zeros((len(robot.joints), 10))
    for name, parameters in links.items():
        link = known[name]
        bodies[link.body] += transform(np.asarray(parameters, dtype=np.float64), link.rotation, link.translation)
    values = dict(zip((c.name for c in RigidBody().columns(robot)), bodies.ravel().tolist(), strict=True))
    values |= scalars
    missing = [name for name in model.names if name not in values]
    if missing:
        raise StudyError("a column of the model has no value", value=missing[0])
    return np.array([values[name] for name in model.names])
