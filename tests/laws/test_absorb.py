"""Absorbing: the same triangle however the samples are cut, ordered, blocked, threaded or filtered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pytest

import robots
import steelyard.model
from steelyard.basis import base_parameters
from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, InformationError, StudyError
from steelyard.estimate.least_squares import ordinary
from steelyard.information import triangle
from steelyard.model import Model
from steelyard.robot import reduction
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.term import Column
from steelyard.terms.viscous import Viscous

TERMS = (RigidBody(), RotorInertia(), Viscous(), Coulomb(), Offset())
# Factors of well-conditioned columns agree to rounding times the square root of thousands of rows, each to its column.
FACTOR = 1e-12


# three skew axes: every base column acts on every joint below it, so that the fast reduction can be taken
ELBOW = ("revolute 0,0,1 0,0,0.4 0,0,0", "revolute 0,1,0 0.1,0,0.2 0.3,0,0", "revolute 0.6,0,0.8 0.3,0,0.1 0,0.2,0")


@pytest.fixture(scope="module", params=["elbow", "rail"])
def model(request, tmp_path_factory):
    parts = robots.chain(ELBOW) if request.param == "elbow" else None
    robot = robots.load(tmp_path_factory.mktemp("robot"), request.param, parts, gravity=robots.TILTED)
    return Model(robot, TERMS)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """A recording of 3000 samples is a dozen blocks, of which all but the first can be reduced the fast way."""
    monkeypatch.setattr(steelyard.model, "BLOCK_SAMPLES", 256)


@pytest.fixture(scope="module")
def theta(model):
    return model.nominal + 0.1 * np.random.default_rng(4).normal(size=len(model.names))


@pytest.fixture(scope="module")
def recording(model, theta):
    """3000 random samples with noise; base columns of the rail are well conditioned on them."""
    motion = robots.states(model.robot.joint_names, 3000, seed=2)
    noise = np.random.default_rng(5).normal(size=motion.q.shape)
    return robots.with_torque(motion, model.torque(theta, motion) + 0.3 * noise)


@pytest.fixture(scope="module")
def names(model):
    return base_parameters(model).names


def dense_rows(model, trajectories, names=None):
    """For each joint its valid dense rows [Y | tau], (rows, p + 1)."""
    picked = [model.names.index(name) for name in (model.names if names is None else names)]
    joints = range(len(model.robot.joint_names))
    rows: list[list[np.ndarray]] = [[] for _ in joints]
    for trajectory in trajectories:
        ordered = trajectory.ordered(model.robot.joint_names)
        wide = np.dstack([model.regressor(ordered)[:, :, picked], ordered.tau])
        valid = np.ones(ordered.q.shape, dtype=bool) if ordered.valid is None else ordered.valid
        for j in joints:
            rows[j].append(wide[valid[:, j], j])
    return [np.vstack(parts) for parts in rows]


def assert_triangle(info, rows, tolerance=FACTOR):
    """The triangle of all joints is that of Householder QR of the dense rows, each column relative to its length.

    That of one joint need not be: a column may be zero in its rows, or depend on others there; its Gram is compared.
    """
    theirs = triangle(np.vstack(rows))
    length = np.linalg.norm(theirs, axis=0)
    np.testing.assert_allclose(info.stacked() / length, theirs / length, rtol=0, atol=tolerance)
    assert_grams(info, rows, tolerance)


def assert_grams(info, rows, tolerance=FACTOR):
    """Each joint's Gram against that of its dense rows, relative to the lengths of the two columns."""
    for j, dense in enumerate(rows):
        columns = [*info.support[j], len(info.names)]
        assert np.all(np.delete(dense, columns, axis=1) == 0.0)
        length = np.linalg.norm(dense, axis=0)
        length = np.where(length > 0.0, length, 1.0)
        ours = info.spread(j) / length
        assert np.abs(ours.T @ ours - (dense / length).T @ (dense / length)).max() < tolerance
        assert np.all(np.tril(info.factors[j], -1) == 0.0)
        assert np.all(np.diag(info.factors[j]) >= 0.0)


