"""Certificates: sound on any robot, tight enough to be of use, and never given to a motion that breaks a limit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import robots
from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, StudyError
from steelyard.excite.certificate import certify, certify_trajectory
from steelyard.excite.envelope import envelope_of
from steelyard.excite.fourier import FourierFamily, FourierMotion, shared_harmonics
from steelyard.excite.jets import torque_jets
from steelyard.excite.kinematics import Kinematics
from steelyard.excite.limits import JointLimit, motion_limits
from steelyard.excite.piecewise import ends_of, sampled_cells
from steelyard.excite.torque_bound import nominal_torque, torque_bound, torque_rate_bound
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.spring import Spring
from steelyard.terms.viscous import Viscous

PERIOD = 4.0


def load(folder, name):
    robot = Robot.from_urdf(robots.write(folder, name), mimic="project")
    limit = JointLimit(velocity=4.0, acceleration=12.0, jerk=300.0, effort=1e4)
    return Model(robot, (RigidBody(),)), motion_limits(robot, dict.fromkeys(robot.joint_names, limit))


def move(model, limits, seed=0, rest="acceleration", share=1.0):
    """A random motion that touches `share` of its limits in every joint."""
    n = len(limits.joint_names)
    family = FourierFamily(PERIOD, shared_harmonics(n, 4), rest)
    x = np.random.default_rng(seed).standard_normal((n, family.variables))
    x *= (share / envelope_of(family, limits).gauge(x))[:, None]
    values = family.coefficients(x)
    values[:, 0] += limits.center
    return FourierMotion(limits.joint_names, family, values)


def torque(model, motion, times):
    q, dq, ddq, _ = motion.at(times)
    trajectory = Trajectory(time=times, joint_names=motion.joint_names, q=q, dq=dq, ddq=ddq)
    return Model(model.robot, (RigidBody(),)).torque(model.robot.parameters, trajectory)


@pytest.mark.parametrize("name", ["rail", "branching", "gripper", "knuckles", "tooled"])
def test_bounds_hold_inside_every_cell(tmp_path, name):
    """At twenty instants of each of 60 wide cells, for all joint kinds and mimics, torque and its rate included."""
    model, limits = load(tmp_path, name)
    motion = move(model, limits, rest="free")
    cells = motion.cells(PERIOD / 60)
    share = (np.arange(20) + 0.5) / 20
    times = (cells.middle - cells.half)[:, None] + 2.0 * cells.half[:, None] * share
    inside = motion.at(times.ravel())
    shape = (60, 20, len(limits.joint_names))
    for low, high, value in zip(cells.low, cells.high, inside, strict=True):
        assert np.all(low[:, None] <= value.reshape(shape))
        assert np.all(high[:, None] >= value.reshape(shape))
    nominal = nominal_torque(model)
    found = torque(model, motion, times.ravel()).reshape(shape)
    assert np.all(np.abs(found) <= torque_bound(model.robot, cells, nominal)[:, None])
    step = 1e-5
    ends = [torque(model, motion, times.ravel() + s * step) for s in (1.0, 0.0, -1.0)]
    rates = np.abs(ends[0] - ends[2]).reshape(shape) / (2.0 * step)
    assert np.all(rates.max(axis=1) <= torque_rate_bound(model.robot, cells, nominal) + 1e-5)  # [N m/s] rounding
    bends = np.abs(ends[0] - 2.0 * ends[1] + ends[2]).reshape(shape) / step**2
    snap = np.broadcast_to((cells.high.dddq - cells.low.dddq) / (2.0 * cells.half[:, None]), cells.most.q.shape)
    jets = torque_jets(model.robot, cells.most.q, (*cells.most[1:], snap), model.robot.parameters)
    assert np.all(rates.max(axis=1) <= jets[1] + 1e-5)
    assert np.all(bends.max(axis=1) <= jets[2] + 1e-1)  # [N m/s2] rounding of a second difference


def test_bounds_are_tight(tmp_path):
    """With the default cells, within 1e-5 of what is reached; 0.5 % for the jerk, 2 % for the torque (first order)."""
    slack = {"velocity": 1e-5, "acceleration": 1e-5, "jerk": 5e-3, "torque": 2e-2}
    model, limits = load(tmp_path, "tooled")
    motion = move(model, limits)
    certificate = certify(motion, model, limits)
    times = np.arange(0.0, PERIOD, 1e-4)
    q, dq, ddq, dddq = motion.at(times)
    reached = {"velocity": dq, "acceleration": ddq, "jerk": dddq, "torque": torque(model, motion, times)}
    for check in certificate.checks:
        j = limits.joint_names.index(check.joint)
        if check.quantity == "position":
            value = q[:, j].min() if check.limit < 0 else q[:, j].max()
            assert abs(check.bound - value) < 1e-5 * limits.reach[j]
        else:
            value = np.abs(reached[check.quantity][:, j]).max()
            assert value <= check.bound <= value * (1.0 + slack[check.quantity])


def test_a_motion_inside_its_limits_passes(tmp_path):
    model, limits = load(tmp_path, "tooled")
    certificate = certify(move(model, limits, share=0.999), model, limits)
    assert certificate.passed
    assert certificate.findings == ()
    assert 0.99 < certificate.closest.use <= 1.0
    assert certificate.model_digest == model.robot.digest
    assert certificate.step <= 5e-4 * 4.01
    assert any("collisions" in line for line in certificate.not_checked)
    plain = certificate.as_dict()
    assert plain["passed"] is True
    assert plain["checks"][0]["quantity"] == "position"


@pytest.mark.parametrize("quantity", ["lower", "upper", "velocity", "acceleration", "jerk", "effort"])
def test_a_violation_of_one_in_a_thousand_between_the_cells_is_refused(tmp_path, quantity):
    """The limit lies 0.1 % under the peak; the peak between the middles of two cells, where nothing was computed."""
    model, limits = load(tmp_path, "tooled")
    motion = move(model, limits)
    fine = np.arange(0.0, PERIOD, 1e-4)
    q, dq, ddq, dddq = motion.at(fine)
    peaks = {
        "lower": q.min(axis=0), "upper": q.max(axis=0), "velocity": np.abs(dq).max(axis=0),
        "acceleration": np.abs(ddq).max(axis=0), "jerk": np.abs(dddq).max(axis=0),
        "effort": np.abs(torque(model, motion, fine)).max(axis=0),
    }  # fmt: skip
    peak = peaks[quantity]
    off = limits.center + 0.999 * (peak - limits.center) if quantity in ("lower", "upper") else 0.999 * peak
    given = replace(limits, **{quantity: np.where([True, False], off, getattr(limits, quantity))})
    certificate = certify(motion, model, given)
    assert not certificate.passed
    failed = [(check.quantity, check.joint) for check in certificate.checks if not check.passed]
    assert failed == [({"lower": "position", "upper": "position", "effort": "torque"}.get(quantity, quantity), "yaw")]
    assert certificate.findings[0].code == f"excite.{failed[0][0]}"
    assert certificate.findings[0].where == "yaw"


def test_what_a_coarse_grid_misses_is_refused(tmp_path):
    """A fast harmonic whose peaks lie midway between the cells' middles: the samples keep the limit, the motion not."""
    model, limits = load(tmp_path, "tooled")
    family = FourierFamily(PERIOD, ((250,), (1,)))
    values = np.zeros((2, 3))
    values[0, 1] = 1.0  # velocity cos(250 w t): one at t = 0, an edge of cells, of which a period has eight
    motion = FourierMotion(limits.joint_names, family, values)
    sampled = np.abs(motion.at(motion.cells(PERIOD / 2000).middle).dq).max()
    given = replace(limits, acceleration=np.full(2, 1e6), jerk=np.full(2, np.inf), velocity=np.full(2, sampled + 1e-9))
    assert sampled < 0.93
    assert not certify(motion, model, given, rest="free", step=PERIOD / 2000).passed


