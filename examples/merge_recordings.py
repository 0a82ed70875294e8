"""Information adds up: recordings are absorbed one by one, anywhere and in any order, and merged; none counts twice."""

import numpy as np

import steelyard as sy
from steelyard.basis import random_states
from steelyard.simulate.robots import robot_file

robot = sy.Robot.from_urdf(robot_file("arm6.urdf"))
model = sy.Model(robot, terms=(sy.RigidBody(), sy.Viscous(), sy.Offset()))
basis = sy.base_parameters(model)
truth = np.concatenate([robot.parameters, np.full(12, 0.5)])


def recording(day: int) -> sy.Trajectory:
    """A day's data: random states and the torque they take, with 0.1 N m of noise."""
    states = random_states(model, 400, seed=day)
    noise = 0.1 * np.random.default_rng(100 + day).standard_normal((400, 6))
    return sy.Trajectory(
        time=states.time,
        joint_names=states.joint_names,
        q=states.q,
        dq=states.dq,
        ddq=states.ddq,
        tau=model.torque(truth, states) + noise,
    )


days = [model.absorb([recording(day)], names=basis.names) for day in range(3)]
week = days[0].merge(days[1]).merge(days[2])
estimate = sy.weighted(week, basis=basis)
print(f"{week.samples} samples in {sum(f.size for f in week.factors)} numbers, noise {estimate.noise.round(3)} N m")
error = np.abs(estimate.theta - basis.regroup(truth)) / estimate.deviation
print(f"{np.mean(error < 2):.0%} of the parameters within two deviations of the truth")
assert np.mean(error < 2) > 0.85
try:
    week.merge(days[0])
except sy.InformationError as refusal:
    print("refused:", refusal.what)
