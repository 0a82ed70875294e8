"""Speed and memory, as ratios within one run: regressor, reduction, file to estimate, start-up.

    python benchmarks/speed.py [kernel] [reduction] [threads] [csv] [startup]

CPU time on one thread, warm, best of several; each memory figure in a process of its own. The reference is the plain
loop over Pinocchio's computeJointTorqueRegressor that stores each result into a preallocated array.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio

from steelyard.basis import base_parameters
from steelyard.data.trajectory import Trajectory
from steelyard.model import Model
from steelyard.robot.kernel import SPARE, fill, workspace
from steelyard.robot.reduction import CHUNK, LEAD
from steelyard.robot.regressor import NO_MASK, build_plan
from steelyard.robot.robot import Robot
from steelyard.robot.tree import FLOATING, PRISMATIC, REVOLUTE, Tree, TreeJoint, build_tree
from steelyard.simulate.robots import robot_file
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.rotor_inertia import RotorInertia
from steelyard.terms.viscous import Viscous

SHARE = Path(sys.prefix, "lib", f"python3.{sys.version_info.minor}", "site-packages", "cmeel.prefix", "share")
SOLO = SHARE / "example-robot-data/robots/solo_description/robots/solo12.urdf"


def best(run: Callable[[], object], times: int = 9) -> float:
    """Least CPU time of this thread [s]."""
    run()
    spent = []
    for _ in range(times):
        started = time.thread_time()
        run()
        spent.append(time.thread_time() - started)
    return min(spent)


def tree_of(model: pinocchio.Model) -> Tree:
    """The kernel's tree of a Pinocchio model."""
    joints, dof = [], 0
    for i in range(1, model.njoints):
        joint, place = model.joints[i], model.jointPlacements[i]
        if joint.nv == 6:
            kind, axis = FLOATING, np.zeros(3)
        else:
            data = joint.createData()
            joint.calc(data, pinocchio.neutral(model)[joint.idx_q : joint.idx_q + joint.nq])
            screw = np.ravel(data.S)
            kind, axis = (REVOLUTE, screw[3:]) if screw[3:].any() else (PRISMATIC, screw[:3])
        joints.append(TreeJoint(model.parents[i] - 1, kind, axis, place.rotation, place.translation, dof))
        dof += joint.nv == 1
    return build_tree(joints, model.gravity.linear, dof)


def kernel(name: str, model: pinocchio.Model, samples: int) -> None:
    """All standard columns, panel after panel in cache, against the loop."""
    rng = np.random.default_rng(0)
    tree = tree_of(model)
    q = np.array([pinocchio.integrate(model, pinocchio.neutral(model), rng.uniform(-2, 2, model.nv))
                  for _ in range(samples)])  # fmt: skip
    v, a = rng.standard_normal((samples, model.nv)), rng.standard_normal((samples, model.nv))
    moved: list[list[int]] = [[] for _ in range(tree.rows)]
    for body in range(tree.bodies):
        for row in tree.pair_row[tree.pair_start[body] : tree.pair_start[body + 1]]:
            moved[int(row)].append(body)
    plan = build_plan(
        tree, [[10 * b + e for b in m for e in range(10)] for m in moved], np.arange(10 * tree.bodies), []
    )
    position = np.ascontiguousarray(q if model.nq == model.nv else q[:, 3:])
    panel, work, extra = np.zeros((plan.start[-1] + SPARE) * LEAD), workspace(tree), np.zeros((tree.rows, samples))

    def ours() -> None:
        for k0 in range(0, samples, CHUNK):
            fill(tree, plan, position, v, a, NO_MASK, extra, k0, CHUNK, work, panel, np.uint64(LEAD), 0)

    data, stored = model.createData(), np.zeros((samples, model.nv, 10 * (model.njoints - 1)))

    def loop() -> None:
        for k in range(samples):
            stored[k] = pinocchio.computeJointTorqueRegressor(model, data, q[k], v[k], a[k])

    mine, theirs = best(ours, 25) / samples, best(loop, 7) / samples
    print(f"kernel, {name}: {1e6 * mine:.3f} us a sample, Pinocchio loop {1e6 * theirs:.2f} us: {theirs / mine:.1f}x")


