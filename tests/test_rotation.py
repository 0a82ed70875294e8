"""Roll, pitch, yaw and back: a model file told in other angles must not lose digits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.robot.inertia import rotation_about, rotation_rpy, rpy_of

ANGLE = st.floats(-np.pi, np.pi)
ROUNDING = 4e-15  # entries of a product of three rotations, each to a few units in the last place


def worst(rotation):
    return float(np.abs(rotation_rpy(rpy_of(rotation)) - rotation).max())


@given(ANGLE, ANGLE, ANGLE)
def test_angles_of_a_rotation_give_it_back(roll, pitch, yaw):
    assert worst(rotation_rpy(np.array([roll, pitch, yaw]))) < ROUNDING


@pytest.mark.parametrize("off", [0.0, 1e-17, 1e-15, 1e-13, 1e-10, 1e-8, 1e-6, 1e-3])
@pytest.mark.parametrize("sign", [1.0, -1.0])
@given(roll=ANGLE, yaw=ANGLE)
def test_near_a_pitch_of_a_quarter_turn_as_well(off, sign, roll, yaw):
    """There roll and yaw turn about one line, and each alone is worth nothing; together they must be right."""
    assert worst(rotation_rpy(np.array([roll, sign * (np.pi / 2 - off), yaw]))) < ROUNDING


def test_a_quarter_turn_has_no_roll():
    """Rounding must not show up as a mount at an odd angle."""
    for yaw in (0.3, np.pi / 2, -2.0):
        rotation = rotation_about(np.array([0.0, 0.0, 1.0]), yaw) @ rotation_about(np.array([0.0, 1.0, 0.0]), np.pi / 2)
        np.testing.assert_allclose(rpy_of(rotation), [0.0, np.pi / 2, yaw], rtol=0, atol=1e-15)
