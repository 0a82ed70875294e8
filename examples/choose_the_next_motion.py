"""Which experiment comes next: the wrist stood still in the last one, and some motions tell that better than others."""

from dataclasses import replace
from functools import partial

import numpy as np

import steelyard as sy
from steelyard.excite.certificate import certify
from steelyard.excite.forecast import collected
from steelyard.excite.limits import JointLimit, motion_limits
from steelyard.excite.next_motion import rank_motions
from steelyard.excite.pace import slow_first
from steelyard.excite.plateaus import plateaus
from steelyard.excite.random_band import random_band
from steelyard.excite.stage import Run
from steelyard.excite.static_poses import static_poses
from steelyard.simulate.robots import robot_file

RATE, NOISE = 100.0, [1.0, 1.0, 0.7, 0.2, 0.2, 0.1]  # [Hz], [N m]

robot = sy.Robot.from_urdf(robot_file("arm6.urdf"))
model = sy.Model(robot, terms=(sy.RigidBody(), sy.Viscous(), sy.Coulomb(), sy.Offset()))
basis = sy.base_parameters(model)
limits = motion_limits(robot, {name: JointLimit(acceleration=8.0, jerk=400.0) for name in robot.joint_names})
narrow = limits.share(0.9)

# what was recorded: the first three joints move
everything = random_band(narrow, band=(0.1, 0.5), duration=10.0, rest="jerk")
amplitudes = everything.coefficients.copy()
amplitudes[3:, 1:] = 0.0
before = replace(everything, coefficients=amplitudes, name="before").sampled(RATE)
recording = replace(before, tau=model.torque(model.nominal, before))
known = collected(model.absorb([recording]), basis, NOISE)

# what could be recorded next
sweep = plateaus(narrow, shares=(0.2, 0.6, 1.0), longest=2.0, step=1.0 / RATE)
poses = static_poses(model, narrow, count=10, deviations=NOISE, step=1.0 / RATE)
proposals = {
    "the same again": Run(replace(everything, coefficients=amplitudes)),
    "plateaus": Run(sweep.motion, sweep.windows),
    "poses": Run(poses.motion, poses.windows),
    "all joints": Run(everything),
    "all joints, faster": Run(random_band(narrow, band=(0.1, 1.0), duration=10.0, rest="jerk")),
}
ranked = rank_motions(model, proposals, known=known, deviations=NOISE, rate=RATE)
told = int(np.isfinite(ranked[0].before).sum())
print(f"{told} of {basis.count} parameters are known so far; the proposals by what they add each second:")
for proposal in ranked:
    told = int(np.isfinite(proposal.after).sum())
    print(
        f"  {proposal.name}: {proposal.rate_of_gain:.2f} /s in {proposal.run.motion.duration:.0f} s, {told} known then"
    )
print("the first serves", ", ".join(ranked[0].serves[:3]), "and others")
assert ranked[0].rate_of_gain > 4.0 * next(p for p in ranked if p.name == "the same again").rate_of_gain

# nothing moves that was not certified, and nothing at full speed before it ran at a quarter and at half of it
for version in slow_first(ranked[0].run.motion, partial(certify, model=model, limits=limits, rest="jerk")):
    closest = version.certificate.closest
    print(
        f"at {version.speed:.0%}: {'certified' if version.certificate.passed else 'refused'}, "
        f"closest to the {closest.quantity} limit of {closest.joint} ({closest.use:.0%})"
    )
