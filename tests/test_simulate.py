"""Simulated runs: the same bytes each time, inside the limits, at rest at both ends, seen through the sensors."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError, ModelError, SteelyardError, StudyError
from steelyard.simulate.arm import load_arm
from steelyard.simulate.mujoco import IDEAL, simulate_run
from steelyard.simulate.reference import SHARE, MotionLimits, rest_to_rest
from steelyard.simulate.robots import NAMES, robot_file
from steelyard.simulate.sensors import Sensors, measure
from steelyard.simulate.truth import true_parameters

ARMS = ("arm6", "arm7")
SHORT = dict(duration=4.0, period=4.0)

# A slide and a hinge; the second body's joint is away from its frame, and a box is fixed to it.
CART = """
<mujoco>
  <compiler inertiafromgeom="false" angle="radian"/>
  <custom><numeric name="velocity_limit" data="1 2"/><numeric name="acceleration_limit" data="5 9"/></custom>
  <worldbody>
    <body name="cart">
      <joint name="rail" type="slide" axis="1 0 0" range="-0.5 0.5" damping="8" frictionloss="2" armature="0.3"/>
      <inertial mass="2" pos="0 0 0" diaginertia="0.01 0.02 0.03"/>
      <body name="pole" pos="0 0 0.1">
        <joint name="pivot" axis="0 1 0" pos="0 0 0.2" damping="0.1" armature="0.05"/>
        <inertial mass="1" pos="0 0 0.5" diaginertia="0.02 0.02 0.001"/>
        <body name="tip" pos="0 0 1" euler="0 0 1.5707963267948966">
          <inertial mass="0.5" pos="0.1 0 0" diaginertia="0.001 0.002 0.003"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module", params=ARMS)
def run(request):
    return simulate_run(robot_file(f"{request.param}.xml"), seed=1, **SHORT)


@pytest.fixture
def cart(tmp_path):
    """Write CART with replacements (old, new) and return its path."""

    def write(*replacements):
        text = CART
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "cart.xml"
        path.write_text(text)
        return path

    return write


def test_the_same_seed_gives_the_same_bytes(run):
    again = simulate_run(robot_file(f"{run.trajectory.name.split()[0]}.xml"), seed=1, **SHORT)
    assert again.trajectory.q.tobytes() == run.trajectory.q.tobytes()
    assert again.trajectory.tau.tobytes() == run.trajectory.tau.tobytes()
    assert again.trajectory.source == run.trajectory.source
    assert again.truth_parameters == run.truth_parameters


def test_another_seed_is_another_motion():
    first, second = (simulate_run(robot_file("arm6.xml"), seed=seed, **SHORT) for seed in (1, 2))
    alike = [np.corrcoef(a, b)[0, 1] for a, b in zip(first.trajectory.q.T, second.trajectory.q.T, strict=True)]
    assert np.abs(alike).max() < 0.99
    assert first.trajectory.source != second.trajectory.source


def test_other_sensors_see_the_same_motion(run):
    ideal = simulate_run(robot_file(f"{run.trajectory.name.split()[0]}.xml"), seed=1, sensors=IDEAL, **SHORT)
    assert ideal.noise_free.q.tobytes() == run.noise_free.q.tobytes()
    np.testing.assert_array_equal(ideal.trajectory.q, ideal.noise_free.q)
    np.testing.assert_array_equal(ideal.trajectory.tau, ideal.torque_noise_free)


def test_a_recorder_gives_position_and_torque_only(run):
    recorded = run.trajectory
    assert recorded.dq is None
    assert recorded.ddq is None
    assert len(recorded) == 4 * 500 + 1
    np.testing.assert_allclose(recorded.time, np.arange(2001) / 500, rtol=0, atol=1e-12)
    assert recorded.joint_names == run.noise_free.joint_names


def test_limits_are_kept(run):
    arm = load_arm(robot_file(f"{run.trajectory.name.split()[0]}.xml"))
    motion = run.noise_free
    assert (motion.q > arm.limits.lower).all()
    assert (motion.q < arm.limits.upper).all()
    assert (np.abs(motion.dq) < arm.limits.velocity).all()
    assert (np.abs(motion.tau) < arm.force[:, 1]).all()
    fine = np.linspace(0, 4, 40_001)
    assert (np.abs(run.reference.acceleration(fine)) < arm.limits.acceleration).all()
    # the motion is worth identifying from: every joint gets to a quarter of its speed
    assert (np.abs(motion.dq).max(0) > arm.limits.velocity / 4).all()


def test_runs_start_and_end_at_rest(run):
    ends = np.array([0.0, 4.0])
    # coefficients of order one, summed in double precision
    assert np.abs(run.reference.velocity(ends)).max() < 1e-12
    assert np.abs(run.reference.acceleration(ends)).max() < 1e-11
    assert not run.noise_free.dq[0].any()
    # at the end friction holds the joints: within 0.02 rad/s they are inside MuJoCo's friction band
    assert np.abs(run.noise_free.dq[-1]).max() < 0.02


