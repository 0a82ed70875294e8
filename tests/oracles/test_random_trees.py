"""Trees that nobody drew: any shape, order, axes, couplings, against Pinocchio; and the scratch they are worked in."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from steelyard.robot.kernel import _depth_first
from steelyard.robot.reduction import Reducer, Samples
from steelyard.robot.regressor import build_plan, dense_regressor
from steelyard.robot.tree import FLOATING, PRISMATIC, REVOLUTE, TreeJoint, build_tree

AGREEMENT = 1e-12  # relative to the largest entry; measured 4e-14 row by row over 800 trees
GRAM = 1e-11  # relative to the lengths of both columns: 5000 rows of double precision, through a factor; measured 3e-13
ZERO = np.zeros(3)


def random_joints(rng):
    """Joints, number of coordinates, whether the base floats; bodies anywhere on those before them."""
    bodies, floating = int(rng.integers(1, 12)), bool(rng.random() < 0.3)
    coordinates = int(rng.integers(1, bodies + 1)) if rng.random() < 0.5 else bodies
    dofs = rng.permutation(np.concatenate([np.arange(coordinates), rng.integers(0, coordinates, bodies - coordinates)]))
    sliding, coupled = rng.choice([0.0, 0.3, 1.0]), coordinates < bodies
    joints = [TreeJoint(-1, FLOATING, ZERO, np.eye(3), ZERO, -1)] if floating else []
    for dof in dofs.tolist():
        axis = rng.normal(size=3) if rng.random() < 0.5 else np.eye(3)[rng.integers(3)]
        joints.append(
            TreeJoint(
                parent=int(rng.integers(-1 if not floating else 0, len(joints))) if joints else -1,
                kind=PRISMATIC if rng.random() < sliding else REVOLUTE,
                axis=axis / np.linalg.norm(axis),
                rotation=pin.SE3.Random().rotation if rng.random() < 0.7 else np.eye(3),
                translation=rng.normal(size=3),
                dof=dof,
                ratio=float(rng.normal()) if coupled else 1.0,
                offset=float(rng.normal()) if coupled else 0.0,
            )
        )
    return joints, coordinates, floating


def states(rng, count, coordinates, floating):
    rows = coordinates + 6 * floating
    q = 2.0 * rng.normal(size=(count, coordinates + 4 * floating))
    if floating:
        q[:, :4] /= np.linalg.norm(q[:, :4], axis=1, keepdims=True)
    return q, 3.0 * rng.normal(size=(count, rows)), 5.0 * rng.normal(size=(count, rows))


def oracle(joints, gravity, floating, states_):
    """(K, n, 10 N): every joint free in Pinocchio, then projected on the coordinates."""
    model, ids = pin.Model(), []
    model.gravity.linear = gravity
    make = {PRISMATIC: pin.JointModelPrismaticUnaligned, REVOLUTE: pin.JointModelRevoluteUnaligned}
    for i, joint in enumerate(joints):
        kind = pin.JointModelFreeFlyer() if joint.kind == FLOATING else make[joint.kind](*joint.axis)
        above = ids[joint.parent] if joint.parent >= 0 else 0
        ids.append(model.addJoint(above, kind, pin.SE3(joint.rotation, joint.translation), f"j{i}"))
    data, found = model.createData(), []
    for q, v, a in zip(*states_, strict=True):
        G, full = np.zeros((model.nv, v.size)), np.zeros(model.nq)
        for i, joint in zip(ids, joints, strict=True):
            at, to = model.joints[i].idx_q, model.joints[i].idx_v
            if joint.kind == FLOATING:
                full[at + 3 : at + 7], G[to : to + 6, :6] = q[:4], np.eye(6)
            else:
                full[at] = joint.ratio * q[joint.dof + 4 * floating] + joint.offset
                G[to, joint.dof + 6 * floating] = joint.ratio
        Y = np.reshape(pin.computeJointTorqueRegressor(model, data, full, G @ v, G @ a), (model.nv, -1))
        found.append(G.T @ Y)
    return np.array(found)


@pytest.mark.parametrize("seed", range(4))
def test_regressors_of_random_trees(seed):
    rng = np.random.default_rng(seed)
    pin.seed(seed)
    kinds = set()
    for _ in range(30):
        joints, coordinates, floating = random_joints(rng)
        gravity = 9.0 * rng.normal(size=3)
        tree = build_tree(joints, gravity, coordinates)
        kinds.add(_depth_first(tree.parent))
        motion = states(rng, int(rng.choice([1, 3])), coordinates, floating)
        ours, theirs = dense_regressor(tree, *motion), oracle(joints, gravity, floating, motion)
        assert np.abs(ours - theirs).max() <= AGREEMENT * np.abs(theirs).max()
    assert kinds == {True, False}  # bodies that work in their parents' places, and bodies that cannot


@pytest.mark.parametrize("seed", range(4))
def test_one_scratch_for_many_blocks_with_and_without_masks(seed):
    """Whatever a block leaves behind (masks, rows, spare lines) must not reach the next one."""
    rng = np.random.default_rng(seed)
    pin.seed(seed)
    for _ in range(4):
        joints, coordinates, floating = random_joints(rng)
        tree = build_tree(joints, 9.0 * rng.normal(size=3), coordinates)
        rows, wanted = tree.rows, rng.random(10 * tree.bodies) < 0.7
        column = np.where(wanted, np.cumsum(wanted) - 1, -1)
        moves = [{b for b, moved in enumerate(tree.rows_of_bodies(turning=False)) if r in moved} for r in range(rows)]
        support = [sorted({int(column[10 * b + e]) for b in seen for e in range(10)} - {-1}) for seen in moves]
        reducer = Reducer(tree, build_plan(tree, support, column, []))
        gram = [np.zeros((len(s) + 1, len(s) + 1)) for s in support]
        for count in rng.permutation([1, 63, 64, 65, 255, 256, 257, 1025]).tolist():
            motion, torque = states(rng, count, coordinates, floating), rng.normal(size=(rows, count))
            mask = rng.choice([0.0, 1.0, 1.7], size=(count, rows)) * (rng.random() < 0.8)
            masked = rng.random() < 0.6
            reducer.absorb(Samples(*motion, mask if masked else np.zeros((0, 0)), torque))
            dense = dense_regressor(tree, *motion)[:, :, wanted]
            for r, s in enumerate(support):
                W = np.column_stack([dense[:, r, s], torque[r]]) * (mask[:, [r]] if masked else 1.0)
                gram[r] += W.T @ W
        for R, G in zip(reducer.factors(), gram, strict=True):
            length = np.sqrt(np.diag(G))
            seen = length > 1e-12 * length.max()  # some columns are rounding alone, theirs and ours
            error = np.abs(R.T @ R - G)[np.ix_(seen, seen)]
            assert (error <= GRAM * np.outer(length[seen], length[seen])).all()


def test_a_body_after_its_nephews_is_not_depth_first():
    assert _depth_first(np.array([-1, 0, 1, 2]))
    assert _depth_first(np.array([-1, 0, 1, 0, 3, -1]))
    assert not _depth_first(np.array([-1, 0, 0, 1]))
