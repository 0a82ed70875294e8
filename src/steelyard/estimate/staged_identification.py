"""A staged campaign from recordings to an identified model, in the form of any other identification."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from steelyard.basis import base_parameters
from steelyard.estimate.identify import Identification
from steelyard.estimate.prior import physical_prior
from steelyard.estimate.result import Estimate
from steelyard.estimate.staged import Staged, staged
from steelyard.estimate.stages import Preparation, stage_of
from steelyard.estimate.training import Recording
from steelyard.information import SquareRootInformation
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.term import Term


class Experiment(NamedTuple):
    """Name of a stage, what it settles (see `stage_columns`), and its recordings."""

    name: str
    settles: str
    recordings: tuple[Recording, ...]


def staged_identification(
    robot: Robot,
    experiments: Sequence[Experiment],
    *,
    terms: Sequence[Term],
    preparation: Preparation | None = None,
) -> Identification:
    """Identify stage by stage; see `staged`.

    Args:
        robot: with the joints of the recordings.
        experiments: in their order.
        terms: of the model.
        preparation: of all recordings.

    Raises:
        StudyError, DataError: as for `stage_of` and `staged`.
    """
    model = Model(robot, tuple(terms))
    basis = base_parameters(model)
    stages = [
        stage_of(model, basis, e.settles, e.recordings, name=e.name, preparation=preparation) for e in experiments
    ]
    found = staged(model, basis, stages)
    prepared = tuple(ready for stage in stages for ready in stage.prepared)
    return Identification(model, basis, _estimate(model, found), prepared)


def _estimate(model: Model, found: Staged) -> Estimate:
    """All base parameters, with the information of all stages on those that were settled, at the last one's weights.

    Those that no stage settled are as in the model file, as sure as that is.
    """
    last, basis = found.fits[-1].estimate, found.basis
    settled = [basis.names.index(name) for name in last.names]
    known = {name: float(found.theta[basis.names.index(name)]) for name in found.fits[-1].held}
    place = np.eye(basis.count)[settled]
    scaled = (fit.information.scale(fit.estimate.weights / last.weights) for fit in found.fits)
    whole = reduce(SquareRootInformation.merge, (info.given(known).project(basis.names, place) for info in scaled))
    return Estimate(
        names=basis.names,
        theta=np.array(found.theta),
        basis=basis,
        information=whole,
        weights=last.weights,
        noise=last.noise,
        correlation_time=last.correlation_time,
        estimator="staged",
        findings=found.findings,
        prior=physical_prior(model, whole),
    )
