"""The report page: what it holds, that it is one file that loads nothing, and that nobody's text becomes code."""

from __future__ import annotations

import re
import string
from html.parser import HTMLParser

import numpy as np
import pytest

from judged import make_session
from steelyard.cli.main import main
from steelyard.errors import SessionError, StudyError
from steelyard.report.arrays import number, percent, rounded, spread_rows, telling_rows
from steelyard.report.chinese import CHINESE, CURES
from steelyard.report.english import ENGLISH
from steelyard.report.friction import friction_curves
from steelyard.report.gathered import gather
from steelyard.report.page import LANGUAGES, add_report, report_bytes, report_page
from steelyard.report.parameters import parameter_rows
from steelyard.session.opening import open_session

LARGEST = 8_000_000  # bytes of a page
SECTIONS = (
    "torque", "findings", "residuals", "spectra", "friction", "terms", "parameters", "directions", "old", "provenance",
)  # fmt: skip
HOSTILE = '</script><script>alert(1)</script><a href="x">&amp;'


class Page(HTMLParser):
    """Tags with their attributes, and the text outside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = tag if tag in ("script", "style") else ""
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.text += data


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    return open_session(make_session(tmp_path_factory.mktemp("plain"), unseen=2))


@pytest.fixture(scope="module")
def gathered(session):
    return gather(session)


@pytest.fixture(scope="module")
def page(gathered):
    return report_page(gathered)


@pytest.fixture(scope="module")
def parsed(page):
    return Page(page)


def test_the_page_has_every_section_and_leads_with_the_verdict(page, parsed):
    ids = [attributes["id"] for tag, attributes in parsed.tags if tag == "section"]
    assert tuple(ids) == SECTIONS
    verdict = re.search(r'<div class="verdict feed_forward">(.*?)</div>', page, flags=re.DOTALL)
    assert verdict is not None
    assert verdict.start() < page.index("<section")
    sentences = re.findall(r"<p>(.*?)</p>", verdict.group(1))
    assert len(sentences) == 3
    assert "feed-forward and model-predictive control" in sentences[0]
    assert "model file alone misses" in sentences[1]


def test_the_numbers_are_those_of_the_result(session, gathered, parsed):
    worst = max(session.result.validation, key=lambda v: v.relative_error)
    assert gathered.validation == worst
    assert gathered.reproduced
    assert percent(worst.relative_error) in parsed.text
    # the page weights joints by their noise, the fit by the noise that is left after its correlation in time
    assert gathered.estimate.condition_scaled == pytest.approx(session.result.diagnostics.condition_scaled, rel=0.1)
    assert gathered.estimate.information.samples == session.result.diagnostics.samples


def test_every_plot_is_there_once(parsed):
    plots = [a["id"] for tag, a in parsed.tags if tag == "div" and (a.get("id") or "").startswith("plot-")]
    expected = {"torque", "residuals", "distribution", "spectra-0", "friction", "directions", "old"}
    assert sorted(plots) == sorted(f"plot-{name}" for name in expected)
    assert sum(len(script) > 1_000_000 for script in parsed.scripts) == 1  # plotly itself


def test_nothing_is_loaded_from_anywhere(page, parsed):
    """No tag points outside, the policy of the page forbids it, and only plotly's own code holds addresses."""
    for _, attributes in parsed.tags:
        for name in ("src", "href", "action", "data", "srcset", "poster"):
            value = attributes.get(name)
            assert value is None or value.startswith("#"), attributes
    policy = next(a["content"] for tag, a in parsed.tags if tag == "meta" and a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    ours = page.replace(max(parsed.scripts, key=len), "")
    assert "http:" not in ours
    assert "https:" not in ours
    assert "@import" not in ours
    assert "url(" not in ours


def test_the_page_is_small_enough(page):
    assert len(page.encode()) < LARGEST


def test_the_same_session_gives_the_same_bytes(session, page):
    assert report_bytes(session) == page.encode()


def test_the_plots_are_drawn_in_both_languages(gathered, parsed):
    chinese = Page(report_page(gathered, lang="zh"))
    assert [t for t, _ in chinese.tags].count("section") == len(SECTIONS)
    assert "可用于前馈和模型预测控制" in chinese.text
    assert ("html", {"lang": "zh"}) in chinese.tags
    assert ("html", {"lang": "en"}) in parsed.tags


def test_languages_say_the_same_things():
    """One key for one key, with the same places to fill in; cures are for codes that have a title."""

    def fields(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    for words in LANGUAGES.values():
        assert set(words) == set(ENGLISH)
        assert {k for k in ENGLISH if fields(words[k]) != fields(ENGLISH[k])} == set()
    assert {code for code in CURES if f"finding.{code}" not in CHINESE} == set()


def test_an_unknown_language_is_refused(session):
    with pytest.raises(StudyError, match="not a language") as error:
        report_bytes(session, lang="fr")
    assert error.value.choices == ("en", "zh")


def test_hostile_names_stay_text(tmp_path):
    """Joint and robot names that are markup: escaped in the page, in the plots' data and in plotly's little HTML."""
    session = open_session(make_session(tmp_path, joints=(HOSTILE, "elbow"), robot=HOSTILE))
    page = report_page(gather(session))
    parsed = Page(page)
    assert "alert(1)" in parsed.text
    assert [a for tag, a in parsed.tags if tag == "a" and not (a.get("href") or "").startswith("#")] == []
    assert "<script>alert" not in page
    assert "</script><script>" not in page.replace("</script>\n", "")
    # a name in a plot is an entity there, which plotly shows as the sign and not as a tag
    assert r"\u003cscript" not in page
    assert any("&lt;script&gt;alert" in script for script in parsed.scripts)


def test_without_unseen_motion_the_page_says_so(tmp_path):
    session = open_session(make_session(tmp_path, unseen=0))
    parsed = Page(report_page(gather(session)))
    assert "Nothing proves this model yet" in parsed.text
    assert "training motion, which flatters" in parsed.text


def test_the_parameter_table(gathered):
    rows = {row.name: row for row in parameter_rows(gathered)}
    assert list(rows) == [entry.name for entry in gathered.result.parameters]
    for row in rows.values():
        clear = abs(row.value) >= 3.0 * row.deviation
        assert (row.relative is not None) == clear
        assert row.effect is not None
        assert row.prior_share is None or 0.0 <= row.prior_share <= 1.0
    friction = rows["actuator/elbow/coulomb_friction"]
    assert friction.value == pytest.approx(0.6, abs=4.0 * friction.deviation)
    assert friction.prior_share is None  # nothing was believed of it
    assert friction.effect == pytest.approx(0.6, rel=0.1)  # a sign function of 0.6 N m is 0.6 N m, less its reversals
    assert rows["link/lower/first_moment_x"].prior_share < 0.01  # gravity shows it


def test_friction_curves_lie_on_the_data(gathered):
    """Viscous 0.8 and Coulomb 0.6 N m: within 0.02 N m of the truth, where the data has 0.05 N m of noise."""
    for curve in friction_curves(gathered):
        fast = np.abs(curve.speed) > 0.2
        expected = 0.8 * curve.speed + 0.6 * np.sign(curve.speed)
        np.testing.assert_allclose(curve.torque[fast], expected[fast], atol=0.02)
        assert not curve.trained.all() or np.abs(curve.point_speed).max() <= curve.speed.max()


def test_extremes_survive_thinning():
    values = np.zeros((10_000, 2))
    values[1234, 0], values[8765, 1] = 5.0, -7.0
    rows = telling_rows(values, 200)
    assert len(rows) <= 204
    assert {0, 1234, 8765, 9999} <= set(rows)
    assert len(telling_rows(values, 20_000)) == 10_000
    assert list(spread_rows(5, 10)) == [0, 1, 2, 3, 4]
    assert len(spread_rows(1000, 10)) == 10


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0123456, "0.0123"), (1.2e-7, "1.2e-7"), (1e-17, "0"), (np.nan, "–"), (None, "–"), (np.inf, "–")],
)
def test_numbers_as_text(value, text):
    assert number(value) == text


