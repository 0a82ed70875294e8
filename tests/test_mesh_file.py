"""Meshes are read exactly, from the folders that were named and from nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

import shaped
from steelyard.robot import mesh_file
from steelyard.robot.mesh_file import MeshRefused, find_mesh, read_mesh


@pytest.mark.parametrize(
    ("name", "write"), [("a.stl", shaped.binary_stl), ("b.STL", shaped.text_stl), ("c.obj", shaped.obj)]
)
def test_every_format_gives_the_same_surface(tmp_path, name, write):
    """Triangles as they were written, to the single precision of binary STL (6e-8 of 0.4 m)."""
    (tmp_path / name).write_bytes(write(shaped.fork()))
    mesh = read_mesh(tmp_path / name)
    assert mesh.vertices[mesh.triangles] == pytest.approx(shaped.fork(), abs=3e-8)


def test_polygons_and_negative_numbers_of_an_obj(tmp_path):
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf -4 -3 -2 -1\n")
    mesh = read_mesh(tmp_path / "a.obj")
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.dae", b"<COLLADA/>", "neither STL nor OBJ"),
        ("a.stl", b"", "length"),
        ("a.stl", bytes(80) + b"\xff\xff\xff\xff" + bytes(50), "length"),
        ("a.stl", bytes(84), "0 triangles"),
        ("a.stl", b"solid a\nvertex 1 2\nendsolid", "three"),
        ("a.stl", b"solid a\nvertex 1 2 x\nvertex 1 2 3\nvertex 0 0 0\n", "broken"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "not there"),
        ("a.obj", b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not finite"),
        ("a.obj", b"v 0 0 1e30\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "absurdly"),
        ("a.obj", b"v 0 0\n", "three numbers"),
        ("a.obj", b"v 0 0 0\nf 1 1 99999999999999999999\n", "broken"),
    ],
)
def test_what_is_no_mesh(tmp_path, name, data, why):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(MeshRefused, match=why):
        read_mesh(tmp_path / name)


def test_sizes_are_bounded(tmp_path, monkeypatch):
    (tmp_path / "a.stl").write_bytes(shaped.binary_stl(shaped.fork()))
    monkeypatch.setattr(mesh_file, "MOST_TRIANGLES", 35)
    with pytest.raises(MeshRefused, match="36 triangles"):
        read_mesh(tmp_path / "a.stl")
    monkeypatch.setattr(mesh_file, "LARGEST_FILE", 1000)
    with pytest.raises(MeshRefused, match="larger"):
        read_mesh(tmp_path / "a.stl")


def test_where_meshes_are_found(tmp_path):
    inside = tmp_path / "ws" / "arm" / "meshes"
    inside.mkdir(parents=True)
    (inside / "a.stl").write_bytes(b"x")
    reference = "package://arm/meshes/a.stl"
    assert find_mesh(reference, [tmp_path / "ws"]) == inside / "a.stl"  # the folder holds the package
    assert find_mesh(reference, [tmp_path / "ws" / "arm"]) == inside / "a.stl"  # the folder is the package
    assert find_mesh("meshes/a.stl", [tmp_path / "ws" / "arm"]) == inside / "a.stl"
    with pytest.raises(MeshRefused, match="tried"):
        find_mesh(reference, [tmp_path])


@pytest.mark.parametrize(
    "reference",
    ["package://arm/../../secret.stl", "../secret.stl", "/etc/secret.stl", "file:///etc/secret.stl", "", "C:\\a.stl",
     "http://host/a.stl", "package://../secret.stl", "a\\..\\secret.stl", "package://arm//etc/secret.stl", "a\x00.stl",
     "x" * 5000 + ".stl"],
)  # fmt: skip
def test_what_leaves_the_folders(tmp_path, reference):
    (tmp_path / "secret.stl").write_bytes(b"x")
    (tmp_path / "ws" / "arm").mkdir(parents=True)
    with pytest.raises(MeshRefused):
        find_mesh(reference, [tmp_path / "ws", tmp_path / "ws" / "arm"])


def test_a_link_may_not_lead_out(tmp_path):
    (tmp_path / "secret.stl").write_bytes(b"x")
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "a.stl").symlink_to(tmp_path / "secret.stl")
    with pytest.raises(MeshRefused, match="link that leaves"):
        find_mesh("a.stl", [tmp_path / "ws"])
    (tmp_path / "ws" / "b.stl").write_bytes(b"x")
    (tmp_path / "ws" / "c.stl").symlink_to(tmp_path / "ws" / "b.stl")
    assert find_mesh("c.stl", [tmp_path / "ws"]).name == "c.stl"


def test_vertices_are_shared(tmp_path):
    """36 triangles of three boxes: each corner once, and not 108 of them."""
    (tmp_path / "a.stl").write_bytes(shaped.binary_stl(shaped.fork()))
    assert len(np.unique(shaped.fork().reshape(-1, 3).astype(np.float32), axis=0)) == len(
        read_mesh(tmp_path / "a.stl").vertices
    )
