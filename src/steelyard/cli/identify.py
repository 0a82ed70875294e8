"""`steelyard identify`: from a model file and recordings to a validated candidate."""

from __future__ import annotations

from pathlib import Path

from steelyard.cli.arguments import Names, Paths, excluded, interval, outside, required
from steelyard.cli.output import only_ours_on_stdout, print_json, say, show
from steelyard.errors import SteelyardError

GATE = 1


def identify(
    directory: Path | None = None,
    /,
    *,
    robot: Path | None = None,
    train: Paths | None = None,
    validate: Paths | None = None,
    train_interval: str | None = None,
    validate_interval: str | None = None,
    score_cutoff: float | None = None,
    config: Path | None = None,
    term: Names | None = None,
    estimator: str | None = None,
    consistent: bool = False,
    output: Path | None = None,
    force: bool = False,
    json: bool = False,
    quiet: bool = False,
    strict: bool = False,
) -> int:
    """Identify a robot's dynamics and prove the result on unseen motion.

    Args:
        directory: A session made by `steelyard init`; instead of --robot and --train.
        robot: URDF or MJCF file.
        train: Recordings to fit (CSV), one or more.
        validate: Recordings of other motions, never used for fitting.
        train_interval: Part of every training recording to fit, A:B in seconds of recording time.
        validate_interval: Part of every validation recording to score, A:B [s].
        score_cutoff: Validation torque is compared below this frequency [Hz]; default: the identified cut-off.
        config: Study file (TOML): units, signs, drives, mount, terms.
        term: Terms of the model, e.g. rigid_body rotor_inertia viscous coulomb offset; default: bodies, rotor inertia,
            and the friction that held-out data prefer.
        estimator: prior (default: towards the model file where the data are silent), weighted, ordinary, generalised
            (weighted by the noise left after its correlation in time), huber (robust), instrumental (noisy positions).
        consistent: Parameters of links that could exist, for simulators and model files; see `steelyard export`.
        output: Directory for session.json, result.json, processed data, predictions and the report page.
        force: Replace an output directory that is a session, or the result of a session.
        json: The result as one JSON object on stdout.
        quiet: No progress on stderr.
        strict: Exit status 1 when a finding is a warning or an error.
    """
    from steelyard.report.summary import summary
    from steelyard.session import workflow
    from steelyard.session.run import Request, run
    from steelyard.session.store import check_target

    request = Request(
        model=robot or Path(),
        train=tuple(train or ()),
        validate=tuple(validate or ()),
        train_interval=interval(train_interval),
        validate_interval=interval(validate_interval),
        score_cutoff=score_cutoff,
        study=config,
        terms=tuple(term or ()),
        estimator=estimator,
        consistent=consistent,
    )
    if directory is None:
        required("identify", robot=robot, train=train)
    else:
        excluded("a session", robot=robot, train=train, validate=validate, config=config)
        request = workflow.request_of_session(directory, request, force=force or output is not None)
    if output is not None:
        output = outside(output, (request.model, *request.train, *request.validate))
        check_target(output, force=force)
    with only_ours_on_stdout():
        done = run(request, say=lambda line: say(line, quiet=quiet))
    added = output is None
    manifest = workflow.manifest_of(done, directory if added else None)
    result = workflow.result_of(done, manifest)
    target = output or directory
    if target is not None:
        workflow.save(done, result, manifest, target, added=added, force=force)
        _report(target, done.terms, quiet=quiet)
    if json:
        print_json(result.model_dump(mode="json", by_alias=True))
    else:
        show(summary(done))
    return GATE if strict and any(finding.level != "info" for finding in done.findings) else 0


def _report(target: Path, terms: tuple[str, ...], *, quiet: bool) -> None:
    """Add the page; the result is safe by now, and a page that cannot be written is no reason to say it is not."""
    from steelyard.report.page import add_report
    from steelyard.session.layout import REPORT
    from steelyard.session.workflow import now

    try:
        with only_ours_on_stdout():
            add_report(target, time=now(), terms=terms)
        say(f"written: {target} (see {REPORT})", quiet=quiet)
    except SteelyardError as error:
        say(f"written: {target}, without {REPORT}: {error}")
