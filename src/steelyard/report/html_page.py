"""Sections as one offline HTML page: plotly is inside it once, nothing is loaded from anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from steelyard.report.blocks import Section
from steelyard.report.panels import FONT
from steelyard.version import __version__

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def html_page(
    *,
    title: str,
    verdict: Sequence[str],
    verdict_class: str,
    notes: Sequence[str],
    sections: Sequence[Section],
    words: Mapping[str, str],
) -> str:
    """The page as text; the same arguments give the same.

    Args:
        title: heading.
        verdict: sentences under it.
        verdict_class: their class of the style sheet.
        notes: sentences under those.
        sections: in order.
        words: lang, status_note and contents in the language of the page.
    """
    from plotly.offline import get_plotlyjs

    values = {
        "title": title, "verdict": verdict, "verdict_class": verdict_class, "notes": notes, "sections": sections,
        "words": words, "plotly": get_plotlyjs(), "font": FONT, "version": __version__,
    }  # fmt: skip
    return rendered("page.html.jinja", values)


def rendered(template: str, values: Mapping[str, object]) -> str:
    """A template of this package with its values; text is escaped, a value that is missing is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("steelyard.report", ""), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template(template).render(values)


def plot(figure: Figure, key: str) -> str:
    """HTML of a figure: a div of a fixed name, without the library, which the page holds once."""
    from plotly.io import to_html

    html: str = to_html(
        figure, include_plotlyjs=False, full_html=False, div_id=f"plot-{key}", default_width="100%",
        config={"displaylogo": False, "responsive": True, "modeBarButtonsToRemove": ["select2d", "lasso2d"]},
    )  # fmt: skip
    return html
