"""Tiny robots for tests, written as URDF when a test asks for one, and random states to try them at.

Between them they have every kind of joint, tilted mounts, turned inertial frames, tool links, branches and mimics.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin

from steelyard.data.trajectory import Trajectory
from steelyard.robot.robot import Robot

PLAIN = "0 0 0"
TILTED = (1.3, -2.1, -9.4)  # gravity in the frame of a mount that leans both ways [m/s2]


def body(name: str, mass: float = 0.0, com: str = PLAIN, box: str = "0.1 0.1 0.3", rpy: str = PLAIN) -> str:
    """A link with the inertia of a homogeneous box [kg, m]; without mass it has no inertial at all."""
    if mass == 0.0:
        return f'<link name="{name}"/>'
    a, b, c = (float(word) ** 2 for word in box.split())
    xx, yy, zz = (mass / 12.0 * pair for pair in (b + c, a + c, a + b))
    return (
        f'<link name="{name}"><inertial><origin xyz="{com}" rpy="{rpy}"/><mass value="{mass!r}"/>'
        f'<inertia ixx="{xx!r}" ixy="0" ixz="0" iyy="{yy!r}" iyz="0" izz="{zz!r}"/></inertial></link>'
    )


def joint(
    name: str,
    links: str,
    *,
    kind: str = "revolute",
    axis: str = "0 0 1",
    at: str = PLAIN,
    rpy: str = PLAIN,
    more: str = "",
) -> str:
    """A joint between two links, "parent child"; every kind but the endless one has wide limits."""
    parent, child = links.split()
    limit = "" if kind in ("fixed", "continuous") else '<limit lower="-3" upper="3" velocity="5" effort="100"/>'
    turns = "" if kind == "fixed" else f'<axis xyz="{axis}"/>'
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{at}" rpy="{rpy}"/>{turns}{limit}{more}</joint>'
    )


def mimic(leader: str, multiplier: float = 1.0, offset: float = 0.0) -> str:
    return f'<mimic joint="{leader}" multiplier="{multiplier!r}" offset="{offset!r}"/>'


def planar(offset: float) -> tuple[str, ...]:
    """Two links in a vertical plane, positive upwards; the centres of mass lie `offset` [m] off the link line."""
    return (
        body("base"),
        body("upper", 2.4, f"0.25 0 {offset}", "0.5 0.06 0.06"),
        body("lower", 1.3, f"0.2 0 {-1.6 * offset}", "0.4 0.05 0.05"),
        joint("shoulder", "base upper", axis="0 -1 0", at="0 0 0.6"),
        joint("elbow", "upper lower", axis="0 -1 0", at="0.5 0 0"),
    )


TEXTS: Mapping[str, tuple[str, ...]] = {
    "planar": planar(0.0),
    "planar_offset": planar(0.05),
    "rail": (  # a slide and an endless joint on a leaning base, none of the frames aligned
        body("floor"),
        body("mount", 5.0, "0 0 0.1"),
        body("carriage", 2.0, "0.02 -0.05 0.04", "0.2 0.1 0.1", "0.3 -0.4 0.5"),
        body("arm", 1.5, "0.1 0.03 0.2", "0.05 0.1 0.4", "-1.1 0.2 0.7"),
        body("wrist", 0.7, "0.01 0.02 0.05", "0.05 0.08 0.1", "0.5 0.6 -0.7"),
        joint("lean", "floor mount", kind="fixed", at="0.1 0.2 0.3", rpy="0.4 -0.3 0.2"),
        joint("slide", "mount carriage", kind="prismatic", axis="0.6 0 0.8", at="0 0.1 0.2", rpy="0.1 0.2 0.3"),
        joint("spin", "carriage arm", kind="continuous", axis="0 1 0", at="0.1 0 0.1", rpy="-0.7 0.1 0.2"),
        joint("bend", "arm wrist", axis="0.36 0.48 0.8", at="0 0 0.4", rpy="0.2 -0.5 1.1"),
    ),
    "branching": (  # a torso with two arms and a head; joints not in the order of the branches
        body("base"),
        body("torso", 6.0, "0.02 0.01 0.3", "0.2 0.3 0.6"),
        body("left", 1.2, "0 0.15 0.02", "0.05 0.3 0.05", "0.2 0 0.1"),
        body("left_hand", 0.4, "0.02 0.05 0", "0.04 0.1 0.08"),
        body("right", 1.1, "0.01 -0.15 0.02", "0.05 0.3 0.05", "0 0.3 0"),
        body("head", 0.9, "0.03 0 0.1", "0.15 0.15 0.2"),
        joint("right_shoulder", "torso right", axis="1 0 0", at="0 -0.2 0.5", rpy="0 0 0.3"),
        joint("waist", "base torso", at="0 0 0.8"),
        joint("left_shoulder", "torso left", axis="1 0 0", at="0 0.2 0.5", rpy="0.3 0 0"),
        joint("neck", "torso head", kind="continuous", axis="0 1 0", at="0 0 0.65"),
        joint("left_slide", "left left_hand", kind="prismatic", axis="0 1 0", at="0 0.3 0"),
    ),
    "gripper": (  # two fingers: the second mirrors the first, from an offset
        body("base"),
        body("arm", 2.0, "0.2 0.01 0.02", "0.4 0.1 0.1", "0.1 0.2 0.3"),
        body("palm", 0.8, "0.05 0 0.01"),
        body("finger_a", 0.1, "0.02 0.01 0.03", "0.02 0.03 0.08"),
        body("finger_b", 0.12, "0.02 -0.01 0.03", "0.02 0.03 0.08", "0 0.4 0"),
        joint("shoulder", "base arm", axis="0 1 0", rpy="0.2 0 0"),
        joint("wrist", "arm palm", axis="1 0 0", at="0.4 0 0"),
        joint("finger_a", "palm finger_a", kind="prismatic", axis="0 1 0", at="0.1 0.01 0"),
        joint("finger_b", "palm finger_b", kind="prismatic", axis="0 1 0", at="0.1 -0.01 0", rpy="0 0 0.2",
              more=mimic("finger_a", -1.0, 0.015)),
    ),
    "knuckles": (  # one coordinate moves three bodies in series, through a chain of mimics
        body("base"),
        body("proximal", 0.5, "0.04 0.01 0", "0.08 0.03 0.03", "0.1 0.2 0.3"),
        body("middle", 0.3, "0.03 0 0.01", "0.06 0.03 0.02"),
        body("distal", 0.2, "0.02 0.005 0", "0.04 0.02 0.02", "0.3 0 0.2"),
        body("nail", 0.05, "0.01 0 0.01", "0.02 0.02 0.01"),
        joint("first", "base proximal", axis="0 1 0", at="0.1 0 0", rpy="0.3 0.1 0"),
        joint("second", "proximal middle", axis="0 0.8 0.6", at="0.08 0 0", more=mimic("first", 0.7, 0.2)),
        joint("third", "middle distal", axis="0 1 0", at="0.06 0 0", rpy="0 0.1 0.2", more=mimic("second", -1.4, 0.1)),
        joint("push", "distal nail", kind="prismatic", axis="1 0 0", at="0.04 0 0", more=mimic("first", 0.05, 0.01)),
    ),
    "tooled": (  # links joined by fixed joints: a flange without inertial, a tool and a camera on it
        body("base", 3.0),
        body("stand", 4.0, "0 0 0.2"),
        body("upper", 3.0, "0.1 0.02 0.15", "0.1 0.12 0.5", "0.4 0.2 0.1"),
        body("lower", 1.6, "0.02 0.01 0.2", "0.08 0.08 0.4"),
        body("flange"),
        body("tool", 0.9, "0.05 -0.02 0.1", "0.05 0.1 0.2", "0.7 0.1 -0.4"),
        body("camera", 0.2, "0.01 0.02 0.03", "0.05 0.03 0.02", "0 0 0.6"),
        joint("foot", "base stand", kind="fixed", at="0.1 0 0", rpy="0 0 0.5"),
        joint("yaw", "stand upper", at="0 0 0.4"),
        joint("pitch", "upper lower", axis="0 1 0", at="0.1 0 0.4", rpy="0.1 0 0"),
        joint("bolt", "lower flange", kind="fixed", at="0 0.1 0.4", rpy="0.3 0.2 0.1"),
        joint("clamp", "flange tool", kind="fixed", at="0.02 0.03 0.04", rpy="-0.5 0.3 0.9"),
        joint("bracket", "flange camera", kind="fixed", at="0.1 0 -0.05", rpy="1.0 -0.3 0.2"),
    ),
}  # fmt: skip


def write(folder: Path, name: str, parts: Sequence[str] | None = None) -> Path:
    """The URDF of a robot of TEXTS (or of the parts given) in a folder; its path."""
    path = folder / f"{name}.urdf"
    lines = TEXTS[name] if parts is None else parts
    path.write_text(f'<robot name="{name}">\n' + "\n".join(lines) + "\n</robot>\n", encoding="utf-8")
    return path


def load(
    folder: Path, name: str, parts: Sequence[str] | None = None, *, gravity: Sequence[float] = (0, 0, -9.81)
) -> Robot:
    """The same, loaded."""
    return Robot.from_urdf(write(folder, name, parts), gravity=gravity)


def chain(links: Sequence[str], *, digits: int = 16) -> tuple[str, ...]:
    """A serial arm: for each joint "kind axis xyz rpy" with rpy in quarter turns, written with `digits` decimals."""
    parts = [body("link_0")]
    for k, line in enumerate(links, start=1):
        kind, axis, at, quarters = (word.replace(",", " ") for word in line.split())
        rpy = " ".join(f"{float(word) * np.pi / 2:.{digits}f}" for word in quarters.split())
        parts.append(body(f"link_{k}", 1.0 + 0.3 * k, f"0.0{k} 0.01 0.05", "0.1 0.2 0.15", "0.1 0.2 0.3"))
        parts.append(joint(f"joint_{k}", f"link_{k - 1} link_{k}", kind=kind, axis=axis, at=at, rpy=rpy))
    return tuple(parts)


def states(names: Sequence[str], count: int = 60, *, seed: int = 1, span: float = 2.5) -> Trajectory:
    """Random positions, velocities and accelerations, wilder than a robot's; torque zero."""
    rng = np.random.default_rng(seed)
    draw = [scale * rng.uniform(-1.0, 1.0, (count, len(names))) for scale in (span, 3.0, 10.0)]
    return Trajectory(
        time=0.01 * np.arange(count, dtype=np.float64),
        joint_names=tuple(names),
        q=draw[0], dq=draw[1], ddq=draw[2],
        tau=np.zeros((count, len(names))),
        name="random states",
    )  # fmt: skip


def with_torque(trajectory: Trajectory, tau: np.ndarray) -> Trajectory:
    """The same motion with another torque (a recording of its own)."""
    return Trajectory(
        time=trajectory.time, joint_names=trajectory.joint_names, q=trajectory.q, dq=trajectory.dq,
        ddq=trajectory.ddq, tau=tau, valid=trajectory.valid, breaks=trajectory.breaks, name=trajectory.name,
    )  # fmt: skip


def pinocchio_torque(model: pin.Model, trajectory: Trajectory) -> np.ndarray:
    """(T, n) inverse dynamics by Pinocchio, joints found by name; endless joints turned into its (cos, sin)."""
    data = model.createData()
    where = [model.joints[model.getJointId(name)].idx_v for name in trajectory.joint_names]
    neutral = pin.neutral(model)
    torque = np.zeros((len(trajectory), model.nv))
    for k in range(len(trajectory)):
        q, v, a = (np.zeros(model.nv) for _ in range(3))
        q[where], v[where], a[where] = (trajectory.channel(name)[k] for name in ("q", "dq", "ddq"))
        torque[k] = pin.rnea(model, data, pin.integrate(model, neutral, q), v, a)
    return torque[:, where]


def relative(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Largest difference over the largest value."""
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())
