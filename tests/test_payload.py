"""Payloads: as sure as they say, static and dynamic, and exact where nothing is random.

A part of 1.27 kg on the flange of a Panda (fingers held); noise, friction and poses are drawn with stated seeds.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import robots
from steelyard.basis import base_parameters
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, InformationError, ModelError, StudyError
from steelyard.estimate.drive_gain import drive_gains
from steelyard.estimate.dynamic_payload import difference, residual
from steelyard.estimate.least_squares import weighted
from steelyard.estimate.payload import Payload
from steelyard.estimate.payload_of_runs import payload_of_runs
from steelyard.estimate.static_payload import static_payload, with_sides
from steelyard.estimate.training import Recording
from steelyard.model import Model
from steelyard.robot.inertia import parameters_about_origin, tensor
from steelyard.robot.robot import Robot
from steelyard.robot.tool import frame, with_tool
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous

MASS, CENTRE = 1.27, np.array([0.01, -0.02, 0.06])
TRUE = parameters_about_origin(MASS, CENTRE, np.diag([2e-3, 2.5e-3, 1.5e-3]))
FLANGE = "panda_link8"
STICTION = np.array([0.7, 0.7, 0.6, 0.6, 0.4, 0.35, 0.3])  # [N m]


@pytest.fixture(scope="module")
def bare(example_robots):
    robot = Robot.from_urdf(example_robots / "panda_description" / "urdf" / "panda.urdf")
    return Model(robot.locked(["panda_finger_joint1"]), (RigidBody(), Viscous(), Coulomb(), Offset()))


@pytest.fixture(scope="module")
def carrying(bare):
    return Model(with_tool(bare.robot, "part", TRUE, link=FLANGE), bare.terms)


@pytest.fixture(scope="module")
def basis(bare):
    return base_parameters(bare)


def poses(carrying, count, *, seed, noise, friction=None, both=True):
    """Torques at rest in random poses, each from both sides or from a random one; (Trajectory, sides)."""
    rng = np.random.default_rng(seed)
    robot = carrying.robot
    q = rng.uniform(0.8 * robot.lower, 0.8 * robot.upper, (count, 7))
    sides = np.where(rng.random((count, 7)) < 0.5, -1.0, 1.0)
    if both:
        q, sides = np.repeat(q, 2, axis=0), np.tile([[1.0] * 7, [-1.0] * 7], (count, 1))
    still = Trajectory(
        time=np.arange(len(q)), joint_names=robot.joint_names, q=q, dq=np.zeros_like(q), ddq=np.zeros_like(q)
    )
    tau = carrying.torque(carrying.nominal, still) + noise * rng.normal(size=q.shape)
    if friction is not None:
        tau = tau + sides * friction * rng.uniform(0.8, 1.0, q.shape)
    return Trajectory(time=np.arange(len(q)), joint_names=robot.joint_names, q=q, tau=tau), sides


def motion(model, *, seed, rate=50.0, duration=10.0):
    """Five harmonics of 0.2 Hz within 80 % of the position limits, sampled at `rate` [Hz]."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(rate * duration)) / rate
    w = 2.0 * np.pi * 0.2 * np.arange(1, 6)
    sine, cosine = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    a, b = rng.normal(size=(2, 5, 7)) / np.arange(1, 6)[:, None]
    q = sine @ a + cosine @ b
    scale = 0.4 * (model.robot.upper - model.robot.lower) / np.abs(q).max(axis=0)
    middle = 0.5 * (model.robot.upper + model.robot.lower)
    return Trajectory(
        time=t,
        joint_names=model.robot.joint_names,
        q=middle + scale * q,
        dq=scale * (cosine @ (a * w[:, None]) - sine @ (b * w[:, None])),
        ddq=-scale * (sine @ (a * w[:, None] ** 2) + cosine @ (b * w[:, None] ** 2)),
    )


def run(model, basis, path, *, seed, noise=0.3, gain=1.0, label="run"):
    """Information of a run with white noise, recorded with a wrong torque scale."""
    tau = model.torque(model.nominal, path) + noise * np.random.default_rng(seed).normal(size=path.q.shape)
    return model.absorb([replace(path, tau=tau / gain, name=label, source=f"{label} {seed}")], names=basis.names)


