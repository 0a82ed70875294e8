"""What is written to a model file or profile: parameters of links, dynamics of joints, checked against the robot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import ModelError
from steelyard.finding import Finding
from steelyard.robot.inertia import tensor
from steelyard.robot.robot import Link, Robot
from steelyard.suggest import did_you_mean

Array = NDArray[np.float64]
ROUNDING = 1e-12
"""Of the inertia about the link's origin: what arithmetic leaves where a moment is zero."""
AGREEMENT = 1e-9
"""Relative difference between a body and the sum of its links that is still the same body."""

_CONSISTENT = "export physically consistent values: estimate.consistent of the library"
_NONNEGATIVE = ("damping", "friction", "rotor_inertia")


@dataclass(frozen=True)
class JointQuantity:
    """An identified parameter that model files have no field for: column quantity, value, unit."""

    name: str
    value: float
    unit: str


@dataclass(frozen=True)
class JointDynamics:
    """What was identified of a joint; None is "not identified", which is not 0.

    Attributes:
        damping: viscous friction [N m s/rad or N s/m].
        friction: Coulomb friction [N m or N].
        rotor_inertia: reflected, at the joint side [kg m2 or kg].
        bias: constant torque [N m or N].
        others: further quantities, such as a stiffness.
    """

    damping: float | None = None
    friction: float | None = None
    rotor_inertia: float | None = None
    bias: float | None = None
    others: tuple[JointQuantity, ...] = ()


@dataclass(frozen=True)
class ExportValues:
    """Values that belong to a robot and could be those of a real one.

    Attributes:
        robot: as the model file has it.
        links: (10,) parameters about each link's own origin, links in file order.
        joints: dynamics, joints in model order.
        findings: what an engineer should know before using the files.
        others: quantities that belong to no single joint, by the whole name of their column: couplings.
    """

    robot: Robot
    links: Mapping[str, Array]
    joints: Mapping[str, JointDynamics]
    findings: tuple[Finding, ...]
    others: tuple[JointQuantity, ...] = ()

    @property
    def identified(self) -> Robot:
        """The robot with these values: what an exported file must say."""
        links = tuple(replace(link, parameters=self.links.get(link.name, link.parameters)) for link in self.robot.links)
        axes = []
        for axis in self.robot.axes:
            found = self.joints.get(axis.name, JointDynamics())
            axes.append(
                replace(
                    axis,
                    damping=axis.damping if found.damping is None else found.damping,
                    friction=axis.friction if found.friction is None else found.friction,
                    rotor_inertia=axis.rotor_inertia if found.rotor_inertia is None else found.rotor_inertia,
                )
            )
        return replace(self.robot, links=links, axes=tuple(axes))


def joint_dynamics(columns: Iterable[tuple[str, float, str]]) -> dict[str, JointDynamics]:
    """Joint parameters by joint, from (column name, value, unit) as a result lists them; other columns are skipped.

    Args:
        columns: names like ``actuator/<joint>/viscous_friction``.
    """
    found: dict[str, JointDynamics] = {}
    for name, value, unit in columns:
        kind, _, rest = name.partition("/")
        joint, _, quantity = rest.rpartition("/")
        if kind != "actuator" or not joint:
            continue
        found[joint] = _with_quantity(found.get(joint, JointDynamics()), JointQuantity(quantity, float(value), unit))
    return found


def export_values(
    robot: Robot,
    *,
    links: Mapping[str, Array],
    joints: Mapping[str, JointDynamics],
    bodies: Array | None = None,
) -> ExportValues:
    """Check values against a robot: known names, finite numbers, bodies that can exist, no negative friction.

    Args:
        robot: the model they were identified with; nothing else is read from it than names and nominal values.
        links: (10,) parameters about each URDF link's own origin, in link axes; links left out keep the file's.
        joints: by joint name; joints left out keep the file's.
        bodies: (10 N,) identified parameters of the bodies (links joined by fixed joints, in the order of
            `robot.parameters`), which the links must add up to; None leaves that unchecked.

    Raises:
        ModelError: an unknown name, a value that is not finite, a link that no body can be, friction or a rotor
            inertia below zero, or links that do not add up to the bodies.
    """
    known = {link.name: link for link in robot.links}
    _check_names(links, known, "link", robot.name)
    _check_names(joints, robot.joint_names, "moving joint", robot.name)
    wanted = {name: _parameters(links[name], link) for name, link in known.items() if name in links}
    for name in joints:
        _check_joint(name, joints[name])
    values = ExportValues(robot, wanted, {name: joints[name] for name in robot.joint_names if name in joints}, ())
    if bodies is not None:
        _check_sum(values.identified, np.asarray(bodies, dtype=np.float64))
    return replace(values, findings=tuple(_remarks(robot, wanted)))


