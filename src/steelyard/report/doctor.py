"""From symptom to cause to next step: what ails a session, in the order in which it is worth mending."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steelyard.estimate.validate import FEED_FORWARD, GRAVITY_COMPENSATION
from steelyard.report.advice_rules import RULES, Rule
from steelyard.report.verdict import LEVELS
from steelyard.session.opening import Session
from steelyard.session.schema import FindingEntry, ResultFile, ValidationEntry

STAGES = ("session", "data", "model", "fit", "validation")
GENERALISES = 3.0  # times the training residual, from which an unseen one tells of more than noise
CLEAR = 3.0  # deviations below zero from which a friction coefficient is negative
FRICTION = ("viscous_friction", "coulomb_friction")
_NO_RULE = Rule("")


@dataclass(frozen=True)
class Advice:
    """One thing to mend.

    Attributes:
        symptom: what was seen.
        cause: what most likely stands behind it.
        next_step: what to do.
        code: of the finding or rule.
        where: file, joint or link.
        level: ``error``, ``warning`` or ``info``.
    """

    symptom: str
    cause: str
    next_step: str
    code: str
    where: str = ""
    level: str = "warning"

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return dict(self.__dict__)


def diagnose(session: Session) -> list[Advice]:
    """Advice from the findings and numbers of a session: recording first, then model, fit and proof.

    Args:
        session: with or without a result.
    """
    result = session.result
    if result is None:
        return [
            Advice(
                "nothing was identified yet",
                "the session holds recordings and a model only",
                f"steelyard identify {session.directory}",
                "session.no_result",
            )
        ]
    told = [_of_finding(finding) for finding in result.findings if finding.level != "info"]
    known = {advice.code for advice in told}
    told += [advice for advice in _from_numbers(result) if advice.code not in known]
    return sorted(told, key=_order)


def _of_finding(finding: FindingEntry) -> Advice:
    rule = RULES.get(finding.code, _NO_RULE)
    # residual findings name the likely cause themselves, since it depends on what the residual goes with
    symptom, _, likely = finding.message.partition(". Likely ")
    return Advice(
        symptom, likely or rule.cause, rule.next_step or finding.cure, finding.code, finding.where, finding.level
    )


def _order(advice: Advice) -> tuple[int, int]:
    group = advice.code.partition(".")[0]
    stage = STAGES.index(group) if group in STAGES else len(STAGES)
    return (stage, LEVELS.index(advice.level))


def _from_numbers(result: ResultFile) -> list[Advice]:
    """What no finding says, but the numbers of the result do."""
    diagnostics = result.diagnostics
    found = [*_negative_friction(result), *_proof(result)]
    if diagnostics.rank < result.base.count:
        rule = RULES["fit.rank_deficient"]
        symptom = f"the training data determine {diagnostics.rank} of {result.base.count} combinations"
        found.append(Advice(symptom, rule.cause, rule.next_step, "fit.rank_deficient"))
    if diagnostics.mass_matrix_positive is False:
        rule = RULES["fit.mass_matrix_indefinite"]
        symptom = "the mass matrix is not positive at poses of the training motion"
        found.append(Advice(symptom, rule.cause, rule.next_step, "fit.mass_matrix_indefinite"))
    return found


def _negative_friction(result: ResultFile) -> list[Advice]:
    odd = [
        entry.name
        for entry in result.parameters
        if entry.name.endswith(FRICTION) and entry.deviation is not None and entry.value < -CLEAR * entry.deviation
    ]
    if not odd:
        return []
    return [
        Advice(
            f"friction that would drive the joint: {', '.join(odd)}",
            "torque of the wrong sign, a delay between torque and motion, or a velocity that is not the positions'",
            "steelyard check on the training recording: sign, order and delay of torque, and dq against q",
            "fit.negative_friction",
            odd[0].split("/")[1],
        )
    ]


def _proof(result: ResultFile) -> list[Advice]:
    """Whether there is a proof, and what a bad one says."""
    if not result.validation:
        return [
            Advice(
                "the result was never tried on motion that it was not fitted to",
                "no recording was kept apart for validation",
                "record another motion and run steelyard validate; a good fit alone proves nothing",
                "validation.missing",
            )
        ]
    found = []
    for entry in result.validation:
        error = float("inf") if entry.relative_error is None else entry.relative_error
        worse = _does_not_carry_over(result, entry)
        if worse:
            found.append(
                Advice(
                    f"on {entry.file} the residual is {GENERALISES:g} times that of the training motion and more, in "
                    f"{', '.join(worse)}",
                    "the two motions differ in more than noise: the training motion was poor there, or load, sensor "
                    "zero, temperature or robot were others",
                    "compare tool, mount and sensor zeros of the two runs; if they are the same, train on a motion "
                    "that covers this one",
                    "validation.does_not_carry_over",
                    entry.file,
                )
            )
        elif error >= GRAVITY_COMPENSATION:
            found.append(
                Advice(
                    f"the model misses {100.0 * error:.0f} % of the torque on {entry.file}, and as much in training",
                    "not the excitation, for that leaves a small residual and large deviations: the model lacks an "
                    "effect, or the recording is not what it says (unit, sign, order, delay, frame, gravity)",
                    "steelyard check on the recordings; then the residuals in the report, which say what is missing",
                    "validation.poor",
                    entry.file,
                )
            )
    return found


def _does_not_carry_over(result: ResultFile, entry: ValidationEntry) -> list[str]:
    """Joints that miss a share of their torque that matters, and far more than in training."""
    noise, missed = result.diagnostics.noise_per_joint, entry.relative_error_per_joint
    return [
        joint
        for joint, rms in entry.rmse_per_joint.items()
        if (before := noise[joint]) is not None
        and rms > GENERALISES * before > 0.0
        and ((share := missed[joint]) is None or share >= FEED_FORWARD)
    ]
