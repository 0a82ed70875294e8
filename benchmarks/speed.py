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

import numba
import numpy as np
import pinocchio
import polars

from steelyard.basis import base_parameters
from steelyard.data.trajectory import Trajectory
from steelyard.model import Model
from steelyard.robot.aligned import aligned_zeros
from steelyard.robot.kernel import SPARE, Plan, fill, workspace
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


@numba.njit(nogil=True)
def panels(tree, plan, Q, V, A, M, X, work, P):  # type: ignore[no-untyped-def]
    """Fill the panel chunk after chunk, as the reduction does, without reducing it."""
    for k0 in range(0, V.shape[0], CHUNK):
        fill(tree, plan, Q, V, A, M, X, k0, CHUNK, work, P, np.uint64(LEAD), 0)


def plan_of(tree: Tree, columns: np.ndarray) -> Plan:
    """The panels of a reduction that wants these standard columns."""
    kept, support = set(columns.tolist()), [[] for _ in range(tree.rows)]
    moved, turned = (tree.rows_of_bodies(turning=t) for t in (False, True))
    for column in sorted(kept):
        for row in (moved if column % 10 < 4 else turned)[column // 10]:
            support[row].append(column)
    return build_plan(tree, support, np.array([c if c in kept else -1 for c in range(10 * tree.bodies)]), [])


def kernel(name: str, model: pinocchio.Model, samples: int) -> None:
    """Panel after panel in cache, as handed to the reduction: base columns, and all of them; against the loop."""
    rng = np.random.default_rng(0)
    tree = tree_of(model)
    q = np.array([pinocchio.integrate(model, pinocchio.neutral(model), rng.uniform(-2, 2, model.nv))
                  for _ in range(samples)])  # fmt: skip
    v, a = rng.standard_normal((samples, model.nv)), rng.standard_normal((samples, model.nv))
    data, stored = model.createData(), np.zeros((samples, model.nv, 10 * (model.njoints - 1)))

    def loop() -> None:
        for k in range(samples):
            stored[k] = pinocchio.computeJointTorqueRegressor(model, data, q[k], v[k], a[k])

    theirs = best(loop, 7) / samples
    diagonal = np.abs(np.diag(np.linalg.qr(stored[:400].reshape(-1, stored.shape[2]), mode="r")))
    position = np.ascontiguousarray(q if model.nq == model.nv else q[:, 3:])
    work, extra = workspace(tree), np.zeros((tree.rows, samples))
    base = np.flatnonzero(diagonal > 1e-9 * diagonal.max())
    for columns in (base, np.arange(diagonal.size)):
        plan = plan_of(tree, columns)
        panel = aligned_zeros((int(plan.start[-1]) + SPARE) * LEAD)

        def ours(plan: Plan = plan, panel: np.ndarray = panel) -> None:
            panels(tree, plan, position, v, a, NO_MASK, extra, work, panel)

        mine = best(ours, 40) / samples
        print(
            f"kernel, {name}, {columns.size} of {diagonal.size} columns: {1e6 * mine:.3f} us a sample, "
            f"Pinocchio loop {1e6 * theirs:.2f} us: {theirs / mine:.1f}x"
        )


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


def memory(field: str) -> float:
    """VmRSS, the resident size of this process, or VmHWM, its largest since `forget_peak` [MB]."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line for line in status.splitlines() if line.startswith(field)).split()[1]) / 1024


def forget_peak() -> float:
    """Begin a new peak; the resident size now [MB]."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return memory("VmRSS")


def stack_and_solve(data: Trajectory, names: tuple[str, ...], model: Model) -> None:
    """The usual way: the regressor of every sample into one preallocated matrix, then lstsq."""
    pick = [k for k, name in enumerate(model.names) if name in names and name.startswith("link/")]
    pin_model = pinocchio.buildModelFromUrdf(str(robot_file("arm7.urdf")))
    pin_data, n = pin_model.createData(), 7
    q, dq, ddq = (data.channel(c) for c in ("q", "dq", "ddq"))
    Y = np.zeros((len(data), n, len(names)))
    for k in range(len(data)):
        Y[k, :, : len(pick)] = pinocchio.computeJointTorqueRegressor(pin_model, pin_data, q[k], dq[k], ddq[k])[:, pick]
    for j in range(n):
        at = len(pick) + 4 * j
        Y[:, j, at : at + 4] = np.column_stack([dq[:, j], np.sign(dq[:, j]), np.ones(len(data)), ddq[:, j]])
    np.linalg.lstsq(Y.reshape(-1, len(names)), data.channel("tau").ravel(), rcond=1e-11)


def reduction(samples: int = 1_000_000) -> None:
    """Samples x 71 columns to triangles, against stack and lstsq of as many; agreement with Householder QR."""
    model, names = arm()
    data = states(model, samples)
    few = data.samples(0, 20_000)
    model.absorb([few], names=names)
    resident = forget_peak()
    ours = best(lambda: model.absorb([data], names=names), 5) / samples
    grown = memory("VmHWM") - resident
    resident = forget_peak()
    started = time.thread_time()
    stack_and_solve(data, names, model)
    theirs = (time.thread_time() - started) / samples
    print(
        f"reduction, {samples} samples x {len(names)} columns: {1e6 * ours:.2f} us a sample, {grown:.0f} MB more; "
        f"stack + lstsq {1e6 * theirs:.1f} us, {memory('VmHWM') - resident:.0f} MB: {theirs / ours:.0f}x"
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
from steelyard.basis import base_parameters
from steelyard.estimate.training import Recording
started = time.process_time()
robot = sy.Robot.from_urdf(sys.argv[1])
terms = (sy.RigidBody(), sy.Viscous(), sy.Coulomb(), sy.Offset(), sy.RotorInertia())
if sys.argv[3] == "whole":
    done = sy.identify(robot, [Recording(sy.read_csv(sys.argv[2]))], terms=terms, estimator="weighted").estimate
else:
    model = sy.Model(robot, terms)
    basis = base_parameters(model)
    done = sy.weighted(sy.absorb_stream(model, sy.iterate_csv(sys.argv[2]), names=basis.names), basis=basis)
status = open("/proc/self/status").read()
peak = int(next(l for l in status.splitlines() if l.startswith("VmHWM")).split()[1]) / 1024
print(f"{time.process_time() - started:.1f} CPU s, {peak:.0f} MB, {done.rank} of {len(done.names)}")
"""


def write_recording(file: Path, rows: int) -> None:
    """A recording of our seven-joint arm at 1 kHz: q, dq, tau of multi-sine motion with noise."""
    model, _ = arm()
    rng = np.random.default_rng(0)
    rates, phases = rng.uniform(0.5, 6.0, (7, 4)), rng.uniform(0, 2 * np.pi, (7, 4))
    theta = np.concatenate([model.robot.parameters, np.full(28, 0.5)])
    head = ["time_s", *(f"{c}/{j}" for c in ("q", "dq", "tau") for j in model.robot.joint_names)]
    with open(file, "wb") as out:
        for first in range(0, rows, 250_000):
            t = np.arange(first, min(first + 250_000, rows)) * 1e-3
            angle = t[:, None, None] * rates + phases
            q, dq = 0.3 * np.sin(angle).sum(2), 0.3 * (rates * np.cos(angle)).sum(2)
            ddq = -0.3 * (rates**2 * np.sin(angle)).sum(2)
            motion = Trajectory(t, model.robot.joint_names, q=q, dq=dq, ddq=ddq)
            tau = model.torque(theta, motion) + 0.1 * rng.standard_normal(q.shape)
            table = polars.from_numpy(np.column_stack([t, q, dq, tau]), schema=head)
            table.write_csv(out, include_header=first == 0, float_precision=8)


def csv(rows: int, *ways: str) -> None:
    """From a CSV file of seven joints to an estimate, in a process of its own: read whole, in chunks, by command."""
    model = str(robot_file("arm7.urdf"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "long.csv")
        write_recording(file, rows)
        for way in ways:
            if way == "command":
                told = command(["identify", "--robot", model, "--train", str(file), "--quiet"])
            else:
                call = [sys.executable, "-c", CSV_TO_ESTIMATE, model, str(file), way]
                told = subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()
            print(f"file to estimate, {rows} rows x 22 columns ({file.stat().st_size / 1e6:.0f} MB), {way}: {told}")


def command(arguments: list[str]) -> str:
    """CPU time and largest resident size of one `steelyard` command."""
    call = [str(Path(sys.executable).with_name("steelyard")), *arguments]
    child = subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise RuntimeError(f"steelyard {arguments[0]} ended with status {child.returncode}")
    return f"{usage.ru_utime + usage.ru_stime:.1f} CPU s, {usage.ru_maxrss / 1024:.0f} MB"


def csv_files() -> None:
    """A million and ten million rows."""
    csv(1_000_000, "whole", "streamed", "command")
    csv(10_000_000, "streamed", "command")


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
    for name, run in (("reduction", reduction), ("threads", threads), ("csv", csv_files), ("startup", startup)):
        if name in wanted:
            run()


if __name__ == "__main__":
    main()
