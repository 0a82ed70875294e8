"""Drive gains from files: runs with and without a part whose mass is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from steelyard.basis import base_parameters
from steelyard.errors import StudyError
from steelyard.estimate.drive_gain import DriveGains, drive_gains
from steelyard.estimate.payload_of_runs import absorbed_alike
from steelyard.estimate.training import Recording
from steelyard.formats.study_schema import Study
from steelyard.robot.inertia import parameters_about_origin
from steelyard.session.delays import without_delay
from steelyard.session.run import plausible, read_recordings, robot_for
from steelyard.session.weighing import Weighing, delay_asked, model_for, preparing, study_of


@dataclass(frozen=True)
class KnownPart:
    """A part that was on a scale.

    Attributes:
        mass: [kg].
        centre: (3,) in the frame that it is fixed to [m].
        inertia: xx, yy, zz, xy, xz, yz about its centre, along the axes of the frame [kg m2].
    """

    mass: float
    centre: tuple[float, float, float]
    inertia: tuple[float, float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

    @property
    def parameters(self) -> np.ndarray:
        """(10,) about the origin of the frame."""
        xx, yy, zz, xy, xz, yz = self.inertia
        own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        return parameters_about_origin(self.mass, np.array(self.centre), own)


def calibrate(
    request: Weighing, part: KnownPart, *, say: Callable[[str], None] = lambda message: None
) -> tuple[DriveGains, Study]:
    """Gains of all joints, and the study file that the torques were read with.

    Args:
        request: with loaded and unloaded runs.
        part: what the loaded runs carried.
        say: called with a line before each stage.

    Raises:
        SteelyardError: an input that cannot be used.
    """
    if not (request.loaded and request.unloaded and request.robot) or request.poses or request.result:
        raise StudyError("a known part is compared with runs without it", cure="--robot, --unloaded and --loaded")
    study = study_of(request)
    say(f"reading {len(request.loaded) + len(request.unloaded)} recording(s)")
    recordings = read_recordings((*request.loaded, *request.unloaded), study)
    robot = robot_for(request.robot, study, recordings)
    noted = plausible(recordings, robot)
    delay, told = delay_asked(study, recordings, robot)
    runs = [Recording(trajectory) for trajectory in without_delay(recordings, delay)]
    loaded, unloaded = runs[: len(request.loaded)], runs[len(request.loaded) :]
    model = model_for(request, study, robot, unloaded)
    basis = base_parameters(model)
    say(f"comparing with {part.mass:g} kg")
    full, bare = absorbed_alike(model, basis, (loaded, unloaded), preparing(study))
    found = drive_gains(model, basis, bare, full, part.parameters, link=request.link)
    return replace(found, findings=(*robot.findings, *noted, *told, *found.findings)), study
