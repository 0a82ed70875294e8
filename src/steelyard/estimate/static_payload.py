"""A payload from poses held still: mass and centre of mass, against gravity.

Stiction, not noise, is what limits it: a joint at rest holds up to its Coulomb friction, with the sign of the motion
that brought it there. Approaching each pose from both sides and fitting one stiction a joint takes most of that away;
fitting an offset a joint instead makes the result worse, as it eats the gravity of the payload.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.estimate.payload import Payload
from steelyard.estimate.payload_fit import COLUMNS, fit_payload, payload_columns
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation, triangle
from steelyard.model import Model
from steelyard.robot.tool import frame

Array = NDArray[np.float64]
SAME_POSE = 0.01  # [rad or m] positions this close are one pose
OWN_NOISE = 50  # rows a joint from which it has a noise of its own


def static_payload(
    model: Model,
    poses: Trajectory,
    *,
    theta: Array | None = None,
    unloaded: Trajectory | None = None,
    link: str | None = None,
    offsets: bool = False,
    gain_uncertainty: float = 0.0,
    same_scale: bool = False,
) -> Payload:
    """Mass and centre of mass from torques at rest; inertia does not show.

    Args:
        model: robot and terms; its rigid bodies and offsets are taken off, friction is not.
        poses: q and tau, one sample a visit of a pose (the mean over the time at rest). Where dq is given its signs
            say from which side each joint came; without, repeated visits of a pose are averaged.
        theta: (p,) values of the model's columns without payload; None for those of the model file.
        unloaded: the same poses without payload, whose torque is taken off instead of a body model's.
        link: in whose frame the payload is; None for the flange.
        offsets: fit an offset of each joint; only for offsets that changed since the body model was identified.
        gain_uncertainty: of the torque scale, a fraction.
        same_scale: whether theta was identified from the same torque signals.

    Raises:
        ModelError: no such link.
        DataError: no torque, or a pose that the unloaded poses lack.
    """
    robot = model.robot
    poses = poses.ordered(robot.joint_names)
    place = frame(robot, link)
    sides = _sides(poses)
    weights, q, tau, sides = _visits(poses.channel("q"), poses.channel("tau"), sides)
    regressor = _at_rest(model, q)
    columns = regressor @ payload_columns(model, place)
    if unloaded is not None:
        bare = unloaded.ordered(robot.joint_names)
        body = _matched(q, sides, bare, poses.name)
    else:
        body = regressor @ _still(model, model.nominal if theta is None else np.asarray(theta, dtype=np.float64))
    nuisance = _stiction(robot.joint_names, sides)
    if offsets:
        nuisance = nuisance + [(f"offset/{name}", j, np.ones(len(q))) for j, name in enumerate(robot.joint_names)]
    info = _information(robot.joint_names, columns, nuisance, tau - body, weights)
    whole = same_scale or unloaded is not None
    scale = None if whole else [_information(robot.joint_names, columns, nuisance, tau, weights)]
    return fit_payload(
        [info],
        place,
        gain_uncertainty=gain_uncertainty,
        torque=scale,
        method="static",
        pooled=len(q) < OWN_NOISE,
        findings=tuple(_stiction_findings(robot.joint_names, sides, weights)),
    )


def _sides(poses: Trajectory) -> NDArray[np.int64] | None:
    """(T, n) -1, 0 or 1: the sign of the last motion of each joint; None where it was not recorded."""
    if poses.dq is None or not np.any(poses.dq):
        return None
    return np.sign(poses.dq).astype(np.int64)


def _visits(
    q: Array, tau: Array, sides: NDArray[np.int64] | None
) -> tuple[Array, Array, Array, NDArray[np.int64] | None]:
    """Number of visits, position, torque and side of each row; visits whose side is unknown are averaged by pose."""
    if sides is not None:
        return np.ones(len(q)), q, tau, sides
    group = np.full(len(q), -1)
    centres: list[int] = []
    for k in range(len(q)):
        same = [g for g, c in enumerate(centres) if np.abs(q[k] - q[c]).max() <= SAME_POSE]
        group[k] = same[0] if same else len(centres)
        if not same:
            centres.append(k)
    count = np.bincount(group).astype(np.float64)
    mean = np.zeros((len(count), len(group)))
    mean[group, np.arange(len(group))] = 1.0 / count[group]
    return count, mean @ q, mean @ tau, None


def _at_rest(model: Model, q: Array) -> Array:
    """(T, n, p) regressor at rest."""
    still = Trajectory(
        time=np.arange(len(q), dtype=np.float64),
        joint_names=model.robot.joint_names,
        q=q,
        dq=np.zeros_like(q),
        ddq=np.zeros_like(q),
    )
    return model.regressor(still)


def _still(model: Model, theta: Array) -> Array:
    """Parameters without friction, whose torque at rest is the stiction that is fitted here."""
    friction = np.array([name.endswith("_friction") for name in model.names])
    return np.where(friction, 0.0, theta)


def _matched(q: Array, sides: NDArray[np.int64] | None, bare: Trajectory, name: str) -> Array:
    """(T, n) torque without payload at each pose, of visits from the same side where sides are known."""
    own = _sides(bare)
    positions, torque = bare.channel("q"), bare.channel("tau")
    matched = np.zeros_like(q)
    for k in range(len(q)):
        same = np.abs(positions - q[k]).max(axis=1) <= SAME_POSE
        if sides is not None and own is not None and np.any(same & np.all(own == sides[k], axis=1)):
            same &= np.all(own == sides[k], axis=1)
        if not same.any():
            raise DataError(
                "a pose was not visited without payload", where=f"{name}, sample {k}", value=q[k].round(4).tolist(),
                cure=f"visit the same poses, to {SAME_POSE:g} rad, with and without payload",
            )  # fmt: skip
        matched[k] = torque[same].mean(axis=0)
    return matched


def _stiction(joints: Sequence[str], sides: NDArray[np.int64] | None) -> list[tuple[str, int, Array]]:
    """One stiction for each joint that came from both sides: name, joint, sign in each row."""
    if sides is None:
        return []
    both = [j for j in range(len(joints)) if (sides[:, j] > 0).any() and (sides[:, j] < 0).any()]
    return [(f"stiction/{joints[j]}", j, sides[:, j].astype(np.float64)) for j in both]


def _information(
    joints: Sequence[str],
    columns: Array,
    nuisance: Sequence[tuple[str, int, Array]],
    torque: Array,
    visits: Array,
) -> SquareRootInformation:
    root = np.sqrt(visits)[:, None]
    support, factors = [], []
    for j in range(len(joints)):
        own = [(10 + k, values) for k, (_, joint, values) in enumerate(nuisance) if joint == j]
        wide = np.column_stack([columns[:, j], *(values for _, values in own), torque[:, j]])
        support.append((*range(10), *(k for k, _ in own)))
        factors.append(triangle(root * wide))
    return SquareRootInformation(
        names=(*COLUMNS, *(name for name, _, _ in nuisance)),
        joints=tuple(joints),
        support=tuple(support),
        factors=tuple(factors),
        rows=(len(visits),) * len(joints),
        samples=len(visits),
    )


def _stiction_findings(joints: Sequence[str], sides: NDArray[np.int64] | None, visits: Array) -> list[Finding]:
    if sides is None and np.all(visits >= 2.0):
        return []
    single = (
        list(joints)
        if sides is None
        else [
            name
            for name, column in zip(joints, sides.T, strict=True)
            if not ((column > 0).any() and (column < 0).any())
        ]
    )
    if not single:
        return []
    return [
        Finding(
            "payload.one_sided",
            "warning",
            f"the poses were not approached from both sides with {', '.join(single)}: stiction counts as gravity",
            where=single[0],
            cure="come to each pose once with every joint rising and once falling, and keep dq of the approach",
        )
    ]


def with_sides(poses: Trajectory, sides: Array) -> Trajectory:
    """Poses with the side of each approach, (T, n) of -1 or 1, as the sign of dq."""
    return replace(poses, dq=np.asarray(sides, dtype=np.float64))