def noisy(info, noise, *, seed):
    """What absorbing white noise on top of an exact run gives, drawn at the triangle: the same distribution, sooner.

    With W = Q R the noise e adds Q'e to the torque column, Gaussian, and the rest of e to its last entry, chi-square.
    """
    rng = np.random.default_rng(seed)
    factors = []
    for factor, rows in zip(info.factors, info.rows, strict=True):
        own = factor.copy()
        known = len(own) - 1
        own[:known, -1] += noise * rng.normal(size=known)
        own[known, -1] = noise * np.sqrt(rng.chisquare(rows - known))
        factors.append(own)
    return replace(info, factors=tuple(factors), sources=frozenset())


def covered(interval, value):
    low, high = interval
    return low <= value <= high


# --- at rest


def test_eight_poses_weigh_to_a_gram_without_stiction(bare, carrying):
    """Noise of 0.02 N m on each mean: 0.9 g rms over 60 draws, and the intervals hold it 98 % of the time."""
    found = [static_payload(bare, poses(carrying, 8, seed=s, noise=0.02)[0], theta=bare.nominal) for s in range(60)]
    error = np.array([p.mass - MASS for p in found])
    assert np.sqrt(np.mean(error**2)) <= 1.3e-3
    assert np.median(np.abs(error)) <= 1e-3
    assert 0.88 <= np.mean([covered(p.mass_interval(), MASS) for p in found]) <= 1.0
    centre = np.array([p.centre - CENTRE for p in found])
    assert np.sqrt(np.mean(centre**2)) <= 1e-3  # [m]
    assert found[0].unobservable == ("inertia",)
    unseen = np.array([list(p.held_out.values()) for p in found])
    assert np.sqrt(np.mean(unseen**2)) == pytest.approx(0.02, rel=0.1)  # of a visit
    assert found[0].frame == FLANGE
    assert found[0].findings == ()


def test_stiction_costs_tens_of_grams_and_both_sides_take_it_away(bare, carrying):
    """E60. One side: 34 g rms; both sides, averaged or with the side known: 1.9 g; offsets fitted instead: 45 g."""
    errors = {"one side": [], "both sides": [], "sides known": [], "offsets": []}
    held = {name: [] for name in errors}
    for seed in range(40):
        one, _ = poses(carrying, 8, seed=seed, noise=0.02, friction=STICTION, both=False)
        two, sides = poses(carrying, 8, seed=seed, noise=0.02, friction=STICTION)
        found = {
            "one side": static_payload(bare, one),
            "both sides": static_payload(bare, two),
            "sides known": static_payload(bare, with_sides(two, sides)),
            "offsets": static_payload(bare, one, offsets=True),
        }
        for name, payload in found.items():
            errors[name].append(payload.mass - MASS)
            held[name].append(covered(payload.mass_interval(), MASS))
    rms = {name: float(np.sqrt(np.mean(np.square(e)))) for name, e in errors.items()}
    assert rms["one side"] > 0.02
    assert rms["both sides"] <= 0.005
    assert rms["sides known"] <= 0.005
    assert rms["offsets"] > 1.1 * rms["one side"]  # an offset a joint makes it worse
    assert min(np.mean(h) for h in held.values()) >= 0.85
    one, _ = poses(carrying, 8, seed=0, noise=0.02, friction=STICTION, both=False)
    assert [f.code for f in static_payload(bare, one).findings] == ["payload.one_sided"]


def test_offsets_are_fitted_where_the_data_ask_for_them(bare, carrying):
    """0.05 to 0.4 N m on every joint: 35 g of error as the gravity of the payload, 2.5 g beside it."""
    offset = np.array([0.3, -0.4, 0.3, 0.2, -0.1, 0.1, -0.05])
    errors, without = [], []
    for seed in range(20):
        two, sides = poses(carrying, 8, seed=seed, noise=0.02, friction=STICTION)
        two = with_sides(replace(two, tau=two.tau + offset, source=""), sides)
        found = static_payload(bare, two)
        assert "payload.offsets_fitted" in {f.code for f in found.findings}
        errors.append(found.mass - MASS)
        without.append(static_payload(bare, two, offsets=False).mass - MASS)
    assert np.sqrt(np.mean(np.square(errors))) <= 0.005
    assert np.sqrt(np.mean(np.square(without))) > 0.02
    one, _ = poses(carrying, 8, seed=0, noise=0.02, friction=STICTION, both=False)
    one = replace(one, tau=one.tau + offset, source="")
    assert "payload.offsets_fitted" not in {f.code for f in static_payload(bare, one).findings}