def grams_agree(one, other, tolerance):
    assert (one.names, one.joints, one.support, one.rows) == (other.names, other.joints, other.support, other.rows)
    for mine, theirs in zip(one.factors, other.factors, strict=True):
        length = np.linalg.norm(theirs, axis=0)
        length = np.where(length > 0, length, 1.0)
        difference = (mine.T @ mine - theirs.T @ theirs) / np.outer(length, length)
        assert np.abs(difference).max() < tolerance


def test_the_factor_is_that_of_householder_qr(model, recording, names):
    info = model.absorb([recording], names=names)
    assert_triangle(info, dense_rows(model, [recording], names))
    assert info.samples == 3000
    assert info.rows == (3000,) * 3
    assert {(s.start, s.stop) for s in info.sources} == {(recording.time[0], recording.time[-1])}


def test_all_ten_columns_a_body_though_they_depend_on_one_another(model, recording, names):
    """Where columns depend on others the triangle is not unique, its Gram is; and the base columns can be picked."""
    info = model.absorb([recording])
    rows = dense_rows(model, [recording])
    assert_grams(info, rows)
    picked = [*(model.names.index(name) for name in names), -1]
    assert_triangle(info.select(names), [dense[:, picked] for dense in rows], 1e-11)


@pytest.mark.parametrize("size", [64, 100, 1000, 5000])
def test_block_size_does_not_matter(model, recording, names, monkeypatch, size):
    whole = model.absorb([recording], names=names)
    monkeypatch.setattr(steelyard.model, "BLOCK_SAMPLES", size)
    blocked = model.absorb([recording], names=names)
    grams_agree(blocked, whole, FACTOR)
    assert blocked.sources == whole.sources


def test_chunks_and_their_order_do_not_matter(model, recording, names):
    edges = [0, 1, 70, 1500, 2900, 3000]
    chunks = [recording.samples(a, b) for a, b in pairwise(edges)]
    whole = model.absorb([recording], names=names)
    grams_agree(model.absorb(chunks, names=names), whole, FACTOR)
    grams_agree(model.absorb(chunks[::-1], names=names), whole, FACTOR)
    merged = model.absorb([chunks[3]], names=names)
    for k in (0, 4, 2, 1):
        merged = merged.merge(model.absorb([chunks[k]], names=names))
    grams_agree(merged, whole, FACTOR)
    assert merged.samples == whole.samples


def test_joint_order_of_the_recording_does_not_matter(model, recording, names):
    turned = recording.ordered(recording.joint_names[::-1])
    for mine, theirs in zip(
        model.absorb([turned], names=names).factors, model.absorb([recording], names=names).factors, strict=True
    ):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("lowpass", [None, LowPass(8.0, 3)])
def test_two_threads_give_what_one_gives(model, recording, names, lowpass):
    other = robots.with_torque(recording, recording.tau[::-1])
    one = model.absorb([recording, other], names=names, lowpass=lowpass)
    two = model.absorb([recording, other], names=names, lowpass=lowpass, threads=2)
    grams_agree(two, one, 1e-10)
    assert (two.samples, two.sources) == (one.samples, one.sources)
    assert np.abs(ordinary(two).theta - ordinary(one).theta).max() < 1e-10 * np.abs(ordinary(one).theta).max()


def test_the_same_input_gives_the_same_bytes(model, recording, names):
    again = [model.absorb([recording], names=names).stacked().tobytes() for _ in range(2)]
    assert again[0] == again[1]


@dataclass(frozen=True)
class Stretched:
    """Two columns on one joint: the same signal but for a part in `apart`, the second `size` times as large."""

    joint: str
    apart: float
    size: float

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        place = (robot.joint_names.index(self.joint),)
        return Column("first", "N m", place), Column("second", "N m", place)

    def block(self, robot: Robot, trajectory: Trajectory) -> np.ndarray:
        j = robot.joint_names.index(self.joint)
        a, b = np.cos(trajectory.channel("q")[:, j]), np.tanh(trajectory.channel("ddq")[:, j])
        return np.column_stack([a, self.size * (a + self.apart * b)])


