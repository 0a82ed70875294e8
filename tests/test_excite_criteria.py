"""Criteria of excitation: values by eigenvalues, weights by differences."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.errors import StudyError
from steelyard.excite.criteria import condition_number, criterion_named, exact

NAMES = ("d", "a", "e", "condition", "condition_scaled")


def gram(seed=0, size=12):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((80, size)) * np.logspace(0.0, 1.0, size)
    return rows.T @ rows


@pytest.mark.parametrize("name", NAMES)
def test_the_weight_is_the_derivative(name):
    """Central differences along random directions of the size of G; a step of 1e-5 leaves 1e-9 of curvature."""
    G, rng = gram(), np.random.default_rng(1)
    criterion = criterion_named(name)
    H = criterion(G, True).weight
    assert np.array_equal(H, H.T)
    for _ in range(3):
        D = rng.standard_normal(G.shape) * np.sqrt(np.outer(np.diag(G), np.diag(G)))
        D = 1e-5 * (D + D.T)
        change = 0.5 * (criterion(G + D, False).value - criterion(G - D, False).value)
        assert change == pytest.approx(np.sum(H * D), rel=1e-6, abs=1e-6 * np.abs(H * D).max())


def test_values_by_eigenvalues():
    G = gram()
    values = np.linalg.eigvalsh(G)
    assert criterion_named("d")(G, False).value == pytest.approx(-np.mean(np.log(values)), rel=1e-12)
    assert criterion_named("a")(G, False).value == pytest.approx(np.log(np.sum(1.0 / values)), rel=1e-12)
    assert exact("e", G) == pytest.approx(-np.log(values[0]), rel=1e-12)
    assert exact("condition", G) == pytest.approx(0.5 * np.log(values[-1] / values[0]), rel=1e-12)
    assert np.exp(exact("condition", G)) == pytest.approx(condition_number(G))


@pytest.mark.parametrize("squarings", [3, 4, 6])
@pytest.mark.parametrize(("name", "sides"), [("e", 1), ("condition", 1), ("condition_scaled", 1)])
def test_smooth_extremes_are_p_norms(name, sides, squarings):
    """From one side, and within log(b) / p of the extreme (half of twice that for the condition number)."""
    G = gram()
    gap = criterion_named(name, squarings=squarings)(G, False).value - exact(name, G)
    assert 0.0 <= gap * sides <= np.log(len(G)) / 2**squarings


def test_scaled_condition_does_not_depend_on_units():
    G, S = gram(), np.logspace(-2, 3, 12)
    criterion = criterion_named("condition_scaled")
    assert criterion(G * np.outer(S, S), False).value == pytest.approx(criterion(G, False).value, abs=1e-9)
    assert abs(criterion_named("condition")(G * np.outer(S, S), False).value - exact("condition", G)) > 1.0


def test_the_order_of_designs_by_d_does_not_depend_on_units():
    S = np.logspace(-2, 3, 12)
    one, other = (criterion_named("d")(gram(seed) * np.outer(S, S), False).value for seed in (0, 1))
    assert one - other == pytest.approx(
        criterion_named("d")(gram(0), False).value - criterion_named("d")(gram(1), False).value, abs=1e-9
    )


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("G", [np.zeros((4, 4)), np.diag([1.0, 1.0, 0.0, 2.0]), np.diag([1.0, -1.0, 1.0, 2.0])])
def test_a_motion_that_says_nothing_is_infinitely_bad(name, G):
    assert criterion_named(name)(G, True).value == np.inf
    assert exact(name, G) == np.inf


def test_an_unknown_criterion():
    with pytest.raises(StudyError, match="condition_scaled"):
        criterion_named("D-optimal")
    with pytest.raises(StudyError, match="condition_scaled"):
        exact("x", gram())
