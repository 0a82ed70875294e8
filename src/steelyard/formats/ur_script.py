"""Motions as a script of Universal Robots: one `servoj` a step of 8 ms, which every generation of them can keep.

The script moves nowhere before the motion: it halts with a message where the robot does not stand at the start.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.errors import DataError
from steelyard.formats.joint_trajectory import fixed_decimals

Array = NDArray[np.float64]
JOINTS = 6
RATE = 125
"""[Hz] of the poses: the period of the older controllers, four periods of the newer ones."""

LOOKAHEAD, GAIN = 0.1, 300
"""[s] and the proportional gain of `servoj`, as the maker presets them."""

NEAR = 0.01
"""[rad] from the start at which the motion may begin."""

_SERVOJ = re.compile(r"^  servoj\(\[([^]]+)\], 0, 0, ([0-9.]+), ", flags=re.MULTILINE)
_BEGIN = """\
def steelyard_excitation():
  start = [{start}]
  here = get_actual_joint_positions()
  i = 0
  while i < {joints}:
    if norm(here[i] - start[i]) > {near}:
      popup("Move the robot to the start of the motion first.", "steelyard", False, True, True)
      halt
    end
    i = i + 1
  end
"""


def ur_script(trajectory: Trajectory, *, comment: Sequence[str] = ()) -> str:
    """The motion as a program of `servoj` commands.

    Args:
        trajectory: positions of six joints, base first [rad], at RATE.
        comment: lines to put before it.

    Raises:
        DataError: not six joints, or another rate.
    """
    if len(trajectory.joint_names) != JOINTS:
        raise DataError("a script of Universal Robots moves six joints", value=trajectory.joint_names)
    if len(trajectory) < 2 or abs(trajectory.step * RATE - 1.0) > 1e-6:
        raise DataError(f"a script of Universal Robots has {RATE} poses a second", value=trajectory.step)
    poses = fixed_decimals(trajectory.channel("q"))
    head = "".join(f"# {' '.join(line.split())}\n" for line in comment)  # a robot's name must not begin a line
    body = "".join(f"  servoj([{pose}], 0, 0, {1.0 / RATE:.3f}, {LOOKAHEAD}, {GAIN})\n" for pose in poses)
    return head + _BEGIN.format(start=poses[0], joints=JOINTS, near=NEAR) + body + "  stopj(1.0)\nend\n"


def poses_of(script: str, *, name: str) -> Trajectory:
    """The poses of a script that `ur_script` wrote, joints numbered from the base: what the robot is sent.

    Raises:
        DataError: no poses, or not six numbers in each.
    """
    found = [(row.split(","), float(step)) for row, step in _SERVOJ.findall(script)]
    if not found or {len(row) for row, _ in found} != {JOINTS}:
        raise DataError("the script holds no poses of six joints", where=name)
    steps = np.array([step for _, step in found])
    return Trajectory(
        time=np.concatenate([[0.0], np.cumsum(steps[:-1])]),
        joint_names=tuple(f"joint_{k + 1}" for k in range(JOINTS)),
        q=np.array([[float(number) for number in row] for row, _ in found]),
        source=hashlib.sha256(script.encode()).hexdigest(),
        name=name,
    )
