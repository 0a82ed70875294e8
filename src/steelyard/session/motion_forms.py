"""The files that a motion is written to, for controllers that want it in different ways; each read back as written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.excite.motion import Motion, sampled
from steelyard.formats.csv import read_csv, write_csv
from steelyard.formats.joint_trajectory import joint_trajectory_json, joint_trajectory_yaml
from steelyard.formats.joint_trajectory_read import parse_joint_trajectory
from steelyard.formats.ur_script import JOINTS, RATE, poses_of, ur_script
from steelyard.session.disk import write_new

FORMS = ("csv", "joint_trajectory", "franka", "ur")
FRANKA_RATE, FRANKA_JOINTS = 1000, 7
SPARSE = 100
"""[Hz] at most between the points of a joint trajectory: its controller runs polynomials through them."""

CSV, JSON, YAML, FRANKA, UR = (
    "motion.csv", "joint_trajectory.json", "joint_trajectory.yaml", "franka_1khz.csv", "servoj.script",
)  # fmt: skip
FILES = (CSV, JSON, YAML, FRANKA, UR)


def forms_of(asked: Sequence[str], joints: int, *, rest: str) -> tuple[str, ...]:
    """The forms asked for, or all that suit a robot of so many joints.

    Args:
        asked: names among FORMS; none for all that suit.
        joints: of the robot.
        rest: what is zero at both ends.

    Raises:
        StudyError: a name that there is not, or a form that this motion cannot have.
    """
    for name in asked:
        if name not in FORMS:
            raise StudyError("not a form of motion files", value=name, choices=FORMS)
    if "ur" in asked and joints != JOINTS:
        raise StudyError("a script of Universal Robots moves six joints", value=joints, cure="--format csv")
    if "franka" in asked and rest != "jerk":
        raise StudyError("a Franka wants zero jerk at both ends", value=rest, cure="--rest jerk")
    stands = rest != "free"
    for name in ("joint_trajectory", "ur"):
        if name in asked and not stands:
            raise StudyError(
                "a controller starts and ends a motion at rest", where=name, value=rest,
                cure="--rest acceleration; or --format csv, and blend it in and out",
            )  # fmt: skip
    suiting = {
        "joint_trajectory": stands,
        "franka": joints == FRANKA_JOINTS and rest == "jerk",
        "ur": joints == JOINTS and stands,
    }
    return tuple(name for name in FORMS if (name in asked if asked else suiting.get(name, True)))


def rates_of(forms: Sequence[str], rate: int) -> tuple[int, ...]:
    """The rates at which the forms hold samples [Hz]; `rate` is that of the controller.

    Raises:
        StudyError: no controller has such a rate.
    """
    if not 1 <= rate <= 100_000:
        raise StudyError("the rate of a controller is a whole number of samples a second [Hz]", value=rate)
    own = {"joint_trajectory": sparse_rate(rate), "franka": FRANKA_RATE, "ur": RATE}
    return (rate, *(own[name] for name in forms if name in own))


def sparse_rate(rate: int) -> int:
    """The highest rate up to SPARSE that divides the controller's [Hz]; the controller's own where that is below 20."""
    divided = max(n for n in range(1, min(rate, SPARSE) + 1) if rate % n == 0)
    return divided if divided >= 20 else rate


def write_forms(
    folder: Path, motion: Motion, forms: Sequence[str], *, rate: int, periods: int, comment: Sequence[str]
) -> dict[str, tuple[str, Trajectory]]:
    """Write a motion in each form.

    Args:
        folder: an empty one.
        motion: to be sampled.
        forms: see `forms_of`.
        rate: of the controller [Hz].
        periods: how many to write.
        comment: lines at the head of scripts.

    Returns:
        File name -> SHA-256 and the motion that the file was read back as.

    Raises:
        StudyError: a duration that is not a whole number of samples.
        DataError: a joint's name that cannot be written.
    """
    written: dict[str, tuple[str, Trajectory]] = {}
    if "csv" in forms:
        written[CSV] = _csv(folder / CSV, sampled(motion, rate, periods=periods))
    if "joint_trajectory" in forms:
        points = sampled(motion, sparse_rate(rate), periods=periods)
        for name, text in ((JSON, joint_trajectory_json(points)), (YAML, joint_trajectory_yaml(points))):
            data = text.encode()
            written[name] = write_new(folder / name, data), parse_joint_trajectory(data, where=name)
    if "franka" in forms:
        written[FRANKA] = _csv(folder / FRANKA, sampled(motion, FRANKA_RATE, periods=periods))
    if "ur" in forms:
        steps = sampled(motion, RATE, periods=periods)
        script = ur_script(steps, comment=comment)
        digest = write_new(folder / UR, script.encode())
        poses = poses_of(script, name=UR)
        # the script holds positions alone; the robot's own filter makes velocities of them
        written[UR] = digest, replace(poses, joint_names=motion.joint_names, dq=steps.dq, ddq=steps.ddq)
    return written


def _csv(path: Path, trajectory: Trajectory) -> tuple[str, Trajectory]:
    write_csv(path, trajectory)
    read = read_csv(path)
    return read.source, read
