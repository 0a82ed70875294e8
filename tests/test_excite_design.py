"""Designs on a small arm: every optimiser, the same bytes for a seed, limits kept, stops that keep the best."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

import robots
from steelyard.errors import StudyError
from steelyard.excite.criteria import condition_number
from steelyard.excite.design import design_motion
from steelyard.excite.limits import JointLimit, motion_limits
from steelyard.model import Model
from steelyard.terms.coulomb import Coulomb
from steelyard.terms.offset import Offset
from steelyard.terms.rigid_body import RigidBody
from steelyard.terms.viscous import Viscous

QUICK = {"period": 5.0, "harmonics": 3, "starts": 1, "changes": 2, "budget": 600.0}


@pytest.fixture
def arm(tmp_path):
    """Two joints and their friction; limits of torque far away."""
    robot = robots.load(tmp_path, "tooled")
    limits = motion_limits(robot, {name: JointLimit(acceleration=8.0, jerk=200.0) for name in robot.joint_names})
    return Model(robot, (RigidBody(), Viscous(), Coulomb(), Offset())), limits


def use(design):
    """The largest share of the limits that it was to keep, at 5 000 instants."""
    limits, motion = design.limits.share(design.share), design.motion
    q, dq, ddq, dddq = motion.at(np.arange(5000) * motion.period / 5000)
    return max(
        (np.abs(q - limits.center) / limits.reach).max(),
        (np.abs(dq) / limits.velocity).max(),
        (np.abs(ddq) / limits.acceleration).max(),
        (np.abs(dddq) / limits.jerk).max(),
    )


def first_start(arm, **options):
    """The value of a random start: a search that is stopped before it begins."""
    model, limits = arm
    return design_motion(model, limits, **{**QUICK, "starts": 1, "changes": 0, "budget": 1e-9, **options}).value


@pytest.mark.parametrize("criterion", ["d", "a", "e", "condition", "condition_scaled"])
def test_every_criterion_improves_inside_the_limits(arm, criterion):
    design = design_motion(*arm, criterion=criterion, **QUICK)
    assert design.value < first_start(arm, criterion=criterion) - 0.3
    assert 0.9 < use(design) <= 1.0
    assert design.outcome.stopped == "done"


@pytest.mark.parametrize("optimiser", ["interior", "feasible_map", "slsqp", "cma", "ipopt"])
def test_every_optimiser_improves_inside_the_limits(arm, optimiser):
    package = {"cma": "cma", "ipopt": "casadi"}.get(optimiser)
    if package is not None:
        pytest.importorskip(package)
    design = design_motion(*arm, optimiser=optimiser, **{**QUICK, "changes": 0, "budget": 1.0})
    assert design.value < first_start(arm) - 0.2
    assert use(design) <= 1.0


@pytest.mark.parametrize(("optimiser", "package", "extra"), [("cma", "cma", "search"), ("ipopt", "casadi", "nlp")])
def test_a_missing_extra_is_named(arm, monkeypatch, optimiser, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(StudyError, match="not installed") as caught:
        design_motion(*arm, optimiser=optimiser, **QUICK)
    assert f"steelyard[{extra}]" in caught.value.cure


def test_the_interior_descent_ends_where_others_do(arm):
    """One smooth problem with few variables: two different methods agree on the best of some starts to 1 %."""
    options = {**QUICK, "starts": 4, "changes": 4, "criterion": "condition", "columns": "rigid"}
    one, other = (np.exp(design_motion(*arm, optimiser=o, **options).value) for o in ("interior", "slsqp"))
    assert one <= 1.01 * other


def test_the_same_seed_gives_the_same_bytes(arm):
    one, two = (design_motion(*arm, seed=5, **QUICK) for _ in range(2))
    assert one.motion.coefficients.tobytes() == two.motion.coefficients.tobytes()
    other = design_motion(*arm, seed=6, **QUICK)
    assert one.motion.coefficients.tobytes() != other.motion.coefficients.tobytes()


def test_two_starts_end_in_different_motions_of_nearly_the_same_worth(arm):
    """The D-optimum is not unique: deviations within 10 %, positions more than half a radian apart, condition < 100."""
    designs = [design_motion(*arm, seed=seed, **{**QUICK, "changes": 0}) for seed in (0, 1)]
    q = [design.motion.at(np.arange(200) * 5.0 / 200).q for design in designs]
    assert np.abs(q[0] - q[1]).max() > 0.5
    assert np.exp(0.5 * abs(designs[0].value - designs[1].value)) < 1.1
    assert all(condition_number(design.information) < 100.0 for design in designs)


@pytest.mark.parametrize("rest", ["free", "acceleration", "jerk"])
def test_rest_at_both_ends(arm, rest):
    design = design_motion(*arm, rest=rest, **{**QUICK, "harmonics": 4, "changes": 0})
    _, dq, ddq, dddq = design.motion.at(np.array([0.0, 5.0]))
    assert (max(np.abs(dq).max(), np.abs(ddq).max()) < 1e-9) == (rest != "free")
    assert (np.abs(dddq).max() < 1e-9) == (rest == "jerk")


def test_harmonics_of_each_joint(arm):
    design = design_motion(*arm, **{**QUICK, "harmonics": ((1, 3, 5), (2, 4, 6)), "changes": 0})
    assert design.motion.family.harmonics == ((1, 3, 5), (2, 4, 6))
    assert use(design) <= 1.0


def test_columns_of_the_bodies_alone(arm):
    design = design_motion(*arm, criterion="condition", columns="rigid", **QUICK)
    assert all(name.startswith("link/") for name in design.names)
    assert condition_number(design.information) == pytest.approx(np.exp(design.value), rel=1e-9)


def test_torque_limits_are_kept(arm):
    """Holding this arm takes 26 N m in joint pitch: with a limit of 30 the free design would break it."""
    model, limits = arm
    tight = replace(limits, effort=np.array([6.0, 30.0]))
    torque = {}
    for name, given in (("free", limits), ("tight", tight)):
        design = design_motion(model, given, **QUICK)
        theta = np.where([c.startswith("link/") for c in model.names], model.nominal, 0.0)
        torque[name] = np.abs(model.torque(theta, design.motion.sampled(200.0))).max(axis=0)
    assert np.any(torque["free"] > tight.effort)
    assert np.all(torque["tight"] < tight.effort)


def test_torque_limits_that_gravity_breaks(arm):
    model, limits = arm
    with pytest.raises(StudyError, match="do not even hold the robot"):
        design_motion(model, replace(limits, effort=np.array([1.0, 0.5])), **QUICK)


def test_noise_and_prior_change_what_is_asked_for(arm):
    """Nine of ten parameters known already: the motion serves the one that is not."""
    model, limits = arm
    plain = design_motion(model, limits, **QUICK)
    b = len(plain.names)
    known = np.full(b, 1e8)
    known[0] = 0.0
    told = design_motion(model, limits, prior=np.diag(known), **QUICK)
    assert told.deviations[0] < plain.deviations[0]
    assert np.all(told.deviations[1:] < 1.1e-4)
    noisy = design_motion(model, limits, deviations=[10.0, 10.0], **QUICK)
    assert noisy.value - plain.value == pytest.approx(2.0 * np.log(10.0), abs=0.1)  # another optimum may be as good


@pytest.mark.parametrize("after", [1, 2])
def test_an_interrupt_keeps_the_best_so_far(arm, after):
    seen = []

    def press_control_c(progress):
        seen.append(progress)
        if progress.done == after:
            raise KeyboardInterrupt

    design = design_motion(*arm, progress=press_control_c, **QUICK)
    assert design.outcome.stopped == "interrupted"
    assert design.value <= seen[-1].value
    assert use(design) <= 1.0


class ControlC:
    """Raises KeyboardInterrupt at the line of the package that is executed as number `moment`."""

    def __init__(self, moment):
        self.left, self.pressed = moment, False

    def __call__(self, frame, event, argument):
        inside = "steelyard" in frame.f_code.co_filename and "excite" in frame.f_code.co_filename
        if self.pressed or not inside:
            return None
        if event == "line":
            self.left -= 1
            if self.left < 0:
                self.pressed = True
                raise KeyboardInterrupt
        return self


@pytest.mark.parametrize("optimiser", ["interior", "feasible_map", "slsqp"])
def test_an_interrupt_at_any_moment_leaves_a_motion_that_keeps_its_limits(arm, optimiser, monkeypatch):
    """Twenty moments over the whole search, at whatever line it is then; torque limits are narrow enough to matter."""
    import steelyard.excite.design as module

    model, limits = arm
    limits = replace(limits, effort=np.array([6.0, 30.0]))
    options = {**QUICK, "optimiser": optimiser, "harmonics": 2, "changes": 1}
    inner, begun = module.search, []

    def traced(*positional, **named):
        begun.append(ControlC(moment))
        sys.settrace(begun[-1])
        try:
            return inner(*positional, **named)
        finally:
            sys.settrace(None)

    monkeypatch.setattr(module, "search", traced)
    moment = 10**9
    whole = design_motion(model, limits, **options)
    lines = 10**9 - begun[0].left
    values = []
    for share in np.linspace(0.002, 0.99, 20):
        moment = int(share * lines)
        design = design_motion(model, limits, **options)
        assert begun[-1].pressed
        assert design.outcome.stopped == "interrupted"
        values.append(design.value)
        if np.isfinite(design.value):
            assert use(design) <= 1.0
            theta = np.where([c.startswith("link/") for c in model.names], model.nominal, 0.0)
            assert np.all(np.abs(model.torque(theta, design.motion.sampled(200.0))).max(axis=0) < limits.effort)
    assert np.isfinite(values).sum() >= 19
    assert values[-1] <= whole.value + 0.05


def test_a_budget_ends_the_search(arm):
    design = design_motion(*arm, **{**QUICK, "changes": 10_000, "budget": 0.2})
    assert design.outcome.stopped == "budget"
    assert design.outcome.searches < 10_000
    assert use(design) <= 1.0


def test_progress_counts_up_and_the_value_falls(arm):
    seen = []
    design = design_motion(*arm, progress=seen.append, **QUICK)
    assert [p.done for p in seen] == list(range(1, seen[0].planned + 1))
    values = [p.value for p in seen]
    assert values == sorted(values, reverse=True)
    assert values[-1] == design.value


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"criterion": "det"}, "criterion"),
        ({"columns": "some"}, "columns"),
        ({"optimiser": "annealing"}, "optimiser"),
        ({"starts": 0}, "at least one start"),
        ({"budget": 0.0}, "some time"),
        ({"share": 1.5}, "share"),
        ({"period": -1.0}, "period"),
        ({"harmonics": 0}, "harmonics"),
        ({"harmonics": ((1, 2, 3),)}, "for each joint"),
        ({"rest": "sleep"}, "rest"),
        ({"deviations": [1.0]}, "deviation"),
        ({"samples": 6}, "samples"),
        ({"seed": -1}, "seed"),
        ({"nominal": np.zeros(3)}, "nominal"),
        ({"nominal": np.full(26, np.nan)}, "nominal"),
    ],
)
def test_options_that_do_not_exist(arm, options, words):
    with pytest.raises(StudyError, match=words):
        design_motion(*arm, **{**QUICK, **options})


def test_models_that_a_motion_cannot_serve(arm):
    model, limits = arm
    with pytest.raises(StudyError, match="no rigid bodies"):
        design_motion(Model(model.robot, (Viscous(),)), limits, columns="rigid", **QUICK)
    with pytest.raises(StudyError, match="no parameters"):
        design_motion(Model(model.robot, ()), limits, **QUICK)
    drives = design_motion(Model(model.robot, (Viscous(), Coulomb(), Offset())), limits, **QUICK)
    assert len(drives.names) == 6
    assert use(drives) <= 1.0


def test_limits_of_another_robot(arm, tmp_path):
    model, limits = arm
    with pytest.raises(StudyError, match="other joints"):
        design_motion(model, replace(limits, joint_names=("a", "b")), **QUICK)
