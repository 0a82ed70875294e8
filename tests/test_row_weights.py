"""Weights of single rows: what Trajectory.weight does to what is absorbed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import robots
from steelyard.basis import base_parameters
from steelyard.data.lowpass import LowPass
from steelyard.errors import DataError
from steelyard.model import Model
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.rigid_body import RigidBody


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    robot = robots.load(tmp_path_factory.mktemp("planar"), "planar_offset")
    return Model(robot, (RigidBody(), Coulomb()))


@pytest.fixture(scope="module")
def recording(model):
    motion = robots.states(model.robot.joint_names, 900, seed=1)
    rng = np.random.default_rng(2)
    tau = rng.normal(size=motion.q.shape)
    return replace(robots.with_torque(motion, tau), weight=rng.uniform(0.0, 3.0, tau.shape))


def gram(info):
    return info.stacked().T @ info.stacked()


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("lowpass", [None, LowPass(8.0, 3)])
def test_a_row_counts_by_its_weight(model, recording, masked, lowpass):
    """sum_t w_t row_t' row_t, of the filtered rows; and of those left out nothing."""
    valid = np.random.default_rng(3).random(recording.q.shape) < 0.7 if masked else None
    weighty = replace(recording, valid=valid)
    names = base_parameters(model).names
    info = model.absorb([weighty], names=names, lowpass=lowpass)
    Y = np.dstack([model.regressor(recording)[:, :, [model.names.index(n) for n in names]], recording.tau])
    if lowpass is not None:
        Y = np.moveaxis(lowpass.apply(np.moveaxis(Y, 0, -1), recording.step), -1, 0)
    kept = np.zeros(len(recording))
    kept[:: 1 if lowpass is None else lowpass.keep_every] = 1.0
    weight = recording.weight * kept[:, None] * (1.0 if valid is None else valid)
    expected = np.einsum("tnp,tn,tnq->pq", Y, weight, Y)
    assert np.abs(gram(info) - expected).max() < 1e-11 * np.abs(expected).max()
    assert info.rows == tuple(np.count_nonzero(weight, axis=0))


def test_weights_of_one_change_nothing(model, recording):
    plain = model.absorb([replace(recording, weight=None)])
    ones = model.absorb([replace(recording, weight=np.ones(recording.q.shape))])
    assert [np.array_equal(a, b) for a, b in zip(plain.factors, ones.factors, strict=True)] == [True, True]
    assert plain.rows == ones.rows


def test_weights_travel_with_their_samples_and_joints(recording):
    turned = recording.samples(10, 20).ordered(recording.joint_names[::-1])
    np.testing.assert_array_equal(turned.weight, recording.weight[10:20, ::-1])


@pytest.mark.parametrize("weight", [np.ones((900, 1)), -np.ones((900, 2)), np.full((900, 2), np.nan)])
def test_weights_that_cannot_be(recording, weight):
    with pytest.raises(DataError, match="weight"):
        replace(recording, weight=weight)
