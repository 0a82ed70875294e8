"""Square-root information is a commutative monoid, and every operation on it is that operation on the dense rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import InformationError
from steelyard.information import Source, SquareRootInformation, empty, triangle

# Grams of factors against Grams of rows: a few tens of rows of size one lose a few tens of rounding units.
ROUNDING = 1e-13


@st.composite
def recordings(draw, count=1):
    """`count` sets of dense rows [Y | tau] a joint, on one random support: (names, joints, support, rows of each)."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns, joints = draw(st.integers(1, 6)), draw(st.integers(1, 3))
    support = tuple(tuple(np.flatnonzero(rng.random(columns) < 0.7).tolist()) for _ in range(joints))
    sets = []
    for _ in range(count):
        rows = []
        for kept in support:
            wide = np.zeros((int(rng.integers(0, 12)), columns + 1))
            wide[:, [*kept, -1]] = rng.normal(size=(len(wide), len(kept) + 1)) * 10.0 ** rng.integers(-3, 4)
            rows.append(wide)
        sets.append(rows)
    return tuple(f"c{k}" for k in range(columns)), tuple(f"j{k}" for k in range(joints)), support, sets


def information(names, joints, support, rows, *, digest="a") -> SquareRootInformation:
    kept = [wide[:, [*columns, -1]] for columns, wide in zip(support, rows, strict=True)]
    return replace(
        empty(names, joints, support),
        factors=tuple(triangle(w) for w in kept),
        rows=tuple(len(w) for w in kept),
        samples=max(map(len, kept)),
        sources=frozenset({Source(digest, 0.0, 1.0)}),
    )


def three(data):
    names, joints, support, sets = data
    return [information(names, joints, support, rows, digest=d) for d, rows in zip("abc", sets, strict=True)]


def gram(factor):
    return factor.T @ factor


def assert_same_information(one, other):
    """Equal Grams, joint by joint, and equal books; the triangles themselves may differ where rank is lacking."""
    assert (one.names, one.joints, one.support) == (other.names, other.joints, other.support)
    assert (one.rows, one.samples, one.sources) == (other.rows, other.samples, other.sources)
    for mine, theirs in zip(one.factors, other.factors, strict=True):
        scale = np.linalg.norm(theirs) ** 2
        np.testing.assert_allclose(gram(mine), gram(theirs), rtol=0, atol=ROUNDING * scale)


def assert_gram(factor, dense):
    size = max(1e-300, np.linalg.norm(dense) ** 2)
    np.testing.assert_allclose(gram(factor), gram(dense), rtol=0, atol=ROUNDING * size)


@given(recordings(3))
def test_merge_does_not_depend_on_order_or_grouping(data):
    a, b, c = three(data)
    assert_same_information(a.merge(b).merge(c), a.merge(b.merge(c)))
    assert_same_information(a.merge(b), b.merge(a))


@given(recordings())
def test_empty_is_the_unit_of_merge(data):
    names, joints, support, (rows,) = data
    a, nothing = information(names, joints, support, rows), empty(names, joints, support)
    assert_same_information(a.merge(nothing), a)
    assert_same_information(nothing.merge(a), a)
    assert_same_information(nothing.merge(nothing), nothing)


@given(recordings(3))
def test_merged_factors_are_those_of_all_rows_together(data):
    names, joints, support, sets = data
    a, b, c = three(data)
    total = a.merge(b).merge(c)
    assert total.sources == {Source(d, 0.0, 1.0) for d in "abc"}
    for j, columns in enumerate(support):
        rows = np.vstack([one[j] for one in sets])
        assert total.rows[j] == len(rows)
        assert_gram(total.factors[j], rows[:, [*columns, -1]])
        assert np.all(np.tril(total.factors[j], -1) == 0.0)
        assert np.all(np.diag(total.factors[j]) >= 0.0)
    assert joints == total.joints
    assert names == total.names


