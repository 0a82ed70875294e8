"""What is known beside the data: total mass, ranges of masses, boxes for centres."""

from __future__ import annotations

import numpy as np
import pytest

import robots
from steelyard.basis import base_parameters
from steelyard.errors import StudyError
from steelyard.estimate.body_limits import BodyLimits
from steelyard.estimate.consistent import consistent
from steelyard.estimate.least_squares import weighted
from steelyard.model import Model
from steelyard.robot.inertia import pseudo_inertia
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return Model(robots.load(tmp_path_factory.mktemp("tooled"), "tooled"), (RigidBody(), Viscous()))


@pytest.fixture(scope="module")
def estimate(model):
    motion = robots.states(model.robot.joint_names, 400, seed=5)
    tau = model.torque(model.nominal, motion) + 0.1 * np.random.default_rng(5).normal(size=motion.q.shape)
    basis = base_parameters(model)
    return weighted(model.absorb([robots.with_torque(motion, tau)], names=basis.names), basis=basis)


@pytest.mark.parametrize("solver", ["entropic", "semidefinite"])
def test_limits_are_kept_and_named_where_they_hold(model, estimate, solver):
    free = consistent(model, estimate)
    limits = BodyLimits(
        total_mass=(9.0, 10.0),
        mass={"tool": (0.5, 0.8), "camera": (0.1, 0.3)},
        centre={"upper": (np.array([-0.05, -0.05, 0.0]), np.array([0.05, 0.05, 0.1]))},
    )
    fit = consistent(model, estimate, limits=limits, solver=solver)
    tolerance = 1e-6
    assert 9.0 - tolerance <= fit.total_mass <= 10.0 + tolerance
    assert 0.5 - tolerance <= fit.link_parameters["tool"][0] <= 0.8 + tolerance
    mass, *moment = fit.link_parameters["upper"][:4]
    centre = np.array(moment) / mass
    assert np.all(centre >= np.array([-0.05, -0.05, 0.0]) - tolerance)
    assert np.all(centre <= np.array([0.05, 0.05, 0.1]) + tolerance)
    for parameters in fit.link_parameters.values():
        assert np.linalg.eigvalsh(pseudo_inertia(parameters))[0] > 0.0
    assert fit.ratio == pytest.approx(free.ratio, abs=0.02)  # all of it is in directions that torque hardly shows
    assert {"least total mass", "least mass of link camera"}.isdisjoint(fit.active) or solver == "semidefinite"
    assert [f.code for f in fit.findings if f.code == "fit.prior_moved"] == ["fit.prior_moved"]


def test_a_limit_that_the_data_press_against_is_active(model, estimate):
    """The tool and what it hangs with weigh 2.7 kg; torque sees the sum of first moments, so that 2 kg costs."""
    limits = BodyLimits(mass={"lower": (0.05, 0.5), "tool": (0.05, 0.3), "camera": (0.05, 0.1)})
    fit = consistent(model, estimate, limits=limits)
    assert any(name.startswith("greatest mass") for name in fit.active)
    assert fit.ratio > consistent(model, estimate).ratio


def test_limits_that_do_not_touch_change_nothing(model, estimate):
    wide = BodyLimits(total_mass=(0.1, 1000.0), mass={"tool": (1e-3, np.inf)})
    free, fit = consistent(model, estimate), consistent(model, estimate, limits=wide)
    np.testing.assert_allclose(fit.theta, free.theta, rtol=1e-3, atol=1e-3)
    assert fit.active == free.active  # friction that is truly zero


def test_a_known_total_moves_what_torque_cannot_tell(model, estimate):
    for total in (6.0, 12.0):
        fit = consistent(model, estimate, limits=BodyLimits(total_mass=(total - 0.1, total + 0.1)))
        assert fit.total_mass == pytest.approx(total, abs=0.1)
        assert fit.ratio < 1.01


@pytest.mark.parametrize(
    ("limits", "what"),
    [
        (BodyLimits(mass={"nose": (0.1, 1.0)}), "not a moving link"),
        (BodyLimits(mass={"flange": (0.1, 1.0)}), "not a moving link"),
        (BodyLimits(mass={"tool": (1.0, 1.0)}), "empty"),
        (BodyLimits(total_mass=(5.0, 4.0)), "empty"),
        (BodyLimits(centre={"tool": (np.zeros(3), np.array([0.1, 0.0, 0.1]))}), "empty"),
        (BodyLimits(total_mass=(1.0, 2.0), mass={"lower": (3.0, 4.0)}), "contradict"),
        (BodyLimits(total_mass=(50.0, 60.0), mass=dict.fromkeys(("upper", "lower", "tool", "camera"), (0.1, 4.0))),
         "contradict"),
    ],
)  # fmt: skip
def test_limits_that_make_no_sense_are_refused(model, estimate, limits, what):
    with pytest.raises(StudyError, match=what):
        consistent(model, estimate, limits=limits)
    with pytest.raises(StudyError, match="single parameters"):
        consistent(model, estimate, limits=BodyLimits(total_mass=(1.0, 20.0)), solver="log_cholesky")