@pytest.mark.parametrize("harmonics", [2, 5, 12])
def test_a_reference_uses_its_share_of_the_first_limit_it_meets(harmonics):
    limits = MotionLimits(*np.array([[0.1, 0.0], [-1.0, -2.9], [1.5, 2.9], [2.0, 1.0], [4.0, 50.0]]))
    rng = np.random.default_rng(8)
    motion = rest_to_rest(limits, period=6.0, harmonics=harmonics, rng=rng, amplitude=0.5)
    time = np.linspace(0, 6, 50_001)
    used = np.max(
        [
            (motion.position(time) - limits.centre).max(0) / (limits.upper - limits.centre),
            (motion.position(time) - limits.centre).min(0) / (limits.lower - limits.centre),
            np.abs(motion.velocity(time)).max(0) / limits.velocity,
            np.abs(motion.acceleration(time)).max(0) / limits.acceleration,
        ],
        axis=0,
    )
    # 200 samples per harmonic miss a peak by at most (pi / 200)^2 / 2
    np.testing.assert_allclose(used, 0.5 * SHARE, rtol=2e-4)


def test_velocity_and_acceleration_are_the_derivatives():
    limits = MotionLimits(*np.array([[0.0], [-1.0], [1.0], [2.0], [4.0]]))
    motion = rest_to_rest(limits, period=6.0, harmonics=5, rng=np.random.default_rng(8))
    time, h = np.linspace(0.1, 5.9, 50), 1e-5
    slope = (motion.position(time + h) - motion.position(time - h)) / (2 * h)
    bend = (motion.velocity(time + h) - motion.velocity(time - h)) / (2 * h)
    # truncation h^2 w^4 and round-off 1e-16 / h
    np.testing.assert_allclose(motion.velocity(time), slope, rtol=0, atol=1e-8)
    np.testing.assert_allclose(motion.acceleration(time), bend, rtol=0, atol=1e-8)


def test_quantisation_shows():
    sensors = Sensors(encoder_bits=12, position_noise=0.0)
    run = simulate_run(robot_file("arm6.xml"), sensors=sensors, **SHORT)
    step = 2 * np.pi / 4096
    counts = run.trajectory.q / step
    np.testing.assert_allclose(counts, np.round(counts), rtol=0, atol=1e-9)
    error = run.trajectory.q - run.noise_free.q
    assert np.abs(error).max() <= step / 2 * (1 + 1e-9)
    # uniform over a count: step / sqrt(12), from 12 006 samples of which neighbours are alike
    assert error.std() == pytest.approx(step / np.sqrt(12), rel=0.05)


@pytest.mark.parametrize("delay", [0.006, 0.0074])
def test_the_delay_is_the_one_asked_for(delay):
    time = np.arange(0, 2, 0.0005)
    motion = Trajectory(time, ("a",), q=0 * time[:, None], tau=np.sin(3 * time)[:, None])
    sensors = Sensors(torque_noise=0.0, torque_delay=delay)
    seen = measure(motion, every=4, sensors=sensors, prismatic=np.array([False]), rng=np.random.default_rng(0))
    late = seen.time > delay
    # linear interpolation between steps of h: (3 h)^2 / 8
    np.testing.assert_allclose(seen.tau[late, 0], np.sin(3 * (seen.time[late] - delay)), rtol=0, atol=3e-7)
    np.testing.assert_array_equal(seen.tau[~late], 0.0)


def test_noise_and_offset_are_those_asked_for():
    sensors = Sensors(torque_noise=(0.1, 0.2, 0.1, 0.05, 0.05, 0.02), torque_offset=(1.0, -2.0, 0.5, 0.0, 0.1, 0.3))
    run = simulate_run(robot_file("arm6.xml"), sensors=sensors, **SHORT)
    error = run.trajectory.tau - run.torque_noise_free
    # 2001 samples: the mean has 1/45 of the deviation, the deviation is known to 1.6 %; four times that
    np.testing.assert_allclose(error.std(0), sensors.torque_noise, rtol=0.064)
    np.testing.assert_allclose(error.mean(0), sensors.torque_offset, rtol=0, atol=4 * 0.2 / 45)
    assert [run.truth_parameters[f"actuator/{j}/bias"] for j in run.trajectory.joint_names] == [*sensors.torque_offset]


def test_the_truth_is_about_the_joint_and_holds_fixed_bodies(cart):
    """Pole and tip, by hand, about the pivot 0.2 m above the pole's frame."""
    arm = load_arm(cart())
    truth = true_parameters(arm.model, arm.joint_names, np.zeros(2))
    assert len(truth) == 2 * 14
    assert truth["link/cart/mass"] == 2
    assert truth["link/pole/mass"] == 1.5
    # the tip's centre of mass: 0.1 m along its x axis, which points along the pole's y
    assert truth["link/pole/first_moment_y"] == pytest.approx(0.5 * 0.1, abs=1e-12)
    assert truth["link/pole/first_moment_z"] == pytest.approx(1 * 0.3 + 0.5 * 0.8, abs=1e-12)
    assert truth["link/pole/inertia_xx"] == pytest.approx(0.02 + 0.3**2 + 0.002 + 0.5 * (0.8**2 + 0.1**2), abs=1e-12)
    assert truth["link/pole/inertia_yy"] == pytest.approx(0.02 + 0.3**2 + 0.001 + 0.5 * 0.8**2, abs=1e-12)
    assert truth["link/pole/inertia_yz"] == pytest.approx(-0.5 * 0.1 * 0.8, abs=1e-12)
    assert truth["actuator/rail/viscous_friction"] == 8
    assert truth["actuator/rail/coulomb_friction"] == 2
    assert truth["actuator/pivot/rotor_inertia"] == 0.05


