"""Reading a robot description as XML from a source that may be hostile: bounded, offline, without DTD or entities."""

from __future__ import annotations

import re
import stat
from os import PathLike
from pathlib import Path
from typing import Literal, NamedTuple

from lxml import etree

from steelyard.errors import ModelError
from steelyard.robot.strict_number import shown

MAX_BYTES = 20_000_000
MAX_DEPTH = 64
MAX_LINKS = 10_000
MAX_ELEMENTS = 500_000

_KINDS: dict[str, Literal["urdf", "mjcf"]] = {"robot": "urdf", "mujoco": "mjcf"}
_CHUNK = 1 << 16
_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);|#)[^\s;<&]{1,100};")
_EXPRESSION = re.compile(r"\$\{|\$\(")
_EXPAND = (
    "expand it first: `xacro robot.urdf.xacro > robot.urdf`, or without ROS "
    "`pip install xacrodoc` and `xacrodoc robot.urdf.xacro -o robot.urdf`"
)
_EXPORT = "export the model again as UTF-8 XML, or repair the line named"
_OTHER_ROOTS = {
    "sdf": "this is SDF: convert it to URDF or MJCF first",
    "COLLADA": "this is a mesh (COLLADA): give the robot description that uses it",
    "mujocoinclude": "this is a part that an MJCF includes: give the main MJCF file",
    "launch": "this is a ROS launch file: give the URDF that it loads",
}


class ModelXml(NamedTuple):
    """A model file as read: its bytes (what a digest is taken of) and the root element.

    Elements know their line (``element.sourceline``); comments and processing instructions are left out.
    """

    data: bytes
    root: etree._Element

    @property
    def kind(self) -> Literal["urdf", "mjcf"]:
        """``urdf`` or ``mjcf``, by the root tag and never by the file's name."""
        return _KINDS[local_name(self.root)]


def read_model_xml(path: str | PathLike[str]) -> ModelXml:
    """Read a URDF or MJCF safely, and refuse xacro in any form, expressions such as ``${m}`` included.

    Raises:
        ModelError: missing, unreadable, empty or too large file; not well-formed UTF-8 XML; a DTD or an entity;
            nesting, element or link counts above the caps; a foreign root element; xacro.
    """
    model = parse_model_xml(path)
    for element in model.root.iter():
        text = expression_in(element)
        if text is not None:
            raise ModelError(
                f"this is xacro, not an expanded model: {shown(text)} stands in <{local_name(element)}>",
                where=f"{path}:{element.sourceline}",
                cure=_EXPAND,
            )
    return model


def parse_model_xml(path: str | PathLike[str]) -> ModelXml:
    """As `read_model_xml`, but leaves ``${...}`` texts in place for a linter that names the number they stand for.

    Raises:
        ModelError: as `read_model_xml`, xacro elements and attributes included.
    """
    data = _read_bytes(path)
    text = _decode(data, path)
    _refuse_doctype(text, path)
    root = _parse(text, path)
    tag = local_name(root)
    if tag not in _KINDS:
        raise ModelError(
            "the root element is neither <robot> (URDF) nor <mujoco> (MJCF)",
            where=f"{path}:{root.sourceline}",
            value=f"<{tag[:60]}>",
            choices=("<robot>", "<mujoco>"),
            cure=_OTHER_ROOTS.get(tag, "give a URDF or an MJCF file"),
        )
    return ModelXml(data, root)


def local_name(element: etree._Element) -> str:
    """The tag without its namespace."""
    return str(element.tag).rpartition("}")[2]


def expression_in(element: etree._Element) -> str | None:
    """The first attribute value or text of `element` that holds ``${`` or ``$(``, or None."""
    for text in (*element.attrib.values(), element.text or ""):
        if _EXPRESSION.search(str(text)):
            return str(text).strip()
    return None


