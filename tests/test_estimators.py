"""The estimators by name, essential parameters, and training rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import arm
import steelyard as sy
from steelyard.errors import StudyError
from steelyard.estimate.essential import essential
from steelyard.estimate.estimators import ESTIMATORS, known_estimator
from steelyard.estimate.least_squares import weighted
from steelyard.terms.names import terms_named


def recording(seed: int, *, outliers: float = 0.0):
    path = arm.motion(duration=12.0, rate=100.0)
    rng = np.random.default_rng(seed)
    noise = arm.filtered_noise(rng, path, 10.0)
    noise += 60.0 * np.array(arm.NOISE) * (rng.random(noise.shape) < outliers)
    return replace(arm.recorded(path, noise), ddq=None)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_predicts_an_unseen_motion(name):
    """Noise of a tenth of the torque, ten seconds: two to five per cent of the clean torque of another motion."""
    found = sy.identify(
        arm.model().robot, [sy.Recording(recording(1))], terms=terms_named(arm.RIGID_AND_FRICTION), estimator=name
    )
    other = arm.motion(seed=9, rate=50.0)
    wanted = arm.model().torque(arm.truth(), other)
    missed = arm.model().torque(found.estimate.full(arm.model().names), other) - wanted
    assert np.linalg.norm(missed) < 0.06 * np.linalg.norm(wanted)
    assert np.all(found.estimate.correlation_time > 0.0)
    assert np.all(np.isfinite(found.estimate.interval()))


def test_outliers_hurt_the_robust_one_least_and_are_named():
    """Half a per cent of spikes of sixty deviations, which the low-pass smears over its period."""
    robot, terms = arm.model().robot, terms_named(arm.RIGID_AND_FRICTION)
    other = arm.motion(seed=9, rate=50.0)
    wanted = arm.model().torque(arm.truth(), other)
    missed = {}
    for name in ("weighted", "huber"):
        spoilt = [sy.Recording(recording(2, outliers=0.001))]
        found = sy.identify(robot, spoilt, terms=terms, estimator=name)
        missed[name] = np.linalg.norm(arm.model().torque(found.estimate.full(arm.model().names), other) - wanted)
    assert missed["huber"] < 0.8 * missed["weighted"]
    said = [f.message for f in found.estimate.findings if f.code == "fit.outliers"]
    assert said
    assert "down-weighted" in said[0]


def test_an_unknown_estimator_is_told_the_nearest():
    with pytest.raises(StudyError, match='did you mean "huber"') as caught:
        known_estimator("hubert")
    assert caught.value.choices == tuple(ESTIMATORS)


def test_drawn_intervals_take_the_place_of_those_by_covariance():
    robot, terms = arm.model().robot, terms_named(arm.RIGID_AND_FRICTION)
    found = [
        sy.identify(robot, [sy.Recording(recording(3))], terms=terms, estimator="weighted", draws=draws).estimate
        for draws in (0, 300)
    ]
    assert np.array_equal(found[0].theta, found[1].theta)
    ratio = found[1].deviation / found[0].deviation
    assert 0.6 < np.exp(np.mean(np.log(ratio))) < 1.5
    assert not np.array_equal(found[0].interval(), found[1].interval())


def test_essential_parameters_leave_out_what_the_noise_hides():
    """Kept and dropped make the whole, the residual grows as much as is said, and what is dropped was not clear."""
    path = arm.motion()
    noisy = arm.recorded(path, arm.filtered_noise(np.random.default_rng(4), path, 5.0))
    info = arm.model().absorb([noisy], names=arm.basis().names)
    whole, few = weighted(info, basis=arm.basis()), essential(info, basis=arm.basis())
    finding = few.findings[-1]
    dropped = set(whole.names) - set(few.names)
    assert 3 < len(dropped) < len(whole.names) - 10
    assert f"{len(few.names)} of {len(whole.names)} parameters are essential" in finding.message
    misfit = [float(whole.weights @ e.information.misfit(e.theta)) for e in (whole, few)]
    assert np.sqrt(misfit[1] / misfit[0]) - 1.0 == pytest.approx(finding.value)
    assert 0.0 < finding.value <= 0.01
    clear = dict(zip(whole.names, np.abs(whole.theta) / whole.deviation, strict=True))
    assert max(clear[name] for name in dropped) < min(8.0, np.percentile(list(clear.values()), 75))
    assert essential(info, basis=arm.basis(), loss=0.0).names == whole.names
    with pytest.raises(StudyError, match="loss"):
        essential(info, loss=-1.0)