@pytest.mark.parametrize("rest", ["acceleration", "jerk"])
def test_a_motion_that_does_not_rest_is_refused(tmp_path, rest):
    model, limits = load(tmp_path, "tooled")
    motion = move(model, limits, rest="free" if rest == "acceleration" else "acceleration", share=0.9)
    certificate = certify(motion, model, limits, rest=rest)
    assert [finding.code for finding in certificate.findings] == ["excite.rest"]
    assert certify(motion, model, limits, rest="free").passed


def test_slower_versions_use_less(tmp_path):
    model, limits = load(tmp_path, "tooled")
    motion = move(model, limits, share=0.999)
    use = {}
    for speed in (0.25, 0.5, 1.0):
        certificate = certify(motion.slowed(speed), model, limits)
        assert certificate.passed
        use[speed] = max(check.use for check in certificate.checks if check.quantity == "acceleration")
    assert use[0.25] == pytest.approx(use[1.0] / 16, rel=1e-4)
    assert use[0.5] == pytest.approx(use[1.0] / 4, rel=1e-4)


def test_friction_and_uncertainty_make_torque_larger(tmp_path):
    robot = load(tmp_path, "tooled")[0].robot
    model = Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset(), Spring()))
    limits = load(tmp_path, "tooled")[1]
    motion = move(model, limits)
    value = dict(zip(model.names, model.nominal, strict=True))
    value |= {"actuator/yaw/viscous_friction": 2.0, "actuator/yaw/coulomb_friction": 3.0, "actuator/yaw/bias": -1.0}

    def bound(theta, **options):
        certificate = certify(motion, model, limits, theta=theta, **options)
        return next(c.bound for c in certificate.checks if (c.quantity, c.joint) == ("torque", "yaw")), certificate

    plain, _ = bound(model.nominal)
    with_friction, _ = bound(np.array([value[name] for name in model.names]))
    peak = np.abs(motion.at(np.arange(0.0, PERIOD, 1e-3)).dq[:, 0]).max()
    assert plain + 4.0 - 1.0 < with_friction <= plain + 2.0 * peak + 3.0 + 1.0 + 1e-3
    assert bound(model.nominal, uncertainty=0.2)[0] == pytest.approx(1.2 * plain)
    value["actuator/pitch/stiffness"] = 5.0
    _, certificate = bound(np.array([value[name] for name in model.names]))
    assert "torque of actuator/pitch/stiffness" in certificate.not_checked


