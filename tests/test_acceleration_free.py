"""Torque as the rate of the momentum: the same equations, without a second derivative of a position."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import arm
import robots
from steelyard.basis import base_parameters
from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import Trajectory
from steelyard.estimate.acceleration_free import acceleration_free, without_acceleration
from steelyard.estimate.least_squares import weighted
from steelyard.model import Model
from steelyard.preparation.differentiate import differentiate
from steelyard.preparation.smooth import smooth
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.viscous import Viscous

TERMS = (RigidBody(), RotorInertia(), Viscous(), Coulomb(), Offset())


def smooth_path(names, *, rate=500.0, duration=4.0):
    """Two sines a joint, at 0.3 to 1.2 Hz."""
    t = np.arange(round(duration * rate)) / rate
    rng = np.random.default_rng(0)
    w = 2 * np.pi * rng.uniform(0.3, 1.2, (len(names), 2))
    phase, size = rng.uniform(0, 6, w.shape), rng.uniform(0.2, 0.6, w.shape)
    angle = w * t[:, None, None] + phase
    q, dq, ddq = (x.sum(axis=2) for x in (size * np.sin(angle), size * w * np.cos(angle), -size * w**2 * np.sin(angle)))
    return Trajectory(t, names, q, dq, ddq, name="smooth")


@pytest.mark.parametrize("name", ["planar_offset", "rail", "branching", "tooled", "gripper"])
def test_the_identity_holds(tmp_path, name):
    """d/dt (Y_p theta) + (Y(q, dq, 0) - Y_m) theta = Y(q, dq, ddq) theta to 1e-8 of the torque, column by column."""
    robot = robots.load(tmp_path, name)
    model = Model(robot, TERMS)
    path = smooth_path(robot.joint_names)
    ours = acceleration_free(model).regressor(without_acceleration(path))[8:-8]
    theirs = model.regressor(path)[8:-8]
    size = np.abs(theirs).max(axis=(0, 1))
    assert np.all(np.abs(ours - theirs).max(axis=(0, 1)) <= 1e-8 * np.maximum(size, 1e-3))


def test_the_identity_holds_for_the_arm():
    """All 70 rigid columns of seven joints: relative error of the torque under 1e-8."""
    path = smooth_path(arm.model().robot.joint_names)
    theta = arm.truth()
    ours = acceleration_free(arm.model()).regressor(without_acceleration(path)) @ theta
    theirs = arm.model().torque(theta, path)
    assert np.abs(ours - theirs)[8:-8].max() < 1e-8 * np.abs(theirs).max()


def test_columns_are_the_same():
    free = acceleration_free(arm.model())
    assert free.columns == arm.model().columns


def test_exact_estimates_without_accelerations(tmp_path):
    """Whatever stands in ddq is not read; with a parallel filter the parameters are exact to 1e-6."""
    robot = robots.load(tmp_path, "planar_offset")
    model = Model(robot, TERMS)
    path = smooth_path(robot.joint_names, duration=8.0)
    basis = base_parameters(model)
    theta = model.nominal + 0.3
    valid = np.zeros(path.q.shape, dtype=bool)
    valid[500:-500] = True
    recording = replace(robots.with_torque(path, model.torque(theta, path)), valid=valid)
    free = acceleration_free(model)
    fits = []
    for wrong in (0.0, 1e3):
        motion = replace(recording, ddq=np.full(path.q.shape, wrong), source="")
        info = free.absorb([motion], names=basis.names, lowpass=LowPass(8.0, 5))
        fits.append(weighted(info, basis=basis))
    np.testing.assert_array_equal(fits[0].theta, fits[1].theta)
    value = basis.regroup(theta)
    np.testing.assert_allclose(fits[0].theta, value, rtol=0, atol=1e-6 * np.abs(value).max())


def test_it_equals_the_acceleration_form_under_one_filter():
    """Noise of 1e-4 rad, derivatives from 20 Hz, a parallel filter of 5 Hz: both err alike, and more without it."""
    path = arm.motion(duration=20.0, rate=200.0)
    rng = np.random.default_rng(1)
    clean = arm.model().torque(arm.truth(), path)
    noise = 0.01 * np.sqrt(np.mean(clean**2, axis=0)) * rng.normal(size=clean.shape)
    measured = Trajectory(
        path.time, path.joint_names, q=path.q + 1e-4 * rng.normal(size=clean.shape), tau=clean + noise, name="noisy"
    )
    ready = differentiate(smooth(measured, 20.0, channels=("q",)))
    valid = np.zeros(clean.shape, dtype=bool)
    valid[100:-100] = True
    ready = replace(ready, valid=valid)
    lowpass, names = LowPass(5.0, 16), arm.basis().names
    unseen = arm.motion(seed=4, duration=10.0, rate=50.0)
    tau = arm.model().torque(arm.truth(), unseen)

    def error(info):
        found = arm.model().predict(weighted(info, basis=arm.basis()), unseen)
        return np.sqrt(np.mean((found - tau) ** 2 / np.mean(tau**2, axis=0)))

    free = acceleration_free(arm.model()).absorb([without_acceleration(ready)], names=names, lowpass=lowpass)
    with_ddq = arm.model().absorb([ready], names=names, lowpass=lowpass)
    raw = arm.model().absorb([ready], names=names)
    assert error(free) == pytest.approx(error(with_ddq), rel=0.1)
    assert error(raw) > 3.0 * error(free)
