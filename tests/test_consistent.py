"""Parameters that a robot could have: as near the data as the theory says, better on unseen motion, and verified.

Simulated Panda of benchmarks/consistency.py, four seeds a case; figures in docstrings were measured on it.
"""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import replace

import numpy as np
import pytest

import robots
from steelyard.basis import base_parameters
from steelyard.errors import StudyError
from steelyard.estimate.cone_problem import kkt_residual
from steelyard.estimate.consistent import BELIEF, consistent
from steelyard.estimate.interior_point import entropic
from steelyard.estimate.least_squares import weighted
from steelyard.estimate.link_map import link_map
from steelyard.estimate.log_cholesky import log_cholesky
from steelyard.estimate.model_error import common_error, contradiction
from steelyard.estimate.symmetric import matrices, vectors
from steelyard.model import Model
from steelyard.robot.inertia import pseudo_inertia, transform
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.viscous import Viscous

SEEDS = 4


@pytest.fixture(scope="module")
def bench(repository):
    spec = importlib.util.spec_from_file_location("consistency", repository / "benchmarks" / "consistency.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["consistency"] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def cases(bench):
    return {key: [bench.case(*key, seed=seed) for seed in range(SEEDS)] for key in bench.CASES}


@pytest.fixture(scope="module")
def fits(cases):
    return {key: [consistent(c.model, c.estimate) for c in own] for key, own in cases.items()}


@pytest.fixture(scope="module")
def tooled(tmp_path_factory):
    """Two joints; tool and camera hang on the last link by fixed joints, over a flange without mass."""
    robot = robots.load(tmp_path_factory.mktemp("tooled"), "tooled")
    return Model(robot, (RigidBody(), RotorInertia(), Viscous(), Coulomb(), Offset()))


def recorded(model, theta, *, noise=0.0, count=400, seed=5):
    """Weighted estimate of the base parameters from a random motion with white noise [N m]."""
    motion = robots.states(model.robot.joint_names, count, seed=seed)
    tau = model.torque(theta, motion) + noise * np.random.default_rng(seed).normal(size=motion.q.shape)
    basis = base_parameters(model)
    info = model.absorb([robots.with_torque(motion, tau)], names=basis.names)
    return weighted(info, basis=basis)


def with_friction(model, viscous=0.3, coulomb=0.5, rotor=0.05):
    values = {"viscous_friction": viscous, "coulomb_friction": coulomb, "rotor_inertia": rotor}
    return np.array(
        [values.get(name.rsplit("/", 1)[-1], v) for name, v in zip(model.names, model.nominal, strict=True)]
    )


def test_the_residual_is_hardly_larger_than_the_unconstrained_one(fits):
    """Mean ratio - 1: 6e-5, 8e-5, 1.4e-4 with 5 000 samples, 2.7e-3 with 500; bars 2e-4 and 7e-3."""
    for (_, samples), own in fits.items():
        excess = np.array([fit.ratio - 1.0 for fit in own])
        assert excess.min() >= 0.0
        assert excess.mean() <= (2e-4 if samples == 5000 else 7e-3)


def test_unseen_motion_is_predicted_better(cases, fits):
    """Mean error over that of the unconstrained fit: 0.87 at 5 % noise, 0.83, 0.76 at 30 %, 0.68 with 500 samples."""
    bars = {(0.05, 5000): 1.0, (0.1, 5000): 0.95, (0.3, 5000): 0.8, (0.3, 500): 0.8}
    for key, own in fits.items():
        gain = [
            c.error(f.theta) / c.error(c.estimate.full(c.truth.names)) for c, f in zip(cases[key], own, strict=True)
        ]
        assert np.mean(gain) <= bars[key]
        assert max(gain) <= 1.02


def test_ten_steps_at_most_and_the_optimum_is_one(fits):
    for own in fits.values():
        for fit in own:
            assert fit.steps <= 10
            assert fit.kkt < 1e-9
            assert fit.least_eigenvalue > 0.0
            assert fit.edges == ()
            assert min(fit.scalars.values()) >= 0.0
            assert fit.gamma == pytest.approx(BELIEF)


def objective(case, fit, y):
    """From the information and the pseudo-inertias about the links' own origins, without the solver's coordinates."""
    theta = fit.basis.regroup(fit.links.matrix @ y)
    value = 0.5 * float((1.0 / fit.noise**2) @ case.estimate.information.misfit(theta))
    for now, prior in zip(fit.links.parameters(y), fit.links.priors, strict=True):
        relative = np.linalg.solve(pseudo_inertia(prior), pseudo_inertia(now))
        value += fit.gamma * (np.trace(relative) - np.linalg.slogdet(relative)[1] - 4.0)
    return value


def test_no_step_in_any_direction_improves_the_objective(cases, fits):
    """The slope along 40 random directions, by central differences, is 0 within 1e-6 of the curvature's scale."""
    case, fit = cases[0.3, 5000][0], fits[0.3, 5000][0]
    rng = np.random.default_rng(1)
    best = objective(case, fit, fit.y)
    for _ in range(40):
        step = rng.normal(size=fit.y.size)
        step[fit.links.rigid :] *= 0.01
        step *= 1e-4
        up, down = objective(case, fit, fit.y + step), objective(case, fit, fit.y - step)
        assert up > best
        assert down > best
        assert abs(up - down) <= 2e-2 * (up + down - 2.0 * best)


def test_the_semidefinite_program_agrees_in_the_limit(cases):
    """Residuals with the prior's weight at 1e-6 and 1e-8 of its default: 1e-7 at most."""
    for key in ((0.05, 5000), (0.3, 5000)):
        for case in cases[key][:2]:
            certificate = consistent(case.model, case.estimate, solver="semidefinite", mass_cap=1000.0)
            limit = consistent(case.model, case.estimate, strength=1e-6)
            assert certificate.ratio / limit.ratio - 1.0 == pytest.approx(0.0, abs=1e-6)
            assert certificate.kkt < 1e-7
            assert certificate.least_eigenvalue > 0.0
            assert certificate.solver == "semidefinite"
            assert certificate.edges  # without a prior data push some link to the edge of the possible


def test_cholesky_factors_reach_the_same_optimum_from_the_prior(cases, fits):
    case, fit = cases[0.3, 5000][1], fits[0.3, 5000][1]
    start = fit.links.start
    start[fit.links.rigid :] = 0.4
    found = log_cholesky(fit.problem, start)
    assert found.steps > 3
    assert objective(case, fit, found.y) == pytest.approx(objective(case, fit, fit.y), abs=1e-3)  # of 17 500
    np.testing.assert_allclose(fit.links.masses(found.y), fit.links.masses(fit.y), rtol=1e-2)
    again = consistent(case.model, case.estimate, solver="log_cholesky")
    assert again.ratio == pytest.approx(fit.ratio, abs=1e-8)
    assert again.kkt < 1e-7


def test_the_kkt_residual_is_that_of_the_point_it_is_asked_about(fits):
    """It is nothing at the optimum and grows in proportion to the distance; a wrong multiplier shows as well."""
    fit = fits[0.3, 500][0]
    x, t = fit.solution.y, fit.solution.multipliers
    off = [kkt_residual(fit.problem, (1.0 + share) * x, t) for share in (1e-4, 1e-3)]
    assert off[0] > 1e4 * max(fit.kkt, 1e-12)
    assert off[1] == pytest.approx(10.0 * off[0], rel=0.05)
    assert kkt_residual(fit.problem, x, t + 1e-3 * np.linalg.norm(fit.problem.A.T @ fit.problem.z)) > 1e-5


def test_a_start_from_elsewhere_ends_in_the_same_place(fits):
    fit = fits[0.1, 5000][0]
    rng = np.random.default_rng(3)
    start = fit.links.start
    values, axes = np.linalg.eigh(matrices(0.5 * rng.normal(size=(len(fit.links.links), 10))))
    start[: fit.links.rigid] = vectors((axes * np.exp(values)[:, None, :]) @ np.swapaxes(axes, 1, 2)).ravel()
    start[fit.links.rigid :] = 1.0
    found = entropic(fit.problem, start)
    np.testing.assert_allclose(fit.links.parameters(found.y), fit.links.parameters(fit.y), rtol=1e-4, atol=1e-6)


def test_data_without_noise_are_met(tooled):
    """To 1e-7 of the largest base parameter; noise is taken as 1e-6 of the torque."""
    theta = with_friction(tooled)
    fit = consistent(tooled, recorded(tooled, theta))
    truth = fit.basis.regroup(theta)
    np.testing.assert_allclose(fit.base, truth, rtol=0, atol=1e-6 * np.abs(truth).max())
    assert fit.ratio == pytest.approx(1.0, abs=1e-3)


def test_links_joined_by_fixed_joints_keep_their_own_parameters(tooled):
    fit = consistent(tooled, recorded(tooled, with_friction(tooled), noise=0.2))
    assert set(fit.link_parameters) == {
        "upper",
        "lower",
        "tool",
        "camera",
    }  # the flange has no mass, the stand no joint
    for parameters in fit.link_parameters.values():
        assert np.linalg.eigvalsh(pseudo_inertia(parameters))[0] > 0.0
    placed = {link.name: link for link in tooled.robot.links}
    body = sum(
        transform(fit.link_parameters[name], placed[name].rotation, placed[name].translation)
        for name in ("lower", "tool", "camera")
    )
    at = tooled.names.index("link/lower/mass")
    np.testing.assert_allclose(fit.theta[at : at + 10], body, rtol=1e-12, atol=1e-14)
    assert fit.full_names[10] == "link/lower/mass"
    assert fit.value("link/tool/mass") == fit.link_parameters["tool"][0]


def test_frames_and_units_of_the_prior_do_not_matter(tooled):
    """A link described from another frame of the same body is the same prior: results agree to rounding."""
    theta = with_friction(tooled)
    estimate = recorded(tooled, theta, noise=0.3)
    one = consistent(tooled, estimate)
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    shift = np.array([0.3, -0.2, 0.5])
    links = tuple(
        replace(
            link,
            rotation=link.rotation @ turn.T,
            translation=link.translation - link.rotation @ turn.T @ shift,
            parameters=None if link.parameters is None else transform(link.parameters, turn, shift),
        )
        for link in tooled.robot.links
    )
    two = consistent(Model(replace(tooled.robot, links=links), tooled.terms), estimate)
    np.testing.assert_allclose(two.theta, one.theta, rtol=1e-6, atol=1e-7)


def test_an_impossible_robot_is_reported_with_what_contradicts(tooled):
    """Coulomb friction of the wrong sign in one joint, 0.5 N m against noise of 0.05."""
    theta = with_friction(tooled)
    theta[tooled.names.index("actuator/pitch/coulomb_friction")] = -0.5
    fit = consistent(tooled, recorded(tooled, theta, noise=0.05))
    (finding,) = [f for f in fit.findings if f.code == "fit.infeasible_unconstrained"]
    assert finding.level == "warning"
    assert finding.where == "actuator/pitch/coulomb_friction"
    assert fit.scalars["actuator/pitch/coulomb_friction"] == pytest.approx(0.0, abs=1e-3)
    assert "actuator/pitch/coulomb_friction" in fit.active
    assert fit.ratio > 1.2  # with the noise estimated again
    assert fit.gamma > BELIEF
    assert [f.where for f in fit.findings if f.code == "fit.at_limit"] == ["actuator/pitch/coulomb_friction"]


def test_possible_data_raise_no_alarm(tooled):
    fit = consistent(tooled, recorded(tooled, with_friction(tooled), noise=0.05))
    assert not [f for f in fit.findings if f.level != "info"]
    assert fit.gamma == pytest.approx(BELIEF)


def test_what_each_parameter_rests_on(tooled):
    fit = consistent(tooled, recorded(tooled, with_friction(tooled), noise=0.05))
    standing, deviation = fit.standing, dict(zip(fit.full_names, fit.deviation, strict=True))
    assert standing["link/upper/mass"] == "prior"  # turns about the vertical: only its inertia about z shows
    assert standing["link/lower/first_moment_x"] == "combined"  # with the tool's and the camera's
    assert standing["actuator/pitch/coulomb_friction"] == "identified"
    assert deviation["link/upper/mass"] == pytest.approx(fit.value("link/upper/mass") / np.sqrt(BELIEF), rel=0.01)
    assert deviation["actuator/pitch/coulomb_friction"] < 0.02
    (finding,) = [f for f in fit.findings if f.code == "fit.prior_dominates"]
    assert "torque cannot tell the total mass" in finding.message


def test_the_strength_of_the_prior_moves_what_the_data_leave_open(tooled):
    theta = with_friction(tooled)
    theta[: theta.size] *= np.where([n.startswith("link/") for n in tooled.names], 1.5, 1.0)
    estimate = recorded(tooled, theta, noise=1.0, count=60)
    weak, strong = consistent(tooled, estimate, strength=0.1), consistent(tooled, estimate, strength=100.0)
    prior = link_map(tooled).priors
    near = [np.abs(f.links.parameters(f.y) - prior).sum() for f in (weak, strong)]
    assert near[1] < 0.7 * near[0]
    assert weak.ratio < strong.ratio


def test_a_contradiction_is_misfit_beyond_one_a_parameter():
    assert contradiction(-1.0, 40) == 0.0
    assert contradiction(39.0, 40) == 0.0
    assert contradiction(160.0, 40) == 0.75


def test_model_error_is_common_to_joints_of_a_kind_but_small_beside_their_torque(tmp_path):
    """The slide is measured in newtons, the turning joints in newton metres: they share an error, it has its own."""
    model = Model(robots.load(tmp_path, "rail"), (RigidBody(), Offset()))
    estimate = recorded(model, model.nominal, noise=0.01)
    place = {name: k for k, name in enumerate(estimate.names)}
    theta = estimate.theta.copy()
    theta[[place["actuator/slide/bias"], place["actuator/spin/bias"]]] += 0.5, 0.003
    found = dict(
        zip(model.robot.row_names, common_error(model, estimate.information, theta, estimate.theta), strict=True)
    )
    assert found["slide"] == pytest.approx(0.5, rel=1e-6)
    assert found["spin"] == found["bend"] == pytest.approx(0.003 / np.sqrt(2.0), rel=1e-6)
    theta[place["actuator/spin/bias"]] += 1e3
    found = dict(
        zip(model.robot.row_names, common_error(model, estimate.information, theta, estimate.theta), strict=True)
    )
    rms = np.sqrt(estimate.information.energy / estimate.information.rows)
    np.testing.assert_allclose([found["spin"], found["bend"]], 0.3 * rms[1:])


def test_joints_without_bodies_can_be_fitted(tooled):
    model = Model(tooled.robot, (Viscous(), Coulomb(), Offset()))
    theta = np.array([0.3, 0.4, 0.5, -0.1, 0.2, 0.1])
    fit = consistent(model, recorded(model, theta, noise=0.05))
    assert fit.link_parameters == {}
    assert fit.scalars["actuator/pitch/coulomb_friction"] == pytest.approx(0.0, abs=1e-4)
    assert fit.scalars["actuator/yaw/viscous_friction"] == pytest.approx(0.3, abs=0.02)


def test_requests_that_make_no_sense_are_refused(tooled):
    estimate = recorded(tooled, with_friction(tooled), noise=0.1)
    for options, what in (
        ({"solver": "ipopt"}, "not a solver"),
        ({"strength": 0.0}, "strength"),
        ({"strength": np.nan}, "strength"),
        ({"solver": "semidefinite", "mass_cap": np.inf}, "cap"),
        ({"solver": "semidefinite", "mass_cap": -1.0}, "cap"),
    ):
        with pytest.raises(StudyError, match=what):
            consistent(tooled, estimate, **options)
    with pytest.raises(StudyError, match="base parameters of this model"):
        consistent(tooled, replace(estimate, basis=None))
    with pytest.raises(StudyError, match="base parameters of this model"):
        consistent(Model(tooled.robot, (RigidBody(),)), estimate)
