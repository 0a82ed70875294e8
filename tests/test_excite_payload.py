"""The payload's own criterion: against least squares written out, against differences, and in a design."""

from __future__ import annotations

import numpy as np
import pytest

import arm
from steelyard.errors import StudyError
from steelyard.excite.criteria import determinant
from steelyard.excite.design import design_motion
from steelyard.excite.limits import JointLimit, motion_limits
from steelyard.excite.payload import payload_criterion

BODY = "link_7"
QUICK = {"period": 5.0, "harmonics": 3, "starts": 1, "changes": 1, "budget": 600.0, "samples": 64}


def rows(seed=3):
    """(700, 64) regressor of the base parameters and (700, 10) of a payload at the last body, at random states."""
    motion = arm.motion(seed=seed, duration=10.0, rate=10.0)
    Y = arm.model().regressor(motion)
    names = arm.model().names
    base = Y[:, :, [names.index(name) for name in arm.basis().names]]
    body = Y[:, :, [k for k, name in enumerate(names) if name.startswith(f"link/{BODY}/")]]
    return base.reshape(-1, base.shape[2]), body.reshape(-1, 10)


def test_bodies_known_and_friction_estimated():
    """-log det of the payload's block of the inverse, all columns that are unknown taken together, over ten."""
    base, body = rows()
    others = [k for k, name in enumerate(arm.basis().names) if not name.startswith("link/")]
    unknown = np.hstack([body, base[:, others]])
    spread = np.linalg.inv(unknown.T @ unknown)[:10, :10]
    expected = np.linalg.slogdet(spread)[1] / 10.0
    value = payload_criterion(arm.basis(), BODY)(base.T @ base, False).value
    assert value == pytest.approx(expected, abs=1e-9)


def test_everything_as_uncertain_as_the_motions_without_payload():
    """Two experiments, one with and one without payload, fitted together."""
    loaded, body = rows()
    empty, _ = rows(seed=4)
    both = np.block([[loaded, body], [empty, np.zeros((len(empty), 10))]])
    spread = np.linalg.inv(both.T @ both)[-10:, -10:]
    expected = np.linalg.slogdet(spread)[1] / 10.0
    criterion = payload_criterion(arm.basis(), BODY, empty.T @ empty)
    assert criterion(loaded.T @ loaded, False).value == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("known", [False, True])
def test_the_weight_is_the_derivative(known):
    """Central differences along random directions; a step of 1e-5 of G leaves 1e-9 of curvature."""
    base, _ = rows()
    G = base.T @ base
    empty, _ = rows(seed=4)
    criterion = payload_criterion(arm.basis(), BODY, empty.T @ empty if known else None)
    H = criterion(G, True).weight
    L = np.linalg.cholesky(G)
    rng = np.random.default_rng(1)
    for _ in range(3):
        D = rng.standard_normal(G.shape)
        D = 1e-5 * L @ (D + D.T) @ L.T
        change = 0.5 * (criterion(G + D, False).value - criterion(G - D, False).value)
        assert change == pytest.approx(np.sum(H * D), rel=1e-6)


def test_a_design_for_the_payload_tells_more_of_it():
    """Deviations of the payload, geometric mean, against the D-optimal motion for everything: same limits and work."""
    model = arm.model()
    limits = motion_limits(model.robot, {n: JointLimit(acceleration=8.0, jerk=400.0) for n in model.robot.joint_names})
    own = design_motion(model, limits, criterion="payload", payload=BODY, **QUICK)
    every = design_motion(model, limits, criterion="d", **QUICK)
    judge = payload_criterion(arm.basis(), BODY)
    assert own.value == pytest.approx(judge(own.information, False).value, abs=1e-12)
    gain = judge(every.information, False).value - own.value
    assert np.exp(-0.5 * gain) < 0.9
    assert determinant(own.information, False).value > determinant(every.information, False).value


def test_what_cannot_be_asked():
    with pytest.raises(StudyError, match="no body of this name") as caught:
        payload_criterion(arm.basis(), "gripper")
    assert BODY in caught.value.choices
    with pytest.raises(StudyError, match="all ten parameters"):
        payload_criterion(arm.basis(), "link_2")
    with pytest.raises(StudyError, match="prior"):
        payload_criterion(arm.basis(), BODY, np.eye(3))
    limits = motion_limits(
        arm.model().robot, {n: JointLimit(acceleration=8.0, jerk=400.0) for n in arm.model().robot.joint_names}
    )
    with pytest.raises(StudyError, match="belong together"):
        design_motion(arm.model(), limits, criterion="payload")
    with pytest.raises(StudyError, match="belong together"):
        design_motion(arm.model(), limits, criterion="d", payload=BODY)
