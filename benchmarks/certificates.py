#!/usr/bin/env python3
"""Certified motions, checked again at ten times the grid: no limit crossed, no collision.

    STEELYARD_REAL_DATA=folder python benchmarks/certificates.py [--motions 1000] [--meshes FOLDER]

Random series, half of them for a Panda with its meshes and half for a UR10, whose allowed pairs are found by sampling.
Each is made as large as its certificate lets it be, to a few parts in a hundred, so that it touches a limit or comes as
near to itself as it may. Then every quantity is computed anew at ten times as many instants as the certificate had
cells, from samples alone. FOLDER holds the package example-robot-data; it is found by itself where that is installed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from steelyard.data.trajectory import Trajectory
from steelyard.excite.certificate import Certificate, certify
from steelyard.excite.clearance import resting_place
from steelyard.excite.envelope import envelope_of
from steelyard.excite.fourier import FourierFamily, FourierMotion, shared_harmonics
from steelyard.excite.frame_limit import FrameLimit
from steelyard.excite.limits import MotionLimits, motion_limits
from steelyard.formats.joint_limits import read_joint_limits
from steelyard.model import Model
from steelyard.robot.body_poses import body_poses, point_motion
from steelyard.robot.collision import CollisionModel
from steelyard.robot.collision_build import collision_model
from steelyard.robot.robot import Robot
from steelyard.robot.separation import Separation
from steelyard.terms.rigid_body import RigidBody

PERIOD, HARMONICS, STEP, FINER, SEED = 4.0, 4, 2e-3, 10, 0
TORQUE_RATE = 1000.0  # [N m/s]
FILES = {
    "Panda": ("panda_gaz/panda.urdf", "limits/panda_joint_limits.yaml", "panda_hand", 2.2),
    "UR10": ("ur10_unisa/ur10.urdf", "limits/ur10_joint_limits.yaml", "wrist_3_link", 3.5),
}  # file, limits, link whose speed is limited, and to what [m/s]
STRIDE = 20
CLOSER = 2  # halvings of the step in size between a motion that passes and one that does not


@dataclass(frozen=True)
class Subject:
    """A robot with all it has to keep."""

    name: str
    model: Model
    limits: MotionLimits
    clearance: CollisionModel
    frame: FrameLimit
    rest: np.ndarray

    def certificate(self, motion: FourierMotion) -> Certificate:
        return certify(
            motion, self.model, self.limits, step=STEP, clearance=self.clearance, frames=(self.frame,), uncertainty=0.1
        )


def load(name: str, data: Path, meshes: Path) -> Subject:
    file, limits_file, link, speed = FILES[name]
    robot = Robot.from_urdf(data / file)
    robot = robot.locked([joint for joint in robot.joint_names if "finger" in joint])
    limits = motion_limits(robot, read_joint_limits(data / limits_file))
    limits = replace(limits, torque_rate=np.full(len(robot.joint_names), TORQUE_RATE))
    clearance = collision_model(robot, data / file, search=[meshes])
    frame = FrameLimit(link, point=(0.0, 0.0, 0.1), speed=speed, lower=(-1.4, -1.4, -1.3), upper=(1.4, 1.4, 1.5))
    return Subject(name, Model(robot, (RigidBody(),)), limits, clearance, frame, resting_place(clearance, limits))


def sized(subject: Subject, x: np.ndarray, size: float) -> FourierMotion:
    """The series x about the resting place."""
    n = len(subject.limits.joint_names)
    family = FourierFamily(PERIOD, shared_harmonics(n, HARMONICS), "acceleration")
    values = size * family.coefficients(x)
    values[:, 0] += subject.rest
    return FourierMotion(subject.limits.joint_names, family, values)


def largest(subject: Subject, rng: np.random.Generator) -> tuple[FourierMotion, Certificate] | None:
    """A random motion, as large as its certificate lets it be."""
    n = len(subject.limits.joint_names)
    family = FourierFamily(PERIOD, shared_harmonics(n, HARMONICS), "acceleration")
    x = rng.standard_normal((n, family.variables))
    x[:, 0] = 0.0
    x *= (rng.uniform(0.5, 1.0) / envelope_of(family, subject.limits).gauge(x))[:, None]
    fails, size, best = 1.5, 1.0, None
    for _ in range(30):
        motion = sized(subject, x, size)
        certificate = subject.certificate(motion)
        if certificate.passed:
            best = (motion, certificate)
            break
        fails, size = size, 0.75 * size
    for _ in range(CLOSER):
        motion = sized(subject, x, 0.5 * (size + fails))
        certificate = subject.certificate(motion)
        if certificate.passed:
            best, size = (motion, certificate), 0.5 * (size + fails)
        else:
            fails = 0.5 * (size + fails)
    return best


def crossed(subject: Subject, motion: FourierMotion) -> tuple[list[str], float]:
    """What a motion violates at FINER times the certificate's grid, by samples alone, and its smallest distance."""
    robot, limits = subject.model.robot, subject.limits
    times = np.arange(round(PERIOD / STEP * FINER)) * STEP / FINER
    q, dq, ddq, dddq = motion.at(times)
    tau = subject.model.torque(
        robot.parameters, Trajectory(time=times, joint_names=robot.joint_names, q=q, dq=dq, ddq=ddq)
    )
    rate = np.gradient(tau, times, axis=0)
    link = next(link for link in robot.links if link.name == subject.frame.link)
    point = link.translation + link.rotation @ np.array(subject.frame.point)
    place, velocity = point_motion(robot, body_poses(robot, q), dq, link.body, point)
    distance = smallest_distance(subject.clearance, q)
    held = {
        "position": np.all((q >= limits.lower) & (q <= limits.upper)),
        "velocity": np.all(np.abs(dq) <= limits.velocity),
        "acceleration": np.all(np.abs(ddq) <= limits.acceleration),
        "jerk": np.all(np.abs(dddq) <= limits.jerk),
        "torque": np.all(1.1 * np.abs(tau) <= limits.effort),
        "torque_rate": np.all(1.1 * np.abs(rate) <= limits.torque_rate),
        "cartesian_speed": np.all(np.linalg.norm(velocity, axis=1) <= subject.frame.speed),
        "workspace": np.all((place >= subject.frame.lower) & (place <= subject.frame.upper)),
        "distance": distance >= subject.clearance.required,
    }
    return [name for name, kept in held.items() if not kept], distance


