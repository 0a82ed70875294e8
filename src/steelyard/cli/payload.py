"""`steelyard payload`: weigh what the robot carries, or its drives with a part of known mass."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.cli.arguments import Names, Paths, outside
from steelyard.cli.output import print_findings, print_json, say
from steelyard.errors import StudyError

POINT = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)

if TYPE_CHECKING:
    from steelyard.session.calibrating import KnownPart
    from steelyard.session.weighing import Weighing


def payload(
    *,
    robot: Path | None = None,
    unloaded: Paths | None = None,
    loaded: Paths | None = None,
    poses: Path | None = None,
    result: Path | None = None,
    frame: str | None = None,
    gain_uncertainty: float | None = None,
    known_mass: float | None = None,
    known_center: tuple[float, float, float] | None = None,
    known_inertia: tuple[float, float, float, float, float, float] | None = None,
    config: Path | None = None,
    gravity: tuple[float, float, float] | None = None,
    term: Names | None = None,
    tool_id: str = "payload",
    output: Path | None = None,
    force: bool = False,
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Mass, centre of mass and inertia of a payload in the frame of the flange, with intervals.

    The payload is the difference of --loaded to --unloaded runs, or to the robot of a --result, or of --poses held
    still to the model file (or to --unloaded poses, or to a --result). It is never added to a link of the robot.

    Args:
        robot: URDF or MJCF file, without the payload.
        unloaded: Recordings of the bare robot (CSV), of other or the same motion; with --poses the same poses.
        loaded: Recordings with the payload, in motion.
        poses: Poses held still with the payload: a recording, or a table with one row a visit.
        result: Directory of `steelyard identify`: the bare robot.
        frame: Link in whose frame the payload is given; default: the flange of the last body.
        gain_uncertainty: Of the torque scale, a fraction; 0.1 for currents times constants of a catalogue.
        known_mass: Find the drives' gains instead, from a part of this mass [kg] on the loaded runs.
        known_center: Its centre of mass in the frame [m]; needed with --known-mass.
        known_inertia: Its inertia xx yy zz xy xz yz about that centre [kg m2]; default: none, a point.
        config: Study file (TOML): units, signs, drives, mount, terms.
        gravity: In the frame of the root link [m/s2]; default: that of the study or the model file.
        term: Terms of the model; default: those of the result, or the friction that the unloaded runs prefer.
        tool_id: Name of the payload in tool.yaml.
        output: Directory for payload.json and tool.yaml.
        force: Replace an output directory that is a payload of ours.
        json: One JSON object on stdout.
        quiet: No progress on stderr.
    """
    from steelyard.report.payload_summary import payload_summary
    from steelyard.session.calibrating import KnownPart
    from steelyard.session.payload_files import check_payload_target, save_payload
    from steelyard.session.weighing import Weighing, weigh

    request = Weighing(
        robot=robot,
        loaded=tuple(loaded or ()),
        unloaded=tuple(unloaded or ()),
        poses=poses,
        result=result,
        study=config,
        link=frame,
        gravity=gravity,
        terms=tuple(term or ()),
        gain_uncertainty=gain_uncertainty,
    )
    if output is not None:
        if known_mass is not None:
            raise StudyError("drive gains go into a study file by hand, not into --output", value=str(output))
        given = (robot, config, result, poses, *request.loaded, *request.unloaded)
        output = outside(output, [path for path in given if path is not None])
        check_payload_target(output, force=force)
    if known_mass is not None or known_center is not None or known_inertia is not None:
        if known_mass is None or known_center is None or gain_uncertainty is not None:
            raise StudyError("a known part needs --known-mass and --known-center, and no --gain-uncertainty")
        _gains(request, KnownPart(known_mass, known_center, known_inertia or POINT), json=json, quiet=quiet)
        return
    weighed = weigh(request, say=lambda line: say(line, quiet=quiet))
    if output is not None:
        place = save_payload(output, weighed, tool_id=tool_id, force=force)
        say(f"written: {place}", quiet=quiet)
    if json:
        print_json(weighed.payload.as_dict())
        return
    print(payload_summary(weighed))
    print_findings(weighed.payload.findings)


def _gains(request: Weighing, part: KnownPart, *, json: bool, quiet: bool) -> None:
    """Drive gains from a known part."""
    from steelyard.report.payload_summary import gains_summary
    from steelyard.session.calibrating import calibrate

    gains, study = calibrate(request, part, say=lambda line: say(line, quiet=quiet))
    if json:
        print_json(gains.as_dict())
        return
    print(gains_summary(gains, study.drive.torque_constant))
    print_findings(gains.findings)