def arm() -> tuple[Model, tuple[str, ...]]:
    """Our seven-joint arm: 43 rigid columns and four columns a joint."""
    robot = Robot.from_urdf(robot_file("arm7.urdf"))
    rigid = base_parameters(Model(robot, (RigidBody(),)))
    model = Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset(), RotorInertia()))
    return model, rigid.names + tuple(name for name in model.names if name.startswith("actuator/"))


def states(model: Model, samples: int, *, seed: int = 0) -> Trajectory:
    """Random states and the torque they take, with noise."""
    rng = np.random.default_rng(seed)
    n = len(model.robot.joint_names)
    q, dq, ddq = rng.uniform(-2, 2, (samples, n)), rng.standard_normal((samples, n)), rng.standard_normal((samples, n))
    motion = Trajectory(np.arange(samples) * 1e-3, model.robot.joint_names, q=q, dq=dq, ddq=ddq)
    tau = model.torque(np.concatenate([model.robot.parameters, np.full(4 * n, 0.5)]), motion)
    tau += 0.1 * rng.standard_normal((samples, n))
    return Trajectory(motion.time, model.robot.joint_names, q=q, dq=dq, ddq=ddq, tau=tau)


def peak_memory() -> float:
    """Largest resident size of this process so far [MB]."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def reduction(samples: int = 1_000_000) -> None:
    """Samples x 71 columns to triangles, against stack and lstsq; agreement with Householder QR."""
    model, names = arm()
    data = states(model, samples)
    model.absorb([data.samples(0, 20_000)], names=names)
    before = peak_memory()
    ours = best(lambda: model.absorb([data], names=names), 5) / samples
    grown = peak_memory() - before
    few = data.samples(0, 20_000)
    pick = [model.names.index(name) for name in names]
    pin_model = pinocchio.buildModelFromUrdf(str(robot_file("arm7.urdf")))
    pin_data = pin_model.createData()
    q, dq, ddq = (few.channel(c) for c in ("q", "dq", "ddq"))

    def stack() -> None:
        rigid = np.stack([pinocchio.computeJointTorqueRegressor(pin_model, pin_data, q[k], dq[k], ddq[k])
                          for k in range(len(few))])  # fmt: skip
        joint = np.concatenate([np.eye(7) * x[:, None, :] for x in (dq, np.sign(dq), np.ones_like(dq), ddq)], axis=2)
        Y = np.concatenate([rigid, joint], axis=2)[:, :, pick].reshape(-1, len(pick))
        np.linalg.lstsq(Y, few.channel("tau").ravel(), rcond=1e-11)

    theirs = best(stack, 2) / len(few)
    print(
        f"reduction, {samples} samples x {len(names)} columns: {1e6 * ours:.2f} us a sample, {grown:.0f} MB more; "
        f"stack + lstsq {1e6 * theirs:.1f} us: {theirs / ours:.0f}x"
    )
    basis = base_parameters(model)
    Y = model.regressor(few)[:, :, [model.names.index(name) for name in basis.names]].reshape(-1, basis.count)
    scale = np.logspace(0, -8, basis.count)  # the factor of scaled columns is that of a problem of condition 1e8
    R = np.linalg.qr(np.column_stack([Y, few.channel("tau").ravel()]), mode="r")
    R *= np.where(np.diag(R) < 0, -1.0, 1.0)[:, None]
    mine = model.absorb([few], names=basis.names).stacked()
    expected, found = (np.linalg.solve(x[:-1, :-1] * scale, x[:-1, -1]) for x in (R, mine))
    print(f"  solution against Householder QR of the whole stack: {np.abs(found / expected - 1).max():.1e} relative, "
          f"condition {np.linalg.cond(R[:-1, :-1] * scale):.0e}")  # fmt: skip


def threads(samples: int = 400_000) -> None:
    """Wall time of one thread over that of two."""
    model, names = arm()
    data = states(model, samples)
    wall = {}
    for count in (1, 2, 1, 2):
        started = time.perf_counter()
        model.absorb([data], names=names, threads=count)
        wall[count] = min(wall.get(count, np.inf), time.perf_counter() - started)
    print(f"threads: two are {wall[1] / wall[2]:.2f}x one (wall)")


CSV_TO_ESTIMATE = """
import sys, time, steelyard as sy
from steelyard.estimate.identify import Recording
started = time.process_time()
robot = sy.Robot.from_urdf(sys.argv[1])
done = sy.identify(robot, [Recording(sy.read_csv(sys.argv[2]))], terms=(sy.RigidBody(), sy.Viscous(), sy.Coulomb(),
                   sy.Offset(), sy.RotorInertia()), estimator="weighted")