def _with_quantity(joint: JointDynamics, found: JointQuantity) -> JointDynamics:
    if found.name == "viscous_friction":
        return replace(joint, damping=found.value)
    if found.name == "coulomb_friction":
        return replace(joint, friction=found.value)
    if found.name == "rotor_inertia":
        return replace(joint, rotor_inertia=found.value)
    if found.name == "bias":
        return replace(joint, bias=found.value)
    return replace(joint, others=(*joint.others, found))


def _check_names(given: Iterable[str], known: Iterable[str], what: str, where: str) -> None:
    choices = tuple(known)
    for name in given:
        if name not in choices:
            raise ModelError(
                f"no {what} has this name",
                where=where,
                value=name,
                choices=choices[:60],
                cure=did_you_mean(name, choices, otherwise="name one of them"),
            )


def _parameters(given: Array, link: Link) -> Array:
    values = np.array(given, dtype=np.float64)
    where = f"link {link.name}"
    if values.shape != (10,):
        raise ModelError("ten parameters describe a link", where=where, value=values.shape)
    if not np.isfinite(values).all():
        raise ModelError("a parameter is not a finite number", where=where, value=values.tolist())
    values.flags.writeable = False
    if link.parameters is not None and np.array_equal(values, link.parameters):
        return values  # what the file says already is the file's business
    mass, moment, inertia = values[0], values[1:4], tensor(values[4:])
    if mass < 0.0 or (mass == 0.0 and (moment.any() or inertia.any())):
        raise ModelError("no body has this mass with these moments", where=where, value=float(mass), cure=_CONSISTENT)
    if mass == 0.0:
        return values
    # about the centre of mass, the second moments tr(I)/2 E - I of a mass distribution are positive semidefinite
    centre = moment / mass
    own = inertia - mass * ((centre @ centre) * np.eye(3) - np.outer(centre, centre))
    least = float(np.linalg.eigvalsh(0.5 * np.trace(own) * np.eye(3) - own)[0])
    if least < -ROUNDING * float(np.abs(inertia).max()):
        raise ModelError(
            "no body has this inertia: its least second moment about the centre of mass [kg m2] is negative",
            where=where,
            value=least,
            cure=_CONSISTENT,
        )
    return values


def _check_joint(name: str, joint: JointDynamics) -> None:
    for quantity in (*_NONNEGATIVE, "bias"):
        value = getattr(joint, quantity)
        if value is None:
            continue
        where = f"joint {name}"
        if not np.isfinite(value):
            raise ModelError(f"the {quantity} is not a finite number", where=where, value=value)
        if value < 0.0 and quantity in _NONNEGATIVE:
            raise ModelError(f"the {quantity} is negative", where=where, value=float(value), cure=_CONSISTENT)


def _check_sum(robot: Robot, bodies: Array) -> None:
    total = robot.parameters
    if bodies.shape != total.shape:
        raise ModelError("ten parameters a body are expected", value=bodies.shape, where=robot.name)
    for index, (mine, wanted) in enumerate(zip(total.reshape(-1, 10), bodies.reshape(-1, 10), strict=True)):
        for part in (slice(0, 1), slice(1, 4), slice(4, 10)):
            scale = max(float(np.abs(wanted[part]).max()), float(np.abs(mine[part]).max()))
            if np.abs(mine[part] - wanted[part]).max() > AGREEMENT * scale:
                raise ModelError(
                    "the links joined by fixed joints do not add up to the identified body",
                    where=f"body {robot.body_names[index]}",
                    value=f"{mine[part].tolist()} instead of {wanted[part].tolist()}",
                    cure="export link parameters, not those of whole bodies",
                )


def _remarks(robot: Robot, wanted: Mapping[str, Array]) -> Iterable[Finding]:
    heavy = [link for link in robot.links if link.parameters is not None and link.parameters[0] > 0.0]
    still = [link.name for link in heavy if link.body < 0 and link.name not in wanted]
    kept = [link.name for link in heavy if link.body >= 0 and link.name not in wanted]
    if still:
        message = f"{_listed(still)} does not move, so torque tells nothing about it: the file's values stay"
        yield Finding("export.base_kept", "info", message, where=robot.name, value=len(still))
    if kept:
        message = f"{_listed(kept)} has no identified values: the file's stay"
        yield Finding("export.link_kept", "warning", message, where=robot.name, value=len(kept),
                      cure="estimate.consistent of the library gives values for every link with mass")  # fmt: skip


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