HARD = {"scaled": (1.0, 1e8), "tiny": (1.0, 1e-8), "collinear": (1e-8, 1.0), "both": (1e-6, 1e6)}


@pytest.mark.parametrize("kind", HARD)
def test_ill_conditioned_columns(model, recording, names, kind):
    """At condition 1e8 a solution of QR is good to 1e-8 of each column's own effect; normal equations keep nothing."""
    hard = Model(model.robot, (*TERMS, Stretched(model.robot.joint_names[-1], *HARD[kind])))
    wanted = (*names, "first", "second")
    truth = np.random.default_rng(8).normal(size=len(wanted))
    motion = robots.states(model.robot.joint_names, 3000, seed=2)
    Y = hard.regressor(motion)[:, :, [hard.names.index(name) for name in wanted]]
    clean = robots.with_torque(motion, Y @ truth)
    info = hard.absorb([clean], names=wanted)
    tolerance = 1e-9 if kind in ("scaled", "tiny") else 1e-7
    length = np.linalg.norm(Y.reshape(-1, len(wanted)), axis=0)
    theta = ordinary(info).theta
    reference = np.linalg.lstsq(Y.reshape(-1, len(wanted)) / length, clean.tau.ravel(), rcond=None)[0] / length
    assert np.abs((theta - truth) * length).max() < tolerance * np.abs(truth * length).max()
    assert np.abs((theta - reference) * length).max() < tolerance * np.abs(truth * length).max()
    # dependent columns, here the noise-free torque, get a diagonal of 1e-12 of their length
    assert np.sqrt(info.misfit(truth).sum() / info.energy.sum()) < 2e-12


def test_normal_equations_lose_what_the_triangle_keeps(model, recording, names):
    hard = Model(model.robot, (*TERMS, Stretched(model.robot.joint_names[-1], 1e-8, 1.0)))
    wanted = (*names, "first", "second")
    truth = np.linspace(-1.0, 1.0, len(wanted))
    A = hard.regressor(recording)[:, :, [hard.names.index(name) for name in wanted]]
    info = hard.absorb([robots.with_torque(recording, A @ truth)], names=wanted)
    A = A.reshape(-1, len(wanted))
    ours = np.abs(ordinary(info).theta - truth).max()
    theirs = np.abs(np.linalg.lstsq(A.T @ A, A.T @ (A @ truth), rcond=None)[0] - truth).max()
    assert ours < 1e-6
    assert theirs > 1e-2


def still(recording, model, theta, rows):
    """The recording with its first samples at rest: nothing but gravity and offsets, no basis for a preconditioner."""
    q, dq, ddq = (np.array(x) for x in (recording.q, recording.dq, recording.ddq))
    q[:rows], dq[:rows], ddq[:rows] = q[0], 0.0, 0.0
    quiet = replace(recording, q=q, dq=dq, ddq=ddq, tau=None, source="")
    return robots.with_torque(quiet, model.torque(theta, quiet))


@pytest.mark.parametrize("rows", [10, 500, 2990])
def test_a_recording_that_starts_at_rest(model, recording, theta, names, rows):
    resting = still(recording, model, theta, rows)
    info = model.absorb([resting], names=names)
    assert_triangle(info, dense_rows(model, [resting], names), 1e-11)
    basis = base_parameters(model)
    expected = basis.regroup(theta)
    assert np.abs(ordinary(info, basis=basis).theta - expected).max() < 1e-9 * np.abs(expected).max()