def test_joints_without_limits_are_named(tmp_path):
    model, limits = load(tmp_path, "tooled")
    endless = replace(limits, jerk=np.array([np.inf, 300.0]), effort=np.array([1e4, np.inf]))
    certificate = certify(move(model, limits), model, endless)
    assert "jerk of yaw: it has no limit" in certificate.not_checked
    assert "torque of pitch: it has no limit" in certificate.not_checked


class Sphere:
    """A clearance that falls where joint yaw turns: 0.5 m - |q| * 0.1 m."""

    required = 0.3
    unchecked = ("flange: it has no collision geometry",)
    allowed = ("arm - base: a joint joins them",)

    def distance(self, q, travel=None, *, far=np.inf):
        moved = 0.0 if travel is None else 0.1 * travel[:, 0]
        return np.minimum(0.5 - 0.1 * np.abs(q[:, 0]) - moved, far)

    def nearest(self, q):
        return "arm - post"


def test_clearance(tmp_path):
    model, limits = load(tmp_path, "tooled")
    motion = move(model, limits)
    turned = np.abs(motion.at(np.arange(0.0, PERIOD, 1e-4)).q[:, 0]).max()
    certificate = certify(motion, model, limits, clearance=Sphere())
    check = certificate.checks[-1]
    assert (check.quantity, check.joint) == ("distance", "arm - post")
    assert check.bound <= 0.5 - 0.1 * turned
    assert check.bound == pytest.approx(0.5 - 0.1 * turned, abs=1e-3)
    assert check.passed == (check.bound >= 0.3)
    assert not any("collisions of the robot" in line for line in certificate.not_checked)
    assert "collisions of arm - base: a joint joins them" in certificate.not_checked
    assert "shape of flange: it has no collision geometry" in certificate.not_checked


@pytest.mark.parametrize("rate", [20.0, 250.0])
def test_samples_are_certified_as_their_series_is(tmp_path, rate):
    """Quintic pieces through exact samples follow the series to 1e-4 of every limit, and so must the certificates."""
    model, limits = load(tmp_path, "tooled")
    motion = move(model, limits, rest="jerk", share=0.99)
    series = certify(motion, model, limits, rest="jerk")
    samples = certify_trajectory(motion.sampled(rate), model, limits, rest="acceleration")
    assert samples.passed
    for one, other in zip(series.checks, samples.checks, strict=True):
        tolerance = 1e-2 if one.quantity == "jerk" else 1e-4
        assert other.bound == pytest.approx(one.bound, abs=tolerance * abs(one.limit))


