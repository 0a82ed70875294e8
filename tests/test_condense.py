"""Long recordings thinned while they are read: the band of interest untouched, gaps kept, nothing made up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.data.excerpt import excerpt
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.preparation.condense import condense

STEP = 1e-3
JOINTS = ("a", "b")


def signal(t: np.ndarray, rates: tuple[float, float] = (1.0, 7.0)) -> np.ndarray:
    """One sine a joint, at these frequencies [Hz]."""
    return np.sin(2 * np.pi * np.outer(t, rates))


def recording(time: np.ndarray, breaks: tuple[int, ...] = (), rates: tuple[float, float] = (1.0, 7.0)) -> Trajectory:
    values = signal(time, rates)
    return Trajectory(time, JOINTS, q=values, dq=values, tau=values, breaks=breaks, source="s", name="long.csv")


def chunks(whole: Trajectory, rows: int) -> list[Trajectory]:
    return [whole.samples(k, min(k + rows, len(whole))) for k in range(0, len(whole), rows)]


def test_the_band_of_a_fit_passes_and_the_clock_is_one():
    """A zero-phase Butterworth of order 4 at 30 Hz takes (7/30)^8 = 9e-6 of 7 Hz."""
    whole = recording(np.arange(30_003) * STEP)
    thin = condense(chunks(whole, 4000))
    assert len(thin) == 3001
    assert thin.breaks == ()
    assert np.abs(np.diff(thin.time) - 0.01).max() < 1e-9
    inside = slice(50, -50)
    assert np.abs(thin.channel("tau")[inside] - signal(thin.time)[inside]).max() < 2e-5
    assert any("one of 10 samples kept" in step for step in thin.steps)


def test_chunks_do_not_matter():
    whole = recording(np.arange(20_000) * STEP)
    one, many = (condense(chunks(whole, rows)) for rows in (20_000, 3_700))
    assert np.abs(one.time - many.time).max() < 1e-9
    assert np.abs(one.channel("q") - many.channel("q"))[5:-5].max() < 1e-8


def test_what_would_alias_is_gone():
    """96 Hz read at 100 Hz would look like 4 Hz; the filter leaves (30/96)^8 = 1e-4 of it."""
    thin = condense(chunks(recording(np.arange(20_000) * STEP, rates=(96.0, 96.0)), 5000))
    assert np.abs(thin.channel("q")[50:-50]).max() < 2e-4


def test_gaps_stay_gaps():
    time = np.concatenate([np.arange(8_000), np.arange(8_500, 16_000)]) * STEP
    for rows in (15_500, 3_000, 8_000):  # the gap inside a chunk, and between two
        thin = condense([replace(c, breaks=()) for c in chunks(recording(time, breaks=(8_000,)), rows)])
        assert len(thin.breaks) == 1
        edge = thin.breaks[0]
        assert thin.time[edge - 1 : edge + 1] == pytest.approx([7.99, 8.5])
        inside = np.r_[50 : edge - 50, edge + 50 : len(thin) - 50]
        assert np.abs(thin.channel("q")[inside] - signal(thin.time)[inside]).max() < 2e-5


def test_an_irregular_clock_is_put_on_one_grid():
    """Linear interpolation at 1 ms of 7 Hz errs by (2 pi 7 1e-3)^2 / 8 = 2.4e-4."""
    rng = np.random.default_rng(0)
    time = (np.arange(20_000) + rng.uniform(-0.2, 0.2, 20_000)) * STEP
    thin = condense(chunks(recording(time), 4_500))
    assert np.ptp(np.diff(thin.time)) < 1e-9
    assert np.abs(thin.channel("q")[50:-50] - signal(thin.time)[50:-50]).max() < 6e-4


def test_slow_recordings_stay_as_they_are():
    whole = recording(np.arange(2_000) / 150.0)
    assert np.array_equal(condense(chunks(whole, 700)).channel("q"), whole.channel("q"))


def test_nothing_and_disorder_are_refused():
    with pytest.raises(DataError, match="no sample"):
        condense([])
    first, second = chunks(recording(np.arange(4_000) * STEP), 2_000)
    with pytest.raises(DataError, match="follow one another"):
        condense([second, first])


def test_an_excerpt_is_spread_and_knows_its_edges():
    whole = recording(np.concatenate([np.arange(50_000), np.arange(51_000, 101_000)]) * STEP, breaks=(50_000,))
    part = excerpt(whole, samples=40_000)
    assert len(part) == 40_000
    assert part.time[0] == 0.0
    assert part.time[-1] == whole.time[-1]
    assert part.breaks == (10_000, 20_000, 30_000)
    assert excerpt(part, samples=40_000) is part
