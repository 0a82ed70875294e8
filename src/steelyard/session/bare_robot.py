"""The robot without payload as a session has identified it: its parameters, and how sure they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, SessionError
from steelyard.estimate.estimators import ESTIMATORS
from steelyard.estimate.result import Estimate
from steelyard.estimate.training import Recording
from steelyard.formats.study import read_study
from steelyard.formats.study_schema import Study
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.session.delays import delay_of, without_delay
from steelyard.session.opening import Session, open_session
from steelyard.session.result_file import estimate_from_result
from steelyard.session.run import identified, read_recordings
from steelyard.session.schema import ResultFile
from steelyard.session.workflow import own_terms
from steelyard.terms.names import terms_named
from steelyard.terms.term import Term

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BareRobot:
    """An identified robot.

    Attributes:
        session: its recordings, unchanged since they were fitted.
        result: of the identification.
        names: of the terms of the model.
    """

    session: Session
    result: ResultFile
    names: tuple[str, ...]

    @property
    def terms(self) -> tuple[Term, ...]:
        """Of the model."""
        return terms_named(self.names)

    @property
    def delay(self) -> float:
        """Of the torque, that was taken out [s]."""
        return delay_of(self.result)

    def theta(self, model: Model) -> Array:
        """(p,) values of the model's columns that give the identified torque."""
        return estimate_from_result(self.result).full(model.names)

    def doubt(self, robot: Robot) -> tuple[tuple[str, ...], Array]:
        """Names of the b base parameters and their (b, b) covariance: the training recordings are absorbed again.

        Raises:
            DataError: the recordings leave a base parameter without bound.
        """
        fit = self._fit(robot)
        if not np.isfinite(fit.covariance).all():
            raise DataError(
                "the result leaves base parameters without bound, and a payload cannot be told from those",
                where=str(self.session.directory),
                cure="identify with the default estimator, or record more motion",
            )
        return fit.names, fit.covariance

    def check(self, robot: Robot, given: Path | None, recordings: Sequence[Trajectory]) -> None:
        """Refuse a robot or recordings that are not to be compared with this result.

        Raises:
            SessionError: another model file, other joints, other gravity.
            DataError: a recording that the result was identified from.
        """
        manifest = self.session.manifest
        where = str(self.session.directory)
        if robot.digest != manifest.model.sha256:
            raise SessionError(
                "the result is of another model file", where=where, value=str(given), choices=(manifest.model.path,),
                cure="leave --robot out: the result has its own",
            )  # fmt: skip
        if robot.joint_names != manifest.joint_names:
            raise SessionError(
                "the recordings have other joints than the result", where=where,
                value=", ".join(robot.joint_names), choices=manifest.joint_names,
            )  # fmt: skip
        if not np.allclose(robot.gravity, manifest.gravity, rtol=0.0, atol=1e-9):
            raise SessionError(
                "the result was identified under another gravity", where=where, value=robot.gravity.tolist(),
                cure="the robot must stand as it stood then; correct mount or gravity in the study file",
            )  # fmt: skip
        fitted = {entry.sha256: entry.name for entry in manifest.role("train")}
        for trajectory in recordings:
            if trajectory.source in fitted:
                raise DataError(
                    "the result was identified from this very recording", where=trajectory.name,
                    value=fitted[trajectory.source], cure="give a recording of the robot with its payload",
                )  # fmt: skip

    def _fit(self, robot: Robot) -> Estimate:
        study = Study() if self.session.study is None else read_study(self.session.study)
        train = self.session.recordings("train")
        read = without_delay(read_recordings([path for _, path in train], study, to_fit=True), self.delay)
        intervals = {entry.path: entry.interval_s for entry in self.result.inputs}
        runs = [Recording(t, intervals.get(entry.path)) for (entry, _), t in zip(train, read, strict=True)]
        estimator = self.result.estimator if self.result.estimator in ESTIMATORS else "prior"
        return identified(robot, runs, study, self.names, estimator).estimate


def bare_robot(directory: Path, *, terms: Sequence[str] = ()) -> BareRobot:
    """The identified robot of a session.

    Args:
        directory: of the session.
        terms: of the result, repeated when one of them is code of the user's own.

    Raises:
        SessionError: no session, one without result, or one whose terms are a stranger's code.
    """
    session = open_session(directory)
    if session.result is None:
        raise SessionError(
            "the session has no result yet", where=str(directory), cure=f"steelyard identify {directory}"
        )
    return BareRobot(session, session.result, own_terms(session.result.terms, given=terms))
