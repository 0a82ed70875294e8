"""The objective's derivative through the whole chain, with what else a motion has to keep; and designs that keep it."""

from __future__ import annotations

import numpy as np
import pytest

import robots
from steelyard.basis import base_parameters
from steelyard.errors import StudyError
from steelyard.excite.criteria import criterion_named
from steelyard.excite.design import design_motion
from steelyard.excite.fourier import FourierFamily
from steelyard.excite.information import MotionInformation
from steelyard.excite.limits import JointLimit, motion_limits
from steelyard.excite.objective import Objective, TorqueLimit
from steelyard.model import Model
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous

SAMPLES = 64
MU = 1e-2


class Ceiling:
    """Keeps `sin(pitch) + 0.1 d yaw/dt` below a height, at every second sample."""

    def __init__(self, height, scale=0.3):
        self.height, self.scale = height, scale

    def room(self, states):
        self.last = states
        height = np.sin(states.q[::2, 1]) + 0.1 * states.v[::2, 0]
        return (self.height - height) / self.scale

    def pull(self, weights, rates):
        rates[1, 0, ::2] -= weights * np.cos(self.last.q[::2, 1]) / self.scale
        rates[0, 1, ::2] -= weights * 0.1 / self.scale


@pytest.fixture
def arm(tmp_path):
    robot = robots.load(tmp_path, "tooled")
    limits = motion_limits(robot, {name: JointLimit(acceleration=8.0, jerk=200.0) for name in robot.joint_names})
    return Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset())), limits


@pytest.mark.parametrize("criterion", ["d", "a", "e", "condition", "condition_scaled"])
@pytest.mark.parametrize("harmonics", [((1, 2, 3), (1, 2, 3)), ((1, 3, 5), (2, 4, 6))])
def test_the_derivative_through_the_whole_chain(arm, criterion, harmonics):
    """Motion, information, criterion, torque limit and a further bound; central differences of fourth order to 1e-7."""
    model, limits = arm
    basis = base_parameters(model)
    family = FourierFamily(5.0, harmonics, "acceleration")
    information = MotionInformation(model, basis.names, SAMPLES, sign_speeds=np.full(2, 0.5))
    torque = TorqueLimit(basis.regroup(model.nominal), np.array([9.0, np.inf]))
    objective = Objective(family, limits.center, information, samples=SAMPLES, torque=torque, bounds=[Ceiling(0.9)])
    x = 0.4 * np.random.default_rng(2).standard_normal((2, family.variables))
    assert 0.1 < objective.load(x) < 0.9
    judge = criterion_named(criterion)
    here = objective.evaluate(x, judge, barrier=MU)
    assert here.value == pytest.approx(objective.value(x, judge, barrier=MU), rel=1e-12)
    assert here.value > objective.evaluate(x, judge, barrier=0.0).value
    step = 1e-3
    for k in range(3):
        direction = np.random.default_rng(10 + k).standard_normal(x.shape)
        at = [objective.value(x + s * step * direction, judge, barrier=MU) for s in (-2, -1, 1, 2)]
        slope = (at[0] - 8.0 * at[1] + 8.0 * at[2] - at[3]) / (12.0 * step)
        expected = float(np.sum(here.gradient * direction))
        assert slope == pytest.approx(expected, abs=1e-7 * np.linalg.norm(here.gradient) * np.linalg.norm(direction))


@pytest.mark.parametrize("optimiser", ["interior", "feasible_map", "slsqp"])
def test_a_design_keeps_further_bounds(arm, optimiser):
    """The free design breaks the ceiling; the one that knows it does not, and comes near it."""
    model, limits = arm
    ceiling = Ceiling(0.5)
    quick = {"period": 5.0, "harmonics": 3, "starts": 1, "changes": 2, "budget": 600.0, "optimiser": optimiser}
    least = []
    for bounds in ((), (ceiling,)):
        motion = design_motion(model, limits, bounds=bounds, **quick).motion
        q, dq, _, _ = motion.at(np.arange(500) * 5.0 / 500)
        least.append(float((0.5 - np.sin(q[:, 1]) - 0.1 * dq[:, 0]).min()))
    assert least[0] < -0.1
    assert -0.01 < least[1] < 0.1


def test_a_robot_that_cannot_stand_in_the_middle_of_its_range(arm):
    with pytest.raises(StudyError, match="cannot stand there"):
        design_motion(*arm, bounds=(Ceiling(-1.5),))
