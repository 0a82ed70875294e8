"""The friction structure that a default run takes: each is found where it is the truth, and plain ones stay plain."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import arm
from steelyard.estimate.friction_choice import all_terms, choose_friction, words_of
from steelyard.estimate.identify import Identification, identify
from steelyard.estimate.training import Recording
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.graded_friction import GradedFriction
from steelyard.terms.graded_stribeck import GradedStribeck
from steelyard.terms.load_friction import LoadFriction
from steelyard.terms.offset import Offset
from steelyard.terms.quadratic import Quadratic
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.stribeck import Stribeck
from steelyard.terms.viscous import Viscous

VALUES = {
    "viscous_friction": 1.0,
    "coulomb_friction": 2.0,
    "bias": 0.1,
    "stribeck_friction": 2.0,
    "load_friction": 0.1,
    "quadratic_friction": 0.8,
    "friction_above_0.3": 3.0,
}
NOISE = 0.1  # of the deviations of arm.NOISE
TRUTHS = {
    "viscous": (Viscous(),),
    "coulomb": (Viscous(), Coulomb()),
    "graded": (Viscous(), GradedFriction(speeds=(0.3,))),
    "stribeck": (Viscous(), Coulomb(), Stribeck(0.07)),
    "coulomb+load": (Viscous(), Coulomb(), LoadFriction()),
    "coulomb+quadratic": (Viscous(), Coulomb(), Quadratic()),
}


def fast_robot() -> Robot:
    """The arm with velocity limits that its motion just reaches."""
    robot = arm.model().robot
    top = np.abs(arm.motion().channel("dq")).max(axis=0)
    return replace(robot, axes=tuple(replace(a, velocity=float(v)) for a, v in zip(robot.axes, top, strict=True)))


def truth(structure: str) -> tuple[Model, np.ndarray]:
    model = Model(fast_robot(), (RigidBody(), *TRUTHS[structure], Offset()))
    nominal = dict(zip(model.names, model.nominal.tolist(), strict=True))
    return model, np.array([VALUES.get(name.rsplit("/", 1)[-1], nominal[name]) for name in model.names])


def found(structure: str, *, seed: int = 1, slow: float = 1.0) -> Identification:
    """A default run on 20 s of an arm that has this friction, moved `slow` times as fast."""
    model, theta = truth(structure)
    path = arm.motion()
    path = replace(path, time=path.time / slow, dq=slow * path.dq, ddq=slow**2 * path.ddq)
    noise = NOISE * np.array(arm.NOISE) * np.random.default_rng(seed).normal(size=path.q.shape)
    return identify(model.robot, [Recording(replace(path, tau=model.torque(theta, path) + noise, source=""))])


@pytest.mark.parametrize("structure", TRUTHS)
def test_each_structure_is_found_where_it_is_the_truth(structure):
    done = found(structure)
    assert done.friction.structure == structure
    assert done.friction.trials[0].name == structure


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_plain_friction_stays_plain(seed):
    """Neither Stribeck nor any other curve, for none of three noises."""
    assert found("coulomb", seed=seed).friction.structure == "coulomb"
