"""Filled-in inertials of a model file: found, named, hardly believed; the data decide."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import arm
import robots
from steelyard.basis import base_parameters
from steelyard.estimate.doubted_links import doubt_findings, doubted_links
from steelyard.estimate.identify import Identification, identify
from steelyard.estimate.prior import MASS_SHARE, RADIUS, WIDE_RADIUS, physical_prior
from steelyard.estimate.shares import prior_share
from steelyard.estimate.training import Recording
from steelyard.estimate.trust import with_trust
from steelyard.model import Model
from steelyard.robot.robot import Robot
from steelyard.simulate.robots import robot_file
from steelyard.terms.names import terms_named

TERMS = terms_named(("rigid_body", "viscous", "coulomb", "offset"))
UNIT = '<inertia ixx="1.0" ixy="0" ixz="0" iyy="1.0" iyz="0" izz="1.0"/>'


def filled_in(folder: Path, *links: int) -> Robot:
    """The arm with unit inertias on some links, counted from 0 for the base."""
    parts = re.split(r"<inertia .*?/>", robot_file("arm7.urdf").read_text())
    kept = re.findall(r"<inertia .*?/>", robot_file("arm7.urdf").read_text())
    text = parts[0] + "".join((UNIT if k in links else kept[k]) + part for k, part in enumerate(parts[1:]))
    path = folder / "filled_in.urdf"
    path.write_text(text)
    return Robot.from_urdf(path)


def recording(*, seed: int, motion_seed: int) -> Recording:
    path = arm.motion(seed=motion_seed)
    noise = 0.3 * np.array(arm.NOISE) * np.random.default_rng(seed).normal(size=path.q.shape)
    return Recording(arm.recorded(path, noise))


def missed(done: Identification) -> float:
    """Error of the torque along a motion that was not fitted, a fraction."""
    unseen = arm.motion(seed=8)
    wanted = arm.model().torque(arm.truth(), unseen)
    return float(np.linalg.norm(done.model.predict(done.estimate, unseen) - wanted) / np.linalg.norm(wanted))


def test_a_sound_file_raises_no_doubt():
    assert doubted_links(arm.model().robot) == ()
    assert doubt_findings(arm.model().robot) == ()


@pytest.mark.parametrize("duration", [4.0, 20.0])
def test_unit_inertias_give_way_to_the_data(tmp_path, duration, monkeypatch):
    """Better than without any prior, above all where 4 s say little; believed, they would spoil the prediction."""
    robot = filled_in(tmp_path, 3, 5)
    train = replace(recording(seed=1, motion_seed=3), interval=(0.0, duration))
    done = identify(robot, [train], terms=TERMS)
    assert missed(done) < missed(identify(robot, [train], terms=TERMS, estimator="weighted"))
    monkeypatch.setattr("steelyard.estimate.prior.doubted_links", lambda robot: ())
    assert missed(done) < 0.7 * missed(identify(robot, [train], terms=TERMS))


def test_their_parameters_follow_the_data(tmp_path):
    """Within four deviations of the truth, and less than a fiftieth of the prior's variance left."""
    robot = filled_in(tmp_path, 3, 5)
    done = identify(robot, [recording(seed=1, motion_seed=3)], terms=TERMS)
    wanted = done.basis.regroup(arm.truth())
    own = [k for k, n in enumerate(done.basis.names) if n.startswith(("link/link_3/inertia", "link/link_5/inertia"))]
    assert len(own) == 10
    assert np.all(np.abs(done.estimate.theta - wanted)[own] < 4.0 * done.estimate.deviation[own])
    assert np.all(prior_share(done.estimate)[own] < 0.02)
    (finding,) = [f for f in done.estimate.findings if f.code == "fit.placeholder_prior"]
    assert "link_3 (1 kg m2 about every axis), link_5 (1 kg m2 about every axis)" in finding.message
    assert finding.value == 2


def test_their_scales_are_wide_and_do_not_follow_the_trust_in_the_others(tmp_path):
    """The mass of the file is believed, its inertia is not: 0.3 m in place of 0.1 m, about a usual inertia."""
    model = Model(filled_in(tmp_path, 3), TERMS)
    basis = base_parameters(model)
    path = arm.recorded(arm.motion(duration=2.0), np.zeros((200, 7)))
    prior = physical_prior(model, model.absorb([path], names=basis.names))
    value = dict(zip(prior.names, zip(prior.mean, prior.deviation, strict=True), strict=True))
    mass = value["link/link_3/mass"][0]
    assert value["link/link_3/mass"][1] == pytest.approx(MASS_SHARE * mass)
    wide = np.hypot(MASS_SHARE * mass * RADIUS**2, mass * WIDE_RADIUS**2)
    assert value["link/link_3/inertia_xx"][1] == pytest.approx(wide)
    assert value["link/link_3/inertia_xx"][0] < 0.1
    narrow = dict(zip(prior.names, with_trust(prior, 0.2).deviation, strict=True))
    assert narrow["link/link_3/inertia_xx"] == value["link/link_3/inertia_xx"][1]
    assert narrow["link/link_3/mass"] == pytest.approx(0.2 * MASS_SHARE * mass)
    assert narrow["link/link_4/inertia_xx"] == pytest.approx(0.2 * value["link/link_4/inertia_xx"][1])


def chain(folder: Path, *links: str) -> Robot:
    """Links one after the other, each turning about another axis than the one before."""
    axes = ("0 0 1", "0 1 0", "1 0 0")
    joints = [
        robots.joint(f"j{k}", f"{'base' if k == 0 else f'l{k - 1}'} l{k}", axis=axes[k % 3], at="0 0 0.3")
        for k in range(len(links))
    ]
    path = folder / "chain.urdf"
    path.write_text(f'<robot name="chain">{robots.body("base")}{"".join(links)}{"".join(joints)}</robot>')
    return Robot.from_urdf(path)


def test_copies_points_and_bodies_without_mass_are_found(tmp_path):
    """Three alike on one chain are copies, two are not; a point has no inertia; a link left out has no mass."""
    alike = [robots.body(f"l{k}", 2.0, "0 0 0.1") for k in range(3)]
    assert doubted_links(chain(tmp_path, *alike[:2])) == ()
    found = doubted_links(chain(tmp_path, *alike))
    assert [(one.link.name, one.words, one.whole) for one in found] == [(f"l{k}", "copied", True) for k in range(3)]
    point = robots.body("l1", 1.0, "0 0 0.1", box="0 0 0")
    found = doubted_links(chain(tmp_path, alike[0], point, robots.body("l2", 3.0)))
    assert [(one.link.name, one.words, one.whole) for one in found] == [("l1", "no inertia", False)]
    (nothing,) = doubted_links(chain(tmp_path, alike[0], robots.body("l1"), robots.body("l2", 3.0)))
    assert (nothing.link.name, nothing.words, nothing.mass) == ("l1", "no mass", 2.5)