def test_too_few_poses_name_what_they_do_not_show(bare, carrying):
    """One pose has rank 3, two have rank 4: the moment of a force along gravity does not show in one."""
    for count, rank in ((1, 3), (2, 4), (3, 4)):
        at, _ = poses(carrying, count, seed=1, noise=0.02)
        payload = static_payload(bare, at)
        assert 10 - payload.lost.shape[1] == rank
        assert covered(payload.mass_interval(), MASS)
        assert payload.unobservable[-1] == "inertia"
        if count == 1:
            assert payload.unobservable[0].startswith("first moment along (")
            assert payload.as_dict()["center_of_mass_m"] == [None, None, None]
            still = Trajectory(
                time=[0.0], joint_names=at.joint_names, q=at.q[:1], dq=np.zeros((1, 7)), ddq=np.zeros((1, 7))
            )
            hidden = bare.regressor(still) @ _columns(bare) @ payload.lost[:, 0]
            assert np.abs(hidden).max() < 1e-8
        else:
            assert len(payload.unobservable) == 1
            assert np.isfinite(payload.centre).all()


def _columns(model):
    from steelyard.estimate.payload_fit import payload_columns

    return payload_columns(model, frame(model.robot, FLANGE))


def test_the_same_poses_without_payload_need_no_body_model(bare, carrying):
    wrong = 0.8 * bare.nominal  # not used when unloaded poses are given
    loaded, _ = poses(carrying, 8, seed=3, noise=0.02)
    unloaded, _ = poses(bare, 8, seed=3, noise=0.02)
    shuffled = np.random.default_rng(0).permutation(len(unloaded))
    unloaded = replace(unloaded, q=unloaded.q[shuffled], tau=unloaded.tau[shuffled], source="")
    payload = static_payload(bare, loaded, unloaded=unloaded, theta=wrong)
    assert payload.mass == pytest.approx(MASS, abs=5e-3)
    assert abs(static_payload(bare, loaded, theta=wrong).mass - MASS) > 0.1
    elsewhere, _ = poses(bare, 8, seed=4, noise=0.02)
    with pytest.raises(DataError, match="not visited without payload"):
        static_payload(bare, loaded, unloaded=elsewhere)


# --- in motion


