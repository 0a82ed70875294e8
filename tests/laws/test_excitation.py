"""What a design promises is what an identification then gets."""

from __future__ import annotations

import numpy as np
import pytest

import robots
from steelyard.basis import base_parameters
from steelyard.excite.design import design_motion
from steelyard.excite.features import States
from steelyard.excite.information import MotionInformation
from steelyard.excite.limits import JointLimit, motion_limits
from steelyard.model import Model
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous

RUNS = 800
QUICK = {"period": 5.0, "harmonics": 4, "starts": 2, "changes": 4, "budget": 600.0}


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    robot = robots.load(tmp_path_factory.mktemp("arm"), "tooled")
    limits = motion_limits(robot, {name: JointLimit(acceleration=8.0, jerk=200.0) for name in robot.joint_names})
    return Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset())), limits


def achieved(model, design, sigma, rate=100.0):
    """Deviations of the base parameters over RUNS identifications with white torque noise, and the predicted ones."""
    motion = design.motion.sampled(rate).samples(0, round(rate * design.motion.period))
    basis = base_parameters(model)
    rows = model.regressor(motion)[:, :, [model.names.index(name) for name in basis.names]]
    weighted = (rows / sigma[None, :, None]).reshape(-1, basis.count)
    noise = np.random.default_rng(0).standard_normal((len(weighted), RUNS))  # torque noise over its deviation
    spread = np.linalg.lstsq(weighted, noise, rcond=None)[0].std(axis=1)
    information = MotionInformation(model, basis.names, len(motion), deviations=sigma)
    G = information.evaluate(States(*(np.ascontiguousarray(motion.channel(c)) for c in ("q", "dq", "ddq"))))
    return spread, np.sqrt(np.diag(np.linalg.inv(G)))


def test_predicted_deviations_are_achieved(arm):
    """For every parameter; 800 runs know a deviation to 2.5 %, so that 10 % is four of its deviations."""
    sigma = np.array([0.3, 0.1])
    design = design_motion(*arm, deviations=sigma, **QUICK)
    spread, predicted = achieved(arm[0], design, sigma)
    assert np.all(np.abs(spread / predicted - 1.0) < 0.1)


def test_information_grows_with_the_samples(arm):
    """Twenty samples a second say 1/5 of what a hundred say: and the sign of dry friction falls a little otherwise."""
    sigma = np.array([0.3, 0.1])
    design = design_motion(*arm, deviations=sigma, samples=100, **QUICK)
    _, predicted = achieved(arm[0], design, sigma)
    assert design.deviations / np.sqrt(5.0) == pytest.approx(predicted, rel=0.1)


def test_d_optimal_motions_beat_well_conditioned_ones(arm):
    """Geometric mean of the achieved deviations, same limits, same searches: the condition number ignores size."""
    sigma = np.ones(2)
    means = [
        np.exp(np.mean(np.log(achieved(arm[0], design_motion(*arm, criterion=c, **QUICK), sigma)[0])))
        for c in ("d", "condition")
    ]
    assert means[0] < 0.9 * means[1]