def test_digits_end_where_the_deviation_begins():
    assert rounded(1.23456, 0.012) == "1.235"
    assert rounded(-0.07, 0.5) == "-0.07"
    assert rounded(-0.07, 5.0) == "-0.1"
    assert rounded(1234.5, 37.0) == "1234"
    assert rounded(0.5, np.inf) == "0.5"
    assert percent(0.01234) == "1.2 %"
    assert percent(None) == "–"


def test_a_session_without_result_has_no_report(session, tmp_path):
    folder = tmp_path / "fresh"
    root = session.directory.parent
    with pytest.raises(SystemExit):
        main(["init", str(folder), "--robot", str(root / "arm.urdf"), "--train", str(root / "train.csv"), "--quiet"])
    with pytest.raises(SessionError, match="no result yet"):
        add_report(folder, time="2026-09-03T08:15:00Z")


def test_the_command_writes_the_page_into_the_session(tmp_path, capsys):
    directory = make_session(tmp_path)
    for lang in ("zh", "en"):
        with pytest.raises(SystemExit) as left:
            main(["report", str(directory), "--lang", lang])
        assert left.value.code == 0
        assert f'<html lang="{lang}">' in (directory / "report.html").read_text(encoding="utf-8")
    assert "report.html" in capsys.readouterr().err
    session = open_session(directory)
    assert session.events[-1].event == "reported"
    # the page does not depend on how often it was asked for
    assert (directory / "report.html").read_bytes() == report_bytes(session)
    with pytest.raises(SystemExit) as left:
        main(["report", str(directory), "--lang", "fr"])
    assert left.value.code == 3
