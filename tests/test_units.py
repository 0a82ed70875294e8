"""The unit table against factors worked out by hand, and its refusals."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.errors import StudyError
from steelyard.units import SI, UNITS, to_si, unit

# value, unit, value in SI: from the definitions (degree, minute, inch, milli), not from the table
KNOWN = [
    (180.0, "deg", 3.141592653589793),
    (1.0, "turn", 6.283185307179586),
    (1000.0, "mrad", 1.0),
    (25.4, "mm", 0.0254),
    (1.0, "in", 0.0254),
    (60.0, "rpm", 6.283185307179586),
    (90.0, "deg/s", 1.5707963267948966),
    (2.0, "turn/s2", 12.566370614359172),
    (250.0, "N cm", 2.5),
    (2500.0, "N mm", 2.5),
    (2500.0, "mN m", 2.5),
    (2500.0, "mNm", 2.5),
    (0.5, "kN m", 500.0),
    (2.0, "kN", 2000.0),
    (1500.0, "mA", 1.5),
    (250.0, "ms", 0.25),
    (1e6, "us", 1.0),
    (1e9, "ns", 1.0),
    (1.5, "min", 90.0),
]


@pytest.mark.parametrize(("value", "name", "si"), KNOWN)
def test_known_values(value: float, name: str, si: float) -> None:
    # one rounding of the factor and one of the product: two units in the last place
    assert to_si(value, name) == pytest.approx(si, rel=4.5e-16)


def test_arrays_keep_their_shape() -> None:
    values = np.array([[0.0, 90.0], [-180.0, 360.0]])
    np.testing.assert_allclose(to_si(values, "deg"), values * np.pi / 180.0, rtol=4.5e-16)


def test_every_dimension_has_one_si_unit_of_factor_one() -> None:
    assert {u.dimension for u in UNITS.values()} == set(SI)
    assert all(UNITS[name].factor == 1.0 and UNITS[name].dimension == dimension for dimension, name in SI.items())


def test_si_units_change_nothing() -> None:
    x = np.array([0.1, -1e-17, 123456.789])
    for name in SI.values():
        np.testing.assert_array_equal(to_si(x, name), x)


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("degree", '"deg"'),
        ("Deg", '"deg"'),
        ("DEG/S", '"deg/s"'),
        ("", "one of these"),
        ("percent", "calibration"),
    ],
)
def test_unknown_units(name: str, cure: str) -> None:
    with pytest.raises(StudyError) as caught:
        unit(name)
    assert caught.value.value == name
    assert "rad" in caught.value.choices
    assert cure in str(caught.value)


def test_capitals_matter() -> None:
    with pytest.raises(StudyError):
        unit("MN m")
