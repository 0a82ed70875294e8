"""Intervals of the whole pipeline: noise goes in with a recording, and 95 % of the intervals must hold the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lfilter

import robots
from steelyard import Offset, Recording, RigidBody, Trajectory, Viscous, base_parameters, identify
from steelyard.model import Model

TERMS = (RigidBody(), Viscous(), Offset())
STEP, RUNS = 0.005, 60  # [s]; ten parameters a run, those of one run correlated: a standard error of about 1.5 %


@pytest.fixture(scope="module")
def arm(tmp_path_factory):
    """A planar arm, its true base parameters, and 20 s of exact motion and torque at 200 Hz."""
    model = Model(robots.load(tmp_path_factory.mktemp("planar"), "planar_offset"), TERMS)
    time = STEP * np.arange(4000)
    rng = np.random.default_rng(5)
    rate, phase = 2 * np.pi * rng.uniform(0.2, 1.0, (2, 4)), rng.uniform(0.0, 6.0, (2, 4))
    angle = time[:, None, None] * rate + phase
    motion = Trajectory(
        time, model.robot.joint_names, q=0.4 * np.sin(angle).sum(axis=2),
        dq=0.4 * (rate * np.cos(angle)).sum(axis=2), ddq=-0.4 * (rate**2 * np.sin(angle)).sum(axis=2),
    )  # fmt: skip
    theta = model.nominal.copy()
    theta[-4:] = [0.8, 0.4, 0.5, -0.3]
    return model.robot, base_parameters(model).regroup(theta), motion, model.torque(theta, motion)


def white(rng):
    return rng.normal(size=(4000, 2))


def coloured(rng):
    """First-order noise with a time constant of 50 ms: friction that the model lacks looks like this, or worse."""
    memory = np.exp(-STEP / 0.05)
    return lfilter([np.sqrt(1.0 - memory**2)], [1.0, -memory], white(rng), axis=0)


@pytest.mark.parametrize("noise", [white, coloured])
def test_intervals_of_identify_hold_the_truth(arm, noise):
    robot, truth, motion, torque = arm
    rng, inside = np.random.default_rng(8), []
    for _ in range(RUNS):
        tau = torque + noise(rng) * [0.3, 1.0]
        recording = Trajectory(motion.time, motion.joint_names, q=motion.q, tau=tau)
        found = identify(robot, [Recording(recording)], terms=TERMS, estimator="weighted")
        low, high = found.estimate.interval().T
        inside.append((low <= truth) & (truth <= high))
    assert 0.92 <= np.mean(inside) <= 0.98
