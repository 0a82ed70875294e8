"""Simulated recordings of the shipped arms, made once for all tests of a process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from steelyard.data.trajectory import Trajectory
from steelyard.robot.robot import Robot
from steelyard.simulate.mujoco import simulate_run
from steelyard.simulate.robots import robot_file


@dataclass(frozen=True)
class Run:
    """A recording (q and tau), the same without noise (q, dq, ddq, tau), and the robot's model."""

    recording: Trajectory
    noise_free: Trajectory
    robot: Robot


@cache
def run(arm: str, seed: int) -> Run:
    """One period of ten seconds at 500 Hz; the model file has the true parameters."""
    made = simulate_run(robot_file(f"{arm}.xml"), duration=10.0, seed=seed)
    robot = Robot.from_urdf(robot_file(f"{arm}.urdf"))
    return Run(made.trajectory, made.noise_free, robot.for_joints(made.trajectory.joint_names))


def with_load(arm: str, seed: int, load: float, folder: Path) -> Trajectory:
    """The recording of the same motion by an arm whose last body weighs `load` [kg] more."""
    text = robot_file(f"{arm}.xml").read_text()
    head, _, tail = text.rpartition('<inertial mass="')
    mass, quote, rest = tail.partition('"')
    path = folder / f"{arm}_loaded.xml"
    path.write_text(f'{head}<inertial mass="{float(mass) + load:g}{quote}{rest}')
    return simulate_run(path, duration=10.0, seed=seed).trajectory


def spliced(first: Trajectory, second: Trajectory, at: float) -> Trajectory:
    """`first` until `at` [s], `second` from then on."""
    later = first.time >= at
    parts = {c: np.where(later[:, None], second.channel(c), first.channel(c)) for c in ("q", "tau")}
    return Trajectory(first.time, first.joint_names, name="spliced", **parts)
