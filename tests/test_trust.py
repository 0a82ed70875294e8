"""The width of the bodies' prior by evidence, and that a poor motion does not make the default worse than the file."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import arm
from steelyard.basis import base_parameters
from steelyard.estimate.blocks import absorb_blocks
from steelyard.estimate.estimators import from_blocks, trust_in
from steelyard.estimate.prior import Prior, physical_prior
from steelyard.estimate.regularised import with_prior
from steelyard.estimate.shares import decided_by_data, prior_share, trust_finding
from steelyard.estimate.trust import with_trust
from steelyard.estimate.validate import baselines
from steelyard.model import Model
from steelyard.terms.names import terms_named

MODEL = Model(arm.model().robot, terms_named(("rigid_body", "rotor_inertia", "viscous", "coulomb", "offset")))
BASIS = base_parameters(MODEL)


def truth(share: float, seed: int) -> np.ndarray:
    """Columns of a robot whose bodies differ from the file by `share` of the prior's deviations."""
    rng = np.random.default_rng(seed)
    path = arm.motion()
    info = MODEL.absorb([replace(path, tau=MODEL.torque(MODEL.nominal, path), source="")], names=BASIS.names)
    deviation = physical_prior(MODEL, info).deviation
    values = {"viscous_friction": 2.0, "coulomb_friction": 3.0, "bias": 0.1, "rotor_inertia": 0.1}
    theta = np.array([values.get(name.rsplit("/", 1)[-1], 0.0) for name in MODEL.names])
    bodies = np.array([name.startswith("link/") for name in MODEL.names])
    return np.where(bodies, MODEL.nominal + share * deviation * rng.normal(size=len(theta)), theta)


def blocks_of(theta, path, seed):
    noise = arm.filtered_noise(np.random.default_rng(seed), path, 2.5)
    return absorb_blocks(MODEL, [replace(path, tau=MODEL.torque(theta, path) + noise, source="")], names=BASIS.names,
                         count=25)  # fmt: skip


@pytest.mark.parametrize(("share", "low", "high"), [(0.1, 0.0, 0.4), (0.4, 0.3, 1.0), (1.0, 0.9, 1.6)])
def test_the_width_is_that_of_the_errors_of_the_file(share, low, high):
    """Half as wide again as the errors (0.15, 0.6, 1.5), as some forty combinations tell it."""
    width = trust_in(MODEL, BASIS, blocks_of(truth(share, 1), arm.motion(rate=50.0), 2)).width
    assert low < width < high


def poor(kind: str):
    """Motions that show little: ten seconds at a fifth of the amplitude, or of one joint alone."""
    path = arm.motion(duration=10.0, rate=50.0)
    middle = path.q.mean(axis=0)
    if kind == "small":
        return replace(path, q=middle + 0.2 * (path.q - middle), dq=0.2 * path.dq, ddq=0.2 * path.ddq)
    alone = np.arange(7) == 3
    return replace(path, q=np.where(alone, path.q, middle), dq=path.dq * alone, ddq=path.ddq * alone)


def test_poor_motions_do_not_make_it_worse_than_the_file_with_fitted_friction():
    """Predicting a full motion, whether the file is nearly right or not.

    Single runs differ by a tenth either way, since friction at full speed is a guess from slow motion; the mean of
    twelve does not lose.
    """
    full = arm.motion(seed=8, rate=50.0)
    ratios = []
    for kind, share, seed in product(("small", "one joint"), (0.05, 0.3, 1.0), (3, 13)):
        theta = truth(share, seed)
        blocks = blocks_of(theta, poor(kind), seed + 1)
        estimate = from_blocks("prior", MODEL, BASIS, blocks, trust_in(MODEL, BASIS, blocks))
        old = baselines(MODEL, BASIS, estimate.information).friction
        wanted = MODEL.torque(theta, full)
        mine, files = (
            np.linalg.norm(MODEL.torque(values, full) - wanted) for values in (estimate.full(MODEL.names), old)
        )
        ratios.append(mine / files)
    assert np.exp(np.mean(np.log(ratios))) < 1.0
    assert max(ratios) < 1.3


def test_correlated_rows_weigh_less_against_the_prior():
    info = arm_information()
    prior = physical_prior(MODEL, info)
    time = np.linspace(2.0, 8.0, 7)
    estimate = with_prior(info, prior, basis=BASIS, time=time)
    assert estimate.weights * estimate.noise**2 * time == pytest.approx(np.ones(7), rel=1e-9)
    few = with_prior(info, prior, basis=BASIS)
    assert np.all(estimate.deviation >= 0.99 * few.deviation)


def arm_information():
    path = arm.motion(duration=10.0, rate=50.0)
    noise = arm.filtered_noise(np.random.default_rng(5), path, 2.5)
    return MODEL.absorb([replace(path, tau=MODEL.torque(truth(0.3, 6), path) + noise, source="")], names=BASIS.names)


def test_only_bodies_are_trusted_more_or_less():
    prior = Prior(("link/a/mass", "actuator/j/bias"), np.zeros(2), np.array([2.0, 3.0]))
    assert with_trust(prior, 0.5).deviation.tolist() == [1.0, 3.0]


def test_shares_lie_between_data_and_prior():
    """No data leave the whole variance; many leave nothing; friction, of which nothing was believed, has no share."""
    info = arm_information()
    prior = physical_prior(MODEL, info)
    loud = with_prior(info, prior, basis=BASIS, time=np.full(7, 1e12))
    quiet = with_prior(info, prior, basis=BASIS, time=np.full(7, 1e-6))
    bodies = np.array([name.startswith("link/") for name in loud.names])
    assert np.all(prior_share(loud)[bodies] > 0.99)
    assert np.all(prior_share(quiet)[bodies] < 0.02)
    friction = np.array([name.endswith("friction") for name in loud.names])
    assert np.all(np.isnan(prior_share(loud)[friction]))
    count = int(np.isfinite(prior_share(loud)[bodies]).sum())
    assert decided_by_data(loud) == (0, count)
    assert decided_by_data(quiet) == (count, count)


def test_the_trust_is_said_in_one_sentence():
    estimate = with_prior(arm_information(), physical_prior(MODEL, arm_information()), basis=BASIS)
    finding = trust_finding(MODEL, BASIS, estimate, 1.0)
    decided, count = decided_by_data(estimate)
    assert finding.code == "fit.trust"
    assert 0.3 < finding.value < 1.0
    assert f"{100 * finding.value:.0f} % of the training torque" in finding.message
    assert f"held to 30 % of their mass, and the data decided {decided} of {count}" in finding.message
