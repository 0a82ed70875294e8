"""The page about an excitation: what it asks of each joint against its limits, and a replay in space."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from steelyard.data.trajectory import Trajectory
from steelyard.excite.certificate import Certificate
from steelyard.report.arrays import label, number, percent, stamps
from steelyard.report.blocks import Block, Cell, Section, Table
from steelyard.report.excitation_summary import said, unchecked
from steelyard.report.html_page import html_page, plot
from steelyard.report.panels import OLD, PREDICTED, grid, line, once
from steelyard.report.replay import replay_html
from steelyard.session.excitation import Excitation

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Array = NDArray[np.float64]
POINTS = 500
WORDS = {
    "lang": "en",
    "contents": "Contents",
    "status_note": "Nothing has moved. A person decides whether the motion is run; run the slow versions first.",
}


def preview_page(excitation: Excitation) -> bytes:
    """The page as HTML: nothing is loaded from anywhere, the same excitation gives the same bytes.

    Args:
        excitation: certified.

    Raises:
        ModelError: a robot whose base floats.
    """
    robot, motion = excitation.subject.model.robot, excitation.design.motion
    full = excitation.versions[-1].certificate
    clearance = excitation.subject.clearance
    solids = () if clearance is None else clearance.solids
    verdict = "Certified at every speed" if excitation.passed else "NOT certified: do not run it"
    sections = (
        Section("replay", "Replay", (Block(note=_REPLAY, figure=replay_html(robot, motion, solids)),)),
        Section(
            "signals", "Against the limits", (Block(note=_SIGNALS, figure=plot(signal_figure(excitation), "signals")),)
        ),
        Section("certificate", "Certificate", _certificate(full)),
        Section("expected", "Expected deviations", (_expected(excitation),)),
    )
    page = html_page(
        title=f"Excitation of {robot.name}",
        verdict=(f"{verdict}. At full speed the closest is {said(full.closest)}.",),
        verdict_class="feed_forward" if excitation.passed else "none",
        notes=("Not checked: " + "; ".join(unchecked(full)) + ".",),
        sections=sections,
        words=WORDS,
    )
    return page.encode()


_REPLAY = (
    "Full speed, in time. Drag to turn, wheel to zoom. Capsules enclose the collision shapes; lines join the joints."
)
_SIGNALS = "Dashed: the limits. Torque is that of the model file; the certificate adds the stated uncertainty."


def signal_figure(excitation: Excitation) -> Figure:
    """Position, velocity, acceleration and nominal torque of each joint, with its limits."""
    subject, motion = excitation.subject, excitation.design.motion
    limits, model = subject.limits, subject.model
    times = np.linspace(0.0, motion.duration, POINTS + 1)
    q, dq, ddq, _ = motion.at(times)
    trajectory = Trajectory(time=times, joint_names=motion.joint_names, q=q, dq=dq, ddq=ddq)
    columns = (
        ("position", q, limits.lower, limits.upper),
        ("velocity", dq, -limits.velocity, limits.velocity),
        ("acceleration", ddq, -limits.acceleration, limits.acceleration),
        ("torque", model.torque(model.nominal, trajectory), -limits.effort, limits.effort),
    )
    titles = [f"{label(name)}: {column[0]}" for name in motion.joint_names for column in columns]
    figure = grid(len(motion.joint_names), len(columns), titles, height=110, shared=True, gap=40)
    at = stamps(times)
    for j in range(len(motion.joint_names)):
        for k, (_, values, low, high) in enumerate(columns):
            line(figure, at, values[:, j], (j, k), "motion", PREDICTED)
            for bound in (low[j], high[j]):
                if np.isfinite(bound):
                    line(figure, at[[0, -1]], np.full(2, bound), (j, k), "limit", OLD, dash="dash")
    figure.update_xaxes(title_text="time [s]", row=len(motion.joint_names))
    return once(figure)


def _certificate(certificate: Certificate) -> tuple[Block, ...]:
    rows = tuple(
        (
            Cell(check.joint, "text"),
            Cell(check.quantity, "text"),
            Cell(number(check.limit, 4)),
            Cell(number(check.bound, 4)),
            Cell(number(check.time, 4)),
            Cell(percent(check.use, 3), "" if check.passed else "bad", strength=check.use),
        )
        for check in certificate.checks
    )
    head = ("joint", "quantity", "limit", "reached", "at [s]", "share of the limit")
    width = number(1e3 * certificate.step, 3)
    note = (
        f"Bounds over {certificate.cells} cells of {width} ms, which hold at every instant; SI units. "
        f"Model file SHA-256 {certificate.model_digest}."
    )
    return (Block(note=note, table=Table(head, rows)),)


def _expected(excitation: Excitation) -> Block:
    told, wish = excitation.forecast, excitation.wish
    units = {column.name: column.unit for column in excitation.subject.model.columns}
    nominal = dict(zip(told.basis.names, told.basis.regroup(excitation.subject.model.nominal), strict=True))
    rows = tuple(
        (
            Cell(name, "text"),
            Cell(number(nominal[name], 4)),
            Cell(number(float(deviation), 3)),
            Cell(units[name], "text"),
        )
        for name, deviation in zip(told.basis.names, told.deviations, strict=True)
    )
    noise = "the stated torque noise" if wish.noise else "a torque noise of 1 N m (or N) at every joint: none is stated"
    note = f"After {wish.periods} period(s) recorded at {wish.rate} Hz, for {noise}, if it is white."
    return Block(note=note, table=Table(("base parameter", "model file", "expected deviation", "unit"), rows))
