"""Mesh files of a robot: found in folders that were named, read with bounds, and never followed anywhere else.

STL, binary or text, and OBJ: the formats of collision geometry. What cannot be had is told, with what was tried.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.robot.strict_number import shown

Array = NDArray[np.float64]
LARGEST_FILE = 50_000_000  # bytes
MOST_TRIANGLES = 1_000_000
FARTHEST = 1e6  # [units of the file] from the origin; millimetres included
_PACKAGE = "package://"
_SCHEME = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*:")


class Mesh(NamedTuple):
    """A surface: vertices (V, 3) in units of the file, triangles (F, 3) of their indices."""

    vertices: Array
    triangles: NDArray[np.int64]


class MeshRefused(Exception):
    """A mesh that cannot be had; says why."""


def find_mesh(reference: str, folders: Sequence[Path]) -> Path:
    """The file that a model means.

    Args:
        reference: `package://name/path`, where a folder of that name is, or is in, one of `folders`; or a path below
            one of them.
        folders: that were named, that of the model file among them.

    Raises:
        MeshRefused: nothing there, or a reference that leaves the folders: absolute, `..`, another scheme, a link.
    """
    package, rest = "", reference
    if reference.startswith(_PACKAGE):
        package, _, rest = reference.removeprefix(_PACKAGE).partition("/")
    elif _SCHEME.match(reference):
        raise MeshRefused(f"{shown(reference)} is neither package:// nor a path below the model")
    parts = PurePosixPath(rest).parts
    if not rest or rest.startswith("/") or "\\" in rest or "\x00" in reference or ".." in (*parts, package):
        raise MeshRefused(f"{shown(reference)} leaves the folders it may be in")
    tried = []
    for folder in folders:
        for path in _candidates(folder, package, rest):
            tried.append(str(path))
            if _is_file(path):
                if not path.resolve().is_relative_to(folder.resolve()):
                    raise MeshRefused(f"{shown(reference)} is a link that leaves the folder it is in")
                return path
    raise MeshRefused(f"{shown(reference)} was not found; tried {', '.join(tried[:4]) or 'no folder'}")


def read_mesh(path: Path) -> Mesh:
    """The surface in an STL or OBJ file.

    Raises:
        MeshRefused: another format, too large, broken, or not finite.
    """
    kind = path.suffix.lower()
    if kind not in (".stl", ".obj"):
        raise MeshRefused(f"{path.name} is neither STL nor OBJ: convert it")
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= LARGEST_FILE else b""
    except OSError as error:
        raise MeshRefused(f"{path.name} cannot be read: {error.strerror}") from None
    if size > LARGEST_FILE:
        raise MeshRefused(f"{path.name} is larger than {LARGEST_FILE // 1_000_000} MB")
    try:
        mesh = _obj(data) if kind == ".obj" else _stl(data)
    except (ValueError, OverflowError) as error:
        raise MeshRefused(f"{path.name} is broken: {str(error)[:80]}") from None
    if not 0 < len(mesh.triangles) <= MOST_TRIANGLES:
        raise MeshRefused(f"{path.name} has {len(mesh.triangles)} triangles, not 1 to {MOST_TRIANGLES}")
    if not (np.isfinite(mesh.vertices).all() and np.abs(mesh.vertices).max() < FARTHEST):
        raise MeshRefused(f"{path.name} has points that are not finite, or absurdly far away")
    return mesh


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name too long for the file system
        return False


def _candidates(folder: Path, package: str, rest: str) -> list[Path]:
    if not package:
        return [folder / rest]
    return ([folder / rest] if folder.name == package else []) + [folder / package / rest]


def _stl(data: bytes) -> Mesh:
    count = int.from_bytes(data[80:84], "little") if len(data) >= 84 else -1
    if len(data) == 84 + 50 * count:
        facets = np.frombuffer(data, dtype=[("v", "<f4", (4, 3)), ("a", "<u2")], offset=84)
        corners = facets["v"][:, 1:].reshape(-1, 3).astype(np.float64)
    elif data.lstrip()[:5].lower() == b"solid":
        lines = [line.split() for line in data.decode("ascii", "replace").splitlines()]
        points = [line[1:] for line in lines if line and line[0] == "vertex"]
        if any(len(point) != 3 for point in points) or len(points) % 3:
            raise ValueError("a vertex is not three numbers, or a facet not three vertices")
        corners = np.array(points, dtype=np.float64).reshape(-1, 3)
    else:
        raise ValueError("its length is not that of its triangles")
    vertices, index = np.unique(corners, axis=0, return_inverse=True)
    return Mesh(vertices, index.reshape(-1, 3).astype(np.int64))


def _obj(data: bytes) -> Mesh:
    vertices: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    for line in data.decode("utf-8", "replace").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            if len(words) < 4:
                raise ValueError("a vertex is not three numbers")
            vertices.append([float(word) for word in words[1:4]])
        elif words[:1] == ["f"]:
            corners = [int(word.partition("/")[0]) for word in words[1:]]
            corners = [k - 1 if k > 0 else len(vertices) + k for k in corners]
            triangles += [(corners[0], a, b) for a, b in pairwise(corners[1:])]
    index = np.array(triangles, dtype=np.int64).reshape(-1, 3)
    if index.size and not (index.min() >= 0 and index.max() < len(vertices)):
        raise ValueError("a face names a vertex that is not there")
    return Mesh(np.array(vertices, dtype=np.float64).reshape(-1, 3), index)
