"""`steelyard validate`: an identified model on further unseen motion."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.arguments import Names, Paths, interval
from steelyard.cli.output import only_ours_on_stdout, print_findings, print_json, show


def validate(
    directory: Path,
    /,
    *,
    validate: Paths,
    validate_interval: str | None = None,
    score_cutoff: float | None = None,
    term: Names | None = None,
    json: bool = False,
) -> None:
    """Score the result of a session on further recordings; the predictions are kept in the session.

    Args:
        directory: A session with a result.
        validate: Recordings of motions that were not fitted (CSV), one or more.
        validate_interval: Part of every recording to score, A:B in seconds of recording time.
        score_cutoff: Torque is compared below this frequency [Hz]; default: the cut-off of the session.
        term: Terms of the result, repeated when one of them is code of your own.
        json: One JSON object on stdout.
    """
    from steelyard.estimate.validate import verdict
    from steelyard.report.summary import validation_lines
    from steelyard.session import workflow
    from steelyard.session.result_file import validation_entry

    with only_ours_on_stdout():
        _, done = workflow.revalidate(
            directory, validate, interval=interval(validate_interval), cutoff=score_cutoff, terms=tuple(term or ())
        )
    forward, gravity, sentence = verdict(done)
    if json:
        entries = [
            validation_entry(v.name, v.score, baseline_urdf=v.baseline_urdf).model_dump(mode="json") for v in done
        ]
        print_json(
            {
                "validation": entries,
                "findings": [f.as_dict() for v in done for f in v.findings],
                "verdict": {"feed_forward": forward, "gravity_compensation": gravity, "sentence": sentence},
            }
        )
        return
    show(sentence)
    for validation in done:
        show("\n".join(["", *validation_lines(validation)]))
        print_findings(validation.findings)
