"""The tokenizer loses nothing, and sees the tags and attributes that another parser sees."""

from __future__ import annotations

from xml.parsers import expat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odd_urdf import ODD
from steelyard.errors import ModelError
from steelyard.formats.xml_edits import Edit, Line, add_child, add_first_child, apply_edits, number, set_numbers
from steelyard.formats.xml_outline import descend, outline
from steelyard.formats.xml_tokens import attribute_text, tokens

NAME = st.from_regex(r"[A-Za-z_][A-Za-z0-9_.:-]{0,6}", fullmatch=True).filter(
    lambda name: name.count(":") == 0 and not name.lower().startswith("xml")
)
BLANK = st.text(" \t\n", min_size=1, max_size=3)
SPACE = st.text(" \t\r\n", max_size=2)
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="<&", exclude_categories=("Cc", "Cs")), max_size=12)
PLAIN_TEXT = TEXT.map(lambda text: text.replace("]]>", "").replace("\ufffe", "").replace("\uffff", ""))
REFERENCE = st.sampled_from(["&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#65;", "&#x20AC;", "&#10;", "&#9;"])


@st.composite
def attribute(draw):
    quote = draw(st.sampled_from(["'", '"']))
    value = "".join(
        draw(st.lists(st.one_of(PLAIN_TEXT, REFERENCE, st.sampled_from([">", "/>", "\n", "\t", "\r\n"])), max_size=4))
    )
    return f"{draw(BLANK)}{{}}{draw(SPACE)}={draw(SPACE)}{quote}{value.replace(quote, '')}{quote}"


@st.composite
def element(draw, inner):
    name = draw(NAME)
    names = draw(st.lists(NAME, max_size=4, unique=True))
    attributes = "".join(draw(attribute()).replace("{}", key, 1) for key in names)
    if draw(st.booleans()):
        return f"<{name}{attributes}{draw(SPACE)}/>"
    content = "".join(draw(st.lists(inner, max_size=4)))
    return f"<{name}{attributes}{draw(SPACE)}>{content}</{name}{draw(SPACE)}>"


LEAF = st.one_of(
    PLAIN_TEXT,
    REFERENCE,
    st.sampled_from(["<!-- a > b <c d='e'> -->", "<![CDATA[<a b='c'> & ]] >]]>", "<?note <a b='c'/> ?>", "\r\n", "\t"]),
)
DOCUMENT = element(st.recursive(LEAF, lambda inner: element(inner), max_leaves=12))


def seen_by_expat(data: bytes) -> list[tuple]:
    found = []
    parser = expat.ParserCreate()
    parser.ordered_attributes = True
    parser.StartElementHandler = lambda name, pairs: found.append((parser.CurrentByteIndex, name, *pairs))
    parser.Parse(data, True)
    return found


def seen_here(data: bytes) -> list[tuple]:
    found = []
    for token in tokens(data, "x"):
        if token.kind in ("open", "empty"):
            pairs = [part for a in token.attributes for part in (a.name, attribute_text(data, a))]
            found.append((token.start, token.name, *pairs))
    return found


@given(DOCUMENT, st.sampled_from(["", "\ufeff", "<?xml version='1.0'?>\n", "<!-- <a> -->\n"]))
def test_nothing_is_lost_and_tags_are_those_of_another_parser(text, prolog):
    data = (prolog + text).encode()
    joined = b"".join(data[token.start : token.end] for token in tokens(data, "x"))
    assert joined == data
    assert seen_here(data) == seen_by_expat(data)
    assert len(list(descend(outline(data, "x").root))) == len(seen_here(data))


@pytest.mark.parametrize("name", sorted(ODD))
def test_the_odd_files_too(name):
    data = ODD[name]
    assert b"".join(data[token.start : token.end] for token in tokens(data, name)) == data
    # expat decodes by the declaration; all names here are ASCII where that is not UTF-8
    assert seen_here(data) == seen_by_expat(data)


