"""`steelyard doctor`: symptom, cause and next step."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.output import print_json, show


def doctor(directory: Path, /, *, json: bool = False) -> None:
    """Say what ails a session and what to do next: the recording first, then the model, the fit and its proof.

    Args:
        directory: A session.
        json: One JSON object on stdout.
    """
    from steelyard.report.doctor import diagnose
    from steelyard.session.opening import open_session

    found = diagnose(open_session(directory))
    if json:
        print_json({"advice": [advice.as_dict() for advice in found]})
        return
    if not found:
        show("Nothing to mend. The result is a candidate: a person decides whether it is used.")
        return
    for number, advice in enumerate(found, start=1):
        place = f" [{advice.where}]" if advice.where else ""
        show(f"{number}. {advice.level}: {advice.code}{place}")
        show(f"   symptom: {advice.symptom}")
        if advice.cause:
            show(f"   cause:   {advice.cause}")
        show(f"   next:    {advice.next_step or 'see the report of the session'}")
    show("Mend recordings and model, then record again. Never force a number: no more regularisation to hide missing")
    show("rank, no deleting of odd parameters, no editing of results.")
