"""Regressor and reduction against figaroh's regressor builder and lstsq, in one process, CPU time.

   python benchmarks/figaroh_speed.py        (in an environment with figaroh and this project; skipped without it)

figaroh's builder fills the stacked regressor of our seven-joint arm with friction, offset and rotor inertia, lstsq
solves it; ours is `Model.absorb` and the solution of its triangle. Both see the same 20 000 samples.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import time
from types import SimpleNamespace

import numpy as np
import pinocchio
from speed import arm, best, states

from steelyard.simulate.robots import robot_file

OPTIONS = {
    "has_friction": True, "has_actuator_inertia": True, "has_joint_offset": True, "is_joint_torques": True,
    "is_external_wrench": False, "force_torque": None, "act_idxv": list(range(7)),
}  # fmt: skip


def main() -> None:
    """Print both times and how well the predictions agree."""
    try:
        from figaroh.tools.regressor import build_regressor_basic
    except ImportError:
        print("figaroh is not installed: pip install figaroh")
        return
    model, names = arm()
    data = states(model, 20_000)
    pin_model = pinocchio.buildModelFromUrdf(str(robot_file("arm7.urdf")))
    robot = SimpleNamespace(model=pin_model, data=pin_model.createData())
    q, dq, ddq, tau = (data.channel(c) for c in ("q", "dq", "ddq", "tau"))
    started = time.thread_time()
    W = build_regressor_basic(robot, q, dq, ddq, OPTIONS)
    built = time.thread_time() - started
    started = time.thread_time()
    x = np.linalg.lstsq(W, tau.T.ravel(), rcond=1e-9)[0]
    solved = time.thread_time() - started
    ours = best(lambda: model.absorb([data], names=names), 5)
    R = model.absorb([data], names=names).stacked()
    theta = np.linalg.lstsq(R[:, :-1], R[:, -1], rcond=1e-9)[0]
    few = data.samples(0, 1000)
    pick = [model.names.index(name) for name in names]
    mine = model.regressor(few)[:, :, pick] @ theta
    theirs = (W @ x).reshape(7, -1).T[:1000]
    print(
        f"figaroh {built / len(data) * 1e6:.1f} us a sample to build, {solved / len(data) * 1e6:.1f} to solve; ours "
        f"{ours / len(data) * 1e6:.2f} us for both: {(built + solved) / ours:.0f}x; "
        f"predictions differ by {np.abs(mine - theirs).max() / np.abs(mine).max():.1e}"
    )


if __name__ == "__main__":
    main()