def smallest_distance(clearance: CollisionModel, q: np.ndarray) -> float:
    """Over all samples q (M, n); those that a direction taken a few samples before shows to be clear are not solved."""
    far = 1.2 * clearance.required
    separation = Separation(clearance, len(q) // STRIDE, within=far, between=0.0)
    separation.upper = np.maximum(separation.upper, far)
    near = [STRIDE * separation.near(np.ascontiguousarray(q[k::STRIDE])).pose + k for k in range(STRIDE)]
    doubtful = np.unique(np.concatenate(near))
    return float(clearance.distance(q[doubtful], far=far).min(initial=far))


def examine(subject: Subject, count: int) -> int:
    """Print what became of `count` motions; how many crossed a limit."""
    rng, wrong, closest = np.random.default_rng(SEED), 0, Counter[str]()
    distances, uses, done, start = [], [], 0, time.process_time()
    while done < count:
        found = largest(subject, rng)
        if found is None:
            continue
        motion, certificate = found
        violated, distance = crossed(subject, motion)
        wrong += bool(violated)
        closest[certificate.closest.quantity] += 1
        uses.append(certificate.closest.use)
        distances.append(distance)
        done += 1
        if done % 100 == 0:
            print(f"  {subject.name}: {done} of {count}", file=sys.stderr, flush=True)
        if violated:
            print(f"  {subject.name} {done}: {', '.join(violated)}", flush=True)
    seconds = time.process_time() - start
    print(
        f"{subject.name}: {count} certified motions, {wrong} cross a limit or collide at {FINER} times the grid; "
        f"smallest distance {1e3 * min(distances):.2f} mm (to keep {1e3 * subject.clearance.required:.0f}); "
        f"median use of the closest limit {np.median(uses):.3f}, which was "
        + ", ".join(f"{name} {number}" for name, number in closest.most_common())
        + f"; {seconds:.0f} CPU s",
        flush=True,
    )
    return wrong


def installed() -> Path | None:
    """Where the package example-robot-data lies, if it is installed."""
    from importlib.util import find_spec

    spec = find_spec("cmeel")
    folders = [Path(place) for place in (spec.submodule_search_locations or [])] if spec else []
    return next((f.parent / "cmeel.prefix/share" for f in folders if (f.parent / "cmeel.prefix/share").is_dir()), None)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--motions", type=int, default=1000)
    parser.add_argument("--meshes", type=Path, default=installed())
    options = parser.parse_args()
    data = os.environ.get("STEELYARD_REAL_DATA")
    if not data or options.meshes is None:
        print("set STEELYARD_REAL_DATA, and install example-robot-data or give --meshes", file=sys.stderr)
        return 2
    wrong = 0
    for name in FILES:
        subject = load(name, Path(data), options.meshes)
        for pair in subject.clearance.allowed:
            print(f"  {name}: may touch: {pair}")
        for missing in subject.clearance.unchecked:
            print(f"  {name}: not checked: {missing}")
        wrong += examine(subject, options.motions // len(FILES))
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
