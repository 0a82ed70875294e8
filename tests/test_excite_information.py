"""The information matrix of a motion and its derivative, against the regressor written out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import robots
from steelyard.basis import base_parameters
from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.excite.features import States
from steelyard.excite.information import MotionInformation
from steelyard.model import Model
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.quadratic import Quadratic
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.spring import Spring
from steelyard.terms.term import Column
from steelyard.terms.viscous import Viscous

TERMS = (RigidBody(), RotorInertia(), Viscous(), Coulomb(smoothing=0.3), Offset(), Spring(), Quadratic())


@dataclass(frozen=True)
class Coupling:
    """A term of somebody's own: one column that acts on two joints and depends on several signals."""

    def columns(self, robot):
        return (Column("coupling", "N m", (0, 2)),)

    def block(self, robot, trajectory):
        q, dq, ddq = (trajectory.channel(c) for c in ("q", "dq", "ddq"))
        block = np.zeros((*q.shape, 1))
        block[:, 0, 0] = np.sin(q[:, 1]) * dq[:, 2]
        block[:, 2, 0] = ddq[:, 0] * q[:, 1]
        return block


def model(tmp_path, terms=TERMS, name="branching"):
    return Model(robots.load(tmp_path, name), terms)


def draw(model, count=70, seed=4):
    trajectory = robots.states(model.robot.joint_names, count, seed=seed)
    return States(*(np.ascontiguousarray(trajectory.channel(c)) for c in ("q", "dq", "ddq")))


def rows(model, names, states):
    trajectory = Trajectory(
        time=np.arange(len(states.q)) * 1.0, joint_names=model.robot.joint_names, q=states.q, dq=states.v, ddq=states.a
    )
    return model.regressor(trajectory)[:, :, [model.names.index(name) for name in names]]


@pytest.mark.parametrize("name", ["branching", "rail", "tooled"])
def test_the_matrix_is_that_of_the_rows(tmp_path, name):
    """Noise-weighted and with a prior; 1e-12 of the largest entry is rounding of some hundred products."""
    arm = model(tmp_path, name=name)
    names = base_parameters(arm).names
    sigma = 0.1 + np.arange(len(arm.robot.joint_names))
    prior = np.diag(np.arange(1.0, len(names) + 1.0))
    states = draw(arm)
    Y = rows(arm, names, states)
    expected = np.einsum("kjc,kjd,j->cd", Y, Y, sigma**-2.0) + prior
    G = MotionInformation(arm, names, 70, deviations=sigma, prior=prior).evaluate(states)
    assert np.abs(G - expected).max() < 1e-12 * np.abs(expected).max()
    assert np.array_equal(G, G.T)


def test_torque(tmp_path):
    arm = model(tmp_path)
    names = base_parameters(arm).names
    states = draw(arm)
    information = MotionInformation(arm, names, 70)
    information.evaluate(states)
    theta = np.random.default_rng(0).standard_normal(len(names))
    expected = rows(arm, names, states) @ theta
    assert np.abs(information.torque(theta) - expected).max() < 1e-12 * np.abs(expected).max()


@pytest.mark.parametrize("terms", [TERMS, (RigidBody(), Coupling(), Viscous(joints=("neck",)))], ids=["all", "own"])
def test_the_pull_is_the_derivative(tmp_path, terms):
    """Central differences of <H, G> + <w, torque> along random directions: 1e-7 with a step of 1e-6."""
    arm = model(tmp_path, terms)
    names = base_parameters(arm).names
    rng = np.random.default_rng(7)
    states, sigma = draw(arm), 0.5 + rng.random(len(arm.robot.joint_names))
    information = MotionInformation(arm, names, 70, deviations=sigma)
    H = rng.standard_normal((len(names),) * 2)
    H, theta, weight = H + H.T, rng.standard_normal(len(names)), rng.standard_normal(states.q.shape)

    def value(states):
        G = information.evaluate(states)
        return np.sum(H * G) + np.sum(weight * information.torque(theta))

    value(states)
    rates = information.pull(H, theta=theta, torque_weight=weight).copy()
    for channel in range(3):
        direction = rng.standard_normal(states.q.shape)
        sides = [
            value(States(*(x + s * 1e-6 * direction if c == channel else x for c, x in enumerate(states))))
            for s in (1.0, -1.0)
        ]
        expected = np.sum(rates[:, channel].T * direction)
        assert (sides[0] - sides[1]) / 2e-6 == pytest.approx(expected, rel=1e-7, abs=1e-7 * np.abs(rates).max())


def test_a_smoothed_sign_is_near_the_sharp_one_and_has_a_derivative(tmp_path):
    arm = model(tmp_path, (RigidBody(), Coulomb()))
    names = base_parameters(arm).names
    states, n = draw(arm), len(arm.robot.joint_names)
    sharp = MotionInformation(arm, names, 70)
    smooth = MotionInformation(arm, names, 70, sign_speeds=np.full(n, 0.01))
    exact = sharp.evaluate(states).copy()
    assert np.abs(smooth.evaluate(states) - exact).max() < 0.02 * np.abs(exact).max()
    dry = [k for k, name in enumerate(names) if name.endswith("coulomb_friction")]
    H = np.zeros((len(names),) * 2)
    H[dry, dry] = 1.0
    assert not sharp.pull(H).any()
    assert smooth.pull(H)[:, 1].any()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"deviations": np.ones(2)}, "deviation"),
        ({"deviations": np.array([1.0, 1.0, 0.0, 1.0, 1.0])}, "deviation"),
        ({"deviations": np.array([1.0, 1.0, np.nan, 1.0, 1.0])}, "deviation"),
        ({"prior": np.eye(3)}, "prior"),
    ],
)
def test_what_does_not_fit(tmp_path, options, words):
    arm = model(tmp_path)
    with pytest.raises(StudyError, match=words):
        MotionInformation(arm, base_parameters(arm).names, 10, **options)
    with pytest.raises(StudyError, match="not a column"):
        MotionInformation(arm, ("link/moon/mass",), 10)
