"""A payload from poses held still: mass and centre of mass, against gravity.

Stiction, not noise, is what limits it: a joint at rest holds up to its Coulomb friction, with the sign of the motion
that brought it there. Approaching each pose from both sides and fitting one stiction a joint takes most of that away;
fitting an offset a joint instead makes the result worse, as it eats the gravity of the payload.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.estimate.held_poses import SAME_POSE
from steelyard.estimate.least_squares import ordinary
from steelyard.estimate.payload import Payload
from steelyard.estimate.payload_fit import COLUMNS, fit_payload, payload_columns
from steelyard.finding import Finding
from steelyard.information import SquareRootInformation, triangle
from steelyard.model import Model
from steelyard.robot.tool import frame

Array = NDArray[np.float64]
OWN_NOISE = 50  # rows a joint from which it has a noise of its own
LEVEL = 1e-3  # chance of fitting offsets where there are none
ALL = slice(None)
BARE = "torque without payload"
Nuisance = tuple[str, int, Array]  # name, joint, value in each row


def static_payload(
    model: Model,
    poses: Trajectory,
    *,
    theta: Array | None = None,
    unloaded: Trajectory | None = None,
    link: str | None = None,
    offsets: bool | None = None,
    gain_uncertainty: float = 0.0,
    same_scale: bool = False,
    doubt: Array | None = None,
) -> Payload:
    """Mass and centre of mass from torques at rest; inertia does not show.

    Args:
        model: robot and terms; its rigid bodies and offsets are taken off, friction is not.
        poses: q and tau, one sample a visit of a pose (the mean over the time at rest; `held_poses` finds them). Where
            dq is given its signs say from which side each joint came; without, repeated visits of a pose are averaged.
        theta: (p,) values of the model's columns without payload; None for those of the model file.
        unloaded: the same poses without payload, whose torque is taken off instead of a body model's.
        link: in whose frame the payload is; None for the flange.
        offsets: fit an offset of each joint; None to do so where all joints came from both sides and the offsets
            explain far more than as many parameters of noise would (with unloaded poses they cancel).
        gain_uncertainty: of the torque scale, a fraction.
        same_scale: whether theta was identified from the same torque signals.
        doubt: (p, p) covariance of theta; None takes it as exact.

    Raises:
        ModelError: no such link.
        DataError: no torque, a pose that the unloaded poses lack, or the same samples with and without payload.
    """
    robot = model.robot
    poses = poses.ordered(robot.joint_names)
    place = frame(robot, link)
    weights, q, tau, sides = _visits(poses.channel("q"), poses.channel("tau"), _sides(poses))
    regressor = _at_rest(model, q)
    columns = regressor @ payload_columns(model, place)
    known: dict[str, float] = {}
    if unloaded is not None:
        if unloaded.source == poses.source:
            raise DataError("the poses with and without payload are the same samples", where=poses.name,
                            value=unloaded.name, cure="name the two recordings")  # fmt: skip
        body = _matched(q, sides, unloaded.ordered(robot.joint_names), poses.name)[:, :, None]
        known, doubt, same_scale = {BARE: 1.0}, None, True
    else:
        body = regressor
        values = _still(model, model.nominal if theta is None else np.asarray(theta, dtype=np.float64))
        known = dict(zip(model.names, values.tolist(), strict=True))
    nuisance = _stiction(robot.joint_names, sides)
    one_sided = _stiction_findings(robot.joint_names, sides, weights)
    free = [(f"offset/{name}", j, np.ones(len(q))) for j, name in enumerate(robot.joint_names)]
    torques = Torques(robot.joint_names, columns, body, tuple(known), tau, weights)
    if offsets is None:
        offsets = not one_sided and unloaded is None and _offsets_needed(torques, nuisance, free, known)
    beside = [*nuisance, *free] if offsets else nuisance
    return fit_payload(
        [_information(torques, beside)],
        place,
        known=known,
        doubt=doubt,
        gain_uncertainty=gain_uncertainty,
        same_scale=same_scale,
        method="static",
        pooled=len(q) < OWN_NOISE,
        parts=[_information(torques, beside, rows) for rows in _by_pose(q)],
        findings=tuple(one_sided) + (_offset_findings(robot.joint_names) if offsets else ()),
    )


@dataclass(frozen=True)
class Torques:
    """Torque at each visit and what it is made of.

    Attributes:
        joints: n names.
        columns: (T, n, 10) of the payload.
        body: (T, n, k) columns of what is known.
        known: k names of those.
        torque: (T, n) [N m or N].
        visits: (T,) how many visits each row is the mean of.
    """

    joints: tuple[str, ...]
    columns: Array
    body: Array
    known: tuple[str, ...]
    torque: Array
    visits: Array


def _offsets_needed(torques: Torques, nuisance: list[Nuisance], free: list[Nuisance], known: dict[str, float]) -> bool:
    """F test of one offset a joint, at the level LEVEL."""
    from scipy.special import fdtrc

    misfit, rank = np.zeros(2), np.zeros(2)
    for k, wanted in enumerate((nuisance, [*nuisance, *free])):
        estimate = ordinary(_information(torques, wanted).given(known))
        misfit[k], rank[k] = estimate.information.misfit(estimate.theta).sum(), estimate.rank
    spare, extra = torques.torque.size - rank[1], rank[1] - rank[0]
    if spare < 1 or extra < 1 or not misfit[1] > 0.0:
        return False
    return bool(fdtrc(extra, spare, (misfit[0] - misfit[1]) / extra / (misfit[1] / spare)) < LEVEL)


def _offset_findings(joints: Sequence[str]) -> tuple[Finding, ...]:
    return (
        Finding(
            "payload.offsets_fitted",
            "info",
            f"the torques of the {len(joints)} joints have offsets, which were fitted beside the payload",
            where=joints[0],
            cure="tare the torque sensors, or take the same poses without payload, and the interval gets narrower",
        ),
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
    poses = _by_pose(q)
    count = np.array([len(rows) for rows in poses], dtype=np.float64)
    mean = np.zeros((len(poses), len(q)))
    for k, rows in enumerate(poses):
        mean[k, rows] = 1.0 / count[k]
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
    friction = np.array(["friction" in name.rsplit("/", 1)[-1] for name in model.names])
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


def _stiction(joints: Sequence[str], sides: NDArray[np.int64] | None) -> list[Nuisance]:
    """One stiction for each joint that came from both sides: name, joint, sign in each row."""
    if sides is None:
        return []
    both = [j for j in range(len(joints)) if (sides[:, j] > 0).any() and (sides[:, j] < 0).any()]
    return [(f"stiction/{joints[j]}", j, sides[:, j].astype(np.float64)) for j in both]


def _by_pose(q: Array) -> list[NDArray[np.int64]]:
    """The rows of each pose."""
    rows: list[NDArray[np.int64]] = []
    free = np.ones(len(q), dtype=bool)
    while free.any():
        same = free & (np.abs(q - q[np.argmax(free)]).max(axis=1) <= SAME_POSE)
        rows.append(np.flatnonzero(same))
        free &= ~same
    return rows


def _information(
    torques: Torques, nuisance: Sequence[Nuisance], rows: NDArray[np.int64] | slice = ALL
) -> SquareRootInformation:
    """Payload, nuisance and known columns of every joint, over some of the visits."""
    root = np.sqrt(torques.visits)[rows, None]
    first = 10 + len(nuisance)
    support, factors = [], []
    for j in range(len(torques.joints)):
        own = [(10 + k, values) for k, (_, joint, values) in enumerate(nuisance) if joint == j]
        wide = np.column_stack(
            [torques.columns[:, j], *(values for _, values in own), torques.body[:, j], torques.torque[:, j]]
        )
        support.append((*range(10), *(k for k, _ in own), *range(first, first + len(torques.known))))
        factors.append(triangle(root * wide[rows]))
    return SquareRootInformation(
        names=(*COLUMNS, *(name for name, _, _ in nuisance), *torques.known),
        joints=torques.joints,
        support=tuple(support),
        factors=tuple(factors),
        rows=(len(root),) * len(torques.joints),
        samples=len(root),
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
