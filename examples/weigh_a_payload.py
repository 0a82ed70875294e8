"""Weigh 1.27 kg at the flange of a simulated arm: in motion, against a run without it, and at rest, in ten poses.

Writes arm.urdf, bare.csv, loaded.csv, poses.csv and poses_bare.csv into the folder it runs in, for `steelyard payload`.
"""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

import steelyard as sy
from steelyard.estimate.held_poses import held_poses
from steelyard.estimate.identify import identify
from steelyard.estimate.payload_of_runs import payload_of_runs
from steelyard.estimate.static_payload import static_payload
from steelyard.estimate.training import Recording
from steelyard.robot.inertia import parameters_about_origin
from steelyard.robot.tool import with_tool
from steelyard.simulate.mujoco import simulate_run
from steelyard.simulate.robots import robot_file

MASS, CENTRE, INERTIA = 1.27, (0.01, -0.02, 0.06), (2e-3, 2.5e-3, 1.5e-3)
STICTION = np.array([1.5, 1.5, 1.2, 0.8, 0.6, 0.4])  # [N m]

shutil.copy(robot_file("arm6.urdf"), "arm.urdf")
robot = sy.Robot.from_urdf("arm.urdf")

# in motion: MuJoCo follows two motions, one of them with the part on the flange
part = f'<body name="part"><inertial mass="{MASS}" pos="{CENTRE[0]} {CENTRE[1]} {CENTRE[2]}" '
part += f'diaginertia="{INERTIA[0]} {INERTIA[1]} {INERTIA[2]}"/></body>'
text = robot_file("arm6.xml").read_text()
head, flange, tail = text.partition('<body name="flange"')
Path("loaded.xml").write_text(head + flange + tail.replace("</body>", part + "</body>", 1))
sy.write_csv("bare.csv", simulate_run(robot_file("arm6.xml"), seed=1, duration=10.0).trajectory)
sy.write_csv("loaded.csv", simulate_run("loaded.xml", seed=2, duration=10.0).trajectory)

bare, loaded = (Recording(sy.read_csv(name)) for name in ("bare.csv", "loaded.csv"))
model = identify(robot, [bare]).model  # the friction that the bare run prefers
moving = payload_of_runs(model, [loaded], unloaded=[bare], gain_uncertainty=0.02)
print(f"in motion: {moving.mass:.3f} kg, 95 % interval {np.round(moving.mass_interval(), 3)}, in {moving.frame}")
print(f"  centre of mass {np.round(1e3 * moving.centre, 1)} mm")

# at rest: each pose from both sides, with 0.02 N m of noise on the mean torque
rng = np.random.default_rng(0)
at = np.repeat(rng.uniform(0.6 * robot.lower, 0.6 * robot.upper, (10, 6)), 2, axis=0)
side = np.tile([[1.0] * 6, [-1.0] * 6], (10, 1))
still = sy.Trajectory(time=np.arange(20.0), joint_names=robot.joint_names, q=at, dq=0.0 * at, ddq=0.0 * at)
carrying = with_tool(robot, "part", parameters_about_origin(MASS, CENTRE, np.diag(INERTIA)), link="flange")
for name, arm in (("poses_bare.csv", robot), ("poses.csv", carrying)):
    rigid = sy.Model(arm, terms=(sy.RigidBody(),))
    tau = rigid.torque(rigid.nominal, still) + side * STICTION + 0.02 * rng.normal(size=at.shape)
    sy.write_csv(name, replace(still, dq=side, ddq=None, tau=tau, source=""))

poses = held_poses(sy.read_csv("poses.csv")).trajectory
resting = static_payload(sy.Model(robot, terms=(sy.RigidBody(), sy.Offset())), poses)
print(f"at rest: {resting.mass:.3f} kg, 95 % interval {np.round(resting.mass_interval(), 3)}")
print(f"  not shown: {', '.join(resting.unobservable)}")

assert abs(moving.mass - MASS) < 0.02
assert abs(resting.mass - MASS) < 0.01
