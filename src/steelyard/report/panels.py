"""Panels and the few kinds of marks that plots of a report are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from steelyard.report.arrays import short

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Array = NDArray[np.float64]
MEASURED, SHADOW, PREDICTED, OLD = "#444444", "#b9c0c6", "#0072b2", "#e69f00"
RESIDUAL, QUIET = "#d55e00", "#9fb0bb"
# Okabe and Ito's colours, which differ for every kind of eye, and two darker ones
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#444444", "#7f3b08", "#1b7837")
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'Noto Sans CJK SC', 'WenQuanYi Zen Hei', sans-serif"


def grid(
    rows: int, columns: int, titles: Sequence[str], *, height: int, shared: bool = False, gap: int = 60,
    wide: float = 0.06,
) -> Figure:  # fmt: skip
    """Empty panels; `height` of one and `gap` between two [px], `wide` between columns as a share of the width."""
    from plotly.subplots import make_subplots

    top, bottom = 84, 48  # the legend has a line of its own, under the buttons
    total = rows * height + (rows - 1) * gap
    figure = make_subplots(
        rows=rows, cols=columns, subplot_titles=list(titles), shared_xaxes=shared,
        vertical_spacing=gap / total if rows > 1 else 0.0, horizontal_spacing=wide if columns > 1 else 0.0,
    )  # fmt: skip
    figure.update_annotations(font={"size": 12, "color": "#333"})
    whole = total + top + bottom
    figure.update_layout(
        template=None, height=whole, margin={"l": 70, "r": 16, "t": top, "b": bottom}, hovermode="closest",
        font={"family": FONT, "size": 12}, paper_bgcolor="#fff", plot_bgcolor="#fff",
        legend={
            "orientation": "h", "x": 0.0, "xref": "paper",
            "y": 1.0 - 26.0 / whole, "yref": "container", "yanchor": "top",
        },
    )  # fmt: skip
    figure.update_xaxes(
        showgrid=True, gridcolor="#eee", zeroline=False, linecolor="#999", ticks="outside", ticklen=3, title_standoff=4
    )  # fmt: skip
    figure.update_yaxes(showgrid=True, gridcolor="#eee", zerolinecolor="#ccc", linecolor="#999", title_standoff=4)
    return figure


def line(
    figure: Figure, x: Array, y: Array, at: tuple[int, int], name: str, colour: str, *, dash: str = "solid",
    width: float = 1.2,
) -> None:  # fmt: skip
    figure.add_scatter(
        x=x, y=short(y), mode="lines", name=name, legendgroup=name,
        line={"color": colour, "width": width, "dash": dash}, row=at[0] + 1, col=at[1] + 1,
    )  # fmt: skip


def points(figure: Figure, x: Array, y: Array, at: tuple[int, int], name: str, colour: str) -> None:
    figure.add_scatter(
        x=short(x), y=short(y), mode="markers", name=name, legendgroup=name,
        marker={"color": colour, "size": 3}, row=at[0] + 1, col=at[1] + 1,
    )  # fmt: skip


def once(figure: Figure) -> Figure:
    """One entry in the legend for all traces of a name."""
    seen: set[str] = set()
    for trace in figure.data:
        if trace.type in ("scatter", "bar"):
            trace.showlegend = trace.name not in seen
            seen.add(trace.name)
    return figure
