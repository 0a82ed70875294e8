"""Weighing 1.27 kg at the flange of a simulated Panda: how close, and do the intervals hold as often as they say?

    python benchmarks/payload.py [--runs N] [--rate HZ]

At rest: eight random poses, 0.02 N m of noise on each mean torque, stiction of 0.3 to 0.7 N m a joint. In motion: ten
seconds of a periodic motion of five harmonics of 0.2 Hz, 0.3 N m and 1e-5 rad of noise, viscous and Coulomb friction
and an offset, through the whole of the default preparation. Both runs of a difference have the same length.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import argparse
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from steelyard.data.trajectory import Trajectory
from steelyard.estimate.identify import identify
from steelyard.estimate.payload import Payload
from steelyard.estimate.payload_of_runs import payload_of_runs
from steelyard.estimate.static_payload import static_payload
from steelyard.estimate.training import Recording
from steelyard.model import Model
from steelyard.robot.inertia import parameters_about_origin
from steelyard.robot.robot import Robot
from steelyard.robot.tool import with_tool
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous

ROBOTS = Path(sysconfig.get_paths()["purelib"], "cmeel.prefix/share/example-robot-data/robots")
MASS, CENTRE = 1.27, np.array([0.01, -0.02, 0.06])  # [kg], [m]
TRUE = parameters_about_origin(MASS, CENTRE, np.diag([2e-3, 2.5e-3, 1.5e-3]))
STICTION = np.array([0.7, 0.7, 0.6, 0.6, 0.4, 0.35, 0.3])  # [N m]
OFFSET = np.array([0.3, -0.4, 0.3, 0.2, -0.1, 0.1, -0.05])  # [N m]
FRICTION = {"viscous_friction": 0.5, "coulomb_friction": 0.6, "bias": 0.1}
POSES, STILL_NOISE, NOISE, POSITION_NOISE = 8, 0.02, 0.3, 1e-5


def models() -> tuple[Model, Model]:
    """The arm with its fingers held, and the same with the part."""
    robot = Robot.from_urdf(ROBOTS / "panda_description/urdf/panda.urdf")
    robot = robot.locked([name for name in robot.joint_names if "finger" in name])
    terms = (RigidBody(), Viscous(), Coulomb(), Offset())
    return Model(robot, terms), Model(with_tool(robot, "part", TRUE, link="panda_link8"), terms)


def truth(model: Model) -> np.ndarray:
    """Parameters of the file with friction and offsets."""
    own = [FRICTION.get(name.rsplit("/", 1)[-1]) for name in model.names]
    return np.array([value if known is None else known for value, known in zip(model.nominal, own, strict=True)])


def motion(robot: Robot, *, seed: int, rate: float) -> Trajectory:
    """Ten seconds, five harmonics of 0.2 Hz, 80 % of the position limits."""
    rng = np.random.default_rng(seed)
    t = np.arange(int(10.0 * rate)) / rate
    w = 2.0 * np.pi * 0.2 * np.arange(1, 6)
    a, b = rng.normal(size=(2, 5, 7)) / np.arange(1, 6)[:, None]
    sine, cosine = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    shape = sine @ a + cosine @ b
    scale = 0.4 * (robot.upper - robot.lower) / np.abs(shape).max(axis=0)
    return Trajectory(
        time=t,
        joint_names=robot.joint_names,
        q=0.5 * (robot.upper + robot.lower) + scale * shape,
        dq=scale * (cosine @ (a * w[:, None]) - sine @ (b * w[:, None])),
        ddq=-scale * (sine @ (a * w[:, None] ** 2) + cosine @ (b * w[:, None] ** 2)),
    )


def recorded(path: Trajectory, torque: np.ndarray, rng: np.random.Generator, label: str) -> Recording:
    """Positions and torque as a recorder has them."""
    q = path.q + POSITION_NOISE * rng.normal(size=torque.shape)
    tau = torque + NOISE * rng.normal(size=torque.shape)
    return Recording(Trajectory(time=path.time, joint_names=path.joint_names, q=q, tau=tau, name=label))


def at_rest(bare: Model, carrying: Model, rng: np.random.Generator, *, both: bool, stiction: float, offset: float):
    """One set of poses, each from both sides or from a random one."""
    robot = bare.robot
    q = rng.uniform(0.8 * robot.lower, 0.8 * robot.upper, (POSES, 7))
    sides = np.where(rng.random((POSES, 7)) < 0.5, -1.0, 1.0)
    if both:
        q, sides = np.repeat(q, 2, axis=0), np.tile([[1.0] * 7, [-1.0] * 7], (POSES, 1))
    zero = np.zeros_like(q)
    still = Trajectory(time=np.arange(len(q)), joint_names=robot.joint_names, q=q, dq=zero, ddq=zero)
    tau = carrying.torque(carrying.nominal, still) + STILL_NOISE * rng.normal(size=q.shape) + offset * OFFSET
    tau += stiction * sides * STICTION * rng.uniform(0.8, 1.0, q.shape)
    visits = Trajectory(time=still.time, joint_names=robot.joint_names, q=q, dq=sides if both else None, tau=tau)
    return static_payload(bare, visits)


def report(label: str, draw: Callable[[int], Payload], runs: int) -> None:
    """Errors of mass and centre, and how often the intervals hold."""
    began = time.process_time()
    found = [draw(seed) for seed in range(runs)]
    spent = (time.process_time() - began) / runs
    error = np.array([p.mass for p in found]) - MASS
    mass = np.mean([low <= MASS <= high for low, high in (p.mass_interval() for p in found)])
    boxes = [p.centre_interval() for p in found]
    centre = np.mean([(box[:, 0] <= CENTRE) & (box[:, 1] >= CENTRE) for box in boxes])
    far = np.sqrt(np.mean([(p.centre - CENTRE) ** 2 for p in found]))
    known = found[0].known[4:].all()
    inside = [(p.interval()[4:, 0] <= TRUE[4:]) & (p.interval()[4:, 1] >= TRUE[4:]) for p in found]
    inertia = f"{100 * np.mean(inside):5.1f} %" if known else "   -   "
    print(
        f"{label:42} {1e3 * np.sqrt(np.mean(error**2)):7.2f} {1e3 * np.median(np.abs(error)):7.2f} {1e3 * far:7.2f}"
        f"  {100 * mass:5.1f} % {100 * centre:5.1f} % {inertia} {1e3 * spent:7.0f}",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=400)
    options.add_argument("--rate", type=float, default=200.0)
    asked = options.parse_args()
    bare, carrying = models()
    print(f"{asked.runs} draws each, {asked.rate:g} Hz; 95 % intervals that hold: mass, centre, inertia")
    print(f"{'':42} {'rms g':>7} {'med g':>7} {'rms mm':>7}  {'mass':>7} {'centre':>7} {'inertia':>7} {'ms':>7}")
    for label, both, stiction, offset in (
        ("poses, noise only", True, 0.0, 0.0),
        ("poses, stiction, from one side", False, 1.0, 0.0),
        ("poses, stiction, from both sides", True, 1.0, 0.0),
        ("poses, stiction, both sides, offsets", True, 1.0, 1.0),
    ):
        case = {"both": both, "stiction": stiction, "offset": offset}
        report(label, lambda s, case=case: at_rest(bare, carrying, np.random.default_rng(s), **case), asked.runs)
    paths = [motion(bare.robot, seed=seed, rate=asked.rate) for seed in (2, 1)]
    torques = [model.torque(truth(model), path) for model, path in zip((carrying, bare), paths, strict=True)]

    def drawn(seed: int) -> list[Recording]:
        rng = np.random.default_rng(seed)
        return [recorded(p, t, rng, f"{k} {seed}") for k, (p, t) in enumerate(zip(paths, torques, strict=True))]

    def between(seed: int) -> Payload:
        loaded, unloaded = drawn(seed)
        return payload_of_runs(bare, [loaded], unloaded=[unloaded])

    def against_exact(seed: int) -> Payload:
        return payload_of_runs(bare, drawn(seed)[:1], theta=truth(bare))

    def against_identified(seed: int) -> Payload:
        loaded, unloaded = drawn(seed)
        known = identify(bare.robot, [unloaded], terms=bare.terms).estimate
        theta = known.full(bare.names)
        return payload_of_runs(bare, [loaded], theta=theta, doubt=known.covariance)

    report("motion, against the true robot", against_exact, asked.runs)
    report("motion, loaded less unloaded", between, asked.runs)
    report("motion, against the identified robot", against_identified, asked.runs)


if __name__ == "__main__":
    main()
