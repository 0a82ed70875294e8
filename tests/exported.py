"""Sessions of the odd little arm, identified from torque that its own equations give, for the tests of exports."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from odd_urdf import ODD
from steelyard.data.trajectory import Trajectory
from steelyard.estimate.full_columns import full_columns
from steelyard.formats.csv_write import write_csv
from steelyard.model import Model
from steelyard.robot.inertia import parameters_of, pseudo_inertia
from steelyard.robot.robot import Robot
from steelyard.session import workflow
from steelyard.session.run import Request, run
from steelyard.terms.names import terms_named

SIMPLE = ("rigid_body", "rotor_inertia", "viscous", "coulomb", "offset")
CURVED = ("rigid_body", "rotor_inertia", "viscous", "graded_friction", "offset")
_SCRATCH: list[TemporaryDirectory[str]] = []  # removed with the process
MJCF = """\
<mujoco model="odd"><compiler angle="radian" autolimits="true"/>
  <worldbody><body name="arm" pos="0 0 0.3" euler="0.3 0 0"><!-- the upper part -->
    <joint name="j1" type="hinge" axis="0 0 1" range="-1 2" damping="0.5" frictionloss="0.1"/>
    <inertial pos="0.01 -0.02 0.1" mass="2.50" fullinertia="0.02 0.03 0.024 0.001 -0.0005 0"/>
    <body name="slide" pos="0.1 0 0.2" euler="0 0.4 0">
      <joint name="j2" type="slide" axis="1 0 0" range="0 0.3" damping="20" frictionloss="3"/>
      <inertial pos="0 0 0.05" mass="1" diaginertia="0.003 0.004 0.005"/>
    </body>
  </body></worldbody>
</mujoco>
"""
FRICTION = {"viscous_friction": (0.9, 12.0), "coulomb_friction": (0.4, 5.0), "rotor_inertia": (0.05, 0.8),
            "bias": (0.03, -0.2)}  # fmt: skip


@cache
def session(
    kind: str = "plain", *, terms: Sequence[str] = SIMPLE, consistent: bool = True, friction: float = 1.0
) -> Path:
    """A session with a result; `kind` is one of ODD, or ``mjcf``; `friction` scales that of the first joint."""
    scratch = TemporaryDirectory(prefix="steelyard-test-")
    _SCRATCH.append(scratch)
    folder = Path(scratch.name)
    path = folder / ("odd.xml" if kind == "mjcf" else "odd.urdf")
    path.write_bytes(MJCF.encode() if kind == "mjcf" else ODD[kind])
    robot = Robot.from_file(path)
    files = [folder / "train.csv", folder / "unseen.csv"]
    for seed, file in enumerate(files):
        write_csv(file, recording(robot, seed=seed, friction=friction))
    request = Request(path, (files[0],), (files[1],), terms=tuple(terms), estimator="weighted", consistent=consistent)
    done = run(request)
    manifest = workflow.manifest_of(done, None)
    result = workflow.result_of(done, manifest)
    workflow.save(done, result, manifest, folder / "session", added=False, force=False)
    return folder / "session"


def recording(robot: Robot, *, seed: int, friction: float = 1.0, noise: float = 0.01) -> Trajectory:
    """Ten seconds at 100 Hz of q and the torque of a robot a little off its model file, with noise [N m or N]."""
    rng = np.random.default_rng(100 + seed)
    time = np.arange(0.0, 10.0, 0.01)
    n = len(robot.joint_names)
    middle, reach = 0.5 * (robot.lower + robot.upper), 0.4 * (robot.upper - robot.lower)
    phase, amplitude = rng.uniform(0.0, 2.0 * np.pi, (4, n)), rng.dirichlet(np.ones(4), n).T * reach
    rates = 2.0 * np.pi * 0.2 * np.arange(1, 5)[:, None, None]
    angle = rates * time[:, None] + phase[:, None, :]
    q = middle + np.sum(amplitude[:, None, :] * np.sin(angle), axis=0)
    dq = np.sum(amplitude[:, None, :] * rates * np.cos(angle), axis=0)
    ddq = -np.sum(amplitude[:, None, :] * rates**2 * np.sin(angle), axis=0)
    motion = Trajectory(time, robot.joint_names, q=q, dq=dq, ddq=ddq)
    model = Model(robot, terms_named(SIMPLE))
    tau = model.torque(truth(model, friction=friction), motion) + noise * rng.normal(size=q.shape)
    return Trajectory(time, robot.joint_names, q=q, tau=tau)


def truth(model: Model, *, friction: float = 1.0) -> np.ndarray:
    """(p,) columns of bodies 10 % off the model file's, with friction, rotor inertia and offsets."""
    rng = np.random.default_rng(3)
    links = {}
    for link in model.robot.links:
        if link.body >= 0 and link.parameters is not None and link.parameters[0] > 0.0:
            T = np.eye(4) + rng.uniform(-0.05, 0.05, (4, 4))
            links[link.name] = parameters_of(T @ pseudo_inertia(link.parameters) @ T.T)
    scalars = {
        f"actuator/{joint}/{quantity}": values[j] * (friction if j == 0 and quantity == "viscous_friction" else 1.0)
        for quantity, values in FRICTION.items()
        for j, joint in enumerate(model.robot.joint_names)
    }
    return full_columns(model, links, scalars)