def test_no_noise_no_error(bare, carrying, basis):
    path = motion(bare, seed=0)
    loaded = run(carrying, basis, path, seed=0, noise=0.0)
    unloaded = run(bare, basis, motion(bare, seed=1), seed=1, noise=0.0)
    for payload in (
        residual(bare, basis, basis.regroup(bare.nominal), [loaded]),
        difference(bare, basis, [unloaded], [loaded]),
        difference(bare, basis, [unloaded], [loaded], same_friction=True),
    ):
        np.testing.assert_allclose(payload.parameters, TRUE, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(payload.inertia, tensor(TRUE[4:]), atol=1e-10)
        np.testing.assert_allclose(payload.inertia_about_centre, np.diag([2e-3, 2.5e-3, 1.5e-3]), atol=1e-9)
        assert payload.unobservable == ()
        assert payload.possible


def test_intervals_of_ten_seconds_hold_as_often_as_they_say(bare, carrying, basis):
    """400 runs of 10 s at 50 Hz with 0.3 N m of noise: 93.8 % for the mass, whose deviation is 1.1 g."""
    exact = run(carrying, basis, motion(bare, seed=0), seed=0, noise=0.0)
    base = basis.regroup(bare.nominal)
    found = [residual(bare, basis, base, [noisy(exact, 0.3, seed=s)], same_friction=True) for s in range(400)]
    share = np.mean([covered(p.mass_interval(), MASS) for p in found])
    assert 0.93 <= share <= 0.97
    inside = [(p.interval()[:, 0] <= TRUE) & (p.interval()[:, 1] >= TRUE) for p in found]
    assert 0.93 <= np.mean(inside) <= 0.97
    centres = [(p.centre_interval()[:, 0] <= CENTRE) & (p.centre_interval()[:, 1] >= CENTRE) for p in found]
    assert 0.93 <= np.mean(centres) <= 0.97
    spread = np.std([p.mass for p in found])
    assert spread == pytest.approx(np.sqrt(found[0].covariance[0, 0]), rel=0.15)
    assert spread <= 3e-3


def test_the_difference_of_two_runs_holds_as_well(bare, carrying, basis):
    loaded = run(carrying, basis, motion(bare, seed=0), seed=0, noise=0.0)
    unloaded = run(bare, basis, motion(bare, seed=3), seed=0, noise=0.0)
    found = [
        difference(bare, basis, [noisy(unloaded, 0.3, seed=1000 + s)], [noisy(loaded, 0.3, seed=s)]) for s in range(20)
    ]
    inside = [(p.interval()[:, 0] <= TRUE) & (p.interval()[:, 1] >= TRUE) for p in found]
    assert np.mean(inside) >= 0.9  # of 200 intervals, ten each sharing a run
    assert np.std([p.mass for p in found]) < 4e-3


def test_friction_may_change_with_the_load(bare, carrying, basis):
    """Coulomb friction grows by 0.5 N m under load: fitted apart it leaves the payload alone, else it spoils it."""
    heavier = carrying.nominal
    heavier[[name.endswith("/coulomb_friction") for name in carrying.names]] += 0.5
    path = motion(bare, seed=0)
    tau = carrying.torque(heavier, path) + 0.05 * np.random.default_rng(0).normal(size=path.q.shape)
    loaded = carrying.absorb([replace(path, tau=tau, source="heavier")], names=basis.names)
    unloaded = run(bare, basis, motion(bare, seed=3), seed=9, noise=0.05)
    apart = difference(bare, basis, [unloaded], [loaded])
    alike = difference(bare, basis, [unloaded], [loaded], same_friction=True)
    assert abs(apart.mass - MASS) < 2e-3
    assert abs(alike.mass - MASS) > 5.0 * abs(apart.mass - MASS)


@pytest.mark.parametrize("kind", ["all alike", "each its own"])
def test_a_wrong_torque_scale_is_in_the_interval(bare, carrying, basis, kind):
    """Scales off by up to 10 %: without the uncertainty the interval is a lie, with it it holds."""
    exact = [run(carrying, basis, motion(bare, seed=0), seed=0, noise=0.0)]
    exact.append(run(bare, basis, motion(bare, seed=3), seed=0, noise=0.0))
    claims, honest, centred = [], [], []
    for seed in range(8):
        gain = 1.0 + np.random.default_rng(seed).uniform(-0.1, 0.1, 1 if kind == "all alike" else 7) * np.ones(7)
        loaded, unloaded = (
            replace(
                info,
                factors=tuple(
                    f @ np.diag([*np.ones(len(f) - 1), 1.0 / g]) for f, g in zip(info.factors, gain, strict=True)
                ),
            )
            for info in (noisy(exact[0], 0.3, seed=seed), noisy(exact[1], 0.3, seed=1000 + seed))
        )
        honest.append(difference(bare, basis, [unloaded], [loaded], gain_uncertainty=0.1))
        claims.append(replace(honest[-1], gain_uncertainty=0.0))
        centred.append(honest[-1].centre_interval())
    assert np.mean([covered(p.mass_interval(), MASS) for p in claims]) < 0.5
    assert np.mean([covered(p.mass_interval(), MASS) for p in honest]) == 1.0
    inside = [(box[:, 0] <= CENTRE) & (box[:, 1] >= CENTRE) for box in centred]
    assert np.mean(inside) >= 0.9


def test_against_cad_values_a_wrong_scale_counts_in_full(bare, carrying, basis):
    """2 % of the torque of the whole arm, not of the payload's."""
    loaded = run(carrying, basis, motion(bare, seed=0), seed=0, gain=1.02)
    base = basis.regroup(bare.nominal)
    same = residual(bare, basis, base, [loaded], gain_uncertainty=0.02)
    apart = residual(bare, basis, base, [loaded], gain_uncertainty=0.02, same_scale=False)
    assert not covered(same.mass_interval(), MASS)
    assert covered(apart.mass_interval(), MASS)


def test_the_doubt_about_an_identified_robot_is_in_the_interval(bare, carrying, basis):
    """40 runs against a body identified from one as long: taken for exact it is right 75 % of the time."""
    loaded = run(carrying, basis, motion(bare, seed=0), seed=0, noise=0.0)
    unloaded = run(bare, basis, motion(bare, seed=3), seed=0, noise=0.0)
    exact, honest = [], []
    for seed in range(40):
        body = weighted(noisy(unloaded, 0.3, seed=500 + seed), basis=basis)
        one = [noisy(loaded, 0.3, seed=seed)]
        for doubt, kept in ((None, exact), (body.covariance, honest)):
            found = residual(bare, basis, body.theta, one, doubt=doubt)
            kept.append((found.interval()[:, 0] <= TRUE) & (found.interval()[:, 1] >= TRUE))
    assert np.mean(exact) < 0.85
    assert np.mean(honest) >= 0.93


def test_stretches_of_a_run_allow_for_correlated_noise(bare, carrying, basis):
    """Noise that is the same for ten samples is one sample: deviations grow by about the root of ten."""
    rng = np.random.default_rng(5)
    path = motion(bare, seed=0, rate=100.0)
    noise = np.repeat(0.3 * rng.normal(size=(len(path) // 10, 7)), 10, axis=0)
    tau = carrying.torque(carrying.nominal, path) + noise
    whole = replace(path, tau=tau, source="coloured")
    blocks = [carrying.absorb([whole.samples(k, k + 100)], names=basis.names) for k in range(0, len(path), 100)]
    base = basis.regroup(bare.nominal)
    naive = residual(bare, basis, base, [carrying.absorb([whole], names=basis.names)])
    knowing = residual(bare, basis, base, blocks)
    assert knowing.mass == pytest.approx(naive.mass, abs=1e-9)
    growth = np.sqrt(knowing.covariance[0, 0] / naive.covariance[0, 0])
    assert 2.0 < growth < 5.0


def test_a_joint_alone_does_not_show_everything(tmp_path):
    """One joint about the vertical: of ten parameters only the inertia about it and the first moments' share."""
    robot = robots.load(tmp_path, "tooled").locked(["pitch"])
    model = Model(robot, (RigidBody(),))
    basis = base_parameters(model)
    path = robots.states(robot.joint_names, 200, seed=1)
    loaded = model.absorb([robots.with_torque(path, model.torque(model.nominal, path) + 0.1)], names=basis.names)
    payload = residual(model, basis, basis.regroup(model.nominal), [loaded], link="upper")
    assert payload.lost.shape[1] == 9
    assert "mass" in payload.unobservable
    assert np.isnan(payload.mass)
    plain = payload.as_dict()
    assert plain["mass_kg"] is None
    assert plain["mass_interval_kg"] == [None, None]


# --- known part


def test_drive_gains_from_a_known_part(bare, carrying, basis):
    """Gains of 0.8 to 1.2 come back within 1 %, inside their intervals; the last joint, hardly loaded, in 5 %."""
    gain = np.array([0.9, 1.1, 1.05, 0.95, 1.2, 0.8, 1.0])
    unloaded = run(bare, basis, motion(bare, seed=3), seed=1, noise=0.1, gain=gain)
    loaded = run(carrying, basis, motion(bare, seed=0), seed=2, noise=0.1, gain=gain)
    found = drive_gains(bare, basis, [unloaded], [loaded], TRUE, link=FLANGE)
    np.testing.assert_allclose(found.gain[:6], gain[:6], rtol=0.01)
    assert found.gain[6] == pytest.approx(1.0, rel=0.05)
    assert np.sum((found.interval[:, 0] <= gain) & (gain <= found.interval[:, 1])) >= 6
    assert found.findings == ()


def test_a_gain_that_does_not_show_is_said(bare, carrying, basis):
    still = motion(bare, seed=0)
    held = replace(still, q=np.tile(still.q[:1], (len(still), 1)), dq=0 * still.q, ddq=0 * still.q, source="")
    unloaded = run(bare, basis, held, seed=1, label="bare")
    loaded = run(carrying, basis, held, seed=2, label="loaded")
    found = drive_gains(bare, basis, [unloaded], [loaded], TRUE, link=FLANGE)
    assert "panda_joint1" in {f.where for f in found.findings}  # vertical: no gravity
    assert np.isnan(found.gain[0])
    assert np.isinf(found.interval[0]).all()


# --- words and refusals


def test_plain_values_for_the_command_line(bare, carrying, basis):
    payload = residual(bare, basis, basis.regroup(bare.nominal), [run(carrying, basis, motion(bare, seed=0), seed=0)])
    plain = payload.as_dict()
    assert set(plain) == {
        "mass_kg", "mass_interval_kg", "center_of_mass_m", "center_of_mass_interval_m", "inertia_kg_m2",
        "inertia_interval_kg_m2", "inertia_about_center_of_mass_kg_m2", "frame", "method", "gain_uncertainty",
        "rms_per_joint", "held_out_rms_per_joint", "unobservable", "findings",
    }  # fmt: skip
    assert all(value == pytest.approx(0.3, rel=0.2) for value in plain["rms_per_joint"].values())
    np.testing.assert_allclose(plain["inertia_kg_m2"], np.mean(plain["inertia_interval_kg_m2"], axis=2), rtol=1e-12)
    assert plain["mass_interval_kg"][0] < plain["mass_kg"] < plain["mass_interval_kg"][1]
    assert np.shape(plain["inertia_kg_m2"]) == (3, 3)
    assert np.shape(plain["center_of_mass_interval_m"]) == (3, 2)
    assert plain["frame"] == FLANGE


def test_no_payload_is_said(bare, basis):
    payload = residual(bare, basis, basis.regroup(bare.nominal), [run(bare, basis, motion(bare, seed=0), seed=0)])
    assert "payload.not_seen" in {f.code for f in payload.findings}
    assert covered(payload.mass_interval(), 0.0)


def test_a_negative_mass_is_an_error_and_has_no_centre(bare, carrying, basis):
    """The files the wrong way round."""
    loaded = run(carrying, basis, motion(bare, seed=0), seed=0)
    unloaded = run(bare, basis, motion(bare, seed=3), seed=1)
    found = difference(bare, basis, [loaded], [unloaded])
    assert found.mass == pytest.approx(-MASS, abs=0.02)
    assert [(f.code, f.level) for f in found.findings] == [("payload.negative_mass", "error")]
    assert np.isnan(found.centre).all()
    assert found.as_dict()["center_of_mass_interval_m"] == [[None, None]] * 3


def test_requests_that_make_no_sense_are_refused(bare, carrying, basis):
    loaded = run(carrying, basis, motion(bare, seed=0), seed=0)
    base = basis.regroup(bare.nominal)
    with pytest.raises(ModelError, match="not a moving link"):
        residual(bare, basis, base, [loaded], link="nose")
    with pytest.raises(StudyError, match="fraction"):
        residual(bare, basis, base, [loaded], gain_uncertainty=1.5)
    with pytest.raises(StudyError, match="base parameters"):
        residual(bare, basis, base[:5], [loaded])
    with pytest.raises(StudyError, match="base columns"):
        residual(bare, basis, base, [loaded.select(basis.names[:5])])
    with pytest.raises(DataError, match="no run"):
        difference(bare, basis, [], [loaded])
    with pytest.raises(InformationError, match="twice"):
        difference(bare, basis, [loaded], [loaded])
    with pytest.raises(StudyError, match="rigid bodies"):
        static_payload(Model(bare.robot, (Viscous(),)), poses(carrying, 2, seed=0, noise=0.1)[0])
    with pytest.raises(StudyError, match="ten finite parameters"):
        drive_gains(bare, basis, [loaded], [loaded], np.zeros(10))


def test_a_payload_is_a_value(bare, carrying, basis):
    payload = residual(bare, basis, basis.regroup(bare.nominal), [run(carrying, basis, motion(bare, seed=0), seed=0)])
    assert isinstance(payload, Payload)
    with pytest.raises(ValueError, match="read-only"):
        payload.parameters[0] = 0.0


def test_from_recordings_to_a_payload(bare, carrying):
    """Whole pipeline: positions and torque at 200 Hz with noise, filtered, differentiated, absorbed, compared."""
    runs = []
    for model, seed in ((carrying, 0), (bare, 3)):
        path = motion(model, seed=seed, rate=200.0)
        tau = model.torque(model.nominal, path) + 0.3 * np.random.default_rng(seed).normal(size=path.q.shape)
        q = path.q + 1e-5 * np.random.default_rng(seed + 9).normal(size=path.q.shape)
        runs.append(
            Recording(Trajectory(time=path.time, joint_names=path.joint_names, q=q, tau=tau, name=f"run {seed}"))
        )
    between = payload_of_runs(bare, runs[:1], unloaded=runs[1:])
    against = payload_of_runs(bare, runs[:1], theta=bare.nominal)
    for payload in (between, against):
        assert payload.mass == pytest.approx(MASS, abs=0.02)
        assert payload.method == "dynamic"
        assert np.abs(payload.centre - CENTRE).max() < 0.005
    with pytest.raises(DataError, match="needs a loaded run"):
        payload_of_runs(bare, runs[:1])
