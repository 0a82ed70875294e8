"""A staged campaign as a study file describes it."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.errors import StudyError
from steelyard.estimate.identify import Identification
from steelyard.estimate.staged_identification import Experiment, staged_identification
from steelyard.estimate.stages import Preparation
from steelyard.estimate.training import DEAD_BAND, Recording
from steelyard.formats.study_schema import Study
from steelyard.robot.robot import Robot
from steelyard.terms.names import terms_named


def campaign(
    robot: Robot, recordings: Sequence[Recording], study: Study, names: Sequence[str] | None
) -> Identification:
    """Identify in the stages of a study file, in its order.

    Args:
        robot: with the joints of the recordings.
        recordings: those given to fit; each stage names its own by their file names.
        study: with stages.
        names: of the terms.

    Raises:
        StudyError: no terms, a recording that no stage or that several name.
    """
    if not names:
        raise StudyError("stages need to know the terms of the model", where="[terms] names",
                         cure='e.g. names = ["rigid_body", "viscous", "coulomb", "offset"]')  # fmt: skip
    files = {r.trajectory.name: r for r in recordings}
    used = [file for stage in study.stages.values() for file in stage.train]
    for stage, table in study.stages.items():
        for file in table.train:
            if file not in files or used.count(file) > 1:
                raise StudyError(
                    "each recording given to fit belongs to one stage, by its file name",
                    where=f"[stages.{stage}] train", value=file, choices=sorted(files),
                )  # fmt: skip
    left = sorted(set(files) - set(used))
    if left:
        raise StudyError("no stage names this recording", where="[stages]", value=left[0], choices=list(study.stages))
    asked = study.prepare
    return staged_identification(
        robot,
        [Experiment(n, t.settle, tuple(files[file] for file in t.train)) for n, t in study.stages.items()],
        terms=terms_named(names),
        preparation=Preparation(
            cutoff=None if asked.cutoff_hz == "auto" else asked.cutoff_hz,
            use_recorded_dq=None if asked.use_recorded_dq == "auto" else asked.use_recorded_dq,
            decimate_by=None if asked.decimate == "auto" else asked.decimate,
            dead_band=DEAD_BAND if asked.dead_band == "auto" else asked.dead_band,
            exclude=asked.exclude,
        ),
    )
