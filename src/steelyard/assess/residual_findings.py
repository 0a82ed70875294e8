"""What residual tests have to say, in words: the likely physical cause, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from steelyard.assess.trends import Trend
from steelyard.finding import Finding

Array = NDArray[np.float64]
Cause = Literal["warming", "event", "gravity", "friction", "inertia", "timing", "temperature"]
CERTAIN = 0.002  # p-value under which a trend is no accident, also among some thirty tests
TELLING = 0.15  # share of a residual's power from which a trend is worth a sentence
LARGE = 0.02  # of the joint's torque, from which it is worth a warning
CLOSE = 0.8  # of the best share, from which another variable explains as much
COUPLED, SURE = 0.5, 4.0  # correlation of two joints' residuals, and in deviations of chance
SPANS, LOUD = 40, 8.0  # parts of a run, and power of one over the median from which it stands out
SHORT, MOST = 0.2, 0.6  # an event: at most this part of the run holds at least this part of the power
JOLT = 0.2  # of the joint's torque, from which an event is worth a warning
FEW = 5.0  # independent samples under which a mean says nothing
OFFSET = 0.5  # share of a residual's mean square that is its mean, from which it is said
COLOURED = 2.0  # times the correlation that the filter alone leaves
WORDS: Mapping[Cause, tuple[str, str]] = {
    "warming": (
        "drift: the joint warms up, or the torque sensor's zero moves",
        "warm the robot up before recording, record shorter runs, zero the torque sensors between them",
    ),
    "event": (
        "something happened in part of the run: contact, a cable, another load or another mode",
        "find the interval in the report, look at the log of that time, leave it out and record it again",
    ),
    "gravity": (
        "gravity or a frame: a tilted base, a wrong link frame, a spring or cable",
        "check the mount and the gravity vector, and hold a few poses; a spring or cable needs its own term",
    ),
    "friction": (
        "friction: the model misses something, or friction was another then (temperature, wear, another robot)",
        "record slow and fast motion at working temperature and compare friction terms (--term graded_friction ...)",
    ),
    "inertia": (
        "inertia or timing: a wrong rotor inertia, or torque and motion that are not of the same instant",
        "check the delay of torque against motion (steelyard check) and the rotor inertia of this joint",
    ),
    "timing": (
        "timing, when all joints show the same delay; in one joint alone, friction that builds up slowly at reversals",
        "steelyard check measures the delay; stamp torque and position with one clock",
    ),
    "temperature": (
        "friction changes with temperature",
        "record at working temperature, or with the temperature range that the model is to be used in",
    ),
}


def cause_of(found: Trend) -> Cause:
    """The likely physical cause of a trend; a drift in time is a straight line, an event is not."""
    if found.against == "time":
        return "warming" if found.linear > 0.5 * found.share else "event"
    causes: Mapping[str, Cause] = {
        "position": "gravity",
        "velocity": "friction",
        "acceleration": "inertia",
        "torque_rate": "timing",
        "temperature": "temperature",
    }
    return causes[found.against]


def trend_findings(trends: Sequence[Trend], torque: Mapping[str, float]) -> list[Finding]:
    """One sentence for each joint whose residual goes with something; the variable that explains most is named.

    Args:
        trends: of all joints.
        torque: joint -> root mean square of its torque [N m or N].
    """
    findings = []
    for joint, size in torque.items():
        own = [t for t in trends if t.joint == joint and t.p_value <= CERTAIN]
        if not own:
            continue
        best = max(own, key=lambda t: t.share)
        if best.share < TELLING:
            continue
        rivals = [_name(t.against) for t in own if t is not best and t.share >= CLOSE * best.share]
        cause, cure = WORDS[cause_of(best)]
        delay = f", as a delay of {-1e3 * best.slope:.2g} ms would" if best.against == "torque_rate" else ""
        also = f"; {' and '.join(rivals)} nearly as well" if rivals else ""
        findings.append(
            Finding(
                "fit.trend",
                "warning" if best.size > LARGE * size else "info",
                f"the residual of {joint} goes with {_name(best.against)}{delay}: {100 * best.share:.0f} % of its "
                f"power, {best.size:.2g} N m (N) (p {best.p_value:.2g}){also}. Likely {cause}",
                joint,
                best.share,
                cure,
            )
        )
    return findings


def event_findings(names: Sequence[str], time: Array, residual: Array, torque: Array) -> list[Finding]:
    """Joints whose residual sits in a short part of the run; a block that stands alone is no trend, but it is seen.

    Args:
        names: n joints.
        time: (T,) [s].
        residual: (T, n) [N m or N].
        torque: (n,) root mean square of each joint's torque [N m or N].
    """
    if len(time) < 2 * SPANS:
        return []
    parts = np.array_split(np.arange(len(time)), SPANS)
    centred = residual - residual.mean(axis=0)
    power = np.array([np.mean(centred[part] ** 2, axis=0) for part in parts])
    joints: dict[tuple[int, int], list[int]] = {}
    for j in range(len(names)):
        where = _loud_stretch(power[:, j])
        if where is not None:
            joints.setdefault(where, []).append(j)
    findings = []
    for (first, last), own in joints.items():
        size = np.sqrt(power[first : last + 1, own].mean(axis=0))
        worst = own[int(np.argmax(size / torque[own]))] if np.all(torque[own] > 0.0) else own[0]
        who = ", ".join(names[j] for j in own)
        start, stop = float(time[parts[first][0]]), float(time[parts[last][-1]])
        findings.append(
            Finding(
                "fit.residual_event",
                "warning" if np.any(size > JOLT * torque[own]) else "info",
                f"most of the residual of {who} falls between {start:.4g} and {stop:.4g} s ({size.max():.2g} N m (N) "
                "there). Likely contact, a jolt, stiction at rest or at a reversal, or lost samples",
                names[worst],
                start,
                "look at this interval in the report and in the robot's log; leave it out if it was not free motion",
            )
        )
    return findings


def _loud_stretch(power: Array) -> tuple[int, int] | None:
    """First and last of the spans around the loudest, where few spans hold most of the power (SPANS,)."""
    loud = power > LOUD * np.median(power)
    if not (0 < loud.sum() <= SHORT * SPANS and power[loud].sum() >= MOST * power.sum()):
        return None
    first = last = int(np.argmax(power))
    while first > 0 and loud[first - 1]:
        first -= 1
    while last < SPANS - 1 and loud[last + 1]:
        last += 1
    return first, last


def offset_findings(names: Sequence[str], residual: Array, torque: Array, independent: Array) -> list[Finding]:
    """Joints whose residual is mostly one constant; `independent` (n,) samples speak for its mean."""
    findings = []
    mean, deviation = residual.mean(axis=0), residual.std(axis=0)
    share = np.divide(mean**2, mean**2 + deviation**2, out=np.zeros_like(mean), where=mean != 0.0)
    for j, joint in enumerate(names):
        sure = SURE * deviation[j] / np.sqrt(independent[j])
        if independent[j] >= FEW and share[j] >= OFFSET and abs(mean[j]) > max(sure, LARGE * torque[j]):
            findings.append(
                Finding(
                    "fit.residual_offset",
                    "warning",
                    f"the residual of {joint} is mostly one constant: {mean[j]:+.2g} N m (N), {100 * share[j]:.0f} % "
                    "of its power. Likely the zero of the torque sensor moved, or the robot carries something else",
                    joint,
                    float(mean[j]),
                    "zero the torque sensors before each run; compare tool and cables with those of the training run",
                )
            )
    return findings


def coupling_findings(names: Sequence[str], correlation: Array, independent: Array) -> list[Finding]:
    """Pairs of joints whose residuals go together, the worst by name."""
    pairs = []
    for i in range(len(names)):
        for j in range(i):
            chance = 1.0 / np.sqrt(max(min(independent[i], independent[j]), 1.0))
            if abs(correlation[i, j]) > max(COUPLED, SURE * chance):
                pairs.append((float(correlation[i, j]), names[j], names[i]))
    if not pairs:
        return []
    worst, first, second = max(pairs, key=lambda pair: abs(pair[0]))
    more = f", and those of {len(pairs) - 1} pairs more" if len(pairs) > 1 else ""
    return [
        Finding(
            "fit.residual_coupling",
            "info",
            f"the residuals of {first} and {second} go together (correlation {worst:+.2f}){more}",
            f"{first}, {second}",
            worst,
            "look for a shared cause: coupled gears, a cable or tool across both joints, a wrong mass beyond them",
        )
    ]


def colour_findings(names: Sequence[str], colour: Array) -> list[Finding]:
    """Whether residuals last longer than the filter makes noise last; `colour` (n,) is by how many times."""
    worst = int(np.argmax(colour))
    if colour[worst] < COLOURED:
        return []
    return [
        Finding(
            "fit.coloured_residual",
            "info",
            f"the residual is not noise alone: that of {names[worst]} stays for {colour[worst]:.1f} times as long as "
            "filtered noise would",
            names[worst],
            float(colour[worst]),
            "a missing effect (friction, flexibility, timing) shows in this way; the trends say which",
        )
    ]


def _name(against: str) -> str:
    return {"torque_rate": "the rate of its torque", "time": "time"}.get(against, f"its {against}")
