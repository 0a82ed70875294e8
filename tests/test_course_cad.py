"""A03: how wrong CAD values are, and how wrong they are after identification, by Monte Carlo over wrong model files.

Masses 5 to 15 % off, centres of mass 10 to 30 %, inertias 20 to 50 %. After identification the course has masses under
2 %, centres under 5 % and inertias under 10 %: torque keeps that for the combinations it can tell, never for the mass
of a link, which stays what the model file says.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.basis import base_parameters, random_states
from steelyard.estimate.consistent import consistent
from steelyard.estimate.least_squares import weighted
from steelyard.model import Model
from steelyard.robot.inertia import parameters_about_origin, tensor
from steelyard.robot.robot import Robot
from steelyard.simulate.robots import robot_file
from steelyard.terms.rigid_body import RigidBody

TRIALS = 20
NOISE = 0.02  # of each joint's rms torque


def off(parameters: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A body with the errors of CAD values, either way; its inertia about the centre of mass scaled as a whole."""
    mass, centre = parameters[0], parameters[1:4] / parameters[0]
    own = tensor(parameters[4:]) - mass * ((centre @ centre) * np.eye(3) - np.outer(centre, centre))
    signs = rng.choice([-1.0, 1.0], 5)
    sizes = rng.uniform([0.05, 0.1, 0.1, 0.1, 0.2], [0.15, 0.3, 0.3, 0.3, 0.5])
    share = 1.0 + signs * sizes
    return parameters_about_origin(share[0] * mass, share[1:4] * centre, share[4] * own)


@pytest.fixture(scope="module")
def errors():
    """Kind -> (trials, parameters) relative errors before and after: of base parameters, and of the links' masses."""
    truth = Model(Robot.from_urdf(robot_file("arm6.urdf")), (RigidBody(),))
    basis = base_parameters(truth)
    real = basis.regroup(truth.nominal)
    motion = random_states(truth, 1500, seed=1)
    torque = truth.torque(truth.nominal, motion)
    size = NOISE * np.sqrt(np.mean(torque**2, axis=0))
    found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {"first_moment": [], "inertia": [], "mass": []}
    for trial in range(TRIALS):
        rng = np.random.default_rng(trial)
        noisy = replace(motion, tau=torque + size * rng.normal(size=torque.shape))
        links = tuple(
            link if link.parameters is None else replace(link, parameters=off(link.parameters, rng))
            for link in truth.robot.links
        )
        model = Model(replace(truth.robot, links=links), truth.terms)
        estimate = weighted(model.absorb([noisy]), basis=basis)
        fit = consistent(model, estimate)
        before, after = basis.regroup(model.nominal), fit.base
        for kind in ("first_moment", "inertia"):
            of_kind = np.array([f"/{kind}" in name for name in basis.names])
            clear = of_kind & (np.abs(real) > 0.05 * np.abs(real[of_kind]).max())
            found[kind].append(tuple(np.abs(x - real)[clear] / np.abs(real[clear]) for x in (before, after)))
        masses = {link.name: link.parameters[0] for link in truth.robot.links if link.parameters is not None}
        cad = {link.name: link.parameters[0] for link in links if link.parameters is not None}
        names = list(fit.link_parameters)
        weigh = [
            np.array([abs(source[name] / masses[name] - 1.0) for name in names])
            for source in (cad, {name: own[0] for name, own in fit.link_parameters.items()})
        ]
        found["mass"].append((weigh[0], weigh[1]))
        assert not any(fit.standing[f"link/{name}/mass"] == "identified" for name in names)
    return {kind: np.array(pairs) for kind, pairs in found.items()}


def test_a03_what_torque_can_tell_becomes_as_right_as_the_course_says(errors):
    """Medians over trials and parameters: 5.2 and 6.0 % before (errors of links average in the combinations), 0.05 and
    0.18 % after, with 2 % torque noise.
    """
    for kind in ("first_moment", "inertia"):
        assert np.median(errors[kind][:, 0]) > 0.03
        assert np.median(errors[kind][:, 1]) < 0.005


def test_a03_masses_of_links_stay_what_the_model_file_says(errors):
    """Under 2 % is not to be had from torque: no mass of a link is identified, 9.6 % become 8.9 %."""
    before, after = (np.median(errors["mass"][:, k]) for k in (0, 1))
    assert 0.05 < before < 0.15
    assert after > 0.02