@pytest.mark.parametrize(
    "text",
    [
        "<a",
        "<a b>",
        "<a b=c/>",
        "<a b='c/>",
        "<!-- ",
        "<a><![CDATA[",
        "<?x",
        "<a></b>",
        "<a>",
        "<a/><b/>",
        "</a>",
        "< a/>",
        "x",
    ],
)
def test_what_is_not_well_formed_is_refused(text):
    with pytest.raises(ModelError, match=r"well-formed|do not match"):
        outline(text.encode(), "x")


def test_an_error_names_the_line():
    with pytest.raises(ModelError) as caught:
        outline(b"<a>\n<b/>\n<c d=>\n</a>", "my.urdf")
    assert caught.value.where == "my.urdf:3"


@pytest.mark.parametrize(
    ("value", "text"), [(0.1, "0.1"), (-0.0, "0.0"), (1 / 3, "0.3333333333333333"), (1e-9, "1e-09"), (2, "2.0")]
)
def test_numbers_are_the_shortest_that_read_back(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("before", "values", "slack", "after"),
    [
        ('<a x="1 2"/>', [1, 2], 0, '<a x="1 2"/>'),
        ('<a x="1 2"/>', [1, 3], 0, '<a x="1 3.0"/>'),
        ('<a x=" 1.0\t2 "/>', [4, 2], 0, '<a x=" 4.0\t2 "/>'),
        ('<a x="1 2"/>', [1, 2 + 1e-12], 1e-11, '<a x="1 2"/>'),
        ('<a x="1&#32;2"/>', [1, 3], 0, '<a x="1.0 3.0"/>'),
        ('<a x="1 2 3"/>', [1, 3], 0, '<a x="1.0 3.0"/>'),
        ('<a x="one 2"/>', [1, 2], 0, '<a x="1.0 2"/>'),
        ("<a y='0'/>", [1, 2], 0, "<a y='0' x='1.0 2.0'/>"),
        ("<a/>", [1, 2], 0, '<a x="1.0 2.0"/>'),
        ('<a x:x="7"></a>', [1, 2], 0, '<a x:x="7" x="1.0 2.0"></a>'),
        ('<a\n  y="0"\n  z="0"\n/>', [1, 2], 0, '<a\n  y="0"\n  z="0"\n  x="1.0 2.0"\n/>'),
    ],
)
def test_numbers_are_set_in_place(before, values, slack, after):
    outlined = outline(before.encode(), "x")
    edits = set_numbers(outlined, outlined.root, "x", values, slack=slack)
    assert apply_edits(before.encode(), edits) == after.encode()


@pytest.mark.parametrize(
    ("before", "last", "first"),
    [
        ("<a/>", "<a>\n  <b>\n    <c/>\n  </b>\n</a>", None),
        ("<a>\n    <d/>\n</a>", "<a>\n    <d/>\n    <b>\n        <c/>\n    </b>\n</a>",
         "<a>\n    <b>\n        <c/>\n    </b>\n    <d/>\n</a>"),
        ("<a><d/></a>", "<a><d/><b><c/></b></a>", "<a><b><c/></b><d/></a>"),
        ("<a>\n\t<!-- e -->\n\t<d/> <!-- f -->\n</a>",
         "<a>\n\t<!-- e -->\n\t<d/> <!-- f -->\n\t<b>\n\t\t<c/>\n\t</b>\n</a>",
         "<a>\n\t<!-- e -->\n\t<b>\n\t\t<c/>\n\t</b>\n\t<d/> <!-- f -->\n</a>"),
    ],
)  # fmt: skip
def test_elements_are_added_as_their_neighbours_stand(before, last, first):
    outlined = outline(before.encode(), "x")
    lines = [Line(0, "<b>"), Line(1, "<c/>"), Line(0, "</b>")]
    for add, after in ((add_child, last), (add_first_child, first or last)):
        assert apply_edits(before.encode(), add(outlined, outlined.root, lines)) == after.encode()


def test_edits_at_one_place_keep_their_order():
    assert apply_edits(b"ac", [Edit(1, 1, b"b"), Edit(1, 1, b"B"), Edit(0, 1, b"A")]) == b"AbBc"
