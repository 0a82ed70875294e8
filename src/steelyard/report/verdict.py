"""The verdict in three sentences: how good, against what, what next."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from steelyard.report.arrays import number, percent
from steelyard.report.gathered import Gathered
from steelyard.session.schema import FindingEntry

Words = Mapping[str, str]
LEVELS = ("error", "warning", "info")
GROUPS = ("data", "validation", "fit", "model")  # mend the recording before the rest


def verdict_sentences(gathered: Gathered, words: Words) -> tuple[str, str, str]:
    """Three sentences, made from numbers so that any language can say them (the result's own is English)."""
    return (_how_good(gathered, words), _against_what(gathered, words), _what_next(gathered, words))


def finding_title(code: str, words: Words) -> str:
    """A few words for a code; for one without words of its own, the group and what the code says."""
    known = words.get(f"finding.{code}")
    if known is not None:
        return known
    group, _, rest = code.partition(".")
    return f"{words.get(f'group_{group}', group)}: {rest.replace('_', ' ')}"


def by_gravity(findings: tuple[FindingEntry, ...]) -> list[FindingEntry]:
    """Errors first, then warnings, then notes; within a level the recording first, then what follows from it."""
    order = {group: place for place, group in enumerate(GROUPS)}
    return sorted(findings, key=lambda f: (LEVELS.index(f.level), order.get(f.code.partition(".")[0], len(GROUPS))))


def _how_good(gathered: Gathered, words: Words) -> str:
    error = percent(gathered.quality.relative_error)
    if gathered.validation is None:
        return words["verdict_unseen"].format(error=error)
    return words[f"verdict_{gathered.quality.overall}"].format(file=gathered.validation.file, error=error)


def _against_what(gathered: Gathered, words: Words) -> str:
    joints = gathered.judgement.comparison.motion.joint_names
    errors = gathered.quality.errors
    finite = {joint: error for joint, error in errors.items() if np.isfinite(error)} or errors
    joint = max(finite, key=lambda name: finite[name])
    at = joints.index(joint)
    rms = float(np.sqrt(np.mean(gathered.judgement.comparison.residual[:, at] ** 2)))
    said = {"joint": joint, "worst": percent(errors[joint]), "rms": f"{number(rms, 2)} {gathered.units[at]}"}
    entry = gathered.validation
    if entry is None or entry.baseline_urdf is None:
        return words["against_nothing"].format(**said)
    if entry.baseline_urdf_friction is None:
        return words["against_file"].format(urdf=percent(entry.baseline_urdf), **said)
    return words["against_file_friction"].format(
        urdf=percent(entry.baseline_urdf), friction=percent(entry.baseline_urdf_friction), **said
    )


def _what_next(gathered: Gathered, words: Words) -> str:
    if gathered.validation is None:
        return words["next_validate"]
    loud = [f for f in by_gravity(gathered.result.findings) if f.level != "info"]
    if not loud:
        return words["next_person"]
    where = words["where"].format(where=loud[0].where) if loud[0].where else ""
    return words["next_finding"].format(count=len(loud), title=finding_title(loud[0].code, words), where=where)
