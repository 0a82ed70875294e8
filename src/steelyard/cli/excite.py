"""`steelyard excite`: a motion worth running, certified before anything moves."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from steelyard.cli.arguments import Names, Numbers, Paths, outside, seed_of
from steelyard.cli.output import print_findings, print_json, say

if TYPE_CHECKING:
    from steelyard.excite.search import Progress
    from steelyard.session.excitation import Excitation, Wish
    from steelyard.session.excite_subject import Subject

GATE, INTERRUPTED = 1, 130
Rest = Literal["free", "acceleration", "jerk"]
Criterion = Literal["d", "a", "e", "condition", "condition_scaled", "payload"]


def excite(
    *,
    robot: Path,
    limits: Path | None = None,
    check: Path | None = None,
    plan: bool = False,
    criterion: Criterion = "d",
    payload: str | None = None,
    columns: Literal["rigid", "all"] = "all",
    period: float = 10.0,
    harmonics: int = 5,
    rest: Rest | None = None,
    budget: float = 60.0,
    optimiser: str = "interior",
    seed: int = 0,
    share: float = 0.95,
    uncertainty: float = 0.0,
    noise: Numbers | None = None,
    rate: int = 500,
    periods: int = 1,
    format: Names | None = None,
    term: Names | None = None,
    gravity: tuple[float, float, float] | None = None,
    lock: Names | None = None,
    meshes: Paths | None = None,
    distance: float | None = None,
    config: Path | None = None,
    output: Path | None = None,
    force: bool = False,
    json: bool = False,
    quiet: bool = False,
) -> int:
    """Design a motion that tells as much as possible about a robot, and prove that it keeps every limit.

    Nothing is written that fails its certificate: exit status 1 then, as for a motion that --check refuses. Ctrl-C
    ends the search; the best motion so far is certified and kept, and the exit status is 130.

    Args:
        robot: URDF or MJCF file.
        limits: joint_limits.yaml as MoveIt has it: accelerations and jerks, and anything tighter than the model file.
        check: Certify this motion instead (CSV with dq, JointTrajectory in JSON or YAML, excitation.yaml).
        plan: Plan all experiments instead, from standing still to a tool, with what each will tell.
        criterion: d, a, e, condition or condition_scaled; payload for what one body carries alone.
        payload: The body that carries it.
        columns: Base parameters of the rigid bodies alone, or of all terms.
        period: Of the motion [s]; rounded up to a whole number of controller steps.
        harmonics: How many for each joint, of 1/period.
        rest: What is zero at both ends: free, acceleration (and velocity) or jerk as well (default).
        budget: CPU seconds to search.
        optimiser: interior, feasible_map or slsqp; with their extras cma and ipopt.
        seed: Of the random starts.
        share: Of every limit that the design may use.
        uncertainty: Share by which the real torque may exceed that of the model file.
        noise: Deviation of the torque noise, one number or one a joint [N m or N].
        rate: Of the controller [Hz].
        periods: How many to write.
        format: Of the files: csv, joint_trajectory, franka, ur; default: all that suit the robot.
        term: Terms of the model; default: rigid_body rotor_inertia viscous coulomb offset.
        gravity: In the frame of the root link [m/s2].
        lock: Joints to hold at neutral.
        meshes: Folders to look for the meshes of the model file in.
        distance: To keep between links, and to obstacles [m]; default: 0.01.
        config: Study file (TOML): mount, locked joints, terms; obstacles, and speeds and boxes of chosen points.
        output: Directory for excitation.yaml, preview.html and the motion at 25, 50 and 100 % of its speed.
        force: Replace an output directory that is an excitation.
        json: One JSON object on stdout.
        quiet: No progress on stderr.
    """
    from steelyard.errors import StudyError
    from steelyard.session.excitation import Wish
    from steelyard.session.excite_subject import read_subject
    from steelyard.session.motion_forms import forms_of

    def subject(moved: tuple[str, ...] = ()) -> Subject:
        return read_subject(
            robot, limits, study=config, gravity=gravity, lock=lock or (), moved=moved, terms=term or (),
            uncertainty=uncertainty, meshes=meshes or (), distance=distance,
        )  # fmt: skip

    if check is not None and plan:
        raise StudyError("--check and --plan exclude each other")
    if check is not None:
        return _check(check, subject, rest=rest, json=json, quiet=quiet)
    found = subject()
    _tell(found, quiet=quiet)
    wish = Wish(
        criterion=criterion, columns=columns, period=period, harmonics=harmonics, rest=rest or "jerk", share=share,
        optimiser=optimiser, budget=budget, seed=seed_of(seed), periods=periods, rate=rate, noise=tuple(noise or ()),
        payload=payload, forms=forms_of(format or (), len(found.model.robot.joint_names), rest=rest or "jerk"),
    )  # fmt: skip
    inputs = [path for path in (robot, limits, config) if path is not None]
    target = None if output is None else outside(output, inputs)
    job = _plan if plan else _design
    return job(found, wish, target, force=force, json=json, quiet=quiet)


def _check(
    path: Path, subject_for: Callable[[tuple[str, ...]], Subject], *, rest: Rest | None, json: bool, quiet: bool
) -> int:
    """Read, certify, tell."""
    from steelyard.report.excitation_summary import check_summary
    from steelyard.session.motion_check import check_motion

    checked = check_motion(path, subject_for, rest=rest)
    _tell(checked.subject, quiet=quiet)
    if json:
        print_json(checked.as_dict())
    else:
        print(check_summary(checked))
        print_findings(checked.findings)
    return 0 if checked.passed else GATE


def _tell(subject: Subject, *, quiet: bool) -> None:
    """Warnings on what collisions are checked with, on stderr."""
    if not quiet:
        print_findings((f for f in subject.findings if f.level != "info"), stream=sys.stderr)


def _design(subject: Subject, wish: Wish, target: Path | None, *, force: bool, json: bool, quiet: bool) -> int:
    """Search, certify, write, tell."""
    from steelyard.report.excitation_summary import excitation_summary
    from steelyard.session.excitation import excite
    from steelyard.session.excitation_store import check_target, document

    if target is not None:
        check_target(target, force=force)
    with _search(wish, quiet=quiet) as (progress, stopped):
        found = excite(subject, wish, progress=progress)
        if found is None:
            say("steelyard: interrupted before a motion was found; nothing was written")
            return INTERRUPTED
        written = target is None or _write(found, target, force=force, quiet=quiet)
        interrupted = stopped()
    if json:
        print_json(document(found))
    else:
        print(excitation_summary(found))
    if not (found.passed and written):
        return GATE
    return INTERRUPTED if interrupted else 0


def _plan(subject: Subject, wish: Wish, target: Path | None, *, force: bool, json: bool, quiet: bool) -> int:
    """Plan, write, tell."""
    from steelyard.report.excitation_summary import plan_summary
    from steelyard.session.excitation import whole
    from steelyard.session.planning import check_plan_target, plan_document, plan_for, write_plan

    if target is not None:
        check_plan_target(target, force=force)
    wish = whole(wish)
    with _search(wish, quiet=quiet) as (progress, stopped):
        plan = plan_for(subject, wish, progress=progress, say=lambda line: say(line, quiet=quiet))
        written = target is None or _certified(lambda: write_plan(plan, subject, wish, target, force=force))
        interrupted = stopped()
    if json:
        print_json(plan_document(plan, subject))
    else:
        print(plan_summary(plan, subject.model))
    if not (plan.passed and written):
        return GATE
    return INTERRUPTED if interrupted else 0


@contextmanager
def _search(wish: Wish, *, quiet: bool) -> Iterator[tuple[Callable[[Progress], None], Callable[[], bool]]]:
    """What a search tells its progress to, and whether Ctrl-C was pressed since; the search heeds it, nothing else."""
    from steelyard.cli.interrupt import heeded
    from steelyard.cli.progress import search_bar

    say(f"searching for {wish.budget:g} s of CPU time at most; Ctrl-C keeps the best so far", quiet=quiet)
    with heeded() as stop, search_bar(wish.budget, quiet=quiet) as show:

        def progress(told: Progress) -> None:
            show(told)
            if stop():
                raise KeyboardInterrupt

        yield progress, stop


def _write(found: Excitation, target: Path, *, force: bool, quiet: bool) -> bool:
    """Whether the directory was written."""
    from steelyard.report.preview import preview_page
    from steelyard.session.excitation_store import PREVIEW, write_excitation

    written = _certified(lambda: write_excitation(found, target, pages={PREVIEW: preview_page(found)}, force=force))
    if written:
        say(f"written: {target} (see {PREVIEW})", quiet=quiet)
    return written


def _certified(write: Callable[[], object]) -> bool:
    """Whether it was written; what fails its certificate is not, and why is said."""
    from steelyard.session.excitation_store import RefusedMotion

    try:
        write()
    except RefusedMotion as refused:
        print_findings(refused.findings, stream=sys.stderr)
        say(f"steelyard: {refused.what}")
        return False
    return True
