"""A recording in chunks says what it says whole."""

from itertools import pairwise

import numpy as np
import pytest

import steelyard as sy
from steelyard.estimate.least_squares import weighted
from steelyard.estimate.stream import absorb_stream
from steelyard.simulate.mujoco import simulate_run
from steelyard.simulate.robots import robot_file

TERMS = (sy.RigidBody(), sy.RotorInertia(), sy.Viscous(), sy.Coulomb(), sy.Offset())


@pytest.fixture(scope="module")
def bench():
    model = sy.Model(sy.Robot.from_urdf(robot_file("arm6.urdf")), TERMS)
    recording = simulate_run(robot_file("arm6.xml"), seed=2).trajectory
    return model, sy.base_parameters(model), recording


def chunks(recording, size):
    return (recording.samples(a, min(a + size, len(recording))) for a in range(0, len(recording), size))


def test_chunks_say_what_the_whole_says(bench):
    """The kept samples differ by where each chunk begins to count, so values agree to a fraction of a deviation."""
    model, basis, recording = bench
    whole = weighted(absorb_stream(model, [recording], names=basis.names, cutoff=5.5), basis=basis)
    parts = weighted(absorb_stream(model, chunks(recording, 3000), names=basis.names, cutoff=5.5), basis=basis)
    assert parts.information.samples == pytest.approx(whole.information.samples, abs=4)
    assert np.abs((parts.theta - whole.theta) / whole.deviation).max() < 1.0
    assert parts.deviation == pytest.approx(whole.deviation, rel=0.05)


def test_no_sample_counts_twice(bench):
    model, basis, recording = bench
    info = absorb_stream(model, chunks(recording, 2500), names=basis.names)
    stretches = sorted((s.start, s.stop) for s in info.sources)
    assert all(a[1] < b[0] for a, b in pairwise(stretches))


def test_chunks_out_of_order_are_refused(bench):
    model, basis, recording = bench
    with pytest.raises(sy.DataError, match="follow one another"):
        absorb_stream(model, [recording.samples(5000, 9000), recording.samples(0, 5000)], names=basis.names)


def test_nothing_is_refused(bench):
    with pytest.raises(sy.DataError, match="no sample"):
        absorb_stream(bench[0], [])
