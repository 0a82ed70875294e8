"""Model files that are hostile, damaged or something else: refused with a place and a cure, quickly and offline."""

from __future__ import annotations

import os
import random
import sys

import pytest

from steelyard.errors import ModelError
from steelyard.robot.urdf_lint import lint_urdf
from steelyard.robot.xml_reader import MAX_BYTES, MAX_DEPTH, MAX_LINKS, parse_model_xml, read_model_xml
from urdf_text import LIMIT, arm

SMALL = '<robot name="r">\n  <link name="base"/>\n</robot>\n'
LAUGHS = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))


@pytest.fixture
def refused(tmp_path):
    """Write bytes or text, and return the error that reading them raises."""

    def read(content, reader=read_model_xml):
        path = tmp_path / "model.xml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(ModelError) as caught:
            reader(path)
        error = caught.value
        assert str(path) in error.where
        assert error.cure
        return error

    return read


def read(tmp_path, content):
    path = tmp_path / "model.any"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_model_xml(path)


def test_elements_know_their_lines(tmp_path):
    data, root = read(tmp_path, SMALL)
    assert data == SMALL.encode()
    assert (root.tag, root.sourceline, root[0].sourceline) == ("robot", 1, 2)


@pytest.mark.parametrize(("text", "kind"), [(SMALL, "urdf"), ('<mujoco model="m"><worldbody/></mujoco>', "mjcf")])
def test_the_kind_is_told_by_the_root_and_not_by_the_name(tmp_path, text, kind):
    assert read(tmp_path, text).kind == kind


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"\xef\xbb\xbf" + SMALL.encode(), id="byte order mark"),
        pytest.param(SMALL.replace("\n", "\r\n"), id="CRLF"),
        pytest.param('<?xml version="1.0" encoding="utf-8"?>\n<!-- a --><?pi x?>\n' + SMALL, id="prolog"),
        pytest.param("<!-- <!DOCTYPE robot [ ]> ${m} <xacro:include/> -->" + SMALL, id="fine in a comment"),
        pytest.param(
            SMALL.replace("<robot", "<robot xmlns:xacro='http://www.ros.org/wiki/xacro'"), id="xmlns left over"
        ),
        pytest.param(SMALL.replace("base", "b&amp;&#97;&#x73;e"), id="predefined entities"),
        pytest.param('<?xml version="1.0" encoding="ISO-8859-1"?>' + SMALL, id="ASCII under another name"),
    ],
)
def test_harmless_spellings_of_the_same_model_are_read(tmp_path, content):
    root = read(tmp_path, content).root
    assert [child.tag for child in root] == ["link"]


def test_lines_are_counted_with_carriage_returns(tmp_path):
    assert read(tmp_path, SMALL.replace("\n", "\r\n")).root[0].sourceline == 2


@pytest.mark.parametrize(
    "declaration",
    [
        pytest.param('<!DOCTYPE robot [<!ENTITY l0 "lol">' + LAUGHS + "]>", id="billion laughs"),
        pytest.param('<!DOCTYPE robot [<!ENTITY l9 "' + "x" * 100_000 + '">]>', id="quadratic blow-up"),
        pytest.param('<!DOCTYPE robot [<!ENTITY l9 SYSTEM "file:///etc/passwd">]>', id="external entity"),
        pytest.param('<!DOCTYPE robot [<!ENTITY % l9 SYSTEM "http://localhost:1/x"> %l9;]>', id="parameter entity"),
        pytest.param('<!DOCTYPE robot SYSTEM "http://localhost:1/robot.dtd">', id="external DTD"),
        pytest.param("<!DOCTYPE robot>", id="bare"),
        pytest.param("<!-- first -->\n<?pi?>\n<!DOCTYPE robot>", id="after a comment"),
    ],
)
def test_no_dtd_is_ever_read(refused, declaration):
    error = refused(f'<?xml version="1.0"?>\n{declaration}\n<robot name="&l9;"><link name="&l9;"/></robot>')
    assert "DTD" in error.what
    assert error.where.rpartition(":")[2] in {"2", "4"}