def test_pieces_are_bounded_between_their_samples(tmp_path):
    """Random samples, far apart: at many instants of every cell the polynomial lies within the bounds."""
    rng = np.random.default_rng(5)
    time = np.cumsum(0.2 + rng.random(12))
    q, dq, ddq = (rng.standard_normal((12, 2)) for _ in range(3))
    for last in (ddq, None):
        trajectory = Trajectory(time=time, joint_names=("a", "b"), q=q, dq=dq, ddq=last)
        cells = sampled_cells(trajectory, 0.1)
        assert cells.middle.size == np.ceil(np.diff(time) / 0.1 - 1e-9).sum()
        assert np.sum(2.0 * cells.half) == pytest.approx(time[-1] - time[0])
        fine = sampled_cells(trajectory, 0.01)
        home = np.searchsorted(cells.middle + cells.half, fine.middle)
        for low, high, value in zip(cells.low, cells.high, fine.center, strict=True):
            assert np.all(low[home] <= value + 1e-7)  # rounding: jerks here are some 1e2 out of differences over 0.2 s
            assert np.all(high[home] >= value - 1e-7)
        at_samples = ends_of(trajectory)
        assert np.allclose(at_samples.q, q[[0, -1]])
        assert np.allclose(at_samples.dq, dq[[0, -1]])
        if last is not None:
            assert np.allclose(at_samples.ddq, ddq[[0, -1]])


def test_an_overshoot_between_samples_is_found(tmp_path):
    """Two samples at rest and one that rushes between them: the samples keep the limits, the cubic does not."""
    model, limits = load(tmp_path, "tooled")
    time = np.arange(5) * 0.5
    q, dq = np.zeros((5, 2)), np.zeros((5, 2))
    q[:, 0], dq[2, 0] = 2.9, 3.9
    trajectory = Trajectory(time=time, joint_names=limits.joint_names, q=q, dq=dq, name="handmade")
    certificate = certify_trajectory(trajectory, model, limits, rest="free")
    failed = {(c.quantity, c.limit > 0) for c in certificate.checks if not c.passed and c.joint == "yaw"}
    assert ("position", True) in failed
    assert any("jumps of acceleration" in line for line in certificate.not_checked)


def test_what_cannot_be_certified(tmp_path):
    model, limits = load(tmp_path, "tooled")
    motion = move(model, limits)
    still = motion.sampled(10.0)
    names = limits.joint_names
    with pytest.raises(DataError, match="positions alone"):
        certify_trajectory(Trajectory(time=still.time, joint_names=names, q=still.q), model, limits)
    with pytest.raises(DataError, match="two samples"):
        certify_trajectory(still.samples(0, 1), model, limits)
    with pytest.raises(DataError, match="gap"):
        certify_trajectory(replace(still, breaks=(3,)), model, limits)
    with pytest.raises(DataError, match="lacks a joint"):
        certify_trajectory(still.ordered(["yaw"]), model, limits)
    with pytest.raises(StudyError, match="other joints"):
        certify_trajectory(replace(still, joint_names=("yaw", "roll")), model, limits)
    with pytest.raises(StudyError, match="other joints"):
        certify(replace(motion, joint_names=("a", "b")), model, limits)
    with pytest.raises(StudyError, match="other joints"):
        certify(motion, model, replace(limits, joint_names=("a", "b")))
    for options in ({"step": 0.0}, {"uncertainty": -0.1}, {"theta": np.zeros(3)}):
        with pytest.raises(StudyError):
            certify(motion, model, limits, **options)
        with pytest.raises(StudyError):
            certify_trajectory(still, model, limits, **options)


def test_cells_of_a_kinematics_tuple_stay_in_order(tmp_path):
    model, limits = load(tmp_path, "tooled")
    cells = move(model, limits).cells(PERIOD / 100)
    assert isinstance(cells.most, Kinematics)
    assert np.all(cells.most.dq >= np.abs(cells.center.dq))
