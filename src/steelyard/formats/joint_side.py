"""What a study says about a recording, applied: units, signs, currents, drives and offsets, to SI at the joint side.

In this order: unit, sign, current to torque, motor side to joint side, position offset.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from steelyard.data.contract import TIME, Layout
from steelyard.errors import StudyError
from steelyard.formats.samples import Samples
from steelyard.preparation.drive import (
    Drive,
    coupled,
    geared,
    joint_motion,
    joint_torque,
    motor_motion,
    torque_from_current,
)
from steelyard.suggest import did_you_mean
from steelyard.units import unit

if TYPE_CHECKING:
    from steelyard.formats.study_schema import DriveTable, RecordingTable, Study

Array = NDArray[np.float64]
_MOTION = ("q", "dq", "ddq")


@dataclass(frozen=True)
class Conversion:
    """From the file's terms to SI at the joint side; row by row, so chunks and whole files agree to the bit.

    Attributes:
        time: factor of the stamps to seconds.
        scale: per channel (n,), factor of the unit times sign.
        constant, zero_current: (n,) torque constant [N m/A or N/A] and current at zero torque [A]; 1 and 0 where the
            column is a torque already.
        drive: the transmission, or None.
        motor_position, motor_torque: which signals the drive converts.
        offset: (n,) added to q at the joint [rad or m].
        steps: what is done, one line each, for the provenance of the trajectory.
    """

    time: float
    scale: Mapping[str, Array]
    constant: Array
    zero_current: Array
    drive: Drive | None
    motor_position: bool
    motor_torque: bool
    offset: Array
    steps: tuple[str, ...]

    def apply(self, samples: Samples) -> Samples:
        """The samples in SI at the joint side."""
        out = {channel: values * self.scale[channel] for channel, values in samples.channels.items()}
        motor_velocity: Array | None = None
        if self.drive is not None and "dq" in out:
            motor_velocity = out["dq"] if self.motor_position else motor_motion(self.drive, out["dq"])
        if "tau" in out:
            out["tau"] = torque_from_current(out["tau"], self.constant, self.zero_current)
            if self.drive is not None and self.motor_torque:
                out["tau"] = joint_torque(self.drive, out["tau"], motor_velocity=motor_velocity)
        if self.drive is not None and self.motor_position:
            out.update({c: joint_motion(self.drive, out[c]) for c in _MOTION if c in out})
        out["q"] = out["q"] + self.offset
        return Samples(samples.time * self.time, out)


def conversion(study: Study, found: Layout, *, where: str, joint_names: Sequence[str] | None) -> Conversion:
    """What `study` says about the columns `found`.

    Args:
        where: the recording, for messages.
        joint_names: joints of the robot: a study may speak of one that this recording lacks.

    Raises:
        StudyError: a joint that exists neither here nor on the robot, a drive or torque constant that is missing or
            would be without effect, units of one joint that contradict each other.
    """
    recording, drive = study.recording, study.drive
    _check_joints(study, found.joint_names, joint_names, where)
    _check_kinds(recording, drive, found, where)
    joints, n = found.joint_names, len(found.joint_names)
    scale = {
        channel: np.array([_factor(recording.unit_of(channel, j)) * recording.sign_of(channel, j) for j in joints])
        for channel in found.channels
    }
    constant, zero_current = _currents(recording, drive, found, where)
    transmission = _drive(drive, joints, where)
    if drive.efficiency and "tau" in found.channels and "dq" not in found.channels:
        raise StudyError(
            "an efficiency needs the columns dq/<joint>: it divides where the load drives the motor",
            where=where,
            value=dict(drive.efficiency),
            cure="record velocities, or leave efficiency out; the loss then shows as friction",
        )
    offset = np.array([recording.position_offset.get(j, 0.0) for j in joints]).reshape(n)
    return Conversion(
        _factor(recording.unit.get(TIME, "")),
        scale,
        constant,
        zero_current,
        transmission,
        drive.position_side == "motor",
        drive.torque_side == "motor",
        offset,
        tuple(_steps(recording, drive, transmission)),
    )


def _factor(name: str) -> float:
    return unit(name).factor if name else 1.0


def _check_joints(study: Study, here: Sequence[str], robot: Sequence[str] | None, where: str) -> None:
    from steelyard.formats.study_schema import joints_named

    known = (*here, *(robot or ()))
    tables = {
        "[recording.unit]": joints_named(study.recording.unit),
        "[recording.sign]": joints_named(study.recording.sign),
        "[recording.position_offset]": tuple(study.recording.position_offset),
        "[drive.ratio]": tuple(study.drive.ratio),
        "[drive] joints": study.drive.joints,
        "[drive.torque_constant]": tuple(study.drive.torque_constant),
        "[drive.efficiency]": tuple(study.drive.efficiency),
    }
    for table, joints in tables.items():
        for joint in joints:
            if joint not in known:
                raise StudyError(
                    f"{table} speaks of a joint that is not in the recording",
                    where=where,
                    value=joint,
                    choices=tuple(dict.fromkeys(known)),
                    cure=did_you_mean(joint, known, otherwise="correct the name in the study file"),
                )


def _check_kinds(recording: RecordingTable, drive: DriveTable, found: Layout, where: str) -> None:
    """The declared units of one joint on one side are all of a turning or all of a sliding joint."""
    sliding = ("length", "velocity", "acceleration", "force")
    one_side = drive.position_side == drive.torque_side
    for joint in found.joint_names:
        kinds: dict[bool, str] = {}
        for channel in ("q", "dq", "ddq", *(("tau",) if one_side else ())):
            name = recording.unit_of(channel, joint)
            if channel in found.channels and name and unit(name).dimension != "current":
                kinds[unit(name).dimension in sliding] = f"{channel} [{name}]"
        if len(kinds) == 2:
            raise StudyError(
                f"the units of joint {joint} belong partly to a turning, partly to a sliding joint",
                where=f"{where}, [recording.unit]",
                value=" and ".join(kinds.values()),
                cure=f'declare units of this joint by column, e.g. "q/{joint}" = "mm"',
            )


def _currents(recording: RecordingTable, drive: DriveTable, found: Layout, where: str) -> tuple[Array, Array]:
    joints = found.joint_names
    constant, zero = np.ones(len(joints)), np.zeros(len(joints))
    if "tau" not in found.channels:
        return constant, zero
    for k, joint in enumerate(joints):
        name = recording.unit_of("tau", joint)
        is_current = bool(name) and unit(name).dimension == "current"
        if is_current and joint not in drive.torque_constant:
            raise StudyError(
                "a current needs a torque constant",
                where=f"{where}, [drive.torque_constant]",
                value=f"tau/{joint} [{name}]",
                choices=tuple(drive.torque_constant),
                cure=f'add torque_constant."{joint}" = ... [N m/A] to [drive]',
            )
        if not is_current and joint in drive.torque_constant:
            raise StudyError(
                "there is a torque constant, but the column is not a current",
                where=f"{where}, [drive.torque_constant]",
                value=f"tau/{joint} [{name or 'N m or N'}]",
                cure='declare it: [recording.unit] tau = "A", or delete the constant',
            )
        if is_current:
            constant[k], zero[k] = drive.torque_constant[joint], drive.current_offset.get(joint, 0.0)
    return constant, zero


def _drive(table: DriveTable, joints: tuple[str, ...], where: str) -> Drive | None:
    if "motor" not in (table.position_side, table.torque_side):
        return None
    named = table.joints or tuple(table.ratio)
    missing = [j for j in joints if j not in named] or [j for j in table.joints if j not in joints]
    if missing:
        raise StudyError(
            "the drive and the recording must speak of the same joints",
            where=f"{where}, [drive]",
            value=missing[0],
            choices=named if missing[0] in joints else joints,
            cure="give the joint its ratio or its row and column; a coupling cannot be undone without all its motors",
        )
    efficiency = np.array([table.efficiency.get(j, 1.0) for j in joints])
    if not table.coupled:
        return geared(np.array([table.ratio[j] for j in joints]), efficiency=efficiency)
    position, torque = table.matrices()
    pick = np.ix_(*[[table.joints.index(j) for j in joints]] * 2)
    return coupled(position[pick], torque[pick], efficiency=efficiency)


def _steps(recording: RecordingTable, drive: DriveTable, transmission: Drive | None) -> list[str]:
    steps = []
    if recording.unit:
        steps.append("units to SI: " + ", ".join(f"{key} [{name}]" for key, name in recording.unit.items()))
    flipped = [key for key, sign in recording.sign.items() if sign < 0]
    if flipped:
        steps.append("sign turned: " + ", ".join(flipped))
    if drive.torque_constant:
        steps.append("current to torque: " + ", ".join(f"{j} {k!r} per A" for j, k in drive.torque_constant.items()))
    if transmission is not None:
        taken = [s for s, side in (("q", drive.position_side), ("tau", drive.torque_side)) if side == "motor"]
        how = "coupling matrices" if drive.coupled else "gear ratios"
        lossy = ", with efficiency" if drive.efficiency else ""
        odd = "" if transmission.conserves_power else "; the torque matrix is not the transpose of the position matrix"
        steps.append(f"motor side to joint side by {how}{lossy}: {' and '.join(taken)}{odd}")
    if any(recording.position_offset.values()):
        steps.append(
            "position offset added: " + ", ".join(f"{j} {x!r}" for j, x in recording.position_offset.items() if x)
        )
    return steps
