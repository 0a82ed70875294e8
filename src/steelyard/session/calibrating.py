"""Drive gains from files: runs with and without a part whose mass is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from steelyard.basis import base_parameters
from steelyard.errors import DataError, StudyError
from steelyard.estimate.drive_gain import DriveGains, drive_gains
from steelyard.estimate.payload_of_runs import absorbed_alike
from steelyard.estimate.training import Recording
from steelyard.formats.study_schema import Study
from steelyard.robot.inertia import parameters_about_origin
from steelyard.session.delays import without_delay
from steelyard.session.run import plausible, read_recordings, robot_for
from steelyard.session.weighing import Weighing, delay_asked, model_for, preparing, require_distinct, study_of

ROUNDED = 0.01  # share of the largest principal moment by which rounded numbers may miss what a body has


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
        return parameters_about_origin(self.mass, np.array(self.centre), self.own_inertia)

    @property
    def own_inertia(self) -> np.ndarray:
        """(3, 3) about its centre [kg m2]."""
        xx, yy, zz, xy, xz, yz = self.inertia
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


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
    _check_part(part)
    study = study_of(request)
    say(f"reading {len(request.loaded) + len(request.unloaded)} recording(s)")
    recordings = read_recordings((*request.loaded, *request.unloaded), study)
    require_distinct(recordings)
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
    _check_direction(found)
    return replace(found, findings=(*robot.findings, *noted, *told, *found.findings)), study


def _check_part(part: KnownPart) -> None:
    """Raise StudyError for what no body is."""
    if not (np.isfinite([part.mass, *part.centre, *part.inertia]).all() and part.mass > 0.0):
        raise StudyError("a known part has a positive mass, and finite numbers", value=part.mass,
                         cure="--known-mass in kg, --known-center in m, --known-inertia in kg m2")  # fmt: skip
    least, middle, largest = np.linalg.eigvalsh(part.own_inertia)
    if least < -ROUNDED * largest or largest > (1.0 + ROUNDED) * (least + middle):
        raise StudyError(
            "no body has this inertia about its centre of mass", value=part.inertia,
            cure="--known-inertia XX YY ZZ XY XZ YZ: no principal moment above the sum of the two others",
        )  # fmt: skip


def _check_direction(gains: DriveGains) -> None:
    """Raise DataError where the recorded torque changes against the weight of the part."""
    against = [(joint, gain) for joint, gain, (_, high) in zip(gains.joints, gains.gain, gains.interval, strict=True)
               if high < 0.0]  # fmt: skip
    if against:
        raise DataError(
            f"with the part the torque changes the wrong way on {', '.join(joint for joint, _ in against)}",
            where=against[0][0], value=float(against[0][1]),
            cure="exchange the loaded and the unloaded recording; else check the sign of the torques and the centre of "
            "the part",
        )  # fmt: skip
