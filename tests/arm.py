"""The seven-joint arm that ships with the package, along a Fourier motion: where estimators are tried at full size."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from steelyard.basis import ParameterBasis, base_parameters
from steelyard.data.lowpass import zero_phase
from steelyard.data.trajectory import Trajectory
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.simulate.reference import FourierReference, MotionLimits, rest_to_rest
from steelyard.simulate.robots import robot_file
from steelyard.terms.names import terms_named

RIGID_AND_FRICTION = ("rigid_body", "viscous", "coulomb", "offset")
NOISE = (1.0, 3.0, 0.5, 2.0, 0.2, 0.3, 0.1)  # deviation of each joint [N m]


@cache
def model() -> Model:
    return Model(Robot.from_urdf(robot_file("arm7.urdf")), terms_named(RIGID_AND_FRICTION))


@cache
def basis() -> ParameterBasis:
    return base_parameters(model())


def reference(*, seed: int, period: float = 10.0, harmonics: int = 5, amplitude: float = 0.6) -> FourierReference:
    """A random motion inside the limits of the model file, at up to 15 rad/s2."""
    robot = model().robot
    middle = 0.5 * (robot.lower + robot.upper)
    limits = MotionLimits(middle, robot.lower, robot.upper, robot.velocity_limit, np.full(7, 15.0))
    rng = np.random.default_rng(seed)
    return rest_to_rest(limits, period=period, harmonics=harmonics, rng=rng, amplitude=amplitude)


def motion(*, seed: int = 3, duration: float = 20.0, rate: float = 100.0) -> Trajectory:
    """Exact positions, velocities and accelerations along it; no torque."""
    path = reference(seed=seed)
    t = np.arange(round(duration * rate)) / rate
    return Trajectory(
        t, model().robot.joint_names, q=path.position(t), dq=path.velocity(t), ddq=path.acceleration(t), name="arm"
    )


@cache
def truth() -> np.ndarray:
    """Values of the columns: the model file's, with friction and offsets that one would meet."""
    values = {"viscous_friction": 1.0, "coulomb_friction": 2.0, "bias": 0.3}
    theta = model().nominal.copy()
    for k, name in enumerate(model().names):
        theta[k] = values.get(name.rsplit("/", 1)[-1], theta[k])
    return theta


def recorded(path: Trajectory, noise: np.ndarray) -> Trajectory:
    """The true torque along a motion, and noise (T, 7) added."""
    return replace(path, tau=model().torque(truth(), path) + noise, source="")


def filtered_noise(rng: np.random.Generator, path: Trajectory, cutoff: float) -> np.ndarray:
    """(T, 7) white noise of deviation NOISE, low-passed; one settled stretch out of a longer one."""
    settle = int(np.ceil(10.0 / (cutoff * path.step)))
    white = rng.normal(size=(len(path) + 2 * settle, 7)) * NOISE
    return zero_phase(white, path.step, cutoff, axis=0)[settle:-settle]
