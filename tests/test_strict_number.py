"""A text is one finite decimal number or no number at all, and what is refused gets a cause."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.robot.strict_number import number_fault, read_number, read_numbers, shown

GOOD = [
    ("0", 0.0),
    ("-0.0", 0.0),
    ("1.5", 1.5),
    ("+1.5", 1.5),
    (".5", 0.5),
    ("5.", 5.0),
    ("012", 12.0),
    ("1e-3", 1e-3),
    ("1E+3", 1000.0),
    (" \t\r\n1.5\n", 1.5),
    ("0e-999", 0.0),
    ("5e-324", 5e-324),
    ("1.7976931348623157e308", 1.7976931348623157e308),
]

BAD = [
    ("1,5", "decimal comma"),
    ("1.234,5", "decimal comma"),
    (",5", "decimal comma"),
    ("nan", "not a finite number"),
    ("-NaN", "not a finite number"),
    ("inf", "not a finite number"),
    ("-Infinity", "not a finite number"),
    ("1.#INF", "not a finite number"),
    ("1e400", "outside the range"),
    ("-1e400", "outside the range"),
    ("1e-400", "outside the range"),
    ("${m}", "xacro"),
    ("$(arg m)", "xacro"),
    ("${2 * m}", "xacro"),
    ("1e3kg", "unit or suffix 'kg'"),
    ("1.5 kg", "unit"),
    ("1.5f", "suffix 'f'"),
    ("0x10", "hexadecimal"),
    ("1_0", "digit separator"),
    ("1'000", "digit separator"),
    ("１２", "U+FF11"),
    ("１.5", "U+FF11"),
    ("٣", "U+0663"),
    ("−1.5", "U+2212"),
    ("1\u00a05", "U+00A0"),
    ("", "empty"),
    ("  ", "empty"),
    ("1 2", "2 numbers instead of 1"),
    ("1.2.3", "not a number"),
    ("--1", "not a number"),
    ("1e", "suffix 'e'"),
    ("e5", "not a number"),
    (".", "not a number"),
    ("TODO", "not a number"),
    ("1" * 500, "too long"),
]


@pytest.mark.parametrize(("text", "value"), GOOD)
def test_plain_decimal_numbers_are_read(text, value):
    assert read_number(text) == value


@pytest.mark.parametrize(("text", "cause"), BAD)
def test_anything_else_is_never_a_number_and_its_cause_is_named(text, cause):
    assert read_number(text) is None
    assert cause in number_fault(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_survives_its_own_spelling(value):
    assert read_number(repr(value)) == value
    assert read_number(f"{value:.17g}") == value


@given(st.text(max_size=12))
def test_whatever_is_read_is_finite_and_what_float_reads(text):
    value = read_number(text)
    if value is None:
        assert number_fault(text)
    else:
        assert math.isfinite(value)
        assert value == float(text)


@pytest.mark.parametrize(
    ("text", "values"),
    [("1 2 3", (1.0, 2.0, 3.0)), ("  1\n2\t3 ", (1.0, 2.0, 3.0)), ("0 0 -1.5e-1", (0.0, 0.0, -0.15))],
)
def test_three_numbers_are_read(text, values):
    assert read_numbers(text, 3) == values


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("0 0", "2 numbers instead of 3"),
        ("0 0 0 1", "4 numbers instead of 3"),
        ("", "empty"),
        ("0,1 0 0", "decimal comma"),
        ("0, 0, 1", "commas between the numbers"),
        ("0,0,1", "commas between the numbers"),
        ("0 0 nan", "not a finite number"),
        ("0 0 ${z}", "xacro"),
        ("0 0 1mm", "suffix 'mm'"),
        ("1 " * 4_000_000, "too long for 3 numbers"),
    ],
)
def test_anything_but_three_numbers_is_refused(text, cause):
    assert read_numbers(text, 3) is None
    assert cause in number_fault(text, 3)


def test_a_quoted_text_is_short_and_harmless_on_a_terminal():
    assert len(shown("x" * 10_000)) <= 62
    assert "\x1b" not in shown("\x1b[2J")
    assert "\u202e" not in shown("\u202eabc")
