"""A regressor without any robot: two joints, four named terms, 240 samples; noise-free data give the numbers back."""

import numpy as np

import steelyard as sy

robot = sy.Robot.from_joints(["axis_a", "axis_b"])
model = sy.Model(
    robot,
    terms=(
        sy.Spring(joints=("axis_a",)),
        sy.Viscous(joints=("axis_a",)),
        sy.RotorInertia(joints=("axis_b",)),
        sy.Offset(joints=("axis_b",)),
    ),
)
truth = np.array([2.0, 0.35, 1.4, -0.2])  # [N m/rad], [N m s/rad], [kg m2], [N m]

t = np.arange(240) * 0.02  # [s]
q = np.column_stack([np.sin(2.0 * t), 0.5 * np.cos(3.0 * t)])  # [rad]
dq = np.column_stack([2.0 * np.cos(2.0 * t), -1.5 * np.sin(3.0 * t)])
ddq = np.column_stack([-4.0 * np.sin(2.0 * t), -4.5 * np.cos(3.0 * t)])
motion = sy.Trajectory(time=t, joint_names=robot.joint_names, q=q, dq=dq, ddq=ddq)
recording = sy.Trajectory(time=t, joint_names=robot.joint_names, q=q, dq=dq, ddq=ddq, tau=model.torque(truth, motion))

estimate = sy.ordinary(model.absorb([recording]))
rmse = float(np.sqrt(np.mean((model.predict(estimate, recording) - recording.channel("tau")) ** 2)))
print("parameters =", *(f"{value:.6f}" for value in estimate.theta))
print(f"rmse = {rmse:.1e} N m, rank = {estimate.rank}, condition = {estimate.condition:.3f}")
assert estimate.rank == 4
assert rmse < 1e-12
assert np.allclose(estimate.theta, truth, rtol=1e-12)
