"""Rigid bodies: mass, first moments and inertia of every body, about its joint-frame origin."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.data.trajectory import Trajectory
from steelyard.robot.robot import Robot
from steelyard.terms.term import Array, Column

QUANTITIES = (
    ("mass", "kg"),
    ("first_moment_x", "kg m"),
    ("first_moment_y", "kg m"),
    ("first_moment_z", "kg m"),
    ("inertia_xx", "kg m2"),
    ("inertia_xy", "kg m2"),
    ("inertia_yy", "kg m2"),
    ("inertia_xz", "kg m2"),
    ("inertia_yz", "kg m2"),
    ("inertia_zz", "kg m2"),
)


@dataclass(frozen=True)
class RigidBody:
    """`tau = Y(q, dq, ddq) theta` with ten parameters a body (m, m c, I about the joint-frame origin).

    Source: Atkeson, An, Hollerbach 1986; the columns are those of `robot/motion.py`.
    """

    def columns(self, robot: Robot) -> tuple[Column, ...]:
        """Ten columns a body, in Pinocchio's order."""
        return tuple(
            Column(f"link/{body}/{quantity}", unit, _rows(robot, i, quantity))
            for i, body in enumerate(robot.body_names)
            for quantity, unit in QUANTITIES
        )

    def block(self, robot: Robot, trajectory: Trajectory) -> Array:
        """(T, rows, 10 N) regressor, written out: for small data and tests; `Model.absorb` never does this."""
        from steelyard.robot.regressor import dense_regressor

        return dense_regressor(robot.tree, robot.positions(trajectory), *robot.rates(trajectory))


def _rows(robot: Robot, body: int, quantity: str) -> tuple[int, ...]:
    """Rows whose torque depends on the quantity; of a body that is never turned all of its rows, with zeros."""
    turning = robot.turning_rows[body] if quantity.startswith("inertia") else ()
    return turning or robot.moving_rows[body]
