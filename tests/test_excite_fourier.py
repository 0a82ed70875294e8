"""Fourier motions: derivatives, rest, harmonics, sampling."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.errors import StudyError
from steelyard.excite.fourier import FourierFamily, FourierMotion, distinct_harmonics, shared_harmonics

RESTS = ("free", "acceleration", "jerk")


def motion(rest="free", *, joints=3, harmonics=None, period=8.0, seed=1):
    family = FourierFamily(period, harmonics or shared_harmonics(joints, 5), rest)
    x = np.random.default_rng(seed).standard_normal((family.joints, family.variables))
    return FourierMotion(tuple(f"j{k}" for k in range(family.joints)), family, family.coefficients(x))


@pytest.mark.parametrize("rest", RESTS)
def test_each_derivative_is_that_of_the_one_before(rest):
    """Complex steps would need a complex series; eighth-order differences at 1e-2 s are exact to 1e-9 here."""
    found = motion(rest)
    times = np.linspace(0.0, 8.0, 23)
    weights = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0.0, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
    steps = 0.01 * np.arange(-4, 5)
    around = [found.at(times + step) for step in steps]
    for order in range(3):
        slope = sum(w * values[order] for w, values in zip(weights, around, strict=True)) / 0.01
        assert np.abs(slope - found.at(times)[order + 1]).max() < 1e-9


@pytest.mark.parametrize("rest", RESTS)
def test_the_motion_is_periodic(rest):
    found = motion(rest)
    for start, end in zip(found.at(np.array([0.3])), found.at(np.array([0.3 + 8.0])), strict=True):
        assert np.abs(start - end).max() < 1e-12


def test_rest_to_rest():
    ends = np.array([0.0, 8.0])
    _, dq, ddq, dddq = motion("acceleration").at(ends)
    assert max(np.abs(dq).max(), np.abs(ddq).max()) < 1e-13
    assert np.abs(dddq).max() > 0.1
    assert max(np.abs(x).max() for x in motion("jerk").at(ends)[1:]) < 1e-12
    assert np.abs(motion("free").at(ends).dq).max() > 0.1


@pytest.mark.parametrize(("rest", "variables"), [("free", 11), ("acceleration", 9), ("jerk", 8)])
def test_variables_and_coefficients_are_one_to_one(rest, variables):
    family = FourierFamily(8.0, shared_harmonics(2, 5), rest)
    assert family.variables == variables
    x = np.random.default_rng(0).standard_normal((2, variables))
    assert np.allclose(family.variables_of(family.coefficients(x)), x, atol=1e-14)


@pytest.mark.parametrize("rest", RESTS)
def test_the_basis_is_the_motion(rest):
    family = FourierFamily(8.0, distinct_harmonics(3, 4), rest)
    x = np.random.default_rng(2).standard_normal((3, family.variables))
    times = np.linspace(0.0, 8.0, 17)
    values = np.einsum("onkm,nm->okn", family.basis(times), x)
    expected = FourierMotion(("a", "b", "c"), family, family.coefficients(x)).at(times)
    for found, right in zip(values, expected, strict=True):
        assert np.allclose(found, right, rtol=0, atol=1e-12 * np.abs(right).max())


def test_the_coefficients_are_amplitudes_of_the_velocity():
    """The series of the module's docstring, by hand for one harmonic."""
    family = FourierFamily(4.0, ((3,),))
    found = FourierMotion(("j",), family, np.array([[0.5, 2.0, -1.0]]))
    w, t = 2 * np.pi / 4 * 3, 0.7
    q, dq, _, _ = found.at(np.array([t]))
    assert q[0, 0] == pytest.approx(0.5 + 2.0 / w * np.sin(w * t) + 1.0 / w * np.cos(w * t), abs=1e-14)
    assert dq[0, 0] == pytest.approx(2.0 * np.cos(w * t) - np.sin(w * t), abs=1e-14)


def test_harmonics():
    assert shared_harmonics(2, 3) == ((1, 2, 3), (1, 2, 3))
    assert shared_harmonics(1, 3, odd=True) == ((1, 3, 5),)
    distinct = distinct_harmonics(3, 4)
    assert len({h for row in distinct for h in row}) == 12
    assert all(h % 2 for row in distinct_harmonics(3, 4, odd=True) for h in row)


def test_odd_harmonics_mirror_the_second_half():
    found = motion(harmonics=shared_harmonics(2, 4, odd=True))
    times = np.linspace(0.0, 4.0, 9)
    assert np.allclose(found.at(times).dq, -found.at(times + 4.0).dq, atol=1e-12)


def test_a_shift_begins_later():
    family = FourierFamily(8.0, shared_harmonics(2, 5))
    x = np.random.default_rng(5).standard_normal((2, 11))
    early, late = (FourierMotion(("a", "b"), family, family.coefficients(v)) for v in (x, family.shifted(x, 0.125)))
    times = np.linspace(0.0, 8.0, 9)
    assert np.allclose(late.at(times).q, early.at(times + 1.0).q, atol=1e-12)


def test_slower_motions_take_the_same_path():
    found = motion("acceleration")
    slow = found.slowed(0.25)
    times = np.linspace(0.0, 8.0, 50)
    assert slow.period == 32.0
    assert np.allclose(slow.at(4.0 * times).q, found.at(times).q, atol=1e-12)
    assert np.allclose(slow.at(4.0 * times).ddq, found.at(times).ddq / 16.0, atol=1e-12)


def test_samples_for_a_controller():
    found = motion("acceleration").sampled(125.0)
    assert len(found) == 1001
    assert found.joint_names == ("j0", "j1", "j2")
    assert max(np.abs(found.dq[[0, -1]]).max(), np.abs(found.ddq[[0, -1]]).max()) < 1e-9
    with pytest.raises(StudyError, match="whole number of samples"):
        motion(period=8.0).sampled(125.03)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((0.0, ((1, 2),)), "period"),
        ((float("nan"), ((1, 2),)), "period"),
        ((8.0, ((2, 1),)), "harmonics"),
        ((8.0, ((0, 1),)), "harmonics"),
        ((8.0, ((1, 1),)), "harmonics"),
        ((8.0, ((1, 1.5),)), "harmonics"),
        ((8.0, ((1, 2), (1,))), "harmonics"),
        ((8.0, ()), "harmonics"),
        ((8.0, ((1,),), "acceleration"), "too few"),
        ((8.0, ((1, 2),), "jerk"), "too few"),
        ((8.0, ((1, 2, 3),), "velocity"), "come to rest"),
    ],
)
def test_families_that_cannot_be(arguments, words):
    with pytest.raises(StudyError, match=words):
        FourierFamily(*arguments)


def test_coefficients_that_do_not_fit():
    family = FourierFamily(8.0, shared_harmonics(2, 3))
    for values in (np.zeros((2, 6)), np.zeros((3, 7)), np.full((2, 7), np.nan)):
        with pytest.raises(StudyError, match="coefficients"):
            FourierMotion(("a", "b"), family, values)
    with pytest.raises(StudyError, match="speed"):
        FourierMotion(("a", "b"), family, np.zeros((2, 7))).slowed(0.0)
