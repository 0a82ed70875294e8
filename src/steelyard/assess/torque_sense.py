"""Whether the torque makes sense: gravity taken off or pointing elsewhere, signs turned, joints exchanged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steelyard.assess.gravity_felt import GravityFelt, gravity_felt
from steelyard.assess.reduced_motion import ReducedMotion
from steelyard.assess.torque_story import Court, Story, Unexplained, apply_story, mean_gain, open_court, stories
from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding
from steelyard.robot.robot import STANDARD_GRAVITY, Robot

# Mean log gain over the joints that both judges together must see, and each alone must not contradict. On recordings
# known to be right the best wrong story stays below zero with both.
MARGIN, AGAINST = 0.15, -0.01
# Multiple of gravity below which it was taken off, if geometry agrees (masses may be five times too large); below which
# geometry is not asked, since a driver takes off another gravity than the model's; above which it is there.
ABSENT, NOTHING, PRESENT = 0.2, 0.05, 0.5
# Tilt of the base that is told, and the deviations of the gravity vector it must exceed: arms mounted as their model
# says show less than one degree in a rich motion, and up to nine in a few seconds of a poor one.
TILT, TOLD = np.radians(8.0), 6.0
UNTOLD = 0.25  # share of the torque variance that an exchange may leave in its joints


@dataclass(frozen=True)
class TorqueSense:
    """What was found, and what the recording would be if it were put right.

    Attributes:
        told: the stories believed, in the order they were found.
        before, after: what is left of the recording as it is, and with all stories told.
        gravity: what the torque has felt, with all stories told but those about gravity.
        robot: under the gravity told.
        findings: in words.
    """

    told: tuple[Story, ...]
    before: Unexplained
    after: Unexplained
    gravity: GravityFelt
    robot: Robot
    findings: tuple[Finding, ...]

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
    felt = gravity_felt(court)
    told: list[Story] = []
    everything = list(stories(len(robot.joint_names)))
    for _ in robot.joint_names:
        best = _best(court, [*everything, *_elsewhere(felt)], now)
        if best is None or not _brings_gravity(court, best[0]):
            best = _without_gravity(court, felt, now) or best
        if best is None or best[0] in told:
            break
        story, now = best
        told.append(story)
        court = court.adopt(story)
        if story.kind == "gravity":
            break
        felt = gravity_felt(court)
    findings = _words(told, before, now, felt, robot) if told else _scale(felt, robot.name)
    return TorqueSense(tuple(told), before, now, felt, court.model.robot, tuple(findings))


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
        told = story.kind in ("torque_turned", "gravity") or np.mean(after.geometry[list(story.joints)]) < UNTOLD
        if second > AGAINST and first + second > most and told:
            best, most = (story, after), first + second
    return best


def _elsewhere(felt: GravityFelt) -> list[Story]:
    """The story of another mount, where the torque feels gravity from another side."""
    expected = float(np.linalg.norm(felt.expected))
    size = expected or float(np.linalg.norm(STANDARD_GRAVITY))
    if not felt.certain or felt.size < ABSENT * size:
        return []
    if expected > 0.0 and felt.angle < max(TILT, TOLD * max(felt.deviation) / felt.size):
        return []
    x, y, z = (size / felt.size * component for component in felt.vector)
    return [Story("gravity", gravity=(x, y, z))]


def _brings_gravity(court: Court, story: Story) -> bool:
    """Whether the torque feels the expected gravity once the story is told."""
    return gravity_felt(court.adopt(story)).multiple > PRESENT


def _without_gravity(court: Court, felt: GravityFelt, now: Unexplained) -> tuple[Story, Unexplained] | None:
    """The story that gravity was taken off, if it is believed."""
    expected = float(np.linalg.norm(felt.expected))
    if not felt.certain or felt.size > ABSENT * expected:
        return None
    story = Story("gravity")
    after = court.judge(story, than=now, against=-np.inf)
    if after is None:
        return None
    agreed = mean_gain(now.geometry, after.geometry) > AGAINST
    return (story, after) if agreed or felt.multiple < NOTHING else None


def _words(
    told: list[Story], before: Unexplained, after: Unexplained, felt: GravityFelt, robot: Robot
) -> list[Finding]:
    findings = []
    turned = np.zeros(len(robot.joint_names), dtype=bool)
    for story in told:
        pick = list(story.joints)
        if story.kind == "gravity":
            findings.append(_other_gravity(story, felt, robot.name))
        elif story.kind == "torque_turned":
            turned[pick] ^= True
        else:
            turned[pick] = turned[pick[::-1]]
            names = [robot.joint_names[j] for j in pick]
            findings.append(_wrong_order(story, names, _shares(pick, before, after)))
    for j in map(int, np.flatnonzero(turned)):
        findings.append(_wrong_sign(robot.joint_names[j], _shares([j], before, after)))
    return findings


def _other_gravity(story: Story, felt: GravityFelt, robot: str) -> Finding:
    x, y, z = felt.vector
    if not any(story.gravity):
        return Finding(
            "data.gravity_compensated",
            "error",
            f"the torque does not contain gravity: the masses of the model feel {felt.size:.2g} m/s2 in it, not "
            f"{np.linalg.norm(felt.expected):.3g}",
            robot,
            felt.size,
            "record torque before the driver takes gravity off, or add the driver's gravity torque back",
        )
    expected = ", ".join(f"{component:.3g}" for component in felt.expected)
    return Finding(
        "data.gravity_direction",
        "error",
        f"the torque feels gravity along ({x:.2f}, {y:.2f}, {z:.2f}) m/s2 in the base frame, "
        f"{np.degrees(felt.angle):.0f} degrees from ({expected}) of the model",
        robot,
        float(np.degrees(felt.angle)),
        "state how the robot is mounted in the study file: [robot] gravity = [x, y, z], or mount = [roll, pitch, yaw]",
    )


def _scale(felt: GravityFelt, robot: str) -> list[Finding]:
    """Gravity from the right side and of the wrong size: a current, a motor's torque, or masses in another unit."""
    if not felt.certain or felt.angle > TILT or ABSENT < felt.multiple < 1.0 / ABSENT:
        return []
    return [
        Finding(
            "data.units_suspect",
            "warning",
            f"the torque feels {felt.multiple:.2g} times the gravity that the masses of the model have: it is a "
            "current or the torque of the motors, it seems, or the masses of the model are far off",
            robot,
            felt.multiple,
            "declare the unit, a torque constant or the motor side in the study file; see the masses by steelyard info",
        )
    ]


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
    """By the judge that sees the larger difference: a story may be told on the word of one."""
    judges = ((before.directions, after.directions), (before.geometry, after.geometry))
    left = [[100.0 * float(np.sqrt(np.mean(share[joints]))) for share in judge] for judge in judges]
    old, new = max(left, key=lambda pair: pair[0] - pair[1])
    return f"as recorded {old:.0f} % of the torque there stay unexplained, put right {new:.0f} %"
