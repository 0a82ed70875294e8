"""The adjoint of the regressor against derivatives that know nothing of it: complex steps and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

import robots
from steelyard.errors import ModelError
from steelyard.robot.adjoint import regressor_gradient, tape
from steelyard.robot.motion import BLOCK
from steelyard.robot.regressor import dense_regressor
from steelyard.robot.robot import Robot
from steelyard.robot.tree import FLOATING, PRISMATIC, TreeJoint, build_tree

CHANNELS = ("q", "v", "a")
TINY = 1e-40  # imaginary step: its square is nothing beside one, so that no digit is lost


def skew(x):
    zero = 0.0 * x[0]
    return np.array([[zero, -x[2], x[1]], [x[2], zero, -x[0]], [-x[1], x[0], zero]])


def symmetric_basis():
    """Unit matrices of Ixx, Ixy, Iyy, Ixz, Iyz, Izz."""
    for r, c in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)):
        E = np.zeros((3, 3))
        E[r, c] = E[c, r] = 1.0
        yield E


def oracle_regressor(robot, q, v, a):
    """(n, 10 N) regressor of one state, complex numbers too: recursion in the world frame, rows by virtual power."""
    n, joints = len(q), robot.joints
    frames, rates, axes = [], [], []
    for joint in joints:
        R, p = frames[joint.parent] if joint.parent >= 0 else (np.eye(3), np.zeros(3))
        w, alpha, acc = rates[joint.parent] if joint.parent >= 0 else (np.zeros(3), np.zeros(3), -robot.gravity)
        x, dx, ddx = joint.ratio * q[joint.dof] + joint.offset, joint.ratio * v[joint.dof], joint.ratio * a[joint.dof]
        own, r = R @ joint.rotation, R @ joint.translation
        axis = own @ joint.axis
        if joint.kind == PRISMATIC:
            r = r + axis * x
            acc = acc + 2.0 * np.cross(w, axis) * dx + axis * ddx
        acc = acc + np.cross(alpha, r) + np.cross(w, np.cross(w, r))
        if joint.kind != PRISMATIC:
            K = skew(joint.axis)
            own = own @ (np.eye(3) + np.sin(x) * K + (1.0 - np.cos(x)) * K @ K)
            alpha = alpha + np.cross(w, axis) * dx + axis * ddx
            w = w + axis * dx
        frames.append((own, p + r))
        rates.append((w, alpha, acc))
        axes.append(axis)
    Y = np.zeros((n, 10 * len(joints)), dtype=complex)
    for i, (R, p) in enumerate(frames):
        w, alpha, acc = (R.T @ vector for vector in rates[i])
        field = skew(alpha) + skew(w) @ skew(w)
        k = i
        while k >= 0:
            joint = joints[k]
            if joint.kind == PRISMATIC:
                h, f = np.zeros(3), joint.ratio * (R.T @ axes[k])
            else:
                h = joint.ratio * (R.T @ axes[k])
                f = np.cross(h, R.T @ (p - frames[k][1]))
            columns = [f @ acc, *(f @ field @ e + h @ np.cross(e, acc) for e in np.eye(3))]
            columns += [h @ (E @ alpha + np.cross(w, E @ w)) for E in symmetric_basis()]
            Y[joint.dof, 10 * i : 10 * i + 10] += columns
            k = joint.parent
    return Y


def load(folder, name):
    return Robot.from_urdf(robots.write(folder, name), mimic="project", gravity=robots.TILTED)


def draws(robot, count, seed=3):
    n = len(robot.joint_names)
    rng = np.random.default_rng(seed)
    states = [scale * rng.uniform(-1.0, 1.0, (count, n)) for scale in (2.5, 3.0, 10.0)]
    return states, rng.standard_normal((count, n, 10 * len(robot.joints)))


@pytest.mark.parametrize("name", sorted(robots.TEXTS))
def test_the_oracle_is_the_regressor(tmp_path, name):
    robot = load(tmp_path, name)
    states, _ = draws(robot, 2)
    dense = dense_regressor(robot.tree, *states)
    for k in range(2):
        other = oracle_regressor(robot, *(x[k] for x in states)).real
        assert np.abs(other - dense[k]).max() < 1e-12 * np.abs(dense).max()


@pytest.mark.parametrize("name", sorted(robots.TEXTS))
def test_gradient_equals_complex_steps(tmp_path, name):
    """Revolute, prismatic and endless joints, branches and mimics; both are exact to rounding."""
    robot = load(tmp_path, name)
    states, weights = draws(robot, 2)
    found = regressor_gradient(robot.tree, *states, weights)
    for channel, letter in enumerate(CHANNELS):
        expected = np.zeros(states[0].shape)
        for k, j in np.ndindex(expected.shape):
            moved = [x[k].astype(complex) for x in states]
            moved[channel][j] += 1j * TINY
            expected[k, j] = np.sum(weights[k] * oracle_regressor(robot, *moved).imag) / TINY
        assert np.abs(found[channel] - expected).max() < 1e-12 * np.abs(expected).max(), letter


@pytest.mark.parametrize("name", ["rail", "branching", "knuckles"])
@pytest.mark.parametrize("count", [1, BLOCK, BLOCK + 3])
def test_gradient_equals_finite_differences(tmp_path, name, count):
    """Central differences with a step of 1e-6 lose half the digits: 1e-7. Counts on both sides of a block."""
    robot = load(tmp_path, name)
    states, weights = draws(robot, count)
    found = regressor_gradient(robot.tree, *states, weights)
    for channel in range(3):
        expected = np.zeros(states[0].shape)
        for j in range(expected.shape[1]):
            sides = []
            for step in (1e-6, -1e-6):
                moved = [x.copy() for x in states]
                moved[channel][:, j] += step
                sides.append(np.einsum("kjc,kjc->k", weights, dense_regressor(robot.tree, *moved)))
            expected[:, j] = (sides[0] - sides[1]) / 2e-6
        assert np.abs(found[channel] - expected).max() < 1e-7 * np.abs(expected).max()


def test_a_floating_base_is_refused():
    base = TreeJoint(-1, FLOATING, np.array([0.0, 0.0, 1.0]), np.eye(3), np.zeros(3), 0)
    tree = build_tree([base], np.array([0.0, 0.0, -9.81]), 0)
    with pytest.raises(ModelError, match="fixed base"):
        tape(tree, 10)
