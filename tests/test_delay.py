"""A late torque makes friction of what is none; reading it later, by one value for all runs, undoes that."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from steelyard.assess.delay import DelayEstimate
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.estimate.least_squares import ordinary
from steelyard.model import Model
from steelyard.preparation.delay import common_delay, compensate_delay
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.viscous import Viscous

INERTIA, VISCOUS, COULOMB = 1.0, 0.5, 0.8
STEP = 1e-3


def motion(late: float, *, seed: int = 0) -> Trajectory:
    """One joint that swings at 0.5 and 1.5 Hz for 10 s; its torque is `late` [s] old."""
    t = STEP * np.arange(10_000)
    rng = np.random.default_rng(seed)
    phase = rng.uniform(0.0, 2.0 * np.pi, 2) if seed else np.zeros(2)

    def channels(t):
        rate = 2 * np.pi * np.array([0.5, 1.5])
        size = np.array([1.0, 0.5])
        angle = np.multiply.outer(t, rate) + phase
        return [size * f(angle) @ rate**k for k, f in enumerate((np.sin, np.cos))] + [-size * np.sin(angle) @ rate**2]

    q, dq, ddq = channels(t)
    _, before, change = channels(t - late)
    tau = INERTIA * change + VISCOUS * before + COULOMB * np.sign(before)
    columns = (x[:, None] for x in (q, dq, ddq, tau))
    return Trajectory(t, ("a",), *columns, name=f"run {seed}")


def friction(recording: Trajectory) -> tuple[float, float]:
    model = Model(Robot.from_joints(["a"]), (RotorInertia(), Viscous(), Coulomb()))
    found = ordinary(model.absorb([recording]))
    return found.value("actuator/a/viscous_friction"), found.value("actuator/a/coulomb_friction")


def test_a_millisecond_is_a_tenth_of_the_friction():
    """fv and fc grow by 9 and 12 % with 1 ms, fc is more than twice itself with 10 ms."""
    assert friction(motion(0.0)) == pytest.approx((VISCOUS, COULOMB), rel=1e-9)
    one, ten = friction(motion(0.001)), friction(motion(0.010))
    assert one[0] / VISCOUS == pytest.approx(1.09, abs=0.06)
    assert one[1] / COULOMB == pytest.approx(1.11, abs=0.04)
    assert ten[1] / COULOMB == pytest.approx(2.1, abs=0.25)


@pytest.mark.parametrize("late", [0.001, 0.0053, 0.010, -0.004])
def test_compensation_gives_the_friction_back(late):
    """Between samples the spline is good to 1e-6; at each reversal a sample is on the wrong side: 6e-3."""
    train, unseen = compensate_delay([motion(late), motion(late, seed=1)], late)
    for run in (train, unseen):
        assert friction(run) == pytest.approx((VISCOUS, COULOMB), rel=8e-3)
        kept = run.valid[:, 0]
        assert len(kept) - kept.sum() == pytest.approx(abs(late) / STEP, abs=1.1)
        assert (kept[-1], kept[0]) == (late < 0, late > 0)
    assert f"tau read {1e3 * abs(late):.4g} ms" in train.steps[-1]


def test_no_reading_across_a_gap():
    run = replace(motion(0.005), breaks=(4000,))
    (later,) = compensate_delay([run], 0.005)
    assert np.flatnonzero(~later.valid[:, 0]).tolist() == [*range(3995, 4000), *range(9995, 10_000)]


def test_masks_stay():
    valid = np.ones((10_000, 1), dtype=bool)
    valid[100:200] = False
    (later,) = compensate_delay([replace(motion(0.0), valid=valid)], 0.002)
    assert not later.valid[100:200].any()


@pytest.mark.parametrize("delay", [np.nan, np.inf, 5.0, -0.6])
def test_a_delay_that_cannot_be(delay):
    with pytest.raises(StudyError, match="delay"):
        compensate_delay([motion(0.0)], delay)


def test_no_torque():
    with pytest.raises(DataError, match="tau"):
        compensate_delay([Trajectory(motion(0.0).time, ("a",), q=motion(0.0).q)], 0.001)


def estimate(delay, deviation):
    return DelayEstimate(delay, deviation, delay, np.array([delay]))


def test_one_delay_for_all_runs():
    delay, deviation, findings = common_delay([estimate(0.0050, 1e-4), estimate(0.0053, 2e-4)])
    assert delay == pytest.approx(0.00506)
    assert deviation == pytest.approx(1e-4 / np.sqrt(1.25))
    assert findings == ()


def test_runs_that_disagree_are_named():
    delay, deviation, (finding,) = common_delay([estimate(0.005, 1e-4), estimate(0.005, 1e-4), estimate(0.008, 1e-4)])
    assert finding.code == "data.delay_varies"
    assert "run 3" in finding.message
    assert deviation > 5e-4
    assert 0.005 < delay < 0.008
    with pytest.raises(DataError, match="no run"):
        common_delay([])