def _read_bytes(path: str | PathLike[str]) -> bytes:
    where = str(path)
    try:
        status = Path(path).stat()
        if stat.S_ISDIR(status.st_mode):
            raise ModelError("a model file is expected, this is a directory", where=where, cure="name the file in it")
        if not stat.S_ISREG(status.st_mode):  # a pipe would block, a device may never end
            raise ModelError("a model file is expected, this is not a regular file", where=where, cure="name a file")
        with open(path, "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise ModelError("the model file does not exist", where=where, cure="check the path") from None
    except (OSError, ValueError) as error:  # ValueError: a path with a null character
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise ModelError(f"the model file cannot be read: {reason}", where=where, cure="check the path") from None
    if len(data) > MAX_BYTES:
        raise ModelError(
            f"the model file is larger than {MAX_BYTES // 1_000_000} MB",
            where=where,
            value=status.st_size,
            cure="keep meshes in their own files; a robot description takes less than 1 MB",
        )
    if not data.strip():
        raise ModelError("the model file is empty", where=where, cure="export the model again")
    return data


def _decode(data: bytes, path: str | PathLike[str]) -> str:
    """UTF-8 only: other readers of the same file assume it, and an exotic encoding can hide a DTD from a filter."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in data[:4]:
        raise ModelError("the model file is UTF-16 or UTF-32 text", where=str(path), cure="save it as UTF-8")
    if data.startswith((b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ")):
        raise ModelError("the model file is compressed", where=str(path), cure="unpack it first")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(
            "the model file is not UTF-8 text",
            where=f"{path}:{data.count(bytes([10]), 0, error.start) + 1}",
            value=data[error.start : error.start + 1].hex(),
            cure="save it as UTF-8",
        ) from None


def _refuse_doctype(text: str, path: str | PathLike[str]) -> None:
    """A DTD can stand before the root element only, so the prolog is walked and never parsed."""
    at = 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        closing = "-->" if text.startswith("<!--", at) else "?>" if text.startswith("<?", at) else ""
        if not closing:
            break
        end = text.find(closing, at + 2)
        if end < 0:
            return  # the parser says what is wrong with it
        at = end + len(closing)
    if text[at : at + 9].upper() == "<!DOCTYPE":
        raise ModelError(
            "the model file carries a DTD (<!DOCTYPE ...>), which is never read: it can pull in files or grow at will",
            where=f"{path}:{text.count(chr(10), 0, at) + 1}",
            cure="delete the DOCTYPE and write what its entities stand for in place",
        )


def _parse(text: str, path: str | PathLike[str]) -> etree._Element:
    parser = etree.XMLPullParser(
        events=("start", "end"),
        encoding="utf-8",  # what was decoded, whatever the declaration says
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        recover=False,
        remove_comments=True,
        remove_pis=True,
    )
    data = text.encode("utf-8")
    count = _Count(str(path))
    try:
        for start in range(0, len(data), _CHUNK):
            parser.feed(data[start : start + _CHUNK])
            count.check(parser)
        root: etree._Element = parser.close()
        count.check(parser)
    except etree.XMLSyntaxError as error:
        raise _syntax_error(error, text, str(path)) from None
    return root


class _Count:
    """Depth, elements and links so far, against the caps; and no xacro among them."""

    def __init__(self, where: str) -> None:
        self.where, self.depth, self.elements, self.links, self.joints = where, 0, 0, 0, 0

    def check(self, parser: etree.XMLPullParser) -> None:
        for event, element in parser.read_events():
            if event == "end":
                self.depth -= 1
                continue
            self.depth += 1
            self.elements += 1
            self.links += self.depth == 2 and element.tag == "link"
            self.joints += self.depth == 2 and element.tag == "joint"
            place = f"{self.where}:{element.sourceline}"
            if self.depth > MAX_DEPTH:
                raise _too_deep(place)
            if self.elements > MAX_ELEMENTS:
                raise ModelError(f"the model has more than {MAX_ELEMENTS} XML elements", where=place, cure=_EXPORT)
            if max(self.links, self.joints) > MAX_LINKS:
                raise ModelError(
                    f"the model has more than {MAX_LINKS} links or joints", where=place, cure="split the model"
                )
            if element.prefix == "xacro" or any("xacro" in name for name in _namespaces(element)):
                raise _xacro(f"<{local_name(element)[:60]}>", place)


def _namespaces(element: etree._Element) -> list[str]:
    names = [str(element.tag), *map(str, element.attrib)]
    return [name.partition("}")[0] for name in names if name.startswith("{")]


def _too_deep(where: str) -> ModelError:
    return ModelError(
        f"the model file nests elements more than {MAX_DEPTH} levels deep",
        where=where,
        cure="a URDF is about six levels deep, an MJCF one level for each body of a chain: export the model again",
    )


def _xacro(found: str, where: str) -> ModelError:
    return ModelError("this is xacro, not an expanded model", where=where, value=found, cure=_EXPAND)


def _syntax_error(error: etree.XMLSyntaxError, text: str, path: str) -> ModelError:
    message = str(error.msg).split(", line")[0].strip()
    where = f"{path}:{error.lineno}" if error.lineno else path
    if "Namespace prefix xacro" in message:
        return _xacro("<xacro:...>", where)
    if "Excessive depth" in message:
        return _too_deep(where)
    entity = _ENTITY.search(text)
    if entity and (not error.lineno or "ntity" in message):
        line = text.count("\n", 0, entity.start()) + 1
        return ModelError(
            "the model file uses an entity that XML does not define",
            where=f"{path}:{line}",
            value=entity.group()[:60],
            choices=("&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#number;"),
            cure="write what the entity stands for in place",
        )
    return ModelError(f"the model file is not well-formed XML: {message}", where=where, cure=_EXPORT)
