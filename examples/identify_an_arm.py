"""The library in ten lines: a simulated arm, recorded twice along different motions; one is fitted, one proves it."""

import tempfile
from pathlib import Path

import steelyard as sy
from steelyard.simulate.mujoco import simulate_run
from steelyard.simulate.robots import robot_file

folder = Path(tempfile.mkdtemp())
for seed, name in enumerate(("run1.csv", "run2.csv")):
    sy.write_csv(folder / name, simulate_run(robot_file("arm6.xml"), seed=seed).trajectory)

robot = sy.Robot.from_urdf(robot_file("arm6.urdf"))
model = sy.Model(robot, terms=(sy.RigidBody(), sy.RotorInertia(), sy.Viscous(), sy.Coulomb(), sy.Offset()))
basis = sy.base_parameters(model)
print(f"{basis.count} combinations of {len(basis.columns)} parameters can be told apart by torque")

train, unseen = sy.read_csv(folder / "run1.csv"), sy.read_csv(folder / "run2.csv")
info = model.absorb([sy.prepare(train, robot)])  # all that the data say: one triangle a joint
estimate = sy.weighted(info, basis=basis)
print(estimate.table())

(verdict,) = sy.validate(model, estimate, [unseen])
print(f"relative error on unseen motion: {100 * verdict.score.relative_error:.2f} %")
assert verdict.score.relative_error < 0.05
