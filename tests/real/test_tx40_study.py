"""A recording of the motor side and its study file give the joint side, against an independent conversion."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from steelyard.formats.csv import read_csv
from steelyard.formats.study import read_study


def test_motor_side_and_study_give_the_joint_side(real_data: Path, repository: Path) -> None:
    study = read_study(repository / "examples" / "studies" / "tx40.toml")
    ours = read_csv(real_data / "tx40" / "raw_motor_side.csv", study=study)
    theirs = read_csv(real_data / "tx40" / "joint_side.csv")
    assert ours.joint_names == theirs.joint_names == tuple(f"joint_{k}" for k in range(1, 7))
    assert len(ours) == 45_000
    np.testing.assert_array_equal(ours.time, theirs.time)
    # the joint side is printed with eight significant digits: half a unit of the eighth is at most 5e-8 of the value
    for channel in ("q", "tau"):
        want = theirs.channel(channel)
        np.testing.assert_allclose(ours.channel(channel), want, rtol=5.01e-8, atol=1e-15)
    assert len(ours.steps) == 3  # names, gears, offsets
