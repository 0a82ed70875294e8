"""One offline HTML page about a session's result: the verdict first, then what it rests on."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from steelyard.errors import StudyError
from steelyard.report.chinese import CHINESE
from steelyard.report.english import ENGLISH
from steelyard.report.full_section import full_section
from steelyard.report.gathered import Gathered, gather
from steelyard.report.html_page import html_page
from steelyard.report.model_sections import (
    directions_section,
    findings_section,
    old_section,
    parameters_section,
    provenance_section,
    terms_section,
)
from steelyard.report.motion_sections import friction_section, residual_section, spectra_section, torque_section
from steelyard.report.verdict import verdict_sentences
from steelyard.session.layout import REPORT
from steelyard.session.opening import Session, open_session
from steelyard.session.store import add_files
from steelyard.version import __version__

LANGUAGES: Mapping[str, Mapping[str, str]] = {"en": ENGLISH, "zh": CHINESE}


def report_page(gathered: Gathered, *, lang: str = "en") -> str:
    """The page as HTML: plotly is inside it once, nothing is loaded from anywhere, the same input gives the same text.

    Args:
        gathered: what to show; see `gather`.
        lang: one of LANGUAGES.

    Raises:
        StudyError: an unknown language.
    """
    words = words_of(lang)
    made = (
        torque_section(gathered, words),
        findings_section(gathered, words),
        residual_section(gathered, words),
        spectra_section(gathered, words),
        friction_section(gathered, words),
        terms_section(gathered, words),
        parameters_section(gathered, words),
        full_section(gathered, words),
        directions_section(gathered, words),
        old_section(gathered, words),
        provenance_section(gathered, words),
    )
    return html_page(
        title=words["title"].format(robot=gathered.model.robot.name),
        verdict=verdict_sentences(gathered, words),
        verdict_class=gathered.quality.overall if gathered.validation is not None else "unseen",
        notes=() if gathered.reproduced else (words["not_reproduced"],),
        sections=[section for section in made if section is not None],
        words=words,
    )


def words_of(lang: str) -> Mapping[str, str]:
    """Words of a language; raises StudyError for one that there is not."""
    if lang not in LANGUAGES:
        raise StudyError("not a language of the report", value=lang, choices=tuple(LANGUAGES))
    return LANGUAGES[lang]


def report_bytes(session: Session, *, lang: str = "en", terms: Sequence[str] = ()) -> bytes:
    """The page about a session, as it is written to report.html.

    Args:
        session: with a result.
        lang: one of LANGUAGES.
        terms: names of the result's terms, to be given when one of them is code of one's own.

    Raises:
        StudyError: an unknown language.
        SessionError: no result, or files that do not fit it.
    """
    words_of(lang)  # asked before the work
    return report_page(gather(session, terms=terms), lang=lang).encode()


def add_report(directory: str | os.PathLike[str], *, time: str, lang: str = "en", terms: Sequence[str] = ()) -> Session:
    """Write report.html into a session; one that was there is replaced.

    Args:
        directory: of the session.
        time: of the event in the ledger, UTC; the page itself does not hold it.
        lang, terms: as for `report_bytes`.

    Raises:
        SteelyardError: as `report_bytes`; a session that is damaged; a disk that refuses.
    """
    page = report_bytes(open_session(directory), lang=lang, terms=terms)
    return add_files(directory, {REPORT: page}, event="reported", time=time, software_version=__version__)
