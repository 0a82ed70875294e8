"""An excitation, the check of a motion, or a plan, as lines for a person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from steelyard.excite.certificate import Certificate
from steelyard.excite.checks import Check
from steelyard.excite.plan import Plan
from steelyard.excite.stage import Stage
from steelyard.model import Model
from steelyard.report.arrays import number, percent
from steelyard.session.excitation import Excitation
from steelyard.session.motion_check import CheckedMotion

_RESTS = {
    "free": "nothing is zero at both ends: it needs to be blended in and out",
    "acceleration": "velocity and acceleration are zero at both ends",
    "jerk": "velocity, acceleration and jerk are zero at both ends",
}


def excitation_summary(excitation: Excitation) -> str:
    """What was designed, how close it comes to its limits, what was not checked, what it is expected to tell."""
    design, wish = excitation.design, excitation.wish
    robot, count = excitation.subject.model.robot.name, len(design.names)
    full = excitation.versions[-1]
    outcome = design.outcome
    speeds = ", ".join(f"{100 * version.speed:g}" for version in excitation.versions)
    return "\n".join(
        [
            f"{robot}: criterion {design.criterion} over {count} base parameters ({design.columns} columns): "
            f"{number(design.value, 4)}, smaller is better",
            f"{outcome.searches} searches in {outcome.seconds:.1f} s of CPU time, {_STOPPED[outcome.stopped]}; "
            f"optimiser {wish.optimiser}, seed {design.seed}",
            f"period {design.motion.period:g} s, {wish.harmonics} harmonics; {_RESTS[design.motion.family.rest]}",
            "",
            *_table(full.certificate, design.motion.joint_names),
            "",
            f"certified at {speeds} % of its speed: {_passed(excitation.passed)}; "
            f"at full speed {_closest(full.certificate)}",
            *_unchecked(full.certificate),
            "",
            *_expected(excitation),
        ]
    )


_STOPPED = {
    "done": "all done",
    "budget": "ended by the budget",
    "interrupted": "interrupted: the best so far",
}


def check_summary(checked: CheckedMotion) -> str:
    """How close a motion comes to its limits, whether it may be run, and what was not checked."""
    lines: list[str] = []
    joints = checked.subject.model.robot.joint_names
    for name, certificate in checked.certificates.items():
        lines += [f"{checked.file}, {name}:" if len(checked.certificates) > 1 else f"{checked.file}:"]
        lines += [*_table(certificate, joints), f"{_passed(certificate.passed)}; {_closest(certificate)}", ""]
    lines += _unchecked(next(iter(checked.certificates.values())))
    held = dict(checked.subject.model.robot.locked_at)
    if held:
        lines.append("held: " + ", ".join(f"{name} at {position:g}" for name, position in held.items()))
    return "\n".join([*lines, *([checked.note] if checked.note else [])])


def plan_summary(plan: Plan, model: Model) -> str:
    """What each stage is, and how well every parameter is expected to be known after it."""
    lines = []
    for stage in plan.stages:
        state = f"{_passed(stage.certificate.passed)}; {_closest(stage.certificate)}"
        lines += [f"{stage.letter}  {stage.title}, {stage.run.motion.duration:.4g} s: {stage.purpose}", f"   {state}"]
    away = number(plan.apart.median, 2)
    lines += [
        "",
        f"The validation keeps {away} deviations of its signals away from the training (median; 0 would repeat it).",
        *_unchecked(plan.stage("D").certificate),
        "",
        f"expected deviations at {plan.rate:g} Hz, white torque noise of {_noise(plan)}, after all stages up to:",
        *_stages_table([stage for stage in plan.stages if stage.letter in "ABCD"], model),
    ]
    tool = plan.stage("F")
    told = zip(tool.updates, tool.deviations_held, strict=True)
    lines += ["", "of a tool, after F: " + ", ".join(f"{name} {number(float(value), 2)}" for name, value in told)]
    return "\n".join(lines)


def _noise(plan: Plan) -> str:
    values = sorted({number(float(value), 3) for value in plan.torque_deviations})
    return " to ".join(dict.fromkeys((values[0], values[-1])))


def _stages_table(stages: Sequence[Stage], model: Model) -> Iterator[str]:
    """Parameters by stages."""
    units = {column.name: column.unit for column in model.columns}
    width = max(len(name) for name in stages[0].names)
    yield f"  {'parameter':{width}} {'unit':12} " + " ".join(f"{stage.letter:>9}" for stage in stages)
    for k, name in enumerate(stages[0].names):
        cells = " ".join(f"{number(float(stage.deviations[k]), 2):>9}" for stage in stages)
        yield f"  {name:{width}} {units[name]:12} {cells}"


def _passed(passed: bool) -> str:
    return "passed" if passed else "FAILED, do not run it"


def _closest(certificate: Certificate) -> str:
    return f"the closest is {said(certificate.closest)}"


def said(check: Check) -> str:
    """How close one check comes to its limit, in words."""
    what = f"{check.quantity.replace('_', ' ')} of {check.joint}"
    if check.quantity == "distance":
        return f"{what}, {number(check.bound, 3)} m where {number(check.limit, 3)} m are kept, at {check.time:.3g} s"
    return f"{what}, {percent(check.use, 3)} of its limit at {check.time:.3g} s"


def _table(certificate: Certificate, joints: Sequence[str]) -> Iterator[str]:
    """For each joint the share of each limit that the motion uses, then what concerns links."""
    own = [check for check in certificate.checks if check.joint in joints]
    quantities = list(dict.fromkeys(check.quantity for check in own))
    used: dict[tuple[str, str], float] = {}
    for check in own:
        used[check.joint, check.quantity] = max(used.get((check.joint, check.quantity), 0.0), check.use)
    width = max(len(name) for name in (*joints, "limit used by"))
    yield f"  {'limit used by':{width}} " + " ".join(f"{quantity:>12}" for quantity in quantities)
    for name in joints:
        cells = [percent(used.get((name, quantity)), 3) for quantity in quantities]
        yield f"  {name:{width}} " + " ".join(f"{cell:>12}" for cell in cells)
    yield from (f"  {said(check)}" for check in certificate.checks if check.joint not in joints)


def unchecked(certificate: Certificate) -> list[str]:
    """What was not checked, in words; what is alike for several joints or pairs is said once."""
    groups: dict[tuple[str, str], list[str]] = {}
    for item in certificate.not_checked:
        what, of, rest = item.partition(" of ")
        who, colon, why = rest.partition(": ")
        groups.setdefault((what, why) if of and colon else (item, ""), []).append(who)
    return [f"{what} of {', '.join(who)}: {why}" if why else what for (what, why), who in groups.items()]


def _unchecked(certificate: Certificate) -> Iterator[str]:
    yield "NOT checked:"
    yield from (f"  {item}" for item in unchecked(certificate))


def _expected(excitation: Excitation) -> Iterator[str]:
    """Deviations to be expected, by unit: the median and the worst."""
    wish, told = excitation.wish, excitation.forecast
    stated = "the stated torque noise" if wish.noise else "a torque noise of 1 at every joint (state yours: --noise)"
    yield f"expected deviations after {wish.periods} period(s) at {wish.rate} Hz, for white noise, {stated}:"
    units = {column.name: column.unit for column in excitation.subject.model.columns}
    for unit in sorted({units[name] for name in told.basis.names}):
        rows = [k for k, name in enumerate(told.basis.names) if units[name] == unit]
        deviations = told.deviations[rows]
        worst = int(np.argmax(deviations))
        median, most = number(float(np.median(deviations)), 2), number(float(deviations[worst]), 2)
        yield f"  {len(rows):3} in {unit:14} median {median:>9}, worst {most:>9}: {told.basis.names[rows[worst]]}"