status = open("/proc/self/status").read()
peak = int(next(l for l in status.splitlines() if l.startswith("VmHWM")).split()[1]) / 1024
print(f"{time.process_time() - started:.1f} CPU s, {peak:.0f} MB, {done.estimate.rank} of {len(done.estimate.names)}")
"""


def csv(rows: int = 1_000_000) -> None:
    """From a CSV file of seven joints (q, dq, tau) to an estimate, in a process of its own."""
    model, _ = arm()
    t = np.arange(rows) * 1e-3
    rng = np.random.default_rng(0)
    q, dq, ddq = np.zeros((3, rows, 7))
    for j in range(7):
        for w in rng.uniform(0.5, 6.0, 4):
            phase = rng.uniform(0, 2 * np.pi)
            q[:, j] += 0.3 * np.sin(w * t + phase)
            dq[:, j] += 0.3 * w * np.cos(w * t + phase)
            ddq[:, j] -= 0.3 * w * w * np.sin(w * t + phase)
    motion = Trajectory(t, model.robot.joint_names, q=q, dq=dq, ddq=ddq)
    tau = model.torque(np.concatenate([model.robot.parameters, np.full(28, 0.5)]), motion)
    tau += 0.1 * rng.standard_normal(tau.shape)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "long.csv")
        head = ",".join(["time_s", *(f"{c}/{j}" for c in ("q", "dq", "tau") for j in model.robot.joint_names)])
        np.savetxt(file, np.column_stack([t, q, dq, tau]), fmt="%.9g", delimiter=",", header=head, comments="")
        done = subprocess.run(
            [sys.executable, "-c", CSV_TO_ESTIMATE, str(robot_file("arm7.urdf")), str(file)],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        print(f"file to estimate, {rows} rows x 22 columns ({file.stat().st_size / 1e6:.0f} MB): {done.stdout.strip()}")


def startup() -> None:
    """CPU time of `steelyard --help`."""
    spent = []
    for _ in range(5):
        before = os.times()
        subprocess.run([str(Path(sys.executable).with_name("steelyard")), "--help"], capture_output=True, check=True)
        after = os.times()
        spent.append(after.children_user + after.children_system - before.children_user - before.children_system)
    print(f"steelyard --help: {min(spent):.2f} CPU s")


def main() -> None:
    """Run what was asked for, everything by default."""
    wanted = sys.argv[1:] or ["kernel", "reduction", "threads", "csv", "startup"]
    if "kernel" in wanted:
        kernel("7-joint arm", pinocchio.buildModelFromUrdf(str(robot_file("arm7.urdf"))), 16_384)
        if SOLO.exists():
            kernel("18-row quadruped", pinocchio.buildModelFromUrdf(str(SOLO), pinocchio.JointModelFreeFlyer()), 8_192)
    for name, run in (("reduction", reduction), ("threads", threads), ("csv", csv), ("startup", startup)):
        if name in wanted:
            run()


if __name__ == "__main__":
    main()
