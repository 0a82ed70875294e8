"""A session about a small arm, made from its own model: what reports and the doctor are tried on."""

from __future__ import annotations

from html import escape
from pathlib import Path

import numpy as np

from robots import body, joint
from steelyard.data.trajectory import Trajectory
from steelyard.formats.csv_write import write_csv
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.session import workflow
from steelyard.session.run import Request, run
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.viscous import Viscous

TERMS = (RigidBody(), RotorInertia(), Viscous(), Coulomb(), Offset())
NAMES = ("rigid_body", "rotor_inertia", "viscous", "coulomb", "offset")
NOISE = 0.05  # [N m]


def model_text(joints=("shoulder", "elbow"), robot: str = "small arm") -> str:
    """A planar arm of two links in a vertical plane, as URDF."""
    first, second = (escape(name, quote=True) for name in joints)
    parts = (
        body("base"),
        body("upper", 2.4, "0.25 0 0.05", "0.5 0.06 0.06"),
        body("lower", 1.3, "0.2 0 -0.08", "0.4 0.05 0.05"),
        joint(first, "base upper", axis="0 -1 0", at="0 0 0.6"),
        joint(second, "upper lower", axis="0 -1 0", at="0.5 0 0"),
    )
    return f'<robot name="{escape(robot, quote=True)}">{"".join(parts)}</robot>'


def truth(model: Model) -> np.ndarray:
    """The model file's values, ten per cent off, with friction."""
    theta = 1.1 * model.nominal
    for k, name in enumerate(model.names):
        theta[k] = {"viscous_friction": 0.8, "coulomb_friction": 0.6, "rotor_inertia": 0.05, "bias": 0.1}.get(
            name.rpartition("/")[2], theta[k]
        )
    return theta


def motion(model: Model, *, seed: int, seconds: float = 20.0, rate: float = 100.0) -> Trajectory:
    """Positions and noisy torque along a random motion of three harmonics that repeats only after the recording."""
    rng = np.random.default_rng(seed)
    n = len(model.robot.joint_names)
    t = np.arange(int(seconds * rate)) / rate
    q, dq, ddq = np.zeros((3, len(t), n))
    for k in range(1, 4):
        w = 2.0 * np.pi * (0.11 * k + 0.013 * seed)
        for j in range(n):
            a, phase = rng.uniform(0.2, 0.5), rng.uniform(0.0, 2.0 * np.pi)
            q[:, j] += a * np.sin(w * t + phase)
            dq[:, j] += a * w * np.cos(w * t + phase)
            ddq[:, j] -= a * w**2 * np.sin(w * t + phase)
    exact = Trajectory(time=t, joint_names=model.robot.joint_names, q=q, dq=dq, ddq=ddq)
    tau = model.torque(truth(model), exact) + NOISE * rng.normal(size=q.shape)
    return Trajectory(time=t, joint_names=model.robot.joint_names, q=q, tau=tau)


def make_session(folder: Path, *, joints=("shoulder", "elbow"), unseen: int = 1, robot: str = "small arm") -> Path:
    """Identify the arm from one motion, prove it on `unseen` others, and save the session; no report yet."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "arm.urdf"
    file.write_text(model_text(joints, robot), encoding="utf-8")
    model = Model(Robot.from_urdf(file), TERMS)
    paths = [folder / "train.csv", *(folder / f"unseen{k}.csv" for k in range(unseen))]
    for seed, path in enumerate(paths):
        write_csv(path, motion(model, seed=seed))
    done = run(Request(model=file, train=(paths[0],), validate=tuple(paths[1:]), terms=NAMES))
    manifest = workflow.manifest_of(done, None)
    target = folder / "session"
    workflow.save(done, workflow.result_of(done, manifest), manifest, target, added=False, force=False)
    return target
