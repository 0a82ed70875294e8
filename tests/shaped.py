"""Robots with collision shapes whose distances follow from a formula, and mesh files, for tests."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from steelyard.robot.robot import Robot

FAR, NEAR = 0.5, 0.4  # [m] from shoulder to elbow, from elbow to ball
BASE, BALL = 0.1, 0.05  # [m] radii


def shape(xml: str, at: str = "0 0 0", rpy: str = "0 0 0") -> str:
    return f'<collision><origin xyz="{at}" rpy="{rpy}"/><geometry>{xml}</geometry></collision>'


def link(name: str, *shapes: str, mass: float = 1.0) -> str:
    return (
        f'<link name="{name}"><inertial><mass value="{mass}"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" '
        f'izz="0.015"/></inertial>{"".join(shapes)}</link>'
    )


def joint(name: str, parent: str, child: str, at: str, axis: str = "0 0 1", kind: str = "revolute") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{at}"/>'
        f'<axis xyz="{axis}"/><limit lower="-3" upper="3" velocity="30" effort="500"/></joint>'
    )


def write(folder: Path, *parts: str) -> Path:
    path = folder / "shaped.urdf"
    path.write_text(f'<robot name="shaped">{"".join(parts)}</robot>')
    return path


def arm(folder: Path, *more: str) -> Path:
    """A ball on a base, a thin upper link, and a lower link with a ball at its end; both joints about z."""
    return write(
        folder,
        link("base", shape(f'<sphere radius="{BASE}"/>')),
        link("upper", shape('<box size="0.2 0.02 0.02"/>', "0.25 0 0")),
        link("lower", shape(f'<sphere radius="{BALL}"/>', f"{NEAR} 0 0")),
        joint("shoulder", "base", "upper", "0 0 0"),
        joint("elbow", "upper", "lower", f"{FAR} 0 0"),
        *more,
    )


def arm_distance(q: np.ndarray) -> np.ndarray:
    """From ball to base at positions q (M, 2) [m]."""
    return np.sqrt(FAR**2 + NEAR**2 + 2.0 * FAR * NEAR * np.cos(q[:, 1])) - BASE - BALL


def loaded(path: Path) -> Robot:
    return Robot.from_urdf(path)


def box_triangles(low: tuple[float, ...], high: tuple[float, ...]) -> np.ndarray:
    """(12, 3, 3) triangles of a box, outwards."""
    corners = np.array([[(low, high)[k >> axis & 1][axis] for axis in range(3)] for k in range(8)])
    faces = [(0, 2, 3), (0, 3, 1), (4, 5, 7), (4, 7, 6), (0, 1, 5), (0, 5, 4), (2, 6, 7), (2, 7, 3), (0, 4, 6),
             (0, 6, 2), (1, 3, 7), (1, 7, 5)]  # fmt: skip
    return corners[np.array(faces)]


def fork() -> np.ndarray:
    """Two prongs along x with a gap of 0.2 m between them, and a back: a shape that is far from its hull."""
    parts = (((0.0, -0.15, -0.05), (0.4, -0.1, 0.05)), ((0.0, 0.1, -0.05), (0.4, 0.15, 0.05)),
             ((-0.05, -0.15, -0.05), (0.0, 0.15, 0.05)))  # fmt: skip
    return np.concatenate([box_triangles(*part) for part in parts])


def binary_stl(triangles: np.ndarray) -> bytes:
    body = b"".join(struct.pack("<12fH", 0, 0, 0, *corners.ravel(), 0) for corners in triangles)
    return bytes(80) + struct.pack("<I", len(triangles)) + body


def text_stl(triangles: np.ndarray) -> bytes:
    facets = "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join(f"vertex {x!r} {y!r} {z!r}\n" for x, y, z in corners.tolist())
        + "endloop\nendfacet\n"
        for corners in triangles
    )
    return f"solid part\n{facets}endsolid part\n".encode()


def obj(triangles: np.ndarray) -> bytes:
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in triangles.reshape(-1, 3).tolist()]
    lines += [f"f {3 * k + 1}//1 {3 * k + 2}//1 {3 * k + 3}//1" for k in range(len(triangles))]
    return ("# part\n" + "\n".join(lines) + "\n").encode()
