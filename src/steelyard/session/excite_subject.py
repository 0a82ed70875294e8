"""What an excitation is for: the robot, the terms to be told apart, and the limits to be kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from steelyard.data.trajectory import Trajectory
from steelyard.errors import ModelError, StudyError
from steelyard.excite.certificate import Certificate, certify, certify_trajectory
from steelyard.excite.fourier import Rest
from steelyard.excite.frame_limit import FrameLimit
from steelyard.excite.limits import JointLimit, MotionLimits, motion_limits
from steelyard.excite.motion import Motion
from steelyard.finding import Finding
from steelyard.formats.joint_limits import read_joint_limits
from steelyard.formats.study import read_study
from steelyard.formats.study_schema import Study
from steelyard.model import Model
from steelyard.robot.collision import CollisionModel
from steelyard.robot.robot import Robot
from steelyard.session.surroundings import clearance_of, frames_of
from steelyard.terms.names import terms_named

TERMS = ("rigid_body", "rotor_inertia", "viscous", "coulomb", "offset")


@dataclass(frozen=True)
class Subject:
    """Robot, terms, limits.

    Attributes:
        model: robot and terms.
        terms: their names.
        limits: of its joints, all of them.
        uncertainty: share by which the real torque may exceed the nominal one.
        clearance: what can collide, and the distance to keep; None where nothing is known of it.
        frames: speeds and boxes that points of the robot keep.
    """

    model: Model
    terms: tuple[str, ...]
    limits: MotionLimits
    uncertainty: float = 0.0
    clearance: CollisionModel | None = None
    frames: tuple[FrameLimit, ...] = ()

    def certify(self, motion: Motion, *, rest: Rest) -> Certificate:
        """Check a motion against everything that is to be kept; `rest`: what must be zero at both ends."""
        return certify(
            motion, self.model, self.limits, rest=rest, uncertainty=self.uncertainty, clearance=self.clearance,
            frames=self.frames,
        )  # fmt: skip

    def certify_samples(self, trajectory: Trajectory, *, rest: Rest) -> Certificate:
        """The same for a motion that came out of a file."""
        return certify_trajectory(
            trajectory, self.model, self.limits, rest=rest, uncertainty=self.uncertainty, clearance=self.clearance,
            frames=self.frames,
        )  # fmt: skip

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is to be known of the shapes that collisions are checked with."""
        return () if self.clearance is None else self.clearance.findings

    @property
    def designable(self) -> MotionLimits:
        """The limits with those of torque made smaller by the uncertainty of the torque."""
        return replace(self.limits, effort=self.limits.effort / (1.0 + self.uncertainty))


def read_subject(
    robot: Path,
    limits: Path | None,
    *,
    study: Path | None = None,
    gravity: tuple[float, float, float] | None = None,
    lock: Sequence[str] = (),
    moved: Sequence[str] = (),
    terms: Sequence[str] = (),
    uncertainty: float = 0.0,
    meshes: Sequence[Path] = (),
    distance: float | None = None,
) -> Subject:
    """Read model file, limits file and study file.

    Args:
        robot: URDF or MJCF file.
        limits: joint_limits.yaml; None where the model file must do, which holds no acceleration and no jerk.
        study: study file (TOML); of it the robot, the terms, and what to keep clear of.
        gravity: (3,) [m/s2] in the frame of the root link; that of the study or the model file when not given.
        lock: joints to hold at neutral.
        moved: joints of a motion; others are held at neutral too. None where the motion is still to be made.
        terms: their names; those of the study, or TERMS, when not given.
        uncertainty: share by which the real torque may exceed the nominal one.
        meshes: folders to look for the meshes of the model file in.
        distance: to keep from itself and from obstacles [m].

    Raises:
        SteelyardError: a file that cannot be used, a joint or term that there is not, a limit that is missing.
    """
    if not 0.0 <= uncertainty < np.inf:
        raise StudyError("the uncertainty of the torque is a share from 0 on", value=uncertainty)
    said = Study() if study is None else read_study(study)
    loaded = Robot.from_file(robot, gravity=gravity or said.robot.gravity_in_base(), mimic=said.robot.mimic)
    loaded = loaded.locked(said.robot.locked).locked(lock)
    if moved:
        loaded = loaded.for_joints(moved, where="motion")
    if loaded.floating or not loaded.joint_names:
        raise ModelError(
            "a motion is for a robot that stands, and has joints that move", where=loaded.name,
            cure="put the robot on a stand, and give a model file whose base does not float; lock fewer joints",
        )  # fmt: skip
    if said.robot.mimic == "lock":
        _refuse_left_behind(loaded)
    table = {} if limits is None else read_joint_limits(limits)
    _ask_for_missing(loaded, table, limits)
    names = tuple(terms) or said.terms.names or TERMS
    return Subject(
        model=Model(loaded, terms_named(names)),
        terms=tuple(names),
        limits=motion_limits(loaded, table, where="joint_limits.yaml" if limits is None else str(limits)),
        uncertainty=uncertainty,
        clearance=clearance_of(loaded, robot, said.excite, meshes=meshes, distance=distance),
        frames=frames_of(said.excite),
    )


def _refuse_left_behind(robot: Robot) -> None:
    """A joint that is held here but follows one that moves would be elsewhere than where it was certified.

    Raises:
        ModelError: there is one.
    """
    for finding in robot.findings:
        if finding.code == "model.mimic_locked" and finding.value in robot.joint_names:
            raise ModelError(
                "a joint follows one that moves: held still it would be certified where it is not", where=finding.where,
                value=finding.value,
                cure='mimic = "project" in [robot] of the study file (--config) moves it along, within its own '
                "position and velocity limits of the model file; or --lock the joint that it follows",
            )  # fmt: skip


def _ask_for_missing(robot: Robot, table: dict[str, JointLimit], limits: Path | None) -> None:
    """Ask for all limits that no model file holds at once, and show what to write.

    Raises:
        StudyError: acceleration or jerk of a joint is not stated.
    """
    lines = []
    for name, prismatic in zip(robot.joint_names, robot.prismatic, strict=True):
        given = table.get(name, JointLimit())
        unit = "m" if prismatic else "rad"
        asked = []
        if given.acceleration is None:
            asked.append(f"has_acceleration_limits: true, max_acceleration: <{unit}/s2>")
        if given.jerk is None:
            asked.append(f"has_jerk_limits: true, max_jerk: <{unit}/s3>")
        if asked:
            lines.append(f"  {name}: {{{', '.join(asked)}}}")
    if lines:
        raise StudyError(
            f"acceleration or jerk limits of {len(lines)} joint(s) are not stated, and are never made up",
            where="--limits" if limits is None else str(limits),
            cure="\n".join(
                [
                    "take them from the robot's data sheet; has_jerk_limits: false says that there is none;",
                    "a joint that shall not move: --lock NAME. In the file of --limits:",
                    "joint_limits:",
                    *lines,
                ]
            ),
        )
