"""Base parameters back to a full set: the same torque, possible bodies, and a refusal where there are none."""

from __future__ import annotations

import numpy as np
import pytest

import robots
from steelyard.basis import base_parameters
from steelyard.errors import ModelError, StudyError
from steelyard.estimate.base_to_full import base_to_full
from steelyard.estimate.feasibility import nearest_bodies
from steelyard.estimate.link_map import link_map
from steelyard.estimate.symmetric import matrices, vectors
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.robot.tool import without_tool
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.viscous import Viscous

TERMS = (RigidBody(), RotorInertia(), Viscous(), Coulomb(), Offset())
FILES = {
    "panda": "panda_description/urdf/panda.urdf",
    "ur10": "ur_description/urdf/ur10_robot.urdf",
    "humanoid": "simple_humanoid_description/urdf/simple_humanoid.urdf",
}


@pytest.fixture(scope="module")
def models(example_robots):
    loaded = {}
    for name, path in FILES.items():
        robot = Robot.from_urdf(example_robots / path, floating=False)
        fingers = [joint for joint in robot.joint_names if "finger" in joint]
        loaded[name] = Model(robot.locked(fingers), TERMS)
    return {name: (model, base_parameters(model)) for name, model in loaded.items()}


def another(model, *, seed, share):
    """Coordinates of another robot that can exist: every link changed by factors of about exp(share)."""
    rng = np.random.default_rng(seed)
    links = link_map(model)
    y = links.start
    values, axes = np.linalg.eigh(matrices(share * rng.normal(size=(len(links.links), 10))))
    y[: links.rigid] = vectors((axes * np.exp(values)[:, None, :]) @ np.swapaxes(axes, 1, 2)).ravel()
    for k, column in enumerate(links.scalars):
        y[links.rigid + k] = abs(rng.normal()) if column.nonnegative else rng.normal()
    return links, y


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
def test_the_same_torque_from_possible_bodies(models, name, share):
    """Torque to 1e-12 of the largest, in at most 25 steps; the issue asks for 1e-9."""
    model, basis = models[name]
    links, y = another(model, seed=4, share=share)
    base = basis.regroup(links.matrix @ y)
    full = base_to_full(model, basis, base)
    assert full.torque_change < 1e-12
    assert full.least_eigenvalue > 0.0
    assert full.steps <= 25
    assert min(v for name, v in full.scalars.items() if not name.endswith("/bias")) >= 0.0
    np.testing.assert_allclose(basis.regroup(full.theta), base, rtol=0, atol=1e-11 * np.abs(base).max())


def test_the_model_files_own_base_parameters_give_the_model_file(models):
    """Nothing has to move: the prior is the nearest."""
    model = Model(models["ur10"][0].robot, (RigidBody(),))
    basis = base_parameters(model)
    full = base_to_full(model, basis, basis.regroup(model.nominal))
    np.testing.assert_allclose(full.theta, model.nominal, rtol=1e-9, atol=1e-12)
    assert full.steps == 0


def test_a_model_file_of_placeholders_is_not_refused(models):
    """The humanoid's wrists have 1 kg m2 on 0.4 kg: 5 000 times the prior that stands in for them, in 61 steps."""
    model = Model(models["humanoid"][0].robot, (RigidBody(),))
    basis = base_parameters(model)
    full = base_to_full(model, basis, basis.regroup(1.2 * model.nominal))
    assert full.torque_change < 1e-9
    assert 20 < full.steps < 100
    assert len(full.findings) > 10


def test_no_other_possible_set_with_that_torque_is_nearer(models):
    model, basis = models["panda"]
    links, y = another(model, seed=9, share=0.3)
    full = base_to_full(model, basis, basis.regroup(links.matrix @ y))

    def divergence(at):
        J = links.relative(at)
        return float(np.sum(np.trace(J, axis1=1, axis2=2) - np.linalg.slogdet(J)[1] - 4.0))

    N = basis.matrix @ links.matrix[:, : links.rigid]
    _, values, Vt = np.linalg.svd(N)
    null = Vt[int(np.sum(values > 1e-9 * values[0])) :]
    assert len(null) >= 27
    best = divergence(full.y)
    assert best < divergence(y)
    rng = np.random.default_rng(0)
    for _ in range(30):
        moved = full.y.copy()
        moved[: links.rigid] += 1e-3 * null.T @ rng.normal(size=len(null))
        assert divergence(moved) > best


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("actuator/panda_joint4/viscous_friction", -0.1),
        ("actuator/panda_joint7/coulomb_friction", -1e-3),
        ("link/panda_link7/inertia_zz", -0.5),
        ("link/panda_link5/inertia_xy", 3.0),
    ],
)
def test_what_no_robot_can_have_is_refused_with_the_reason(models, column, value):
    model, basis = models["panda"]
    base = basis.regroup(model.nominal)
    at = basis.names.index(column)
    base[at] = value
    with pytest.raises(ModelError, match="no bodies that can exist") as caught:
        base_to_full(model, basis, base)
    assert column in str(caught.value.value)
    assert caught.value.cure


def test_the_sign_of_an_offset_is_free(models):
    model, basis = models["panda"]
    base = basis.regroup(model.nominal)
    base[basis.names.index("actuator/panda_joint4/bias")] = -3.0
    assert base_to_full(model, basis, base).scalars["actuator/panda_joint4/bias"] == -3.0


def test_a_body_without_mass_cannot_have_any(tmp_path):
    robot = robots.load(tmp_path, "tooled")
    for part in ("lower", "tool", "camera"):
        robot = without_tool(robot, part)
    model = Model(robot, (RigidBody(),))
    basis = base_parameters(model)
    base = basis.regroup(model.nominal)
    assert base_to_full(model, basis, base).torque_change < 1e-12
    base[basis.names.index("link/lower/first_moment_x")] = 0.3
    with pytest.raises(ModelError, match="no bodies that can exist") as caught:
        base_to_full(model, basis, base)
    assert "link/lower/first_moment_x" in str(caught.value.value)


def test_base_parameters_of_another_model_are_refused(models):
    model, basis = models["panda"]
    with pytest.raises(StudyError, match="not base parameters of this model"):
        base_to_full(model, basis, np.zeros(3))
    with pytest.raises(StudyError, match="not base parameters of this model"):
        base_to_full(Model(model.robot, (RigidBody(),)), basis, np.zeros(basis.count))


def test_the_error_is_reported(models):
    model, basis = models["ur10"]
    links = link_map(model)
    found = nearest_bodies(links, basis, basis.regroup(model.nominal))
    assert found.y is not None
    assert found.error < 1e-12
    assert found.reason == ()
