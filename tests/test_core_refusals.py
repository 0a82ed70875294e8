"""What the core is given and cannot use is refused with one of our errors: no foreign exception, no silent answer."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import robots
from steelyard.basis import base_parameters
from steelyard.data.lowpass import LowPass
from steelyard.data.trajectory import Trajectory
from steelyard.errors import SteelyardError
from steelyard.estimate.least_squares import ordinary
from steelyard.model import Model
from steelyard.preparation.align import resample
from steelyard.robot.robot import Robot
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous


class Bench:
    """A planar arm, its model, and 300 samples of it."""

    def __init__(self, folder) -> None:
        self.folder = folder
        self.robot = robots.load(folder, "planar")
        self.model = Model(self.robot, (RigidBody(), Viscous()))
        motion = robots.states(self.robot.joint_names, 300)
        self.recording = robots.with_torque(motion, self.model.torque(np.arange(22.0), motion))
        self.info = self.model.absorb([self.recording])

    def with_breaks(self, *breaks: int) -> Trajectory:
        return replace(self.recording, breaks=breaks)

    def filtered(self, lowpass: LowPass):
        return self.model.absorb([self.recording], lowpass=lowpass)


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Bench(tmp_path_factory.mktemp("planar"))


REFUSED = {
    "position in degrees of many turns": lambda b: b.model.absorb([replace(b.recording, q=b.recording.q * 1e9)]),
    "velocity beyond all bounds": lambda b: b.model.absorb([replace(b.recording, dq=b.recording.dq * 1e200)]),
    "column that is not there": lambda b: b.model.absorb([b.recording], names=["link/upper/mas"]),
    "lock of an unknown joint": lambda b: b.robot.locked(["wrist"]),
    "lock of one name given as text": lambda b: b.robot.locked("elbow"),
    "recording of an unknown joint": lambda b: b.robot.for_joints(["shoulder", "wrist"]),
    "gravity of two numbers": lambda b: robots.load(b.folder, "planar", gravity=(0.0, 9.81)),
    "gravity of nan": lambda b: robots.load(b.folder, "planar", gravity=(0.0, 0.0, float("nan"))),
    "interval outside": lambda b: b.recording.interval(50.0, 60.0),
    "clock that goes back": lambda b: replace(b.recording, time=b.recording.time[::-1]),
    "torque of nan": lambda b: replace(b.recording, tau=b.recording.tau * np.nan),
    "two joints of one name": lambda b: replace(b.recording, joint_names=("elbow", "elbow")),
    "a channel of another length": lambda b: replace(b.recording, q=b.recording.q[:-1]),
}


@pytest.mark.parametrize("fault", REFUSED)
def test_refused_with_a_cure_or_choices(bench, fault):
    with pytest.raises(SteelyardError) as caught:
        REFUSED[fault](bench)
    error = caught.value
    assert error.what
    assert error.cure or error.choices or error.value is not None


# Each of these gives a foreign exception or an answer that means nothing; the mark goes when it is refused.
OPEN = {
    "too many parameters": lambda b: b.model.torque(np.zeros(40), b.recording),
    "too few parameters": lambda b: b.model.torque(np.zeros(4), b.recording),
    "misfit of too many parameters": lambda b: b.info.misfit(np.zeros(40)),
    "a weight too few": lambda b: b.info.scale([1.0]),
    "a negative weight": lambda b: b.info.scale([1.0, -1.0]),
    "a matrix of the wrong height": lambda b: b.info.project(("a",), np.ones((3, 1))),
    "a column twice": lambda b: b.model.absorb([b.recording], names=(b.model.names[6],) * 2),
    "breaks beyond the end": lambda b: b.with_breaks(5000),
    "breaks out of order": lambda b: b.with_breaks(200, 100),
    "a negative break": lambda b: b.with_breaks(-5),
    "lock at nan": lambda b: b.robot.locked({"elbow": float("nan")}),
    "lock at infinity": lambda b: b.robot.locked({"elbow": float("inf")}),
    "recording of no joint": lambda b: b.robot.for_joints([]),
    "unknown way with mimics": lambda b: Robot.from_urdf(robots.write(b.folder, "gripper"), mimic="projct"),  # type: ignore[arg-type]
    "joints of one name": lambda b: Robot.from_joints(["a", "a"]),
    "cutoff of zero": lambda b: b.filtered(LowPass(0.0)),
    "cutoff of nan": lambda b: b.filtered(LowPass(float("nan"))),
    "keep every zeroth sample": lambda b: b.filtered(LowPass(5.0, 0)),
    "grid without a step": lambda b: resample(b.recording, step=0.0),
    "tolerance of nan": lambda b: base_parameters(b.model, tolerance=float("nan")),
    "interval of 95 for 0.95": lambda b: ordinary(b.info).interval(95),
    "negative smoothing": lambda b: Coulomb(smoothing=-1.0).block(b.robot, b.recording),
}


@pytest.mark.parametrize("fault", OPEN)
def test_to_be_refused(bench, fault):
    with pytest.raises(SteelyardError), np.errstate(invalid="ignore", divide="ignore"):
        OPEN[fault](bench)


def test_a_robot_without_joints_has_no_parameters(bench):
    assert base_parameters(Model(bench.robot.locked(["shoulder", "elbow"]), (RigidBody(),))).count == 0


@pytest.mark.parametrize("use", [lambda b, t: b.model.absorb([t], lowpass=LowPass(5.0)), lambda b, t: resample(t)])
def test_one_sample_is_a_recording_too(bench, use):
    use(bench, bench.recording.samples(0, 1))


def test_an_interval_of_two_runs_whose_clocks_start_again(bench):
    t = bench.recording.time
    two = replace(bench.recording, time=np.concatenate([t[:150], t[:150]]), breaks=(150,))
    with pytest.raises(SteelyardError, match="clock starts again"):
        two.interval(0.2, 0.3)


def test_public_names_are_what_they_should_be_in_any_order_of_use():
    """`sy.prepare(recording, robot)` after `sy.identify` must still be the function, not the sub-package."""
    code = "import steelyard as sy; sy.identify; assert callable(sy.prepare), sy.prepare"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
