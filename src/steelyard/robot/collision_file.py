"""The collision geometry of a model file, link by link: primitives as they are, meshes from folders that were named.

What cannot be had is never passed over: it becomes a finding, and the link is named among what was not checked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from lxml import etree
from numpy.typing import NDArray

from steelyard.errors import ModelError
from steelyard.finding import Finding
from steelyard.robot.collision_shape import SIZES, Kind, Shape, box_of_inertia
from steelyard.robot.finding_log import FindingLog
from steelyard.robot.inertia import rotation_rpy
from steelyard.robot.mesh_file import Mesh, MeshRefused, find_mesh, read_mesh
from steelyard.robot.mjcf_compiler import read_compiler
from steelyard.robot.mjcf_defaults import Resolved, read_defaults
from steelyard.robot.mjcf_frame import Frame, read_frame
from steelyard.robot.mjcf_geometry import read_solid, shape_of
from steelyard.robot.mjcf_reader import WORLD, MjcfTree
from steelyard.robot.robot import Robot
from steelyard.robot.strict_number import read_number, read_numbers, shown
from steelyard.robot.urdf_elements import LARGEST, Owner, children
from steelyard.robot.xml_reader import local_name, parse_model_xml

_ONES = "1 1 1"
_ZEROS = "0 0 0"


@dataclass
class CollisionGeometry:
    """What a model file says of shapes, gathered while it is read.

    Attributes:
        shapes: of all links that the robot has.
        joined: pairs of links with a moving joint between them.
        findings: what could not be had, with the cure.
        unchecked: links whose true shape is not known, in words.
    """

    shapes: list[Shape] = field(default_factory=list)
    joined: set[frozenset[str]] = field(default_factory=set)
    findings: list[Finding] = field(default_factory=list)
    unchecked: list[str] = field(default_factory=list)


def read_collision_geometry(robot: Robot, path: Path, search: Sequence[Path]) -> CollisionGeometry:
    """The shapes of a robot.

    A link whose mesh cannot be had is stood in for by the box that has its mass and inertia.

    Args:
        robot: read from the same file.
        path: the URDF or MJCF.
        search: folders in which packages and meshes may be, besides that of the file.

    Raises:
        ModelError: the file cannot be read, or is not the one the robot came from.
    """
    model = parse_model_xml(path)
    if hashlib.sha256(model.data).hexdigest() != robot.digest:
        raise ModelError(
            "this is not the file that the robot was read from", where=str(path), cure="read the robot again"
        )
    reader = _Reader(robot, path, [path.parent, *search], CollisionGeometry())
    if model.kind == "urdf":
        _read_urdf(model.root, reader)
    else:
        _read_mjcf(model.root, reader)
    return reader.found


@dataclass(frozen=True)
class _Reader:
    """Where to look, and where to put what is found."""

    robot: Robot
    path: Path
    folders: list[Path]
    found: CollisionGeometry

    def missing(self, link: str, why: str, line: int) -> None:
        """Note a shape that cannot be had, and put a stand-in where there is none yet."""
        if any(text.startswith(f"{link}: ") for text in self.found.unchecked):
            return
        parameters = next((known.parameters for known in self.robot.links if known.name == link), None)
        box = None if parameters is None else box_of_inertia(link, parameters)
        stands = "nothing stands in for it" if box is None else "a box of its mass and inertia stands in for it"
        if box is not None:
            self.found.shapes.append(box)
        self.found.unchecked.append(f"{link}: its true shape ({stands})")
        self.found.findings.append(
            Finding(
                code="excite.mesh_missing",
                level="warning",
                message=f"the collision geometry of link {shown(link)} cannot be had: {why}; {stands}",
                where=f"{self.path.name}:{line}, link {shown(link)}",
                cure="name the folder of the meshes (for package://NAME/... one that is, or holds, the folder NAME)",
            )
        )

    def mesh(self, link: str, reference: str, scale: Sequence[float], frame: Frame, line: int) -> None:
        """Read a mesh and add it."""
        try:
            mesh = read_mesh(find_mesh(reference, self.folders))
        except MeshRefused as refusal:
            self.missing(link, str(refusal), line)
            return
        self.found.shapes.append(_surface(link, mesh, np.array(scale), frame))


def _surface(link: str, mesh: Mesh, scale: NDArray[np.float64], frame: Frame) -> Shape:
    return Shape(link, "mesh", (), frame.rotation, frame.translation, mesh.vertices * scale, mesh.triangles)


def _read_urdf(root: etree._Element, reader: _Reader) -> None:
    links = {link.name: link.parameters is not None and link.parameters[0] > 0.0 for link in reader.robot.links}
    for element in children(root, "joint"):
        ends = [child.get("link") for tag in ("parent", "child") for child in children(element, tag)[:1]]
        if element.get("type") != "fixed" and len(ends) == 2:
            reader.found.joined.add(frozenset(map(str, ends)))
    for element in children(root, "link"):
        name = str(element.get("name"))
        parts = children(element, "collision")
        if name in links and not parts and (children(element, "visual") or links[name]):
            reader.found.unchecked.append(f"{name}: it has no collision geometry")
        for part in parts if name in links else []:
            _urdf_shape(name, part, reader)


def _urdf_shape(link: str, part: etree._Element, reader: _Reader) -> None:
    line = part.sourceline or 0
    origin = children(part, "origin")[:1]
    xyz, rpy = (read_numbers(origin[0].get(k) or _ZEROS if origin else _ZEROS, 3) for k in ("xyz", "rpy"))
    shapes = [shape for geometry in children(part, "geometry") for shape in geometry]
    if len(shapes) != 1 or xyz is None or rpy is None:
        reader.missing(link, "its <collision> has no readable origin, or not one shape", line)
        return
    frame = Frame(rotation_rpy(np.array(rpy)), np.array(xyz))
    shape, kind = shapes[0], local_name(shapes[0])
    if kind == "mesh":
        scale = read_numbers(shape.get("scale") or _ONES, 3)
        if scale is None or 0.0 in scale:
            reader.missing(link, f"the scale of its mesh is {shown(str(shape.get('scale')))}", line)
        else:
            reader.mesh(link, str(shape.get("filename") or ""), scale, frame, line)
        return
    keys: Mapping[str, tuple[str, ...]] = {
        "sphere": ("radius",), "cylinder": ("radius", "length"), "capsule": ("radius", "length"),
    }  # fmt: skip
    size = (
        read_numbers(shape.get("size") or "", 3)
        if kind == "box"
        else tuple(read_number(shape.get(key) or "") or 0.0 for key in keys.get(kind, ()))
    )
    if not size or not all(0.0 < side < LARGEST for side in size):
        reader.missing(link, f"its <{kind}> is not a shape with positive sizes", line)
        return
    reader.found.shapes.append(Shape(link, _kind(kind), size, frame.rotation, frame.translation))


def _read_mjcf(root: etree._Element, reader: _Reader) -> None:
    log = FindingLog(reader.path.name)
    compiler, defaults = read_compiler(root, log), read_defaults(root, log)
    tree = MjcfTree(compiler, defaults, log)
    tree.read(root)
    names = {link.name for link in tree.links if not link.stand_in}
    above = {joint.child: joint.parent for joint in tree.joints}
    for joint in tree.joints:
        parent = joint.parent
        while parent not in names:
            parent = above[parent]
        if joint.child in names and joint.kind != "fixed":
            reader.found.joined.add(frozenset((parent, joint.child)))
    assets = {_asset_name(mesh): mesh for section in children(root, "asset") for mesh in children(section, "mesh")}
    folder = next((str(c.get("meshdir")) for c in children(root, "compiler") if c.get("meshdir")), "")
    for body, geoms in tree.geoms.items():
        colliding = [geom for geom in geoms if _collides(geom.element)]
        if body != WORLD and not colliding:
            reader.found.unchecked.append(f"{body}: it has no collision geometry")
        for geom in colliding:
            element, line = Resolved(geom.element.chain, Owner("", FindingLog(""))), geom.element.own.sourceline or 0
            kind = shape_of(element)
            frame = geom.place.then(read_frame(element, compiler))
            solid = read_solid(element, kind, compiler, geom.place)
            asset = assets.get(str(element.text("mesh")))
            if solid is not None:
                reader.found.shapes.append(_of_solid(body, solid.kind, solid.size, solid.frame))
            elif kind == "plane" and body == WORLD:
                reader.found.shapes.append(Shape(body, "plane", (), frame.rotation, frame.translation))
            elif kind == "mesh" and asset is not None and _plain(asset):
                scale = read_numbers(asset.get("scale") or _ONES, 3) or (1.0, 1.0, 1.0)
                file = f"{folder.rstrip('/')}/{asset.get('file')}" if folder else str(asset.get("file"))
                reader.mesh(body, file, scale, frame, line)
            else:
                reader.missing(body, f"a geom of kind {kind} is not read, or its mesh is not a plain file", line)


def _collides(geom: Resolved) -> bool:
    return any(geom.text(key) not in ("0",) for key in ("contype", "conaffinity"))


def _plain(asset: etree._Element) -> bool:
    """Whether a mesh stands in the file as the geom's frame has it."""
    scale = read_numbers(asset.get("scale") or _ONES, 3)
    moved = any(asset.get(key) for key in ("refpos", "refquat", "vertex"))
    return asset.get("file") is not None and scale is not None and 0.0 not in scale and not moved


def _asset_name(mesh: etree._Element) -> str:
    return str(mesh.get("name") or Path(str(mesh.get("file") or "")).stem)


def _of_solid(body: str, kind: str, size: tuple[float, float, float], frame: Frame) -> Shape:
    """A MuJoCo primitive, which states half lengths, in the sizes of `Shape`."""
    a, b, c = size
    sizes = {"box": (2.0 * a, 2.0 * b, 2.0 * c), "cylinder": (a, 2.0 * b), "capsule": (a, 2.0 * b)}
    return Shape(body, _kind(kind), sizes.get(kind, size[: SIZES[kind]]), frame.rotation, frame.translation)


def _kind(name: str) -> Kind:
    kinds: Mapping[str, Kind] = {
        "box": "box", "sphere": "sphere", "cylinder": "cylinder", "capsule": "capsule", "ellipsoid": "ellipsoid",
    }  # fmt: skip
    return kinds[name]
