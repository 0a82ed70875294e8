"""The plots of a report, as plotly figures; words come in, nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.comparison import Comparison
from steelyard.assess.residual_findings import CERTAIN, TELLING
from steelyard.assess.residuals import ResidualReport
from steelyard.assess.trends import Trend
from steelyard.report.arrays import label, number, percent, short, spread_rows, stamps, telling_rows
from steelyard.report.friction import FrictionCurve
from steelyard.report.panels import (
    MEASURED,
    OLD,
    PALETTE,
    PREDICTED,
    QUIET,
    RESIDUAL,
    SHADOW,
    grid,
    line,
    once,
    points,
)

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Array = NDArray[np.float64]
Words = Mapping[str, str]
LINE_POINTS, CLOUD_POINTS = 1600, 350
AGAINST = ("time", "position", "velocity", "acceleration")


def torque_figure(
    comparison: Comparison, old: Array, errors: Mapping[str, float], units: Sequence[str], words: Words
) -> Figure:
    """Measured and predicted torque of each joint over time, the old model beside them."""
    joints = comparison.motion.joint_names
    titles = [f"{label(j)}: {percent(errors[j])}" for j in joints]
    figure = grid(len(joints), 1, titles, height=150, shared=True, gap=44)
    time = comparison.motion.time
    for j in range(len(joints)):
        lines = np.column_stack([comparison.filtered[:, j], comparison.predicted[:, j], old[:, j]])
        rows = telling_rows(lines, LINE_POINTS)
        for values, name, colour, dash, width in (
            (old[:, j], "model_file", OLD, "dot", 1.0),
            (comparison.filtered[:, j], "measured", SHADOW, "solid", 4.0),
            (comparison.predicted[:, j], "predicted", PREDICTED, "solid", 1.3),
        ):
            line(figure, stamps(time[rows]), values[rows], (j, 0), words[name], colour, dash=dash, width=width)
        figure.update_yaxes(title_text=units[j], row=j + 1, col=1)
    figure.update_xaxes(title_text=words["time_axis"], row=len(joints), col=1)
    return once(figure)


def residual_figure(comparison: Comparison, report: ResidualReport, units: Sequence[str], words: Words) -> Figure:
    """Residual of each joint against time, position, velocity and acceleration, with the mean in bins."""
    motion = comparison.motion
    joints = motion.joint_names
    known = {(t.joint, t.against): t for t in report.trends}
    titles = [_verdict(known.get((j, a))) for j in joints for a in AGAINST]
    figure = grid(len(joints), len(AGAINST), titles, height=135, gap=58)
    rows = spread_rows(len(motion), CLOUD_POINTS)
    prismatic = [unit == "N" for unit in units]
    for j, joint in enumerate(joints):
        residual = comparison.residual[rows, j]
        figure.update_yaxes(range=_usual(comparison.residual[:, j]), row=j + 1)
        variables = (motion.time, *(motion.channel(c)[:, j] for c in ("q", "dq", "ddq")))
        for a, (against, values) in enumerate(zip(AGAINST, variables, strict=True)):
            points(figure, values[rows], residual, (j, a), words["residual"], QUIET)
            trend = known.get((joint, against))
            if trend is not None:
                colour = RESIDUAL if _telling(trend) else MEASURED
                line(figure, trend.bins, trend.means, (j, a), words["bin_mean"], colour, width=2.0)
            if j == len(joints) - 1:
                figure.update_xaxes(title_text=words[f"{against}_axis"], row=j + 1, col=a + 1)
        figure.update_yaxes(title_text=f"{label(joint)}<br>{'N' if prismatic[j] else 'N m'}", row=j + 1, col=1)
    return once(figure)


def _usual(residual: Array) -> list[float]:
    """Range of an axis that a jolt or two do not squeeze: the middle 99 %, and a margin."""
    low, high = np.quantile(residual, [0.005, 0.995])
    margin = 0.2 * (high - low) or 1.0
    return [float(min(low, 0.0) - margin), float(max(high, 0.0) + margin)]


def _telling(trend: Trend) -> bool:
    return trend.p_value <= CERTAIN and trend.share >= TELLING


def _verdict(trend: Trend | None) -> str:
    """Share and p-value over a panel, bold where it tells something."""
    if trend is None:
        return " "
    text = f"{percent(trend.share)}, p {number(trend.p_value, 2)}"
    return f"<b>{text}</b>" if _telling(trend) else text


def distribution_figure(comparison: Comparison, report: ResidualReport, words: Words) -> Figure:
    """How residuals are distributed, beside a Gaussian, and how those of two joints go together."""
    joints = comparison.motion.joint_names
    figure = grid(1, 2, [words["distribution"], words["coupling"]], height=360, wide=0.12)
    edges = np.linspace(-4.0, 4.0, 41)
    middle = 0.5 * (edges[1:] + edges[:-1])
    for j, joint in enumerate(joints):
        residual = comparison.residual[:, j]
        size = float(residual.std())
        if size > 0.0:
            counts = np.histogram((residual - residual.mean()) / size, edges)[0]
            density = counts / (len(residual) * (edges[1] - edges[0]))
            line(figure, middle, density, (0, 0), label(joint), PALETTE[j % len(PALETTE)], width=1.2)
    gauss = np.exp(-0.5 * middle**2) / np.sqrt(2.0 * np.pi)
    line(figure, middle, gauss, (0, 0), words["gaussian"], MEASURED, dash="dot", width=2.0)
    figure.update_xaxes(title_text=words["deviations_axis"], row=1, col=1)
    names = [label(joint) for joint in joints]
    figure.add_heatmap(
        z=np.round(report.correlation, 3), x=names, y=names, zmin=-1.0, zmax=1.0, colorscale="RdBu", row=1, col=2,
        colorbar={"thickness": 12},
    )  # fmt: skip
    figure.update_yaxes(autorange="reversed", row=1, col=2)
    figure.update_xaxes(automargin=True, row=1, col=2)
    return once(figure)


def friction_figure(curves: Sequence[FrictionCurve], units: Sequence[str], words: Words) -> Figure:
    """Friction over speed: identified curve, and measured torque less all other terms."""
    columns = min(3, len(curves))
    figure = grid(-(-len(curves) // columns), columns, [label(c.joint) for c in curves], height=220, gap=64)
    for k, curve in enumerate(curves):
        at = (k // columns, k % columns)
        rows = spread_rows(len(curve.point_speed), 2 * CLOUD_POINTS)
        points(figure, curve.point_speed[rows], curve.point_torque[rows], at, words["data"], QUIET)
        line(figure, curve.speed, curve.torque, at, words["beyond_training"], PREDICTED, dash="dot", width=1.5)
        inside = np.where(curve.trained, curve.torque, np.nan)
        line(figure, curve.speed, inside, at, words["identified_friction"], PREDICTED, width=2.2)
        speed = "m/s" if units[k] == "N" else "rad/s"
        figure.update_yaxes(title_text=units[k] if at[1] == 0 else None, row=at[0] + 1, col=at[1] + 1)
        figure.update_xaxes(title_text=speed, title_standoff=2, row=at[0] + 1, col=at[1] + 1)
    return once(figure)


def singular_figure(values: Array, names: Sequence[str], threshold: float, words: Words) -> Figure:
    """Singular values of the scaled regressor, weak ones marked; hovering names the combination."""
    figure = grid(1, 1, [" "], height=320)
    ratio = values / values.max(initial=0.0) if values.size and values.max() > 0.0 else values
    weak = ratio < threshold
    figure.add_scatter(
        x=np.arange(1, len(ratio) + 1), y=short(np.maximum(ratio, 1e-16)), mode="markers",
        name=words["singular_values"],
        marker={"color": [RESIDUAL if w else PREDICTED for w in weak], "size": 7}, text=[label(n) for n in names],
        hovertemplate="%{y:.2g}<br>%{text}<extra></extra>",
    )  # fmt: skip
    figure.add_hline(y=threshold, line={"color": RESIDUAL, "dash": "dot", "width": 1})
    figure.update_yaxes(type="log", dtick=1, title_text=words["relative_axis"], exponentformat="power")
    figure.update_xaxes(title_text=words["index_axis"])
    figure.update_layout(showlegend=False, height=figure.layout.height - 40, margin_t=44)
    return figure


def comparison_figure(joints: Sequence[str], bars: Mapping[str, tuple[Array, Array]], words: Words) -> Figure:
    """Old model against new: error by joint, gravity torque and inertia on a grid of poses.

    Args:
        joints: n names.
        bars: words of a panel's title -> (n,) of the model file and of the new model.
        words: of the language.
    """
    figure = grid(1, len(bars), [words[title] for title in bars], height=300)
    for column, (old, new) in enumerate(bars.values(), start=1):
        for values, name, colour in ((old, "model_file", OLD), (new, "new_model", PREDICTED)):
            figure.add_bar(
                x=[label(j) for j in joints], y=short(values), name=words[name], marker_color=colour, row=1, col=column
            )
    figure.update_layout(bargap=0.25)
    figure.update_xaxes(automargin=True)
    return once(figure)