def test_a_slide_is_measured_in_metres(cart):
    run = simulate_run(cart(), sensors=Sensors(encoder_bits=10, position_noise=0.0), **SHORT)
    counts = run.trajectory.q / np.array([1.0, 2 * np.pi]) * 1024
    np.testing.assert_allclose(counts, np.round(counts), rtol=0, atol=1e-9)


def test_the_shipped_robots_are_the_example_robots(repository):
    for name in NAMES:
        assert robot_file(name).read_bytes() == (repository / "examples" / "robots" / name).read_bytes()
    with pytest.raises(StudyError, match=r"arm7\.urdf"):
        robot_file("arm8.urdf")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(duration=5.0, period=4.0), "whole number of periods"),
        (dict(duration=-4.0), "duration must be positive"),
        (dict(period=0.0), "period must be positive"),
        (dict(rate=float("nan")), "rate must be positive"),
        (dict(rate=1e300), "integration steps"),
        (dict(duration=4e9), "integration steps"),
        (dict(rate=1e-9), "integration steps"),
        (dict(seed=-1), "seed"),
        (dict(harmonics=1), "two harmonics"),
        (dict(amplitude=0.0), "amplitude"),
        (dict(amplitude=1.5), "amplitude"),
        (dict(sensors=Sensors(torque_offset=(1.0, 2.0))), "6 joints"),
        (dict(sensors=Sensors(torque_noise=(1.0, 2.0))), "6 joints"),
    ],
)
def test_wrong_arguments_are_refused(options, message):
    with pytest.raises(StudyError, match=message):
        simulate_run(robot_file("arm6.xml"), **{**SHORT, **options})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("encoder_bits", 0),
        ("position_noise", -1.0),
        ("torque_noise", (0.1, float("nan"))),
        ("torque_delay", -0.001),
        ("torque_offset", float("inf")),
    ],
)
def test_impossible_sensors_are_refused(field, value):
    with pytest.raises(StudyError, match=field):
        Sensors(**{field: value})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</mujoco>", "", "cannot read"),
        ('mass="2"', 'mass="-2"', "cannot read"),
        ('name="velocity_limit"', 'name="other"', "needs velocity_limit"),
        ('data="5 9"', 'data="5 0"', "needs acceleration_limit"),
        ('data="5 9"', 'data="5"', "needs acceleration_limit"),
        (' range="-0.5 0.5"', "", "slide has no range"),
        ('name="pivot" axis="0 1 0"', 'name="pivot" type="ball"', "hinges and slides"),
        ('name="pivot" ', "", "no name"),
        ('<joint name="pivot"', '<joint name="yaw"/><joint name="pivot"', "more than one joint"),
        ("</mujoco>", '<equality><joint joint1="rail" joint2="pivot"/></equality></mujoco>', "equality"),
        ("</mujoco>", '<keyframe><key name="home" qpos="0.5 0"/></keyframe></mujoco>', "inside the range"),
    ],
)
def test_a_model_that_cannot_be_simulated_is_refused(cart, old, new, message):
    with pytest.raises(ModelError, match=message):
        load_arm(cart((old, new)))


@pytest.mark.parametrize("path", ["nothing.xml", ".", "<mujoco/>" * 100, "a\0b"])
def test_a_path_without_a_file_is_refused(path):
    with pytest.raises(ModelError, match="no such model file"):
        simulate_run(path)


def test_a_pose_that_touches_is_refused(cart):
    wall = '<worldbody><geom type="sphere" size="0.3" pos="0 0 0.5"/>'
    ball = '<body name="pole" pos="0 0 0.1"><geom type="sphere" size="0.3" pos="0 0 0.3"/>'
    path = cart(("<worldbody>", wall), ('<body name="pole" pos="0 0 0.1">', ball))
    with pytest.raises(StudyError, match="touches something"):
        simulate_run(path, **SHORT)


def test_a_robot_too_weak_to_follow_is_refused(cart):
    weak = ('name="rail"', 'name="rail" actuatorfrcrange="-3 3"')
    with pytest.raises(DataError, match="met a stop"):
        simulate_run(cart(weak, ('axis="1 0 0"', 'axis="0 0 1"')), **SHORT)


def test_an_unstable_simulation_is_refused(cart):
    with pytest.raises(DataError, match=r"joint \w+ at 0\.\d+ s: the simulation became unstable"):
        simulate_run(cart(('damping="0.1"', 'stiffness="-1e7"')), **SHORT)


def test_missing_mujoco_is_said_with_the_cure(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(SteelyardError, match=r"pip install steelyard\[sim\]"):
        simulate_run(robot_file("arm6.xml"))