@pytest.mark.parametrize("text", ["<robot>\n&x;</robot>", '<robot>\n<link name="&x;"/></robot>'])
def test_an_undefined_entity_is_named(refused, text):
    error = refused(text)
    assert (error.value, error.where[-2:]) == ("&x;", ":2")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_unicode_encodings_are_named(refused, encoding):
    assert "UTF-16 or UTF-32" in refused(SMALL.encode(encoding)).what


def test_a_dtd_cannot_hide_in_an_encoding(refused):
    hidden = '<?xml version="1.0" encoding="UTF-7"?>+ADwAIQ-DOCTYPE robot+AD4-<robot/>'
    assert "not well-formed" in refused(hidden).what


def test_bytes_that_are_not_utf8_are_placed(refused):
    error = refused(b'<?xml version="1.0" encoding="ISO-8859-1"?>\n<robot name="k\xfcka"/>')
    assert ("not UTF-8" in error.what, error.where[-2:], error.value) == (True, ":2", "fc")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        pytest.param(b"", "empty", id="empty"),
        pytest.param(b" \n\t ", "empty", id="blank"),
        pytest.param(b"hello", "not well-formed", id="text"),
        pytest.param(b"solid cube\n  facet normal 0 0 1", "not well-formed", id="STL"),
        pytest.param(b'{"robot": 1}', "not well-formed", id="JSON"),
        pytest.param(b"\x1f\x8b\x08rest", "compressed", id="gzip"),
        pytest.param(SMALL[:-12], "not well-formed", id="truncated at the end"),
        pytest.param(SMALL[:30], "not well-formed", id="truncated in a tag"),
        pytest.param("<!-- never closed", "not well-formed", id="open comment"),
        pytest.param(SMALL + "<robot/>", "not well-formed", id="two roots"),
        pytest.param('<robot name="a" name="b"/>', "not well-formed", id="attribute twice"),
        pytest.param(b"<robot>abcd\x00</robot>", "not well-formed", id="null character"),
        pytest.param('<robot><controller:c name="x"/></robot>', "not well-formed", id="prefix without xmlns"),
    ],
)
def test_damaged_files_are_refused(refused, content, what):
    assert what in refused(content).what


def test_a_syntax_error_gives_its_line(refused):
    assert refused('<robot name="r">\n<link name="a">\n</robot>').where.endswith(":3")


@pytest.mark.parametrize(
    ("text", "found", "cure"),
    [
        ("<sdf/>", "<sdf>", "convert it"),
        ("<COLLADA/>", "<COLLADA>", "mesh"),
        ("<html/>", "<html>", "URDF or an MJCF"),
        ("<Robot/>", "<Robot>", "URDF or an MJCF"),
    ],
)
def test_other_kinds_of_xml_are_named(refused, text, found, cure):
    error = refused(text)
    assert error.value == found
    assert error.choices == ("<robot>", "<mujoco>")
    assert cure in error.cure


XACRO = "xmlns:xacro='http://www.ros.org/wiki/xacro'"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"<robot {XACRO}>\n<xacro:include filename='a'/></robot>", id="element"),
        pytest.param(f"<robot {XACRO}>\n<link name='a' xacro:x='1'/></robot>", id="attribute"),
        pytest.param("<robot xmlns:x='http://ros.org/wiki/xacro'>\n<x:macro/></robot>", id="another prefix"),
        pytest.param("<robot>\n<xacro:property name='a' value='1'/></robot>", id="no xmlns"),
        pytest.param("<robot>\n<link name='${prefix}a'/></robot>", id="expression in a name"),
        pytest.param("<robot>\n<link name='a'/><x>$(find pkg)/y</x></robot>", id="substitution in a text"),
    ],
)
def test_raw_xacro_is_called_so_and_the_cure_is_a_command(refused, text):
    error = refused(text)
    assert "this is xacro" in error.what
    assert error.where.endswith(":2")
    assert "xacro robot.urdf.xacro > robot.urdf" in error.cure
    assert "xacrodoc" in error.cure


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 300, 200_000])
def test_deep_nesting_is_refused(refused, levels):
    inside = levels - 1
    assert f"more than {MAX_DEPTH} levels" in refused("<robot>" + "<a>" * inside + "</a>" * inside + "</robot>").what


