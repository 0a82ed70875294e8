"""Lines of a spectrum: which are excited, and what the ones left out reveal."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.errors import StudyError
from steelyard.excite.fourier import FourierFamily, FourierMotion
from steelyard.excite.spectrum import detection_lines, logarithmic_lines, share_of_lines

LINES = detection_lines(31, seed=2)


@pytest.fixture(scope="module")
def motion():
    """One joint on the excited odd lines, random phases, ten seconds."""
    family = FourierFamily(10.0, (LINES.excited,))
    count = len(LINES.excited)
    coefficients = np.zeros((1, 2 * count + 1))
    phase = np.random.default_rng(4).uniform(0.0, 2.0 * np.pi, count)
    coefficients[0, 1:] = np.concatenate([np.cos(phase), np.sin(phase)]) * 0.2
    samples = FourierMotion(("axis",), family, coefficients).sampled(1000.0)
    return samples.samples(0, 10_000)


def test_one_odd_line_in_four_is_left_out():
    assert set(LINES.excited) | set(LINES.odd) == set(range(1, 32, 2))
    assert not set(LINES.excited) & set(LINES.odd)
    assert len(LINES.odd) == 4
    assert 1 in LINES.excited  # the slowest, which has most of the way
    assert LINES.even == tuple(range(2, 31, 2))
    assert detection_lines(31, seed=2) == LINES != detection_lines(31, seed=4)


def test_lines_at_a_constant_ratio():
    lines = np.array(logarithmic_lines(12, 500))
    assert lines[0] == 1
    assert lines[-1] == 500
    ratio = lines[1:] / lines[:-1]
    assert np.all(np.abs(np.log(ratio[4:]) - np.log(500.0) / 11.0) < 0.1)  # beside rounding to lines
    assert np.all(np.diff(lines) >= 1)
    # e24: the resolution is fine at the low end and coarse at the high one, not the other way round
    assert np.diff(lines)[0] < 0.01 * np.diff(lines)[-1]


def test_e25_dry_friction_is_silent_on_even_lines_and_loud_on_odd_ones(motion):
    """Coulomb and Stribeck friction are odd functions of speed; a square of speed (with its sign lost) is even."""
    speed = motion.dq
    linear = 0.5 * motion.ddq + 2.0 * speed + 3.0 * motion.q
    stribeck = np.sign(speed) * (1.0 + 0.5 * np.exp(-((speed / 0.1) ** 2)))
    for torque in (np.sign(speed), stribeck):
        assert share_of_lines(torque, LINES.even).max() < 1e-3  # sampling of the jumps
        assert share_of_lines(torque, LINES.odd).min() > 0.15
    assert share_of_lines(linear, LINES.odd).max() < 1e-12
    assert share_of_lines(linear, LINES.even).max() < 1e-12
    even = (motion.q - motion.q.mean()) ** 2
    assert share_of_lines(even, LINES.even).min() > 0.7
    assert share_of_lines(even, LINES.odd).max() < 1e-12


def test_more_periods_have_the_same_share(motion):
    twice = np.tile(np.sign(motion.dq), (2, 1))
    assert share_of_lines(twice, LINES.odd, periods=2) == pytest.approx(
        share_of_lines(np.sign(motion.dq), LINES.odd), rel=1e-9
    )


def test_lines_that_cannot_be():
    for call in (
        lambda: logarithmic_lines(0, 3), lambda: logarithmic_lines(5, 3), lambda: detection_lines(5),
        lambda: detection_lines(31, seed=-1),
    ):  # fmt: skip
        with pytest.raises(StudyError):
            call()
