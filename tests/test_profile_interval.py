"""Intervals among robots that can exist: Gaussian in the middle, lopsided at the edge, the prior's where data fail."""

from __future__ import annotations

import numpy as np
import pytest

import robots
from steelyard.basis import base_parameters
from steelyard.errors import StudyError
from steelyard.estimate.body_limits import BodyLimits
from steelyard.estimate.consistent import consistent
from steelyard.estimate.least_squares import weighted
from steelyard.estimate.profile_interval import profile_interval
from steelyard.model import Model
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous

FRICTION = {"actuator/yaw/coulomb_friction": 0.5, "actuator/pitch/viscous_friction": 0.3}  # the others are zero
RUBBING = {f"actuator/{j}/{kind}_friction": 0.4 for j in ("yaw", "pitch") for kind in ("viscous", "coulomb")}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    robot = robots.load(tmp_path_factory.mktemp("tooled"), "tooled")
    return Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset()))


def fitted(model, *, noise, seed, limits=None, solver="entropic", friction=FRICTION):
    theta = model.nominal
    for name, value in friction.items():
        theta[model.names.index(name)] = value
    motion = robots.states(model.robot.joint_names, 200, seed=5)
    tau = model.torque(theta, motion) + noise * np.random.default_rng(seed).normal(size=motion.q.shape)
    basis = base_parameters(model)
    info = model.absorb([robots.with_torque(motion, tau)], names=basis.names)
    return consistent(model, weighted(info, basis=basis), limits=limits, solver=solver), basis.regroup(theta)


def test_it_is_the_gaussian_interval_where_nothing_is_near_an_edge(model):
    fit, _ = fitted(model, noise=0.05, seed=1, friction=RUBBING)
    names = [*RUBBING, "actuator/yaw/bias"]
    found = profile_interval(fit, names)
    place = {name: k for k, name in enumerate(fit.full_names)}
    for name, (low, high) in zip(names, found, strict=True):
        value, deviation = fit.value(name), fit.deviation[place[name]]
        assert high - value == pytest.approx(1.96 * deviation, rel=0.02)
        assert value - low == pytest.approx(1.96 * deviation, rel=0.02)


def test_it_ends_where_bodies_stop_to_be_possible(model):
    """The Gaussian says that the first link could weigh less than nothing; friction that is zero cannot be less."""
    fit, _ = fitted(model, noise=0.5, seed=2)
    place = {name: k for k, name in enumerate(fit.full_names)}
    name = "link/upper/mass"
    assert fit.standing[name] == "prior"
    assert fit.value(name) - 1.96 * fit.deviation[place[name]] < 0.0
    low, high = profile_interval(fit, [name])[0]
    assert 0.0 < low < 0.2 * fit.value(name)
    assert high > fit.value(name) + 1.96 * fit.deviation[place[name]]
    held = next(name for name in fit.active if name in place)
    assert fit.deviation[place[held]] == 0.0
    low, high = profile_interval(fit, [held])[0]
    assert 0.0 <= low < 1e-6
    assert 0.05 < high < 1.0


def test_limits_end_it_too(model):
    fit, _ = fitted(model, noise=0.5, seed=2, limits=BodyLimits(mass={"upper": (2.5, 3.5)}))
    low, high = profile_interval(fit, ["link/upper/mass"])[0]
    assert (low, high) == (pytest.approx(2.5, abs=0.02), pytest.approx(3.5, abs=0.02))


def test_it_holds_the_truth_as_often_as_it_says(model):
    """95 % of 60 draws, less three deviations of a binomial, 2.8 %: a friction, one that is zero, a base parameter."""
    names = ["actuator/yaw/coulomb_friction", "actuator/yaw/viscous_friction", "link/upper/inertia_zz"]
    held = np.zeros(3)
    for seed in range(60):
        fit, base = fitted(model, noise=0.5, seed=100 + seed)
        found = profile_interval(fit, names[:2])
        held[:2] += [
            low - 1e-6 <= FRICTION.get(name, 0.0) <= high for name, (low, high) in zip(names, found, strict=False)
        ]
        k = fit.basis.names.index(names[2])
        held[2] += abs(fit.base[k] - base[k]) <= 1.96 * fit.base_deviation[k]
    assert np.all(held / 60 >= 0.866)


def test_what_cannot_be_asked_is_refused(model):
    fit, _ = fitted(model, noise=0.5, seed=2)
    with pytest.raises(StudyError, match="not a parameter"):
        profile_interval(fit, ["link/nose/mass"])
    with pytest.raises(StudyError, match="between 0 and 1"):
        profile_interval(fit, ["link/upper/mass"], level=1.0)
    with pytest.raises(StudyError, match="no end"):
        profile_interval(fitted(model, noise=0.5, seed=2, solver="semidefinite")[0], ["link/upper/mass"])