def test_nesting_up_to_the_cap_is_read(tmp_path):
    inside = MAX_DEPTH - 1
    assert read(tmp_path, "<robot>" + "<a>" * inside + "</a>" * inside + "</robot>").root.tag == "robot"


def test_a_huge_file_is_refused_unread(refused):
    error = refused(b"<robot>" + b" " * MAX_BYTES + b"</robot>")
    assert "larger than 20 MB" in error.what
    assert error.value == MAX_BYTES + 15


@pytest.mark.parametrize("tag", ["link", "joint"])
def test_too_many_links_are_refused(refused, tag):
    assert f"more than {MAX_LINKS} links" in refused("<robot>" + f"<{tag}/>" * (MAX_LINKS + 1) + "</robot>").what


def test_too_many_elements_are_refused(refused):
    assert "XML elements" in refused("<robot>" + "<a/>" * 600_000 + "</robot>").what


@pytest.mark.parametrize("reader", [read_model_xml, parse_model_xml, lint_urdf])
def test_paths_that_are_no_files_are_refused(tmp_path, reader):
    os.mkfifo(tmp_path / "pipe")
    for path, what in [
        (tmp_path / "absent.urdf", "does not exist"),
        (tmp_path, "directory"),
        (tmp_path / "pipe", "not a regular file"),
        (tmp_path / "absent" / "x.urdf", "does not exist"),
        (tmp_path / ("n" * 1000), "cannot be read"),
        (str(tmp_path / "a\0b"), "cannot be read"),
    ]:
        with pytest.raises(ModelError, match=what) as caught:
            reader(path)
        assert caught.value.cure


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root reads everything")
def test_a_forbidden_file_is_refused(tmp_path):
    path = tmp_path / "secret.urdf"
    path.write_text(SMALL)
    path.chmod(0)
    with pytest.raises(ModelError, match="cannot be read: Permission denied"):
        read_model_xml(path)


def test_an_mjcf_is_no_urdf(tmp_path):
    path = tmp_path / "robot.urdf"
    path.write_text("<mujoco/>")
    with pytest.raises(ModelError, match="this is an MJCF"):
        lint_urdf(path)


def test_no_file_beside_the_model_is_opened(tmp_path, monkeypatch):
    """Meshes, packages and included files are names only."""
    path = tmp_path / "robot.urdf"
    path.write_text(
        "<robot name='r' xmlns:xi='http://www.w3.org/2001/XInclude'><xi:include href='other.xml'/><link name='a'>"
        "<visual><geometry><mesh filename='package://p/../../outside.stl'/></geometry></visual><collision><geometry>"
        "<mesh filename='file:///etc/passwd'/></geometry></collision></link></robot>"
    )
    opened = []
    real = open
    monkeypatch.setattr("builtins.open", lambda file, *a, **k: (opened.append(str(file)), real(file, *a, **k))[1])
    report = lint_urdf(path)
    assert opened == [str(path)]
    assert report.description is not None
    assert [finding.code for finding in report.findings] == ["model.include"]


def test_damaged_bytes_never_cause_anything_but_our_error(tmp_path):
    """400 damaged copies of a sound robot (seed 0): bytes changed, cut out or moved, as disks and editors do."""
    draw = random.Random(0)
    whole = ('<robot name="r">\n' + "\n".join(arm(limit=LIMIT + '<mimic joint="j2"/>')) + "\n</robot>").encode()
    path = tmp_path / "robot.urdf"
    refused = 0
    for _ in range(400):
        damaged = bytearray(whole)
        for _ in range(draw.randint(1, 3)):
            start, stop = sorted(draw.choices(range(len(damaged)), k=2))
            match draw.randrange(3):
                case 0:
                    damaged[start] = draw.choice(b'0123456789.-+eE,"<>/& \n\x00\xff{$a')
                case 1:
                    del damaged[start : min(stop, start + 8)]
                case _:
                    damaged[start:start] = damaged[start : min(stop, start + 30)]
        path.write_bytes(damaged)
        try:
            report = lint_urdf(path)
        except ModelError:
            refused += 1
        else:
            assert (report.description is None) == bool(report.errors)
    assert 100 < refused < 400
