"""Simulate a robot that follows a motion, and record it the way a real one is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import StudyError
from steelyard.simulate.arm import Arm, import_mujoco, load_arm
from steelyard.simulate.controller import follow
from steelyard.simulate.reference import FourierReference, rest_to_rest
from steelyard.simulate.sensors import Sensors, measure
from steelyard.simulate.truth import true_parameters

Array = NDArray[np.float64]
LONGEST_STEP = 0.0005
"""Longest integration step [s]."""
MOST_STEPS = 10_000_000
"""Longest run that is simulated, in integration steps."""
CLEARANCE = 0.01
"""Distance the reference keeps between bodies, and to the floor [m]."""
DRAWS, SHRINK = 200, 0.97
"""How often a colliding reference is drawn again, and how much smaller each time."""
IDEAL = Sensors(encoder_bits=None, position_noise=0.0, torque_noise=0.0)
"""Sensors that measure the truth."""
TYPICAL = Sensors()
"""Sensors of a good collaborative arm: 19 bits a turn, 0.05 N m."""


@dataclass(frozen=True)
class SimulatedRun:
    """A recording together with what a real robot never tells.

    Attributes:
        trajectory: what the recorder wrote: q and tau.
        noise_free: true q, dq, ddq and tau at the same stamps; tau is the torque of the actuators,
            ``tau = M(q) ddq + h(q, dq) + rotor ddq + viscous dq + coulomb(dq)``.
        truth_parameters: column name -> value, e.g. ``link/<body>/mass``, ``actuator/<joint>/viscous_friction``.
        reference: the motion the controller was asked to follow.
    """

    trajectory: Trajectory
    noise_free: Trajectory
    truth_parameters: Mapping[str, float]
    reference: FourierReference

    @property
    def torque_noise_free(self) -> Array:
        """(T, n) actuator torque without noise, offset and delay [N m or N]."""
        return self.noise_free.channel("tau")


def simulate_run(
    model_xml: str | Path,
    *,
    duration: float = 20.0,
    period: float = 10.0,
    harmonics: int = 5,
    seed: int = 0,
    amplitude: float = 1.0,
    rate: float = 500.0,
    sensors: Sensors = TYPICAL,
) -> SimulatedRun:
    """Follow a random rest-to-rest Fourier motion and record it; the same arguments give the same bytes.

    The reference keeps inside the limits and clear of collisions by `CLEARANCE` (a draw that is not is replaced by
    a smaller one), so that contacts are switched off in the dynamics. A PD controller with gravity feed-forward
    follows it, at steps of at most `LONGEST_STEP`. The recorded torque is that of the actuators: friction and
    rotor inertia are in it. Coulomb friction is MuJoCo's soft constraint: within about 0.03 rad/s of standstill it
    lies between the two signs, as stiction does.

    Args:
        model_xml: MJCF file of an arm with hinges and slides, named, at most one a body. It carries what MJCF has
            no field for as ``<numeric name="velocity_limit">`` [rad/s or m/s] and ``acceleration_limit``
            [rad/s2 or m/s2], one value per joint. The motion is centred on the keyframe ``home`` where there is one,
            else on the middle of the range.
        duration: [s], a whole number of periods, so that the motion ends at rest.
        period: [s].
        harmonics: of the reference, at least 2.
        seed: of the reference and of the noise; another seed is another motion.
        amplitude: fraction of the limits to use, in (0, 1].
        rate: of the recording [Hz].
        sensors: the measurement model.

    Raises:
        ModelError: the file cannot be read as such an arm.
        StudyError: an argument outside its range, or no motion without a collision.
        DataError: the robot could not follow the motion, or the simulation became unstable.
        SteelyardError: MuJoCo is not installed.
    """
    every, clock = _clock(duration, period, rate)
    if seed < 0:
        raise StudyError("the seed must not be negative", value=seed)
    arm = load_arm(model_xml)
    joints = len(arm.joint_names)
    offset = sensors.offset(joints)
    motions = np.random.default_rng((seed, 0))
    reference = _free_reference(arm, motions, period=period, harmonics=harmonics, amplitude=amplitude)
    name = f"{Path(model_xml).stem} simulated with seed {seed}"
    motion = replace(follow(arm, clock, reference), name=name)
    noise = np.random.default_rng((seed, 1))
    sampled = measure(motion, every=every, sensors=sensors, prismatic=arm.prismatic, rng=noise)
    q, dq, ddq, tau = (motion.channel(channel)[::every] for channel in ("q", "dq", "ddq", "tau"))
    noise_free = Trajectory(sampled.time, arm.joint_names, q, dq, ddq, tau, name=f"{name}, noise-free")
    return SimulatedRun(sampled, noise_free, true_parameters(arm.model, arm.joint_names, offset), reference)


def _clock(duration: float, period: float, rate: float) -> tuple[int, Array]:
    """Integration steps per sample, and the stamps of all steps [s]."""
    for what, value, unit in (("rate", rate, "Hz"), ("period", period, "s"), ("duration", duration, "s")):
        if not 0 < value < np.inf:
            raise StudyError(f"the {what} must be positive [{unit}]", value=value)
    every = int(np.ceil(min(1 / (rate * LONGEST_STEP), MOST_STEPS)))
    steps = duration * rate * every
    if not 1 <= round(min(duration * rate, steps)) <= steps <= MOST_STEPS:
        raise StudyError(
            f"a run takes from one sample to {MOST_STEPS} integration steps",
            value=f"{duration:g} s at {rate:g} Hz: {steps:g} steps",
            cure="duration=20, rate=500",
        )
    periods = duration / period
    if not 0.5 < periods <= steps or abs(periods - round(periods)) > 1e-9:
        raise StudyError(
            "the duration must be a whole number of periods: only there the motion is at rest",
            value=f"{duration:g} s with a period of {period:g} s",
            cure=f"duration={max(1, round(min(periods, steps))) * period:g}",
        )
    return every, np.arange(round(duration * rate) * every + 1) / (rate * every)


def _free_reference(
    arm: Arm, rng: np.random.Generator, *, period: float, harmonics: int, amplitude: float
) -> FourierReference:
    """The first reference drawn that touches nothing."""
    for draw in range(DRAWS):
        size = amplitude * SHRINK**draw
        reference = rest_to_rest(arm.limits, period=period, harmonics=harmonics, rng=rng, amplitude=size)
        time = np.linspace(0, period, 80 * harmonics, endpoint=False)
        if not _touches(arm, reference.position(time)):
            return reference
    raise StudyError(
        f"every one of {DRAWS} motions about the home pose touches something, down to an amplitude of {size:.2g}",
        where=arm.label,
        value=arm.limits.centre.tolist(),
        cure="put the keyframe named home into free space, or exclude pairs of bodies that always touch",
    )


def _touches(arm: Arm, poses: Array) -> bool:
    mj = import_mujoco()
    margin = arm.model.geom_margin.copy()
    arm.model.geom_margin[:] = np.maximum(margin, CLEARANCE)
    data = mj.MjData(arm.model)
    touching = False
    for pose in poses:
        data.qpos[:] = pose
        mj.mj_fwdPosition(arm.model, data)
        if data.ncon:
            touching = True
            break
    arm.model.geom_margin[:] = margin
    return touching
