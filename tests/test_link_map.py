"""The prior of every link: kept where a body could have it, replaced by the nearest one where none could."""

from __future__ import annotations

import numpy as np
import pytest

import robots
from steelyard.errors import ModelError, StudyError
from steelyard.estimate.link_map import link_map
from steelyard.estimate.prior_links import USUAL, feasible_prior
from steelyard.estimate.symmetric import BASIS, IDENTITY, congruences, matrices, vectors
from steelyard.model import Model
from steelyard.robot.inertia import parameters_about_origin, pseudo_inertia
from steelyard.robot.robot import Link
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous

CENTRE = np.array([0.1, -0.2, 0.3])


def link(mass, inertia, centre=CENTRE):
    return Link("part", 0, np.eye(3), np.zeros(3), parameters_about_origin(mass, centre, np.asarray(inertia, float)))


def spread(parameters):
    """Eigenvalues of the second moments of mass about the centre, per kilogram [m2]."""
    J = pseudo_inertia(parameters)
    centre = J[:3, 3] / J[3, 3]
    return np.linalg.eigvalsh(J[:3, :3] / J[3, 3] - np.outer(centre, centre))


def test_coordinates_are_orthonormal():
    rng = np.random.default_rng(0)
    y = rng.normal(size=(5, 10))
    np.testing.assert_allclose(vectors(matrices(y)), y, atol=1e-15)
    np.testing.assert_allclose(np.einsum("kij,hij->kh", BASIS, BASIS), np.eye(10), atol=1e-15)
    np.testing.assert_array_equal(matrices(IDENTITY), np.eye(4))
    A, W = matrices(rng.normal(size=(2, 10))), matrices(rng.normal(size=(2, 10)))
    turned = np.einsum("lij,lj->li", congruences(W), vectors(A))
    np.testing.assert_allclose(matrices(turned), W @ A @ W, atol=1e-12)


def test_a_possible_link_is_left_alone():
    good = link(2.0, np.diag([0.02, 0.03, 0.04]))
    parameters, finding = feasible_prior(good)
    np.testing.assert_array_equal(parameters, good.parameters)
    assert finding is None


@pytest.mark.parametrize(
    ("mass", "inertia", "words", "level"),
    [
        (0.3, np.zeros((3, 3)), "is zero", "info"),
        (2.0, np.diag([0.01, 0.01, 0.03]), "no possible body", "warning"),
        (2.0, np.diag([0.01, -0.01, 0.01]), "no possible body", "warning"),
        (2.0, np.diag([0.01, 0.01, 0.0]), "a line or a plane", "info"),
        (1.0, np.eye(3), "a placeholder", "warning"),
    ],
)
def test_an_impossible_one_is_replaced_by_one_of_the_same_mass_and_centre(mass, inertia, words, level):
    parameters, finding = feasible_prior(link(mass, inertia))
    assert finding.code == "fit.placeholder_prior"
    assert finding.level == level
    assert words in finding.message
    assert parameters[0] == mass
    np.testing.assert_allclose(parameters[1:4] / mass, CENTRE, rtol=1e-12)
    values = spread(parameters)
    assert values[0] > 1e-6  # thicker than a millimetre
    assert values[-1] < 0.05


def test_only_what_is_wrong_is_changed():
    """The spread along z is negative, those along x and y stay."""
    parameters, _ = feasible_prior(link(2.0, np.diag([0.01, 0.02, 0.05])))
    before = np.sort([(0.02 + 0.05 - 0.01) / 4.0, (0.01 + 0.05 - 0.02) / 4.0])  # per kilogram of two, along x and y
    np.testing.assert_allclose(spread(parameters)[1:], before, rtol=1e-9)


def test_a_placeholder_becomes_a_usual_size():
    parameters, _ = feasible_prior(link(3.0, np.eye(3)))
    np.testing.assert_allclose(spread(parameters), 0.5 * USUAL**2, rtol=1e-9)
    small, finding = feasible_prior(link(3.0, 0.02 * np.eye(3)))  # typed as well, but of a size that a link can have
    assert finding is None
    assert np.all(np.isfinite(small))


def test_a_link_without_mass_has_no_prior():
    with pytest.raises(ModelError, match="mass"):
        feasible_prior(Link("frame", 0, np.eye(3), np.zeros(3), None))


def test_the_map_gives_the_columns_of_the_model(tmp_path):
    robot = robots.load(tmp_path, "tooled")
    model = Model(robot, (RigidBody(), Viscous(), Offset()))
    links = link_map(model)
    assert [entry.name for entry in links.links] == ["upper", "lower", "tool", "camera"]
    start = links.start
    np.testing.assert_allclose(links.matrix @ start, model.nominal, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(links.relative(start), np.broadcast_to(np.eye(4), (4, 4, 4)), atol=1e-15)
    np.testing.assert_allclose(links.mass_rows() @ start, links.masses(start), rtol=1e-12)


def test_a_moving_body_without_mass_is_named(tmp_path):
    parts = (
        robots.body("base"),
        robots.body("arm", 1.0, "0 0 0.1"),
        robots.body("ghost"),
        robots.body("hand", 0.5, "0 0.05 0.1"),
        robots.joint("one", "base arm", axis="0 1 0"),
        robots.joint("two", "arm ghost", axis="1 0 0", at="0 0 0.3"),
        robots.joint("three", "ghost hand", axis="0 1 0"),
    )
    links = link_map(Model(robots.load(tmp_path, "ghostly", parts), (RigidBody(),)))
    assert [f.where for f in links.findings if f.code == "fit.massless_body"] == ["link ghost"]


def test_priors_must_be_possible_bodies(tmp_path):
    model = Model(robots.load(tmp_path, "tooled"), (RigidBody(),))
    good = link_map(model).priors
    with pytest.raises(StudyError, match="ten prior parameters"):
        link_map(model, priors=good[:2])
    bad = good.copy()
    bad[1, 4] = 0.0
    with pytest.raises(StudyError, match="no possible body"):
        link_map(model, priors=bad)
