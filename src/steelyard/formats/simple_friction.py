"""Friction that model files can hold in place of identified curves: viscous and Coulomb, nearest over a motion.

Friction that builds up with speed, sinks at its start (Stribeck), grows with its square or with the load has no field
in a URDF, an MJCF or a simulator. Adding up its levels would be right at full speed alone: the levels of the higher
speeds are hardly there while a joint moves slowly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.finding import Finding
from steelyard.formats.export_values import ExportValues
from steelyard.model import Model
from steelyard.terms.asking import columns_of
from steelyard.terms.asymmetric_coulomb import AsymmetricCoulomb
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.graded_friction import GradedFriction
from steelyard.terms.graded_stribeck import GradedStribeck
from steelyard.terms.load_friction import LoadFriction
from steelyard.terms.quadratic import Quadratic
from steelyard.terms.stribeck import Stribeck
from steelyard.terms.viscous import Viscous

Array = NDArray[np.float64]
CURVES = (GradedFriction, AsymmetricCoulomb, Quadratic, Stribeck, GradedStribeck, LoadFriction)
STILL = 0.01  # [rad/s or m/s] under which friction has no direction


@dataclass(frozen=True)
class Simplified:
    """Values with simple friction.

    Attributes:
        values: what model files can hold of them.
        missed: by joint, root mean square of what the simple friction misses over that of the curve; joints whose
            friction was simple already are not in it.
        findings: the same in words.
    """

    values: ExportValues
    missed: dict[str, float]
    findings: tuple[Finding, ...]


def simple_friction(model: Model, theta: Array, motions: Sequence[Trajectory], values: ExportValues) -> Simplified:
    """Replace friction curves by `fv dq + fc sign(dq)`, fv, fc >= 0, nearest in torque over the motions.

    The nearest is sought for the odd part of the curve, `(f(dq) - f(-dq)) / 2`: what the directions differ by is an
    offset, which model files do not hold either.

    Args:
        model: robot and terms.
        theta: (p,) values of its columns.
        motions: with q, dq and ddq, e.g. those that were fitted.
        values: of the same model; their other quantities are kept.
    """
    curves = [term for term in model.terms if isinstance(term, CURVES)]
    if not curves:
        return Simplified(values, {}, ())
    part = Model(model.robot, (*curves, *(term for term in model.terms if isinstance(term, Viscous | Coulomb))))
    known = dict(zip(model.names, theta.tolist(), strict=True))
    own = np.array([known[name] for name in part.names])
    first = model.robot.base_rows
    ahead = np.concatenate([part.torque(own, motion)[:, first:] for motion in motions])
    back = np.concatenate([part.torque(own, _reversed(motion))[:, first:] for motion in motions])
    speed = np.concatenate([motion.ordered(model.robot.joint_names).channel("dq") for motion in motions])
    curved = {column.name for term in curves for column in columns_of(term, model.robot)}
    joints, missed = dict(values.joints), {}
    for j, name in enumerate(model.robot.joint_names):
        joint = joints.get(name)
        if joint is None or not any(f"actuator/{name}/{other.name}" in curved for other in joint.others):
            continue
        moving = np.abs(speed[:, j]) > STILL
        v, curve, odd = speed[moving, j], ahead[moving, j], 0.5 * (ahead[moving, j] - back[moving, j])
        viscous, coulomb = _nearest(v, odd)
        rest = tuple(other for other in joint.others if f"actuator/{name}/{other.name}" not in curved)
        joints[name] = replace(joint, damping=viscous, friction=coulomb, others=rest)
        size = float(np.linalg.norm(curve))
        missed[name] = float(np.linalg.norm(curve - viscous * v - coulomb * np.sign(v))) / size if size > 0.0 else 0.0
    return Simplified(replace(values, joints=joints), missed, _said(missed))


def _reversed(motion: Trajectory) -> Trajectory:
    return replace(motion, dq=-motion.channel("dq"))


def _nearest(speed: Array, torque: Array) -> tuple[float, float]:
    from scipy.optimize import nnls

    if speed.size == 0:
        return 0.0, 0.0
    found = nnls(np.column_stack([speed, np.sign(speed)]), torque)[0]
    return float(found[0]), float(found[1])


def _said(missed: dict[str, float]) -> tuple[Finding, ...]:
    if not missed:
        return ()
    worst = max(missed, key=lambda name: missed[name])
    return (
        Finding(
            "export.friction_simplified",
            "warning",
            f"the friction of {len(missed)} joint(s) is a curve over speed or load, which model files have no "
            "field for: the viscous and Coulomb friction nearest to it over the training motion stand in, and miss "
            f"{100.0 * missed[worst]:.1f} % of the friction of {worst}, less of the others",
            where=f"joint {worst}",
            value=missed[worst],
            cure="the profile has the curve itself; --term rigid_body rotor_inertia viscous coulomb offset identifies "
            "friction that model files hold exactly",
        ),
    )