@given(recordings(), st.integers(0, 2**32 - 1))
def test_operations_are_those_on_the_dense_rows(data, seed):
    names, joints, support, (rows,) = data
    info = information(names, joints, support, rows)
    rng = np.random.default_rng(seed)
    p = len(names)

    np.testing.assert_allclose(info.energy, [np.sum(w[:, -1] ** 2) for w in rows], rtol=1e-12)
    assert_gram(info.stacked(), np.vstack(rows))

    weights = rng.random(len(joints)) * 10.0
    weighted = np.vstack([np.sqrt(w) * row for w, row in zip(weights, rows, strict=True)])
    assert_gram(info.scale(weights).stacked(), weighted)

    order = rng.permutation(p)[: int(rng.integers(0, p + 1))]
    assert_gram(info.select([names[k] for k in order]).stacked(), np.vstack(rows)[:, [*order, -1]])

    matrix = rng.normal(size=(p, 3)) * (rng.random((p, 3)) < 0.6)
    wide = np.vstack(rows)
    projected = info.project(("x", "y", "z"), matrix)
    assert projected.names == ("x", "y", "z")
    assert_gram(projected.stacked(), np.column_stack([wide[:, :-1] @ matrix, wide[:, -1]]))

    theta = rng.normal(size=p)
    residual = [np.sum((w[:, -1] - w[:, :-1] @ theta) ** 2) for w in rows]
    size = sum(np.linalg.norm(w) ** 2 for w in rows) + 1e-300
    np.testing.assert_allclose(info.misfit(theta), residual, rtol=0, atol=1e-11 * size)

    known = {names[k]: theta[k] for k in order}
    rest = [k for k in range(p) if names[k] not in known]
    left = info.given(known)
    assert left.names == tuple(names[k] for k in rest)
    torque = wide[:, -1] - wide[:, list(order)] @ theta[list(order)]
    assert_gram(left.stacked(), np.column_stack([wide[:, rest], torque]))
    np.testing.assert_allclose(left.misfit(theta[rest]), residual, rtol=0, atol=1e-11 * size)


@given(recordings())
def test_nothing_in_it_can_be_written_to(data):
    names, joints, support, (rows,) = data
    info = information(names, joints, support, rows)
    for result in (info, info.merge(empty(names, joints, support)), info.scale(np.ones(len(joints)))):
        assert not any(factor.flags.writeable for factor in result.factors)


def small(digest="a", start=0.0, stop=1.0, *, names=("x", "y"), joints=("j",)):
    rows = [np.arange(12.0).reshape(4, 3)] * len(joints)
    info = information(names, joints, ((0, 1),) * len(joints), rows)
    return replace(info, sources=frozenset({Source(digest, start, stop)}))


@pytest.mark.parametrize("stretch", [(0.0, 1.0), (0.5, 0.6), (1.0, 2.0), (-1.0, 0.0), (-5.0, 5.0)])
def test_no_sample_is_counted_twice(stretch):
    with pytest.raises(InformationError, match="counted twice") as caught:
        small().merge(small("a", *stretch))
    assert caught.value.cure
    assert small().merge(small("b", *stretch)).samples == 8
    assert small().merge(small("a", 1.001, 2.0)).samples == 8


@pytest.mark.parametrize(
    "other", [{"names": ("x", "z")}, {"names": ("y", "x")}, {"joints": ("k",)}, {"joints": ("j", "k")}]
)
def test_only_the_same_columns_and_joints_merge(other):
    with pytest.raises(InformationError, match="other columns or joints") as caught:
        small().merge(small("b", **other))
    assert caught.value.value


@pytest.mark.parametrize("ask", [lambda i: i.select(["x", "w"]), lambda i: i.given({"w": 1.0})])
def test_an_unknown_column_is_named_with_the_valid_ones(ask):
    with pytest.raises(InformationError) as caught:
        ask(small())
    assert (caught.value.value, caught.value.choices) == ("w", ("x", "y"))


@given(st.integers(0, 2**32 - 1), st.integers(0, 8), st.integers(1, 5))
def test_triangle_keeps_the_gram_of_any_shape(seed, rows, columns):
    matrix = np.random.default_rng(seed).normal(size=(rows, columns))
    factor = triangle(matrix)
    assert factor.shape == (columns, columns)
    assert np.all(np.tril(factor, -1) == 0.0)
    assert np.all(np.diag(factor) >= 0.0)
    assert_gram(factor, matrix)
