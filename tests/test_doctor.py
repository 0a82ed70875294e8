"""The doctor: symptom, cause and next step, recording first, and never a wrong cure."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest

from judged import make_session
from steelyard.cli.main import main
from steelyard.finding import Finding
from steelyard.report import doctor
from steelyard.report.advice_rules import RULES
from steelyard.report.chinese import CURES
from steelyard.session.opening import open_session
from steelyard.session.result_file import finding_entry

# Whatever makes a number look better without making the model better.
WRONG = re.compile(
    r"(add|more|stronger|increase\w*) (ridge|regulari[sz]ation)(?! (would|to hide))|nnls|"
    r"delete (the )?(odd )?parameter|edit (the |a )?result|set \w+ to zero|clip (it|them)",
    re.IGNORECASE,
)


def diagnose(session):
    """Advice beside the one that is true of every session here: the second motion of this arm goes further."""
    return [advice for advice in doctor.diagnose(session) if advice.code != "validation.extrapolates"]


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return open_session(make_session(tmp_path_factory.mktemp("plain")))


def changed(session, **parts):
    """The session with parts of its result replaced."""
    return replace(session, result=session.result.model_copy(update=parts))


def told(session, *findings: Finding):
    return diagnose(changed(session, findings=tuple(map(finding_entry, findings))))


def test_a_sound_session_needs_nothing(session):
    assert diagnose(session) == []


def test_findings_become_advice_in_the_order_of_mending(session):
    advice = told(
        session,
        Finding("validation.worse_than_model", "warning", "the old model is better", "unseen.csv"),
        Finding("fit.weak_direction", "warning", "barely shown: a - b"),
        Finding("model.no_limits", "info", "no limits"),
        Finding("data.delay", "warning", "torque is 5 ms late", "train.csv", 0.005, "use one clock"),
        Finding("data.saturation", "error", "torque is cut off", "train.csv"),
    )
    assert [a.code for a in advice] == [
        "data.saturation", "data.delay", "fit.weak_direction", "validation.worse_than_model",
    ]  # fmt: skip
    late = advice[1]
    assert (late.symptom, late.next_step, late.where) == ("torque is 5 ms late", "use one clock", "train.csv")
    assert "clocks" in late.cause
    assert all(a.symptom and a.cause for a in advice)


def test_a_residual_finding_brings_its_own_cause(session):
    advice = told(
        session, Finding("fit.trend", "warning", "the residual goes with speed. Likely friction", "elbow", 1, "x")
    )
    assert (advice[0].symptom, advice[0].cause) == ("the residual goes with speed", "friction")


def test_an_unknown_code_keeps_its_cure(session):
    advice = told(session, Finding("fit.brand_new", "warning", "something new", cure="do this"))
    assert (advice[0].cause, advice[0].next_step) == ("", "do this")


def test_missing_rank_is_mended_by_motion_and_not_by_regularisation(session):
    result = session.result
    diagnostics = result.diagnostics.model_copy(update={"rank": result.base.count - 2})
    advice = diagnose(changed(session, diagnostics=diagnostics))
    assert [a.code for a in advice] == ["fit.rank_deficient"]
    assert "record motion" in advice[0].next_step
    assert "regularisation would only hide" in advice[0].next_step


def test_impossible_bodies_are_mended_by_the_consistent_estimate(session):
    diagnostics = session.result.diagnostics.model_copy(update={"mass_matrix_positive": False})
    advice = diagnose(changed(session, diagnostics=diagnostics))
    assert [a.code for a in advice] == ["fit.mass_matrix_indefinite"]
    assert "record motion" in advice[0].next_step
    assert "may be negative" in advice[0].cause  # first moments and products are signed


def test_negative_first_moments_are_no_symptom_and_negative_friction_is(session):
    def with_value(suffix, value):
        entries = tuple(
            e.model_copy(update={"value": value, "deviation": 0.01}) if e.name.endswith(suffix) else e
            for e in session.result.parameters
        )
        return diagnose(changed(session, parameters=entries))

    assert with_value("first_moment_x", -1.0) == []
    advice = with_value("coulomb_friction", -0.5)
    assert [a.code for a in advice] == ["fit.negative_friction"]
    assert "sign" in advice[0].cause


def test_no_proof_and_bad_proofs_are_told_apart(session):
    assert [a.code for a in diagnose(changed(session, validation=()))] == ["validation.missing"]
    entry = session.result.validation[0]
    noise = session.result.diagnostics.noise_per_joint
    elsewhere = entry.model_copy(
        update={
            "relative_error": 0.4,
            "rmse_per_joint": {joint: 10.0 * value for joint, value in noise.items()},
            "relative_error_per_joint": dict.fromkeys(noise, 0.4),
        }
    )
    assert [a.code for a in diagnose(changed(session, validation=(elsewhere,)))] == ["validation.does_not_carry_over"]
    everywhere = entry.model_copy(
        update={
            "relative_error": 0.4,
            "rmse_per_joint": dict(noise),
            "relative_error_per_joint": dict.fromkeys(noise, 0.4),
        }
    )
    advice = diagnose(changed(session, validation=(everywhere,)))
    assert [a.code for a in advice] == ["validation.poor"]
    assert "not the excitation" in advice[0].cause  # poor excitation leaves small residuals


def test_no_cure_is_a_wrong_one():
    """No regularisation to hide rank, no NNLS for signed parameters, nothing deleted or edited."""
    texts = [text for rule in RULES.values() for text in rule] + list(CURES.values())
    assert [text for text in texts if WRONG.search(text)] == []
    for bad in ("add ridge", "use NNLS", "more regularisation", "edit the result"):
        assert WRONG.search(bad)


def test_every_rule_has_a_cause():
    assert [code for code, rule in RULES.items() if not rule.cause] == []


def test_a_session_without_result_is_sent_on(session):
    advice = diagnose(replace(session, result=None))
    assert [a.code for a in advice] == ["session.no_result"]
    assert advice[0].next_step.startswith("steelyard identify")


def test_the_command(session, capsys):
    with pytest.raises(SystemExit) as left:
        main(["doctor", str(session.directory)])
    assert left.value.code == 0
    assert "validation.extrapolates" in capsys.readouterr().out
    with pytest.raises(SystemExit) as left:
        main(["doctor", str(session.directory), "--json"])
    assert [a["code"] for a in json.loads(capsys.readouterr().out)["advice"]] == ["validation.extrapolates"]
    with pytest.raises(SystemExit) as left:
        main(["doctor", str(session.directory / "nowhere")])
    assert left.value.code == 3