def test_motion_that_grows_a_million_times(model, names):
    """A preconditioner from the first, tiny motion is useless for the last: it has to be renewed on the way."""
    motion = robots.states(model.robot.joint_names, 2048, seed=6)
    growth = np.geomspace(1e-6, 1.0, 2048)[:, None]
    wild = replace(motion, q=motion.q * growth, dq=motion.dq * growth, ddq=motion.ddq * growth, source="")
    wild = robots.with_torque(wild, np.random.default_rng(1).normal(size=motion.q.shape))
    assert_triangle(model.absorb([wild], names=names), dense_rows(model, [wild], names), 1e-11)


def test_masked_rows_count_for_nothing(model, recording, names):
    keep = np.random.default_rng(3).random(recording.q.shape) < 0.6
    keep[:, 1] &= np.arange(3000) > 400
    info = model.absorb([replace(recording, valid=keep)], names=names)
    assert info.rows == tuple(keep.sum(axis=0))
    assert_triangle(info, dense_rows(model, [replace(recording, valid=keep)], names))
    # what stands in a masked row cannot matter
    noise = np.where(keep, recording.tau, 1e6)
    other = replace(recording, valid=keep, tau=noise)
    for mine, theirs in zip(model.absorb([other], names=names).factors, info.factors, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_a_joint_masked_throughout(model, recording, names):
    keep = np.ones(recording.q.shape, dtype=bool)
    keep[:, 1] = False
    info = model.absorb([replace(recording, valid=keep)], names=names)
    assert info.rows == (3000, 0, 3000)
    assert np.all(info.factors[1] == 0.0)
    for j in (0, 2):
        np.testing.assert_allclose(info.factors[j], model.absorb([recording], names=names).factors[j], atol=1e-9)


def test_torque_that_is_zero_throughout(model, recording, names):
    info = model.absorb([robots.with_torque(recording, np.zeros_like(recording.tau))], names=names)
    assert np.all(info.energy == 0.0)
    assert np.all(ordinary(info).theta == 0.0)


def test_most_of_a_recording_takes_the_fast_way(model, recording, names, monkeypatch):
    """One block by Householder QR, the others as Gram matrices: the whole point of the preconditioner."""
    calls = []
    original = reduction._householder
    monkeypatch.setattr(reduction, "_householder", lambda *given: (calls.append(1), original(*given)))
    model.absorb([recording], names=names)
    assert len(calls) == 1


@pytest.fixture(scope="module")
def smooth(model, theta):
    """20 s at 100 Hz of slow sines: a filter has something to keep."""
    time = 0.01 * np.arange(2000)
    rng = np.random.default_rng(7)
    phase, rate = rng.uniform(0, 6, (2, 3, 4))
    angle = time[:, None, None] * (0.5 + rate) + phase
    motion = Trajectory(
        time=time, joint_names=model.robot.joint_names, q=np.sin(angle).sum(axis=2),
        dq=(np.cos(angle) * (0.5 + rate)).sum(axis=2), ddq=-(np.sin(angle) * (0.5 + rate) ** 2).sum(axis=2),
    )  # fmt: skip
    return robots.with_torque(motion, model.torque(theta, motion))


@pytest.mark.parametrize("lowpass", [LowPass(2.0), LowPass(5.0, 4), LowPass(20.0, 2), LowPass(80.0, 7)])
def test_filtering_both_sides_changes_no_parameter(model, smooth, theta, lowpass):
    """`F tau = (F Y) theta` for every linear filter: exact without noise, Coulomb steps and all."""
    info = model.absorb([smooth], lowpass=lowpass)
    assert info.samples == -(-len(smooth) // lowpass.keep_every)
    assert np.sqrt(info.misfit(theta).sum() / info.energy.sum()) < 1e-9  # where windows meet: SETTLE
    basis = base_parameters(model)
    estimate = ordinary(model.absorb([smooth], names=basis.names, lowpass=lowpass), basis=basis)
    expected = basis.regroup(theta)
    assert np.abs(estimate.theta - expected).max() < 1e-9 * np.abs(expected).max()


def test_filtered_lines_are_the_filtered_dense_regressor(model, smooth, names, monkeypatch):
    monkeypatch.setattr(steelyard.model, "BLOCK_SAMPLES", 8192)
    lowpass = LowPass(5.0, 4)
    picked = [model.names.index(name) for name in names]
    wide = np.dstack([model.regressor(smooth)[:, :, picked], smooth.tau])
    keep = np.random.default_rng(1).random(smooth.q.shape) < 0.5
    filtered = np.moveaxis(lowpass.apply(np.moveaxis(wide, 0, 2), smooth.step), 2, 0)[::4]
    info = model.absorb([replace(smooth, valid=keep)], names=names, lowpass=lowpass)
    assert_triangle(info, [filtered[keep[::4, j], j] for j in range(3)], 1e-11)


def test_windows_of_a_filter_meet_without_a_seam(model, smooth, names, monkeypatch):
    """Windows overlap by the settling time, after which the filter's response has fallen below 1e-8."""
    whole = model.absorb([smooth], names=names, lowpass=LowPass(5.0, 4))
    monkeypatch.setattr(steelyard.model, "BLOCK_SAMPLES", 300)
    cut = model.absorb([smooth], names=names, lowpass=LowPass(5.0, 4))
    assert cut.samples == whole.samples
    grams_agree(cut, whole, 1e-8)


def test_a_filter_does_not_reach_across_a_gap(model, smooth, names):
    """Two runs as one recording with a break are the two runs, filtered apart."""
    time = np.concatenate([smooth.time[:900], smooth.time[900:] + 50.0])
    joined = replace(smooth, time=time, breaks=(900,), source="joined")
    apart = [replace(smooth.samples(*ends), source=f"run {ends}") for ends in ((0, 900), (900, 2000))]
    lowpass = LowPass(5.0, 4)
    one, two = (model.absorb(list(given), names=names, lowpass=lowpass) for given in ([joined], apart))
    assert one.samples == two.samples
    grams_agree(one, two, FACTOR)


def test_the_same_samples_are_not_absorbed_twice(model, recording, names):
    with pytest.raises((DataError, InformationError), match="twice"):
        model.absorb([recording, recording.interval(3.0, 4.0)], names=names)
    with pytest.raises(InformationError, match="twice"):
        model.absorb([recording], names=names).merge(model.absorb([recording.samples(2999, 3000)], names=names))


def test_the_time_between_two_stretches_can_still_be_absorbed(model, recording, names):
    ends = model.absorb([recording.interval(0, 5), recording.interval(20, 25)], names=names)
    middle = model.absorb([recording.interval(10, 15)], names=names)
    assert ends.merge(middle).samples == ends.samples + middle.samples


def test_two_runs_in_one_file_whose_clocks_both_start_at_zero_are_refused(model, smooth, names):
    """Stretches are known by their stamps: two with the same stamps cannot be told from one given twice."""
    time = np.concatenate([smooth.time[:1000], smooth.time[:1000]])
    with pytest.raises(InformationError, match="given twice"):
        model.absorb([replace(smooth, time=time, breaks=(1000,), source="two runs").samples(0, 1000)] * 2, names=names)


def test_a_recording_without_what_the_model_needs_is_refused_by_name(model, recording):
    with pytest.raises(DataError, match="no ddq") as caught:
        model.absorb([replace(recording, ddq=None)])
    assert "prepare" in caught.value.cure
    with pytest.raises(DataError, match="lacks a joint") as caught:
        model.absorb([recording.ordered(recording.joint_names[:2])])
    assert caught.value.value == recording.joint_names[2]


@pytest.mark.parametrize("threads", [0, -1, 1.5, None])
def test_a_number_of_threads_that_is_none_is_refused(model, threads):
    with pytest.raises(StudyError, match="threads are counted"):
        model.absorb([], threads=threads)


def test_one_recording_comes_in_a_list_too(model):
    alone = Trajectory(np.arange(3.0), model.robot.joint_names)
    with pytest.raises(DataError, match="come as a list"):
        model.absorb(alone)
