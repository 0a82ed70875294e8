"""A friction term, an estimator and a reader of one's own, held to the same laws as the library's.

python check_your_own_parts.py
"""

from __future__ import annotations

import hashlib
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import steelyard as sy
from steelyard.testing import check_estimator, check_reader, check_term

ARM = Path(__file__).parent / "robots" / "arm7.urdf"


@dataclass(frozen=True)
class CubicFriction:
    """`tau = f3 dq^3` of one joint: a fan, say."""

    joint: str

    def columns(self, robot: sy.Robot) -> tuple[sy.Column, ...]:
        """One column, felt at one joint."""
        at = (robot.row_names.index(self.joint),)
        return (sy.Column(f"actuator/{self.joint}/cubic_friction", "N m s3/rad3", at, nonnegative=True),)

    def block(self, robot: sy.Robot, trajectory: sy.Trajectory) -> np.ndarray:
        """(T, 1) torque per unit parameter."""
        return trajectory.channel("dq")[:, [robot.joint_names.index(self.joint)]] ** 3


def read_semicolons(path: Path) -> sy.Trajectory:
    """A format of one's own: one joint, `seconds;radians` a line. Errors say file, line and value, as ours do."""
    try:
        lines = path.read_bytes().decode("ascii").splitlines()
        rows = np.array([[float(cell) for cell in line.split(";")] for line in lines], dtype=np.float64)
        time, q = rows.T
    except (OSError, ValueError) as error:
        raise sy.DataError("not lines of seconds;radians", where=str(path), value=str(error)) from None
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return sy.Trajectory(time, ("joint_1",), q=q[:, None], source=digest, name=path.name)


def main() -> None:
    """Run the three suites: each raises with the law that is broken."""
    robot = sy.Robot.from_urdf(ARM)
    check_term(CubicFriction("joint_3"), robot)
    print("the term conforms")
    check_estimator(sy.weighted)
    print("the estimator conforms")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "run.txt")
        file.write_text("0.0;0.1\n0.1;0.2\n0.2;0.4\n", encoding="ascii")
        check_reader(read_semicolons, file)
    print("the reader conforms")


if __name__ == "__main__":
    main()
