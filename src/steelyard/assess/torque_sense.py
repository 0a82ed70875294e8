"""Whether the torque makes sense under gravity: gravity taken off, signs turned, joints exchanged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.reduced_motion import ReducedMotion
from steelyard.assess.torque_story import (
    NO_GRAVITY,
    Court,
    Story,
    Unexplained,
    apply_story,
    mean_gain,
    open_court,
    stories,
)
from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding
from steelyard.robot.robot import Robot

Array = NDArray[np.float64]
# Mean log gain over the joints that both judges together must see, and each alone must not contradict. On recordings
# known to be right the best wrong story stays below zero with both.
MARGIN, AGAINST = 0.15, -0.01
CONTRAST = 3.0  # gravity over the rest, from which its multiple is believed
ABSENT = 0.2  # multiple of gravity below which it is not there, if geometry agrees: masses may be five times too large
NOTHING = 0.05  # mean multiple below which geometry is not asked: what the driver takes off is not the model's gravity
PRESENT = 0.5  # mean multiple above which a story has brought gravity back


@dataclass(frozen=True)
class TorqueSense:
    """What was found, and what the recording would be if it were put right.

    Attributes:
        told: the stories believed, in the order they were found.
        before, after: judgement of the recording as it is, and with all stories told.
        findings: in words.
    """

    told: tuple[Story, ...]
    before: Unexplained
    after: Unexplained
    findings: tuple[Finding, ...]

    @property
    def weightless(self) -> bool:
        """Whether gravity was taken off the torque."""
        return any(story.kind == "no_gravity" for story in self.told)

    def corrected(self, trajectory: Trajectory) -> Trajectory:
        """The recording read as the stories say, for the checks that follow; joints in the robot's order."""
        for story in self.told:
            trajectory = apply_story(trajectory, story)
        return trajectory


def torque_sense(robot: Robot, reduced: ReducedMotion) -> TorqueSense:
    """Ask both judges of `torque_story` which story fits best, and again after it has been told.

    Nothing is changed in the recording: the stories are suggestions, with the share of torque they explain.
    """
    court = open_court(robot, reduced)
    before = now = court.as_told()
    told: list[Story] = []
    everything = list(stories(len(robot.joint_names)))
    for _ in robot.joint_names:
        best = _best(court, everything, now)
        if best is not None and best[0] in told:
            break
        lifted = None if best is not None and _weight(best[1]) > PRESENT else _without_gravity(court, now)
        if lifted is not None:
            told, now = [*told, NO_GRAVITY], lifted
            break
        if best is None:
            break
        story, now = best
        told.append(story)
        court = court.adopt(story)
    return TorqueSense(tuple(told), before, now, tuple(_words(told, before, now, robot)))


def _best(court: Court, everything: list[Story], now: Unexplained) -> tuple[Story, Unexplained] | None:
    """The story with the largest gain, if both judges can live with it.

    Where several torques are turned, geometry prefers that all of them are: it has no say against one.
    """
    best, most = None, MARGIN
    for story in everything:
        after = court.judge(story, than=now, against=AGAINST)
        if after is None:
            continue
        first, second = mean_gain(now.directions, after.directions), mean_gain(now.geometry, after.geometry)
        if story.kind == "torque_turned":
            second = max(second, 0.0)
        if second > AGAINST and first + second > most:
            best, most = (story, after), first + second
    return best


def _without_gravity(court: Court, now: Unexplained) -> Unexplained | None:
    """The judgement of the story without gravity, if it is believed."""
    if not _gravity_is_absent(now):
        return None
    lifted = court.judge(NO_GRAVITY, than=now, against=-np.inf)
    if lifted is None:
        return None
    agreed = mean_gain(now.geometry, lifted.geometry) > AGAINST
    return lifted if agreed or _weight(now) < NOTHING else None


def _weight(now: Unexplained) -> float:
    """Mean multiple of the model's gravity in the joints that should clearly show it; 0 where none should."""
    clear = now.gravity_contrast > CONTRAST
    return float(np.mean(now.gravity[clear])) if clear.any() else 0.0


def _gravity_is_absent(now: Unexplained) -> bool:
    """Whether no joint shows gravity that should clearly show it."""
    clear = now.gravity_contrast > CONTRAST
    return bool(clear.any() and np.all(now.gravity[clear] < ABSENT))


def _words(told: list[Story], before: Unexplained, after: Unexplained, robot: Robot) -> list[Finding]:
    findings = []
    turned = np.zeros(len(robot.joint_names), dtype=bool)
    for story in told:
        pick = list(story.joints)
        if story.kind == "no_gravity":
            clear = np.flatnonzero(before.gravity_contrast > CONTRAST)
            heavy = [robot.joint_names[j] for j in clear]
            findings.append(_no_gravity(heavy, float(before.gravity[clear].max(initial=0.0))))
        elif story.kind == "torque_turned":
            turned[pick] ^= True
        else:
            turned[pick] = turned[pick[::-1]]
            names = [robot.joint_names[j] for j in pick]
            findings.append(_wrong_order(story, names, _shares(pick, before, after)))
    for j in map(int, np.flatnonzero(turned)):
        findings.append(_wrong_sign(robot.joint_names[j], _shares([j], before, after)))
    return findings


def _no_gravity(heavy: list[str], shown: float) -> Finding:
    return Finding(
        "data.gravity_compensated",
        "error",
        f"the torque does not contain gravity: at most {100 * shown:.0f} % of the weight of the model's masses shows "
        f"in {', '.join(heavy)}",
        ", ".join(heavy),
        shown,
        "record torque before the driver takes gravity off, or add the driver's gravity torque back",
    )


def _wrong_sign(joint: str, shares: str) -> Finding:
    return Finding(
        "data.torque_sign",
        "error",
        f"the torque of {joint} seems to have the wrong sign against motion, gravity and friction: {shares}",
        joint,
        -1,
        f'declare it in the study file: [recording.sign] "tau/{joint}" = -1 (or turn its position)',
    )


def _wrong_order(story: Story, names: list[str], shares: str) -> Finding:
    what = "columns" if story.kind == "joints_exchanged" else "torque columns"
    return Finding(
        "data.joint_order",
        "error",
        f"the {what} of {names[0]} and {names[1]} seem to be exchanged: {shares}",
        ", ".join(names),
        f"{names[0]} <-> {names[1]}",
        "compare the order of names in the driver with the header and exchange the names, not the numbers",
    )


def _shares(joints: list[int], before: Unexplained, after: Unexplained) -> str:
    old, new = (100.0 * float(np.sqrt(np.mean(left.directions[joints]))) for left in (before, after))
    return f"as recorded {old:.0f} % of the torque there stay unexplained, put right {new:.0f} %"
